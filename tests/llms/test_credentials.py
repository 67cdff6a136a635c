"""Where keys come from and how long they are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from langfx_web.errors import CredentialsError
from langfx_web.llms import Credential, Credentials
from langfx_web.llms.credentials import current_session_id, resolve
from langfx_web.testing.time import ManualClock


class Loader:
    """Gives one credential after another and remembers what it was asked."""

    def __init__(self, *loaded: Any) -> None:
        self.loaded = list(loaded)
        self.asked: list[Mapping[str, Any]] = []

    async def __call__(self, asked: Mapping[str, Any]) -> Any:
        self.asked.append(asked)
        await asyncio.sleep(0)
        loaded = self.loaded.pop(0)
        if isinstance(loaded, Exception):
            raise loaded
        return loaded


async def test_every_kind_of_source_gives_a_credential() -> None:
    """A str, a function, an async function and nothing are all sources; blanks around a key are no part of it."""

    async def later() -> dict[str, Any]:
        return {"api_key": "c", "headers": {"x": "y"}}

    assert await resolve(None) is None
    assert await resolve(" a\n") == Credential(api_key="a")
    assert await resolve(lambda: "b") == Credential(api_key="b")
    assert await resolve(later) == Credential(api_key="c", headers={"x": "y"})
    assert await resolve(lambda: None) is None


@pytest.mark.parametrize("loaded", ["", "  ", {}, {"api_key": 5}, 5])
async def test_what_has_no_key_is_refused_without_showing_it(loaded: Any) -> None:
    """A source that gives no usable key is named by the kind of what it gave."""
    with pytest.raises(CredentialsError, match=type(loaded).__name__):
        await resolve(lambda: loaded)


@pytest.mark.parametrize(
    "fields",
    [{"headers": 7}, {"headers": {"x": 7}}, {"headers": {7: "x"}}, {"headers": ["x"]}, {"expires_at": "soon"}],
)
async def test_what_goes_with_a_key_has_its_kind(fields: dict[str, Any]) -> None:
    """Headers are texts and an end is a number; the error shows neither."""
    with pytest.raises(CredentialsError, match=next(iter(fields))):
        await resolve(lambda: {"api_key": "k", **fields})


async def test_a_source_that_fails_fails_the_call() -> None:
    """Its own error is the cause, and its text, which may hold a key, is not in ours."""

    def fails() -> str:
        raise KeyError("secret")

    with pytest.raises(CredentialsError) as caught:
        await resolve(fails)
    assert "secret" not in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)


async def test_a_plain_function_can_load() -> None:
    """What it gives need not be awaited."""
    assert await Credentials(lambda asked: "k")() == Credential(api_key="k")  # type: ignore[arg-type,return-value]


def test_a_credential_hides_itself() -> None:
    """Neither key nor headers are in the representation."""
    credential = Credential(api_key="secret", headers={"x": "secret"}, expires_at=5)
    assert repr(credential) == "Credential(expires_at=5)"
    assert repr(Credentials(Loader("secret"), provider="p")) == "Credentials(provider='p')"


async def test_a_credential_is_kept_until_shortly_before_its_end() -> None:
    """A loaded key is used again until a minute before it expires."""
    clock = ManualClock()
    end = clock.now().timestamp() + 100
    loader = Loader({"api_key": "one", "expires_at": end}, {"api_key": "two"})
    credentials = Credentials(loader, clock=clock)
    assert [(await credentials()).api_key for _ in range(2)] == ["one", "one"]
    await clock.advance(39)
    assert (await credentials()).api_key == "one"
    await clock.advance(2)
    assert (await credentials()).api_key == "two"
    await clock.advance(1e9)
    assert (await credentials()).api_key == "two"


async def test_a_rejected_credential_is_loaded_anew_once() -> None:
    """After a rejection the loader is told so; a rejection of an older credential changes nothing."""
    loader = Loader("one", "two", "three")
    credentials = Credentials(loader, provider="p")
    first = await credentials()
    credentials.reject(first)
    second = await credentials()
    credentials.reject(first)
    assert await credentials() == second == Credential(api_key="two")
    assert [asked["rejected"] for asked in loader.asked] == [False, True]
    credentials.reject(second)
    assert (await credentials()).api_key == "three"


async def test_the_loader_is_told_for_whom() -> None:
    """Provider and session are part of the question; the session is the one of the asking task."""
    loader = Loader("one")
    token = current_session_id.set("s1")
    await Credentials(loader, provider="p")()
    current_session_id.reset(token)
    assert loader.asked == [{"provider": "p", "session_id": "s1", "rejected": False}]


async def test_calls_at_the_same_time_share_one_load() -> None:
    """Many requests at once ask for one key, and one that is cancelled takes it from nobody."""
    loader = Loader("one")
    credentials = Credentials(loader)
    tasks = [asyncio.create_task(credentials()) for _ in range(5)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[0], asyncio.CancelledError)
    assert results[1:] == [Credential(api_key="one")] * 4
    assert len(loader.asked) == 1


async def test_a_failing_loader_fails_the_call_and_is_asked_again_later() -> None:
    """Whatever the loader raises is `CredentialsError` without its text; the next call tries anew."""
    credentials = Credentials(Loader(ValueError("secret in here"), CredentialsError("none"), "one"))
    with pytest.raises(CredentialsError, match="ValueError") as raised:
        await credentials()
    assert "secret" not in str(raised.value)
    with pytest.raises(CredentialsError, match="none"):
        await credentials()
    assert (await credentials()).api_key == "one"


async def test_a_lock_is_held_during_a_load_only() -> None:
    """A lock that is handed in surrounds each load, so that one can be shared further than this interpreter."""
    steps: list[str] = []

    @asynccontextmanager
    async def lock() -> Any:
        steps.append("locked")
        yield
        steps.append("unlocked")

    class Noting(Loader):
        async def __call__(self, asked: Mapping[str, Any]) -> Any:
            steps.append("loading")
            return await super().__call__(asked)

    credentials = Credentials(Noting("one"), lock=lock)
    await credentials()
    await credentials()
    assert steps == ["locked", "loading", "unlocked"]
