"""What langfun makes of the answers of the parity table. Run by `build.py parity`, in an environment with langfun.

langfun executes what a model wrote. So it is given nothing but the fixed answers of our own table, in a process and a
folder of their own.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pyglove as pg
from langfun.core import structured
from langfun.core.llms.fake import StaticResponse

from tests.protocols import langfun_types
from tests.protocols.written import members, written


def main(questions: Path, out: Path) -> None:
    """Read `[[protocol, type, answer], …]`, and write langfun's version and what it makes of each."""
    with Path(os.devnull).open("w") as nothing, contextlib.redirect_stdout(nothing):
        found = [outcome(*question) for question in json.loads(questions.read_text("utf-8"))]
    out.write_text(json.dumps({"langfun": importlib.metadata.version("langfun"), "outcomes": found}), "utf-8")


def outcome(protocol: str, expression: str, answer: str) -> Any:
    """The value, or the names of the errors, each inside the one before."""
    # In JSON langfun wants whole paths of classes, which the table writes as "$Name".
    response = re.sub(r'"\$(\w+)"', rf'"{langfun_types.__name__}.\1"', answer) if protocol == "json" else answer
    try:
        wanted = langfun_types.type_of(expression)
        value = structured.query("What?", wanted, lm=StaticResponse(response), protocol=protocol)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is the outcome
        return ">".join(type(inner).__name__ for inner in causes(error))
    return {"value": written(value, symbolic_members)}


def causes(error: BaseException | None) -> list[BaseException]:
    """An error and those inside it."""
    return [] if error is None else [error, *causes(getattr(error, "cause", None))]


def symbolic_members(value: Any) -> dict[str, Any] | None:
    """The fields of langfun's own classes, and of dataclasses."""
    return dict(value.sym_items()) if isinstance(value, pg.Object) else members(value)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
