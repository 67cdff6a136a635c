"""One prompt, one answer."""

from __future__ import annotations

import pytest

import langfx_web as lf
from langfx_web.errors import InvalidArgumentError, TemplateError
from langfx_web.messages import AIMessage, SystemMessage, UserMessage
from langfx_web.testing import Echo, StaticSequence


async def test_a_text_is_a_template() -> None:
    """Rendered with its variables."""
    assert await lf.query("What is {{a}} + 1?", lm=Echo(), vars={"a": 1}) == "What is 1 + 1?"


async def test_a_message_is_literal() -> None:
    """So are several; braces in them mean nothing, and variables do not go with them."""
    assert await lf.query(UserMessage("{{x}}"), lm=Echo()) == "{{x}}"
    assert await lf.query([UserMessage("a"), AIMessage("b"), UserMessage("{{x}}")], lm=Echo()) == "{{x}}"
    with pytest.raises(InvalidArgumentError) as caught:
        await lf.query(UserMessage("a"), lm=Echo(), vars={"x": 1})
    assert caught.value.details == {"option": "vars"}


async def test_system_message_and_sampling_reach_the_model() -> None:
    """In front of the prompt, and as options of the request."""
    lm = StaticSequence(["ok"])
    await lf.query("hi", lm=lm, system_message="Be brief.", temperature=0.5)
    assert lm.requests[0].messages == (SystemMessage("Be brief."), UserMessage("hi"))
    assert lm.requests[0].options.temperature == 0.5


async def test_nothing_is_sent_for_a_bad_call() -> None:
    """No model, an unknown option, a missing variable."""
    lm = StaticSequence([])
    with pytest.raises(InvalidArgumentError) as caught:
        await lf.query("hi")
    assert caught.value.code == "no_model"
    with pytest.raises(TypeError):
        await lf.query("hi", lm=lm, warmth=3)
    with pytest.raises(TemplateError):
        await lf.query("{{x}}", lm=lm)
    assert lm.requests == []
