"""The open questions of a conversation's turns, for all objects of this worker that stand for the conversation."""

from __future__ import annotations

from weakref import WeakKeyDictionary, WeakValueDictionary

from langfx_web.agentic import OpenGates
from langfx_web.clock import Clock
from langfx_web.stores.base import Store

_rooms: WeakKeyDictionary[Store, WeakValueDictionary[str, OpenGates]] = WeakKeyDictionary()


def gates_of(store: Store, session_id: str, clock: Clock) -> OpenGates:
    """The open gates of one conversation; they last as long as somebody holds them."""
    rooms = _rooms.setdefault(store, WeakValueDictionary())
    return rooms.setdefault(session_id, OpenGates(clock))
