"""Media as parts: what they are made of, what is refused, and what is never shown of them."""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

import pytest

from langfx_web.errors import ImageError, InvalidValueError
from langfx_web.messages import PDF, Audio, Image, Mime, Modality, UserMessage, Video
from tests.messages.pictures import GIF, JPEG, PDF_FILE, PNG, WAV, WEBP

LABELLED = [
    (PNG, "image/jpeg", "image/png"),
    (JPEG, "image/png", "image/jpeg"),
    (JPEG, "", "image/jpeg"),
    (JPEG, None, "image/jpeg"),
    (JPEG, "image/jpg", "image/jpeg"),
    (WEBP, "image/png", "image/webp"),
    (GIF, "IMAGE/GIF; q=1", "image/gif"),
]
NO_IMAGES = [
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", "SVG"),
    (b"\x00\x00\x00\x18ftypheic", "image/jpeg", "HEIC"),
    (b"<html>login</html>", "image/png", "HTML"),
    (b"", "image/png", "empty"),
    (b"BM" + bytes(60), "image/bmp", "BMP"),
]


@pytest.mark.parametrize(("data", "declared", "found"), LABELLED)
def test_langfx_04_bug_093_the_bytes_of_an_image_say_its_type(data: bytes, declared: str | None, found: str) -> None:
    """Whatever it is called, and by whichever way it comes."""
    text = base64.b64encode(data).decode()
    assert Image.from_bytes(data, declared).mime_type == found
    assert Image.from_base64(text, declared).mime_type == found
    assert Image.from_uri(f"data:{declared or ''};base64,{text}").mime_type == found


@pytest.mark.parametrize(("data", "declared", "found"), NO_IMAGES)
def test_langfx_04_bug_093_what_is_no_image_is_named(data: bytes, declared: str, found: str) -> None:
    """No image is made of it, so that none gets into a conversation."""
    with pytest.raises(ImageError, match=found) as caught:
        Image.from_bytes(data, declared)
    assert (caught.value.code, caught.value.retryable) == ("invalid_image", False)
    assert caught.value.details == {"found": found}


def test_an_image_elsewhere_is_not_fetched() -> None:
    """Its type is the declared one, if any."""
    image = Image.from_uri("https://example.com/a.jpg", "image/JPG")
    assert (image.uri, image.mime_type, image.data) == ("https://example.com/a.jpg", "image/jpeg", None)
    assert Image.from_uri("https://example.com/a.jpg").mime_type is None


def test_data_uris_are_decoded() -> None:
    """With base64 or without."""
    part = Mime.from_uri("data:text/csv;charset=utf-8,a%2Cb%0A")
    assert (part.data, part.mime_type, part.uri) == (b"a,b\n", "text/csv", None)
    assert PDF.from_uri("DATA:;base64,JVBERi0%3D").data == b"%PDF-"
    assert Image(uri=f"data:;base64,{Image.from_bytes(PNG).base64}") == Image.from_bytes(PNG)


def test_types_that_need_not_be_given() -> None:
    """A PDF is a PDF; sound and pictures are known by how they begin."""
    assert PDF.from_bytes(PDF_FILE).mime_type == "application/pdf"
    assert Audio.from_bytes(WAV).mime_type == "audio/wav"
    assert Audio.from_bytes(b"anything", "audio/x-own").mime_type == "audio/x-own"
    assert Video.from_bytes(b"\x00\x00\x00\x1cftypisom").mime_type == "video/mp4"
    assert Video.from_uri("https://example.com/v").mime_type is None


def test_bytes_are_copied_in() -> None:
    """A buffer that changes later changes nothing."""
    buffer = bytearray(PNG)
    image = Image.from_bytes(buffer)
    buffer[:] = bytes(len(buffer))
    assert image.data == PNG
    assert Image.from_bytes(memoryview(PNG)).data == PNG


def test_equality_is_by_content() -> None:
    """Class, bytes, address, type and reference; equal ones are one key of a dict."""
    assert Image.from_bytes(PNG, "image/gif") == Image.from_base64(base64.b64encode(PNG).decode())
    assert len({Image.from_bytes(PNG), Image.from_bytes(PNG)}) == 1
    assert Image.from_bytes(PNG) != Image.from_bytes(PNG, source_ref="a")
    assert Audio.from_uri("https://a/b") != Video.from_uri("https://a/b")
    assert Image.from_bytes(PNG) != Image.from_bytes(GIF)


def test_they_cannot_be_changed() -> None:
    """Neither their fields nor others."""
    image = Image.from_bytes(PNG)
    for name in ("data", "mime_type", "note"):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            setattr(image, name, b"")


def test_a_reference_may_stand_for_bytes() -> None:
    """The application's own name of the original, with its bytes or without."""
    assert Image(source_ref="shot-7").data is None
    assert Image.from_bytes(PNG, source_ref="shot-7").source_ref == "shot-7"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Modality(uri="https://a/b"),
        Image,
        lambda: Image(data=PNG, uri="https://a/b"),
        lambda: Image(uri="https://a/b", source_ref="r"),
        lambda: Image.from_bytes("text"),  # type: ignore[arg-type]
        lambda: Image.from_uri("no scheme"),
        lambda: Image.from_uri("https://a/b c"),
        lambda: Image.from_uri(""),
        lambda: Image.from_uri(None),  # type: ignore[arg-type]
        lambda: Image.from_base64("a"),
        lambda: Image.from_base64("not base64!"),
        lambda: Image.from_base64(b"aGk="),  # type: ignore[arg-type]
        lambda: Image.from_uri("data:image/png;base64,%"),
        lambda: Image.from_uri("data:image/png;base64"),
        lambda: Image(uri="data:,x", source_ref="r"),
        lambda: Mime.from_bytes(b"x"),
        lambda: Mime.from_bytes(b"x", "no type"),
        lambda: Mime.from_bytes(b"x", 3),  # type: ignore[arg-type]
        lambda: PDF.from_bytes(b"x", "image/png"),
        lambda: Audio.from_bytes(b"who knows"),
        lambda: Audio.from_bytes(b"x", "video/mp4"),
        lambda: Video.from_bytes(WAV),
        lambda: Image.from_bytes(PNG, source_ref=""),
        lambda: Image.from_bytes(PNG, source_ref="é" * 257),
        lambda: Image.from_bytes(PNG, source_ref="a\nb"),
    ],
)
def test_malformed_ones_are_refused(make: Any) -> None:
    """`invalid_modality` says which and why."""
    with pytest.raises(InvalidValueError) as caught:
        make()
    assert caught.value.code == "invalid_modality"


def test_repr_shows_no_bytes_and_no_signature() -> None:
    """Type, size, address without its query, reference."""
    assert repr(Image.from_bytes(PNG, source_ref="s")) == f"Image(image/png, {len(PNG)} bytes, source_ref='s')"
    assert repr(Image.from_uri("https://a/b?sig=secret#x")) == "Image(https://a/b)"
    assert "PNG" not in repr(UserMessage("see ", Image.from_bytes(PNG)))


def test_base64_there_and_back() -> None:
    """Line breaks in the text are passed over; what comes out has none."""
    text = base64.encodebytes(PNG).decode()
    assert "\n" in text.strip()
    assert Image.from_base64(text).base64 == base64.b64encode(PNG).decode()
