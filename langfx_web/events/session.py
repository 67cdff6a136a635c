"""What an observer of a session is told; `type` follows from the class name.

`action_start` and `action_end` tell of what may have work of its own below: actions, tools, maps and their branches.
`query_start` and `query_end` tell of what asks a model: queries, and the steps of an agent. Each carries its node as it
is then, without children, which have events of their own. In the plain form of an event, what is longer than 16 KiB is
cut to its beginning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Literal, TypeAlias

from langfx_web.events.trace import LogEntry, Progress, TraceNode
from langfx_web.events.trace_fields import MOST_TOLD, told_members, told_message, told_value
from langfx_web.json_text import PlainForm


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told(PlainForm):
    """Which session it was, and when."""

    type: ClassVar[str]
    session_id: str
    at: datetime

    def _plain(self, **fields: Any) -> dict[str, Any]:
        return {"type": self.type, "sessionId": self.session_id, "at": self.at.isoformat(), **fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfNode(_Told):
    node: TraceNode

    def to_plain(self) -> dict[str, Any]:
        """The plain form; what was asked is left out, as it is all of a conversation in each step of it."""
        node = self.node
        plain = replace(node, request=None, response=None, result=None, metadata={}, progress=None).to_plain_node()
        del plain["request"]
        plain["response"] = None if node.response is None else told_message(node.response)
        plain["result"] = told_value(node.result)
        plain["metadata"] = told_members(node.metadata)
        plain["progress"] = None if node.progress is None else _told_progress(node.progress)
        return self._plain(node=plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionStart(_OfNode):
    """An action, a tool, a map or a branch of one begins."""

    type: ClassVar[Literal["action_start"]] = "action_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionEnd(_OfNode):
    """An action, a tool, a map or a branch of one has ended, as its node's status says."""

    type: ClassVar[Literal["action_end"]] = "action_end"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryStart(_OfNode):
    """A query or a step begins."""

    type: ClassVar[Literal["query_start"]] = "query_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryEnd(_OfNode):
    """A query or a step has ended, as its node's status says."""

    type: ClassVar[Literal["query_end"]] = "query_end"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogAdded(_Told):
    """A piece of work logged a line."""

    type: ClassVar[Literal["log_added"]] = "log_added"
    entry: LogEntry

    def to_plain(self) -> dict[str, Any]:
        """The plain form."""
        entry = self.entry
        plain = replace(entry, message=entry.message[:MOST_TOLD], data={}).to_plain()
        return self._plain(entry={**plain, "data": told_members(entry.data)})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressUpdate(_Told):
    """A piece of work says how far it is; this stands in place of what it said before."""

    type: ClassVar[Literal["progress_update"]] = "progress_update"
    node_id: str
    title: str
    fraction: float | None
    data: Mapping[str, Any]

    def to_plain(self) -> dict[str, Any]:
        """The plain form."""
        return self._plain(nodeId=self.node_id, **_told_progress(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataUpdate(_Told):
    """A piece of work has more metadata; `metadata` is all of it."""

    type: ClassVar[Literal["metadata_update"]] = "metadata_update"
    node_id: str
    metadata: Mapping[str, Any]

    def to_plain(self) -> dict[str, Any]:
        """The plain form."""
        return self._plain(nodeId=self.node_id, metadata=told_members(self.metadata))


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsDropped(_Told):
    """Made for a reader who was too slow: `count` older events have made room for those that follow."""

    type: ClassVar[Literal["events_dropped"]] = "events_dropped"
    count: int

    def to_plain(self) -> dict[str, Any]:
        """The plain form."""
        return self._plain(count=self.count)


def _told_progress(said: Progress | ProgressUpdate) -> dict[str, Any]:
    return {"title": said.title[:MOST_TOLD], "fraction": said.fraction, "data": told_members(said.data)}


SessionEvent: TypeAlias = ActionStart | ActionEnd | QueryStart | QueryEnd | LogAdded | ProgressUpdate | MetadataUpdate
"""What an observer of a session is told."""

WatchedEvent: TypeAlias = SessionEvent | EventsDropped
"""What a reader gets who watches a conversation's turns."""
