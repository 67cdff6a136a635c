"""Running one prepared call: whatever happens in the tool becomes a result that a model can be told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from langfx_web.errors import LangfxError, ToolExecutionError, ToolNotFoundError, ToolOutputError, ToolTimeoutError
from langfx_web.masking import masked
from langfx_web.messages import Modality
from langfx_web.tools.context import ToolContext
from langfx_web.tools.tool import PreparedCall, ToolResult

MAX_ERROR_TEXT = 2000
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
    """Run a prepared call within its tool's time limit.

    Only the cancellation of the calling task comes out as an exception; a `CancelledError` of the tool's own making is
    a failed call like any other.
    """
    tool = prepared.tool
    task = asyncio.ensure_future(_run(prepared, context))
    try:
        done, _ = await asyncio.wait({task}, timeout=tool.timeout)
    except asyncio.CancelledError:
        await _stopped(task)
        raise
    if not done:
        await _stopped(task)
        return _failed(ToolTimeoutError(f"the tool did not finish within {tool.timeout:g} s", tool=tool.name))
    return _outcome(prepared, task)


async def _run(prepared: PreparedCall, context: ToolContext) -> ToolResult:
    tool = prepared.tool
    try:
        return await tool.run(prepared.arguments, context)
    except SystemExit as error:
        # Left alone, it would end the loop that every other task runs in.
        raise ToolExecutionError(f"the tool {tool.name} called sys.exit({error.code})", tool=tool.name) from error


def _outcome(prepared: PreparedCall, task: asyncio.Task[ToolResult]) -> ToolOutcome:
    name = prepared.tool.name
    if task.cancelled():
        return _failed(ToolExecutionError(f"the tool {name} was cancelled from inside", tool=name))
    error = task.exception()
    if isinstance(error, (ToolOutputError, ToolNotFoundError)):
        return _failed(error)
    if error is not None:
        failure = ToolExecutionError(failure_text(error, name), tool=name, details={"type": type(error).__name__})
        failure.__cause__ = error
        return _failed(failure)
    result = task.result()
    parts = tuple(part if isinstance(part, Modality) else fitted(part) for part in result.parts)
    texts = [part for part in parts if isinstance(part, str)]
    return ToolOutcome(
        content="".join(texts),
        parts=parts if len(texts) < len(parts) else (),
        is_error=result.is_error,
        is_cut=parts != result.parts,
    )


def failure_text(error: BaseException, tool: str) -> str:
    """The message of an exception as a model may read it: no traceback, bounded, anything shaped like a key masked."""
    text = masked(str(error)).strip()
    return text[:MAX_ERROR_TEXT] or f"the tool {tool} failed without a message"


def fitted(text: str) -> str:
    """The text, or its first 64 KiB up to a line end with a note of how long it was."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_CONTENT:
        return text
    kept = data[:MAX_CONTENT].decode("utf-8", "ignore")
    cut = kept.rfind("\n")
    return f"{kept[: cut if cut > 0 else len(kept)]}\n[cut: the whole result has {len(data)} bytes]"


def _failed(error: LangfxError) -> ToolOutcome:
    return ToolOutcome(content=error.message, is_error=True, error=error)


async def _stopped(task: asyncio.Task[ToolResult], cleanup: float = 1.0) -> None:
    """Cancel a tool's task and give it a moment to clean up; afterwards nobody waits for it any more."""
    task.cancel()
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait({task}, timeout=cleanup)
