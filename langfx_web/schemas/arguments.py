"""The arguments of one function as a schema: read by name, from what a model gave and from defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from langfx_web.errors import LangfxError, SchemaError
from langfx_web.json_text import check_value, is_json, plain
from langfx_web.schemas import adapters, compiling, docstrings, written
from langfx_web.schemas.json_schema import settle
from langfx_web.schemas.schema import Arguments, Schema

_SIMPLE = frozenset({str, int, float, bool, NoneType})


class ArgumentsSchema(Schema):
    """The arguments of one function: `members` are its parameters, `name -> (annotation, default or ...)`.

    The function's `docstring` describes those whose annotations do not. Validated values are a dict by parameter name.
    """

    def __init__(self, name: str, members: Mapping[str, tuple[Any, Any]], *, docstring: str = "") -> None:
        self._members = dict(members)
        self._docstring = docstring
        super().__init__(dict, name=f"{name}_arguments")

    def _look(self) -> None:
        """Declaring a tool loads nothing: its arguments are looked at when a model is told of them."""

    @cached_property
    def _record(self) -> Any:
        return adapters.record_type(self.name, self._members, docstrings.parameter_texts(self._docstring))

    @cached_property
    def _compiled(self) -> compiling.Compiled:
        try:
            return compiling.Compiled(self._record)
        except SchemaError as error:
            path = tuple(step.removeprefix("arg_") for step in error.path)
            raise SchemaError(str(error).replace(" at arg_", " at "), path=path) from error

    @cached_property
    def _adapter(self) -> adapters.Adapter:
        return adapters.adapter(self._record)

    def validate(self, value: Any) -> dict[str, Any]:
        """The arguments by name, defaults filled in."""
        record = super().validate(value)
        return {name: getattr(record, f"arg_{name}") for name in self._members}

    def read_arguments(self, given: Mapping[str, Any]) -> Arguments:
        """The arguments by name, defaults filled in; `SchemaMismatchError` has all problems.

        What has no JSON form stands in `plain` as it was given; a default that has none is left out.
        """
        return self._read_scalars(given) or self._read_any(given)

    def _read_any(self, given: Mapping[str, Any]) -> Arguments:
        settled = settle(self.json_schema(), plain(given))
        values = self.validate(settled)
        forms = {name: self._plain(value, settled.get(name, ...)) for name, value in values.items()}
        return Arguments(values, {name: form for name, form in forms.items() if form is not ...})

    def _plain(self, value: Any, given: Any) -> Any:
        try:
            form = written.written(value, self._compiled)
            if not is_json(form):
                check_value(form)
        except (LangfxError, ValueError, RecursionError):
            return given
        return form

    @cached_property
    def _kinds(self) -> Mapping[str, tuple[frozenset[type], Any]] | None:
        """The types and the default of each argument, where every one is a scalar without constraints."""
        found = {}
        for name in self._members:
            info = self._record.model_fields[f"arg_{name}"]
            kinds = _scalars(info.annotation)
            if kinds is None or info.metadata:
                return None
            found[name] = kinds, info.default
        return found

    def _read_scalars(self, given: Mapping[str, Any]) -> Arguments | None:
        """The arguments, where each is of exactly one of its types: most are. None says nothing of them."""
        if self._kinds is None:
            return None
        values: dict[str, Any] = {}
        known = 0
        for name, (kinds, default) in self._kinds.items():
            if name in given:
                known += 1
                value = given[name]
            else:
                value = default
            kind = type(value)
            if kind not in kinds or (kind is float and not math.isfinite(value)):
                return None
            values[name] = value
        return Arguments(values, values.copy()) if known == len(given) else None


def _scalars(hint: Any) -> frozenset[type] | None:
    """The scalar types that a hint stands for; None where it means anything else."""
    if hint in _SIMPLE:
        return frozenset({hint})
    if get_origin(hint) not in (Union, UnionType):
        return None
    arms = get_args(hint)
    return frozenset(arms) if _SIMPLE.issuperset(arms) else None
