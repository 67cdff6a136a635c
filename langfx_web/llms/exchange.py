"""One attempt over HTTP: send, decode what comes; rejected keys, rejected thoughts and refusals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from langfx_web.clock import Clock
from langfx_web.errors import (
    InvalidArgumentError,
    LMError,
    LMInputError,
    LMProtocolError,
    NotPortableError,
    TransportError,
)
from langfx_web.llms.classify import from_transport, read_error_body, read_failure, to_error, told
from langfx_web.llms.credentials import Credential, Credentials, KeySource, resolve
from langfx_web.llms.delta import Delta, Info, Resent
from langfx_web.llms.framing import DONE, Framing
from langfx_web.llms.request import THOUGHTS_DROPPED, ModelRequest
from langfx_web.llms.retry import server_wait
from langfx_web.transport import Request, Response, Send, Transport
from langfx_web.transport.base import sender
from langfx_web.transport.timeouts import Watch, send_timed

MAX_ERROR_BYTES = 64 * 1024
END_WAIT = 1.0
"""Seconds that a server gets to close a stream whose last event has come."""

_THOUGHTS_REJECTED = re.compile(
    r"bound to a different conversation|invalid `?signature`?|encrypted_content.*(?:verif|decrypt|valid)", re.IGNORECASE
)


class Decoder(Protocol):
    """Reads one wire's JSON values into deltas; pure, one per answer."""

    finished: bool
    """Whether the wire's own sign of the end has come."""

    def event(self, event: Mapping[str, Any]) -> Iterable[Delta]:
        """One event of a stream."""

    def document(self, document: Mapping[str, Any]) -> Iterable[Delta]:
        """A whole answer in one document."""

    def done(self) -> Iterable[Delta]:
        """The text `[DONE]`."""

    def end(self) -> Iterable[Delta]:
        """The body has ended."""


class Access(Protocol):
    """How a server is reached: where, with whose key, and how long it may take."""

    @property
    def host(self) -> str: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def transport(self) -> Transport | Send: ...
    @property
    def api_key(self) -> KeySource: ...
    @property
    def connect_timeout(self) -> float | None: ...
    @property
    def idle_timeout(self) -> float | None: ...


class Endpoint(Access, Protocol):
    """What an exchange needs of the model it is for."""

    def build(self, request: ModelRequest, credential: Credential | None) -> Request:
        """The request as it is sent."""

    def decoder(self) -> Decoder:
        """A reader for one answer."""

    def tell_sending(self, request: ModelRequest) -> None:
        """The request is about to be sent once more."""


class HTTPExchange:
    """One attempt: iterates lists of deltas, one list per network chunk that brought any."""

    def __init__(self, model: Endpoint, request: ModelRequest) -> None:
        self._model = model
        self._request = request
        self._framing = Framing()
        self._decoder = model.decoder()
        self._credential: Credential | None = None
        self._rejected: Credential | None = None
        self._response: Response | None = None
        self._resent_with_key = False
        self._first: list[Delta] = []
        self._failure: LMError | None = None
        self._over = False

    def __aiter__(self) -> HTTPExchange:
        return self

    async def __anext__(self) -> list[Delta]:
        try:
            if self._response is None:
                self._response = await self._open()
            while True:
                if self._failure is not None:
                    failure, self._failure = self._failure, None
                    raise failure
                if self._over:
                    raise StopAsyncIteration
                deltas = await self._read(self._response)
                if deltas:
                    return deltas
        except TransportError as error:
            raise self._known(from_transport(error)) from error
        except LMError as error:
            self._known(error)
            raise

    async def _read(self, response: Response) -> list[Delta]:
        """The deltas of one network chunk; a failure behind some of them waits for the next call."""
        deltas, self._first = self._first, []
        try:
            if self._decoder.finished:
                await self._await_end(response)
                raise StopAsyncIteration
            chunk = await response.__anext__()
        except StopAsyncIteration:
            self._over = True
            if not self._decoder.finished:
                self._decode(self._framing.close(), deltas)
            if self._failure is None:
                self._decode_end(deltas)
        else:
            self._decode(self._framing.feed(chunk), deltas)
        if self._failure is not None:
            self.abort()
        return deltas

    def _decode(self, values: Iterable[Any], deltas: list[Delta]) -> None:
        document = self._framing.kind == "document"
        try:
            for value in values:
                if value is DONE:
                    deltas.extend(self._decoder.done())
                elif isinstance(value, dict):
                    if "error" in value or value.get("type") == "error":
                        self._refuse_failure(value)
                    deltas.extend(self._decoder.document(value) if document else self._decoder.event(value))
        except LMError as error:
            self._failure = error
        except Exception as error:  # noqa: BLE001  # any fault in reading foreign data is the provider's protocol error
            self._failure = _undecodable(error)

    def _decode_end(self, deltas: list[Delta]) -> None:
        try:
            deltas.extend(self._decoder.end())
        except LMError as error:
            self._failure = error
        except Exception as error:  # noqa: BLE001  # as above
            self._failure = _undecodable(error)

    def _refuse_failure(self, value: dict[str, Any]) -> None:
        failure = read_failure(value)
        if failure is not None:
            raise to_error(failure, status=None, sentence=f"{self._model.host} ended its answer with an error")

    async def _await_end(self, response: Response) -> None:
        """Let the server close the stream, so that its connection can be used again; it need not."""
        watch = Watch(self._model.clock)
        try:
            with watch.limit(END_WAIT, lambda: TransportError("not closed", code="idle_timeout")):
                async for _ in response:
                    pass
        except TransportError:
            response.abort()
        finally:
            watch.close()

    async def _open(self) -> Response:
        """Send until the answer is no refusal; one more time for a new key, and for a conversation without thoughts."""
        self._credential = await resolve(self._model.api_key)
        while True:
            response = await self._send()
            request_id = response.headers.get("request-id") or response.headers.get("x-request-id")
            if request_id:
                self._first.append(Info(metadata={"request_id": request_id}))
            if 200 <= response.status < 300:
                return response
            error = await self._refusal(response)
            error.request_id = error.request_id or request_id
            if not (await self._has_new_key(error) or self._drops_thoughts(error)):
                raise error
            self._model.tell_sending(self._request)
            self._first.append(Resent())

    async def _send(self) -> Response:
        model = self._model
        try:
            request = model.build(self._request, self._credential)
        except (InvalidArgumentError, NotPortableError) as error:
            raise LMInputError(f"the request cannot be written: {error.message}") from error
        return await send_timed(
            sender(model.transport),
            request,
            connect_timeout=model.connect_timeout,
            idle_timeout=model.idle_timeout,
            clock=model.clock,
        )

    async def _refusal(self, response: Response) -> LMError:
        try:
            body = await response.read(MAX_ERROR_BYTES)
        except TransportError:
            body = b""
        failure = read_error_body(body)
        error = to_error(failure, status=response.status, sentence=f"{self._model.host} answered {response.status}")
        error.retry_after = server_wait(response.headers, failure.body, self._model.clock.now())
        advice = response.headers.get("x-should-retry")
        if advice in ("true", "false"):
            error.retryable = advice == "true"
        return error

    async def _has_new_key(self, error: LMError) -> bool:
        """After the first 401: whether a source of keys now has another one."""
        source, old = self._model.api_key, self._credential
        if error.status != 401 or old is None or not callable(source) or self._resent_with_key:
            return False
        if isinstance(source, Credentials):
            source.reject(old)
        self._credential, self._rejected = await resolve(source) or old, old
        self._resent_with_key = True
        return self._credential.api_key != old.api_key

    def _drops_thoughts(self, error: LMError) -> bool:
        """After a 400 about thoughts, once: send the conversation so that the provider may leave them out."""
        if error.status != 400 or self._request.drop_thoughts or not _THOUGHTS_REJECTED.search(error.message):
            return False
        self._request = replace(self._request, drop_thoughts=True)
        self._first.append(Info(metadata={THOUGHTS_DROPPED: True}))
        return True

    def _known(self, error: LMError) -> LMError:
        """The error with no key in it."""
        used = [credential for credential in (self._credential, self._rejected) if credential is not None]
        secrets = [secret for credential in used for secret in (credential.api_key, *credential.headers.values())]
        error.args = (told(error.message, secrets),)
        for name in ("refusal", "provider_code", "request_id"):
            if text := getattr(error, name):
                setattr(error, name, told(text, secrets))
        return error

    def abort(self) -> None:
        """Give the exchange up, at once."""
        if self._response is not None:
            self._response.abort()


def _undecodable(error: Exception) -> LMProtocolError:
    protocol = LMProtocolError(f"the answer cannot be read: {type(error).__name__}: {error}")
    protocol.__cause__ = error
    return protocol
