"""Asking the page: its tools as `Tool`s, its credentials as a resolver for models."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from typing import Any

from langfx_web.bridge.outbox import Outbox
from langfx_web.errors import CredentialsError, ToolExecutionError
from langfx_web.tools import Tool, ToolContext

CREDENTIAL_TIMEOUT = 30.0
TOOL_TIMEOUT = 60.0


class Page:
    """The page's end as the worker sees it: questions out, answers in, each answered once or abandoned."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._ids = itertools.count(1)
        self._open: dict[int, asyncio.Future[Any]] = {}

    def answer(self, id: int, value: Any) -> None:
        """The page's answer to a question; late ones are dropped."""
        future = self._open.pop(id, None)
        if future is not None and not future.done():
            future.set_result(value)

    def refuse(self, id: int, error: Exception) -> None:
        """The page's error in place of an answer; late ones are dropped."""
        future = self._open.pop(id, None)
        if future is not None and not future.done():
            future.set_exception(error)

    async def ask(self, kind: str, **fields: Any) -> Any:
        """Ask, and wait for the answer."""
        id_ = next(self._ids)
        future = self._open[id_] = asyncio.get_running_loop().create_future()
        try:
            self._outbox.say(kind, id=id_, **fields)
            return await future
        except asyncio.CancelledError:
            if kind == "tool_call":
                self._outbox.say("tool_cancel", id=id_)
            raise
        finally:
            self._open.pop(id_, None)

    def tool(self, declared: Mapping[str, Any]) -> Tool:
        """A tool of the page as a tool like any other; `invalid_tool` where its declaration is malformed."""
        name = declared.get("name", "")

        async def call(arguments: dict[str, Any], context: ToolContext) -> Any:
            return await self.ask(
                "tool_call",
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
            timeout=declared.get("timeout") or TOOL_TIMEOUT,
        )

    async def credential(self, provider: str, session_id: str | None, rejected: bool) -> Any:
        """The page's credential for a provider; `credentials_failed` after 30 s or an error of its callback."""
        try:
            async with asyncio.timeout(CREDENTIAL_TIMEOUT):
                return await self.ask("credential_request", provider=provider, sessionId=session_id, rejected=rejected)
        except TimeoutError:
            raise CredentialsError(f"the page gave no credential for {provider!r} within 30 s") from None

    @staticmethod
    def tool_failure(error: Mapping[str, Any], name: str = "") -> ToolExecutionError:
        """What the page says of a tool that threw, as an exception."""
        message = str(error.get("message") or error.get("name") or "the page's tool failed without a message")
        return ToolExecutionError(message, tool=name)
