"""Which transport this interpreter has; decided once, when the module is loaded."""

from __future__ import annotations

import sys

from langfx_web.transport.base import Transport

if sys.platform == "emscripten":
    from langfx_web.transport.browser import BrowserTransport as PlatformTransport

    IN_BROWSER = True
else:
    from langfx_web.transport.host import HostTransport as PlatformTransport

    IN_BROWSER = False


def default_transport() -> Transport:
    """A transport of this platform: fetch in a browser, httpx elsewhere."""
    return PlatformTransport()
