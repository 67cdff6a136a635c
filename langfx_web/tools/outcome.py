"""Running one prepared call for a model: whatever happens in the tool becomes a result that it can be told."""

from __future__ import annotations

from dataclasses import dataclass

from langfx_web.errors import LangfxError, ToolError
from langfx_web.messages import Modality
from langfx_web.tools.context import ToolContext
from langfx_web.tools.tool import PreparedCall

MAX_CONTENT = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """How a call ended: the text for the model, whether that was cut, and the error behind it where it failed.

    `parts` has texts and media in order where there are media.
    """

    content: str
    parts: tuple[str | Modality, ...] = ()
    is_error: bool = False
    is_cut: bool = False
    error: LangfxError | None = None


async def run_call(prepared: PreparedCall, context: ToolContext) -> ToolOutcome:
    """Run a prepared call; only the cancellation of the calling task comes out as an exception."""
    try:
        result = await prepared.told(context)
    except ToolError as error:
        return ToolOutcome(content=error.message, is_error=True, error=error)
    parts = tuple(part if isinstance(part, Modality) else fitted(part) for part in result.parts)
    texts = [part for part in parts if isinstance(part, str)]
    return ToolOutcome(
        content="".join(texts),
        parts=parts if len(texts) < len(parts) else (),
        is_error=result.is_error,
        is_cut=parts != result.parts,
    )


def fitted(text: str) -> str:
    """The text, or its first 64 KiB up to a line end with a note of how long it was."""
    if len(text) * 4 <= MAX_CONTENT:
        return text
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_CONTENT:
        return text
    kept = data[:MAX_CONTENT].decode("utf-8", "ignore")
    cut = kept.rfind("\n")
    return f"{kept[: cut if cut > 0 else len(kept)]}\n[cut: the whole result has {len(data)} bytes]"
