"""Packages that tests and benches work with, installed by npm from a lock file."""

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from worker.bundle.outcome import CannotRun

_SECONDS = 300
_INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--logs-max=0")


def installed(sources: Path, folder: Path, *, npm: Sequence[str] = ("npm",)) -> Path:
    """The `node_modules` in `folder` with what `package-lock.json` in `sources` names, made once per lock file.

    Raises `CannotRun` if npm does not give the packages.
    """
    files = [sources / name for name in ("package.json", "package-lock.json")]
    stamp = folder / "stamp"
    recipe = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    if stamp.exists() and stamp.read_text() == recipe:
        return folder / "node_modules"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for file in files:
        shutil.copy(file, folder)
    try:
        done = subprocess.run(
            [*npm, *_INSTALL], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(f"npm cannot install {sources / 'package-lock.json'}: {error}") from error
    if done.returncode != 0:
        reason = "; ".join([*done.stderr.strip().splitlines()[:3], f"exit code {done.returncode}"])
        raise CannotRun(f"npm cannot install {sources / 'package-lock.json'}: {reason}")
    stamp.write_text(recipe)
    return folder / "node_modules"
