"""Keys: where they come from, how long they are kept, and that nobody sees them by accident."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any, TypeAlias

from langfx_web.clock import SYSTEM_CLOCK, Clock
from langfx_web.errors import CredentialsError, LangfxError

REFRESH_BEFORE = 60.0
"""Seconds before its end at which a credential is replaced."""

current_session_id: ContextVar[str | None] = ContextVar("langfx_session_id", default=None)
"""The session that a credential is asked for: set by who runs a turn, for its task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A key and what goes with it; `expires_at` in seconds since 1970."""

    api_key: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    expires_at: float | None = None


Loaded: TypeAlias = str | Credential | Mapping[str, Any]
Load: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[Loaded]]
KeySource: TypeAlias = "str | Credentials | Callable[[], Any] | None"
"""A key, something callable (it may be async) that is asked for each attempt, or None: no credential is sent."""


class Credentials:
    """A credential that is loaded when it is needed, kept in memory, and loaded anew when it expires or is rejected.

    `load({"provider", "session_id", "rejected"})` gives a key, or a mapping with `api_key`, `headers`, `expires_at`.
    Calls at the same time share one load. `lock` makes a context around a load, for sharing it beyond this interpreter.
    """

    def __init__(
        self,
        load: Load,
        *,
        provider: str | None = None,
        clock: Clock = SYSTEM_CLOCK,
        lock: Callable[[], AbstractAsyncContextManager[Any]] | None = None,
    ) -> None:
        self.provider = provider
        self._load = load
        self._clock = clock
        self._lock = lock or nullcontext
        self._current: Credential | None = None
        self._rejected = False
        self._loading: asyncio.Task[Credential | Exception] | None = None

    async def __call__(self) -> Credential:
        """A credential that is not about to expire; `CredentialsError` if none can be loaded."""
        if self._current is not None and not self._expires(self._current):
            return self._current
        if self._loading is None or self._loading.done():
            self._loading = asyncio.create_task(self._outcome())
        # Shielded: one caller's cancellation must not take the credential from the others.
        outcome = await asyncio.shield(self._loading)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def reject(self, credential: Credential) -> None:
        """The provider refused this credential: the next call loads another, and tells `load` why."""
        if self._current == credential:
            self._current = None
            self._rejected = True

    def _expires(self, credential: Credential) -> bool:
        end = credential.expires_at
        return end is not None and end - self._clock.now().timestamp() <= REFRESH_BEFORE

    async def _outcome(self) -> Credential | Exception:
        """The credential or the error, as a value: a task that fails before it is awaited is reported as unhandled."""
        asked = {"provider": self.provider, "session_id": current_session_id.get(), "rejected": self._rejected}
        try:
            async with self._lock():
                self._current = as_credential(await _given(self._load(asked)))
        except LangfxError as error:
            return error
        except Exception as error:  # noqa: BLE001  # whatever the loader raises becomes the error of the call
            failed = _failed(error)
            failed.__cause__ = error
            return failed
        self._rejected = False
        return self._current

    def __repr__(self) -> str:
        return f"Credentials(provider={self.provider!r})"


async def resolve(source: KeySource) -> Credential | None:
    """The credential of a source, asked for now."""
    if source is None:
        return None
    try:
        loaded = await _given(source()) if callable(source) else source
    except LangfxError:
        raise
    except Exception as error:
        raise _failed(error) from error
    return None if loaded is None else as_credential(loaded)


async def _given(loaded: Any) -> Any:
    return await loaded if isawaitable(loaded) else loaded


def _failed(error: Exception) -> CredentialsError:
    """Its text stays out: it is somebody else's, and may hold the key."""
    return CredentialsError(f"no credential could be loaded: {type(error).__name__}")


def as_credential(loaded: Any) -> Credential:
    """A credential from any of its forms; blanks around a key are removed."""
    if isinstance(loaded, Credential):
        return loaded
    fields: dict[str, Any] = {"api_key": loaded} if isinstance(loaded, str) else {}
    if isinstance(loaded, Mapping):
        fields = {name: loaded[name] for name in ("api_key", "headers", "expires_at") if loaded.get(name) is not None}
    key = fields.get("api_key")
    if not isinstance(key, str) or not key.strip():
        raise CredentialsError(f"a credential must be a key or have an api_key, and {type(loaded).__name__} has none")
    headers = fields.get("headers", {})
    if not isinstance(headers, Mapping) or not all(isinstance(text, str) for pair in headers.items() for text in pair):
        raise CredentialsError("the headers of a credential must be a mapping of str to str")
    if not isinstance(fields.get("expires_at", 0), (int, float)):
        raise CredentialsError("expires_at of a credential must be seconds since 1970")
    return Credential(**{**fields, "api_key": key.strip()})
