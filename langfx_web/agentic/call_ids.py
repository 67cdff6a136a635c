"""The ids of a conversation's tool calls, each of which names one call."""

from __future__ import annotations

from collections.abc import Iterable

from langfx_web.messages import AIMessage, Message, ToolCall


class CallIds:
    """The ids that these messages, and the answers after them, have used."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._used = {call.id for message in messages for call in message.tool_calls}

    def renewed(self, message: AIMessage) -> AIMessage:
        """The answer, with a new id of at most 64 characters where an earlier one used it; all of them are used now."""
        ids = [call.id for call in message.tool_calls]
        if not self._used.isdisjoint(ids):
            taken = self._used.union(ids)
            parts = [self._renewed(part, taken) if isinstance(part, ToolCall) else part for part in message.parts]
            message = message.replace(parts=parts)
            ids = [call.id for call in message.tool_calls]
        self._used.update(ids)
        return message

    def _renewed(self, call: ToolCall, taken: set[str]) -> ToolCall:
        """The call under an id that is not taken, if its own is used; `taken` has the new one from then on."""
        if call.id not in self._used:
            return call
        number = 2
        while f"{call.id[:60]}_{number}" in taken:
            number += 1
        taken.add(new := f"{call.id[:60]}_{number}")
        return ToolCall(new, call.name, call.args, raw_args=call.raw_args)
