"""`page_credential`: a model's key from the page's `credentials` callback, kept in memory only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from langfx_web.errors import CredentialsError
from langfx_web.llms import Credentials

AskPage = Callable[[str, str | None, bool], Awaitable[Any]]

ask_page: ContextVar[AskPage | None] = ContextVar("langfx_ask_page", default=None)
"""How to ask the page of the running command: `(provider, session id, whether the last key was rejected)`."""


def page_credential(provider: str) -> Credentials:
    """A resolver for a model's `api_key` that asks the page's `credentials` callback; outside a page it fails.

    The page answers with a key, or `{apiKey, headers, expiresAt}` with the time as a `Date` or in milliseconds.
    """

    async def load(asked: Mapping[str, Any]) -> Mapping[str, Any] | str:
        ask = ask_page.get()
        if ask is None:
            raise CredentialsError(f"there is no page to ask for the {provider!r} key: connect with `credentials`")
        return _read(await ask(provider, asked["session_id"], asked["rejected"]))

    return Credentials(load, provider=provider)


def _read(answer: Any) -> Mapping[str, Any] | str:
    if not isinstance(answer, Mapping):
        return str(answer)
    expires = answer.get("expiresAt")
    if isinstance(expires, str):
        expires = datetime.fromisoformat(expires).timestamp()
    elif expires is not None:
        expires = expires / 1000
    return {"api_key": answer.get("apiKey"), "headers": answer.get("headers"), "expires_at": expires}
