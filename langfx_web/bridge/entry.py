"""Where JavaScript meets Python: binds the dispatch to the worker's `post`, and hands the pump to the transport.

Called once by `worker/runtime.js`. Texts and bytes cross here and nothing else; the one callable that JavaScript keeps
is the proxy that `start` returns.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any, Literal, Protocol

from langfx_web.bridge.dispatch import Dispatch
from langfx_web.bridge.timers import mend_timers
from langfx_web.json_text import loads
from langfx_web.transport.browser import use_pump

if sys.platform == "emscripten":
    from pyodide.ffi import create_proxy, to_js
else:
    # Elsewhere the module can be imported, and nothing of it called.
    create_proxy: Any = None
    to_js: Any = None

MODULES_FOLDER = Path("/langfx/modules")


class PostToPage(Protocol):
    """The worker's function that sends a text and `ArrayBuffer`s to the page."""

    def __call__(self, text: str, blobs: Any) -> None:
        """Send."""


class LoadPack(Protocol):
    """The worker's function that makes a set of packs importable: "" or the JSON text of an error."""

    def __call__(self, set_: Literal["schemas", "extra"], /) -> Awaitable[str]:
        """Load, or wait for what is under way."""


def start(post: PostToPage, open_exchange: Any, load: LoadPack, boot_text: str) -> Any:
    """Connect the two ends; the result is the function that takes each post of the page as text and buffers."""
    boot = loads(boot_text)
    # A restored memory snapshot would repeat the same numbers in every tab.
    random.seed()
    mend_timers(asyncio.get_event_loop())
    use_pump(open_exchange)

    def send(text: str, buffers: list[bytes]) -> None:
        blobs = to_js([])
        for data in buffers:
            blobs.push(to_js(data).buffer)
        post(text, blobs)

    dispatch = Dispatch(send, load=load, version=boot["version"], folder=MODULES_FOLDER)

    def receive(text: str, blobs: Any) -> None:
        dispatch.receive(text, [blob.to_bytes() for blob in blobs])

    return create_proxy(receive)
