"""Asking one model for one thing.

May import layers 0 to 5. One verb per module; read `query.py` first.
"""

from langfx_web.queries.query import conversation, query

__all__ = ["conversation", "query"]
