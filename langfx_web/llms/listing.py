"""Which models a provider has: one page after another, asked for like answers, with the same keys, errors and waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from langfx_web.errors import LMProtocolError
from langfx_web.llms.credentials import Credential
from langfx_web.llms.delta import Delta, Finish
from langfx_web.llms.exchange import Access
from langfx_web.llms.request import ModelRequest
from langfx_web.transport import Request

MAX_PAGES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """What a provider tells of one model; what it does not tell is None. Sizes in tokens.

    `capabilities` are what is known of them, in the form that a model's `capabilities=` takes. `raw` is the entry
    as it was sent.
    """

    id: str
    name: str | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    capabilities: Mapping[str, Any] | None = None
    created: datetime | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPage:
    """Some models, and what the request for the next ones adds to its query; None after the last."""

    models: Sequence[ModelInfo]
    following: Mapping[str, str] | None = None


class Lister(Access, Protocol):
    """What a page needs of the model that asks for it."""

    def listing(self, query: Mapping[str, str], credential: Credential | None) -> Request:
        """The request for a page."""


class PageEndpoint:
    """One page as something to exchange, and the reader of its body; what was read is in `page`."""

    def __init__(self, model: Lister, query: Mapping[str, str], read: Callable[[Mapping[str, Any]], ModelPage]) -> None:
        self.host = model.host
        self.clock = model.clock
        self.transport = model.transport
        self.api_key = model.api_key
        self.connect_timeout = model.connect_timeout
        self.idle_timeout = model.idle_timeout
        self.finished = False
        self.page: ModelPage | None = None
        self._listed: list[Any] = []
        self._model = model
        self._query = query
        self._read = read

    def build(self, request: ModelRequest, credential: Credential | None) -> Request:
        """The request for the page; nothing is asked of a model."""
        return self._model.listing(self._query, credential)

    def tell_sending(self, request: ModelRequest) -> None:
        """Nothing is asked of a model, so nobody counts it."""

    def decoder(self) -> PageEndpoint:
        """A reader for the body, empty again for each attempt."""
        self.page, self._listed = None, []
        return self

    def document(self, document: Mapping[str, Any]) -> Iterable[Delta]:
        """The page."""
        self.page = self._read(document)
        return ()

    def event(self, event: Mapping[str, Any]) -> Iterable[Delta]:
        """One model of a page that is a bare list."""
        self._listed.append(event)
        return ()

    def done(self) -> Iterable[Delta]:
        """Nothing: a page is no stream."""
        return ()

    def end(self) -> Iterable[Delta]:
        """An answer of something, as the page is not empty."""
        if self.page is None:
            self.page = self._read({"data": self._listed or None})
        return (".", Finish(reason="stop"))


def read_openai_models(page: Mapping[str, Any]) -> ModelPage:
    """The models of `GET /models` as OpenAI and the servers compatible with it have them."""
    return ModelPage(models=[_openai_model(entry) for entry in entries(page, "data", "id")])


def entries(page: Mapping[str, Any], field: str, id: str) -> list[Mapping[str, Any]]:
    """The models in a field of a page, those without an `id` left out; a page that has no such field is `protocol`."""
    listed = page.get(field)
    if not isinstance(listed, list):
        raise LMProtocolError(f"the answer is no list of models: it has no {field}")
    return [entry for entry in listed if isinstance(entry, Mapping) and word(entry.get(id))]


def _openai_model(entry: Mapping[str, Any]) -> ModelInfo:
    served = within(entry, "top_provider")
    windows = ("context_length", "context_window", "max_model_len", "max_context_length")
    return ModelInfo(
        id=entry["id"],
        name=word(entry.get("name")) or word(entry.get("display_name")),
        context_window=size(entry.get(name) for name in windows),
        max_output_tokens=size([served.get("max_completion_tokens"), entry.get("max_completion_tokens")]),
        capabilities=_openai_capabilities(entry),
        created=moment(entry.get("created")),
        raw=entry,
    )


def _openai_capabilities(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    known: dict[str, Any] = {}
    inputs = within(entry, "architecture").get("input_modalities")
    if isinstance(inputs, list):
        kinds = {"images": "image", "pdf": "file", "audio": "audio", "video": "video"}
        known |= {name: kind in inputs for name, kind in kinds.items()}
    abilities = within(entry, "capabilities")
    named = {"images": "vision", "tools": "function_calling"}
    known |= {name: bool(abilities[word]) for name, word in named.items() if word in abilities}
    return known or None


def within(entry: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    """The object in a field, empty where there is none."""
    found = entry.get(field)
    return found if isinstance(found, Mapping) else {}


def word(value: Any) -> str | None:
    """A text that says something."""
    return value if isinstance(value, str) and value else None


def size(candidates: Iterable[Any]) -> int | None:
    """The first that is a number of tokens."""
    return next((value for value in candidates if type(value) is int and value > 0), None)


def moment(value: Any) -> datetime | None:
    """A time as seconds since 1970 or in ISO 8601."""
    try:
        if isinstance(value, str):
            told = datetime.fromisoformat(value)
            return told if told.tzinfo else told.replace(tzinfo=UTC)
        return datetime.fromtimestamp(value, UTC) if isinstance(value, (int, float)) and value > 0 else None
    except (ValueError, OverflowError, OSError):
        return None
