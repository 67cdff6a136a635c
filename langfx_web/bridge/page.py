"""Asking the page: its tools as `Tool`s, its credentials as a resolver for models."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from langfx_web.bridge.outbox import Outbox
from langfx_web.errors import CredentialsError, ToolExecutionError, ToolNotFoundError
from langfx_web.masking import masked
from langfx_web.tools import Tool, ToolContext

CREDENTIAL_TIMEOUT = 30.0
TOOL_TIMEOUT = 60.0

Failure: TypeAlias = Callable[[str, str], Exception]


@dataclass(frozen=True, slots=True)
class _Question:
    answer: asyncio.Future[Any]
    failure: Failure


class Page:
    """The page's end as the worker sees it: questions out, answers in, each answered once or abandoned."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._ids = itertools.count(1)
        self._open: dict[int, _Question] = {}

    def answer(self, id: int, value: Any) -> None:
        """The page's answer to a question; late ones are dropped."""
        if question := self._open.pop(id, None):
            question.answer.set_result(value)

    def refuse(self, id: int, error: Mapping[str, Any]) -> None:
        """What a handler of the page threw, in place of an answer; late ones are dropped."""
        if question := self._open.pop(id, None):
            text = str(error.get("message") or error.get("name") or "the page's handler failed without a message")
            question.answer.set_exception(question.failure(str(error.get("name")), masked(text)))

    async def ask(self, kind: str, failure: Failure, **fields: Any) -> Any:
        """Ask, and wait for the answer; if nobody waits any more, the page's handler is told to stop.

        `failure` makes the exception for a handler that threw, of the name and the message of what it threw.
        """
        id_ = next(self._ids)
        question = self._open[id_] = _Question(asyncio.get_running_loop().create_future(), failure)
        try:
            self._outbox.say(kind, id=id_, **fields)
            return await question.answer
        except asyncio.CancelledError:
            self._outbox.say("tool_cancel", id=id_)
            raise
        finally:
            self._open.pop(id_, None)

    def tool(self, declared: Mapping[str, Any]) -> Tool:
        """A tool of the page as a tool like any other; `invalid_tool` where its declaration is malformed."""
        name = declared.get("name", "")

        def failure(kind: str, text: str) -> Exception:
            missing = kind == ToolNotFoundError.__name__
            return (ToolNotFoundError if missing else ToolExecutionError)(text, tool=name)

        async def call(arguments: dict[str, Any], context: ToolContext) -> Any:
            return await self.ask(
                "tool_call",
                failure,
                name=name,
                input=arguments,
                executionId=context.execution_id,
                sessionId=context.session_id,
                context=dict(context.context),
                rerun=context.rerun,
            )

        return Tool(
            name=name,
            description=declared.get("description", ""),
            input=declared.get("inputSchema") or {"type": "object", "properties": {}, "additionalProperties": False},
            function=call,
            idempotent=declared.get("idempotent"),
            writes=declared.get("writes"),
            trusted=bool(declared.get("trusted", False)),
            approval=bool(declared.get("approval", False)),
            timeout=declared.get("timeout") or TOOL_TIMEOUT,
        )

    async def credential(self, provider: str, session_id: str | None, rejected: bool) -> Any:
        """The page's credential for a provider; `credentials_failed` after 30 s or an error of its callback."""
        fields = {"provider": provider, "sessionId": session_id, "rejected": rejected}
        try:
            async with asyncio.timeout(CREDENTIAL_TIMEOUT):
                return await self.ask("credential_request", lambda _, text: CredentialsError(text), **fields)
        except TimeoutError:
            raise CredentialsError(f"the page gave no credential for {provider!r} within 30 s") from None
