"""Where JavaScript meets Python: binds the dispatch to the worker's `post`, and hands the pump to the transport.

Called once by `worker/runtime.js`. Texts and bytes cross here and nothing else; the one callable that JavaScript keeps
is the proxy that `start` returns.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from langfx_web.bridge.dispatch import Dispatch
from langfx_web.bridge.packages import Installer
from langfx_web.bridge.standard_library import ExtraFinder
from langfx_web.bridge.timers import mend_timers
from langfx_web.deferred import later
from langfx_web.json_text import loads
from langfx_web.schemas import load_pydantic
from langfx_web.transport.browser import use_pump

if sys.platform == "emscripten":
    from js import XMLHttpRequest
    from pyodide.ffi import JsException, create_proxy, to_js
else:
    # Elsewhere the module can be imported, and nothing of it called.
    XMLHttpRequest: Any = None
    JsException: Any = Exception
    create_proxy: Any = None
    to_js: Any = None

queries = later("langfx_web.queries")
durable = later("langfx_web.durable")

MODULES_FOLDER = Path("/langfx/modules")
EXTRA_PATH = Path("/lib/extra.zip")


class PostToPage(Protocol):
    """The worker's function that sends a text and `ArrayBuffer`s to the page."""

    def __call__(self, text: str, blobs: Any) -> None:
        """Send."""


class Enter(Protocol):
    """The worker's function that tells the page of a phase of the start."""

    def __call__(self, phase: Literal["modules"], /) -> None:
        """Tell."""


class LoadPack(Protocol):
    """The worker's function that makes a set of packs importable: "" or the JSON text of an error."""

    def __call__(self, set_: Literal["schemas", "extra"], /) -> Awaitable[str]:
        """Load, or wait for what is under way."""


def start(
    post: PostToPage,
    open_exchange: Any,
    load: LoadPack,
    boot_text: str,
    open_installer: Callable[[], Awaitable[Installer]],
    enter: Enter,
) -> Any:
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

    _find_extra_modules(boot)
    dispatch = Dispatch(
        send,
        load=load,
        open_installer=open_installer,
        enter=enter,
        version=boot["version"],
        folder=MODULES_FOLDER,
        warm_up=_warm_up,
    )

    def receive(text: str, blobs: Any) -> None:
        dispatch.receive(text, [blob.to_bytes() for blob in blobs])

    return create_proxy(receive)


def _warm_up() -> None:
    """Read what the first turn and the first typed question need."""
    _ = durable.AgentSession
    load_pydantic()
    _ = queries.query


def _find_extra_modules(boot: Mapping[str, Any]) -> None:
    if pack := boot.get("extra"):
        hashes = {content["sha256"] for content in (pack, pack.get("unpacked", pack))}
        url = f"{boot['base']}extra.pack"
        sys.meta_path.append(ExtraFinder(lambda: _read_now(url), hashes=hashes, path=EXTRA_PATH))


def _read_now(url: str) -> bytes:
    """A file that an import statement waits for: the whole worker does."""
    request = XMLHttpRequest.new()
    try:
        request.open("GET", url, False)
        request.responseType = "arraybuffer"
        request.send()
        if request.status != 200:
            raise OSError(f"status {request.status}")
        return bytes(request.response.to_bytes())
    except JsException as error:
        raise OSError("no answer") from error
