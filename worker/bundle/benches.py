"""The figures of `build.py bench`: each bench says what it found, what it should be, and whether it is."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from worker.bundle.bench import Bench, environment
from worker.bundle.download import Cache, Clients
from worker.bundle.environments import pip_command
from worker.bundle.outcome import CheckFailed
from worker.bundle.peers import bundled_peer
from worker.bundle.pins import read_pins
from worker.bundle.sizes import sizes
from worker.bundle.toolchain import Toolchain


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Flat figures with the unit in their names, ratios without one; `targets` name figures and have `min` or `max`."""

    name: str
    figures: Mapping[str, float]
    targets: Mapping[str, Mapping[str, float]]

    @property
    def met(self) -> bool:
        """Whether every target is met."""
        return all(self._is_met(name) for name in self.targets)

    def table(self) -> str:
        """The figures for a person."""
        lines = [f"{'figure':32} {'found':>12} {'target':>12}  met", *map(self._line, self.figures)]
        return "\n".join([f"== {self.name}", *lines])

    def json(self) -> str:
        """The same for a program, on one line."""
        fields = {"name": self.name, "figures": self.figures, "targets": self.targets, "met": self.met}
        return json.dumps(fields)

    def _line(self, name: str) -> str:
        line = f"{name:32} {self.figures[name]:12.6g}"
        if name not in self.targets:
            return line
        wanted = " ".join(f"{kind} {value:g}" for kind, value in self.targets[name].items())
        return f"{line} {wanted:>12}  {'yes' if self._is_met(name) else 'NO'}"

    def _is_met(self, name: str) -> bool:
        target, found = self.targets[name], self.figures[name]
        return target.get("min", found) <= found <= target.get("max", found)


def measure(name: str, bench: Bench, toolchain: Toolchain, *, rounds: int) -> Report:
    """Run one bench; raises `CheckFailed` if it came to no end, `CannotRun` if a peer is missing."""
    return BENCHES[name](bench, toolchain, rounds)


def _size(bench: Bench, toolchain: Toolchain, rounds: int) -> Report:
    manifest = json.loads((bench.dist / "manifest.json").read_text())
    files = {path: (bench.dist / manifest["runtime"] / path).read_bytes() for path in manifest["files"]}
    found = sizes(files, {path: entry["set"] for path, entry in manifest["files"].items()}, toolchain)
    return Report(
        name="size",
        figures={f"{size.name}_mb": size.bytes / 1e6 for size in found},
        targets={f"{size.name}_mb": {"max": size.most / 1e6} for size in found},
    )


def _in_browser(
    name: str, bench: Bench, toolchain: Toolchain, rounds: int, *, peer: Callable[[Bench], Path] | None = None
) -> Report:
    """A bench whose script is `tests/bench/NAME.py`, measured beside what `peer` makes ready."""
    out = bench.folder / f"{name}.json"
    options = [f"--rounds={rounds}", f"--out={out}"]
    if peer is not None:
        options.append(f"--peer={peer(bench)}")
    code = bench.run([bench.pythons["env"], "-m", f"tests.bench.{name}", *options])
    if code != 0 or not out.exists():
        raise CheckFailed(f"the bench {name} ended with exit code {code}")
    found = json.loads(out.read_text())
    return Report(name=name, figures=found["figures"], targets=found["targets"])


def _ai_sdk(bench: Bench, script: str = "ai_sdk") -> Path:
    """The AI SDK as a script."""
    sources = bench.place.root / "tests" / "bench" / "peers"
    return bundled_peer(script, sources=sources, made=bench.place.made / "peers", node=bench.node)


def _loops(bench: Bench) -> Path:
    """A folder with the AI SDK's loop as the script `ai_sdk_loop.js`, and pydantic-ai as wheels."""
    pins = read_pins()
    folder = bench.folder / "loops"
    folder.mkdir()
    shutil.copy(_ai_sdk(bench, "ai_sdk_loop"), folder / "ai_sdk_loop.js")
    with bench.place.held():
        clients = Clients(pip=pip_command(bench.place), wheel_target=pins.wheel_target)
        cache = Cache(folder=bench.place.cache, clients=clients)
        for pin in pins.peers.values():
            shutil.copy(cache.get(pin), folder)
    return folder


def _langfun(bench: Bench) -> Path:
    """A Python with langfun."""
    with bench.place.held():
        return environment(bench.place, read_pins(), "env-langfun")


BENCHES: dict[str, Callable[[Bench, Toolchain, int], Report]] = {
    "start": partial(_in_browser, "start"),
    "stream": partial(_in_browser, "stream", peer=_ai_sdk),
    "loop": partial(_in_browser, "loop", peer=_loops),
    "query": partial(_in_browser, "query", peer=_langfun),
    "bridge": partial(_in_browser, "bridge"),
    "cancel": partial(_in_browser, "cancel"),
    "memory": partial(_in_browser, "memory"),
    "size": _size,
}
