"""A server that speaks all four wires, each below a path of its own, to pages of any origin."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.llms import chat_wire, gemini_wire, messages_wire, responses_wire
from worker.bundle.exchange import Exchange
from worker.bundle.server import Cors, Server

GOOD_KEY = "visitors-key-0123456789"
MODEL = "small-1"
SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What one wire's server says, in its own words; in a refusal, KEY stands for the key that it repeats."""

    root: str
    models: Mapping[str, Any]
    hello: bytes
    refused: Mapping[str, Any]
    missing: Mapping[str, Any]


WIRES = {
    "anthropic": Wire(
        root="/anthropic/v1",
        models={"data": [{"type": "model", "id": MODEL, "display_name": "Small One"}], "has_more": False},
        hello=messages_wire.start() + messages_wire.text(0, "Hello from ", "anthropic") + messages_wire.end(),
        refused={"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key: KEY"}},
        missing={"type": "error", "error": {"type": "not_found_error", "message": "model: nobody"}},
    ),
    "openai": Wire(
        root="/openai/v1",
        models={"object": "list", "data": [{"id": MODEL}]},
        hello=responses_wire.created()
        + responses_wire.said("Hello from openai")
        + responses_wire.end(responses_wire.message("Hello from openai")),
        refused={"error": {"message": "Incorrect API key provided: KEY", "code": "invalid_api_key"}},
        missing={"error": {"message": "The model `nobody` does not exist", "code": "model_not_found"}},
    ),
    "openai_chat": Wire(
        root="/chat/v1",
        models={"object": "list", "data": [{"id": MODEL, "context_length": 32000}, {"id": "large-1"}]},
        hello=chat_wire.text("Hello from ", "openai_chat") + chat_wire.end(),
        refused={"error": {"message": "no account has KEY", "code": 401}},
        missing={"error": {"message": "model 'nobody' not found", "type": "not_found_error"}},
    ),
    "gemini": Wire(
        root="/gemini/v1beta",
        models={"models": [{"name": f"models/{MODEL}", "supportedGenerationMethods": ["generateContent"]}]},
        hello=gemini_wire.chunk(gemini_wire.text("Hello from gemini"), finish="STOP"),
        refused={"error": {"code": 401, "message": "API key not valid: KEY", "status": "UNAUTHENTICATED"}},
        missing={"error": {"code": 404, "message": "models/nobody is not found", "status": "NOT_FOUND"}},
    ),
}


def wires_server(*, key: str | None = GOOD_KEY) -> Server:
    """The server, not yet started; it wants `key`, or with None no header of a key at all."""
    allowed = ("content-type", "anthropic-version", *(KEY_HEADERS if key else ()))
    routes = {f"{method} {wire.root}/*": _route(wire, key) for wire in WIRES.values() for method in ("GET", "POST")}
    return Server(routes=routes, cors=Cors(headers=allowed))


def sent_key(exchange: Exchange) -> str | None:
    """The key in a request's headers."""
    found = [exchange.headers[name] for name in KEY_HEADERS if name in exchange.headers]
    return found[0].removeprefix("Bearer ") if found else None


def _route(wire: Wire, key: str | None) -> Any:
    def answer(exchange: Exchange) -> None:
        if sent_key(exchange) != key:
            exchange.respond(401, JSON, json.dumps(wire.refused).replace("KEY", sent_key(exchange) or "nobody"))
        elif exchange.method == "GET":
            exchange.respond(200, JSON, json.dumps(wire.models))
        elif "nobody" in exchange.path or json.loads(exchange.body).get("model") == "nobody":
            exchange.respond(404, JSON, json.dumps(wire.missing))
        else:
            exchange.stream(200, SSE, [wire.hello])

    return answer
