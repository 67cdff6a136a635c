"""Chat Completions answers → deltas. Wire format: chunks of `POST /chat/completions`, or one document.

Any field may be null or missing. One tolerant reader serves OpenAI and every compatible server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langfx_web.errors import LMProtocolError
from langfx_web.llms.delta import Delta, Finish, Info, UsageReport
from langfx_web.llms.openai_chat.choice import Choice
from langfx_web.usage import Usage


class ChatDecoder:
    """Reads one answer. `host` and `model` are noted in the payloads of thoughts."""

    def __init__(self, *, host: str, model: str, think_tags: bool = False) -> None:
        self.finished = False
        self._origin = {"v": 1, "host": host, "model": model}
        self._think_tags = think_tags
        self._choices: dict[int, Choice] = {}
        self._id: str | None = None
        self._model: str | None = None
        self._citations: Any = None
        self._closed = False

    def event(self, event: Mapping[str, Any]) -> Iterable[Delta]:
        """The deltas of one chunk."""
        deltas: list[Delta] = []
        if self._id is None or self._model is None:
            self._learn(event, deltas)
        for wire in event.get("choices") or ():
            self._choice(wire.get("index") or 0).read(wire, deltas)
        usage = event.get("usage") or (event.get("x_groq") or {}).get("usage")
        if usage:
            deltas.append(UsageReport(usage=_usage(usage)))
        if event.get("citations"):
            self._citations = event["citations"]
        return deltas

    def document(self, document: Mapping[str, Any]) -> Iterable[Delta]:
        """The deltas of a whole completion."""
        if not isinstance(document.get("choices"), list):
            raise LMProtocolError("the answer is a JSON document, but no chat completion: it has no choices")
        return [*self.event(document), *self.done()]

    def done(self) -> Iterable[Delta]:
        """The server has said that its answer is complete; choices without a word for it ended well."""
        self.finished = True
        return self.end()

    def end(self) -> Iterable[Delta]:
        """The end of the choices, once; without `[DONE]` of those that have a finish reason."""
        deltas: list[Delta] = []
        if not self._closed:
            self._closed = True
            if self._citations:
                deltas.append(Info(metadata={"citations": list(self._citations)}))
            for choice in self._choices.values():
                choice.close(deltas, complete=self.finished)
            if self.finished and not self._choices:
                deltas.append(Finish(reason="stop"))
        return deltas

    def _learn(self, event: Mapping[str, Any], deltas: list[Delta]) -> None:
        """The first id and the first model that are not empty."""
        id = event.get("id") if self._id is None else None
        model = event.get("model") if self._model is None else None
        if id or model:
            self._id, self._model = self._id or id or None, self._model or model or None
            deltas.append(Info(response_id=id or None, model=model or None))

    def _choice(self, index: int) -> Choice:
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = Choice(index, origin=self._origin, think_tags=self._think_tags)
        return choice


def _usage(wire: Mapping[str, Any]) -> Usage:
    read = (wire.get("prompt_tokens_details") or {}).get("cached_tokens")
    return Usage(
        input_tokens=wire.get("prompt_tokens"),
        output_tokens=wire.get("completion_tokens"),
        total_tokens=wire.get("total_tokens"),
        cached_input_tokens=wire.get("prompt_cache_hit_tokens") if read is None else read,
        reasoning_tokens=(wire.get("completion_tokens_details") or {}).get("reasoning_tokens"),
        raw=dict(wire),
    )
