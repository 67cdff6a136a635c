"""Programs of others that benches compare with: installed by npm, bundled into one script each."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from worker.bundle.node_packages import installed
from worker.bundle.outcome import CannotRun

_SECONDS = 300


def bundled_peer(name: str, *, sources: Path, made: Path, node: str, npm: Sequence[str] = ("npm",)) -> Path:
    """The script `NAME.js` of the folder `sources` with all that it imports, made below `made` once per lock file.

    Raises `CannotRun` if npm does not give the packages.
    """
    packages = installed(sources, made, npm=npm)
    script = sources / f"{name}.js"
    bundle = made / f"{name}-{hashlib.sha256(script.read_bytes()).hexdigest()[:16]}.js"
    if not bundle.exists():
        shutil.copy(script, made)
        options = ["--bundle", "--format=esm", "--platform=browser", "--log-level=error", "--outfile=unfinished.js"]
        _run([node, packages / "esbuild" / "bin" / "esbuild", script.name, *options], made)
        os.replace(made / "unfinished.js", bundle)
    return bundle


def _run(command: Sequence[str | Path], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(f"the peers of the benches cannot be made in {folder}: {error}") from error
    if done.returncode != 0:
        reasons = [*done.stderr.strip().splitlines()[:3], f"exit code {done.returncode}"]
        raise CannotRun(f"the peers of the benches cannot be made in {folder}: {'; '.join(reasons)}")
