"""Tools by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langfx_web.errors import InvalidValueError, ToolNameTakenError
from langfx_web.messages import ToolDeclaration
from langfx_web.schemas import pydantic_arrived
from langfx_web.tools.options import OnCollision, checked_on_collision
from langfx_web.tools.tool import Tool

MAX_TOOLS = 64


class ToolRegistry:
    """Tools by name, in the order they were added; every name once."""

    def __init__(self, tools: Iterable[Tool] | Mapping[str, Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        if isinstance(tools, Mapping):
            for key, tool in tools.items():
                if getattr(tool, "name", None) != key:
                    raise InvalidValueError(f"the tool under {key!r} has another name", code="invalid_tool")
            tools = tools.values()
        if isinstance(tools, Tool) or not isinstance(tools, Iterable):
            raise InvalidValueError(f"tools must be several, not a {type(tools).__name__}", code="invalid_tool")
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool, overwrite: bool = False) -> None:
        """Add a tool; with `overwrite` it takes the place of one of its name.

        `tool_name_taken` without, `invalid_tool` where it is none.
        """
        if not isinstance(tool, Tool):
            raise InvalidValueError(f"{tool!r} is not a tool: decorate the function with @lf.tool", code="invalid_tool")
        if tool.name in self._tools and not overwrite:
            raise ToolNameTakenError(f"there are two tools named {tool.name!r}", tool=tool.name)
        self._tools[tool.name] = tool

    def unregister(self, name: str) -> None:
        """Take a tool out, if it is there."""
        if self.has(name):
            del self._tools[name]

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name."""
        return self._tools[name] if self.has(name) else None

    def has(self, name: str) -> bool:
        """Whether there is a tool of exactly this name."""
        return isinstance(name, str) and name in self._tools

    def all(self) -> list[Tool]:
        """The tools, in order; the list is the caller's own."""
        return list(self._tools.values())

    def names(self) -> list[str]:
        """The names, in order."""
        return list(self._tools)

    def prune_ephemeral(self) -> None:
        """Take out the tools that are for one turn only."""
        self._tools = {tool.name: tool for tool in self if not tool.ephemeral}

    @staticmethod
    def merge(registries: Iterable[ToolRegistry], on_collision: OnCollision = "error") -> ToolRegistry:
        """A new registry with the tools of all, which stay as they are.

        Where a name is taken, the later tool says what is to be done; if it leaves that open, `on_collision` does:
        `"replace"`, in the place of the earlier one, `"keep"` the earlier one, or `"error"` (`tool_name_taken`).
        """
        checked_on_collision(on_collision, "merge")
        merged = ToolRegistry()
        registries = list(registries) if isinstance(registries, Iterable) else [registries]
        if not all(isinstance(registry, ToolRegistry) for registry in registries):
            raise InvalidValueError("only registries can be merged", code="invalid_tool")
        for tool in (tool for registry in registries for tool in registry):
            choice = on_collision if tool.on_collision == "error" else tool.on_collision
            if choice != "keep" or not merged.has(tool.name):
                merged.register(tool, overwrite=choice == "replace")
        return merged

    async def ready(self) -> None:
        """Return once the schemas of all of them can be built; `download_failed` where pydantic did not arrive."""
        if any(tool.is_typed for tool in self):
            await pydantic_arrived()

    def declarations(self) -> tuple[ToolDeclaration, ...]:
        """What a provider is told of them."""
        return tuple(tool.declaration() for tool in self)

    def describe(self) -> list[dict[str, Any]]:
        """The same as plain JSON, with output schemas where there are some."""
        return [tool.describe() for tool in self]

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._tools

    def __repr__(self) -> str:
        return f"ToolRegistry({self.names()})"
