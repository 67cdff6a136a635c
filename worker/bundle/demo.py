"""The demo as it is served: `dist/`, and a model provider that answers from a script."""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path

from worker.bundle.exchange import Exchange
from worker.bundle.outcome import CheckFailed
from worker.bundle.server import Route, Server, listening

Respond = Callable[[dict[str, object]], tuple[int, dict[str, str], list[bytes | float]]]


def provider_route(respond: Respond) -> Route:
    """A route that hands on the request's JSON body and streams what `respond` makes of it."""

    def route(exchange: Exchange) -> None:
        try:
            body = json.loads(exchange.body)
        except ValueError:
            exchange.respond(400, {"Content-Type": "text/plain"}, "the body is not JSON\n")
            return
        exchange.stream(*respond(body))

    return route


def load_respond(script: Path) -> Respond:
    """The function `respond` of the file `script`, which is in no package; it may import what lies beside it."""
    spec = importlib.util.spec_from_file_location("scripted_provider", script)
    if spec is None or spec.loader is None or not script.exists():
        raise CheckFailed(f"there is no scripted provider at {script}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(script.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(script.parent))
    respond: Respond = module.respond
    return respond


def demo_server(dist: Path, script: Path, *, host: str, port: int) -> Server:
    """A server, not yet started, of `dist` and of the provider whose `respond` is defined in the Python file `script`.

    It takes the next free port from `port` on.
    """
    return listening(dist, routes=demo_routes(provider_route(load_respond(script))), host=host, port=port)


def demo_routes(answers: Route) -> dict[str, Route]:
    """What a server of the demo answers beside the files: the provider, and where it is."""

    def address(exchange: Exchange) -> None:
        headers = {"Content-Type": "application/json", "Cache-Control": "no-cache"}
        exchange.respond(200, headers, json.dumps({"baseUrl": "/v1"}))

    return {"POST /v1/messages": answers, "GET /demo/provider.json": address}
