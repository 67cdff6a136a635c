"""Media on their way to a model: what it cannot be shown is refused in a prompt and described in what came before."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web.errors import ImageError, InvalidValueError, LangfxError, UnsupportedCapabilityError
from langfx_web.llms.media import MAX_FILE, MAX_IMAGE
from langfx_web.messages import PDF, AIMessage, Audio, Image, Message, Text, ToolCall, ToolMessage, UserMessage
from langfx_web.testing import StaticResponse
from tests.messages.pictures import PNG, WAV

PICTURE = Image.from_bytes(PNG)
CALLED = AIMessage(ToolCall("t1", "look", {}))


def picture_of(size: int, **fields: Any) -> Image:
    """A picture of so many bytes."""
    return Image.from_bytes(PNG + bytes(size - len(PNG)), **fields)


async def sent(*messages: Message, **settings: Any) -> tuple[Message, ...]:
    """The messages that a model is asked with."""
    model = StaticResponse("ok", **settings)
    await model(messages)
    return model.requests[0].messages


async def refused(*messages: Message, **settings: Any) -> LangfxError:
    """Why a model is not asked."""
    model = StaticResponse("ok", **settings)
    with pytest.raises(LangfxError) as caught:
        await model(messages)
    assert model.requests == []
    return caught.value


async def test_what_a_model_can_be_shown_is_sent_as_it_is() -> None:
    """Bytes up to the limit, and addresses."""
    messages = (
        UserMessage("a", picture_of(MAX_IMAGE), Image.from_uri("https://a/b"), Audio.from_bytes(WAV)),
        CALLED,
        ToolMessage(PICTURE, call_id="t1"),
    )
    assert await sent(*messages) == messages


async def test_an_image_is_too_large_by_one_byte() -> None:
    """`image_too_large` before anything is sent; another file has a limit of its own."""
    error = await refused(UserMessage("a", picture_of(MAX_IMAGE + 1)))
    assert isinstance(error, ImageError)
    assert (error.code, error.details) == ("image_too_large", {"size": MAX_IMAGE + 1})
    error = await refused(UserMessage("a", PDF.from_bytes(bytes(MAX_FILE + 1))))
    assert isinstance(error, InvalidValueError)
    assert error.code == "invalid_modality"


@pytest.mark.parametrize(
    ("capability", "part"),
    [
        ("images", PICTURE),
        ("images", Image(source_ref="r")),
        ("pdf", PDF.from_uri("https://a/b")),
        ("audio", Audio.from_bytes(WAV)),
    ],
)
async def test_a_prompt_with_what_the_model_cannot_take_is_refused(capability: str, part: Any) -> None:
    """`unsupported_capability` names it; nothing is sent."""
    error = await refused(UserMessage("What is it?", part), capabilities={capability: False})
    assert isinstance(error, UnsupportedCapabilityError)
    assert error.details == {"capability": capability}


async def test_what_came_before_is_described_where_it_cannot_be_shown() -> None:
    """An earlier prompt or a tool's result does not make a conversation unusable; a line says what was there."""
    messages = (
        UserMessage("a", PICTURE),
        CALLED,
        ToolMessage(PICTURE, picture_of(MAX_IMAGE + 1), call_id="t1"),
    )
    size, more = len(PNG), MAX_IMAGE + 1
    blind = await sent(*messages, capabilities={"images": False})
    assert blind[0] == UserMessage("a", f"[image: image/png, {size} bytes, which this model cannot be shown]")
    assert [part for message in blind for part in message.modalities] == []
    seeing = await sent(*messages)
    assert seeing[:2] == messages[:2]
    large = Text(f"[image: image/png, {more} bytes, too large to be shown]")
    assert seeing[2] == ToolMessage(PICTURE, large, call_id="t1")


async def test_a_reference_stands_for_what_cannot_be_sent() -> None:
    """Without its bytes, or with too many, the model is told the name of the original."""
    prompt = UserMessage(Image(source_ref="shot-7"), picture_of(MAX_IMAGE + 1, source_ref="shot-8"))
    (message,) = await sent(prompt)
    assert message.parts == (
        Text("[image: image, source 'shot-7', which the application keeps]"),
        Text(f"[image: image/png, {MAX_IMAGE + 1} bytes, source 'shot-8', too large to be shown]"),
    )


async def test_what_a_model_made_is_left_as_it_is() -> None:
    """A wire that has no use for it leaves it out."""
    messages = (UserMessage("Draw."), AIMessage("Here: ", PICTURE), UserMessage("Thanks."))
    assert await sent(*messages, capabilities={"images": False}) == messages
