"""Waiting for pydantic where it arrives after the start, as it does in a page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

wait_for_pydantic: ContextVar[Callable[[], Awaitable[None]] | None] = ContextVar("langfx_pydantic", default=None)
"""How the running command waits until pydantic can be imported; None where it is there or never will be."""


async def pydantic_arrived() -> None:
    """Return once pydantic can be imported; raises what kept it from coming, such as `download_failed`."""
    wait = wait_for_pydantic.get()
    if wait is not None:
        await wait()
