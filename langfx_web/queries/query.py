"""`query`: one prompt, one answer, as a text or as a value of a type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, overload

from langfx_web.errors import MappingError
from langfx_web.llms import LanguageModel
from langfx_web.messages import AIMessage
from langfx_web.protocols import ParseLimits, ProtocolName
from langfx_web.queries.asking import Asking
from langfx_web.queries.example import MappingExample
from langfx_web.queries.inquiry import inquiry
from langfx_web.queries.marks import RAISE
from langfx_web.schemas import pydantic_arrived

Value = TypeVar("Value")
Default = TypeVar("Default")


@overload
async def query(prompt: Any, schema: Any = None, *, returns_message: Literal[True], **options: Any) -> AIMessage: ...
@overload
async def query(prompt: Any, schema: type[Value], *, default: Default, **options: Any) -> Value | Default: ...
@overload
async def query(prompt: Any, schema: type[Value], **options: Any) -> Value: ...
@overload
async def query(prompt: Any, schema: None = None, **options: Any) -> str: ...
@overload
async def query(prompt: Any, schema: Any, **options: Any) -> Any: ...
async def query(
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
    returns_message: bool = False,
    default: Any = RAISE,
    autofix: int = 0,
    autofix_lm: LanguageModel | None = None,
    postprocess_response: Callable[[AIMessage], AIMessage] | None = None,
    parse_limits: ParseLimits | None = None,
    cache_seed: int | None = 0,
    timeout: float | None = None,
    **sampling: Any,
) -> Any:
    """Ask a model, and return the text of its answer, or with a `schema` (a type or `Schema`) the value it wrote.

    A str prompt is a template rendered with `vars`; a message, or several, is literal; any other value is written down.
    `returns_message` gives the `AIMessage` with `.result`, `.source` and the `.usage` of all requests. Where no value
    can be read, a model may correct itself `autofix` times, then `MappingError` is raised or `default` returned; every
    other error is raised, those of bad options before anything is sent. `timeout` is in seconds, repairs included.
    """
    if examples:
        await pydantic_arrived()
    question = inquiry(
        prompt,
        schema,
        lm=lm,
        vars=vars,
        protocol=protocol,
        native_structured_output=native_structured_output,
        examples=examples,
        context=context,
        system_message=system_message,
        parse_limits=parse_limits,
        **sampling,
    )
    asking = Asking(
        autofix=autofix,
        autofix_lm=autofix_lm,
        postprocess_response=postprocess_response,
        cache_seed=cache_seed,
        timeout=timeout,
    )
    try:
        answer = await asking.ask(question)
    except MappingError:
        if default is RAISE:
            raise
        return default
    return answer if returns_message else answer.result
