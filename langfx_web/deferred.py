"""Modules that are read when they are first used, so that a worker is ready before it has read what few pages need.

Typed answers are a third of the package, and a page that only runs agents needs none of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def later(name: str) -> ModuleType:
    """What stands for the module of that name: it is imported when an attribute of it is asked for."""
    if find_spec(name) is None:
        raise ModuleNotFoundError(f"no module named {name!r}", name=name)
    return _Later(name)


class _Later(ModuleType):
    """Apart from `sys.modules`, where a package that is not read yet would let its modules be read twice."""

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = getattr(import_module(self.__name__), name)
        return value


def deferred(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module: each name of `homes` is imported from its home at first use, and then stays.

    A name at home in `module` itself is a module below it.
    """

    def imported(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = import_module(f"{home}.{name}") if home == module else getattr(import_module(home), name)
        setattr(sys.modules[module], name, value)
        return value

    return imported
