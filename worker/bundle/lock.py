"""Our own `pyodide-lock.json`: the bundled wheels and nothing else, so that no lookup can leave the bundle.

The form is that of Pyodide 314. `file_name` is the bare name of a file beside the lock's package base,
which is the folder `wheels/` of the runtime: `packageBaseUrl` has to name it.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from worker.bundle.markers import emscripten, needed, normalize
from worker.bundle.outcome import CheckFailed
from worker.bundle.wheels import WheelFacts, wheel_facts


def lock_text(wheels: Iterable[Path], *, info: Mapping[str, str]) -> str:
    """The lock of `wheels` as JSON text; `info` describes the Pyodide they are for.

    Raises `CheckFailed` if a wheel needs, inside Pyodide, a distribution that is not among them.
    """
    environment = emscripten(info["python"])
    found = {normalize(facts.name): (path, facts) for path, facts in ((path, wheel_facts(path)) for path in wheels)}
    packages = {}
    for name, (path, facts) in sorted(found.items()):
        depends = needed(facts.requires, environment)
        if missing := sorted(set(depends) - set(found)):
            raise CheckFailed(f"{name} needs {', '.join(missing)}: add a pin to worker/bundle/pins.json")
        packages[name] = _entry(name, path, facts, depends)
    return json.dumps({"info": dict(info), "packages": packages}, indent=1) + "\n"


def _entry(name: str, wheel: Path, facts: WheelFacts, depends: list[str]) -> dict[str, object]:
    return {
        "name": name,
        "version": facts.version,
        "file_name": wheel.name,
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "imports": facts.imports,
        "depends": depends,
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }
