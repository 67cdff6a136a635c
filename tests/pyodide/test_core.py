"""The core inside Pyodide: the loop, the parser's limits on a small stack, fetch and its abort."""

from typing import Any

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide(packages=["langfx-web"])
async def test_an_agent_runs(selenium: Any) -> None:
    """A typed tool is called and its result read, in the browser's Python."""
    import langfx_web as lf

    @lf.tool(idempotent=True)
    def get_order(id: str) -> dict[str, str]:
        """Look up an order."""
        return {"id": id, "status": "shipped"}

    asks = lf.AIMessage(lf.ToolCall("c1", "get_order", {"id": "7"}))
    lm = lf.testing.StaticSequence([asks, "Shipped."], chunk_size=2)
    agent = lf.Agent(lm=lm, tools=[get_order])
    assert await agent.invoke(prompt="Where is order 7?") == "Shipped."
    assert lm.requests[1].messages[-1].text == '{"id":"7","status":"shipped"}'


@run_in_pyodide(packages=["langfx-web"])
async def test_a_stored_turn_runs(selenium: Any) -> None:
    """Its lines are numbered and the same on every reading."""
    import langfx_web as lf

    chat = lf.Agent(lm=lf.testing.Echo(chunk_size=1)).session("s")
    turn = chat.prompt("hello", message_id="m")
    assert (await turn.result).stop_reason == "end_turn"
    first = [line.text async for line in turn.lines]
    assert first == [line.text async for line in turn.lines]
    assert len(first) == 7


@run_in_pyodide(packages=["langfx-web"])
async def run_sessions(selenium: Any, times: int) -> list[int]:
    """Run an agent with a tool, in sessions that are watched, map, stream and fail: blocks, proxies, tasks after it."""
    import asyncio
    import gc
    import sys

    import pyodide_js

    import langfx_web as lf

    @lf.tool(idempotent=True)
    def get_order(id: str) -> str:
        """Look up an order."""
        return "shipped"

    asks = lf.AIMessage(lf.ToolCall("c1", "get_order", {"id": "7"}))
    module = pyodide_js._module
    if getattr(module, "pyproxy_alloc_map", None) is None:
        module.enable_pyproxy_allocation_tracing()
    for _ in range(times):
        lm = lf.testing.StaticSequence([asks, "Shipped."])
        echo = lf.testing.Echo()
        async with lf.Session(lm=lm, timeout=60, budget=lf.Budget(max_requests=20)) as session:
            session.subscribe(lambda event: event.to_plain())
            assert await lf.Agent(lm=lm, tools=[get_order]).invoke(session, prompt="?") == "Shipped."
            session.progress("half", 0.5)
            texts = await session.concurrent_map("abc", lambda text, view: view.query(text, lm=lf.testing.Echo()))
            assert texts == ["a", "b", "c"]
            assert [event async for event in session.query_stream("?", lm=echo)]
            [outcome] = await session.concurrent_map([1], lambda n, view: view.query("?", int), on_error="collect")
            assert isinstance(outcome.error, lf.errors.FakeExhaustedError)
            assert lf.TraceNode.from_json(session.root.to_json()).summary() == session.usage
    del session, outcome, lm, echo
    for _ in range(5):
        await asyncio.sleep(0)
    gc.collect()
    return [sys.getallocatedblocks(), int(module.pyproxy_alloc_map.size), len(asyncio.all_tasks())]


@pytest.mark.parametrize(("few", "many"), [(10, 40), pytest.param(200, 1_000, marks=pytest.mark.long)])
def test_memory_is_flat_over_many_sessions(selenium: Any, few: int, many: int) -> None:
    """After many runs as after few: as many live proxies and tasks, and no memory that grows with each."""
    for _ in range(3):
        before = run_sessions(selenium, few)
    for _ in range(0, many, few):
        after = run_sessions(selenium, few)
    assert after[1:] == before[1:], (before, after)
    # What a run left behind would be hundreds of blocks, each time.
    assert after[0] - before[0] < 10 * many, (before, after)


@run_in_pyodide(packages=["langfx-web"])
def test_platform_36_brackets_are_counted_before_they_are_parsed(selenium: Any) -> None:
    """199 levels are read, 201 refused, six thousand do not end the interpreter."""
    import json

    from langfx_web.errors import JSONTextError, NotPortableError
    from langfx_web.json_text import dumps, loads

    assert loads("[" * 199 + "]" * 199)
    for text in ("[" * 201 + "]" * 201, "[" * 6000, '{"a":' * 100_000):
        try:
            loads(text)
            raise AssertionError(text[:20])
        except JSONTextError as error:
            assert error.code == "json_too_deep"
    assert loads(json.dumps("[" * 6000)) == "[" * 6000
    deep: list[Any] = []
    # Freeing a list that is nested much deeper ends the interpreter, whoever made it.
    for _ in range(1000):
        deep = [deep]
    try:
        dumps(deep)
        raise AssertionError("written")
    except NotPortableError as error:
        assert error.code == "message_too_deep"


@pytest.mark.chrome
@run_in_pyodide(packages=["langfx-web"])
async def test_platform_38_bug_059_cancelling_a_task_cancels_the_body(selenium: Any) -> None:
    """Before the headers, between chunks, while the consumer is busy: signal aborted, body cancelled, once each."""
    import asyncio

    import js
    from pyodide.code import run_js

    from langfx_web.transport import Request
    from langfx_web.transport.browser import BrowserTransport

    run_js("""
    globalThis.log = [];
    globalThis.hang = false;
    globalThis.fetch = (url, options) => {
      options.signal.addEventListener('abort', () => globalThis.log.push('aborted'));
      if (globalThis.hang) return new Promise((resolve, reject) =>
        options.signal.addEventListener('abort', () => reject(options.signal.reason)));
      let sent = 0;
      return Promise.resolve(new Response(new ReadableStream({
        pull(c) { if (sent++ === 0) { c.enqueue(new Uint8Array([65])); return; } return new Promise(() => {}); },
        cancel() { globalThis.log.push('body cancelled'); } })));
    };
    """)

    async def reads(busy: bool) -> None:
        request = Request(method="GET", url="http://127.0.0.1/x", headers={})
        async for _ in await BrowserTransport().send(request):
            if busy:
                await asyncio.Event().wait()

    for hang, busy in ((True, False), (False, False), (False, True)):
        js.log = run_js("[]")
        js.hang = hang
        task = asyncio.ensure_future(reads(busy))
        await asyncio.sleep(0.05)
        task.cancel()
        outcome = (await asyncio.gather(task, return_exceptions=True))[0]
        assert isinstance(outcome, asyncio.CancelledError), outcome
        await asyncio.sleep(0.05)
        told = list(js.log)
        assert told.count("aborted") == 1, (hang, busy, told)
        assert hang or told.count("body cancelled") == 1, (hang, busy, told)


@pytest.mark.chrome
@run_in_pyodide(packages=["langfx-web"])
async def test_platform_38_bug_086_live_proxies_do_not_grow_with_use(selenium: Any) -> None:
    """Ten finished and aborted exchanges leave as many proxies as two."""
    import asyncio
    import gc

    import pyodide_js
    from pyodide.code import run_js

    from langfx_web.transport import Request
    from langfx_web.transport.browser import BrowserTransport

    run_js("globalThis.fetch = () => Promise.resolve(new Response('hello'))")
    module = pyodide_js._module

    async def exchange(leave: bool) -> None:
        request = Request(method="POST", url="http://127.0.0.1/x", headers={"a": "b"}, body=b"{}")
        async for _ in await BrowserTransport().send(request):
            if leave:
                break

    async def growth(repeats: int) -> int:
        for leave in (True, False):
            await exchange(leave)
        gc.collect()
        before = int(module.pyproxy_alloc_map.size)
        for _ in range(repeats):
            for leave in (True, False):
                await exchange(leave)
        await asyncio.sleep(0)
        gc.collect()
        return int(module.pyproxy_alloc_map.size) - before

    module.enable_pyproxy_allocation_tracing()
    assert await growth(2) == await growth(10)
    module.disable_pyproxy_allocation_tracing()


@run_in_pyodide(packages=["langfx-web"])
def test_templates_and_messages_that_nest_deeply(selenium: Any) -> None:
    """What contains itself is an error, and 199 levels of metadata are kept, on a small stack."""
    import langfx_web as lf
    from langfx_web.errors import TemplateError

    template = lf.Template("{{x}}")
    circle: list[Any] = []
    circle.append(circle)
    for value in (template, circle):
        try:
            template.render({"x": value})
            raise AssertionError(value)
        except TemplateError as error:
            assert (error.line, error.column) == (1, 1)
    circle.clear()
    deep: Any = 1
    for _ in range(198):
        deep = [deep]
    assert lf.UserMessage("x", metadata={"deep": deep}).metadata == {"deep": deep}
