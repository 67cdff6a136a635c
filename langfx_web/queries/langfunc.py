"""`LangFunc`: a template that asks a model with what it renders to."""

from __future__ import annotations

import collections.abc
from typing import Any, TypeAlias

from langfx_web.clock import Clock
from langfx_web.deadline import Bounded, deadline_after
from langfx_web.errors import InvalidArgumentError
from langfx_web.llms import LanguageModel, SamplingOptions, StreamChunk
from langfx_web.llms.sampling import merge
from langfx_web.llms.wrapper import Chunks, StreamWrapper
from langfx_web.messages import AIMessage, Message
from langfx_web.queries.answering import finished, refuse_other
from langfx_web.templates import Template

Vars: TypeAlias = "collections.abc.Mapping[str, Any]"
"""Values by the names that a template has for them."""


class LangFunc(Template):
    """A prompt that can be called: `await f(vars={…}, lm=…)` gives the model's message.

    `vars`, `lm` and sampling options given here come before the model's own, and those of a call before these. Nothing
    of a call is kept on the object: any number of calls may run at once.
    """

    def __init__(
        self,
        template_str: str | None = None,
        *,
        lm: LanguageModel | None = None,
        vars: Vars | None = None,
        **sampling: Any,
    ) -> None:
        super().__init__(template_str, vars=vars)
        SamplingOptions().merged(sampling)
        self.lm = lm
        self.sampling = sampling

    async def __call__(
        self,
        *,
        vars: Vars | None = None,
        lm: LanguageModel | None = None,
        cache_seed: int | None = 0,
        timeout: float | None = None,
        **sampling: Any,
    ) -> AIMessage:
        """Ask. `timeout` (seconds) bounds the whole call; `no_model` where neither call nor object has one."""
        model, options = self._model(lm), self._options(sampling)
        with Bounded(deadline_after(timeout, model.clock), model.clock):
            message = self.transform_input(self.render(vars))
            return await self._answer(model, message, {"cache_seed": cache_seed, **options})

    def stream(
        self,
        *,
        vars: Vars | None = None,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        **sampling: Any,
    ) -> BoundedStream:
        """The answer as it comes; `invalid_argument` where a hook is overridden that needs the whole of it."""
        self._refuse_whole_hooks(LangFunc, "transform_output")
        model, options = self._model(lm), self._options(sampling)
        deadline = deadline_after(timeout, model.clock)
        chunks = model.stream(self.transform_input(self.render(vars)), **options)
        return BoundedStream(chunks, deadline, model.clock)

    def transform_input(self, message: Message) -> Message:
        """What is sent, made of what was rendered."""
        return message

    def transform_output(self, message: AIMessage) -> AIMessage:
        """What the caller gets, made of the model's answer."""
        return message

    async def _answer(self, lm: LanguageModel, message: Message, options: dict[str, Any]) -> AIMessage:
        return self.transform_output(finished(await lm(message, **options)))

    def _model(self, lm: LanguageModel | None) -> LanguageModel:
        return model_of(lm or self.lm)

    def _options(self, sampling: dict[str, Any]) -> dict[str, Any]:
        SamplingOptions().merged(sampling)
        options = self.sampling | sampling
        if self.sampling.get("extras") and sampling.get("extras"):
            options["extras"] = merge(self.sampling["extras"], sampling["extras"])
        return options

    def _refuse_whole_hooks(self, base: type[LangFunc], *hooks: str) -> None:
        own = [hook for hook in hooks if getattr(type(self), hook) is not getattr(base, hook)]
        if own:
            raise InvalidArgumentError(
                f"{type(self).__name__} overrides {own[0]}, which takes a whole answer, and cannot be streamed",
                details={"hook": own[0]},
            )


class BoundedStream(StreamWrapper):
    """A stream of chunks that must have ended by a deadline."""

    def __init__(self, stream: Chunks, deadline: float | None, clock: Clock) -> None:
        super().__init__(stream)
        self._deadline = deadline
        self._clock = clock

    async def arrived(self) -> list[StreamChunk]:
        """All chunks that are there, waited for where there are none; [] after the last."""
        with Bounded(self._deadline, self._clock):
            return await super().arrived()


def model_of(lm: LanguageModel | None) -> LanguageModel:
    """The model; `no_model` without one, `invalid_argument` for what is none."""
    if lm is None:
        raise InvalidArgumentError("no model was given: pass lm=…", code="no_model", details={"option": "lm"})
    refuse_other(lm, "lm")
    return lm
