"""Media as parts of a message: their bytes, where they are, or the application's own name for them; never a download.

    Image.from_bytes(data)   PDF.from_uri("https://…")   Audio.from_base64(text, "audio/wav")

Bytes are looked at, and what an image is does not depend on what it is called.
"""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass
from typing import ClassVar, Self
from urllib.parse import unquote_to_bytes

from langfx_web.errors import ImageError, InvalidValueError
from langfx_web.messages.sniffing import sniffed

# Compiled at first use: most programs send texts alone, and patterns take a while to compile.
_MIME_TYPE = r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}"
_URI = r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f]+"
_DATA_URI = r"(?si)data:([^,;]*)((?:;[^,;]*)*),(.*)"
_CONTROL = r"[\x00-\x1f\x7f-\x9f]"

MAX_SOURCE_REF = 512
"""UTF-8 bytes of a `source_ref`."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Modality:
    """A part that is no text. It has either `data` (a copy of the bytes) or a `uri`; a `data:` one is decoded.

    `source_ref` (1 to 512 UTF-8 bytes, no control characters) is the application's own name for the original; it may
    stand for `data`. `mime_type` is None where it is not known. Two are equal if all four and their class are.
    `invalid_modality` says what is wrong; `repr` never shows bytes.
    """

    type: ClassVar[str] = ""

    data: bytes | None = None
    uri: str | None = None
    mime_type: str | None = None
    source_ref: str | None = None

    def __post_init__(self) -> None:
        if not self.type:
            raise self._invalid("use Image, Audio, Video, PDF or Mime")
        if (self.uri is None) == (self.data is None and self.source_ref is None):
            raise self._invalid("needs either data (or a source_ref in its place) or a uri")
        if isinstance(self.uri, str) and self.uri[:5].lower() == "data:":
            self._decode_uri(self.uri)
        if self.data is not None:
            if not isinstance(self.data, (bytes, bytearray, memoryview)):
                raise self._invalid(f"data must be bytes, not {type(self.data).__name__}")
            object.__setattr__(self, "data", bytes(self.data))
        if self.uri is not None and not (isinstance(self.uri, str) and re.fullmatch(_URI, self.uri)):
            raise self._invalid("the uri must be a str with a scheme and without blanks")
        if self.source_ref is not None:
            self._check_source_ref(self.source_ref)
        object.__setattr__(self, "mime_type", self._checked_type(self._declared_type()))

    @classmethod
    def from_uri(cls, uri: str, mime_type: str | None = None) -> Self:
        """One that is elsewhere; it is never fetched, but a `data:` URI is decoded."""
        return cls(uri=uri, mime_type=mime_type)

    @classmethod
    def from_bytes(cls, data: bytes, mime_type: str | None = None, *, source_ref: str | None = None) -> Self:
        """One of these bytes."""
        return cls(data=data, mime_type=mime_type, source_ref=source_ref)

    @classmethod
    def from_base64(cls, text: str, mime_type: str | None = None, *, source_ref: str | None = None) -> Self:
        """One of the bytes that a base64 text stands for; line breaks in it are passed over."""
        return cls(data=base64_bytes(text), mime_type=mime_type, source_ref=source_ref)

    @property
    def base64(self) -> str:
        """The data as base64 without line breaks; empty where there is none."""
        return binascii.b2a_base64(self.data or b"", newline=False).decode("ascii")

    def _checked_type(self, declared: str | None) -> str | None:
        """The MIME type that counts, for the one declared; a subclass may look at the bytes."""
        return declared

    def _declared_type(self) -> str | None:
        if self.mime_type is None:
            return None
        if not isinstance(self.mime_type, str):
            raise self._invalid(f"mime_type must be a str, not {type(self.mime_type).__name__}")
        bare = self.mime_type.partition(";")[0].strip().lower()
        if bare and not re.fullmatch(_MIME_TYPE, bare):
            raise self._invalid(f"{self.mime_type!r:.60} is no MIME type")
        return bare or None

    def _decode_uri(self, uri: str) -> None:
        found = re.fullmatch(_DATA_URI, uri)
        if found is None:
            raise self._invalid("the data: URI has no data")
        declared, parameters, content = found.groups()
        data = unquote_to_bytes(content)
        if parameters.lower().endswith(";base64"):
            data = base64_bytes(data.decode("latin-1"))
        object.__setattr__(self, "data", data)
        object.__setattr__(self, "uri", None)
        object.__setattr__(self, "mime_type", self.mime_type or declared or None)

    def _check_source_ref(self, given: str) -> None:
        if not isinstance(given, str) or not 1 <= len(given.encode("utf-8", "replace")) <= MAX_SOURCE_REF:
            raise self._invalid(f"a source_ref must be a str of 1 to {MAX_SOURCE_REF} UTF-8 bytes")
        if re.search(_CONTROL, given):
            raise self._invalid("a source_ref cannot have control characters")

    @classmethod
    def _invalid(cls, why: str) -> InvalidValueError:
        return InvalidValueError(f"{cls.__name__}: {why}", code="invalid_modality")

    def __repr__(self) -> str:
        facts = [] if self.mime_type is None else [self.mime_type]
        if self.data is not None:
            facts.append(f"{len(self.data)} bytes")
        if self.uri is not None:
            # What follows the path may be a signature.
            facts.append(re.split("[?#]", self.uri)[0])
        if self.source_ref is not None:
            facts.append(f"source_ref={self.source_ref!r}")
        return f"{type(self).__name__}({', '.join(facts)})"


def base64_bytes(text: str) -> bytes:
    """The bytes that a base64 text stands for, line breaks passed over; `invalid_modality` where it is none."""
    try:
        return binascii.a2b_base64("".join(text.split()), strict_mode=True)
    except (AttributeError, TypeError, ValueError) as error:
        raise InvalidValueError(f"not base64: {error}", code="invalid_modality") from None


class Mime(Modality):
    """A file of any type, which has to be given."""

    __slots__ = ()
    type = "mime"

    def _checked_type(self, declared: str | None) -> str | None:
        if declared is None:
            raise self._invalid("the mime_type is needed")
        return declared


class Image(Modality):
    """A picture. The type of inline bytes is what they are, PNG, JPEG, GIF or WebP, whatever was declared.

    Anything else is `invalid_image`, and named. How large it may be is judged when it is sent.
    """

    __slots__ = ()
    type = "image"

    def _checked_type(self, declared: str | None) -> str | None:
        if self.data is None:
            return "image/jpeg" if declared == "image/jpg" else declared
        name, mime_type = sniffed(self.data)
        if name not in ("PNG", "JPEG", "GIF", "WebP"):
            raise ImageError(f"an image must be PNG, JPEG, GIF or WebP; this is {name}", details={"found": name})
        return mime_type


class PDF(Modality):
    """A PDF document."""

    __slots__ = ()
    type = "pdf"

    def _checked_type(self, declared: str | None) -> str | None:
        if declared not in (None, "application/pdf"):
            raise self._invalid(f"{declared} is no PDF")
        return "application/pdf"


class _Recorded(Modality):
    """Sound or moving pictures: of the declared type, or of the one that inline bytes begin like."""

    __slots__ = ()

    def _checked_type(self, declared: str | None) -> str | None:
        found = sniffed(self.data)[1] if declared is None and self.data is not None else declared
        if found is not None and not found.startswith(f"{self.type}/"):
            raise self._invalid(f"the mime_type must be one of {self.type}/…, not {found}")
        return found


class Audio(_Recorded):
    """Sound; `mime_type` may be left out where the bytes tell it (WAV, MP3, FLAC, Ogg, M4A)."""

    __slots__ = ()
    type = "audio"


class Video(_Recorded):
    """Moving pictures; `mime_type` may be left out where the bytes tell it (MP4, WebM, QuickTime, AVI)."""

    __slots__ = ()
    type = "video"
