"""Pinned files from the package registries, kept in a cache by hash and checked at every use.

The registries are asked through their own clients as they are set up on the machine, never by address.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from worker.bundle.outcome import CannotRun, CheckFailed
from worker.bundle.pins import Pin


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """The commands that ask a registry, without their arguments; `wheel_target` is that of the pins."""

    npm: Sequence[str] = ("npm",)
    pip: Sequence[str] = (sys.executable, "-m", "pip")
    wheel_target: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def command(self, pin: Pin, folder: Path) -> list[str]:
        """The command that puts the file of `pin` into `folder`."""
        if pin.source == "npm":
            options = ["--fetch-retries=0", "--loglevel=error", "--logs-max=0", f"--pack-destination={folder}"]
            return [*self.npm, "pack", *options, f"{pin.name}@{pin.version}"]
        options = ["--no-deps", "--only-binary=:all:", "--retries=0", "--quiet", f"--dest={folder}"]
        target = [f"--{name}={value}" for name, values in self.wheel_target.items() for value in values]
        return [*self.pip, "download", *options, *target, f"{pin.name}=={pin.version}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """Downloads in `folder`; `waits` are the seconds between tries, one try more than waits."""

    folder: Path
    clients: Clients = field(default_factory=Clients)
    waits: Sequence[float] = (1, 4)
    try_seconds: float = 60
    sleep: Callable[[float], None] = time.sleep

    def path(self, pin: Pin) -> Path:
        """Where the file of `pin` lies, or may be put by hand."""
        return self.folder / f"{pin.algorithm}-{pin.digest[:32]}" / pin.file

    def get(self, pin: Pin) -> Path:
        """The checked file of `pin`, downloaded if it is not there yet.

        Raises `CannotRun` if the registry does not give it, `CheckFailed` if its hash is not the pinned one.
        """
        path = self.path(pin)
        if not path.exists():
            self._download(pin, path)
        found = _digest(path, pin.algorithm)
        if found != pin.digest:
            path.unlink()
            raise CheckFailed(
                f"{pin.file} is not the pinned file: {pin.algorithm} is {found}, pinned is {pin.digest}. "
                "It was removed from the cache; run the build again to download it."
            )
        return path

    def _download(self, pin: Pin, path: Path) -> None:
        print(f"downloading {pin.file} ({pin.size / 1e6:.1f} MB) from {pin.source}", flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            reason = self._try(self.clients.command(pin, Path(folder)), Path(folder) / pin.file)
            if reason:
                raise CannotRun(
                    f"cannot download {pin.file} from {pin.source}: {reason}\n"
                    f"Check the network and the settings of {'npm' if pin.source == 'npm' else 'pip'}, "
                    f"or put the file at {path}"
                )
            os.replace(Path(folder) / pin.file, path)

    def _try(self, command: list[str], wanted: Path) -> str:
        """Run `command` until `wanted` is there; the last reason why not, or an empty text."""
        if shutil.which(command[0]) is None:
            return f"the command {command[0]} was not found"
        reason = ""
        for wait in (*self.waits, None):
            try:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=self.try_seconds,
                )
            except subprocess.TimeoutExpired:
                reason = f"no answer in {self.try_seconds:.0f} s"
            else:
                if wanted.exists():
                    return ""
                reason = (_first_lines(done.stderr) or f"no file {wanted.name}") + f" (exit code {done.returncode})"
            if wait is not None:
                print(f"  failed, trying again in {wait:.0f} s: {reason}", flush=True)
                self.sleep(wait)
        return reason


def _digest(path: Path, algorithm: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def _first_lines(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if not line.startswith("WARNING:")]
    return "; ".join(lines[:3])
