"""A page in Python: posts texts to a `Dispatch` and keeps what comes back."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from langfx_web.bridge.dispatch import Dispatch
from langfx_web.bridge.wire import PROTOCOL, portable, with_paths


class FakePage:
    """The page's end: `posts` has every post as (messages, buffers), `phases` what the start was said to do."""

    def __init__(
        self,
        folder: Path,
        *,
        load: Callable[[str], Any] | None = None,
        open_installer: Callable[[], Any] | None = None,
        warm_up: Callable[[], object] | None = None,
    ) -> None:
        self.posts: list[tuple[list[dict[str, Any]], list[bytes]]] = []
        self._ids = itertools.count(1)
        self._arrived = asyncio.Event()
        self.phases: list[str] = []
        self.dispatch = Dispatch(
            self._take,
            load=load or _no_failure,
            open_installer=open_installer or FakeInstaller().open,
            enter=self.phases.append,
            version="0.1.0",
            folder=folder,
            warm_up=warm_up,
        )

    def _take(self, text: str, buffers: list[bytes]) -> None:
        self.posts.append((json.loads(text), buffers))
        self._arrived.set()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All messages so far."""
        return [message for messages, _ in self.posts for message in messages]

    def tell(self, kind: str, **fields: Any) -> None:
        """Send one message as it is, its bytes as buffers."""
        packed = portable({"kind": kind, **fields})
        self.dispatch.receive(f"[{with_paths(packed.text, blobs=packed.blobs)}]", list(packed.buffers))

    def command(self, kind: str, **fields: Any) -> int:
        """Send a command under a new id."""
        id_ = next(self._ids)
        self.tell(kind, id=id_, **fields)
        return id_

    async def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message that is wanted, now or when it comes."""
        async with asyncio.timeout(10):
            while True:
                for message in self.messages:
                    if wanted(message):
                        return message
                self._arrived.clear()
                await self._arrived.wait()

    async def end(self, id: int) -> dict[str, Any]:
        """How a command ended."""
        return await self.wait(
            lambda message: message.get("id") == id and message["kind"] in ("result", "end", "error")
        )

    async def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a command and wait for its end."""
        return await self.end(self.command(kind, **fields))

    def items(self, id: int) -> list[Any]:
        """The items of a stream so far."""
        return [
            item
            for message in self.messages
            if message["kind"] == "items" and message["id"] == id
            for item in message["items"]
        ]

    async def setup(self, modules: Mapping[str, str], **fields: Any) -> dict[str, Any]:
        """Set up with modules by name."""
        given = [{"url": f"http://127.0.0.1/{name}.py", "source": source} for name, source in modules.items()]
        options = {
            "protocol": PROTOCOL,
            "version": "0.1.0",
            "tools": [],
            "credentials": False,
            "store": "memory",
            "resume": True,
        }
        self.command("setup", **(options | {"modules": given} | fields))
        return await self.wait(lambda message: message["kind"] in ("ready", "error"))


class FakeInstaller:
    """A bundle with wheels of one module each, which it writes into a folder on the import path.

    `packages` are entries of its lock by name, `broken` are wire errors by name or address, `files` bytes by address.
    """

    def __init__(self, packages: Mapping[str, Any] | None = None, *, site: Path | None = None) -> None:
        self.packages = dict(packages or {})
        self.site = site
        self.broken: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.locks: list[str] = []
        self.installed: list[str] = []
        self.read_hashes: list[str] = []

    async def open(self) -> FakeInstaller:
        """What `Packages` is given to come by it."""
        return self

    async def lock(self, file: str) -> str:
        """The lock, under whatever name."""
        self.locks.append(file)
        return json.dumps(self.broken.get(file, {"packages": self.packages}))

    async def install(self, wheels: str) -> str:
        """Write the modules of those that are not broken."""
        failures = []
        for wheel in json.loads(wheels):
            if wheel["name"] in self.broken:
                failures.append({"name": wheel["name"], "error": self.broken[wheel["name"]]})
                continue
            self.installed.append(f"{wheel['name']} {wheel['url']} {wheel['to']}")
            for name in self.packages[wheel["name"]].get("has", self.packages[wheel["name"]]["imports"]):
                assert self.site is not None
                (self.site / f"{name}.py").write_text(f"NAME = {name!r}\n")
        return json.dumps(failures)

    async def read(self, url: str, sha256: str) -> Any:
        """The bytes of a file."""
        self.read_hashes.append(sha256)
        return json.dumps(self.broken[url]) if url in self.broken else _Buffer(self.files[url])


class _Buffer:
    def __init__(self, content: bytes) -> None:
        self._content = content

    def to_bytes(self) -> bytes:
        """As a buffer of JavaScript has it."""
        return self._content


async def _no_failure(pack: str) -> str:
    return ""
