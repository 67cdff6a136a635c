"""Small files of many kinds, as they begin."""

from __future__ import annotations

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffd9")
GIF = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
WEBP = b"RIFF" + (30).to_bytes(4, "little") + b"WEBPVP8 " + bytes(22)
PDF_FILE = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
WAV = b"RIFF" + (36).to_bytes(4, "little") + b"WAVEfmt " + bytes(28)
