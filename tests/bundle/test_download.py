"""The cache of downloads, with made-up registry clients."""

import hashlib
import sys
from pathlib import Path

import pytest

from tests.bundle.tiny import pin, stock
from worker.bundle.download import Cache, Clients
from worker.bundle.outcome import CannotRun, CheckFailed

CONTENT = b"the very file"
PIN = pin("PyPI", "thing", "thing-1.0-py3-none-any.whl", CONTENT)

# Writes its arguments down, then does what its first argument says.
CLIENT = """
import pathlib, sys, time
folder = pathlib.Path(next(a for a in sys.argv if "dest" in a).partition("=")[2])
log = pathlib.Path(sys.argv[2])
tries = len(log.read_text().splitlines()) if log.exists() else 0
with log.open("a") as file:
    print(*sys.argv[4:], file=file)
match sys.argv[1]:
    case "give" | "late" if sys.argv[1] == "give" or tries == 2:
        (folder / "thing-1.0-py3-none-any.whl").write_bytes(sys.argv[3].encode())
    case "hang":
        time.sleep(60)
    case _:
        sys.exit("first line\\nno route to the registry")
"""


def client(tmp_path: Path, does: str, content: bytes = CONTENT) -> list[str]:
    """A client command that gives `content`, fails, or gives it at the third try only."""
    return [sys.executable, "-c", CLIENT, does, str(tmp_path / "log"), content.decode()]


def cache(tmp_path: Path, command: list[str], *, waited: list[float] | None = None, seconds: float = 60) -> Cache:
    """A cache whose waiting is only noted."""
    notes: list[float] = [] if waited is None else waited
    target = {"platform": ["wasm", "any"]}
    clients = Clients(npm=command, pip=command, wheel_target=target)
    return Cache(folder=tmp_path / "cache", clients=clients, sleep=notes.append, try_seconds=seconds)


def test_platform_01_a_file_is_downloaded_once(tmp_path: Path) -> None:
    """The second use asks nobody."""
    files = cache(tmp_path, client(tmp_path, "give"))
    assert files.get(PIN).read_bytes() == CONTENT
    assert files.get(PIN) == files.path(PIN)
    (call,) = (tmp_path / "log").read_text().splitlines()
    assert call.startswith("download --no-deps --only-binary=:all: ")
    assert call.endswith("--platform=wasm --platform=any --quiet thing==1.0")


def test_npm_packages_are_packed_by_npm(tmp_path: Path) -> None:
    """The npm client is asked for the exact version."""
    package = pin("npm", "thing", "thing-1.0-py3-none-any.whl", CONTENT)
    cache(tmp_path, client(tmp_path, "give")).get(package)
    (call,) = (tmp_path / "log").read_text().splitlines()
    assert call.startswith("pack ")
    assert call.endswith(" thing@1.0")


def test_a_file_put_into_the_cache_needs_no_client(tmp_path: Path) -> None:
    """A machine without network builds from files that were put where the message says."""
    files = cache(tmp_path, ["no-such-client"])
    stock(files, PIN, CONTENT)
    assert files.get(PIN).read_bytes() == CONTENT


def test_platform_03_an_altered_file_is_refused_and_removed(tmp_path: Path) -> None:
    """A cached file that changed ends the build with both hashes and leaves the cache."""
    files = cache(tmp_path, ["no-such-client"])
    stock(files, PIN, b"something else")
    with pytest.raises(CheckFailed) as caught:
        files.get(PIN)
    assert PIN.digest in str(caught.value)
    assert hashlib.sha256(b"something else").hexdigest() in str(caught.value)
    assert not files.path(PIN).exists()
    assert caught.value.exit_code == 1


def test_a_registry_that_gives_another_file_is_not_believed(tmp_path: Path) -> None:
    """The hash of a download is checked like that of a cached file."""
    files = cache(tmp_path, client(tmp_path, "give", b"other"))
    with pytest.raises(CheckFailed, match="not the pinned file"):
        files.get(PIN)


def test_platform_02_an_unreachable_registry_is_tried_three_times(tmp_path: Path) -> None:
    """The error names the file, the registry, the client's own words and the place where the file may be put."""
    waited: list[float] = []
    files = cache(tmp_path, client(tmp_path, "fail"), waited=waited)
    with pytest.raises(CannotRun) as caught:
        files.get(PIN)
    assert waited == [1, 4]
    assert len((tmp_path / "log").read_text().splitlines()) == 3
    for part in (PIN.file, "PyPI", "no route to the registry", str(files.path(PIN))):
        assert part in str(caught.value)
    assert caught.value.exit_code == 3


def test_a_registry_that_comes_back_is_good_enough(tmp_path: Path) -> None:
    """A short failure costs time only."""
    waited: list[float] = []
    assert cache(tmp_path, client(tmp_path, "late"), waited=waited).get(PIN).read_bytes() == CONTENT
    assert waited == [1, 4]


def test_platform_02_a_client_that_hangs_is_ended(tmp_path: Path) -> None:
    """No download takes longer than the time of its tries."""
    with pytest.raises(CannotRun, match="no answer in"):
        cache(tmp_path, client(tmp_path, "hang"), seconds=0.3).get(PIN)


def test_a_missing_client_is_named(tmp_path: Path) -> None:
    """Who has no npm reads that, and not a traceback."""
    with pytest.raises(CannotRun, match="no-such-client was not found"):
        cache(tmp_path, ["no-such-client"]).get(PIN)
