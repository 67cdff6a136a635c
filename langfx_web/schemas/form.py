"""What a value of a wanted type may look like, and building it from a tree without conversions.

The kind of each part is checked before anything else, and never converted; pydantic then applies constraints and
validators, once per object, from the inside out. Of the arms of a union the one of the best rank wins:
0 a constant, 1 the exact kind, 2 a conversion, 3 an open dict, 4 anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

from langfx_web.json_text import Path
from langfx_web.schemas import adapters
from langfx_web.schemas.tree import EnumNode, ObjectNode, SetNode
from langfx_web.schemas.unknown import UNKNOWN

Source: TypeAlias = Literal["python", "json", "app"]
"""Where a tree comes from: an answer in one of the protocols, or the app, whose values may be typed already."""

_SCALARS = frozenset({str, int, float, bool, bytes, type(None)})


class Fit(NamedTuple):
    """A value that fits, and how well."""

    rank: int
    value: Any


class Reading:
    """One value being built: where it is from, the names it may use, and what does not fit in it.

    `is_inner` says that pydantic will make the object around: what can only be one class is then left to it, as plain
    data that fits, so that an author's validators run once and see what they would see without us.
    """

    def __init__(self, *, source: Source, classes: Mapping[str, Any], enums: Mapping[str, type[Enum]]) -> None:
        self.source = source
        self.is_python = source == "python"
        self.is_app = source == "app"
        self.classes = classes
        self.enums = enums
        self.is_trial = False
        self.is_inner = False
        self.problems: list[dict[str, Any]] = []
        self.tried: dict[tuple[int, int, Path], tuple[Fit | None, list[dict[str, Any]]]] = {}

    def refuse(self, path: Path, message: str, type_: str = "kind") -> Fit | None:
        """Note a problem, and return None: the part that has it does not fit."""
        self.problems.append({"type": type_, "path": list(path), "message": message})
        return None

    def trial(self) -> Reading:
        """The same reading with no problems yet; what was tried in it is not tried again."""
        trial = Reading(source=self.source, classes=self.classes, enums=self.enums)
        trial.is_trial = True
        trial.tried = self.tried
        return trial


class Form:
    """A wanted type. `kind` is what its value is as a root: object, dict, list, tuple, set or scalar.

    `problem` names what another kind of value is, as pydantic does. `notes` are what stands beside the type.
    """

    kind = "scalar"
    name = ""
    problem = "kind"
    is_blurred = False
    """Whether pydantic may take one constant of it for another, such as true for 1."""

    has_more = False
    """Whether pydantic has more to say than the kinds of the parts: constraints, validators."""

    notes: Mapping[str, Any] = MappingProxyType({})

    def fit(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        """The value of a tree; None where it does not fit, which `reading` then says."""
        raise NotImplementedError

    def kinds(self) -> frozenset[str]:
        """What a root of this form may be."""
        return frozenset({self.kind})

    def takes_null(self) -> bool:
        """Whether null is a value of it."""
        return False

    def is_plain(self, value: Any) -> bool:
        """Whether a value needs no further look: it fits, and is its own JSON form."""
        return False

    def is_own(self, tree: Any) -> bool:
        """Whether the app's value is one of this form, and of no kind that an answer could have."""
        return False

    def kept(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        """The fit of such a value."""
        return Fit(1, tree)

    def wrong(self, tree: Any, path: Path, reading: Reading) -> Fit | None:
        """What becomes of a tree of another kind: nothing, unless it is the app's own value."""
        if reading.is_app and self.is_own(tree):
            return self.kept(tree, path, reading)
        return reading.refuse(path, f"{self.name} is wanted, not {kind_of(tree)}", self.problem)


def kind_of(tree: Any) -> str:
    """What a tree is, in the words of an answer's author."""
    if isinstance(tree, ObjectNode):
        return f"a {tree.class_name}"
    if isinstance(tree, EnumNode):
        return repr(tree)
    if tree is None or tree is UNKNOWN or isinstance(tree, bool):
        return repr(tree)
    if isinstance(tree, float) and not math.isfinite(tree):
        return "a number that is not finite"
    return "a set" if isinstance(tree, SetNode) else f"a {type(tree).__name__}"


def best(forms: Sequence[Form], tree: Any, path: Path, reading: Reading) -> Fit | None:
    """The fit of the best rank; different values of one rank are a mismatch that names their forms."""
    if len(forms) == 1:
        return forms[0].fit(tree, path, reading)
    chosen: Fit | None = None
    chosen_form: Any = None
    nearest: list[dict[str, Any]] | None = None
    for form in forms:
        fit, problems = _tried(form, tree, path, reading)
        if fit is None:
            if nearest is None or _nearness(problems) > _nearness(nearest):
                nearest = problems
        elif chosen is None or fit.rank < chosen.rank:
            chosen, chosen_form = fit, form
        elif fit.rank == chosen.rank and not is_same(fit.value, chosen.value):
            return reading.refuse(path, f"it fits both {chosen_form.name} and {form.name}", "ambiguous")
    if chosen is None:
        reading.problems += nearest or []
    return chosen


def _tried(form: Form, tree: Any, path: Path, reading: Reading) -> tuple[Fit | None, list[dict[str, Any]]]:
    """What a trial of one form gives, made once: unions within unions would double the work at each level."""
    if type(tree) in _SCALARS:
        trial = reading.trial()
        return form.fit(tree, path, trial), trial.problems
    key = (id(form), id(tree), path)
    if key not in reading.tried:
        trial = reading.trial()
        reading.tried[key] = form.fit(tree, path, trial), trial.problems
    return reading.tried[key]


def _nearness(problems: list[dict[str, Any]]) -> tuple[int, int]:
    return max((len(problem["path"]) for problem in problems), default=0), -len(problems)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal and of the same types all through."""
    return type(one) is type(other) and repr(one) == repr(other) and one == other


def validated(type_: Any, value: Any, path: Path, reading: Reading) -> tuple[Any] | None:
    """The value as pydantic takes it, constraints and validators applied, in a tuple of one."""
    try:
        return (adapters.made(type_, value),)
    except ValueError as error:
        found = adapters.problems(error)
        if found is None:
            raise
        note(found, value, path, reading)
        return None


def note(found: list[dict[str, Any]], value: Any, path: Path, reading: Reading) -> None:
    """Add problems of pydantic's to a reading; their paths go as far as the value does, without names of arms."""
    for problem in found:
        reading.problems.append({**problem, "path": [*path, *_within(value, problem["path"])]})


def _within(value: Any, path: list[Any]) -> list[Any]:
    for place, step in enumerate(path):
        try:
            value = value[step]
        except (TypeError, LookupError):
            return path[:place]
    return path
