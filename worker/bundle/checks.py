"""Looking at the sources without running them: ruff, mypy and the TypeScript compiler."""

import json
from pathlib import Path

from worker.bundle.bench import Bench, typescript
from worker.bundle.counts import Counts

_PAGE = ["ESNext", "DOM", "DOM.Iterable", "DOM.AsyncIterable"]
_WORKER = ["ESNext", "WebWorker", "WebWorker.Iterable", "WebWorker.AsyncIterable"]
# The page and the workers have different globals, so each is checked with its own.
_SIDES = {
    "page": (("web/*.[jt]s", "web/demo/**/*.js", "tests/js/*.ts"), _PAGE),
    "worker": (("worker/*.[jt]s", "web/*-sw.*"), _WORKER),
}


def run_checks(bench: Bench) -> Counts:
    """Run every check, also after one that failed; each counts as one test."""
    total = Counts()
    for name, command in _commands(bench).items():
        good = bench.run(command) == 0
        print(f"{name}: {'good' if good else 'BAD'}", flush=True)
        total += Counts(passed=int(good), failed=int(not good))
    return total


def _commands(bench: Bench) -> dict[str, list[str | Path]]:
    python, work = bench.pythons["env"], bench.place.work
    mypy: list[str | Path] = [python, "-m", "mypy", "--no-error-summary", "--cache-dir"]
    commands: dict[str, list[str | Path]] = {
        "ruff": [python, "-m", "ruff", "check", "--quiet", "--cache-dir", work / "ruff", "."],
        "mypy": [*mypy, work / "mypy"],
        "mypy for Emscripten": [*mypy, work / "mypy-emscripten", "--platform", "emscripten"],
    }
    compiler = typescript(bench.place) / "lib" / "tsc.js"
    for side in _SIDES:
        if config := _write_tsconfig(bench, side):
            commands[f"tsc of the {side}"] = [bench.node, compiler, "-p", config]
    return commands


def _write_tsconfig(bench: Bench, side: str) -> Path | None:
    """Write the configuration of one side and return its path, or nothing if the side has no file.

    Files are listed one by one, since a pattern leaves out a script that has a `.d.ts` of its name.
    """
    root = bench.place.root
    patterns, libraries = _SIDES[side]
    files = [path for pattern in patterns for path in sorted(root.glob(pattern))]
    files = [path for path in files if side == "worker" or not path.match("*-sw.*")]
    if not files:
        return None
    config = {
        "extends": str(root / "tests" / "js" / "tsconfig.json"),
        "compilerOptions": {"lib": libraries},
        "files": [str(path) for path in files],
        "include": [],
    }
    path = bench.folder / f"tsconfig.{side}.json"
    path.write_text(json.dumps(config, indent=1))
    return path
