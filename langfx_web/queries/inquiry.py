"""One question, ready to be asked: every option checked, the whole request written, nothing sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langfx_web.errors import InvalidArgumentError, UnsupportedCapabilityError
from langfx_web.llms import LanguageModel, SamplingOptions
from langfx_web.messages import AIMessage, ComplexMessage, Message, SystemMessage, UserMessage
from langfx_web.protocols import PROTOCOLS, ParseLimits, Protocol, ProtocolName, protocol
from langfx_web.protocols.limits import DEFAULT_LIMITS
from langfx_web.queries.example import MappingExample
from langfx_web.queries.langfunc import model_of
from langfx_web.queries.layout import LABELS, section
from langfx_web.queries.lfquery import LfQuery
from langfx_web.queries.prompts import spoken
from langfx_web.schemas import Schema
from langfx_web.schemas.native import NativeSchema
from langfx_web.templates import Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """What is sent to which model, and how its answer is read.

    `schema` is None where the text itself is the answer. `native` is set where the provider is told the schema: its
    `document` goes with the request. `sampling` are options of the request.
    """

    lm: LanguageModel
    message: ComplexMessage
    schema: Schema | None = None
    protocol: Protocol = PROTOCOLS["python"]
    limits: ParseLimits = DEFAULT_LIMITS
    native: NativeSchema | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of the model's call."""
        document = {} if self.native is None else {"schema": self.native.document}
        return {**self.sampling, **document}

    @property
    def output_title(self) -> str:
        """What the value is called in front of the model."""
        return LABELS["json" if self.native else self.protocol.name].output_title

    def read(self, answer: AIMessage) -> Any:
        """The value that a whole answer holds; the output errors where it holds none."""
        if self.schema is None:
            return answer.text
        if self.native is None:
            return self.protocol.read(answer.text, self.schema, limits=self.limits)
        tree = PROTOCOLS["json"].tree(answer.text, Schema.of(dict[str, Any]), limits=self.limits)
        return self.schema.build(self.native.decode(tree), protocol="json")


def inquiry(
    prompt: Any,
    schema: Any = None,
    *,
    lm: LanguageModel | None = None,
    vars: Mapping[str, Any] | None = None,
    protocol: ProtocolName = "python",
    native_structured_output: bool = False,
    examples: Sequence[MappingExample] = (),
    context: Any = None,
    system_message: str | None = None,
    parse_limits: ParseLimits | None = None,
    **sampling: Any,
) -> Inquiry:
    """The question that these options of a query make; every bad one is raised here, before anything is sent."""
    SamplingOptions().merged(sampling)
    model, way, wanted = model_of(lm), _protocol(protocol), None if schema is None else Schema.of(schema)
    is_typed = wanted is not None and not wanted.is_text
    if vars and not isinstance(prompt, (str, Template)):
        raise _refused("vars", "go with a template, and this prompt is literal")
    if native_structured_output:
        _check_native(model, is_typed=is_typed, examples=examples, context=context)
    elif not is_typed and examples:
        raise _refused("examples", "show values of a type, and none is wanted")
    question = partial(
        Inquiry,
        lm=model,
        schema=wanted if is_typed else None,
        protocol=way,
        limits=ParseLimits.of(parse_limits),
        sampling=sampling,
    )
    if wanted is None or not is_typed or native_structured_output:
        native = wanted.native(strict=True) if wanted and native_structured_output else None
        said = spoken(prompt, vars=vars, protocol=PROTOCOLS["json"] if native else way)
        return question(message=_plain(said, context, system_message, way), native=native)
    mapping = LfQuery(
        prompt, wanted, protocol=protocol, examples=examples, context=context, vars=vars, system_message=system_message
    )
    rendered = mapping.render()
    return question(message=rendered if isinstance(rendered, ComplexMessage) else ComplexMessage(rendered))


_protocol = protocol


def _check_native(lm: LanguageModel, *, is_typed: bool, examples: Sequence[MappingExample], context: Any) -> None:
    if not is_typed:
        raise _refused("native_structured_output", "needs a schema")
    if examples:
        raise _refused("examples", "do not go with native_structured_output")
    if context is not None:
        raise _refused("context", "does not go with native_structured_output")
    if not lm.capabilities.native_schema:
        raise UnsupportedCapabilityError(
            "this model does not support native_schema", details={"capability": "native_schema"}
        )


def _refused(option: str, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{option} {why}", details={"option": option})


def _plain(said: Message, context: Any, system_message: str | None, protocol: Protocol) -> ComplexMessage:
    """The prompt as it is, after what the caller has to say about it."""
    if context is not None:
        around = UserMessage(context) if isinstance(context, str) else spoken(context, protocol=protocol)
        said = ComplexMessage(UserMessage(*section("CONTEXT", around)), said)
    return ComplexMessage(*([SystemMessage(system_message)] if system_message else []), said)
