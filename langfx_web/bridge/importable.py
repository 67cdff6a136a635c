"""What Python could import: asked by name, and nothing is imported by asking."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path, PurePosixPath


def normalized(name: str) -> str:
    """The one spelling of a distribution's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


def missing(names: Iterable[str]) -> set[str]:
    """Those top-level names that no import would find."""
    unknown = {name for name in names if name not in sys.modules}
    if unknown:
        importlib.invalidate_caches()
    return {name for name in unknown if find_spec(name) is None}


def imports_of(distribution: str) -> set[str] | None:
    """The top-level names in the record of an installed distribution; None if it is not installed."""
    # `importlib.metadata` knows more, and would make every start slower.
    for info in (path for folder in sys.path for path in Path(folder).glob("*.dist-info")):
        if normalized(info.name.partition("-")[0]) == normalized(distribution):
            lines = (info / "RECORD").read_text("utf-8").splitlines()
            return {name for name in map(_top_level, lines) if name.isidentifier()}
    return None


def _top_level(line: str) -> str:
    """The name that a file of a record is imported by, or no name."""
    path = PurePosixPath(line.rpartition(",")[0].rpartition(",")[0].strip('"'))
    if len(path.parts) == 1 and path.suffix not in (".py", ".so"):
        return ""
    top = path.parts[0] if path.parts else ""
    return top.partition(".")[0] if len(path.parts) == 1 else top
