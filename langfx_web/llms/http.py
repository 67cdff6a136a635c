"""Models behind HTTP: a wire encodes and decodes, everything between is here and in `exchange`."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit, urlunsplit

from langfx_web.errors import InvalidArgumentError, LangfxError, LMInputError
from langfx_web.json_text import dumps, loads
from langfx_web.llms import kinds
from langfx_web.llms.base import LanguageModel
from langfx_web.llms.credentials import Credential, KeySource
from langfx_web.llms.exchange import Decoder, HTTPExchange
from langfx_web.llms.listing import MAX_PAGES, ModelInfo, ModelPage, PageEndpoint, read_openai_models
from langfx_web.llms.media import shown
from langfx_web.llms.request import ModelRequest
from langfx_web.llms.surrogates import whole
from langfx_web.messages import Modality
from langfx_web.transport import Request, Send, Transport, default_transport
from langfx_web.transport.timeouts import seconds

MEANINGFUL_HEADERS = ("anthropic-beta", "anthropic-version", "openai-organization", "openai-project")
"""Headers that change what a request means, or on whose behalf it is made."""

SERVICE_TIERS: Mapping[str, Mapping[str, Any]] = {
    "fast": {"service_tier": "priority"},
    "ultrafast": {"service_tier": "ultrafast"},
}
"""The lanes of the wires that call them service tiers."""


_HOST = re.compile(r"[^\s/?#@\\%]+")


class HTTPLanguageModel(LanguageModel):
    """A model that is one HTTP request away; a wire supplies `_encode`, `_decoder` and `_key_headers`.

    `base_url` is the version root; a query in it is kept. `headers` are added last. `api_key` is a str, or a callable
    that is asked for each attempt; None sends none. `stream_wire=False` asks the server for a whole document.
    """

    SETTINGS = LanguageModel.SETTINGS | {
        "allow_insecure",
        "api_key",
        "base_url",
        "connect_timeout",
        "headers",
        "idle_timeout",
        "stream_wire",
        "transport",
    }

    media: ClassVar[frozenset[str]] = frozenset()
    """The kinds of parts beside text that the wire has a form for."""

    schemes: ClassVar[tuple[str, ...]] = ("http", "https")
    """Where parts may be that are not sent but named."""

    api_key: KeySource
    base_url: str
    headers: Mapping[str, str]
    transport: Transport | Send
    connect_timeout: float | None
    idle_timeout: float | None
    allow_insecure: bool
    stream_wire: bool

    def __init__(
        self,
        model: str = "",
        *,
        base_url: str,
        api_key: KeySource = None,
        transport: Transport | Send | None = None,
        headers: Mapping[str, str] | None = None,
        connect_timeout: float | None = 120.0,
        idle_timeout: float | None = 300.0,
        allow_insecure: bool = False,
        stream_wire: bool = True,
        **settings: Any,
    ) -> None:
        super().__init__(model, **settings)
        self._set(
            base_url=base_url,
            api_key=api_key,
            transport=transport,
            headers=headers,
            connect_timeout=connect_timeout,
            idle_timeout=idle_timeout,
            allow_insecure=allow_insecure,
            stream_wire=stream_wire,
        )

    def _checked(self, name: str, value: Any) -> Any:
        match name:
            case "base_url":
                return _checked_url(value)
            case "headers":
                return {} if value is None else kinds.headers(name, value)
            case "transport":
                return default_transport() if value is None else _checked_transport(value)
            case "connect_timeout" | "idle_timeout":
                return seconds(value, name)
            case "allow_insecure" | "stream_wire":
                return kinds.flag(name, value)
        return super()._checked(name, value)

    @property
    def host(self) -> str:
        """Host and port of the API; what a thought's payload is tied to."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2].lower()

    def url(self, path: str, query: Mapping[str, str] | None = None) -> str:
        """The address of a path below the version root, with more of a query."""
        parts = urlsplit(self.base_url)
        queries = [parts.query, urlencode(query or {})]
        return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path, query="&".join(filter(None, queries))))

    @abstractmethod
    def _encode(self, request: ModelRequest) -> Request:
        """The wire's request, but for credentials; raises `LMInputError` for what it cannot say."""

    @abstractmethod
    def _decoder(self) -> Decoder:
        """A reader for one answer."""

    @abstractmethod
    def _key_headers(self, key: str) -> Mapping[str, str]:
        """The headers that carry a key."""

    def _headers(self) -> dict[str, str]:
        """The wire's headers beside those of the body and the key."""
        return {}

    def _page_query(self) -> Mapping[str, str]:
        """What asks for many models at once."""
        return {}

    def _read_page(self, page: Mapping[str, Any]) -> ModelPage:
        """The models of one page of the wire's list."""
        return read_openai_models(page)

    async def list_models(self) -> list[ModelInfo]:
        """What the provider has of models, as far as it tells: up to 20 pages, with the errors and waits of a call."""
        models: list[ModelInfo] = []
        following: Mapping[str, str] | None = {}
        for _ in range(MAX_PAGES):
            endpoint = PageEndpoint(self, {**self._page_query(), **(following or {})}, self._read_page)
            await self._attempted(partial(HTTPExchange, endpoint, ModelRequest(messages=())), bytes).finals()
            if endpoint.page is None:
                break
            models += endpoint.page.models
            if endpoint.page.following in (None, following):
                break
            following = endpoint.page.following
        return models

    def listing(self, query: Mapping[str, str], credential: Credential | None) -> Request:
        """The request for a page of models."""
        request = Request(method="GET", url=self.url("/models", query), headers=self._headers())
        return self._complete(request, credential)

    def _lacks(self, part: Modality) -> str | None:
        if part.type not in self.media:
            return part.type
        scheme = part.uri.partition(":")[0].lower() if part.uri is not None else None
        if scheme is not None and scheme not in self.schemes:
            return f"{scheme}: addresses"
        return super()._lacks(part)

    def _stream(self, request: ModelRequest) -> HTTPExchange:
        if not self.model:
            raise LMInputError("a model without a name can only list others")
        return HTTPExchange(self, request)

    def _seed(self, request: ModelRequest) -> bytes:
        return self._written(shown(request, self._lacks)).body or b""

    def cache_scope(self) -> Sequence[str]:
        """Wire, address without its query, model, and those headers that change what they mean."""
        address = urlunsplit(urlsplit(self.base_url)._replace(query="", fragment=""))
        headers = (f"{name}: {self.headers[name]}" for name in MEANINGFUL_HEADERS if name in self.headers)
        return (self.provider, address, self.model, *headers)

    def _plain(self, request: ModelRequest) -> Any:
        return loads(self._written(request).body or b"null")

    def build(self, request: ModelRequest, credential: Credential | None) -> Request:
        """The request as it is sent."""
        return self._complete(self._written(request), credential)

    def _written(self, request: ModelRequest) -> Request:
        """The wire's request; `invalid_request` where a schema, a tool or a kept thought is malformed inside."""
        try:
            return self._encode(request)
        except LangfxError:
            raise
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            raise LMInputError(f"the request cannot be written: {type(error).__name__}: {error}") from error

    def _complete(self, request: Request, credential: Credential | None) -> Request:
        """A request with the key, and with the headers that the application adds."""
        headers = dict(request.headers)
        if credential is not None:
            headers |= self._key_headers(credential.api_key)
            headers |= {name.lower(): value for name, value in credential.headers.items()}
        return replace(request, headers=headers | dict(self.headers), allow_insecure=self.allow_insecure)

    def decoder(self) -> Decoder:
        """A reader for one answer of this model."""
        return self._decoder()


def _checked_transport(value: Any) -> Any:
    if not callable(value) and not callable(getattr(value, "send", None)):
        raise kinds.wrong("transport", "a Transport, an async callable or None", value)
    return value


def _checked_url(value: object) -> str:
    """The address as it is; it is not shown where it is refused, as it may have a password or a key in it."""
    url = kinds.text("base_url", value)
    if not _is_address(url):
        raise InvalidArgumentError("base_url must be an http(s) URL with a host", details={"option": "base_url"})
    if urlsplit(url).username is not None:
        raise InvalidArgumentError(
            "base_url has a user in it, which no browser sends: use api_key or headers", details={"option": "base_url"}
        )
    return url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(_HOST.fullmatch(parts.hostname or "")) and parts.port != 0
    except ValueError:  # of a port or a bracket that cannot be
        return False


def json_body(body: Mapping[str, Any]) -> bytes:
    """A request body: strict JSON in UTF-8."""
    return whole(dumps(body)).encode()
