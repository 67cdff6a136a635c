"""The four wires as pages meet them: an origin each, with turns of our own, failures, and what its CORS lets by."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.browser.provider import Answer, Provider
from tests.llms import chat_wire, gemini_wire, messages_wire, responses_wire
from worker.bundle.exchange import Exchange
from worker.bundle.server import Cors, Server

THOUGHT = "They ask about a lamp: let me look. 🤔"
TEXT = "Your lamp 💡 is on its way, and should be with you on Thursday."
ARGUMENTS = '{"id": "7", "note": "größer als 5"}'
WAIT = 1.0
"""Seconds that a refusal for too many requests asks to wait, in a header."""
BODY_WAIT = 0.6
"""The same where it stands in the body."""
DIRECT = "anthropic-dangerous-direct-browser-access"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One provider.

    `begin` gives the events of an answer up to the end of this text, after a thought; `finish` those of a call and the
    end. `busy` is an event that says that it cannot go on. `limited` is the document of a refusal for too many
    requests, `waits` what a page may learn of the wait. `settings` are for the model beside its address.
    """

    path: str
    models: str
    cors: Cors
    begin: Callable[[str], list[bytes]]
    finish: Callable[[str], list[bytes]]
    busy: bytes
    limited: Mapping[str, Any]
    waits: float | None
    listed: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def turn(self, text: str = TEXT) -> list[bytes]:
        """The events of a whole answer."""
        return self.begin(text) + self.finish(text)


def _pieces(text: str) -> Iterator[str]:
    size = max(16, len(text) // 64)
    return (text[start : start + size] for start in range(0, len(text), size))


def _begin_messages(text: str) -> list[bytes]:
    opening = [messages_wire.start(), messages_wire.thinking(0, THOUGHT), messages_wire.opened(1, type="text", text="")]
    return opening + [messages_wire.text_delta(1, piece) for piece in _pieces(text)]


def _finish_messages(text: str) -> list[bytes]:
    call = messages_wire.tool(2, "toolu_1", "get_order", ARGUMENTS[:9], ARGUMENTS[9:])
    end = messages_wire.end("tool_use", output=40, output_tokens_details={"thinking_tokens": 12})
    return [messages_wire.closed(1), call, end]


REASONED = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": THOUGHT}],
    "encrypted_content": "gAAA==",
}


def _begin_responses(text: str) -> list[bytes]:
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []}
    return [
        responses_wire.created(),
        responses_wire.added(0, type="reasoning", id="rs_1", summary=[]),
        responses_wire.delta("reasoning_summary_text", 0, THOUGHT, summary_index=0),
        responses_wire.done(0, **REASONED),
        responses_wire.added(1, **message),
        *(responses_wire.delta("output_text", 1, piece, content_index=0) for piece in _pieces(text)),
    ]


def _finish_responses(text: str) -> list[bytes]:
    message = responses_wire.message(text)
    call = responses_wire.call(1, ARGUMENTS, name="get_order")
    usage = {"input_tokens": 25, "output_tokens": 40, "output_tokens_details": {"reasoning_tokens": 12}}
    return [
        responses_wire.done(1, **message),
        responses_wire.added(2, **responses_wire.call(1, status="in_progress", name="get_order")),
        responses_wire.delta("function_call_arguments", 2, ARGUMENTS[:9]),
        responses_wire.delta("function_call_arguments", 2, ARGUMENTS[9:]),
        responses_wire.done(2, **call),
        responses_wire.end(REASONED, message, call, usage={**usage, "total_tokens": 65}),
    ]


def _begin_chat(text: str) -> list[bytes]:
    pieces = [chat_wire.text(piece) for piece in _pieces(text)]
    return [chat_wire.chunk({"role": "assistant", "reasoning_content": THOUGHT}), *pieces]


def _finish_chat(text: str) -> list[bytes]:
    details = {"completion_tokens_details": {"reasoning_tokens": 12}}
    usage = {"prompt_tokens": 25, "completion_tokens": 40, "total_tokens": 65, **details}
    return [
        chat_wire.calls(chat_wire.call(0, "call_1", "get_order", ARGUMENTS[:9])),
        chat_wire.calls(chat_wire.call(0, arguments=ARGUMENTS[9:])),
        chat_wire.chunk({}, "tool_calls"),
        chat_wire.data({"id": "c1", "model": "m-1", "choices": [], "usage": usage}),
        chat_wire.DONE,
    ]


def _begin_gemini(text: str) -> list[bytes]:
    thought = gemini_wire.chunk(gemini_wire.text(THOUGHT, thought=True))
    return [thought, *(gemini_wire.chunk(gemini_wire.text(piece)) for piece in _pieces(text))]


def _finish_gemini(text: str) -> list[bytes]:
    call = gemini_wire.call("get_order", json.loads(ARGUMENTS), thoughtSignature="c2ln")
    usage = {"promptTokenCount": 25, "candidatesTokenCount": 28, "thoughtsTokenCount": 12, "totalTokenCount": 65}
    return [gemini_wire.chunk(call, finish="STOP", usageMetadata=usage)]


def _cors(*headers: str, expose: tuple[str, ...] = ()) -> Cors:
    return Cors(headers=headers, methods=("GET", "POST"), expose=expose)


_RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{BODY_WAIT}s"}
_OPENAI_LIMITED = {"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}
_OPENAI_MODELS = {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 1}]}

WIRES = {
    "Anthropic": Wire(
        path="/v1/messages",
        models="/v1/models",
        cors=_cors("content-type", "x-api-key", "anthropic-version", "anthropic-beta", DIRECT, expose=("*",)),
        begin=_begin_messages,
        finish=_finish_messages,
        busy=messages_wire.error("overloaded_error", "Overloaded"),
        limited={"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}},
        waits=WAIT,
        listed={"data": [{"type": "model", "id": "scripted", "display_name": "S"}], "has_more": False},
        settings={"browser_access": True},
    ),
    "OpenAI": Wire(
        path="/v1/responses",
        models="/v1/models",
        cors=_cors("authorization", "content-type", expose=("X-Request-ID",)),
        begin=_begin_responses,
        finish=_finish_responses,
        busy=responses_wire.event("error", code="server_error", message="The server had an error", param=None),
        limited=_OPENAI_LIMITED,
        waits=None,
        listed=_OPENAI_MODELS,
    ),
    "OpenAIChat": Wire(
        path="/v1/chat/completions",
        models="/v1/models",
        cors=_cors("authorization", "content-type", expose=("X-Request-ID",)),
        begin=_begin_chat,
        finish=_finish_chat,
        busy=chat_wire.data({"error": {"message": "The server had an error", "type": "server_error", "code": 503}}),
        limited=_OPENAI_LIMITED,
        waits=None,
        listed=_OPENAI_MODELS,
    ),
    "Gemini": Wire(
        path="/v1beta/models/scripted:streamGenerateContent",
        models="/v1beta/models",
        cors=_cors("x-goog-api-key", "content-type"),
        begin=_begin_gemini,
        finish=_finish_gemini,
        busy=gemini_wire.data({"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}}),
        limited={"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow", "details": [_RETRY_INFO]}},
        waits=BODY_WAIT,
        listed={"models": [{"name": "models/scripted", "supportedGenerationMethods": ["generateContent"]}]},
    ),
}


class Service:
    """A provider at work: its origin takes only requests that the real one would, and plays scenes.

    A scene is the first folder of the base URL. `posts` are its requests, without preflights.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.wire = WIRES[name]
        self._provider = Provider(lambda exchange: exchange.path.split("/")[1])
        self.server = Server(routes={"POST *": self._answer, "GET *": self._list}, cors=self.wire.cors)

    def play(self, scene: str, *answers: Answer) -> None:
        """Answer the requests of a scene in turn; the last answer repeats."""
        self._provider.play(scene, *answers)

    def posts(self, scene: str) -> list[Exchange]:
        """The requests of a scene so far."""
        return self._provider.exchanges(scene)

    def preflights(self, scene: str) -> list[Exchange]:
        """What browsers have asked before the requests of a scene."""
        started = f"/{scene}/"
        return [e for e in list(self.server.exchanges) if e.method == "OPTIONS" and e.path.startswith(started)]

    def settings(self, scene: str) -> dict[str, Any]:
        """What a model needs to be in a scene."""
        version = self.wire.models.split("/")[1]
        return {"base_url": f"{self.server.url}{scene}/{version}", **self.wire.settings}

    def _answer(self, exchange: Exchange) -> None:
        scene = exchange.path.split("/")[1]
        if exchange.path != f"/{scene}{self.wire.path}":
            exchange.respond(404)
        elif self.name == "Anthropic" and DIRECT not in exchange.headers:
            error = {"type": "authentication_error", "message": f"CORS requests must set '{DIRECT}' header"}
            exchange.respond(401, body=json.dumps({"type": "error", "error": error}))
        else:
            self._provider.route(exchange)

    def _list(self, exchange: Exchange) -> None:
        exchange.respond(200, {"content-type": "application/json"}, json.dumps(self.wire.listed))


@contextmanager
def services() -> Iterator[dict[str, Service]]:
    """The four providers, running."""
    running = {name: Service(name) for name in WIRES}
    with ExitStack() as stack:
        for service in running.values():
            stack.enter_context(service.server)
        yield running
