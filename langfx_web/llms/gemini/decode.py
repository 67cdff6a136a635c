"""generateContent answers → deltas. Wire format: whole responses one after another, as events or in an array, or one.

There is no mark of the end: an answer has ended with its body, if a finish reason came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from langfx_web.errors import LMProtocolError
from langfx_web.llms.delta import Delta, Failure, Finish, FinishReason, Info, RefusalText, WireUsage
from langfx_web.llms.gemini.parts import Parts
from langfx_web.usage import Usage

_FILTERED = (
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
)
_MALFORMED = (
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
)
_UNFINISHED = ("OTHER", "LANGUAGE", "CONTINUATION", "NO_IMAGE", "IMAGE_OTHER")

_REASONS: dict[str, tuple[FinishReason, Failure | None]] = {
    "STOP": ("stop", None),
    "MAX_TOKENS": ("length", None),
    **dict.fromkeys(_FILTERED, ("content_filter", None)),
    **dict.fromkeys(_MALFORMED, ("malformed", None)),
    **dict.fromkeys(_UNFINISHED, ("other", "unfinished")),
}

_PIECE = frozenset({"content", "index"})
"""What a candidate has that says nothing beside its parts."""


class GeminiDecoder:
    """Reads one answer. `host` and `model` are noted in the payloads of thoughts."""

    def __init__(self, *, host: str, model: str) -> None:
        self.finished = False
        self._parts = Parts({"v": 1, "host": host, "model": model})
        self._id: Any = None
        self._model: Any = None
        self._notes: dict[str, Any] = {}
        self._ended: tuple[str, str] | None = None
        self._blocked: tuple[str, str] | None = None

    def event(self, event: Mapping[str, Any]) -> Iterable[Delta]:
        """The deltas of one response of a stream."""
        deltas: list[Delta] = []
        if event.get("responseId") != self._id or event.get("modelVersion") != self._model:
            self._learn(event, deltas)
        for candidate in (event.get("candidates") or ())[:1]:
            content = candidate.get("content")
            for part in (content.get("parts") or ()) if content else ():
                self._parts.read(part, deltas)
            if not candidate.keys() <= _PIECE:
                self._note(candidate)
        usage = event.get("usageMetadata")
        if isinstance(usage, dict) and ("promptTokenCount" in usage or any(map(_is_count, usage))):
            deltas.append(WireUsage(usage, _usage))
        feedback = event.get("promptFeedback")
        if feedback and feedback.get("blockReason"):
            self._blocked = (feedback["blockReason"], feedback.get("blockReasonMessage") or "")
        return deltas

    def document(self, document: Mapping[str, Any]) -> Iterable[Delta]:
        """The deltas of a whole response."""
        if not ("candidates" in document or "promptFeedback" in document):
            raise LMProtocolError("the answer is a JSON document, but no response: it has no candidates")
        return self.event(document)

    def done(self) -> Iterable[Delta]:
        """Nothing: this wire has no mark of its end."""
        return ()

    def end(self) -> Iterable[Delta]:
        """How the answer ended; nothing for one that was cut before its finish reason."""
        deltas: list[Delta] = []
        if self._ended is None and self._blocked is not None:
            word, message = self._blocked
            deltas += [RefusalText(text=message or word), Finish(reason="content_filter", raw=word)]
        elif self._ended is not None:
            word, message = self._ended
            reason, failure = _REASONS.get(word, ("other", None))
            self._parts.close(deltas)
            if reason == "content_filter" and message:
                deltas.append(RefusalText(text=message))
            if self._notes:
                deltas.append(Info(metadata=self._notes))
            deltas.append(Finish(reason=reason, raw=word, failure=failure))
        return deltas

    def _learn(self, event: Mapping[str, Any], deltas: list[Delta]) -> None:
        self._id, self._model = event.get("responseId"), event.get("modelVersion")
        deltas.append(Info(response_id=self._id or None, model=self._model or None))

    def _note(self, candidate: Mapping[str, Any]) -> None:
        """What a candidate says beside its parts."""
        if candidate.get("finishReason"):
            self._ended = (candidate["finishReason"], candidate.get("finishMessage") or "")
        citations = [candidate[name] for name in ("groundingMetadata", "citationMetadata") if candidate.get(name)]
        if citations:
            self._notes["citations"] = citations
        if candidate.get("safetyRatings"):
            self._notes["safety"] = list(candidate["safetyRatings"])
        tokens = (candidate.get("logprobsResult") or {}).get("chosenCandidates")
        if tokens:
            self._notes["logprobs"] = [*self._notes.get("logprobs", ()), *tokens]


def _is_count(name: str) -> bool:
    return name.endswith("TokenCount")


def _usage(wire: Mapping[str, Any]) -> Usage:
    thought = wire.get("thoughtsTokenCount")
    output = [count for count in (wire.get("candidatesTokenCount"), thought) if isinstance(count, int)]
    return Usage(
        input_tokens=wire.get("promptTokenCount"),
        output_tokens=sum(output) if output else None,
        total_tokens=wire.get("totalTokenCount"),
        cached_input_tokens=wire.get("cachedContentTokenCount"),
        reasoning_tokens=thought,
        raw=dict(wire),
    )
