"""Which thoughts go back."""

from __future__ import annotations

from typing import Any

from langfx_web.llms.replay import Replay
from langfx_web.messages import Thought

MINE: dict[str, Any] = {"v": 1, "host": "h", "model": "m", "block": {"x": 1}}


def thought(tag: str = "t", **changes: Any) -> Thought:
    """A thought with a payload."""
    return Thought("hm", payload={**MINE, **changes}, replay_compatibility=tag)


def test_the_payload_alone_decides() -> None:
    """Its tag, its host, and its model where a wire is bound to one."""
    any_model = Replay(tags=frozenset({"t"}), host="h")
    bound = Replay(tags=frozenset({"t"}), host="h", model="m")
    assert any_model.payload(thought()) == bound.payload(thought()) == MINE
    assert any_model.payload(thought(model="n")) is not None
    assert bound.payload(thought(model="n")) is None
    for other in (thought("u"), thought(host="g"), Thought("hm")):
        assert any_model.payload(other) is None
    assert any_model.payload(Thought(payload="opaque", replay_compatibility="t")) is None


def test_words_are_sent_on_request_in_place_of_a_payload() -> None:
    """Never beside one, and never blank."""
    quiet = Replay(tags=frozenset({"t"}), host="h")
    open_ = Replay(tags=frozenset({"t", "plain-text"}), host="h")
    assert quiet.words(Thought("hm")) == ""
    assert open_.words(Thought("hm")) == open_.words(thought("u")) == "<thought>hm</thought>"
    assert open_.words(thought()) == open_.words(Thought(" ")) == ""
