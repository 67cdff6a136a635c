"""Where conversations live: bytes by session, one compared append, listing, holds and hints.

May import the rooms below it (`errors`, `clock`, `messages`, `events`). Read `base.py` first.
"""

from langfx_web.stores.base import (
    Batch,
    Creation,
    Fence,
    Head,
    Hint,
    Hold,
    ListedSession,
    Loaded,
    Receipt,
    Store,
    StoredLine,
    StoredRecord,
    Unique,
    Watch,
)
from langfx_web.stores.cache_table import Cached, CacheStore, CacheTable
from langfx_web.stores.memory import MemoryStore

__all__ = [
    "Batch",
    "CacheStore",
    "CacheTable",
    "Cached",
    "Creation",
    "Fence",
    "Head",
    "Hint",
    "Hold",
    "ListedSession",
    "Loaded",
    "MemoryStore",
    "Receipt",
    "Store",
    "StoredLine",
    "StoredRecord",
    "Unique",
    "Watch",
]
