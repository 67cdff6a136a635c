"""What happened in a session, as values for people: a tree of nodes, log lines, progress, and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias

from langfx_web.events.turn import ErrorInfo
from langfx_web.messages import AIMessage, Message
from langfx_web.usage import Usage, total

Kind: TypeAlias = Literal["session", "action", "query", "step", "tool", "parallel"]
"""What a node stands for; a `parallel` one is a `concurrent_map`, or a branch of it."""

Status: TypeAlias = Literal["running", "ok", "error", "cancelled"]
"""How it goes, or how it ended."""

Level: TypeAlias = Literal["debug", "info", "warning", "error", "fatal"]
"""How much a log line matters."""


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
class UsageSummary:
    """The cost of some work. `usage` is the sum of what was reported, None where nothing was.

    `requests` were sent, retries included; `cached` answers cost none; of `unknown` requests no cost was reported, so
    that with any of them `usage` is a lower bound.
    """

    usage: Usage | None = None
    requests: int = 0
    cached: int = 0
    unknown: int = 0

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


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """A line that a piece of work logged; `node_id` says which."""

    at: datetime
    node_id: str
    level: Level
    message: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceNode:
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
