"""The transport that is used where none is handed in."""

from __future__ import annotations

import subprocess
import sys

from langfx_web.transport import default_transport
from langfx_web.transport.host import HostTransport


def test_outside_a_browser_it_is_the_host_transport() -> None:
    """CPython gets httpx, and each call makes a transport of its own."""
    assert isinstance(default_transport(), HostTransport)
    assert default_transport() is not default_transport()


def test_providers_64_importing_models_is_quiet() -> None:
    """Importing the models loads no HTTP client, no pydantic and no JavaScript, and starts nothing."""
    code = (
        "import sys, threading, langfx_web.llms as llms; llms.Anthropic('m', api_key='k');"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'httpx', 'pydantic', 'js', 'pyodide'}),"
        " threading.active_count())"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout.split() == ["[]", "1"]


def test_a_missing_httpx_is_an_error_only_when_it_is_used() -> None:
    """Without httpx the transport can be made; sending says what to install."""
    code = (
        "import sys, asyncio; sys.modules['httpx'] = None\n"
        "from langfx_web.transport import Request, default_transport\n"
        "transport = default_transport()\n"
        "try: asyncio.run(transport.send(Request(method='POST', url='https://api.test')))\n"
        "except Exception as error: print(type(error).__name__, error.details, error)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert answer.stdout.startswith("TransportError {'missing': 'httpx'}")
    assert "install langfx-web[host]" in answer.stdout
