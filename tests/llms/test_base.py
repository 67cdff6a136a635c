"""Models in general: custom ones, options, sampling."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

import langfx_web as lf
from langfx_web import errors
from langfx_web.llms import ModelRequest
from langfx_web.llms.delta import Delta, Finish, TextPiece
from langfx_web.messages import ToolDeclaration, UserMessage
from langfx_web.testing import Echo
from langfx_web.transport import MockTransport
from tests.llms.messages_wire import answered, ok, sent

TOOL = ToolDeclaration(name="f", description="", input_schema={})


class Custom(lf.LanguageModel):
    """A model of somebody's own: it only yields."""

    def __init__(self, **settings: Any) -> None:
        super().__init__("mine", **settings)
        self.requests: list[ModelRequest] = []
        self.left = 0
        self.open = 0
        self.peak = 0

    async def _stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        self.requests.append(request)
        self.open += 1
        self.peak = max(self.peak, self.open)
        try:
            said = request.messages[-1].text
            await asyncio.sleep(0)
            if said == "fail":
                raise errors.TemporaryLMError("no luck")
            if said == "bug":
                raise KeyError("bug")
            yield f"{said}!"
            if said == "hang":
                await asyncio.Event().wait()
            for candidate in range(request.options.n):
                if candidate:
                    yield TextPiece(f"{said}?", index=candidate)
                yield Finish(reason="stop", index=candidate)
        finally:
            self.open -= 1
            self.left += 1


async def test_a_custom_model_only_yields() -> None:
    """One generator is a whole model: calls, streams and options come with it."""
    model = Custom()
    message = await model("hi")
    assert (message.text, message.finish_reason, message.usage) == ("hi!", "stop", None)
    assert [chunk.delta.text async for chunk in model.stream("hi")] == ["hi!", ""]
    assert repr(model) == "Custom('mine')"


async def test_a_custom_model_has_errors_and_retries_from_the_base() -> None:
    """Errors get the model's name and are tried again as asked; a bug of the model passes as it is."""
    model = Custom(max_attempts=2, retry_interval=0)
    with pytest.raises(errors.TemporaryLMError) as raised:
        await model("fail")
    assert (raised.value.model, raised.value.attempts, len(model.requests)) == ("mine", 2, 2)
    with pytest.raises(KeyError):
        await model("bug")


async def test_a_custom_models_generator_is_closed_when_the_stream_is() -> None:
    """Closing a stream runs the generator's cleanup before it returns."""
    model = Custom()
    async with model.stream("hang") as stream:
        await anext(stream)
        assert model.left == 0
    assert model.left == 1


async def test_providers_25_an_unknown_option_is_a_type_error() -> None:
    """A misspelled option fails where it stands: at construction, in a call, in a copy."""
    with pytest.raises(TypeError, match="'temprature'"):
        lf.llms.Anthropic("m", temprature=1)
    model, transport = answered()
    with pytest.raises(TypeError, match="'temprature'"):
        await model("hi", temprature=1)
    with pytest.raises(TypeError, match="'temprature'"):
        model.stream("hi", temprature=1)
    with pytest.raises(TypeError, match="'temprature'"):
        model.with_options(temprature=1)
    assert transport.requests == []


async def test_providers_24_options_of_a_call_override_those_of_the_model() -> None:
    """Each field is the call's if it gives one; None removes it; the model stays as it was."""
    model, transport = answered(ok(), ok(), ok(), temperature=0.5, max_tokens=10)
    await model("hi", temperature=1.0)
    await model("hi", temperature=None)
    await model("hi")
    assert [(sent(transport, n).get("temperature"), sent(transport, n)["max_tokens"]) for n in range(3)] == [
        (1.0, 10),
        (None, 10),
        (0.5, 10),
    ]


async def test_with_options_makes_a_changed_copy() -> None:
    """A copy differs in what was changed, shares the transport, and leaves the original alone."""
    model, transport = answered(ok(), ok(), temperature=0.5)
    twin = model.with_options(model="claude-y", max_attempts=2, betas="b", capabilities={"images": False}, top_k=3)
    await twin("hi")
    await model("hi")
    assert (sent(transport, 0)["model"], sent(transport, 0)["top_k"], sent(transport, 0)["temperature"]) == (
        "claude-y",
        3,
        0.5,
    )
    assert (sent(transport, 1)["model"], "top_k" in sent(transport, 1)) == ("claude-x", False)
    assert (twin.max_attempts, twin.capabilities.images, twin.capabilities.audio) == (2, False, False)
    assert (model.max_attempts, model.capabilities.images) == (None, True)
    assert transport.requests[0].headers["anthropic-beta"] == "b"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("max_attempts", 0),
        ("max_concurrency", None),
        ("timeout", "5"),
        ("base_url", "api.test"),
        ("auth", "basic"),
        ("model", 7),
        ("betas", 7),
        ("betas", [7]),
        ("replays", None),
        ("cache", {}),
        ("headers", "x-team: a"),
        ("headers", {"x-team": 7}),
        ("transport", "fetch"),
        ("allow_insecure", "yes"),
        ("stream_wire", 1),
        ("prompt_caching", "yes"),
        ("browser_access", "yes"),
        ("exponential_backoff", "yes"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(option: str, value: Any) -> None:
    """A wrong setting is refused by name, at construction and in a copy."""
    with pytest.raises(errors.InvalidArgumentError, match=option):
        lf.llms.Anthropic(**{"model": "m", option: value})
    with pytest.raises(errors.InvalidArgumentError, match=option):
        lf.llms.Anthropic("m").with_options(**{option: value})


async def test_providers_26_a_missing_capability_is_refused_unsent() -> None:
    """What the model cannot do, and what the wire has no word for, fails before any request."""
    model, transport = answered(capabilities={"tools": False})
    for options in ({"tools": [TOOL]}, {"random_seed": 1}, {"logprobs": True}, {"top_logprobs": 2}):
        with pytest.raises(errors.UnsupportedCapabilityError):
            await model("hi", **options)
    with pytest.raises(errors.UnsupportedCapabilityError, match="candidates"):
        await model.sample(["hi"], n=2)
    assert transport.requests == []


async def test_a_call_gives_one_answer() -> None:
    """Several candidates are for `sample`."""
    with pytest.raises(errors.InvalidArgumentError, match="sample"):
        await Custom()("hi", n=2)


# Sampling


async def test_providers_27_samples_come_in_order_a_few_at_a_time() -> None:
    """Twenty prompts are answered in their order, never more at once than allowed."""
    model = Custom(max_concurrency=3)
    results = await model.sample([str(number) for number in range(20)])
    assert [result.samples[0].response.text for result in results] == [f"{number}!" for number in range(20)]
    assert model.peak == 3


async def test_providers_27_the_first_failure_cancels_the_rest() -> None:
    """One failing prompt ends the others at once, and its error is the one that is raised."""
    model = Custom(max_concurrency=3)
    with pytest.raises(errors.TemporaryLMError, match="no luck"):
        await model.sample(["hang", "fail", "hang", "hang", "hang"])
    assert model.open == 0
    assert len(model.requests) == 3


async def test_providers_05_cancelling_a_sample_cancels_all_of_it() -> None:
    """A cancelled caller leaves no request behind, neither running nor waiting for its turn."""
    model = Custom(max_concurrency=2)
    task = asyncio.create_task(model.sample(["hang"] * 5))
    for _ in range(5):
        await asyncio.sleep(0)
    assert model.open == 2
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (model.open, len(model.requests)) == (0, 2)


async def test_candidates_are_samples() -> None:
    """Each candidate of a prompt is a sample of its result."""
    [result] = await Custom().sample(["hi"], n=2)
    assert [sample.response.text for sample in result.samples] == ["hi!", "hi?"]
    assert await Custom().sample([]) == []


async def test_one_model_serves_many_tasks() -> None:
    """A model holds nothing of a call: many tasks may use it at once."""
    transport = MockTransport([ok() for _ in range(10)])
    model = lf.llms.Anthropic("m", transport=transport)
    messages = await asyncio.gather(*(model("hi") for _ in range(10)))
    assert [message.text for message in messages] == ["Hello"] * 10


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("temperature", "hot"),
        ("temperature", True),
        ("top_p", [0.5]),
        ("max_tokens", 0.5),
        ("max_tokens", "1000"),
        ("max_thinking_tokens", True),
        ("n", 0),
        ("n", "two"),
        ("stop", 7),
        ("stop", [7]),
        ("stop", b"x"),
        ("logprobs", 1),
        ("thoughts", "yes"),
        ("reasoning_effort", 3),
        ("service_tier", ["priority"]),
        ("extras", "fast"),
        ("extras", [("a", 1)]),
        ("extras", {1: 2}),
    ],
)
async def test_an_option_of_another_kind_is_named_and_not_shown(option: str, value: Any) -> None:
    """At construction, for a copy and for a call: an error of ours that nothing was sent for."""
    lm = Echo()
    for give in (lambda: Echo(**{option: value}), lambda: lm.with_options(**{option: value})):
        with pytest.raises(errors.InvalidArgumentError) as caught:
            give()
        assert caught.value.details["option"] == option
    for ask in (lambda: lm("hi", **{option: value}), lambda: lm.sample(["hi"], **{option: value})):
        with pytest.raises(errors.InvalidArgumentError, match=option):
            await ask()
    assert lm.requests == []


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("tools", 7),
        ("tools", "find"),
        ("tools", None),
        ("tools", [object()]),
        ("tools", {"find": 1}),
        ("tool_choice", ["find"]),
        ("tool_choice", "find"),
        ("schema", "object"),
        ("schema", []),
    ],
)
async def test_what_comes_with_a_prompt_has_its_kind_too(option: str, value: Any) -> None:
    """Tools are declarations, a choice is a word, a schema is an object."""
    lm = Echo()
    with pytest.raises(errors.InvalidArgumentError) as caught:
        await lm("hi", **{option: value})
    assert (caught.value.details["option"], lm.requests) == (option, [])


@pytest.mark.parametrize("prompts", ["hi", b"hi", UserMessage("hi"), None, 7, {"hi": 1}])
async def test_many_prompts_are_several(prompts: Any) -> None:
    """One text is not taken for its letters."""
    lm = Echo()
    with pytest.raises(errors.InvalidArgumentError, match="prompts must be several"):
        await lm.sample(prompts)
    assert lm.requests == []


@pytest.mark.parametrize(
    "capabilities",
    [7, "images", [], {1: 2}, {"images": None}, {"images": "no"}, {"efforts": "low"}, {"context_window": "large"}],
)
def test_capabilities_have_their_kinds(capabilities: Any) -> None:
    """Flags, sizes and words, by name."""
    with pytest.raises(errors.InvalidArgumentError):
        Echo(capabilities=capabilities)


def test_a_single_tag_of_thoughts_is_one() -> None:
    """It is not taken for its letters."""
    assert "plain-text" in Echo(replays="plain-text").replays


@pytest.mark.parametrize(
    "url",
    [
        "api.test",
        "ftp://api.test",
        "https://",
        "https:///v1",
        "http://127.0.0.1:x",
        "https://api.test:99999",
        "http://[::1",
        "https://a b/v1",
        "https://user:secret@api.test/v1",
        7,
        None,
    ],
)
def test_an_address_that_cannot_be_is_refused_and_not_shown(url: Any) -> None:
    """It may have a password in it."""
    for wire in (lf.llms.Anthropic, lf.llms.OpenAI, lf.llms.OpenAIChat, lf.llms.Gemini):
        with pytest.raises(errors.InvalidArgumentError, match="base_url") as caught:
            wire("m", base_url=url)
        assert "secret" not in str(caught.value)
