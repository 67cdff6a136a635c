"""What the tests of conversations play with: models and tools that wait for the test, sessions on one store."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from langfx_web.agent import Agent
from langfx_web.agentic import Limits
from langfx_web.durable import AgentSession, Turn
from langfx_web.events import TextDelta
from langfx_web.llms import LanguageModel, ModelRequest
from langfx_web.llms.delta import Delta, Finish, TextPiece
from langfx_web.messages import AIMessage, Message, ToolCall, ToolMessage
from langfx_web.stores import MemoryStore, Store
from langfx_web.testing import ManualClock, StaticSequence
from langfx_web.tools import Tool, ToolContext, tool
from tests.durable.faults import WatchedStore


class SpokenModel(LanguageModel):
    """Says what the test says, when it says it; `aborted` counts requests that were given up."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"model": "spoken", "max_attempts": 1, **options})
        self.requests: list[ModelRequest] = []
        self._aborted: list[bool] = []
        self._pieces: asyncio.Queue[str | BaseException | None] = asyncio.Queue()

    def say(self, text: str) -> None:
        """Let the running answer go on."""
        self._pieces.put_nowait(text)

    def finish(self) -> None:
        """Let it end."""
        self._pieces.put_nowait(None)

    def fail(self, error: BaseException) -> None:
        """Let it break."""
        self._pieces.put_nowait(error)

    @property
    def aborted(self) -> int:
        """Of the model and all its copies."""
        return sum(self._aborted)

    async def _stream(self, request: ModelRequest) -> AsyncIterator[Delta]:
        self.requests.append(request)
        is_over = False
        try:
            while (piece := await self._pieces.get()) is not None:
                if isinstance(piece, BaseException):
                    raise piece
                yield TextPiece(piece)
            is_over = True
            yield Finish(reason="stop", raw="stop")
        finally:
            self._aborted.append(not is_over)


class Workshop:
    """Tools that note their runs in a ledger; a `slow` one runs until the test lets it go."""

    def __init__(self) -> None:
        self.ledger: list[str] = []
        self.contexts: list[ToolContext] = []
        self.started = asyncio.Event()
        self.done = asyncio.Event()
        self.cancelled = 0

    def tools(self) -> list[Tool]:
        """`pay` and `slow_pay` are not idempotent, `find` and `slow_find` are."""

        @tool(idempotent=False)
        async def pay(item: str, context: ToolContext) -> str:
            """Pay."""
            self._note(f"pay {item}", context)
            return f"paid {item}"

        @tool(idempotent=True)
        async def find(item: str, context: ToolContext) -> str:
            """Find."""
            self._note(f"find {item}", context)
            return f"found {item}"

        @tool(idempotent=False)
        async def slow_pay(item: str, context: ToolContext) -> str:
            """Pay slowly."""
            return await self._slow(f"slow_pay {item}", context)

        @tool(idempotent=True)
        async def slow_find(item: str, context: ToolContext) -> str:
            """Find slowly."""
            return await self._slow(f"slow_find {item}", context)

        return [pay, find, slow_pay, slow_find]

    async def _slow(self, what: str, context: ToolContext) -> str:
        self._note(what, context)
        self.started.set()
        try:
            await self.done.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return f"done {what}"

    def _note(self, what: str, context: ToolContext) -> None:
        self.ledger.append(what)
        self.contexts.append(context)


class Scene:
    """One store and one clock; each `session()` is a worker of its own, as in a tab of its own."""

    def __init__(self) -> None:
        self.store = WatchedStore(MemoryStore())
        self.clock = ManualClock()
        self.workshop = Workshop()
        self._numbers = itertools.count(1)

    def new_id(self, prefix: str) -> str:
        """Ids that tests can read."""
        return f"{prefix}{next(self._numbers)}"

    def agent(
        self,
        lm: LanguageModel | Sequence[Any],
        *,
        tools: Sequence[Tool] | None = None,
        instructions: str | None = None,
        limits: Limits | None = None,
    ) -> Agent:
        """An agent whose model gives these answers, or is this one."""
        model = lm if isinstance(lm, LanguageModel) else StaticSequence(list(lm))
        return Agent(
            lm=model,
            name="support",
            tools=self.workshop.tools() if tools is None else tools,
            instructions=instructions,
            limits=limits,
        )

    def session(
        self,
        lm: LanguageModel | Sequence[Any] | Agent,
        id: str | None = "s",
        *,
        model: str | None = None,
        instructions: str | None = None,
        context: Mapping[str, Any] | None = None,
        store: Store | None = None,
        **options: Any,
    ) -> AgentSession:
        """A worker with this conversation open."""
        return AgentSession(
            lm if isinstance(lm, Agent) else self.agent(lm, **options),
            id,
            store=store or self.store,
            clock=self.clock,
            new_id=self.new_id,
            model=model,
            instructions=instructions,
            context=context,
        )

    async def kinds(self, id: str = "s") -> list[str]:
        """The kinds of the stored records."""
        loaded = await self.store.inner.load(id)
        return [record.data.split(b'"kind":"')[1].split(b'"')[0].decode() for record in loaded.records]

    async def texts(self, id: str = "s") -> list[str]:
        """All stored lines."""
        return [line.data.decode() for line in await self.store.inner.lines(id, 0)]


def calls(*named: tuple[str, str], text: str = "") -> AIMessage:
    """An answer that asks for tools: pairs of a tool's name and its item."""
    asked = [ToolCall(f"call_{n}", name, {"item": item}) for n, (name, item) in enumerate(named, 1)]
    return AIMessage(*([text] if text else []), *asked)


def said(request: ModelRequest) -> list[str]:
    """The texts that a model was sent."""
    return [message.text for message in request.messages]


def answers(messages: Sequence[Message]) -> list[str]:
    """The texts of tool results."""
    return [message.text for message in messages if isinstance(message, ToolMessage)]


async def spoken(turn: Turn) -> str:
    """All the text of a turn."""
    return "".join([event.delta async for event in turn if isinstance(event, TextDelta)])


async def types(turn: Turn) -> list[str]:
    """The types of all lines of a turn."""
    return [line.type async for line in turn.lines]


def names(value: str) -> Callable[[object], bool]:
    """Chooses batches in whose records a text occurs."""
    mark = value.encode()
    return lambda batch: any(mark in record for record in getattr(batch, "records", ()))


async def kill_all_workers() -> None:
    """Drop every task but the test's own, as when all tabs die."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
