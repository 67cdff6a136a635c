"""What happened in a session, as a tree for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from langfx_web.errors import LangfxError, TraceFullError
from langfx_web.events import ErrorInfo
from langfx_web.usage import Usage, total


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceNode:
    """One invocation or query, frozen at the moment it was looked at.

    `status` is `running`, `ok`, `error` or `cancelled`. `usage` is that of the node's own requests: sum by walking.
    """

    id: str
    parent_id: str | None
    kind: str
    name: str
    status: str
    started_at: datetime
    ended_at: datetime | None = None
    error: ErrorInfo | None = None
    usage: Usage | None = None
    children: tuple[TraceNode, ...] = ()

    def walk(self) -> Iterator[TraceNode]:
        """This node and all below it, in the order they began."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(slots=True, kw_only=True)
class OpenNode:
    """A node that is still written to."""

    id: str
    parent_id: str | None
    kind: str
    name: str
    started_at: datetime
    status: str = "running"
    ended_at: datetime | None = None
    error: ErrorInfo | None = None
    usage: Usage | None = None
    children: list[OpenNode] = field(default_factory=list)

    def end(self, status: str, at: datetime, *, error: BaseException | None = None) -> None:
        """Close the node."""
        self.status, self.ended_at = status, at
        self.error = None if error is None else error_info(error)

    def frozen(self) -> TraceNode:
        """The node and all below it as they are now."""
        return TraceNode(
            id=self.id,
            parent_id=self.parent_id,
            kind=self.kind,
            name=self.name,
            status=self.status,
            started_at=self.started_at,
            ended_at=self.ended_at,
            error=self.error,
            usage=self.usage,
            children=tuple(child.frozen() for child in self.children),
        )


class Trace:
    """A bounded tree of nodes; the node over the bound is refused (`trace_full`) before its work starts."""

    def __init__(self, name: str, at: datetime, *, max_nodes: int = 10_000) -> None:
        self.root = OpenNode(id="s1", parent_id=None, kind="session", name=name, started_at=at)
        self._left = max_nodes

    def open(self, parent: OpenNode, kind: str, name: str, at: datetime) -> OpenNode:
        """Begin a node below `parent`; its id says where it stands."""
        if self._left <= 0:
            raise TraceFullError("the session's trace is full: use a session per task, or a larger max_nodes")
        self._left -= 1
        number = len(parent.children) + 1
        node = OpenNode(id=f"{parent.id}/{kind[0]}{number}", parent_id=parent.id, kind=kind, name=name, started_at=at)
        parent.children.append(node)
        return node

    def usage(self) -> Usage | None:
        """The cost of all requests so far."""
        return total(node.usage for node in self.root.frozen().walk() if node.usage is not None)


def error_info(error: BaseException) -> ErrorInfo:
    """An exception as a value: its class, text, code and whether trying again can help."""
    if isinstance(error, LangfxError):
        return ErrorInfo(name=type(error).__name__, message=error.message, code=error.code, retryable=error.retryable)
    return ErrorInfo(name=type(error).__name__, message=str(error), code="error", retryable=False)
