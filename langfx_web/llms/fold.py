"""Deltas → chunks → message: the one way an answer is put together, watched or not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langfx_web.events import ToolCallDelta, ToolCallEnd, ToolCallStart
from langfx_web.llms.arguments import read_arguments
from langfx_web.llms.assembly import Entry, Run, assemble, in_place
from langfx_web.llms.delta import (
    Boundary,
    CallEnd,
    CallStart,
    CallText,
    Delta,
    Finish,
    Info,
    RefusalText,
    Resent,
    TextPiece,
    ThoughtEnd,
    ThoughtPiece,
    UsageReport,
    WholePart,
    WireUsage,
)
from langfx_web.llms.outcome import finish_reason, outcome
from langfx_web.llms.sampling import ChunkDelta, Ending, StreamChunk
from langfx_web.llms.surrogates import join_halves, whole
from langfx_web.messages import AIMessage, Thought, ToolCall
from langfx_web.usage import Usage

NAMELESS = "-"
"""The name of a call whose model gave it none: what no tool is called, and providers take back."""


class Facts:
    """What is known of an answer as a whole; `spent` and `requests` are of the attempts before this one."""

    def __init__(self, seed: Callable[[], bytes], spent: Usage | None, requests: int) -> None:
        self.info = Info()
        self.report: UsageReport | WireUsage | None = None
        self.requests = requests + 1
        self._seed = seed
        self._spent = spent

    @property
    def reported(self) -> Usage | None:
        """The cost of this attempt, where it was reported."""
        return None if self.report is None else self.report.usage

    @property
    def usage(self) -> Usage | None:
        """The cost of all attempts so far, as far as it was reported."""
        reported = self.reported
        known = reported or self._spent
        if known is None:
            return None
        if reported is not None and self._spent is not None:
            known = reported + self._spent
        return replace(known, num_requests=self.requests, raw=reported.raw if reported else None)

    def call_id(self, index: int, place: int) -> str:
        """An id for a call that came without one: the same for the same request, answer and place."""
        named = f"{self.info.response_id or ''}\0{index}\0{place}".encode()
        return "lf_" + hashlib.sha256(self._seed() + b"\0" + named).hexdigest()[:16]

    def learn(self, new: Info) -> None:
        """Take new facts."""
        self.info = Info(
            response_id=new.response_id or self.info.response_id,
            model=new.model or self.info.model,
            metadata=_joined(self.info.metadata, new.metadata),
        )


def _joined(known: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with what is new: the last value counts, lists are joined."""
    metadata = dict(known)
    for key, value in new.items():
        before = metadata.get(key)
        metadata[key] = [*before, *value] if isinstance(before, list) and isinstance(value, list) else value
    return metadata


class Fold:
    """One attempt's answer as it grows. `seed` gives the bytes that ids for calls without one are made of."""

    def __init__(self, seed: Callable[[], bytes], *, spent: Usage | None = None, requests: int = 0) -> None:
        self.facts = Facts(seed, spent, requests)
        self.emitted = 0
        self._candidates: dict[int, Candidate] = {}

    def push(self, deltas: Delta | Sequence[Delta]) -> list[StreamChunk]:
        """Take what arrived together, and give what it shows."""
        chunks: list[StreamChunk] = []
        first = self.candidate(0)
        for delta in deltas if isinstance(deltas, (list, tuple)) else (deltas,):
            if isinstance(delta, str):
                first.text(delta, chunks)
            elif isinstance(delta, (UsageReport, WireUsage)):
                self.facts.report = delta
            elif isinstance(delta, Info) and delta.index is None:
                self.facts.learn(delta)
            elif isinstance(delta, Resent):
                self.facts.requests += 1
            else:
                self.candidate(delta.index).take(delta, chunks)
        self.emitted += len(chunks)
        return chunks

    def finish(self) -> list[StreamChunk]:
        """The final chunks; raises what the rules of outcomes make of an answer that is none."""
        self.candidate(0)
        chunks: list[StreamChunk] = []
        candidates = [self._candidates[index] for index in sorted(self._candidates)]
        for candidate in candidates:
            candidate.settle(chunks)
        self.emitted += len(chunks)
        chunks += [candidate.final_chunk() for candidate in candidates]
        return chunks

    def partial(self) -> AIMessage | None:
        """What has arrived of the first candidate, or None where that is nothing."""
        candidate = self.candidate(0)
        message = candidate.message(candidate.size, complete=True)
        return message if message.parts else None

    def candidate(self, index: int) -> Candidate:
        """The candidate of this index."""
        found = self._candidates.get(index)
        if found is None:
            found = self._candidates[index] = Candidate(index, self.facts)
        return found


class Candidate:
    """One answer of a request: an append-only log from which its message is made.

    `size` counts the log: each character of a run, and each other entry.
    """

    def __init__(self, index: int, facts: Facts) -> None:
        self.index = index
        self.size = 0
        self._log: list[Entry] = []
        self._run: Run | None = None
        self._facts = facts
        self._ended: Finish | None = None
        self._refusal = ""
        self._held = ""
        self._held_thought = False
        self._has_opaque_output = False
        self._calls: dict[str | int, _Call] = {}
        self._ids: set[str] = set()
        self._places: dict[str, int] = {}
        self._metadata: dict[str, Any] = {}

    def text(self, text: str, chunks: list[StreamChunk], *, thought: bool = False) -> None:
        """Add visible text, or readable reasoning."""
        if self._held or not text.isascii():
            if thought is not self._held_thought:
                self.settle(chunks)
            self._held_thought = thought
            text, self._held = join_halves(self._held, text) if text else (text, self._held)
        if text:
            self._show_text(text, thought, chunks)

    def settle(self, chunks: list[StreamChunk]) -> None:
        """Give up waiting for the second half of a character."""
        if self._held:
            text, self._held = whole(self._held), ""
            self._show_text(text, self._held_thought, chunks)

    def _show_text(self, text: str, thought: bool, chunks: list[StreamChunk]) -> None:
        run = self._run
        if run is None or run.is_thought is not thought:
            run = Run(is_thought=thought)
            self._log.append(run)
            self._run = run
        run.add(text)
        self.size += len(text)
        delta = ChunkDelta("", text) if thought else ChunkDelta(text)
        chunks.append(StreamChunk(self.index, delta, self, self.size))

    def take(self, delta: Any, chunks: list[StreamChunk]) -> None:
        """Add anything else."""
        match delta:
            case TextPiece(text=text):
                self.text(text, chunks)
            case ThoughtPiece(text=text):
                self.text(text, chunks, thought=True)
            case CallText(key=key, text=text):
                self._calls[key].add(text)
                self._show_call_text(self._calls[key], chunks)
            case RefusalText(text=text):
                self._refusal += text
            case Finish():
                self._ended = delta
            case Info(metadata=metadata):
                self._metadata = _joined(self._metadata, metadata)
            case _:
                self.settle(chunks)
                self._take_part(delta, chunks)

    def _take_part(self, delta: Any, chunks: list[StreamChunk]) -> None:
        match delta:
            case ThoughtEnd():
                self._has_opaque_output |= delta.is_output
                self._add(delta)
            case Boundary():
                self._add(delta)
            case CallStart():
                self._start_call(delta, chunks)
            case CallEnd(key=key, args=args):
                call = self._calls[key].closed(args)
                self._show(ChunkDelta(tool_call=ToolCallEnd(call=call)), chunks)
            case WholePart(part=part):
                self._show(ChunkDelta(part=part), chunks)
            case _:
                raise TypeError(f"a model cannot yield a {type(delta).__name__}")

    def _start_call(self, start: CallStart, chunks: list[StreamChunk]) -> None:
        id = start.id or self._facts.call_id(self.index, len(self._calls))
        base, count = id, 1
        while id in self._ids:
            count += 1
            id = f"{base}_{count}"
        self._ids.add(id)
        if start.place is not None:
            self._places[id] = start.place
        name = start.name or NAMELESS
        self._calls[start.key] = _Call(id, name)
        self._show(ChunkDelta(tool_call=ToolCallStart(id=id, name=name)), chunks)

    def _show_call_text(self, call: _Call, chunks: list[StreamChunk]) -> None:
        text = call.unshown()
        if text:
            self._show(ChunkDelta(tool_call=ToolCallDelta(id=call.id, text=text)), chunks)

    def _show(self, delta: ChunkDelta, chunks: list[StreamChunk]) -> None:
        self._add(delta)
        chunks.append(StreamChunk(self.index, delta, self, self.size))

    def _add(self, entry: Entry) -> None:
        self._log.append(entry)
        self._run = None
        self.size += 1

    def message(self, count: int, *, complete: bool = False) -> AIMessage:
        """The message that so much of the log makes; with `complete`, how and at what cost it ended too."""
        info = self._facts.info
        metadata = {**info.metadata, **self._metadata}
        facts: dict[str, Any] = {"model": info.model, "response_id": info.response_id, "metadata": metadata}
        parts = in_place(assemble(self._log, count), self._places)
        if complete:
            if self._refusal:
                facts["metadata"]["refusal"] = self._refusal
            facts["usage"] = self._facts.usage
            if self._ended is not None:
                facts["finish_reason"] = finish_reason(self._ended, parts)
                facts["raw_finish_reason"] = self._ended.raw
        return AIMessage(*parts, **facts)

    def final_chunk(self) -> StreamChunk:
        """The chunk that ends this candidate; raises where the answer is no success."""
        message = self.message(self.size, complete=True)
        has_output = self._has_opaque_output or any(not isinstance(part, Thought) for part in message.parts)
        error = outcome(message, self._ended, refusal=self._refusal, has_output=has_output)
        if error is not None:
            raise error
        ending = Ending(
            message=message,
            finish_reason=message.finish_reason or "stop",
            raw_finish_reason=message.raw_finish_reason,
            usage=message.usage,
        )
        return StreamChunk(self.index, None, self, self.size, ending)


class _Call:
    """A tool call under way."""

    def __init__(self, id: str, name: str) -> None:
        self.id = id
        self.name = name
        self._pieces: list[str] = []
        self._new = ""
        self._held = ""

    def add(self, text: str) -> None:
        self._pieces.append(text)
        self._new, self._held = join_halves(self._held, text) if text else ("", self._held)

    def unshown(self) -> str:
        new, self._new = self._new, ""
        return new

    def closed(self, args: Any) -> ToolCall:
        raw = whole("".join(self._pieces))
        read = read_arguments(raw if args is None else dict(args))
        return ToolCall(self.id, self.name, read, raw_args=raw)
