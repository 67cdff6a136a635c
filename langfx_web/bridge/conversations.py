"""The agents of the page's modules and their stored conversations, as commands reach them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakValueDictionary

from langfx_web.agent import Agent
from langfx_web.bridge.modules import Modules
from langfx_web.bridge.outlet import Outlet
from langfx_web.bridge.wire import Portable
from langfx_web.deferred import later
from langfx_web.errors import LangfxError
from langfx_web.events import encode
from langfx_web.stores import Store
from langfx_web.tools import Tool

if TYPE_CHECKING:
    from langfx_web import testing
    from langfx_web.agentic import Gate, gates
    from langfx_web.durable import AgentSession, LineStream, Turn, TurnResult
else:
    gates = later("langfx_web.agentic.gates")
    testing = later("langfx_web.testing")

Scripts: TypeAlias = "testing.Script | Mapping[str, testing.Script]"
"""One script for all agents together, or one for each that is named."""


class Conversations:
    """Every agent with the page's tools added, and one object per conversation for all commands that name it.

    A `script` (answers for all agents together, or by agent name) stands in for the agents' own models.
    """

    def __init__(self, modules: Modules, page_tools: Sequence[Tool], store: Store, *, script: Scripts | None) -> None:
        self._modules = modules
        self._page_tools = page_tools
        self._store = store
        self._script = script
        self._agents: dict[str, Agent] = {}
        self._arriving: list[_Arrival] = []
        self._sessions: WeakValueDictionary[tuple[str, str], AgentSession] = WeakValueDictionary()

    def agent(self, name: str) -> Agent:
        """The agent with the page's tools; `no_agent`, or `invalid_tool` where a name is taken."""
        if name not in self._agents:
            agent = self._modules.agent(name).with_tools(self._page_tools)
            script = self._script.get(name) if isinstance(self._script, Mapping) else self._script
            self._agents[name] = agent if script is None else agent.with_model(script)
        return self._agents[name]

    def session(self, message: Mapping[str, Any]) -> AgentSession:
        """The conversation that a command names, with the settings the command brings for its turns."""
        settings = {name: message[name] for name in ("model", "instructions", "context") if message.get(name)}
        agent, id_ = self.agent(message["agent"]), message["session"]
        if settings or id_ is None:
            return agent.session(id_, store=self._store, **settings)
        session = self._sessions.get((agent.name, id_))
        if session is None:
            session = self._sessions[agent.name, id_] = agent.session(id_, store=self._store)
        return session

    async def prompt(self, message: Mapping[str, Any]) -> Turn:
        """Hand in a command's prompt, once its agent's tools are ready, and return when it is stored or refused."""
        given = message["input"]
        prompt = [given] if isinstance(given, dict) else given
        arrival = _Arrival(message=message, task=asyncio.current_task())
        self._arriving.append(arrival)
        try:
            await self.agent(message["agent"]).tools.ready()
            arrival.turn = self.session(message).prompt(prompt, message_id=message.get("messageId"))
            await arrival.stored()
            return arrival.turn
        finally:
            self._arriving.remove(arrival)

    async def cancel(self, message: Mapping[str, Any]) -> str:
        """Cancel what a command means, a prompt too that came just before it: `cancelled`, or `none`."""
        target = message.get("messageId")
        meant = [arrival for arrival in self._arriving if arrival.is_meant_by(message)]
        for arrival in meant:
            await arrival.stored()
        early = [arrival for arrival in meant if arrival.turn is None]
        if target is None or not early:
            outcome = await self.session(message).cancel(target)
            if outcome == "cancelled" or not early:
                return outcome
        first = early[0]
        if first.turn is not None or first.task is None:
            return await self.cancel(message)
        # Nothing of this prompt is stored, so its command is all there is to cancel.
        first.task.cancel()
        return "cancelled"


@dataclass(slots=True, kw_only=True)
class _Arrival:
    """A prompt that is not stored yet; without a `turn` it is not even handed in."""

    message: Mapping[str, Any]
    task: asyncio.Task[Any] | None
    turn: Turn | None = None

    def is_meant_by(self, cancel: Mapping[str, Any]) -> bool:
        """Whether a cancel is for this prompt."""
        same = all(self.message[name] == cancel[name] for name in ("agent", "session"))
        return same and cancel.get("messageId") in (None, self.message.get("messageId"))

    async def stored(self) -> None:
        """Wait until it is stored, or refused, if it was handed in."""
        if self.turn is not None:
            with suppress(LangfxError):
                await self.turn.accepted


async def show_turn(turn: Turn, outlet: Outlet) -> None:
    """Send a turn's lines as they are stored, and its end as soon as it is known, read or not."""
    ended = asyncio.ensure_future(_tell_end(turn, outlet))
    try:
        await show_lines(turn.lines, outlet)
        await ended
    finally:
        ended.cancel()


async def _tell_end(turn: Turn, outlet: Outlet) -> None:
    try:
        result = await turn.result
        outlet.end(_plain_result(result), count=await turn.line_count)
    except Exception as error:  # noqa: BLE001  # told at once: the lines may wait for a reader for ever
        outlet.fail(error)


async def show_lines(lines: LineStream, outlet: Outlet) -> None:
    """Send lines, each stored batch at once, no further ahead than the page has room for."""
    async with aclosing(lines.batches()) as batches:
        async for batch in batches:
            for line in batch:
                if outlet.send(Portable(line.text)):
                    await outlet.room()


def read_script(given: Any) -> Scripts | None:
    """The scripted models of a setup: one for all agents, or one for each that is named; `invalid_argument`."""
    if isinstance(given, Mapping):
        return {name: testing.Script(answers) for name, answers in given.items()}
    return None if given is None else testing.Script(given)


def plain_gate(gate: Gate) -> dict[str, Any]:
    """An open question as the page gets it: the fields of its `gate_open`."""
    plain = encode(gates.gate_opened(gate))
    del plain["type"]
    return plain


def _plain_result(result: TurnResult) -> dict[str, Any]:
    return {
        "messageId": result.message_id,
        "stopReason": result.stop_reason,
        "usage": None if result.usage is None else result.usage.to_plain(),
        "error": result.error,
        "epoch": result.epoch,
        "repeated": result.repeated,
    }
