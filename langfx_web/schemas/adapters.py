"""The one place where pydantic is loaded, on first use: building and running its validators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args, get_origin

from langfx_web.errors import SchemaError
from langfx_web.json_text import dumps

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Adapter: TypeAlias = "TypeAdapter[Any]"
"""pydantic's validator and writer of one type."""


def load_pydantic() -> None:
    """Import pydantic and build a first validator, which the next ones are much faster than."""
    record_type("First", {"member": (str, ...)})


def adapter(type_: Any) -> Adapter:
    """A pydantic adapter of any type it can describe; `schema_unsupported` for the rest."""
    from pydantic import PydanticUndefinedAnnotation, PydanticUserError, TypeAdapter

    try:
        return TypeAdapter(type_)
    except (PydanticUserError, PydanticUndefinedAnnotation, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise SchemaError(f"{type_!r} cannot be described to a model: {reason}") from error


@lru_cache(maxsize=1024)
def _cached(type_: Any) -> Adapter:
    return adapter(type_)


def made(type_: Any, value: Any) -> Any:
    """The value of a type from one of the right kind, by field names; pydantic's own error where it is refused."""
    return _cached(type_).validate_python(value, by_name=True, by_alias=False)


def core_schema(type_: Any) -> Mapping[str, Any]:
    """How pydantic itself describes the type."""
    return _cached(type_).core_schema


def read_json(type_: Any, text: str) -> Any:
    """The value that a JSON text has by strict reading, unknown keys refused; pydantic's own error where it has none.

    NaN, infinities and doubled keys are taken.
    """
    return _cached(type_).validate_json(text, strict=True, extra="forbid", by_alias=True, by_name=False)


def as_text(value: Any) -> Any:
    """What JSON has for a value of a type that is written as text, such as a date."""
    type_: Any = type(value)
    return _cached(type_).dump_python(value, mode="json")


def from_text(type_: Any, value: Any) -> Any:
    """The value of a type that JSON has as text; pydantic's own error where the text is no such value."""
    return _cached(type_).validate_json(dumps(value), strict=True)


def text_schema(type_: Any) -> dict[str, Any] | None:
    """The JSON Schema of a type whose values JSON has as text; None for other types."""
    try:
        written = _cached(type_).json_schema(mode="serialization")
        read: dict[str, Any] = _cached(type_).json_schema(mode="validation")
    except (SchemaError, ValueError, TypeError):
        return None
    return read if written.get("type") == "string" else None


def record_type(name: str, members: Mapping[str, tuple[Any, Any]], texts: Mapping[str, str] | None = None) -> Any:
    """A closed pydantic model whose members are `name -> (annotation, default or ...)`, under aliases of those names.

    The attribute behind the member `x` is `arg_x`, so that no name can clash with pydantic's own. A default may be a
    `Field(…)`. `texts` describes members that say nothing of themselves. `schema_unsupported` has the path of a member
    that cannot be described.
    """
    from pydantic import ConfigDict, PydanticUserError, create_model

    fields: dict[str, Any] = {
        f"arg_{member}": _field(member, annotation, default, (texts or {}).get(member))
        for member, (annotation, default) in members.items()
    }
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    try:
        return create_model(name, __config__=config, **fields)
    except (PydanticUserError, TypeError) as error:
        for member, (annotation, _) in members.items():
            try:
                adapter(annotation)
            except SchemaError as reason:
                raise SchemaError(f"{member}: {reason}", path=(member,)) from error
        raise SchemaError(f"{name} cannot be described to a model: {error}") from error


def _field(name: str, annotation: Any, default: Any, text: str | None) -> tuple[Any, Any]:
    from pydantic import Field
    from pydantic.fields import FieldInfo

    # Of what stands beside a type, the last one wins.
    beside: list[Any] = [Field(description=text)] if text else []
    if get_origin(annotation) is Annotated:
        annotation, *own = get_args(annotation)
        beside += own
    if isinstance(default, FieldInfo):
        beside.append(default)
        default = ...
    whole = Annotated[annotation, *beside] if beside else annotation
    return whole, Field(alias=name) if default is ... else Field(default=default, alias=name)


def problems(error: Exception) -> list[dict[str, Any]] | None:
    """What a pydantic `ValidationError` says, as `{type, path, message}`; None for any other exception."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return None
    # The root of typed arguments is a model here, but an object to whoever wrote them.
    return [
        {"type": item["type"].replace("model_type", "dict_type"), "path": list(item["loc"]), "message": item["msg"]}
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]
