"""The locks: `pyodide-lock.json` names the bundled wheels and nothing else, so that no lookup can leave the bundle;
`pyodide-lock-full.json` adds what Pyodide's own release has, by absolute addresses.

The form is that of Pyodide 314. `file_name` of a bundled wheel is the bare name of a file beside the lock's package
base, which is the folder `wheels/` of the runtime: `packageBaseUrl` has to name it.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from worker.bundle.additions import Bundled
from worker.bundle.markers import emscripten
from worker.bundle.outcome import CheckFailed
from worker.bundle.requirements import needed, normalize

_RELEASE = re.compile(r"`(https://[^`]*/v)\$\{\w+\}(/full/)`")


def lock_text(wheels: Iterable[Bundled], *, info: Mapping[str, str], provided: Collection[str] = ()) -> str:
    """The lock of `wheels` as JSON text; `info` describes the Pyodide they are for.

    The distributions `provided` lie in packs and are nobody's dependency. Raises `CheckFailed` if a wheel needs,
    inside Pyodide, a distribution that is not among them.
    """
    environment = emscripten(info["python"])
    found = {wheel.name: wheel for wheel in wheels}
    packages = {}
    for name, wheel in sorted(found.items()):
        depends = list(needed(wheel.facts.requires, environment, extras=wheel.extras))
        if missing := sorted(set(depends) - set(found)):
            raise CheckFailed(f"{name} needs {', '.join(missing)}: add a pin to worker/bundle/pins.json")
        packages[name] = _entry(wheel, [other for other in depends if other not in provided])
    return _text({"info": dict(info), "packages": packages})


def full_lock_text(own: str, theirs: bytes, *, release: str, provided: Collection[str] = ()) -> str:
    """The lock `own`, and of that which comes with Pyodide everything else, each file by its address at `release`."""
    lock = json.loads(own)
    others = {normalize(name): entry for name, entry in json.loads(theirs)["packages"].items()}
    for name, entry in sorted(others.items()):
        if name not in lock["packages"] and name not in provided:
            lock["packages"][name] = _their_entry(name, entry, release, provided)
    return _text(lock)


def release_address(loader: str, version: str) -> str:
    """Where Pyodide keeps the packages of its release `version`, as its own loader script has it."""
    found = _RELEASE.search(loader)
    if found is None:
        raise CheckFailed("pyodide.mjs does not name the address of its packages any more")
    return f"{found.group(1)}{version}{found.group(2)}"


def _entry(wheel: Bundled, depends: list[str]) -> dict[str, object]:
    return {
        "name": wheel.name,
        "version": wheel.facts.version,
        "file_name": wheel.path.name,
        "sha256": hashlib.sha256(wheel.path.read_bytes()).hexdigest(),
        "imports": wheel.facts.imports,
        "depends": depends,
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }


def _their_entry(name: str, entry: Mapping[str, Any], release: str, provided: Collection[str]) -> dict[str, object]:
    kept = ("version", "sha256", "imports", "install_dir", "package_type", "unvendored_tests")
    depends = sorted(other for other in map(normalize, entry["depends"]) if other not in provided)
    address = {"name": name, "file_name": release + entry["file_name"], "depends": depends}
    return {**address, **{key: entry[key] for key in kept}}


def _text(lock: Mapping[str, object]) -> str:
    return json.dumps(lock, indent=1) + "\n"
