"""Files from the package registries, kept in a cache by hash and checked at every use.

What no pin names is looked up once by its requirement, and then stays what it was in this cache.
The registries are asked through their own clients as they are set up on the machine, never by address.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
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
        return [*self._pip_download(folder), "--quiet", f"{pin.name}=={pin.version}"]

    def search(self, requirement: str, folder: Path) -> list[str]:
        """The command that puts the newest wheel for `requirement` into `folder`, and tells what it passes over."""
        return [*self._pip_download(folder), "-vv", requirement]

    def _pip_download(self, folder: Path) -> list[str]:
        options = ["--no-deps", "--only-binary=:all:", "--retries=0", f"--dest={folder}"]
        target = [f"--{name}={value}" for name, values in self.wheel_target.items() for value in values]
        return [*self.pip, "download", *options, *target]


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

    def find(self, requirement: str) -> Path:
        """A wheel for `requirement` that runs in Pyodide: the one found before, else the newest of the registry.

        Raises `CannotRun` if the registry does not answer, `CheckFailed` if it has no such wheel.
        """
        note = self.folder / "found" / f"{hashlib.sha256(repr((requirement, self._target)).encode()).hexdigest()[:32]}"
        if note.exists():
            return self.get(Pin(**json.loads(note.read_text())))
        pin = self._search(requirement, note)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps(asdict(pin)))
        return self.path(pin)

    @property
    def _target(self) -> list[tuple[str, list[str]]]:
        return [(name, list(values)) for name, values in sorted(self.clients.wheel_target.items())]

    def _search(self, requirement: str, note: Path) -> Pin:
        print(f"looking up {requirement} at PyPI", flush=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            found = Path(folder) / "found"
            reason = self._try(self.clients.search(requirement, found), found, "*.whl")
            if reason:
                raise CannotRun(
                    f"cannot look up {requirement} at PyPI: {reason}\n"
                    "Check the network and the settings of pip, or download its wheel elsewhere and give it by "
                    f"--wheel; what was looked up before is noted in {note.parent}"
                )
            (wheel,) = found.glob("*.whl")
            name, version = wheel.name.split("-")[:2]
            size, digest = wheel.stat().st_size, _digest(wheel, "sha256")
            pin = Pin(
                source="PyPI",
                name=name,
                version=version,
                file=wheel.name,
                size=size,
                algorithm="sha256",
                digest=digest,
            )
            self.path(pin).parent.mkdir(parents=True, exist_ok=True)
            os.replace(wheel, self.path(pin))
            return pin

    def _download(self, pin: Pin, path: Path) -> None:
        print(f"downloading {pin.file} ({pin.size / 1e6:.1f} MB) from {pin.source}", flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            reason = self._try(self.clients.command(pin, Path(folder)), Path(folder), pin.file)
            if reason:
                raise CannotRun(
                    f"cannot download {pin.file} from {pin.source}: {reason}\n"
                    f"Check the network and the settings of {'npm' if pin.source == 'npm' else 'pip'}, "
                    f"or put the file at {path}"
                )
            os.replace(Path(folder) / pin.file, path)

    def _try(self, command: list[str], folder: Path, wanted: str) -> str:
        """Run `command` until `folder` has a file like `wanted`; the last reason why not, or an empty text.

        Raises `CheckFailed` where trying again cannot help.
        """
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
                if any(folder.glob(wanted)):
                    return ""
                if refusal := _refusal(done.stdout + done.stderr):
                    raise CheckFailed(refusal)
                reason = (_first_lines(done.stderr) or f"no file {wanted}") + f" (exit code {done.returncode})"
            if wait is not None:
                print(f"  failed, trying again in {wait:.0f} s: {reason}", flush=True)
                self.sleep(wait)
        return reason


def _refusal(told: str) -> str:
    """What pip told while it searched, if the registry did answer and has nothing for Pyodide."""
    missing = re.search(r"No matching distribution found for (\S+)", told)
    if missing is None:
        return ""
    wanted = missing.group(1)
    if versions := re.search(r"\(from versions: (?!none\))([^)]*)\)", told):
        return f"no version of PyPI's fits {wanted}; it has {versions.group(1)}"
    if "none of the wheel's tags" in told:
        return f"{wanted} has wheels for other platforms only: give one that runs in Pyodide by --wheel"
    if "No sources permitted" in told:
        return f"{wanted} has sources only: build a wheel of it for Pyodide and give that by --wheel"
    if "404 Client Error" in told:
        return f"PyPI has no {wanted}"
    return ""


def _digest(path: Path, algorithm: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, algorithm).hexdigest()


def _first_lines(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if not line.startswith("WARNING:")]
    return "; ".join(lines[:3])
