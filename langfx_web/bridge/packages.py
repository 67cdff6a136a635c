"""The page's packages: from the bundle, from Pyodide's release, from the registry, by address; and then looked for."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from langfx_web.bridge.importable import imports_of, missing, normalized
from langfx_web.bridge.resolver import Resolver
from langfx_web.errors import BootError, LangfxError, PackageError
from langfx_web.json_text import dumps, loads

OWN_LOCK = "pyodide-lock.json"
FULL_LOCK = "pyodide-lock-full.json"
PROVIDED = frozenset(
    {
        "langfx-web",
        "annotated-types",
        "docstring-parser",
        "pydantic",
        "pydantic-core",
        "typing-extensions",
        "typing-inspection",
    }
)
"""What packs hold, so that it need not be installed."""

_PLAIN_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_SHA256 = re.compile(r"sha256=([0-9a-f]{64})")


class Installer(Protocol):
    """The worker's `Packages`: locks, wheels and files, each answer a text or bytes of JavaScript."""

    def lock(self, file: str, /) -> Awaitable[str]:
        """The text of a lock, or of a wire error."""

    def install(self, wheels: str, /) -> Awaitable[str]:
        """Install wheels, a JSON list of `{name, url, sha256, to}`; a JSON list of `{name, error}`."""

    def read(self, url: str, sha256: str, /) -> Awaitable[Any]:
        """A buffer, or the text of a wire error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Packages by normalized name, as Pyodide's lock files have them."""

    packages: Mapping[str, Mapping[str, Any]]

    def providing(self, imports: Set[str]) -> list[str]:
        """The packages that bring one of these top-level names."""
        return [name for name, entry in self.packages.items() if not imports.isdisjoint(entry["imports"])]

    def with_dependencies(self, names: Iterable[str]) -> list[str]:
        """These packages and all that they need, each behind what it needs."""
        found: dict[str, None] = {}
        waiting = [(name, False) for name in reversed(list(names))]
        seen: set[str] = set()
        while waiting:
            name, needs_are_there = waiting.pop()
            if needs_are_there:
                found[name] = None
            elif name not in seen and name not in PROVIDED:
                seen.add(name)
                waiting.append((name, True))
                waiting += [(normalized(other), False) for other in self._entry(name)["depends"]]
        return list(found)

    def wheels(self, names: Iterable[str]) -> list[dict[str, str]]:
        """How the worker is told of packages to install."""
        return [_wheel(name, self._entry(name)) for name in names]

    def imports(self, names: Iterable[str]) -> dict[str, list[str]]:
        """The top-level names that packages bring, by package."""
        return {name: [each.partition(".")[0] for each in self._entry(name)["imports"]] for name in names}

    def _entry(self, name: str) -> Mapping[str, Any]:
        if name not in self.packages:
            raise PackageError(f"the lock has no package {name!r}", names=[name])
        return self.packages[name]


@dataclass(slots=True, kw_only=True)
class Failures:
    """What could not be had, gathered so that a page learns of all of it at once."""

    reasons: dict[str, str] = field(default_factory=dict)
    network: bool = False

    def add(self, name: str, reason: str, *, network: bool = False) -> None:
        self.reasons.setdefault(name, reason)
        self.network = self.network or network

    def raise_if_any(self) -> None:
        if self.reasons:
            told = "; ".join(f"{name}: {reason}" for name, reason in self.reasons.items())
            raise PackageError(
                f"packages that could not be loaded: {told}"[:2000], names=list(self.reasons), retryable=self.network
            )


class Packages:
    """Installs what one page asks for.

    `open_installer` loads the worker's part of it, which no other page needs; `prepare` makes the packs importable
    that packages may rely on: pydantic, and the rest of the standard library. Wheels given by address are kept
    below `folder`.
    """

    def __init__(
        self,
        open_installer: Callable[[], Awaitable[Installer]],
        *,
        prepare: Callable[[], Awaitable[None]],
        folder: Path,
    ) -> None:
        self._open_installer = open_installer
        self._prepare = prepare
        self._folder = folder
        self._installed: set[str] = set()

    async def load(self, requirements: Sequence[str], urls: Sequence[str], imports: Set[str]) -> None:
        """Make requirements, wheels by address, and what bundled wheels have of `imports` importable.

        `PackageError` names everything that is still missing then; its `retryable` says whether the network failed.
        """
        if not (requirements or urls or imports):
            return
        installer = await self._open_installer()
        lock = await _read_lock(installer, OWN_LOCK)
        plain = {text: normalized(text) for text in requirements if _PLAIN_NAME.fullmatch(text)}
        bundled = {name for name in plain.values() if name in lock.packages or name in PROVIDED}
        names = lock.with_dependencies(sorted(bundled.union(lock.providing(imports))))
        if names or requirements or urls:
            await self._prepare()
        failures = Failures()
        await self._install(installer, lock, names, failures)
        if rest := [text for text in requirements if plain.get(text) not in bundled]:
            await self._resolve(installer, lock, rest, failures)
        if urls:
            await self._resolve(installer, lock, await self._save(installer, urls, failures), failures)
        failures.raise_if_any()

    async def _install(self, installer: Installer, lock: Lock, names: Iterable[str], failures: Failures) -> None:
        wanted = [name for name in names if name not in self._installed]
        if not wanted:
            return
        for failure in loads(await installer.install(dumps(lock.wheels(wanted)))):
            error = failure["error"]
            failures.add(failure["name"], error["message"], network=error["retryable"])
        self._installed.update(wanted)
        for name, imports in lock.imports(wanted).items():
            if lacking := missing(imports):
                failures.add(name, f"it brings no {', '.join(sorted(lacking))}")

    async def _resolve(self, installer: Installer, own: Lock, texts: Sequence[str], failures: Failures) -> None:
        """Have micropip find what the bundle lacks, in Pyodide's release first and then in the registry."""
        await self._install(installer, own, own.with_dependencies(["micropip"]), failures)
        failures.raise_if_any()
        full = await _read_lock(installer, FULL_LOCK)

        async def load(names: Sequence[str]) -> None:
            found = Failures()
            await self._install(installer, full, full.with_dependencies(map(normalized, names)), found)
            found.raise_if_any()

        resolver = Resolver(full.packages, load=load, read=lambda url: _read(installer, url, ""))
        for text in texts:
            try:
                await resolver.install(text)
            except PackageError as error:
                failures.add(_name_of(text), error.message, network=error.retryable)
            else:
                _look_for(_name_of(text), failures)

    async def _save(self, installer: Installer, urls: Sequence[str], failures: Failures) -> list[str]:
        """Wheels by address as files of Pyodide, in micropip's words for them; a hash in the fragment is checked."""
        saved = []
        self._folder.mkdir(parents=True, exist_ok=True)
        for url in urls:
            parts = urlsplit(url)
            file = unquote(parts.path).rpartition("/")[2]
            found = _SHA256.search(parts.fragment)
            if not file.endswith(".whl"):
                address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
                failures.add(address, "that is the address of no wheel: one ends in .whl")
                continue
            try:
                content = await _read(installer, url, found.group(1) if found else "")
            except LangfxError as error:
                failures.add(file, error.message, network=error.retryable)
                continue
            (self._folder / file).write_bytes(content)
            saved.append(f"emfs:{self._folder / file}")
        return saved


def _wheel(name: str, entry: Mapping[str, Any]) -> dict[str, str]:
    file = entry["file_name"]
    url = file if "://" in file else f"wheels/{file}"
    return {"name": name, "url": url, "sha256": entry["sha256"], "to": entry["install_dir"]}


async def _read_lock(installer: Installer, file: str) -> Lock:
    facts = loads(await installer.lock(file))
    if "packages" not in facts:
        raise _boot_error(facts)
    return Lock(packages=facts["packages"])


async def _read(installer: Installer, url: str, sha256: str) -> bytes:
    answer = await installer.read(url, sha256)
    if isinstance(answer, str):
        raise _boot_error(loads(answer))
    return bytes(answer.to_bytes())


def _look_for(name: str, failures: Failures) -> None:
    """Whether a package that was found beyond the locks can be imported, by its own record of files."""
    imports = imports_of(name.removesuffix(".whl").partition("-")[0] if name.endswith(".whl") else name)
    if imports is None:
        failures.add(name, "it is not installed")
    elif lacking := missing(imports):
        failures.add(name, f"it brings no {', '.join(sorted(lacking))}")


def _name_of(text: str) -> str:
    """The name in a requirement, or the file of a wheel."""
    if text.startswith("emfs:"):
        return text.rpartition("/")[2]
    found = _PLAIN_NAME.match(text.strip())
    return found.group() if found else text


def _boot_error(facts: Mapping[str, Any]) -> BootError:
    return BootError(facts["message"], code=facts["code"], retryable=facts["retryable"], details=facts.get("details"))
