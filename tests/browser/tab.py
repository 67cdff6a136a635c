"""A browser tab with the harness in it, driven from a test."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

from playwright.sync_api import ConsoleMessage, Page

from tests.browser.passes import chosen


class PageError(Exception):
    """What the page's promise was rejected with."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error.get('name')} {error.get('code')}: {error.get('message')}")
        self.code: str | None = error.get("code")
        self.message = str(error.get("message"))
        self.retryable = error.get("retryable")
        self.details: dict[str, Any] = error.get("details") or {}


@dataclass
class Console:
    """Everything a page says that a user would see in red or yellow, and everything else it says."""

    complaints: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        """Hear the page, its workers and its uncaught errors."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))

    def _said(self, message: ConsoleMessage) -> None:
        self.lines.append(message.text)
        if message.type in {"error", "warning", "assert"}:
            self.complaints.append(f"{message.type}: {message.text}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A turn as the page saw it: its events, each with the time `at` which it came, and its result."""

    events: list[dict[str, Any]]
    result: dict[str, Any]

    @property
    def text(self) -> str:
        return "".join(event["delta"] for event in self.events if event["type"] == "text_delta")

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """The events of one type."""
        return [event for event in self.events if event["type"] == kind]


class Tab:
    """One page with the harness loaded; methods raise `PageError` where the page's promise rejects.

    The tests of engines have pages of their own, which keep the complaints of their console themselves.
    """

    def __init__(self, page: Page, url: str, *, listen: bool = True) -> None:
        self.page = page
        self._options = chosen().options
        self.console = Console()
        if listen:
            self.console.listen(page)
        self._url = url
        self._named = 0

    def open(self) -> "Tab":
        """Load the harness."""
        self.page.goto(f"{self._url}tests/harness.html")
        self.page.wait_for_function("() => globalThis.harness")
        return self

    def connect(self, *modules: str, **options: Any) -> str:
        """Connect with modules of `tests/browser/modules`, or other paths, and plain options; returns the version."""
        urls = [urljoin("/tests/modules/", name) for name in modules]
        return str(self.attempt("harness.connect(argument)", {"modules": urls, **self._options, **options}))

    def call(self, target: str, args: Any = None) -> Any:
        """Call a function of a module."""
        return self.attempt("harness.langfx.call(...argument)", [target, [] if args is None else args])

    def turn(self, prompt: Any, *, agent: str = "desk", session: str | None = None) -> Outcome:
        """Run a turn to its end, in a new conversation unless `session` names one."""
        return self.finish(self.start(prompt, agent=agent, session=session))

    def start(self, prompt: Any, *, agent: str = "desk", session: str | None = None) -> str:
        """Start a turn and return its name."""
        self._named += 1
        name = f"turn {self._named}"
        self.page.evaluate("turn => harness.start(...turn)", [name, agent, prompt, session or name])
        return name

    def finish(self, name: str) -> Outcome:
        """Wait for the end of a turn."""
        return Outcome(**_unwrapped(self.page.evaluate("name => harness.turns[name].outcome", name)))

    def wait_for_events(self, name: str, count: int) -> None:
        """Wait until a turn has so many events."""
        self.page.wait_for_function("([name, count]) => harness.turns[name].events.length >= count", arg=[name, count])

    def cancel(self, session: str) -> dict[str, Any]:
        """Cancel the open turn of a session; when that was asked for, and what came of it."""
        outcome: dict[str, Any] = self.page.evaluate("session => harness.cancel(session)", session)
        return outcome

    def wait_for_workers(self, count: int) -> None:
        """Wait until the browser has so many workers for this page; one that is busy may live on for two seconds."""
        for _ in range(120):
            if len(self.page.workers) == count:
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"there are {len(self.page.workers)} workers, not {count}")

    def attempt(self, expression: str, argument: Any = None) -> Any:
        """The value of a JavaScript expression, awaited, with `harness` and `argument` in scope."""
        return _unwrapped(self.page.evaluate(f"(argument) => harness.attempt(() => ({expression}))", argument))


def _unwrapped(answer: dict[str, Any]) -> Any:
    if "error" in answer:
        raise PageError(answer["error"])
    return answer["value"]
