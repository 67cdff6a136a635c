"""What bytes are, told by how they begin; names and labels are not asked."""

from __future__ import annotations

import re

UNKNOWN = "application/octet-stream"
EMPTY = "application/x-empty"

_HEAD = 1024
"""Bytes that are looked at."""

_MARKS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "PNG", "image/png"),
    (0, b"\xff\xd8\xff", "JPEG", "image/jpeg"),
    (0, b"GIF87a", "GIF", "image/gif"),
    (0, b"GIF89a", "GIF", "image/gif"),
    (8, b"WEBP", "WebP", "image/webp"),
    (8, b"WAVE", "WAV", "audio/wav"),
    (8, b"AVI ", "AVI", "video/x-msvideo"),
    (0, b"BM", "BMP", "image/bmp"),
    (0, b"II*\x00", "TIFF", "image/tiff"),
    (0, b"MM\x00*", "TIFF", "image/tiff"),
    (0, b"\x00\x00\x01\x00", "ICO", "image/x-icon"),
    (0, b"%PDF-", "PDF", "application/pdf"),
    (0, b"PK\x03\x04", "ZIP", "application/zip"),
    (0, b"fLaC", "FLAC", "audio/flac"),
    (0, b"OggS", "Ogg", "audio/ogg"),
    (0, b"ID3", "MP3", "audio/mpeg"),
    (0, b"\xff\xfb", "MP3", "audio/mpeg"),
    (0, b"\xff\xf3", "MP3", "audio/mpeg"),
    (0, b"\x1aE\xdf\xa3", "WebM", "video/webm"),
)
"""Offset, bytes, name, MIME type; the bytes at 8 count within a RIFF file only."""

_BRANDS: tuple[tuple[bytes, str, str], ...] = (
    (rb"avif|avis", "AVIF", "image/avif"),
    (rb"hei[cxms]|hev[cxms]|mif1|msf1", "HEIC", "image/heic"),
    (rb"M4A |M4B ", "M4A", "audio/mp4"),
    (rb"qt  ", "QuickTime", "video/quicktime"),
    (rb"", "MP4", "video/mp4"),
)
"""What the brand of an ISO base media file says; the last is said of any other."""

_MARKUP: tuple[tuple[bytes, str, str], ...] = (
    (rb"<!doctype\s+html|<html|<head|<body|<script", "HTML", "text/html"),
    (rb"<svg\b|<!doctype\s+svg|(<\?xml|<!--)(?s:.*)<svg\b", "SVG", "image/svg+xml"),
    (rb"<\?xml", "XML", "application/xml"),
)
_BINARY = rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]"


def sniffed(data: bytes) -> tuple[str, str]:
    """The name and MIME type of what bytes are, `("PNG", "image/png")` say.

    Those that begin like nothing known here are `text` or `unknown`; without any they are `empty`.
    """
    if not data:
        return "empty", EMPTY
    head = data[:_HEAD]
    if head[4:8] == b"ftyp" and (found := _first(_BRANDS, head[8:12])):
        return found
    for offset, mark, name, mime_type in _MARKS:
        if head.startswith(mark, offset) and (offset == 0 or head.startswith(b"RIFF")):
            return name, mime_type
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith(b"<") and (found := _first(_MARKUP, text)):
        return found
    return ("unknown", UNKNOWN) if re.search(_BINARY, head) else ("text", "text/plain")


def _first(patterns: tuple[tuple[bytes, str, str], ...], text: bytes) -> tuple[str, str] | None:
    return next(((name, mime_type) for pattern, name, mime_type in patterns if re.match(pattern, text)), None)
