"""Messages without the bytes of their media, as traces keep them."""

from __future__ import annotations

import langfx_web as lf
from langfx_web.messages.unloaded import without_bytes
from tests.messages.pictures import PNG


def test_bytes_are_named() -> None:
    """With their type and how many; what has none, such as an address, stays, and so does all else of the message."""
    shown = lf.Image.from_uri("https://example.com/a.png")
    message = lf.ToolMessage("seen", lf.Image.from_bytes(PNG), shown, call_id="1", name="look", is_error=True)
    named = without_bytes(message)
    assert named.parts == (lf.Text("seen"), lf.Text(f"[image/png, {len(PNG)} bytes]"), shown)
    assert (named.call_id, named.name, named.is_error) == ("1", "look", True)
    sound = without_bytes(lf.UserMessage(lf.Audio.from_bytes(b"RIFF....WAVE", "audio/wav")))
    assert sound.text == "[audio/wav, 12 bytes]"


def test_a_message_without_bytes_is_itself() -> None:
    """Nothing is copied, as most messages have none."""
    message = lf.UserMessage("hi", lf.Image.from_uri("https://example.com/a.png"))
    assert without_bytes(message) is message
