"""Whom an observer tells, and that nothing else comes of it."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from langfx_web.errors import InvalidArgumentError, LangfxError
from langfx_web.observation import ObservedEvent, ObservedStepStart, Observer, ParentCall

AT = datetime(2026, 1, 1, tzinfo=UTC)
PARENT = ParentCall(session_id="ses_1", turn_id="msg_1", run_id="run_1", execution_id="exe_1")


def step(number: int) -> ObservedStepStart:
    return ObservedStepStart(at=AT, step=number)


def test_events_come_in_order_and_at_once() -> None:
    """A plain function has heard of an event when the run goes on."""
    heard: list[ObservedEvent] = []
    observer = Observer(heard.append)
    for number in range(3):
        observer.tell(step(number))
    assert heard == [step(0), step(1), step(2)]


async def test_an_async_function_is_not_waited_for() -> None:
    """It is called in order, each call in a task of its own that nobody waits for."""
    heard: list[ObservedEvent] = []
    gate = asyncio.Event()

    async def on_event(event: ObservedEvent) -> None:
        heard.append(event)
        await gate.wait()

    observer = Observer(on_event)
    for number in range(3):
        observer.tell(step(number))
    assert heard == []
    await asyncio.sleep(0)
    assert heard == [step(0), step(1), step(2)]
    gate.set()


class Own(BaseException):
    """Outside of all ordinary exceptions."""


@pytest.mark.parametrize("error", [ValueError("no"), asyncio.CancelledError(), SystemExit(3), Own()], ids=repr)
@pytest.mark.parametrize("is_async", [False, True])
async def test_what_on_event_raises_goes_to_on_error(error: BaseException, is_async: bool) -> None:
    """Raised or rejected, it is `on_error`'s alone, and the next event comes all the same."""
    errors: list[BaseException] = []
    heard: list[ObservedEvent] = []

    def plain(event: ObservedEvent) -> None:
        heard.append(event)
        raise error

    async def later(event: ObservedEvent) -> None:
        plain(event)

    observer = Observer(later if is_async else plain, errors.append)
    observer.tell(step(0))
    observer.tell(step(1))
    await asyncio.sleep(0.01)
    assert heard == [step(0), step(1)]
    assert errors == [error, error]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("on_error", [None, "plain", "async"])
async def test_nothing_goes_unhandled(is_async: bool, on_error: str | None, caplog: pytest.LogCaptureFixture) -> None:
    """Not without an `on_error`, and not where that raises too."""
    told: list[BaseException] = []

    def plain(what: Any) -> None:
        told.append(what)
        raise ValueError("no")

    async def later(what: Any) -> None:
        plain(what)

    on_errors: dict[str | None, Callable[[BaseException], Any] | None] = {None: None, "plain": plain, "async": later}
    observer = Observer(later if is_async else plain, on_errors[on_error])
    observer.tell(step(0))
    await asyncio.sleep(0.01)
    gc.collect()
    assert len(told) == (1 if on_error is None else 2)
    assert not caplog.records


async def test_a_function_that_never_ends_keeps_1024_events() -> None:
    """The others are left out, and each is told of; once it goes on, so do the events."""
    errors: list[BaseException] = []
    heard: list[ObservedEvent] = []
    gate = asyncio.Event()

    async def on_event(event: ObservedEvent) -> None:
        heard.append(event)
        await gate.wait()

    observer = Observer(on_event, errors.append)
    for number in range(1030):
        observer.tell(step(number))
    await asyncio.sleep(0)
    assert len(heard) == 1024
    assert [error.code for error in errors if isinstance(error, LangfxError)] == ["observer_behind"] * 6
    gate.set()
    await asyncio.sleep(0.01)
    observer.tell(step(2000))
    await asyncio.sleep(0)
    assert heard[-1] == step(2000)


async def test_the_end_of_the_program_cancels_what_is_unfinished() -> None:
    """A cancelled call of `on_event` is no error of it."""
    errors: list[BaseException] = []
    before = asyncio.all_tasks()
    observer = Observer(lambda event: asyncio.sleep(60), errors.append)
    observer.tell(step(0))
    (task,) = asyncio.all_tasks() - before
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert errors == []


def test_content_is_captured_only_when_asked() -> None:
    """By default there is no room for any."""
    assert Observer(print).content() is None
    assert Observer(print, capture_content=True).content() is not None


def test_a_child_tells_the_same_receiver_of_its_parent() -> None:
    """It captures what its parent does, and every event can say in which call it happened."""
    heard: list[ObservedEvent] = []
    child = Observer(heard.append, capture_content=True).child(PARENT)
    child.tell(step(0))
    assert (heard, child.parent) == ([step(0)], PARENT)
    assert child.content() is not None
    assert Observer(print).parent is None


def test_functions_are_checked() -> None:
    """What cannot be called is named before anything runs."""
    with pytest.raises(InvalidArgumentError, match="on_event must be a function") as raised:
        Observer("print")  # type: ignore[arg-type]  # that is the point
    assert raised.value.details == {"option": "on_event"}
    with pytest.raises(InvalidArgumentError, match="on_error must be a function"):
        Observer(print, "print")  # type: ignore[arg-type]  # that is the point


def test_an_observer_shows_no_functions() -> None:
    """Its text is short, and has nothing in it that belongs to the application."""
    assert repr(Observer(print, capture_content=True)) == "Observer(capture_content=True)"


def test_types_follow_from_class_names() -> None:
    """`ObservedModelFirstOutput` is `model.first_output`: the family, a dot, and the rest in snake case."""
    for kind in get_args(ObservedEvent):
        words = re.findall("[A-Z][a-z]+", kind.__name__.removeprefix("Observed"))
        assert kind.type == f"{words[0]}.{'_'.join(words[1:])}".lower()
    assert len(get_args(ObservedEvent)) == 15
