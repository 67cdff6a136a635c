"""The tools that the build needs: Node from the machine, and virtual environments of our own."""

import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from worker.bundle.outcome import CannotRun
from worker.bundle.place import Place

NODE_MAJOR = 20
_VENV = (sys.executable, "-m", "venv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A virtual environment in `folder` that holds exactly `requirements` (each `name==version`).

    `maker` is the command that makes an empty environment in the folder that it is given.
    """

    folder: Path
    requirements: Sequence[str]
    maker: Sequence[str] = _VENV

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def ensure(self) -> "Environment":
        """Make the environment unless it is there; one with a stamp of these pins is used as it is, offline.

        Raises `CannotRun` if it cannot be made.
        """
        stamp, recipe = self.folder / "stamp", self._recipe()
        if stamp.exists() and stamp.read_text() == recipe:
            return self
        print(f"making {self.folder.parent.name}/{self.folder.name} with {', '.join(self.requirements)}", flush=True)
        create(self.folder, self.maker)
        done = subprocess.run(
            [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *self.requirements],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if done.returncode != 0:
            raise CannotRun(
                f"pip cannot install the tools that tests need into {self.folder}: {_last_line(done.stderr)}\n"
                "Check the network and the settings of pip, then run the same command again."
            )
        stamp.write_text(recipe)
        return self

    def _recipe(self) -> str:
        described = "\n".join([str(self.folder), sys.version, *sorted(self.requirements)])
        return hashlib.sha256(described.encode()).hexdigest()


def create(folder: Path, maker: Sequence[str] = _VENV) -> None:
    """Make a new, empty virtual environment in place of whatever is in `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run([*maker, folder], capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotRun(
            f"this Python cannot make a virtual environment: {_last_line(done.stdout + done.stderr)}\n"
            "On Debian and Ubuntu: apt-get install python3-venv"
        )


def pip_command(place: Place) -> list[str]:
    """The command that runs pip: the one of this interpreter, else one in an environment made for it."""
    own = [sys.executable, "-m", "pip"]
    if subprocess.run([*own, "--version"], capture_output=True).returncode == 0:
        return own
    folder = place.made / "env-pip"
    if not (folder / "bin" / "pip").exists():
        create(folder)
    return [str(folder / "bin" / "python"), "-m", "pip"]


def need_node() -> str:
    """The path of Node; raises `CannotRun` if it is missing or too old."""
    node = shutil.which("node")
    if node is None:
        raise CannotRun(f"Node is not on the PATH: install Node {NODE_MAJOR} or newer (with npm)")
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
    found = re.match(r"v(\d+)\.", version)
    if found is None or int(found.group(1)) < NODE_MAJOR:
        raise CannotRun(f"{node} is {version or 'broken'}: install Node {NODE_MAJOR} or newer (with npm)")
    return node


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]
