"""What the loop needs to know of an agent, and the system message that follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from langfx_web.agentic.hooks import Hooks
from langfx_web.agentic.limits import Limits
from langfx_web.llms import LanguageModel, Models
from langfx_web.tools import ToolRegistry

if TYPE_CHECKING:
    from langfx_web.agentic.output import Output
    from langfx_web.observation import Observer


class AgentSetup(Protocol):
    """What the loop and durable turns need to know of an agent."""

    @property
    def name(self) -> str:
        """The agent's name, the owner of its sessions."""

    @property
    def lm(self) -> LanguageModel:
        """The model it asks."""

    @property
    def instructions(self) -> str | None:
        """What its author tells the model."""

    @property
    def tools(self) -> ToolRegistry:
        """What the model may call."""

    @property
    def limits(self) -> Limits:
        """Bounds of a run, as the agent's author gave them."""

    @property
    def hooks(self) -> Hooks:
        """The author's own functions in a run."""

    @property
    def output(self) -> Output | None:
        """The kind of value that a run ends with; None is text."""

    @property
    def observer(self) -> Observer | None:
        """Who is told what happens in a run; None for nobody."""

    @property
    def models(self) -> Models:
        """What is known of other models that a session may switch to, by id."""
