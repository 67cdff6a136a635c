"""What a session may switch of its agent's model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from langfx_web.errors import InvalidArgumentError, UnsupportedCapabilityError, UnsupportedSettingError
from langfx_web.llms import Anthropic, Capabilities, Gemini, LanguageModel, ModelSettings, OpenAI, OpenAIChat
from langfx_web.testing import Echo
from langfx_web.transport.mock import MockTransport


@pytest.mark.parametrize(
    ("given", "settings", "plain"),
    [
        ("large", ModelSettings("large"), "large"),
        ({"id": "large"}, ModelSettings(id="large"), "large"),
        ({"id": "large", "effort": "low", "fast": None}, ModelSettings("large", effort="low"), None),
        ({"ultrafast": True}, ModelSettings(ultrafast=True), None),
        ({"fast": False}, ModelSettings(), {}),
        ({}, ModelSettings(), {}),
    ],
)
def test_an_id_a_mapping_or_settings(given: Any, settings: ModelSettings, plain: Any) -> None:
    """All say the same, and the plain form is JSON that reads back equal."""
    assert ModelSettings.of(given) == settings == ModelSettings.of(settings)
    written = settings.to_plain()
    assert ModelSettings.of(json.loads(json.dumps(written))) == settings
    if plain is not None:
        assert written == plain


def test_nothing_given_is_nothing_switched() -> None:
    """None stays None."""
    assert ModelSettings.of(None) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (7, "not int"),
        ("", "1 to 1024 bytes"),
        ("x" * 1025, "1 to 1024 bytes"),
        ("ü" * 513, "1 to 1024 bytes"),
        ({"id": 7}, "not 7"),
        ({"effort": "very high"}, "not 'very high'"),
        ({"effort": "x" * 65}, "1 to 64"),
        ({"effort": 3}, "not 3"),
        ({"fast": "yes"}, "fast is True or False"),
        ({"ultrafast": 1}, "ultrafast is True or False"),
        ({"speed": "fast"}, "no setting 'speed'"),
        ({7: 8}, "no setting '7'"),
    ],
)
def test_settings_that_cannot_be(given: Any, said: str) -> None:
    """They are refused where they are made, and the option is named."""
    with pytest.raises(InvalidArgumentError, match=said) as caught:
        ModelSettings.of(given)
    assert caught.value.details["option"] == "model"


async def sent(lm: LanguageModel, settings: ModelSettings, models: Any = None) -> dict[str, Any]:
    """The body that a model so switched sends."""
    transport = MockTransport([])
    twin = lm.with_options(**settings.changes(lm, models or {}), transport=transport)
    with pytest.raises(AssertionError):
        await twin("hi")
    body: dict[str, Any] = json.loads(transport.requests[0].body or b"")
    return body


WIRES: dict[str, Any] = {"anthropic": Anthropic, "openai": OpenAI, "openai_chat": OpenAIChat, "gemini": Gemini}


@pytest.mark.parametrize(
    ("wire", "settings", "path", "value"),
    [
        ("anthropic", ModelSettings(fast=True), ["speed"], "fast"),
        ("openai", ModelSettings(fast=True), ["service_tier"], "priority"),
        ("openai_chat", ModelSettings(fast=True), ["service_tier"], "priority"),
        ("anthropic", ModelSettings(effort="low"), ["output_config", "effort"], "low"),
        ("openai", ModelSettings(effort="low"), ["reasoning", "effort"], "low"),
        ("openai_chat", ModelSettings(effort="low"), ["reasoning_effort"], "low"),
        ("gemini", ModelSettings(effort="low"), ["generationConfig", "thinkingConfig", "thinkingLevel"], "LOW"),
        ("openai", ModelSettings("big"), ["model"], "big"),
        ("openai", ModelSettings(effort="low"), ["model"], "small"),
    ],
)
async def test_what_settings_send(wire: str, settings: ModelSettings, path: list[str], value: str) -> None:
    """Each wire has its own words for them."""
    found: Any = await sent(WIRES[wire]("small"), settings)
    for name in path:
        found = found[name]
    assert found == value


async def test_the_default_effort_is_the_models_own() -> None:
    """It takes nothing away that the agent's model was made with."""
    lm = OpenAI("small", reasoning_effort="high")
    assert (await sent(lm, ModelSettings(effort="default")))["reasoning"] == {"effort": "high"}


async def test_the_costly_lane_is_for_models_that_have_it() -> None:
    """It takes the place of the fast one, and is sent only where it is declared."""
    both = ModelSettings("big", fast=True, ultrafast=True)
    assert (await sent(OpenAI("small"), both, {"big": {"ultrafast": True}}))["service_tier"] == "ultrafast"
    with pytest.raises(UnsupportedSettingError) as caught:
        both.changes(OpenAI("small"), {})
    assert caught.value.code == "model_unsupported_ultrafast"


@pytest.mark.parametrize(
    ("lm", "models", "settings", "capability", "supported"),
    [
        (Gemini("small"), {}, ModelSettings(fast=True), "fast", ()),
        (Echo(), {}, ModelSettings(fast=True), "fast", ()),
        (Anthropic("small"), {"small": {"ultrafast": True}}, ModelSettings(ultrafast=True), "ultrafast", ()),
        (OpenAI("small"), {"big": {"fast": False}}, ModelSettings("big", fast=True), "fast", ()),
        (
            OpenAI("small"),
            {"big": {"fast": False, "ultrafast": True}},
            ModelSettings("big", fast=True),
            "fast",
            ("ultrafast",),
        ),
        (
            OpenAI("small"),
            {"big": {"efforts": ["low", "high"]}},
            ModelSettings("big", effort="max"),
            "effort",
            ("low", "high"),
        ),
        (
            OpenAI("small", capabilities={"efforts": ["low"]}),
            {},
            ModelSettings(effort="high"),
            "effort",
            ("low",),
        ),
        (OpenAI("small"), {"small": Capabilities(efforts=[])}, ModelSettings(effort="low"), "effort", ()),
    ],
)
def test_what_a_model_is_known_to_lack(
    lm: LanguageModel, models: Any, settings: ModelSettings, capability: str, supported: tuple[str, ...]
) -> None:
    """It is refused with a code, the model, the setting and what there is instead."""
    with pytest.raises(UnsupportedSettingError) as caught:
        settings.changes(lm, models)
    error = caught.value
    assert isinstance(error, UnsupportedCapabilityError)
    assert (error.code, error.retryable) == (f"model_unsupported_{capability}", False)
    assert (error.model, error.capability, error.supported) == (settings.id or lm.model, capability, supported)


async def test_nothing_is_known_of_another_model() -> None:
    """What one model lacks says nothing of another: the provider will tell."""
    lm = OpenAI("small", capabilities={"efforts": ["low"], "fast": False, "images": False})
    body = await sent(lm, ModelSettings("big", effort="max", fast=True))
    assert (body["reasoning"], body["service_tier"]) == ({"effort": "max"}, "priority")
    assert ModelSettings("big").changes(lm, {})["capabilities"].images is False
