"""The worker's end: every command has exactly one end, and whatever goes wrong the others go on."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.bridge.fake_page import FakePage
from tests.messages.pictures import PNG

SHOP = '''
import asyncio, sys
import langfx_web as lf

@lf.tool(idempotent=True)
def get_order(id: str) -> dict[str, str]:
    """Look up an order."""
    return {"id": id, "status": "shipped"}

def model(*replies):
    return lf.testing.StaticSequence(replies, chunk_size=3)

support = lf.Agent(
    name="support",
    lm=model(lf.AIMessage("Let me see. ", lf.ToolCall("c1", "get_order", {"id": "7"})), "It is shipped."),
    tools=[get_order],
)
echo = lf.Agent(name="echo", lm=lf.testing.Echo(chunk_size=1))
keyed = lf.Agent(name="keyed", lm=lf.llms.Anthropic(model="m", api_key=lf.page_credential("anthropic")))
@lf.tool(idempotent=False, approval=True)
def pay(order: str) -> str:
    """Pay an order."""
    return f"paid {order}"

till = lf.Agent(name="till", lm=model(lf.AIMessage(lf.ToolCall("c1", "pay", {"order": "7"})), "Paid."), tools=[pay])
shower = lf.Agent(name="shower", lm=model(lf.AIMessage(lf.ToolCall("c1", "show", {"what": "7"})), "Shown."))

def add(a, b=1): return a + b
def broken(): raise ValueError("no sk-abcdef123456 here")
async def later(x):
    await asyncio.sleep(0)
    return x
async def count(n):
    for number in range(n):
        yield number
def pair(): return ["a", "b"]
async def forever():
    await asyncio.Event().wait()
async def half():
    yield 1
    raise ValueError("half way")
def leaves(): sys.exit(3)
async def cancels_itself(): raise asyncio.CancelledError
def odd(): return {"set": {1}}
'''

SHOW = {
    "name": "show",
    "description": "Show it.",
    "inputSchema": {"type": "object", "properties": {"what": {"type": "string"}}},
    "idempotent": True,
}


@pytest.fixture
async def shop(page: FakePage) -> FakePage:
    """A page whose worker is ready."""
    ready = await page.setup({"dispatch_shop": SHOP}, tools=[SHOW])
    assert ready == {"kind": "ready", "version": "0.1.0", "agents": ["echo", "keyed", "shower", "support", "till"]}
    return page


async def test_calls(shop: FakePage) -> None:
    """Plain and async functions, by position and by keyword."""
    assert (await shop.ask("call", target="dispatch_shop:add", args=[1, 2]))["value"] == 3
    assert (await shop.ask("call", target="dispatch_shop:add", args={"a": 1}))["value"] == 2
    assert (await shop.ask("call", target="dispatch_shop:later", args=[{"x": None}]))["value"] == {"x": None}


@pytest.mark.parametrize(
    ("target", "args", "code"),
    [
        ("dispatch_shop:nope", [], "target_not_found"),
        ("dispatch_shop:add", [], "user_code_failed"),
        ("dispatch_shop:broken", [], "user_code_failed"),
        ("dispatch_shop:later", [1, 2], "user_code_failed"),
        ("dispatch_shop:leaves", [], "user_code_failed"),
        ("dispatch_shop:cancels_itself", [], "user_code_failed"),
        ("dispatch_shop:odd", [], "not_portable"),
    ],
)
async def test_calls_that_fail(shop: FakePage, target, args, code) -> None:
    """The error has class and traceback, no key, and the worker goes on."""
    end = await shop.ask("call", target=target, args=args)
    assert (end["kind"], end["error"]["code"]) == ("error", code)
    assert "abcdef123456" not in json.dumps(end)
    if target.endswith("broken"):
        assert end["error"]["details"]["type"] == "ValueError"
        assert "dispatch_shop.py" in end["error"]["details"]["traceback"]
    assert (await shop.ask("call", target="dispatch_shop:add", args=[1]))["value"] == 2


async def test_streams(shop: FakePage) -> None:
    """Generators and lists; the end counts the items."""
    for target, args, items in (("count", [3], [0, 1, 2]), ("pair", [], ["a", "b"]), ("count", [0], [])):
        id_ = shop.command("stream", target=f"dispatch_shop:{target}", args=args)
        end = await shop.end(id_)
        assert (end["kind"], end["count"], shop.items(id_)) == ("end", len(items), items)
    end = await shop.ask("stream", target="dispatch_shop:add", args=[1])
    assert end["error"]["code"] == "invalid_argument"
    id_ = shop.command("stream", target="dispatch_shop:half", args=[])
    end = await shop.end(id_)
    assert (end["error"]["code"], shop.items(id_)) == ("user_code_failed", [1])


async def test_platform_22_an_unread_stream_pauses_and_goes_on(shop: FakePage) -> None:
    """At 256 items; credit brings the rest, losslessly."""
    id_ = shop.command("stream", target="dispatch_shop:count", args=[1000])
    await shop.wait(lambda message: len(shop.items(id_)) >= 256)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(shop.items(id_)) == 256
    for _ in range(4):
        shop.tell("credit", id=id_, items=200, bytes=800)
        for _ in range(10):
            await asyncio.sleep(0)
    assert (await shop.end(id_))["count"] == 1000
    assert shop.items(id_) == list(range(1000))


async def test_a_turn(shop: FakePage) -> None:
    """Accepted, its lines, its result; the conversation afterwards."""
    id_ = shop.command("session_prompt", agent="support", session=None, input="Where is order 7?", messageId="m-1")
    end = await shop.end(id_)
    accepted = await shop.wait(lambda message: message["kind"] == "accepted")
    assert accepted["value"]["messageId"] == "m-1"
    lines = shop.items(id_)
    assert end["count"] == len(lines)
    assert [line["cursor"] for line in lines] == list(range(1, len(lines) + 1))
    assert "".join(line["delta"] for line in lines if line["type"] == "text_delta") == "Let me see. It is shipped."
    assert [line["type"] for line in lines if line["type"] != "text_delta"] == [
        "turn_start",
        "tool_start",
        "tool_end",
        "turn_end",
    ]
    assert end["value"] == {
        "messageId": "m-1",
        "stopReason": "end_turn",
        "usage": None,
        "error": None,
        "epoch": 1,
        "repeated": False,
    }
    session = accepted["value"]["sessionId"]
    messages = (await shop.ask("session_messages", agent="support", session=session))["value"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    stream = shop.command("session_stream", agent="support", session=session, cursor=2)
    await shop.wait(lambda message: len(shop.items(stream)) == len(lines) - 2)
    assert shop.items(stream) == lines[2:]
    shop.tell("cancel", id=stream)
    assert (await shop.end(stream))["error"]["code"] == "cancelled"


async def test_context_39_the_page_answers_the_questions_of_a_turn(shop: FakePage) -> None:
    """Listed as their lines show them; a wrong answer leaves them open, a second one comes too late."""
    address = {"agent": "till", "session": "s-1"}
    turn = shop.command("session_prompt", **address, input="Pay.")
    await shop.wait(lambda message: any(item["type"] == "gate_open" for item in shop.items(turn)))
    (gate,) = (await shop.ask("session_gates", **address))["value"]
    shown = next(item for item in shop.items(turn) if item["type"] == "gate_open")
    assert gate == {name: shown[name] for name in ("id", "reason", "payload", "schema", "callId")}
    wrong = await shop.ask("session_answer", **address, gateId=gate["id"], value="yes")
    assert wrong["error"]["code"] == "gate_answer_invalid"
    assert (await shop.ask("session_answer", **address, gateId=gate["id"], value=True))["value"] is None
    late = await shop.ask("session_decline", **address, gateId=gate["id"], reason="no")
    assert late["error"]["code"] == "gate_not_found"
    assert (await shop.end(turn))["value"]["stopReason"] == "end_turn"
    assert [item["content"] for item in shop.items(turn) if item["type"] == "tool_end"] == ["paid 7"]
    assert (await shop.ask("session_gates", **address))["value"] == []


async def test_the_page_watches_the_turns_of_a_conversation(shop: FakePage) -> None:
    """As plain session events, from the command on and until it is cancelled."""
    address = {"agent": "till", "session": "s-1"}
    watch = shop.command("session_watch", **address)
    turn = shop.command("session_prompt", **address, input="Pay.")
    await shop.wait(lambda message: any(item["type"] == "gate_open" for item in shop.items(turn)))
    (gate,) = (await shop.ask("session_gates", **address))["value"]
    await shop.ask("session_decline", **address, gateId=gate["id"], reason="not now")
    await shop.end(turn)
    events = shop.items(watch)
    named = [(event["type"], event["node"]["name"]) for event in events]
    assert named[:2] == [("action_start", "Agent:till"), ("query_start", "step 0")]
    assert named[-1] == ("action_end", "Agent:till")
    (denied,) = [event["node"] for event in events if event["node"]["error"]]
    assert (denied["name"], denied["error"]["code"]) == ("Tool:pay", "tool_denied")
    assert denied["metadata"]["args"] == {"json": {"order": "7"}}
    shop.tell("cancel", id=watch)
    assert (await shop.end(watch))["error"]["code"] == "cancelled"


async def test_bug_093_a_picture_of_the_page_reaches_the_model(page: FakePage) -> None:
    """Its bytes travel as they are, its type is what they are, and the conversation gives them back as bytes."""
    source = """
import langfx_web as lf
SEEN = []
def look(request):
    SEEN.append(request.messages[-1])
    return "A dot."
painter = lf.Agent(name="painter", lm=lf.testing.StaticResponse(look))
def seen(): return [[repr(part) for part in message.parts] for message in SEEN]
"""
    await page.setup({"dispatch_painter": source})
    prompt = ["What is it?", {"type": "image", "data": PNG, "mimeType": "image/jpeg"}]
    id_ = page.command("session_prompt", agent="painter", session="s-1", input=prompt, messageId="m-1")
    assert (await page.end(id_))["value"]["stopReason"] == "end_turn"
    seen = (await page.ask("call", target="dispatch_painter:seen", args=[]))["value"]
    assert seen == [["Text(text='What is it?')", f"Image(image/png, {len(PNG)} bytes)"]]
    asked = page.command("session_messages", agent="painter", session="s-1")
    said = (await page.end(asked))["value"][0]
    assert said["parts"][1] == {"type": "image", "mimeType": "image/png", "data": None}
    assert [buffers for messages, buffers in page.posts if messages[0].get("id") == asked] == [[PNG]]


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"<svg/>", "invalid_image"), (PNG + bytes(3_932_160), "image_too_large"), ("no base64!", "invalid_input")],
)
async def test_bug_093_a_picture_that_is_none_is_not_stored(shop: FakePage, data: bytes | str, code: str) -> None:
    """The prompt is refused, so that no later turn has it in its history."""
    prompt = ["What is it?", {"type": "image", "data": data}]
    end = await shop.ask("session_prompt", agent="echo", session="s-9", input=prompt)
    assert end["error"]["code"] == code
    assert (await shop.ask("session_messages", agent="echo", session="s-9"))["value"] == []


async def test_a_page_switches_what_its_turns_ask_a_model_for(shop: FakePage) -> None:
    """Settings as a plain object; what the model lacks ends the turn, and what is none is refused."""
    prompt = {"agent": "echo", "session": "s-8", "input": "x"}
    good = await shop.ask("session_prompt", **prompt, model={"id": "large", "effort": "low"})
    assert good["value"]["stopReason"] == "end_turn"
    lacking = await shop.ask("session_prompt", **prompt, model={"fast": True})
    assert lacking["value"]["error"]["code"] == "model_unsupported_fast"
    wrong = await shop.ask("session_prompt", **prompt, model={"speed": "fast"})
    assert wrong["error"]["code"] == "invalid_argument"


async def test_platform_23_the_end_of_an_unread_turn_is_told_at_once(shop: FakePage) -> None:
    """With the number of lines due; they follow as the page reads."""
    id_ = shop.command("session_prompt", agent="echo", session=None, input="x" * 600)
    end = await shop.end(id_)
    assert (end["value"]["stopReason"], end["count"], len(shop.items(id_))) == ("end_turn", 602, 256)
    while len(shop.items(id_)) < 602:
        shop.tell("credit", id=id_, items=256, bytes=2**20)
        await asyncio.sleep(0)
    assert [line["cursor"] for line in shop.items(id_)] == list(range(1, 603))


async def test_a_page_tool(shop: FakePage) -> None:
    """The page is asked with the call's facts; its answer is the result."""
    id_ = shop.command("session_prompt", agent="shower", session="s-1", input="Show order 7.")
    call = await shop.wait(lambda message: message["kind"] == "tool_call")
    assert (call["name"], call["input"], call["sessionId"], call["rerun"]) == ("show", {"what": "7"}, "s-1", False)
    assert call["executionId"].startswith("exe_")
    shop.tell("tool_result", id=call["id"], value={"shown": True})
    assert (await shop.end(id_))["value"]["stopReason"] == "end_turn"
    ends = [line for line in shop.items(id_) if line["type"] == "tool_end"]
    assert [(line["content"], line["isError"]) for line in ends] == [('{"shown":true}', False)]


async def test_platform_30_a_page_tool_that_throws_is_told_to_the_model(shop: FakePage) -> None:
    """And late answers are dropped."""
    id_ = shop.command("session_prompt", agent="shower", session="s-2", input="Show.")
    call = await shop.wait(lambda message: message["kind"] == "tool_call")
    shop.tell("tool_error", id=call["id"], error={"name": "TypeError", "message": "no map"})
    shop.tell("tool_result", id=call["id"], value="late")
    shop.tell("tool_result", id=99, value="never asked")
    assert (await shop.end(id_))["value"]["stopReason"] == "end_turn"
    (end,) = [line for line in shop.items(id_) if line["type"] == "tool_end"]
    assert (end["content"], end["errorCode"]) == ("no map", "tool_failed")


async def test_platform_30_a_page_that_lacks_a_declared_tool(shop: FakePage) -> None:
    """Is told to the model as any other unknown tool."""
    id_ = shop.command("session_prompt", agent="shower", session="s-4", input="Show.")
    call = await shop.wait(lambda message: message["kind"] == "tool_call")
    shop.tell("tool_error", id=call["id"], error={"name": "ToolNotFoundError", "message": "The page has no tool show."})
    assert (await shop.end(id_))["value"]["stopReason"] == "end_turn"
    (end,) = [line for line in shop.items(id_) if line["type"] == "tool_end"]
    assert (end["isError"], end["errorCode"]) == (True, "tool_not_found")


async def test_cancelling_a_turn_cancels_its_page_tool(shop: FakePage) -> None:
    """The page's handler is told; the turn ends cancelled, the command with its result."""
    id_ = shop.command("session_prompt", agent="shower", session="s-3", input="Show.")
    call = await shop.wait(lambda message: message["kind"] == "tool_call")
    assert (await shop.ask("session_cancel", agent="shower", session="s-3"))["value"] == "cancelled"
    assert await shop.wait(lambda message: message["kind"] == "tool_cancel") == {
        "kind": "tool_cancel",
        "id": call["id"],
    }
    assert (await shop.end(id_))["value"]["stopReason"] == "cancelled"


async def test_platform_24_cancelling_a_turn_that_waits_for_a_credential(page: FakePage) -> None:
    """Ends it at once; the answer, when it comes, serves the next turn."""
    await page.setup({"waiting_shop": SHOP}, credentials=True)
    id_ = page.command("session_prompt", agent="keyed", session="s-5", input="Hello.")
    request = await page.wait(lambda message: message["kind"] == "credential_request")
    assert (await page.ask("session_cancel", agent="keyed", session="s-5"))["value"] == "cancelled"
    assert (await page.end(id_))["value"]["stopReason"] == "cancelled"
    page.tell("credential_result", id=request["id"], value="in-time-for-the-next")
    assert len([message for message in page.messages if message["kind"] == "credential_request"]) == 1


async def test_a_credential_error_shows_no_key(page: FakePage) -> None:
    """What the page's callback said is the turn's error, with anything like a key masked."""
    await page.setup({"refused_shop": SHOP}, credentials=True)
    id_ = page.command("session_prompt", agent="keyed", session=None, input="Hello.")
    request = await page.wait(lambda message: message["kind"] == "credential_request")
    error = {"name": "Error", "message": "no right to sk-abcdef123456"}
    page.tell("credential_error", id=request["id"], error=error)
    result = (await page.end(id_))["value"]
    assert (result["error"]["code"], result["error"]["message"]) == ("credentials_failed", "no right to ***")


async def test_cancelling_a_command(shop: FakePage) -> None:
    """Has one end, `cancelled`; cancelling what is gone does nothing."""
    id_ = shop.command("call", target="dispatch_shop:forever", args=[])
    await asyncio.sleep(0)
    shop.tell("cancel", id=id_)
    assert (await shop.end(id_))["error"]["code"] == "cancelled"
    shop.tell("cancel", id=id_)
    shop.tell("credit", id=id_, items=1, bytes=1)
    assert len([message for message in shop.messages if message.get("id") == id_]) == 1


async def test_platform_24_a_cancel_that_comes_with_its_command(shop: FakePage) -> None:
    """Ends it all the same, though it has not begun."""
    commands = [
        {"kind": "call", "id": 50, "target": "dispatch_shop:forever", "args": []},
        {"kind": "stream", "id": 51, "target": "dispatch_shop:count", "args": [3]},
        {"kind": "session_prompt", "id": 52, "agent": "echo", "session": None, "input": "x"},
    ]
    shop.dispatch.receive(json.dumps([*commands, *({"kind": "cancel", "id": id_} for id_ in (50, 51, 52))]), [])
    for id_ in (50, 51, 52):
        assert (await shop.end(id_))["error"]["code"] == "cancelled"
        assert len([message for message in shop.messages if message.get("id") == id_]) == 1


@pytest.mark.parametrize("target", [{"messageId": "m-1"}, {}])
async def test_platform_24_a_cancel_right_behind_the_first_prompt_of_a_conversation(shop: FakePage, target) -> None:
    """Is not lost: the turn is cancelled, though nothing of it was stored when the cancel came."""
    prompt = {"kind": "session_prompt", "agent": "shower", "session": "s-quick", "input": "Show.", "messageId": "m-1"}
    cancel = {"kind": "session_cancel", "agent": "shower", "session": "s-quick", **target}
    shop.dispatch.receive(json.dumps([{**prompt, "id": 60}, {**cancel, "id": 61}]), [])
    assert (await shop.end(61))["value"] == "cancelled"
    assert (await shop.end(60))["value"]["stopReason"] == "cancelled"


async def test_platform_23_turns_that_nobody_reads_do_not_use_up_the_commands(shop: FakePage, monkeypatch) -> None:
    """Once the end is told, only the lines wait; the page may drop them."""
    monkeypatch.setattr("langfx_web.bridge.dispatch.MAX_COMMANDS", 3)
    ids = []
    for _ in range(5):
        ids.append(shop.command("session_prompt", agent="echo", session=None, input="x" * 300))
        assert (await shop.end(ids[-1]))["kind"] == "end"
    waiting = [shop.command("call", target="dispatch_shop:forever", args=[]) for _ in range(4)]
    assert (await shop.end(waiting[-1]))["error"]["code"] == "too_many_commands"
    for id_ in (*ids, waiting[0]):
        shop.tell("cancel", id=id_)
    assert (await shop.end(waiting[0]))["error"]["code"] == "cancelled"
    assert [message for message in shop.messages if message["kind"] == "error" and message["id"] in ids] == []


@pytest.mark.parametrize(
    ("kind", "fields", "code"),
    [
        ("session_prompt", {"agent": "nobody", "session": None, "input": "x"}, "no_agent"),
        ("agent_check", {"agent": "nobody"}, "no_agent"),
        ("session_prompt", {"agent": "echo", "session": "a b", "input": "x"}, "invalid_session_id"),
        ("session_prompt", {"agent": "echo", "session": None, "input": ""}, "invalid_input"),
        ("session_prompt", {"agent": "echo", "session": None, "input": [{"type": "hologram"}]}, "invalid_input"),
        ("session_prompt", {"agent": "echo", "session": None, "input": "x" * (8 * 2**20)}, "input_too_large"),
        ("session_prompt", {"agent": "echo", "session": None, "input": "x", "messageId": "a b"}, "invalid_message_id"),
        ("session_stream", {"agent": "echo", "session": "s", "cursor": -1}, "invalid_cursor"),
        ("session_stream", {"agent": "echo", "session": "s", "cursor": "1"}, "bridge_protocol"),
        ("nonsense", {}, "bridge_protocol"),
    ],
)
async def test_bad_commands(shop: FakePage, kind, fields, code) -> None:
    """A clear code, nothing stored, and the worker goes on."""
    end = await shop.ask(kind, **fields)
    assert end["error"]["code"] == code
    assert (await shop.ask("call", target="dispatch_shop:add", args=[1]))["value"] == 2


async def test_platform_29_ids_are_never_reused(shop: FakePage) -> None:
    """A second command under an old id is refused and does nothing."""
    shop.tell("call", id=1, target="dispatch_shop:add", args=[1])
    error = await shop.wait(lambda message: message["kind"] == "error" and message.get("id") == 1)
    assert error["error"]["code"] == "bridge_protocol"


@pytest.mark.parametrize(
    ("modules", "fields", "code"),
    [
        ({}, {"version": "9.9.9"}, "bridge_version"),
        ({}, {"protocol": 2}, "bridge_version"),
        ({}, {"store": "indexeddb"}, "store_unavailable"),
        ({}, {"store": {"name": "shop"}}, "store_unavailable"),
        ({"broken_setup": "import nothing_there"}, {}, "module_failed"),
        ({}, {"tools": [{"name": "a b", "description": "d"}]}, "invalid_tool"),
    ],
)
async def test_a_setup_that_fails(page: FakePage, modules, fields, code) -> None:
    """Says why, and is not ready."""
    error = await page.setup(modules, **fields)
    assert (error["kind"], error["error"]["code"]) == ("error", code)


async def test_commands_before_the_setup(page: FakePage) -> None:
    """Are errors, not a crash."""
    end = await page.ask("session_prompt", agent="x", session=None, input="x")
    assert end["error"]["code"] == "bridge_protocol"


class Packs:
    """Packs that arrive when a test says so: `wanted` in the order of asking, each answered by `answers`."""

    def __init__(self) -> None:
        self.wanted: list[str] = []
        self.asked = asyncio.Event()
        self.answers = asyncio.Queue[str]()

    async def load(self, pack: str) -> str:
        """What the worker's JavaScript does."""
        self.wanted.append(pack)
        self.asked.set()
        return await self.answers.get()


LATE = """
import langfx_web as lf

@lf.tool(idempotent=True)
def double(number: int) -> int:
    'Twice as much.'
    return 2 * number

def model():
    return lf.testing.StaticSequence([lf.AIMessage(lf.ToolCall("c1", "double", {"number": 4})), "Eight."])

typed = lf.Agent(name="typed", lm=model(), tools=[double])
plain = lf.Agent(name="plain", lm=lf.testing.Echo())
async def echo(value): return value
async def count():
    yield 1
async def answer(): return await lf.Agent(lm=model(), tools=[double]).invoke(prompt="4")
"""
FAILURE = json.dumps(
    {"code": "download_failed", "name": "BootError", "message": "no", "retryable": True, "details": {"file": "p"}}
)


@pytest.fixture
async def packs() -> Packs:
    """Packs of which none has arrived."""
    return Packs()


@pytest.fixture
async def late(tmp_path, page: FakePage, packs: Packs) -> FakePage:
    """A page that is ready while pydantic is still on its way."""
    other = FakePage(tmp_path / "late", load=packs.load)
    assert (await other.setup({"late_shop": LATE}, tools=[SHOW]))["kind"] == "ready"
    assert packs.wanted == []
    return other


async def test_work_without_types_does_not_wait_for_pydantic(late: FakePage, packs: Packs) -> None:
    """Calls, streams, and turns of agents whose tools have JSON Schemas only."""
    assert (await late.ask("call", target="late_shop:echo", args=["here"]))["value"] == "here"
    assert (await late.ask("stream", target="late_shop:count", args=[]))["count"] == 1
    end = await late.ask("session_prompt", agent="plain", session=None, input="hello")
    assert end["value"]["stopReason"] == "end_turn"
    assert packs.wanted == []


@pytest.mark.parametrize(
    ("kind", "fields", "value"),
    [
        ("session_prompt", {"agent": "typed", "session": None, "input": "4"}, None),
        ("call", {"target": "late_shop:answer", "args": []}, "Eight."),
    ],
)
async def test_an_agent_with_typed_tools_waits_for_pydantic(late: FakePage, packs: Packs, kind, fields, value) -> None:
    """A download that failed is the error of that command, and the next one may go through."""
    id_ = late.command(kind, **fields)
    await packs.asked.wait()
    assert (await late.ask("call", target="late_shop:echo", args=[1]))["value"] == 1
    assert not [message for message in late.messages if message.get("id") == id_]
    packs.answers.put_nowait(FAILURE)
    assert (await late.end(id_))["error"]["code"] == "download_failed"
    for _ in range(4):
        packs.answers.put_nowait("")
    end = await late.ask(kind, **fields)
    assert (end["value"] if kind == "call" else end["value"]["stopReason"]) == (value or "end_turn")
    assert set(packs.wanted) == {"schemas"}


async def test_what_has_arrived_is_not_asked_for_again(late: FakePage, packs: Packs) -> None:
    """Asking is a promise of the worker and turns of its loop, which no later typed work pays."""
    packs.answers.put_nowait("")
    for _ in range(2):
        assert (await late.ask("call", target="late_shop:answer", args=[]))["value"] == "Eight."
    assert packs.wanted == ["schemas"]


@pytest.mark.parametrize("target", [{"messageId": "m-1"}, {}])
async def test_platform_24_a_prompt_that_waits_for_pydantic_can_be_cancelled(
    late: FakePage, packs: Packs, target: dict[str, str]
) -> None:
    """Nothing is stored, and nothing runs when pydantic has come; other prompts go on."""
    session = {"agent": "typed", "session": "s-early"}
    id_ = late.command("session_prompt", **session, input="4", messageId="m-1")
    other = late.command("session_prompt", agent="typed", session="s-other", input="4", messageId="m-1")
    await packs.asked.wait()
    assert (await late.ask("session_cancel", **session, messageId="m-2"))["value"] == "none"
    assert (await late.ask("session_cancel", **session, **target))["value"] == "cancelled"
    assert (await late.end(id_))["error"]["code"] == "cancelled"
    for _ in range(8):
        packs.answers.put_nowait("")
    assert (await late.end(other))["value"]["stopReason"] == "end_turn"
    assert (await late.ask("session_messages", **session))["value"] == []


@pytest.mark.parametrize(
    ("source", "pack"),
    [
        ("import pydantic", "schemas"),
        ("def later():\n    from typing_extensions import Never", "schemas"),
        ("try:\n    import webbrowser\nexcept ImportError:\n    pass", "extra"),
    ],
)
async def test_a_module_gets_what_it_imports(tmp_path, page: FakePage, packs: Packs, source, pack) -> None:
    """Pydantic's set, or modules of the standard library that are not part of the start; ready comes afterwards."""
    other = FakePage(tmp_path / "needs", load=packs.load)
    packs.answers.put_nowait("")
    assert (await other.setup({"needs_shop": source}))["kind"] == "ready"
    assert packs.wanted == [pack]
    assert other.phases == ["modules"]


async def test_functions_that_use_a_schema_by_hand_wait_for_pydantic(tmp_path, page: FakePage, packs: Packs) -> None:
    """They could not wait themselves."""
    source = "import langfx_web as lf\ndef read(value): return lf.Schema(int).validate(value)\n"
    other = FakePage(tmp_path / "by_hand", load=packs.load)
    assert (await other.setup({"by_hand_shop": source}))["kind"] == "ready"
    id_ = other.command("call", target="by_hand_shop:read", args=[3])
    await packs.asked.wait()
    assert not [message for message in other.messages if message.get("id") == id_]
    packs.answers.put_nowait("")
    assert (await other.end(id_))["value"] == 3


TYPED = """
import dataclasses
import langfx_web as lf

@dataclasses.dataclass
class Point:
    x: int

lm = lf.testing.StaticResponse("Point(x=1)")

async def ask(): return await lf.query("Where?", Point, lm=lm)
async def say(): return await lf.query("Where?", lm=lm)
def watch(): return lf.query_stream("Where?", Point, lm=lm)
"""


async def test_typed_queries_wait_for_pydantic_when_they_have_an_answer(tmp_path, page: FakePage, packs: Packs) -> None:
    """Not before, so that the request is under way, and a text does not wait at all."""
    other = FakePage(tmp_path / "typed", load=packs.load)
    assert (await other.setup({"typed_shop": TYPED}))["kind"] == "ready"
    said = other.command("call", target="typed_shop:say", args=[])
    assert (await other.end(said))["value"] == "Point(x=1)"
    asked = other.command("call", target="typed_shop:ask", args=[])
    watched = other.command("stream", target="typed_shop:watch", args=[])
    await packs.asked.wait()
    await other.wait(lambda message: any(item["type"] == "field_end" for item in message.get("items", [])))
    packs.answers.put_nowait("")
    packs.answers.put_nowait("")
    assert (await other.end(asked))["value"] == {"x": 1}
    assert (await other.end(watched))["kind"] == "end"
    assert other.items(watched)[-1]["value"] == {"x": 1}


async def test_examples_at_the_top_of_a_module_find_pydantic(tmp_path, page: FakePage, packs: Packs) -> None:
    """They are checked at once, while the module is imported."""
    source = TYPED + "where = lf.Mapping('Where?', Point, examples=[lf.MappingExample('There.', Point(x=2))])\n"
    other = FakePage(tmp_path / "examples", load=packs.load)
    packs.answers.put_nowait("")
    assert (await other.setup({"examples_shop": source}))["kind"] == "ready"
    assert packs.wanted == ["schemas"]


async def test_close(shop: FakePage) -> None:
    """Ends what runs, then says so."""
    id_ = shop.command("call", target="dispatch_shop:forever", args=[])
    await asyncio.sleep(0)
    shop.tell("close", handoff=False)
    await shop.wait(lambda message: message["kind"] == "closed")
    assert (await shop.end(id_))["error"]["code"] == "cancelled"


SCRIPT = [{"toolCalls": [{"name": "get_order", "input": {"id": "12"}}]}, "Delivered."]


@pytest.mark.parametrize("provider", [SCRIPT, {"support": SCRIPT}])
async def test_a_scripted_provider_stands_in_for_the_models(page: FakePage, provider) -> None:
    """For every agent, or for those that are named; past its end a request fails."""
    await page.setup({"scripted_shop": SHOP}, provider=provider)
    id_ = page.command("session_prompt", agent="support", session=None, input="Order 12?")
    await page.end(id_)
    lines = page.items(id_)
    assert [line["content"] for line in lines if line["type"] == "tool_end"] == ['{"id":"12","status":"shipped"}']
    assert [line["delta"] for line in lines if line["type"] == "text_delta"] == ["Delivered."]
    end = await page.ask("session_prompt", agent="support", session=None, input="Again?")
    assert end["value"]["error"]["code"] == "fake_exhausted"
    other = await page.ask("session_prompt", agent="echo", session=None, input="hi")
    assert (other["value"]["stopReason"] == "end_turn") is isinstance(provider, dict)


async def test_a_script_that_cannot_be_read(page: FakePage) -> None:
    """Fails the setup, with the place."""
    error = await page.setup({}, provider=["fine", {"txt": "a"}])
    assert (error["error"]["code"], error["error"]["details"]["place"]) == ("invalid_argument", 1)


async def test_a_page_tool_must_say_whether_it_is_idempotent(page: FakePage) -> None:
    """A stored conversation needs to know; the error names the tool."""
    await page.setup(
        {"careless_shop": SHOP}, tools=[{key: value for key, value in SHOW.items() if key != "idempotent"}]
    )
    end = await page.ask("session_prompt", agent="echo", session=None, input="x")
    assert end["error"]["code"] == "invalid_tool"
    assert "'show'" in end["error"]["message"]


async def test_two_turns_at_once(shop: FakePage) -> None:
    """On two sessions they never mix."""
    ids = [shop.command("session_prompt", agent="echo", session=f"two-{n}", input=f"text {n}" * 20) for n in range(3)]
    for n, id_ in enumerate(ids):
        await shop.end(id_)
        text = "".join(line["delta"] for line in shop.items(id_) if line["type"] == "text_delta")
        assert text == f"text {n}" * 20


async def test_an_idle_worker_imports_what_typed_work_begins_with(tmp_path, page: FakePage) -> None:
    """So that the first typed answer of a page that was left alone does not wait for pydantic."""
    warmed = asyncio.Event()
    await FakePage(tmp_path, warm_up=warmed.set).setup({})
    async with asyncio.timeout(10):
        await warmed.wait()


async def test_a_busy_worker_or_one_without_the_pack_imports_nothing_unasked(tmp_path, page: FakePage) -> None:
    """A command is never kept waiting by an import that it does not need."""
    warmed: list[str] = []
    asked = {"busy": asyncio.Event(), "offline": asyncio.Event()}

    def load(name: str):
        async def answer(pack: str) -> str:
            asked[name].set()
            return json.dumps({"code": "download_failed"}) if name == "offline" else ""

        return answer

    pages = {name: FakePage(tmp_path, load=load(name), warm_up=lambda: warmed.append("now")) for name in asked}
    await pages["busy"].setup({"dispatch_busy": "import asyncio\nasync def forever(): await asyncio.Event().wait()"})
    forever = pages["busy"].command("call", target="dispatch_busy:forever", args=[])
    await pages["offline"].setup({})
    async with asyncio.timeout(10):
        await asyncio.gather(*(event.wait() for event in asked.values()))
    await asyncio.sleep(0)
    assert warmed == []
    pages["busy"].tell("cancel", id=forever)
    await pages["busy"].wait(lambda message: message.get("id") == forever)
