"""Where things lie: the folders of the sources and of everything that `build.py` makes."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One clone of the project; all that is made in it is below `.build/`, but for `dist/`."""

    root: Path

    @property
    def made(self) -> Path:
        return self.root / ".build"

    @property
    def cache(self) -> Path:
        return self.made / "cache"

    @property
    def work(self) -> Path:
        return self.made / "work"

    @property
    def dist(self) -> Path:
        return self.root / "dist"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let one build at a time change `.build/` and `dist/`; a second one waits."""
        self.made.mkdir(exist_ok=True)
        with (self.made / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print("waiting for another build in this folder", flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
