"""What the tests of engines ask of a browser, whatever drives it."""

import json
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self


class EngineError(Exception):
    """A script of a test failed in the page."""


class Page(ABC):
    """One tab. `evaluate` and `wait_for_function` are called as those of a Playwright page, so that `Tab` may use it.

    `complaints` is all that the console said in red or yellow, and every uncaught error.
    """

    @property
    @abstractmethod
    def complaints(self) -> list[str]: ...

    @abstractmethod
    def goto(self, url: str) -> None: ...

    @abstractmethod
    def run(self, expression: str) -> str:
        """The text that an expression's promise resolves to; raises `EngineError` if it rejects."""

    @abstractmethod
    def screenshot(self, path: Path, *, width: int, height: int) -> None:
        """Write what a viewport of this size shows as PNG."""

    @abstractmethod
    def close(self) -> None: ...

    def evaluate(self, function: str, argument: Any = None) -> Any:
        """What a JavaScript function returns, awaited, as JSON; nothing is None."""
        text = f"JSON.stringify((await ({function})({json.dumps(argument)})) ?? null)"
        return json.loads(self.run(f"(async () => {text})()"))

    def wait_for_function(self, function: str, arg: Any = None, timeout: float = 60) -> None:
        """Wait until a JavaScript function returns something true; raises `TimeoutError` after `timeout` seconds."""
        end = time.monotonic() + timeout
        while not self.evaluate(f"async (argument) => Boolean(await ({function})(argument))", arg):
            if time.monotonic() > end:
                raise TimeoutError(f"not true within {timeout:.0f} s: {function}")
            time.sleep(0.05)


class Engine(ABC):
    """A running browser, from the start of `with` to its end."""

    @abstractmethod
    def open(self) -> Page:
        """A new, empty tab."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
