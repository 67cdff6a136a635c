"""Calling functions of the page's modules: `call` and `stream`, and what their exceptions become."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from langfx_web.bridge.modules import user_traceback
from langfx_web.errors import InvalidArgumentError, LangfxError, UserCodeError
from langfx_web.masking import masked, said_by

Args = Mapping[str, Any] | list[Any]


async def called(function: Callable[..., Any], args: Args) -> Any:
    """What the function returns, awaited where it is awaitable; `user_code_failed` where it raises."""
    try:
        value = function(**args) if isinstance(args, Mapping) else function(*args)
        return await value if inspect.isawaitable(value) else value
    except BaseException as error:
        if not _is_failure(error):
            raise
        raise as_user_error(error) from error


@asynccontextmanager
async def items_of(function: Callable[..., Any], args: Args) -> AsyncGenerator[AsyncIterator[Any], None]:
    """What the function yields: a generator, async or not, or any iterable that it returns.

    Closed at the end of `async with`. `invalid_argument` where there is nothing to iterate.
    """
    source = await called(function, args)
    if not hasattr(source, "__aiter__") and not hasattr(source, "__iter__"):
        raise InvalidArgumentError(f"a {type(source).__name__} cannot be streamed: return or yield items")
    try:
        # Handed on as it is: another generator around it would cost as much per item as the rest of the way.
        yield source if hasattr(source, "__aiter__") else _Stepped(source)
    except BaseException as error:
        if not _is_failure(error):
            raise
        raise as_user_error(error) from error
    finally:
        await _closed(source)


class _Stepped:
    """An iterable as an async iterator."""

    def __init__(self, source: Iterable[Any]) -> None:
        self._items = iter(source)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        for item in self._items:
            return item
        raise StopAsyncIteration


def as_user_error(error: BaseException) -> LangfxError:
    """An error of ours as it is; any other as a `UserCodeError` with its class and traceback, keys masked."""
    if isinstance(error, LangfxError):
        return error
    text = said_by(error) or "no message"
    details = {"type": type(error).__name__, "traceback": masked(user_traceback(error))}
    return UserCodeError(f"{type(error).__name__}: {text}"[:2000], details=details)


def _is_failure(error: BaseException) -> bool:
    """Whether the user's code failed: `sys.exit()` and a cancellation of its own making are failures, too."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and not task.cancelling()
    return isinstance(error, (Exception, SystemExit))


async def _closed(source: Any) -> None:
    if hasattr(source, "aclose"):
        await source.aclose()
    elif hasattr(source, "close"):
        source.close()
