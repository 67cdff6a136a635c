"""The demo's own-model module, on this host, against a loopback server that speaks all four wires."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import langfx_web as lf
from langfx_web.bridge.page_credential import ask_page
from langfx_web.errors import AuthenticationError, InvalidArgumentError
from tests.browser.model_server import GOOD_KEY, MODEL, WIRES, sent_key, wires_server
from worker.bundle.server import Server

DEMO = Path(__file__).parents[2] / "web" / "demo"


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module, imported anew; the page has two keys."""
    keys = {"in use": GOOD_KEY, "listing": GOOD_KEY, "wrong": "another-key-0123456789"}

    async def page(name: str, session_id: str | None, rejected: bool) -> str:
        return keys[name]

    monkeypatch.syspath_prepend(str(DEMO))
    monkeypatch.delitem(sys.modules, "visitors_model", raising=False)
    token = ask_page.set(page)
    yield importlib.import_module("visitors_model")
    ask_page.reset(token)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The server that wants a key."""
    with wires_server() as server:
        yield server


@pytest.mark.parametrize("wire", WIRES)
async def test_every_wire_lists_and_answers(demo: ModuleType, server: Server, wire: str) -> None:
    """The models of a server are listed, one is chosen, and an agent made long before speaks with it, with the key."""
    agent = lf.Agent(lm=demo.visitors_model)
    root = server.origin + WIRES[wire].root
    assert MODEL in [listed["id"] for listed in await demo.list_models(wire, root, "listing")]
    demo.choose(wire, root, MODEL, "in use")
    assert await agent.invoke(prompt="hello") == f"Hello from {wire}"
    assert sent_key(server.exchanges[-1]) == GOOD_KEY
    demo.choose(wire, root, MODEL, "wrong")
    with pytest.raises(AuthenticationError, match=r"\*\*\*") as refused:
        await agent.invoke(prompt="hello")
    assert "another-key" not in str(refused.value)


async def test_a_typed_answer_takes_the_same_way(demo: ModuleType, server: Server) -> None:
    """The form's query is asked of the chosen model."""
    demo.choose("openai_chat", server.origin + WIRES["openai_chat"].root, MODEL, "in use")
    events = [event.type async for event in lf.query_stream("Say hello", int, lm=demo.visitors_model)]
    assert events[-1] == "parsing_failed"
    assert "Say hello" in json.dumps(json.loads(server.exchanges[-1].body))


async def test_without_a_key_none_is_sent(demo: ModuleType) -> None:
    """A server that needs no key gets no header of one, and may be reached by plain http anywhere."""
    with wires_server(key=None) as local:
        demo.choose("openai_chat", local.origin + WIRES["openai_chat"].root, MODEL, None)
        assert (await demo.visitors_model("hello")).text == "Hello from openai_chat"
    assert demo.model_at("openai_chat", "http://192.0.2.1/v1").allow_insecure
    assert not demo.model_at("openai_chat", "http://192.0.2.1/v1", key="in use").allow_insecure


async def test_forgotten(demo: ModuleType) -> None:
    """Before a choice, and after going back to the script, nothing is asked of anybody."""
    demo.choose("openai", "https://models.example/v1", MODEL, "in use")
    demo.forget()
    with pytest.raises(InvalidArgumentError, match="no model is chosen"):
        await demo.visitors_model("hello")
    with pytest.raises(InvalidArgumentError, match="base_url"):
        demo.choose("openai", "models.example", MODEL, None)
