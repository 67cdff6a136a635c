"""`query_batch`: the same question about many things, each with an outcome of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langfx_web.errors import InvalidArgumentError, MappingError
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage
from langfx_web.queries.asking import Asking
from langfx_web.queries.inquiry import inquiry
from langfx_web.queries.marks import RAISE
from langfx_web.schemas import pydantic_arrived


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchItem:
    """The outcome of one prompt: its place, and a value or an error; `message` is the answer, where there was one."""

    index: int
    value: Any = None
    error: Exception | None = None
    message: AIMessage | None = None


async def query_batch(
    prompts: Sequence[Any],
    schema: Any = None,
    *,
    lm: LanguageModel | None = None,
    max_concurrency: int = 8,
    default: Any = RAISE,
    **options: Any,
) -> list[BatchItem]:
    """Ask one model each of many prompts, at most `max_concurrency` at a time; outcomes in the order of the prompts.

    A failure is the outcome of its prompt and ends no other; cancelling the batch cancels all. Options are those of
    `query`, `timeout` for each one; bad ones are raised before anything is sent.
    """
    _check(prompts, max_concurrency)
    asking, rest = Asking.split(options)
    if rest.get("examples"):
        await pydantic_arrived()
    inquiry("", schema, lm=lm, **rest)
    waiting = enumerate(prompts)
    items: dict[int, BatchItem] = {}

    async def work() -> None:
        for index, prompt in waiting:
            try:
                message = await asking.ask(inquiry(prompt, schema, lm=lm, **rest))
            except Exception as error:  # noqa: BLE001  # it is the outcome of this prompt
                items[index] = _failed(index, error, default)
            else:
                items[index] = BatchItem(index=index, value=message.result, message=message)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(max_concurrency, len(prompts))):
            group.create_task(work())
    return [items[index] for index in sorted(items)]


def _failed(index: int, error: Exception, default: Any) -> BatchItem:
    message = getattr(error, "lm_response", None) or getattr(error, "partial", None)
    if default is not RAISE and isinstance(error, MappingError):
        return BatchItem(index=index, value=default, message=message)
    return BatchItem(index=index, error=error, message=message)


def _check(prompts: Any, max_concurrency: Any) -> None:
    if not isinstance(prompts, Sequence) or isinstance(prompts, str):
        raise InvalidArgumentError("prompts must be a list of prompts, not one of them", details={"option": "prompts"})
    if not isinstance(max_concurrency, int) or isinstance(max_concurrency, bool) or max_concurrency < 1:
        raise InvalidArgumentError(
            f"max_concurrency must be an int of at least 1, not {max_concurrency!r}",
            details={"option": "max_concurrency"},
        )
