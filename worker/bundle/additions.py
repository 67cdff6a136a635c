"""What `--with` and `--wheel` add to a bundle: packages with all that they need inside Pyodide."""

import functools
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from worker.bundle.markers import emscripten
from worker.bundle.outcome import CheckFailed
from worker.bundle.requirements import Requirement, needed, normalize, read_requirement
from worker.bundle.wheels import WheelFacts, wheel_facts

_ROUNDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Additions:
    """What a person asked for: requirements as pip takes them, and wheels as files."""

    requirements: Sequence[str] = ()
    wheels: Sequence[Path] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundled:
    """A wheel of the bundle, with those of its extras that something in the bundle asks for."""

    path: Path
    facts: WheelFacts
    extras: frozenset[str] = field(default_factory=frozenset)

    @property
    def name(self) -> str:
        return normalize(self.facts.name)


def bundled(path: Path, *, target: Mapping[str, Sequence[str]] | None = None) -> Bundled:
    """A wheel file as part of the bundle; `CheckFailed` if it is for none of `target`, the options of pip."""
    try:
        facts = wheel_facts(path)
    except (OSError, StopIteration, ValueError, zipfile.BadZipFile) as error:
        raise CheckFailed(f"{path} is no wheel: {str(error) or 'it has no metadata'}") from error
    if target is not None and not _runs_on(path.name, target):
        raise CheckFailed(
            f"{path.name} runs on other platforms only: a bundle takes wheels for any platform, "
            f"and those for {' or '.join(target['platform'])} that fit Python {target['python-version'][0]}"
        )
    return Bundled(path=path, facts=facts)


def with_additions(
    base: Iterable[Path],
    additions: Additions,
    *,
    find: Callable[[str], Path],
    target: Mapping[str, Sequence[str]],
    python: str,
) -> list[Bundled]:
    """The wheels of a bundle by name: those of `base`, and with them everything that `additions` need.

    `find` gives the wheel for a requirement, the same each time. Raises `CheckFailed` where versions do not fit
    together, or a wheel does not run in Pyodide.
    """
    own = [*(bundled(path) for path in base), *(bundled(path, target=target) for path in additions.wheels)]
    fixed = {wheel.name: wheel for wheel in own}
    roots = [read_requirement(text) for text in (*fixed, *additions.requirements)]
    environment, find = emscripten(python), functools.cache(find)
    chosen = dict(fixed)
    for _ in range(_ROUNDS):
        wanted = _wanted(roots, chosen, fixed, environment)
        fresh = {name: _meeting(item, fixed, find) for name, item in wanted.items()}
        if fresh == chosen:
            return [chosen[name] for name in sorted(chosen)]
        chosen = fresh
    raise CheckFailed(f"no versions fit together for {', '.join(additions.requirements)}: name them as NAME==VERSION")


def _wanted(
    roots: Iterable[Requirement],
    chosen: Mapping[str, Bundled],
    fixed: Mapping[str, Bundled],
    environment: Mapping[str, str],
) -> dict[str, Requirement]:
    """Everything that the roots lead to through the wheels chosen so far, by name; `fixed` ones must fit."""
    wanted: dict[str, Requirement] = {}
    left = [(root, "the command line") for root in roots]
    while left:
        requirement, source = left.pop()
        known = wanted.get(requirement.name)
        joined = known.joined(requirement) if known else requirement
        if joined == known:
            continue
        wanted[requirement.name] = joined
        if wheel := fixed.get(requirement.name):
            _check_version(wheel, requirement, source)
        if wheel := chosen.get(requirement.name):
            left += [(item, wheel.name) for item in _needs(wheel, joined.extras, environment)]
    return wanted


def _needs(wheel: Bundled, extras: frozenset[str], environment: Mapping[str, str]) -> Iterable[Requirement]:
    try:
        return needed(wheel.facts.requires, environment, extras=extras).values()
    except (CheckFailed, ValueError) as error:
        raise CheckFailed(f"{wheel.path.name}: {error}") from error


def _check_version(wheel: Bundled, requirement: Requirement, source: str) -> None:
    """Wheels that are pinned or given stay as they are."""
    if not requirement.admits(wheel.facts.version):
        raise CheckFailed(f"{source} needs {requirement}; the bundle has {wheel.name} {wheel.facts.version}")


def _meeting(requirement: Requirement, fixed: Mapping[str, Bundled], find: Callable[[str], Path]) -> Bundled:
    wheel = fixed.get(requirement.name) or bundled(find(requirement.name + requirement.specifier))
    return Bundled(path=wheel.path, facts=wheel.facts, extras=requirement.extras)


def _runs_on(file_name: str, target: Mapping[str, Sequence[str]]) -> bool:
    """Whether the tags of a wheel's name are among those that pip is told of."""
    match = re.fullmatch(r".+-([^-]+)-([^-]+)-([^-]+)\.whl", file_name)
    if match is None:
        return False
    pythons, abis, platforms = (part.split(".") for part in match.groups())
    version = target["python-version"][0].replace(".", "")
    if not {"py3", f"py{version}", f"cp{version}"} & set(pythons):
        return False
    return bool(set(platforms) & set(target["platform"])) and bool(set(abis) & set(target["abi"]))
