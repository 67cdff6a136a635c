"""Programs of others that benches compare with: installed by npm from a lock file, bundled into one script each."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from worker.bundle.outcome import CannotRun

_SECONDS = 300


def bundled_peer(name: str, *, sources: Path, made: Path, node: str, npm: Sequence[str] = ("npm",)) -> Path:
    """The script `NAME.js` of the folder `sources` with all that it imports, made below `made` once per lock file.

    Raises `CannotRun` if npm does not give the packages.
    """
    script, lock = sources / f"{name}.js", sources / "package-lock.json"
    key = hashlib.sha256(script.read_bytes() + lock.read_bytes()).hexdigest()[:16]
    bundle = made / f"{name}-{key}.js"
    if not bundle.exists():
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(sources, made)
        _run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--logs-max=0"], made)
        options = ["--bundle", "--format=esm", "--platform=browser", "--log-level=error"]
        _run([node, "node_modules/esbuild/bin/esbuild", script.name, *options, "--outfile=unfinished.js"], made)
        os.replace(made / "unfinished.js", bundle)
    return bundle


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(f"the peers of the benches cannot be made in {folder}: {error}") from error
    if done.returncode != 0:
        reasons = [*done.stderr.strip().splitlines()[:3], f"exit code {done.returncode}"]
        raise CannotRun(f"the peers of the benches cannot be made in {folder}: {'; '.join(reasons)}")
