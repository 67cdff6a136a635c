"""What happened in a session, as values for people: a tree of nodes, log lines, progress, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias, get_args

from langfx_web.errors import JSONTextError
from langfx_web.events.trace_fields import (
    Fields,
    invalid,
    plain_error,
    plain_members,
    plain_message,
    plain_value,
    read_answer,
    read_error,
    read_members,
    read_messages,
    read_moment,
    read_usage,
    read_value,
)
from langfx_web.events.turn import ErrorInfo
from langfx_web.json_text import PlainForm, dumps, is_unambiguous, loads
from langfx_web.messages import AIMessage, Message
from langfx_web.usage import Usage, total

Kind: TypeAlias = Literal["session", "action", "query", "step", "tool", "parallel"]
"""What a node stands for; a `parallel` one is a `concurrent_map`, or a branch of it."""

Status: TypeAlias = Literal["running", "ok", "error", "cancelled"]
"""How it goes, or how it ended."""

Level: TypeAlias = Literal["debug", "info", "warning", "error", "fatal"]
"""How much a log line matters."""


VERSION = 1
"""Of the text that a trace is written as."""

MAX_NODES = 100_000
"""Nodes that are read of a text."""


def read_only(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """A copy that nobody writes to."""
    return MappingProxyType(dict(members))


class Counted(Protocol):
    """What has a cost of its own."""

    @property
    def usage(self) -> Usage | None: ...

    @property
    def requests(self) -> int: ...

    @property
    def cached(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSummary(PlainForm):
    """The cost of some work. `usage` is the sum of what was reported, None where nothing was.

    `requests` were sent, retries included; `cached` answers cost none; of `unknown` requests no cost was reported, so
    that with any of them `usage` is a lower bound.
    """

    usage: Usage | None = None
    requests: int = 0
    cached: int = 0
    unknown: int = 0

    def to_plain(self) -> dict[str, Any]:
        """The plain form."""
        usage = None if self.usage is None else self.usage.to_plain()
        return {"usage": usage, "requests": self.requests, "cached": self.cached, "unknown": self.unknown}

    @staticmethod
    def of(nodes: Iterable[Counted]) -> UsageSummary:
        """The sum over nodes, each of which has the cost of its own requests only."""
        nodes = list(nodes)
        usage = total(node.usage for node in nodes if node.usage is not None)
        requests = sum(node.requests for node in nodes)
        unknown = sum(max(0, node.requests - (node.usage.num_requests if node.usage else 0)) for node in nodes)
        return UsageSummary(
            usage=usage.as_lower_bound() if usage is not None and unknown else usage,
            requests=requests,
            cached=sum(node.cached for node in nodes),
            unknown=unknown,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a piece of work says it is; `fraction` from 0 to 1, None where it cannot say."""

    title: str
    fraction: float | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """The plain form."""
        return {"title": self.title, "fraction": self.fraction, "data": plain_members(self.data)}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry(PlainForm):
    """A line that a piece of work logged; `node_id` says which."""

    at: datetime
    node_id: str
    level: Level
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """The plain form."""
        return {
            "at": self.at.isoformat(),
            "nodeId": self.node_id,
            "level": self.level,
            "message": self.message,
            "data": plain_members(self.data),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceNode(PlainForm):
    """One piece of work, frozen at the moment it was looked at; objects of the caller inside it are not.

    `usage`, `requests` and `cached` are of the node's own model requests: `summary()` is the sum of all below.
    Query and step nodes have the newest `request` and `response` without the bytes of media, the `result` made of it,
    and how many `repairs` it took.
    """

    id: str
    parent_id: str | None
    kind: Kind
    name: str
    status: Status
    started_at: datetime
    ended_at: datetime | None = None
    error: ErrorInfo | None = None
    usage: Usage | None = None
    requests: int = 0
    cached: int = 0
    request: tuple[Message, ...] | None = None
    response: AIMessage | None = None
    result: Any = None
    repairs: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    progress: Progress | None = None
    children: tuple[TraceNode, ...] = ()

    def walk(self) -> Iterator[TraceNode]:
        """This node and all below it, each before its children, in the order they began."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def summary(self) -> UsageSummary:
        """The cost of this node and of all below it."""
        return UsageSummary.of(self.walk())

    def to_plain(self) -> dict[str, Any]:
        """The node and all below it as a JSON value: its version, and a list in which each node has its parent's id."""
        return {"version": VERSION, "nodes": [node.to_plain_node() for node in self.walk()]}

    def to_plain_node(self) -> dict[str, Any]:
        """The node alone as a JSON value."""
        return {
            "id": self.id,
            "parentId": self.parent_id,
            "kind": self.kind,
            "name": self.name,
            "status": self.status,
            "startedAt": self.started_at.isoformat(),
            "endedAt": None if self.ended_at is None else self.ended_at.isoformat(),
            "error": None if self.error is None else plain_error(self.error),
            "usage": None if self.usage is None else self.usage.to_plain(),
            "requests": self.requests,
            "cached": self.cached,
            "request": None if self.request is None else [plain_message(message) for message in self.request],
            "response": None if self.response is None else plain_message(self.response),
            "result": plain_value(self.result),
            "repairs": self.repairs,
            "metadata": plain_members(self.metadata),
            "progress": None if self.progress is None else self.progress.to_plain(),
        }

    def to_json(self) -> str:
        """The node and all below it as a text that `from_json` reads, in this version and later ones.

        What JSON has no form for is written as its class with its fields or its text, and read as a `TracedObject`.
        """
        return dumps(self.to_plain())

    @staticmethod
    def from_json(text: str | bytes) -> TraceNode:
        """Read a text of `to_json`, from anywhere; `invalid_trace` says what is wrong with it."""
        if not isinstance(text, (str, bytes)):
            raise invalid(f"a {type(text).__name__} is no text")
        try:
            document = loads(text)
            doubled = not is_unambiguous(text if isinstance(text, str) else text.decode())
        except (JSONTextError, UnicodeDecodeError, RecursionError) as error:
            raise invalid(str(error)) from error
        if doubled:
            raise invalid("a member is given twice")
        return _read_document(document)


def _read_document(document: object) -> TraceNode:
    fields = Fields(document, "the text")
    version = fields.count("version")
    if version != VERSION:
        raise invalid(f"version {version} is not known here")
    written = fields.take("nodes", list)
    fields.end()
    if not written or len(written) > MAX_NODES:
        raise invalid(f"it has {len(written)} nodes")
    nodes = [_read_node(each) for each in written]
    members: dict[str, list[TraceNode]] = {}
    for place, node in enumerate(nodes):
        if node.id in members or (place and node.parent_id not in members):
            raise invalid(f"node {node.id[:80]!r} is given twice, or before its parent")
        members[node.id] = []
    # Backwards, each node comes after all of its children.
    for node in reversed(nodes[1:]):
        members[str(node.parent_id)].insert(0, _with_children(node, members[node.id]))
    return _with_children(nodes[0], members[nodes[0].id])


def _with_children(node: TraceNode, children: list[TraceNode]) -> TraceNode:
    return replace(node, children=tuple(children)) if children else node


def _read_node(written: object) -> TraceNode:
    fields = Fields(written, "a node")
    node = TraceNode(
        id=fields.take("id", str),
        parent_id=fields.take("parentId", str, type(None)),
        kind=fields.one_of("kind", get_args(Kind)),
        name=fields.take("name", str),
        status=fields.one_of("status", get_args(Status)),
        started_at=read_moment(fields.take("startedAt", str)),
        ended_at=fields.maybe("endedAt", read_moment),
        error=fields.maybe("error", read_error),
        usage=fields.maybe("usage", read_usage),
        requests=fields.count("requests"),
        cached=fields.count("cached"),
        request=fields.maybe("request", read_messages),
        response=fields.maybe("response", read_answer),
        result=read_value(fields.take("result", dict)),
        repairs=fields.count("repairs"),
        metadata=read_only(read_members(fields.take("metadata", dict))),
        progress=fields.maybe("progress", _read_progress),
    )
    fields.end()
    return node


def _read_progress(written: object) -> Progress:
    fields = Fields(written, "progress")
    progress = Progress(
        title=fields.take("title", str),
        fraction=fields.take("fraction", int, float, type(None)),
        data=read_only(read_members(fields.take("data", dict))),
    )
    fields.end()
    return progress
