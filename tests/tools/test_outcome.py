"""Running a call: whatever the tool does, there is one result; only our own cancellation comes out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from langfx_web.errors import InvalidValueError
from langfx_web.messages import PDF, Image, ToolCall
from langfx_web.tools import Tool, ToolContext, ToolOutcome, ToolResult, run_call, tool
from langfx_web.tools.outcome import MAX_CONTENT, fitted
from tests.messages.pictures import PNG

PICTURE = Image.from_bytes(PNG)


async def outcome_of(some: Tool) -> ToolOutcome:
    prepared = some.prepare(ToolCall("c", some.name, {}))
    return await run_call(
        prepared, ToolContext(call=prepared.call, checksum=prepared.checksum, execution_id="e", turn_id="t")
    )


def failing(error: BaseException) -> Tool:
    @tool
    async def failing() -> None:
        """Fail."""
        raise error

    return failing


async def test_a_value_and_a_reported_failure() -> None:
    """A tool may say itself that it failed."""

    @tool
    def reports() -> Any:
        """Report."""
        return ToolResult("no such order", is_error=True)

    assert await outcome_of(reports) == ToolOutcome(content="no such order", is_error=True)


def giving(value: Any) -> Tool:
    @tool
    def look() -> Any:
        """Look."""
        return value

    return look


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        (PICTURE, (PICTURE,)),
        (["left ", PICTURE, " right"], ("left ", PICTURE, " right")),
        (("two ", PICTURE, PICTURE), ("two ", PICTURE, PICTURE)),
        (ToolResult(["see ", PICTURE]), ("see ", PICTURE)),
    ],
)
async def test_bug_093_media_are_shown_to_the_model_in_order(value: Any, parts: tuple[Any, ...]) -> None:
    """Alone or among texts; the text of the result is that of the texts."""
    outcome = await outcome_of(giving(value))
    assert (outcome.parts, outcome.is_error, outcome.is_cut) == (parts, False, False)
    assert outcome.content == "".join(part for part in parts if isinstance(part, str))


async def test_a_list_without_media_is_a_value_like_any_other() -> None:
    """It is written as JSON."""
    assert await outcome_of(giving(["a", "b"])) == ToolOutcome(content='["a","b"]')
    outcome = await outcome_of(giving([PICTURE, 3]))
    assert (outcome.is_error, outcome.error and outcome.error.code) == (True, "tool_output_invalid")


@pytest.mark.parametrize("value", [[PICTURE] * 9, [PDF.from_bytes(bytes(4 * 2**20 + 1))] * 2])
async def test_too_many_media_are_an_error_result(value: Any) -> None:
    """More than eight, or than 8 MiB together; the model is told that the call ran."""
    outcome = await outcome_of(giving(value))
    assert (outcome.is_error, outcome.parts, outcome.error and outcome.error.code) == (True, (), "tool_output_invalid")
    assert outcome.content.startswith("the tool ran, but")


async def test_an_image_that_is_none_is_an_error_result() -> None:
    """The tool learns of it where it makes the image, and the model is told what it was."""

    @tool
    def shoot() -> Image:
        """Take a picture."""
        return Image.from_bytes(b"<html>login</html>")

    outcome = await outcome_of(shoot)
    assert outcome.is_error
    assert "this is HTML" in outcome.content


@pytest.mark.parametrize("hint", [Image, list[str | Image], Image | None])
async def test_a_tool_may_say_that_it_gives_media(hint: Any) -> None:
    """They have no output schema."""

    def look() -> Any:
        """Look."""
        return PICTURE

    look.__annotations__["return"] = hint
    assert "outputSchema" not in tool(look).describe()
    assert (await outcome_of(tool(look))).parts == (PICTURE,)


def test_a_result_is_made_of_texts_and_media() -> None:
    """Anything else is refused where it is made."""
    for content in (3, None, [3], {"a": "b"}):
        with pytest.raises(InvalidValueError):
            ToolResult(content)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "content"),
    [
        (ValueError("no such order"), "no such order"),
        (RuntimeError(""), "the tool failing failed without a message"),
        (RuntimeError("key sk-abcdef123456 refused"), "key *** refused"),
        (asyncio.CancelledError(), "the tool failing was cancelled from inside"),
        (TimeoutError("own timeout"), "own timeout"),
        (SystemExit(3), "the tool failing called sys.exit(3)"),
    ],
)
async def test_exceptions_become_results(error, content) -> None:
    """The message without a traceback, keys masked; a cancellation of the tool's own making too."""
    outcome = await outcome_of(failing(error))
    assert (outcome.content, outcome.is_error, outcome.error.code) == (content, True, "tool_failed")


async def test_long_messages_are_cut() -> None:
    """At two thousand characters."""
    assert len((await outcome_of(failing(ValueError("x" * 9000)))).content) < 2100


async def test_a_time_limit_cancels_the_tool() -> None:
    """The model is told, the tool's cleanup runs."""
    cleaned = []

    @tool(timeout=0.01)
    async def slow() -> None:
        """Wait."""
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)

    outcome = await outcome_of(slow)
    assert (outcome.error.code, cleaned) == ("tool_timeout", [True])
    assert "0.01 s" in outcome.content


async def test_our_cancellation_passes_through_and_reaches_the_tool() -> None:
    """Unwrapped; the tool gets CancelledError and a moment to clean up."""
    started, seen = asyncio.Event(), []

    @tool
    async def slow() -> None:
        """Wait."""
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            seen.append("cleaned up")
            raise

    task = asyncio.ensure_future(outcome_of(slow))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cleaned up"]


async def test_a_stubborn_tool_is_abandoned() -> None:
    """One that swallows the cancellation delays it by a second at most, and its late failure is nobody's."""
    started, release = asyncio.Event(), asyncio.Event()

    @tool
    async def stubborn() -> None:
        """Refuse to stop."""
        started.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        raise ValueError("late")

    task = asyncio.ensure_future(outcome_of(stubborn))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    release.set()
    await asyncio.sleep(0)


def test_long_results_are_cut_at_a_line_end() -> None:
    """With a note of the whole size."""
    text = "\n".join(["x" * 99] * 1000)
    cut = fitted(text)
    assert len(cut.encode()) < MAX_CONTENT + 100
    assert cut.splitlines()[-1] == f"[cut: the whole result has {len(text)} bytes]"
    assert cut.splitlines()[-2] == "x" * 99
    assert fitted("short") == "short"
