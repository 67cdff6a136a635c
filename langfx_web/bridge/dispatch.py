"""The worker's end of the channel: one task per command, cancelled by id, each with exactly one end."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from langfx_web.bridge.conversations import Conversations, plain_gate, read_script, show_lines, show_turn
from langfx_web.bridge.importable import missing
from langfx_web.bridge.modules import Modules, stem_of
from langfx_web.bridge.outbox import Outbox, Post
from langfx_web.bridge.outlet import Outlet
from langfx_web.bridge.packages import Installer, Packages
from langfx_web.bridge.page import Page
from langfx_web.bridge.page_credential import ask_page
from langfx_web.bridge.standard_library import EXTRA_MODULES
from langfx_web.bridge.user_code import called, items_of
from langfx_web.bridge.wire import NOTES, PROTOCOL, portable, read
from langfx_web.errors import BootError, BridgeError, StoreError
from langfx_web.events import encode_error
from langfx_web.json_text import loads
from langfx_web.messages.codec import encode
from langfx_web.schemas import wait_for_pydantic
from langfx_web.stores import MemoryStore

MAX_COMMANDS = 1024
IDLE_AFTER = 0.2
"""Seconds after the start when a worker without commands imports pydantic."""
NEEDS_PYDANTIC_NOW = re.compile(r"\b(?:Schema|Partial|read_answer|MappingExample)\b")
"""Names with which a module reads or checks typed values without awaiting anything."""
NEEDS_PYDANTIC_AT_IMPORT = re.compile(r"^\S.*\bMappingExample\b", re.MULTILINE)
"""Examples are checked when they are written down, which most modules do at their top."""
SCHEMAS_PACK = frozenset(
    {"annotated_types", "docstring_parser", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"}
)
Message: TypeAlias = Mapping[str, Any]
Handler: TypeAlias = Callable[[Message, Outlet], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Running:
    task: asyncio.Task[None]
    outlet: Outlet


class Dispatch:
    """Everything one page asks of the worker.

    `post` sends text and buffers to the page; `load` makes a pack importable, `schemas` with pydantic or `extra` with
    the rest of the standard library, and returns "" or the JSON text of an error; `open_installer` loads what installs
    packages; `enter` tells the page of a phase of its start. Modules of the page are written below `folder`. `warm_up`
    does, once and while nothing is asked for, what the first typed work would have to wait for.
    """

    def __init__(
        self,
        post: Post,
        *,
        load: Callable[[Literal["schemas", "extra"]], Awaitable[str]],
        open_installer: Callable[[], Awaitable[Installer]],
        enter: Callable[[Literal["modules"]], object],
        version: str,
        folder: Path,
        warm_up: Callable[[], object] | None = None,
    ) -> None:
        self._outbox = Outbox(post)
        self._page = Page(self._outbox)
        self._load = load
        self._enter = enter
        self._warm_up = warm_up
        self._packages = Packages(open_installer, prepare=self._prepare_packages, folder=folder.with_name("wheels"))
        self._arrived: set[str] = set()
        self._calls_need_schemas = False
        self._version = version
        self._modules = Modules(folder)
        self._conversations: Conversations | None = None
        self._running: dict[int, _Running] = {}
        self._seen = 0
        self._handlers: dict[str, Handler] = {
            "setup": self._set_up,
            "agent_check": self._check_agent,
            "call": self._call,
            "stream": self._stream,
            "session_prompt": self._session_prompt,
            "session_stream": self._session_stream,
            "session_cancel": self._session_cancel,
            "session_messages": self._session_messages,
            "session_watch": self._session_watch,
            "session_gates": self._session_gates,
            "session_answer": self._session_answer,
            "session_decline": self._session_decline,
        }
        self._has_credentials = False
        self._warming: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None

    def receive(self, text: str, buffers: Sequence[bytes]) -> None:
        """Take one post; commands start in the order of their messages."""
        for message in read(text, buffers):
            if isinstance(message, BridgeError):
                self._complain(message)
            elif message["kind"] in NOTES:
                self._note(message)
            else:
                self._start(message)

    def _complain(self, error: BridgeError) -> None:
        self._outbox.say("error", id=error.details.get("id"), error=encode_error(error))

    def _note(self, message: Message) -> None:
        """A message that gets no end of its own."""
        match message["kind"]:
            case "cancel":
                if running := self._running.get(message["id"]):
                    running.task.cancel()
            case "credit":
                if running := self._running.get(message["id"]):
                    running.outlet.window.give(message["items"], message["bytes"])
            case "tool_result" | "credential_result":
                self._page.answer(message["id"], message["value"])
            case "tool_error" | "credential_error":
                self._page.refuse(message["id"], message["error"])
            case "close":
                self._closing = asyncio.ensure_future(self._close())

    def _start(self, message: Message) -> None:
        id_ = message["id"]
        if id_ <= self._seen:
            self._complain(BridgeError(f"the id {id_} was used before", details={"id": id_}))
            return
        self._seen = id_
        outlet = Outlet(id_, self._outbox)
        if self._is_full:
            outlet.fail(BridgeError("too many commands are open", code="too_many_commands", retryable=True))
            return
        task = asyncio.ensure_future(self._run(message, outlet))
        self._running[id_] = _Running(task, outlet)
        task.add_done_callback(lambda _: self._over(id_))

    @property
    def _is_full(self) -> bool:
        """A turn whose end was told does not count, though its lines may still wait for a reader."""
        return sum(not running.outlet.ended for running in self._running.values()) >= MAX_COMMANDS

    async def _run(self, message: Message, outlet: Outlet) -> None:
        """One command; failures become its end."""
        if self._has_credentials:
            ask_page.set(self._page.credential)
        wait_for_pydantic.set(lambda: self._wait_for("schemas"))
        try:
            await self._handlers[message["kind"]](message, outlet)
        except Exception as error:  # noqa: BLE001  # whatever a command meets is an answer to the page
            outlet.fail(error)

    def _over(self, id: int) -> None:
        """Also of a command that was cancelled before its task had run at all."""
        running = self._running.pop(id)
        if running.task.cancelled():
            running.outlet.fail(asyncio.CancelledError())

    # Commands

    async def _set_up(self, message: Message, outlet: Outlet) -> None:
        if self._conversations is not None:
            raise BridgeError("there was a setup before")
        if message["protocol"] != PROTOCOL or message.get("version", self._version) != self._version:
            raise BridgeError("page and worker are of different releases: reload the page", code="bridge_version")
        store = message.get("store", "indexeddb")
        if store != "memory":
            raise StoreError(
                'this release keeps conversations in memory only: use store: "memory"', code="store_unavailable"
            )
        await self._prepare_for(message)
        self._enter("modules")
        page_tools = [self._page.tool(declared) for declared in message["tools"]]
        self._modules.load(message["modules"])
        script = read_script(message.get("provider"))
        self._conversations = Conversations(self._modules, page_tools, MemoryStore(), script=script)
        self._has_credentials = message["credentials"]
        self._outbox.say("ready", version=self._version, agents=self._modules.agents)
        if self._warm_up is not None:
            self._warming = asyncio.ensure_future(self._warm_when_idle(self._warm_up))

    async def _warm_when_idle(self, warm_up: Callable[[], object]) -> None:
        """A page that is busy by then, or could not get the pack, pays when it has typed work."""
        await asyncio.sleep(IDLE_AFTER)
        if await self._load("schemas") == "" and not self._running:
            warm_up()

    async def _prepare_for(self, setup: Mapping[str, Any]) -> None:
        """Load what the page names and its modules import.

        Whoever reads or checks typed values by hand may do so without awaiting anything.
        """
        sources = [module["source"] for module in setup["modules"]]
        imported = Modules.imported_names(sources)
        if imported & EXTRA_MODULES:
            await self._wait_for("extra")
        if imported & SCHEMAS_PACK or any(map(NEEDS_PYDANTIC_AT_IMPORT.search, sources)):
            await self._wait_for("schemas")
        self._calls_need_schemas = any(map(NEEDS_PYDANTIC_NOW.search, sources))
        own = {stem_of(module["url"]) for module in setup["modules"]}
        others = missing(imported - own - SCHEMAS_PACK - sys.stdlib_module_names)
        await self._packages.load(setup.get("packages", []), setup.get("wheels", []), others)

    async def _prepare_packages(self) -> None:
        await self._wait_for("extra")
        await self._wait_for("schemas")

    async def _check_agent(self, message: Message, outlet: Outlet) -> None:
        self._hosted().agent(message["agent"])
        outlet.result(None)

    async def _call(self, message: Message, outlet: Outlet) -> None:
        await self._wait_before_calls()
        value = await called(self._modules.function(message["target"]), message["args"])
        outlet.result(value)

    async def _stream(self, message: Message, outlet: Outlet) -> None:
        await self._wait_before_calls()
        async with items_of(self._modules.function(message["target"]), message["args"]) as items:
            async for item in items:
                if outlet.send(portable(item)):
                    await outlet.room()
        outlet.end(None)

    async def _session_prompt(self, message: Message, outlet: Outlet) -> None:
        turn = await self._hosted().prompt(message)
        accepted = await turn.accepted
        outlet.accept({"messageId": accepted.message_id, "sessionId": accepted.session_id})
        await show_turn(turn, outlet)

    async def _session_stream(self, message: Message, outlet: Outlet) -> None:
        await show_lines(self._hosted().session(message).stream(message["cursor"]), outlet)
        outlet.end(None)

    async def _session_cancel(self, message: Message, outlet: Outlet) -> None:
        outlet.result(await self._hosted().cancel(message))

    async def _session_messages(self, message: Message, outlet: Outlet) -> None:
        messages = await self._hosted().session(message).messages()
        outlet.result([encode(said, bytes_as_text=False) for said in messages])

    async def _session_watch(self, message: Message, outlet: Outlet) -> None:
        async for event in self._hosted().session(message).watch():
            if outlet.send(portable(event.to_plain())):
                await outlet.room()

    async def _session_gates(self, message: Message, outlet: Outlet) -> None:
        outlet.result([plain_gate(gate) for gate in await self._hosted().session(message).gates()])

    async def _session_answer(self, message: Message, outlet: Outlet) -> None:
        await self._hosted().session(message).answer(message["gateId"], message["value"])
        outlet.result(None)

    async def _session_decline(self, message: Message, outlet: Outlet) -> None:
        await self._hosted().session(message).decline(message["gateId"], message.get("reason") or "")
        outlet.result(None)

    # What they share

    def _hosted(self) -> Conversations:
        if self._conversations is None:
            raise BridgeError("a command came before the setup")
        return self._conversations

    async def _wait_before_calls(self) -> None:
        if self._calls_need_schemas:
            await self._wait_for("schemas")

    async def _wait_for(self, pack: Literal["schemas", "extra"]) -> None:
        if pack in self._arrived:
            return
        failure = await self._load(pack)
        if failure:
            facts = loads(failure)
            raise BootError(
                facts["message"], code=facts["code"], retryable=facts["retryable"], details=facts.get("details")
            )
        self._arrived.add(pack)

    async def _close(self) -> None:
        """End every command, say so, and let the worker be stopped."""
        tasks = [running.task for running in self._running.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._outbox.say("closed")
        self._outbox.flush()
