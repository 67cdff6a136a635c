"""Firefox, driven by Puppeteer in a Node of its own."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.engines.engine import Engine, EngineError, Page

SCRIPT = Path(__file__).with_name("firefox.mjs")


class Firefox(Engine):
    """`path` is that of the browser, `puppeteer` the `node_modules` with puppeteer-core."""

    def __init__(self, path: str, *, puppeteer: str) -> None:
        self._node = subprocess.Popen(
            ["node", SCRIPT, puppeteer, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def open(self) -> Page:
        return _Tab(self, self.ask("open", None))

    def close(self) -> None:
        # The end of its input is its own.
        self._node.communicate(timeout=30)

    def ask(self, command: str, tab: int | None, *args: Any) -> Any:
        """Send one command and wait for its answer."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps({"command": command, "tab": tab, "args": args}) + "\n")
        self._node.stdin.flush()
        answer = json.loads(self._node.stdout.readline())
        if "error" in answer:
            raise EngineError(answer["error"])
        return answer["value"]


class _Tab(Page):
    def __init__(self, engine: Firefox, number: int) -> None:
        self._engine = engine
        self._number = number

    @property
    def complaints(self) -> list[str]:
        complaints: list[str] = self._engine.ask("complaints", self._number)
        return complaints

    def goto(self, url: str) -> None:
        self._engine.ask("goto", self._number, url)

    def run(self, expression: str) -> str:
        return str(self._engine.ask("run", self._number, expression))

    def screenshot(self, path: Path, *, width: int, height: int) -> None:
        self._engine.ask("screenshot", self._number, str(path), width, height)

    def close(self) -> None:
        self._engine.ask("close", self._number)
