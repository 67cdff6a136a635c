"""`Mapping`: an input, a wanted type, and the steps from one to the other, each of which may be overridden."""

from __future__ import annotations

import collections.abc
from collections.abc import Sequence
from typing import Any

from langfx_web.errors import InvalidValueError
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage, ComplexMessage, Message, SystemMessage, UserMessage
from langfx_web.protocols import ParseLimits, ProtocolName, protocol
from langfx_web.queries.answering import Reading, Repairs, answered
from langfx_web.queries.example import MappingExample, checked
from langfx_web.queries.langfunc import BoundedStream, LangFunc, Vars
from langfx_web.queries.layout import LABELS, Section, joined, preamble_section, schema_section, section
from langfx_web.queries.prompts import spoken
from langfx_web.schemas import Schema
from langfx_web.templates import Template


class Mapping(LangFunc):
    """Asks for a value of a type; the answer has it as `.result`, and the model's own message as `.source`.

    `input` is a template's text, a `Template`, a literal message or transcript, or any other value, which is written
    down. What is sent has a system message, `instructions`, and the `request`. Hooks, in order: `render`,
    `transform_input`, the model, `postprocess_response`, `parse_result`, `postprocess_result`, `transform_output`.
    """

    template_str = "{{instructions}}{{request}}"

    preamble: str | collections.abc.Mapping[str, str] = ""
    """What the instructions begin with, a template of the titles; one text, or one for each protocol."""

    def __init__(
        self,
        input: Any,
        schema: Any,
        *,
        protocol: ProtocolName = "python",
        examples: Sequence[MappingExample] = (),
        context: Any = None,
        vars: Vars | None = None,
        lm: LanguageModel | None = None,
        system_message: str | None = None,
        preamble: str | None = None,
        template_str: str | None = None,
        autofix: int = 0,
        autofix_lm: LanguageModel | None = None,
        parse_limits: ParseLimits | None = None,
        **sampling: Any,
    ) -> None:
        super().__init__(template_str, lm=lm, vars=vars, **sampling)
        self.protocol = _protocol(protocol)
        self.labels = LABELS[self.protocol.name]
        self.input = Template(input) if isinstance(input, str) else input
        self.schema = Schema.of(schema)
        self.examples = checked(examples, self.schema)
        self.context = context
        self.system_message = system_message
        self.parse_limits = ParseLimits.of(parse_limits)
        self.repairs = Repairs(autofix=autofix, lm=autofix_lm, output_title=self.labels.output_title)
        if preamble is not None:
            self.preamble = preamble

    @property
    def mapping_request(self) -> MappingExample:
        """The request as an example without output."""
        return MappingExample(self.input, schema=self.schema, context=self.context)

    def render(self, vars: Vars | None = None) -> UserMessage | ComplexMessage:
        """The whole prompt; local."""
        values = self.vars | dict(vars or {})
        request = self._rendered(self.mapping_request, values)
        system, turns = _turns(request.input)
        examples = [self.render_example(self._rendered(example, values)) for example in self.examples]
        in_turns = any(example.modalities for example in examples)
        instructions = self._instructions([] if in_turns else examples, system)
        turns[-1] = turns[-1].replace(parts=self._request(request, turns[-1]))
        asked = [*examples, *turns] if in_turns else turns
        if self.text == Mapping.template_str:
            return ComplexMessage(instructions, *asked)
        return super().render(values | {"instructions": instructions, "request": ComplexMessage(*asked)})

    def render_example(self, example: MappingExample) -> UserMessage:
        """A worked example as it is shown; its input and context are messages by now."""
        schema = example.schema or self.schema
        shown = self._context(example)
        shown.append(section(self.labels.input_title, example.input))
        shown.append([schema_section(schema, self.protocol.name)])
        shown.append(section(self.labels.output_title, self.protocol.write(example.output, schema)))
        return UserMessage(*joined(shown))

    def postprocess_response(self, message: AIMessage) -> AIMessage:
        """What is read, made of the model's answer."""
        return message

    def parse_result(self, message: AIMessage) -> Any:
        """The value in an answer; the output errors where there is none."""
        return self.protocol.read(message.text, self.schema, limits=self.parse_limits)

    def postprocess_result(self, value: Any) -> Any:
        """The result, made of the value that was read."""
        return value

    def stream(
        self,
        *,
        vars: Vars | None = None,
        lm: LanguageModel | None = None,
        timeout: float | None = None,
        **sampling: Any,
    ) -> BoundedStream:
        """The model's text as it comes, unread; `invalid_argument` where a hook needs the whole of it."""
        self._refuse_whole_hooks(Mapping, "postprocess_response", "parse_result", "postprocess_result")
        return super().stream(vars=vars, lm=lm, timeout=timeout, **sampling)

    async def _answer(self, lm: LanguageModel, message: Message, options: dict[str, Any]) -> AIMessage:
        reading = Reading(before=self.postprocess_response, parse=self.parse_result, after=self.postprocess_result)
        return self.transform_output(await answered(lm, message, options, reading=reading, repairs=self.repairs))

    def _rendered(self, example: MappingExample, values: Vars) -> MappingExample:
        """The example with messages for its input and context."""
        context = None if example.context is None else self._said(example.context, values)
        return example.replace(input=self._said(example.input, values), context=context)

    def _said(self, value: Any, values: Vars) -> Message:
        if isinstance(value, str):
            return UserMessage(value)
        return value.render(values) if isinstance(value, Template) else spoken(value, protocol=self.protocol)

    def _context(self, example: MappingExample) -> list[Section]:
        return [] if example.context is None else [section(self.labels.context_title, example.context)]

    def _request(self, request: MappingExample, last: Message) -> Section:
        asked = [section(self.labels.input_title, last), section(self.labels.output_title)]
        return joined(self._context(request) + asked)

    def _instructions(self, examples: list[UserMessage], system: list[Message]) -> SystemMessage:
        preamble = self.preamble if isinstance(self.preamble, str) else self.preamble[self.protocol.name]
        sections: list[Section] = [[preamble_section(preamble, self.protocol.name)]] if preamble else []
        sections += [list(example.parts) for example in examples]
        sections.append([schema_section(self.schema, self.protocol.name)])
        sections += [[self.system_message]] if self.system_message else []
        sections += [list(message.parts) for message in system]
        return SystemMessage(*joined(sections))


_protocol = protocol


def _turns(said: Message) -> tuple[list[Message], list[Message]]:
    """The leading system messages of an input, and the turns, of which the user has the last."""
    turns = list(said.messages) if isinstance(said, ComplexMessage) else [said]
    first = next((place for place, turn in enumerate(turns) if not isinstance(turn, SystemMessage)), len(turns))
    if not isinstance(turns[-1], UserMessage):
        raise InvalidValueError(
            f"the last message of the input must be the user's, not the {turns[-1].role}'s", code="invalid_message"
        )
    return turns[:first], turns[first:]
