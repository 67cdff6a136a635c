"""Bytes say what they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langfx_web.messages.sniffing import sniffed
from tests.messages.pictures import GIF, JPEG, PDF_FILE, PNG, WAV, WEBP


@pytest.mark.parametrize(
    ("data", "name", "mime_type"),
    [
        (PNG, "PNG", "image/png"),
        (JPEG, "JPEG", "image/jpeg"),
        (GIF, "GIF", "image/gif"),
        (GIF.replace(b"89a", b"87a"), "GIF", "image/gif"),
        (WEBP, "WebP", "image/webp"),
        (WAV, "WAV", "audio/wav"),
        (PDF_FILE, "PDF", "application/pdf"),
        (b"BM" + bytes(60), "BMP", "image/bmp"),
        (b"\x00\x00\x00\x18ftypheic", "HEIC", "image/heic"),
        (b"\x00\x00\x00\x18ftypmif1", "HEIC", "image/heic"),
        (b"\x00\x00\x00\x1cftypavif", "AVIF", "image/avif"),
        (b"\x00\x00\x00\x1cftypM4A ", "M4A", "audio/mp4"),
        (b"\x00\x00\x00\x1cftypisom", "MP4", "video/mp4"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG", "image/svg+xml"),
        (b"\xef\xbb\xbf \n<?xml version='1.0'?>\n<!-- x -->\n<svg/>", "SVG", "image/svg+xml"),
        (b"<?xml version='1.0'?><note/>", "XML", "application/xml"),
        (b"<html>login</html>", "HTML", "text/html"),
        (b"<!DOCTYPE  HTML><title>x</title>", "HTML", "text/html"),
        (b"", "empty", "application/x-empty"),
        ('{"error": "Grüße"}'.encode(), "text", "text/plain"),
        (b"\x01\x02", "unknown", "application/octet-stream"),
        (b"xxxxxxxxWEBP", "text", "text/plain"),
    ],
)
def test_what_begins_like_it_is_it(data: bytes, name: str, mime_type: str) -> None:
    """Name and MIME type, from the first bytes alone."""
    assert sniffed(data) == (name, mime_type)


@given(st.binary(max_size=64))
def test_any_bytes_have_a_name(data: bytes) -> None:
    """Whatever they are, there is something to say."""
    name, mime_type = sniffed(data)
    assert name
    assert "/" in mime_type
