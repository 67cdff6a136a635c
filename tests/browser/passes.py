"""Conditions under which everything must be the same: what the server sends with each answer, how pages connect."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """Headers of every answer, and options of every `connect`."""

    headers: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)


# The policy that the documentation asks for, on the page too, which needs its own script and an icon.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'; img-src data:; "
    "base-uri 'none'"
)
PASSES = {
    "without JSPI": Pass(options={"jspi": False}),
    "isolated": Pass(
        headers={"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
    ),
    "strict policy": Pass(headers={"Content-Security-Policy": POLICY}),
}


def chosen() -> Pass:
    """The pass that the variable `LANGFX_PASS` names; by default nothing is different."""
    return {"": Pass(), **PASSES}[os.environ.get("LANGFX_PASS", "")]
