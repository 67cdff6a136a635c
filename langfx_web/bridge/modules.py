"""The page's own Python modules: imported once, their agents and public functions found by name."""

from __future__ import annotations

import ast
import importlib
import keyword
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

from langfx_web.agent import Agent
from langfx_web.errors import NoAgentError, TargetNotFoundError, UserModuleError


class Modules:
    """The modules of one page, written below `folder` and imported in the order given.

    `module_failed` names the module, and in its details file, line and traceback.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._modules: dict[str, ModuleType] = {}
        self._agents: dict[str, Agent] = {}

    @staticmethod
    def imported_names(sources: Iterable[str]) -> set[str]:
        """The top-level packages that these sources import; unreadable sources import nothing."""
        names: set[str] = set()
        for source in sources:
            try:
                tree = ast.parse(source)
            except (SyntaxError, ValueError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Import):
                    names.update(alias.name.partition(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names.add(node.module.partition(".")[0])
        return names

    def load(self, given: Iterable[Mapping[str, str]]) -> None:
        """Write and import modules given as `{url, source}`; they may import each other."""
        stems = []
        self._folder.mkdir(parents=True, exist_ok=True)
        if str(self._folder) not in sys.path:
            sys.path.insert(0, str(self._folder))
        for module in given:
            stem = stem_of(module["url"])
            if stem in stems:
                raise UserModuleError(f"two modules are named {stem}", module=stem)
            stems.append(stem)
            (self._folder / f"{stem}.py").write_text(module["source"], encoding="utf-8")
        importlib.invalidate_caches()
        for stem in stems:
            self._modules[stem] = self._imported(stem)
        self._agents = self._found_agents()

    @property
    def agents(self) -> list[str]:
        """The names of the agents that the modules define."""
        return sorted(self._agents)

    def agent(self, name: str) -> Agent:
        """The agent of that name; `no_agent` lists those that exist."""
        if name not in self._agents:
            known = ", ".join(self.agents) or "none"
            raise NoAgentError(f"no module of the page defines an agent named {name!r}. Defined: {known}.", agent=name)
        return self._agents[name]

    def function(self, target: str) -> Callable[..., Any]:
        """The public callable behind `module:name`; `target_not_found` otherwise."""
        module, colon, name = target.partition(":")
        found = getattr(self._modules.get(module), name, None) if colon and name.isidentifier() else None
        if name.startswith("_") or not callable(found):
            raise TargetNotFoundError(f"{target!r} is no public function of the page's modules")
        result: Callable[..., Any] = found
        return result

    def _imported(self, stem: str) -> ModuleType:
        try:
            return importlib.import_module(stem)
        except BaseException as error:  # a module may raise anything, SystemExit too
            if not isinstance(error, (Exception, SystemExit)):
                raise
            raise self._failure(stem, error) from error

    def _failure(self, stem: str, error: BaseException) -> UserModuleError:
        own = [
            frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(str(self._folder))
        ]
        file, line = (Path(own[-1].filename).name, own[-1].lineno) if own else (f"{stem}.py", None)
        if isinstance(error, SyntaxError) and error.filename:
            file, line = Path(error.filename).name, error.lineno
        where = f"{file}, line {line}" if line else file
        details = {"file": file, "line": line, "type": type(error).__name__, "traceback": user_traceback(error, own)}
        text = f"{where}: {type(error).__name__}: {error}{_remedy(error)}"
        return UserModuleError(text, module=stem, details=details)

    def _found_agents(self) -> dict[str, Agent]:
        found: dict[str, Agent] = {}
        for stem, module in self._modules.items():
            for value in vars(module).values():
                if isinstance(value, Agent) and found.setdefault(value.name, value) is not value:
                    raise UserModuleError(f"{stem}.py: there are two agents named {value.name!r}", module=stem)
        return found


def user_traceback(error: BaseException, frames: Iterable[traceback.FrameSummary] | None = None) -> str:
    """The traceback of an exception, of the given frames only where some are given."""
    shown = traceback.extract_tb(error.__traceback__) if frames is None else frames
    lines = traceback.format_list(list(shown)) + traceback.format_exception_only(error)
    return "".join(lines)[:8000]


def _remedy(error: BaseException) -> str:
    """What to do about a module that was not found, where that is in the page's hands."""
    if not isinstance(error, ModuleNotFoundError) or not error.name or error.name in sys.stdlib_module_names:
        return ""
    top = error.name.partition(".")[0]
    return f". If {top} is a package, name it in connect({{ packages: [...] }}), or build with it: --with NAME"


def stem_of(url: str) -> str:
    """The name that the module at `url` is imported by; `module_failed` if there is none."""
    name = unquote(urlsplit(url).path).rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    if not dot or ending != "py" or not stem.isidentifier() or keyword.iskeyword(stem):
        raise UserModuleError(f"{name!r} cannot be imported: name it like a Python module, NAME.py", module=name)
    if stem in sys.stdlib_module_names or stem == "langfx_web":
        raise UserModuleError(f"{name!r} would hide the module {stem!r}: give it another name", module=stem)
    return stem
