"""The project's wheel in a Pyodide of one's own: no worker of ours, no bridge, installed by micropip."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_pyodide import run_in_pyodide, spawn_web_server


@pytest.fixture(scope="module")
def wheel_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where the wheel is served, on loopback."""
    folder = Path(request.config.getoption("--dist-dir"))
    (wheel,) = folder.glob("langfx_web-*.whl")
    with spawn_web_server(folder) as (host, port, _):
        yield f"http://{host}:{port}/{wheel.name}"


def test_the_wheel_is_installed_by_its_address(selenium: Any, wheel_url: str) -> None:
    """micropip brings pydantic along, and an agent with a typed tool runs."""

    @run_in_pyodide(packages=["micropip"])
    async def install(selenium: Any, url: str) -> None:
        import micropip

        await micropip.install(url)
        import langfx_web as lf

        @lf.tool(idempotent=True)
        def double(number: int) -> int:
            """Double a number."""
            return 2 * number

        asks = lf.AIMessage(lf.ToolCall("c1", "double", {"number": 21}))
        lm = lf.testing.StaticSequence([asks, "It is 42."])
        assert await lf.Agent(lm=lm, tools=[double]).invoke(prompt="Twice 21?") == "It is 42."
        assert lm.requests[1].messages[-1].text == "42"
        import pydantic

        assert micropip.list()["pydantic"].version == pydantic.VERSION

    install(selenium, wheel_url)


@pytest.mark.chrome
@run_in_pyodide(packages=["langfx-web"])
async def test_a_model_streams_without_the_worker(selenium: Any) -> None:
    """Requests go out by the interpreter's own fetch, and chunks arrive as the server sends them."""
    import js
    from pyodide.code import run_js

    import langfx_web as lf

    run_js("""
    globalThis.sent = [];
    globalThis.realFetch = globalThis.fetch;
    globalThis.fetch = async (url, options) => {
      globalThis.sent.push([String(url), options.headers["x-api-key"]]);
      const event = (data) => new TextEncoder().encode(`event: ${data.type}\\ndata: ${JSON.stringify(data)}\\n\\n`);
      const text = (text) => event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
      const events = [
        event({ type: "message_start", message: { id: "m", role: "assistant", model: "scripted", content: [],
          usage: { input_tokens: 1, output_tokens: 1 } } }),
        event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
        text("Hello"), text(" there"),
        event({ type: "content_block_stop", index: 0 }),
        event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
        event({ type: "message_stop" }),
      ];
      const body = new ReadableStream({ pull(c) { events.length ? c.enqueue(events.shift()) : c.close(); } });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    """)
    lm = lf.llms.Anthropic(model="scripted", api_key="key", base_url="http://127.0.0.1/v1")
    chunks = [chunk.delta.text async for chunk in lm.stream("Hi") if chunk.delta and chunk.delta.text]
    assert chunks == ["Hello", " there"]
    assert await lf.Agent(lm=lm).invoke(prompt="Hi") == "Hello there"
    sent = [list(each) for each in js.sent]
    assert sent == [["http://127.0.0.1/v1/messages", "key"]] * 2
    js.fetch = js.realFetch


@run_in_pyodide(packages=["langfx-web"])
async def test_a_page_that_is_not_there_is_named(selenium: Any) -> None:
    """`page_credential` needs the bridge; its error says so."""
    import langfx_web as lf

    lm = lf.llms.Anthropic(model="scripted", api_key=lf.page_credential("anthropic"), base_url="http://127.0.0.1")
    try:
        await lm("Hi")
        raise AssertionError("answered")
    except lf.errors.CredentialsError as error:
        assert "no page" in str(error)


@run_in_pyodide(packages=["micropip"])
def test_platform_40_private_names_behind_packages(selenium: Any) -> None:
    """What installing packages uses of Pyodide and micropip beyond their documentation is there."""
    import inspect

    import pyodide_js
    from micropip._compat import compatibility_layer
    from micropip.package_manager import PackageManager

    assert pyodide_js._api.install
    assert pyodide_js._api.package_loader.get_install_dir("site").endswith("site-packages")
    assert pyodide_js._api.package_loader.get_install_dir("dynlib")
    assert list(inspect.signature(PackageManager).parameters) == ["compat"]
    for name in ("lockfile_packages", "loadPackage", "fetch_bytes", "fetch_string_and_headers"):
        assert hasattr(compatibility_layer, name), name
