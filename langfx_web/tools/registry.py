"""Tools by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from langfx_web.errors import InvalidValueError
from langfx_web.messages import ToolDeclaration
from langfx_web.schemas import pydantic_arrived
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
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> None:
        """Add a tool; `invalid_tool` where its name is taken or it is none."""
        if not isinstance(tool, Tool):
            raise InvalidValueError(f"{tool!r} is not a tool: decorate the function with @lf.tool", code="invalid_tool")
        if tool.name in self._tools:
            raise InvalidValueError(f"there are two tools named {tool.name!r}", code="invalid_tool")
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name."""
        return self._tools.get(name)

    def names(self) -> list[str]:
        """The names, in order."""
        return list(self._tools)

    async def ready(self) -> None:
        """Return once the schemas of all of them can be built; `download_failed` where pydantic did not arrive."""
        if any(tool.is_typed for tool in self):
            await pydantic_arrived()

    def declarations(self) -> tuple[ToolDeclaration, ...]:
        """What a provider is told of them."""
        return tuple(tool.declaration() for tool in self)

    def joined(self, others: Iterable[Tool]) -> ToolRegistry:
        """A new registry with the others added; `invalid_tool` for a name that both have."""
        return ToolRegistry([*self, *others])

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools
