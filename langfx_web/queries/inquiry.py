"""One question, ready to be asked: every option checked, the whole request written, nothing sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langfx_web.errors import IncompleteGenerationError, InvalidArgumentError
from langfx_web.llms import LanguageModel, SamplingOptions
from langfx_web.messages import AIMessage, ComplexMessage, Message, SystemMessage, UserMessage
from langfx_web.protocols import ParseLimits, Protocol, ProtocolName, protocol
from langfx_web.protocols.limits import DEFAULT_LIMITS
from langfx_web.queries.layout import LABELS, joined, schema_section, titled
from langfx_web.queries.prompts import spoken
from langfx_web.schemas import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """What is sent to which model, and how its answer is read.

    `schema` is None where the text itself is the answer. `native` is set where the provider is told the schema: its
    `document` goes with the request. `sampling` are options of the request.
    """

    lm: LanguageModel
    message: ComplexMessage
    schema: Schema | None = None
    protocol: Protocol = field(default_factory=lambda: protocol("python"))
    limits: ParseLimits = DEFAULT_LIMITS
    native: Any = None
    sampling: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of the model's call."""
        document = {} if self.native is None else {"schema": self.native.document}
        return {**self.sampling, **document}

    def read(self, answer: AIMessage) -> Any:
        """The value that a whole answer holds; the output errors where it holds none."""
        if self.schema is None:
            return answer.text
        if self.native is None:
            return self.protocol.read(answer.text, self.schema, limits=self.limits)
        tree = protocol("json").tree(answer.text, Schema.of(dict[str, Any]), limits=self.limits)
        return self.schema.build(self.native.decode(tree), protocol="json")


def inquiry(
    prompt: Any,
    schema: Any = None,
    *,
    lm: LanguageModel | None = None,
    vars: Mapping[str, Any] | None = None,
    protocol: ProtocolName = "python",
    native_structured_output: bool = False,
    examples: Sequence[Any] = (),
    context: Any = None,
    system_message: str | None = None,
    parse_limits: ParseLimits | None = None,
    **sampling: Any,
) -> Inquiry:
    """The question that these options of a query make; every bad one is raised here, before anything is sent."""
    chosen, wanted = _protocol(protocol), None if schema is None else Schema.of(schema)
    if lm is None:
        raise InvalidArgumentError("no model was given: pass lm=…", code="no_model", details={"option": "lm"})
    SamplingOptions().merged(sampling)
    said = spoken(prompt, vars=vars)
    turns = list(said.messages if isinstance(said, ComplexMessage) else [said])
    system = [system_message] if system_message else []
    if wanted is not None and not wanted.is_text:
        system.insert(0, schema_section(wanted, chosen.name))
        labels = LABELS[chosen.name]
        turns[-1] = UserMessage(*joined([titled(labels.input_title, turns[-1].parts), titled(labels.output_title, [])]))
    first: list[Message] = [SystemMessage("\n\n".join(system))] if system else []
    return Inquiry(
        lm=lm,
        message=ComplexMessage(*first, *turns),
        schema=None if wanted is None or wanted.is_text else wanted,
        protocol=chosen,
        limits=parse_limits or DEFAULT_LIMITS,
        sampling=sampling,
    )


_protocol = protocol


def finished(answer: AIMessage) -> AIMessage:
    """The answer, unless the provider paused it: half an answer is never read (`incomplete_generation`)."""
    if answer.finish_reason == "pause":
        raise IncompleteGenerationError(
            "the answer was paused before its end",
            retryable=False,
            partial=answer,
            usage=answer.usage,
            finish_reason=answer.finish_reason,
            raw_finish_reason=answer.raw_finish_reason,
        )
    return answer
