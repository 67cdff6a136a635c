"""A model provider without a model: it answers Messages requests in Anthropic's wire format with turns written here.

`respond` is a pure function of the request body, so the same file serves the demo over HTTP and inside the worker.
The script reads the conversation as a model would: what was asked last, and what the tools have said since.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from scripted_notes import order_in

Json: TypeAlias = dict[str, Any]
Answer: TypeAlias = tuple[int, dict[str, str], list[bytes | float]]


def respond(body: Any) -> Answer:
    """Status, headers and body of the answer; in the body, bytes are one network write, a float is seconds to wait."""
    headers = {"content-type": "application/json", "request-id": f"req_{_digest(body)}"}
    problem = _problem(body)
    if problem:
        error = {"type": "invalid_request_error", "message": problem}
        document = {"type": "error", "error": error, "request_id": headers["request-id"]}
        return 400, headers, [json.dumps(document, ensure_ascii=False).encode()]
    headers |= {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    return 200, headers, list(_stream(body, play(read_scene(body))))


# The script


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A thought before the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """Text for the customer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A typed answer, in the small pieces of a model's tokens."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call."""

    name: str
    input: Json


Block: TypeAlias = Thinking | Say | Write | Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a tool answered since the customer last spoke."""

    text: str
    is_error: bool

    @property
    def order(self) -> Json:
        """The order in the text, which may stand inside a trust envelope."""
        return dict(json.loads(self.text[self.text.index("{") : self.text.rindex("}") + 1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What the script knows when its turn comes: the request, the order it is about, the tools and their results.

    `note` is the request of a typed query, as it was written.
    """

    text: str
    note: str = ""
    order_id: str | None = None
    tools: frozenset[str] = frozenset()
    results: dict[str, Result] = field(default_factory=dict)


def play(scene: Scene) -> list[Block]:
    """The next turn of the story."""
    match scene:
        case Scene(note=note) if note:
            return [Write(text=order_in(note))]
        case Scene(tools=tools) if "ask_northwind" in tools:
            return _ship(scene)
        case Scene(text=text) if re.search(r"\b(detail|long story|policy)\b", text):
            return [Say(text=RETURNS_POLICY)]
        case Scene(text=text) if re.search(r"\b(refund|money back)", text):
            return _refund(scene)
        case Scene(text=text) if re.search(r"\b(sooner|faster|earlier|hurry|rush)\b", text):
            return _hurry(scene)
        case Scene(text=text) if re.search(r"\b(orders?|where|track|deliver\w*|parcel|package)\b", text):
            return _where(scene)
        case Scene(text=text) if re.search(r"\b(hi|hello|hey|good (morning|evening)|help)\b", text):
            return [Say(text="Hello, and welcome to the desk! " + ABILITIES)]
        case Scene(text=text) if re.search(r"\b(thanks|thank you|great|perfect)\b", text):
            return [Say(text="You are very welcome. Is there anything else I can do?")]
    return [Say(text="I am a scripted model, so that is beyond me. " + ABILITIES)]


def _where(scene: Scene) -> list[Block]:
    if scene.order_id is None:
        return [Say(text="Happy to look. Which order is it? The number is on its card.")]
    found = scene.results.get("get_order")
    if found is None:
        return [
            Thinking(text=f"They ask about order {scene.order_id}. I should look it up before I say anything."),
            Call(name="get_order", input={"id": scene.order_id}),
        ]
    if found.is_error:
        return [Say(text=f"I cannot find an order {scene.order_id}. Could you check the number on its card?")]
    if "show_order" in scene.tools - scene.results.keys():
        return [Say(text="Found it, let me show you."), Call(name="show_order", input={"id": scene.order_id})]
    order = found.order
    item, status = _lower(order["item"]), STATUS_WORDS[order["status"]]
    return [Say(text=f"Your {item} is {status}. {order['detail']}. Is there anything else?")]


def _refund(scene: Scene) -> list[Block]:
    if scene.order_id is None:
        return [Say(text="I can do that. Which order should I refund?")]
    refunded = scene.results.get("refund_order")
    if refunded is None:
        return [
            Thinking(text=f"They ask for their money back on order {scene.order_id}, and they say so plainly."),
            Say(text="Of course, one moment."),
            Call(name="refund_order", input={"id": scene.order_id, "reason": "the customer asked"}),
        ]
    if refunded.is_error and "not allowed" in refunded.text:
        return [Say(text=f"Then order {scene.order_id} stays as it is. {_why(refunded.text)}No money has moved.")]
    if refunded.is_error:
        return [Say(text=f"I could not do that. {_bare(refunded.text)} No money has moved.")]
    if "set_note" in scene.tools - scene.results.keys():
        return [Call(name="set_note", input={"id": scene.order_id, "note": "Refunded, nothing to send back"})]
    order = refunded.order
    return [
        Say(
            text=f"Done: {order['price']:.2f} € for the {_lower(order['item'])} are on their way back to you. "
            "You can keep it, or pass it on to somebody with an empty desk."
        )
    ]


def _hurry(scene: Scene) -> list[Block]:
    if scene.order_id is None:
        return [Say(text="I can ask around. Which order is in a hurry?")]
    found, offers = scene.results.get("get_order"), scene.results.get("ask_shipping")
    if found is None or found.is_error:
        return _where(scene)
    item, status = _lower(found.order["item"]), found.order["status"]
    if status != "packing":
        return [Say(text=f"Your {item} has left us: it is {STATUS_WORDS[status]}. {found.order['detail']}.")]
    if offers is None:
        task = f"Order {scene.order_id}, a {item}, is still being packed. Which carrier brings it soonest?"
        say = Say(text="It is still here, so I ask our shipping desk.")
        return [say, Call(name="ask_shipping", input={"prompt": task})]
    if offers.is_error:
        return [Say(text=f"The shipping desk does not answer just now. As planned: {found.order['detail']}.")]
    return [Say(text=f"Good news about your {item}. {offers.text} Which one shall it be?")]


def _ship(scene: Scene) -> list[Block]:
    """The other agent, whose task is about one order."""
    offers = [result.order for result in scene.results.values() if not result.is_error]
    if not scene.results:
        carriers = ("ask_northwind", "ask_harbour")
        return [
            Thinking(text="Two carriers come to us. I ask both at once and compare."),
            *(Call(name=name, input={"id": scene.order_id or ""}) for name in carriers),
        ]
    if not offers:
        return [Say(text="Neither carrier answers today.")]
    told = [f"{offer['carrier']} brings it {offer['arrives']} for {offer['price']:.2f} €" for offer in offers]
    return [Say(text=f"{', '.join(told)}.")]


ABILITIES = (
    "I can tell you where an order is, refund one, see whether it can come sooner, or explain our returns policy in "
    "detail. "
    "Try “Where is order 7?” and watch the card move."
)
STATUS_WORDS = {
    "packing": "being packed",
    "shipped": "on its way",
    "delivered": "with you already",
    "refunded": "refunded",
}
RETURNS_POLICY = """\
Gladly. Here is all of it, from the first day to the last euro.

You may send back anything you bought from us within sixty days, and you do not have to say why. The sixty days \
begin when the parcel reaches you, not when you paid, so a slow carrier never costs you time. If the last day is \
a Sunday or a public holiday, the next working day counts as the last one.

The thing should be in a state in which you would like to receive it yourself. You may unpack it, put it on your \
desk, switch it on and live with it for a while: that is what the sixty days are for. A scratch from ordinary \
use is no reason for us to refuse it. If something is missing or broken, we ask you what happened, and then we \
agree on a fair part of the price together.

To begin, tell me the number of the order. I mark it on its card, and you get a label by mail within the hour. \
Print it or show its code at the counter; both work. Pack the thing so that it survives a fall from a table. The \
original box is best, though any sturdy box will do. Postage is on us inside Europe, and from elsewhere we pay \
the first twenty euros.

As soon as the parcel is scanned by the carrier, we start the refund, without waiting until it is back on our \
shelf. The money goes the way it came: cards take two to five days, bank transfers one or two, and gift cards \
are filled up again the same evening. If you paid partly with a gift card, that part returns to the card first.

Small things are simpler. For an order below thirty euros we usually refund you and ask you to keep the item, \
since sending a pen tray across a continent helps nobody. Give it to a neighbour, a school or a friend who has \
just rented an office.

Exchanges work in the same way, only faster: the new thing leaves us when the carrier has scanned the old one, \
and if it costs less, you get the difference back. If it costs more, we ask before we charge anything.

Two things cannot come back: lamps that were wired into a wall, because we can no longer test them safely, and \
goods with your own engraving, because nobody else shares your name. Should an engraved item arrive damaged, we \
make it again, of course.

And if the sixty days are over and you are still unhappy, write to us anyway. Furniture is patient, and so are \
we: there is nearly always something that we can repair, exchange or at least explain. That is the whole policy. \
Shall I look at one of your orders?"""


def _lower(item: str) -> str:
    return item[:1].lower() + item[1:]


def _bare(text: str) -> str:
    """A tool's message without the trust envelope and the word that it is an error."""
    return re.sub(r"</?(un)?trusted_content\w*[^>]*>", "", text).strip().removeprefix("Error: ")


def _why(text: str) -> str:
    """The reason that was given for a refusal, as a sentence."""
    reason = _bare(text).partition("not allowed.")[2].strip()
    return f"The reason: {reason.rstrip('.')}. " if reason else "Nobody has allowed the refund. "


# Reading a request


def read_scene(body: Json) -> Scene:
    """What the conversation in a valid request asks of the script."""
    names: dict[str, str] = {}
    scene_text, note, results, mentioned = "", "", {}, None
    for message in body["messages"]:
        for block in _blocks(message):
            if block["type"] == "tool_use":
                names[block["id"]] = block["name"]
            elif block["type"] == "tool_result":
                text = "".join(part["text"] for part in _parts(block.get("content", "")) if part["type"] == "text")
                results[names[block["tool_use_id"]]] = Result(text=text, is_error=bool(block.get("is_error")))
            elif block["type"] == "text" and message["role"] == "user":
                scene_text, results = block["text"].lower(), {}
                note = block["text"] if block["text"].startswith("REQUEST:") else ""
                number = re.search(r"\d+", scene_text)
                mentioned = number[0] if number else mentioned
    tools = frozenset(tool["name"] for tool in body.get("tools", []))
    return Scene(text=scene_text, note=note, order_id=mentioned, tools=tools, results=results)


def _problem(body: Any) -> str | None:
    """What the real service would refuse in a request, in its manner of saying so."""
    if not isinstance(body, dict):
        return "The request body is not valid JSON"
    for name, kind, wanted in (("model", str, "string"), ("max_tokens", int, "integer"), ("messages", list, "list")):
        if name not in body:
            return f"{name}: Field required"
        if not isinstance(body[name], kind) or not body[name]:
            return f"{name}: Input should be a valid {wanted}"
    if body.get("stream") is not True:
        return "stream: this scripted service only streams"
    for index, message in enumerate(body["messages"]):
        problem = _message_problem(message)
        if problem:
            return f"messages.{index}: {problem}"
    if body["messages"][0]["role"] != "user":
        return "messages: first message must use the “user” role"
    return _pairing_problem(body["messages"])


def _message_problem(message: Any) -> str | None:
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        return "role: Input should be 'user' or 'assistant'"
    if not isinstance(message.get("content"), (str, list)) or not message["content"]:
        return "content: Input should be a non-empty string or list"
    for block in _blocks(message):
        needed = BLOCK_FIELDS.get(block.get("type", "")) if isinstance(block, dict) else None
        if needed is None:
            return "content: Input tag is unknown"
        if any(name not in block for name in needed):
            return f"content.{block['type']}: Field required"
        if block["type"] == "thinking" and block["signature"] != _signature(block["thinking"]):
            return "Invalid `signature` in `thinking` block"
    return None


BLOCK_FIELDS: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("source",),
    "thinking": ("thinking", "signature"),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
}


def _pairing_problem(messages: list[Json]) -> str | None:
    """Each call must have its result in the next message, and each result its call in the one before."""
    called: set[str] = set()
    for index, message in enumerate(messages):
        blocks = _blocks(message)
        answered = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if called - answered:
            return f"messages.{index - 1}: `tool_use` without `tool_result`: {', '.join(sorted(called - answered))}"
        if answered - called:
            return f"messages.{index}: `tool_result` without `tool_use`: {', '.join(sorted(answered - called))}"
        called = {block["id"] for block in blocks if block["type"] == "tool_use"}
    return "messages: the last `tool_use` has no `tool_result`" if called else None


def _blocks(message: Json) -> list[Any]:
    return _parts(message["content"])


def _parts(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


# Writing the answer


def _stream(body: Json, blocks: list[Block]) -> Iterator[bytes | float]:
    """The answer as server-sent events, at the pace of a quick model."""
    digest = _digest(body)
    read = {"input_tokens": _count(json.dumps(body["messages"])), "cache_read_input_tokens": 0}
    message = {"id": f"msg_{digest}", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    end: Json = {"stop_reason": None, "stop_sequence": None}
    yield 0.25
    yield _event("message_start", message={**message, **end, "usage": {**read, "output_tokens": 1}})
    yield _event("ping")
    for index, block in enumerate(blocks):
        yield from _block(block, index=index, call_id=f"toolu_{digest}_{index}")
    end["stop_reason"] = "tool_use" if any(isinstance(block, Call) for block in blocks) else "end_turn"
    written = sum(_count(json.dumps(block.input) if isinstance(block, Call) else block.text) for block in blocks)
    yield _event("message_delta", delta=end, usage={**read, "output_tokens": written})
    yield _event("message_stop")


def _block(block: Block, *, index: int, call_id: str) -> Iterator[bytes | float]:
    yield _event("content_block_start", index=index, content_block=_opening(block, call_id))
    for kind, key, text in _deltas(block):
        yield _event("content_block_delta", index=index, delta={"type": kind, key: text})
        yield min(0.06, 0.025 + 0.004 * len(text))
    yield _event("content_block_stop", index=index)


def _opening(block: Block, call_id: str) -> Json:
    match block:
        case Thinking():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case Say() | Write():
            return {"type": "text", "text": ""}
        case Call(name=name):
            return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def _deltas(block: Block) -> list[tuple[str, str, str]]:
    match block:
        case Thinking(text=text):
            words = [("thinking_delta", "thinking", word) for word in _words(text)]
            return [*words, ("signature_delta", "signature", _signature(text))]
        case Say(text=text):
            return [("text_delta", "text", word) for word in _words(text)]
        case Write(text=text):
            return [("text_delta", "text", token) for token in _tokens(text)]
        case Call(input=value):
            return [("input_json_delta", "partial_json", piece) for piece in ["", *_pieces(json.dumps(value))]]


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n".encode()


def _words(text: str) -> list[str]:
    return re.findall(r"\s*\S+", text)


def _tokens(text: str) -> list[str]:
    return re.findall(r"(?s).{1,3}", text)


def _pieces(text: str) -> list[str]:
    return re.findall(r".{1,9}", text)


def _count(text: str) -> int:
    return len(text) // 4 + 1


def _signature(text: str) -> str:
    """What proves that a thought comes back unchanged; the real one is opaque, too."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _digest(body: Any) -> str:
    """An id made of the request: equal requests get equal ids, and a growing conversation never repeats one."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).hexdigest()[:24]
