"""What the test tiers work with, made ready before any of them starts: environments, packages, a browser, `dist/`."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from worker.bundle.additions import bundled
from worker.bundle.browsers import CHROMIUM, need_chromium, need_other_engines
from worker.bundle.dist import PYODIDE_FILES, node_toolchain, pyodide_info, wheel_files, write_dist
from worker.bundle.download import Cache
from worker.bundle.environments import Environment, need_node
from worker.bundle.lock import lock_text
from worker.bundle.node_packages import installed
from worker.bundle.npm_package import read_files, unpack
from worker.bundle.pins import Pins
from worker.bundle.place import Place
from worker.bundle.processes import run

_TIER_SECONDS = 2400
_LONG_TIER_SECONDS = 6 * 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The project's place and the programs that tests run; `pythons` are those of the environments by name.

    `folder` belongs to this run alone: reports, and copies of what is tested, so that another build in the same clone
    changes nothing under a running test. `variables` are added to the environment of every program.
    """

    place: Place
    folder: Path
    long: bool
    node: str
    pythons: Mapping[str, Path]
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def dist(self) -> Path:
        """The copy of `dist/` that this run works on, where a tier needs one."""
        return self.folder / "dist"

    def run(self, command: Sequence[str | Path]) -> int:
        """Run a program at the root of the project, for the time of a tier at most; its exit code."""
        seconds = _LONG_TIER_SECONDS if self.long else _TIER_SECONDS
        return run(command, folder=self.place.root, environment=self.variables, seconds=seconds)


@contextmanager
def bench(place: Place, pins: Pins, cache: Cache, names: Sequence[str], *, long: bool) -> Iterator[Bench]:
    """A bench with what the tiers `names` need, or `bench` for measuring.

    Raises `CannotRun`, before any test has run, if it cannot be had.
    """
    place.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="run-", dir=place.work) as folder:
        with place.held():
            made = _prepare(place, pins, cache, set(names), folder=Path(folder), long=long)
        yield made


def _prepare(place: Place, pins: Pins, cache: Cache, chosen: set[str], *, folder: Path, long: bool) -> Bench:
    node = need_node()
    variables = {
        "PYTHONPYCACHEPREFIX": str(place.work / "pycache"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(place.work / "hypothesis"),
    }
    pythons = {}
    if chosen - {"js"}:
        pythons["env"] = environment(place, pins, "env")
    if "pyodide" in chosen:
        pythons["env-pyodide"] = environment(place, pins, "env-pyodide")
    if chosen & {"pyodide", "bench"}:
        _write_pyodide_dist(place, pins, cache, folder / "pyodide")
        variables["LANGFX_NPM"] = str(folder / "pyodide")
    if chosen & {"check", "host", "browser"}:
        unpack(cache.get(pins.npm["typescript"]), typescript(place))
    if "host" in chosen:
        variables["LANGFX_OTLP"] = str(environment(place, pins, "env-otlp"))
    if "host" in chosen and long:
        variables["LANGFX_SDKS"] = str(environment(place, pins, "env-sdks"))
    if "browser" in chosen:
        packages = installed(place.root / "tests" / "browser" / "npm", place.made / "env-npm")
        variables["LANGFX_NODE_MODULES"] = str(packages)
        axe = unpack(cache.get(pins.npm["axe-core"]), place.work / "axe-core")
        variables["LANGFX_AXE"] = str(axe / "axe.min.js")
    if "engines" in chosen:
        variables |= need_other_engines()
        variables["LANGFX_PUPPETEER"] = str(installed(place.root / "tests" / "engines", place.made / "env-puppeteer"))
    if chosen & {"browser", "engines", "bench"}:
        toolchain = node_toolchain(place, pins, cache, node=node)
        dist = shutil.copytree(write_dist(place, pins, cache, toolchain), folder / "dist")
        variables["LANGFX_DIST"] = str(dist)
    if chosen & {"pyodide", "browser", "engines", "bench"}:
        variables[CHROMIUM.variable] = need_chromium(pythons["env"])
    return Bench(place=place, folder=folder, long=long, node=node, pythons=pythons, variables=variables)


def typescript(place: Place) -> Path:
    """The folder of the unpacked TypeScript compiler."""
    return place.work / "typescript"


def environment(place: Place, pins: Pins, name: str) -> Path:
    """The Python of the environment that the pins name so, made if it is not there."""
    return Environment(folder=place.made / name, requirements=pins.environments[name]).ensure().python


def _write_pyodide_dist(place: Place, pins: Pins, cache: Cache, folder: Path) -> None:
    """Write what `pytest-pyodide` loads: the core with its script for Node, our lock and our wheels, in one folder."""
    folder.mkdir()
    names = [*PYODIDE_FILES, "pyodide.js", "package.json", "pyodide-lock.json"]
    core = read_files(cache.get(pins.npm["pyodide"]), names)
    wheels = wheel_files(place.root, pins, cache, place.work / "wheels")
    lock = lock_text(map(bundled, wheels), info=pyodide_info(core["pyodide-lock.json"]))
    files = {**core, "pyodide-lock.json": lock.encode(), **{wheel.name: wheel.read_bytes() for wheel in wheels}}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    # Node takes scripts for modules below our own package.json; those of pytest-pyodide are none.
    (place.made / "package.json").write_text('{"type": "commonjs"}\n')
