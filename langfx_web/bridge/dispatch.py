"""The worker's end of the channel: one task per command, cancelled by id, each with exactly one end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

from langfx_web.bridge.conversations import Conversations, read_script, show_lines, show_turn
from langfx_web.bridge.modules import Modules
from langfx_web.bridge.outbox import Outbox, Post
from langfx_web.bridge.outlet import Outlet
from langfx_web.bridge.page import Page
from langfx_web.bridge.page_credential import ask_page
from langfx_web.bridge.user_code import called, items_of
from langfx_web.bridge.wire import PROTOCOL, error_fields, portable, read
from langfx_web.errors import BootError, BridgeError, CredentialsError, StoreError
from langfx_web.json_text import loads
from langfx_web.messages.codec import encode
from langfx_web.schemas import wait_for_pydantic
from langfx_web.stores import MemoryStore

MAX_COMMANDS = 1024
CANCELLED = {"code": "cancelled", "name": "AbortError", "message": "cancelled", "retryable": False, "details": {}}
SCHEMAS_PACK = frozenset({"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"})
ENDS_NOTHING = frozenset(
    {"cancel", "credit", "tool_result", "tool_error", "credential_result", "credential_error", "close"}
)


class Dispatch:
    """Everything one page asks of the worker.

    `post` sends text and buffers to the page; `load` makes a pack importable, `schemas` with pydantic or `extra` with
    the rest of the standard library, and returns "" or the JSON text of an error; modules of the page are written below
    `folder`.
    """

    def __init__(
        self,
        post: Post,
        *,
        load: Callable[[Literal["schemas", "extra"]], Awaitable[str]],
        version: str,
        folder: Path,
    ) -> None:
        self._outbox = Outbox(post)
        self._page = Page(self._outbox)
        self._load = load
        self._calls_need_schemas = False
        self._version = version
        self._modules = Modules(folder)
        self._conversations: Conversations | None = None
        self._commands: dict[int, asyncio.Task[None]] = {}
        self._outlets: dict[int, Outlet] = {}
        self._seen = 0
        self._handlers: dict[str, Callable[[Mapping[str, Any]], Awaitable[None]]] = {
            "setup": self._set_up,
            "agent_check": self._check_agent,
            "call": self._call,
            "stream": self._stream,
            "session_prompt": self._session_prompt,
            "session_stream": self._session_stream,
            "session_cancel": self._session_cancel,
            "session_messages": self._session_messages,
        }
        self._has_credentials = False
        self._closing: asyncio.Task[None] | None = None

    def receive(self, text: str, buffers: Sequence[bytes]) -> None:
        """Take one post; commands start in the order of their messages."""
        for message in read(text, buffers):
            if isinstance(message, BridgeError):
                self._say_error(message.details.get("id"), message)
            elif message["kind"] in ENDS_NOTHING:
                self._note(message)
            else:
                self._start(message)

    def _note(self, message: Mapping[str, Any]) -> None:
        """A message that gets no end of its own."""
        match message["kind"]:
            case "cancel":
                if task := self._commands.get(message["id"]):
                    task.cancel()
            case "credit":
                if outlet := self._outlets.get(message["id"]):
                    outlet.window.give(message["items"], message["bytes"])
            case "tool_result" | "credential_result":
                self._page.answer(message["id"], message["value"])
            case "tool_error":
                self._page.refuse(message["id"], Page.tool_failure(message["error"]))
            case "credential_error":
                reason = message["error"].get("message") or "the page's credentials callback failed"
                self._page.refuse(message["id"], CredentialsError(str(reason)))
            case "close":
                self._closing = asyncio.ensure_future(self._close())

    def _start(self, message: Mapping[str, Any]) -> None:
        id_ = message["id"]
        if id_ <= self._seen:
            self._say_error(id_, BridgeError(f"the id {id_} was used before"))
            return
        self._seen = id_
        if len(self._commands) >= MAX_COMMANDS:
            self._say_error(id_, BridgeError("too many commands are open", code="too_many_commands", retryable=True))
            return
        task = asyncio.ensure_future(self._run(message))
        self._commands[id_] = task
        task.add_done_callback(lambda _: self._commands.pop(id_, None))

    async def _run(self, message: Mapping[str, Any]) -> None:
        """One command to its end; failures become its `error`."""
        id_ = message["id"]
        if self._has_credentials:
            ask_page.set(self._page.credential)
        wait_for_pydantic.set(lambda: self._wait_for("schemas"))
        try:
            await self._handlers[message["kind"]](message)
        except asyncio.CancelledError:
            self._outbox.say("error", id=id_, error=CANCELLED)
        except Exception as error:  # noqa: BLE001  # whatever a command meets is an answer to the page
            self._say_error(id_, error)
        finally:
            self._outlets.pop(id_, None)

    def _say_error(self, id: int | None, error: Exception) -> None:
        self._outbox.say("error", id=id, error=error_fields(error))

    # Commands

    async def _set_up(self, message: Mapping[str, Any]) -> None:
        if message["protocol"] != PROTOCOL or message.get("version", self._version) != self._version:
            raise BridgeError("page and worker are of different releases: reload the page", code="bridge_version")
        store = message.get("store", "indexeddb")
        if store != "memory":
            raise StoreError(
                'this release keeps conversations in memory only: use store: "memory"', code="store_unavailable"
            )
        await self._prepare_for([module["source"] for module in message["modules"]])
        page_tools = [self._page.tool(declared) for declared in message["tools"]]
        self._modules.load(message["modules"])
        script = read_script(message.get("provider"))
        self._conversations = Conversations(self._modules, page_tools, MemoryStore(), script=script)
        self._has_credentials = message["credentials"]
        self._outbox.say("ready", version=self._version, agents=self._modules.agents)

    async def _prepare_for(self, sources: Sequence[str]) -> None:
        """Load what the page's modules import; whoever uses a `Schema` by hand may do so without awaiting anything."""
        imported = Modules.imported_names(sources)
        if Modules.lacks_standard_modules(imported):
            await self._wait_for("extra")
        if imported & SCHEMAS_PACK:
            await self._wait_for("schemas")
        self._calls_need_schemas = any("Schema" in source for source in sources)

    async def _check_agent(self, message: Mapping[str, Any]) -> None:
        self._hosted().agent(message["agent"])
        self._outbox.say("result", id=message["id"], value=None)

    async def _call(self, message: Mapping[str, Any]) -> None:
        await self._wait_before_calls()
        value = await called(self._modules.function(message["target"]), message["args"])
        self._outbox.say("result", id=message["id"], value=value)

    async def _stream(self, message: Mapping[str, Any]) -> None:
        await self._wait_before_calls()
        outlet = self._outlet(message["id"])
        async with aclosing(items_of(self._modules.function(message["target"]), message["args"])) as items:
            async for item in items:
                outlet.send(portable(item))
                await outlet.room()
        outlet.end(None)

    async def _session_prompt(self, message: Mapping[str, Any]) -> None:
        await self._hosted().agent(message["agent"]).tools.ready()
        turn = self._hosted().prompt(message)
        accepted = await turn.accepted
        value = {"messageId": accepted.message_id, "sessionId": accepted.session_id}
        self._outbox.say("accepted", id=message["id"], value=value)
        await show_turn(turn, self._outlet(message["id"]))

    async def _session_stream(self, message: Mapping[str, Any]) -> None:
        await show_lines(self._hosted().session(message).stream(message["cursor"]), self._outlet(message["id"]))

    async def _session_cancel(self, message: Mapping[str, Any]) -> None:
        outcome = await self._hosted().session(message).cancel(message.get("messageId"))
        self._outbox.say("result", id=message["id"], value=outcome)

    async def _session_messages(self, message: Mapping[str, Any]) -> None:
        messages = await self._hosted().session(message).messages()
        self._outbox.say("result", id=message["id"], value=[encode(said) for said in messages])

    # What they share

    def _hosted(self) -> Conversations:
        if self._conversations is None:
            raise BridgeError("a command came before the setup")
        return self._conversations

    async def _wait_before_calls(self) -> None:
        if self._calls_need_schemas:
            await self._wait_for("schemas")

    async def _wait_for(self, pack: Literal["schemas", "extra"]) -> None:
        failure = await self._load(pack)
        if failure:
            facts = loads(failure)
            raise BootError(
                facts["message"], code=facts["code"], retryable=facts["retryable"], details=facts.get("details")
            )

    def _outlet(self, id: int) -> Outlet:
        self._outlets[id] = outlet = Outlet(id, self._outbox)
        return outlet

    async def _close(self) -> None:
        """End every command, say so, and let the worker be stopped."""
        tasks = list(self._commands.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._outbox.say("closed")
        self._outbox.flush()
