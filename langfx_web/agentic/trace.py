"""What happens in a session, while it happens: nodes that are written to, and the bounds of their tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from langfx_web.deferred import later
from langfx_web.errors import LangfxError, TraceFullError
from langfx_web.events import ErrorInfo
from langfx_web.masking import said_by
from langfx_web.messages import AIMessage, Message
from langfx_web.messages.unloaded import without_bytes
from langfx_web.usage import Usage

if TYPE_CHECKING:
    from langfx_web.events import trace as values
    from langfx_web.events.trace import Kind, Progress, Status, TraceNode
else:
    values = later("langfx_web.events.trace")

_numbers = count(1)
_MODALITIES = attrgetter("modalities")


class OpenNode:
    """A node that is still written to; the fields are those of a `TraceNode`."""

    __slots__ = (
        "cached",
        "children",
        "ended_at",
        "error",
        "id",
        "kind",
        "metadata",
        "name",
        "parent_id",
        "progress",
        "repairs",
        "request",
        "requests",
        "response",
        "result",
        "started_at",
        "status",
        "usage",
    )

    def __init__(self, id: str, parent_id: str | None, kind: Kind, name: str, started_at: datetime) -> None:
        self.id = id
        self.parent_id = parent_id
        self.kind = kind
        self.name = name
        self.started_at = started_at
        self.status: Status = "running"
        self.ended_at: datetime | None = None
        self.error: ErrorInfo | None = None
        self.usage: Usage | None = None
        self.requests = 0
        self.cached = 0
        self.request: tuple[Message, ...] | None = None
        self.response: AIMessage | None = None
        self.result: Any = None
        self.repairs = 0
        self.metadata: dict[str, Any] = {}
        self.progress: Progress | None = None
        self.children: list[OpenNode] = []

    def spend(self, usage: Usage | None) -> None:
        """Count the cost of a request of this node, None where it is not known."""
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage

    def asked(self, request: Sequence[Message]) -> None:
        """Keep what was asked, media without their bytes."""
        has_media = any(map(_MODALITIES, request))
        self.request = tuple(map(without_bytes, request) if has_media else request)

    def answered(self, response: AIMessage) -> None:
        """Keep an answer, without what was made of it."""
        if response.source is not None or response.result is not None:
            response = response.replace(result=None, source=None)
        self.response = without_bytes(response)

    def end(self, at: datetime, error: BaseException | None, *, cancelled: bool = False) -> None:
        """Close the node, as what ended its work says."""
        self.ended_at = at
        self.status = "cancelled" if cancelled else "ok" if error is None else "error"
        self.error = None if error is None or cancelled else error_info(error)

    def walk(self) -> Iterator[OpenNode]:
        """This node and all below it, each before its children."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def shallow(self, children: tuple[TraceNode, ...] = ()) -> TraceNode:
        """The node as it is now, with these children."""
        return values.TraceNode(
            id=self.id,
            parent_id=self.parent_id,
            kind=self.kind,
            name=self.name,
            status=self.status,
            started_at=self.started_at,
            ended_at=self.ended_at,
            error=self.error,
            usage=self.usage,
            requests=self.requests,
            cached=self.cached,
            request=self.request,
            response=self.response,
            result=self.result,
            repairs=self.repairs,
            metadata=values.read_only(self.metadata),
            progress=self.progress,
            children=children,
        )

    def frozen(self) -> TraceNode:
        """The node and all below it as they are now."""
        done: dict[str, TraceNode] = {}
        # Backwards, each node comes after its children; trees may be deeper than a browser's stack.
        for node in reversed(list(self.walk())):
            done[node.id] = node.shallow(tuple(done.pop(child.id) for child in node.children))
        return done[self.id]


class Trace:
    """A bounded tree of nodes; the node over the bound is refused (`trace_full`) before its work starts."""

    def __init__(self, at: datetime, *, max_nodes: int, metadata: Mapping[str, Any] | None = None) -> None:
        self.root = OpenNode(f"s{next(_numbers)}", None, "session", "Session", at)
        self.root.metadata.update(metadata or {})
        self._left = max_nodes

    def open(self, parent: OpenNode, kind: Kind, name: str, at: datetime, *, letter: str | None = None) -> OpenNode:
        """Begin a node below `parent`; its id says where it stands, as the letter of its kind and its number."""
        if self._left <= 0:
            raise TraceFullError("the session's trace is full: use a session per task, or a larger max_nodes")
        self._left -= 1
        node = OpenNode(f"{parent.id}/{letter or kind[0]}{len(parent.children) + 1}", parent.id, kind, name, at)
        parent.children.append(node)
        return node


def error_info(error: BaseException) -> ErrorInfo:
    """An exception as a value: its class, text, code and whether trying again can help."""
    if isinstance(error, LangfxError):
        return ErrorInfo(name=type(error).__name__, message=error.message, code=error.code, retryable=error.retryable)
    return ErrorInfo(name=type(error).__name__, message=said_by(error), code="error", retryable=False)
