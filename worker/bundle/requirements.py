"""Requirements as metadata and people write them: `name[extra]>=1,<2; marker`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from worker.bundle.markers import holds
from worker.bundle.outcome import CheckFailed

_REQUIREMENT = re.compile(
    r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^]]*)\])?\s*\(?((?:(?:[<>=!~]=|[<>])[^;()]*)?)\)?\s*(?:;(.*))?$"
)
_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>)\s*(\S+)$")
_VERSION = re.compile(r"v?(?:\d+!)?(\d+(?:\.\d+)*)(?:[._-]?(a|b|rc)\.?(\d*))?(\.post\d+)?(\.dev\d+)?(?:\+.*)?$")
_ORDERS = {"<": {-1}, "<=": {-1, 0}, "==": {0}, "!=": {-1, 1}, ">=": {0, 1}, ">": {1}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A distribution by its normalized name; `clauses` bound its version, `extras` are parts asked for by name."""

    name: str
    extras: frozenset[str] = frozenset()
    clauses: frozenset[str] = frozenset()
    marker: str = ""

    def __str__(self) -> str:
        extras = f"[{','.join(sorted(self.extras))}]" if self.extras else ""
        return self.name + extras + self.specifier

    @property
    def specifier(self) -> str:
        return ",".join(sorted(self.clauses))

    def joined(self, other: "Requirement") -> "Requirement":
        """What satisfies both."""
        return Requirement(name=self.name, extras=self.extras | other.extras, clauses=self.clauses | other.clauses)

    def admits(self, version: str) -> bool:
        """Whether `version` is within the bounds; raises `ValueError` if one cannot be read."""
        return all(_within(version, clause) for clause in self.clauses)


def normalize(name: str) -> str:
    """The one spelling of a distribution's name: lower case, runs of `-_.` as one `-`."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_requirement(text: str) -> Requirement:
    """Read one requirement; raises `CheckFailed` for other texts, addresses among them."""
    match = _REQUIREMENT.match(text)
    if match is None:
        raise CheckFailed(f"cannot read the requirement {text!r}: write NAME, NAME==VERSION or NAME[EXTRA]>=VERSION")
    name, extras, specifier, marker = match.groups()
    return Requirement(
        name=normalize(name),
        extras=frozenset(normalize(extra.strip()) for extra in (extras or "").split(",") if extra.strip()),
        clauses=frozenset(clause.strip().replace(" ", "") for clause in specifier.split(",") if clause.strip()),
        marker=(marker or "").strip(),
    )


def needed(
    requires: Iterable[str], environment: Mapping[str, str], *, extras: Iterable[str] = ()
) -> dict[str, Requirement]:
    """Those `Requires-Dist` lines that hold in `environment`, with `extras` or without one, joined by name."""
    found: dict[str, Requirement] = {}
    for requirement in map(read_requirement, requires):
        if not requirement.marker or _holds(requirement.marker, environment, extras):
            known = found.get(requirement.name, Requirement(name=requirement.name))
            found[requirement.name] = known.joined(requirement)
    return dict(sorted(found.items()))


def _holds(marker: str, environment: Mapping[str, str], extras: Iterable[str]) -> bool:
    return any(holds(marker, {**environment, "extra": extra}) for extra in ("", *extras))


def _within(version: str, clause: str) -> bool:
    match = _CLAUSE.match(clause)
    if match is None:
        raise ValueError(f"cannot read the bound {clause!r} of a version")
    operator, bound = match.groups()
    if operator == "===":
        return version == bound
    if bound.endswith(".*"):
        return _starts_with(version, bound[:-2]) is (operator == "==")
    if operator == "~=":
        return _order(version, bound) >= 0 and _starts_with(version, bound.rpartition(".")[0])
    return _order(version, bound) in _ORDERS[operator]


def _starts_with(version: str, prefix: str) -> bool:
    wanted, found = _release(prefix), _release(version)
    return (found + [0] * len(wanted))[: len(wanted)] == wanted


def _order(left: str, right: str) -> int:
    a, b = _key(left), _key(right)
    return (a > b) - (a < b)


def _release(version: str) -> list[int]:
    return [int(number) for number in _read(version).group(1).split(".")]


def _key(version: str) -> tuple[list[int], str, int, int, float]:
    """Sorts as versions do: development, alpha, beta and release candidate, the release itself, later posts."""
    match = _read(version)
    release = _release(version)
    while release and release[-1] == 0:
        release.pop()
    _, stage, number, post, development = match.groups()
    # "" would sort first; a release comes after its candidates, and its development versions before all of them.
    stage = stage or ("" if development and not post else "z")
    before = int(development[4:]) if development else float("inf")
    return release, stage, int(number or 0), int(post[5:]) if post else -1, before


def _read(version: str) -> re.Match[str]:
    match = _VERSION.match(version)
    if match is None:
        raise ValueError(f"cannot read the version {version!r}")
    return match
