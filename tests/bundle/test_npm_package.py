"""Reading npm tarballs."""

from pathlib import Path

import pytest

from tests.bundle.tiny import tarball
from worker.bundle.npm_package import read_files, unpack
from worker.bundle.outcome import CheckFailed


def write_tarball(folder: Path, files: dict[str, bytes]) -> Path:
    """Write a tarball with the given members."""
    path = folder / "thing-1.0.tgz"
    path.write_bytes(tarball(files))
    return path


def test_read_files_gives_the_wanted_ones(tmp_path: Path) -> None:
    """Names are relative to the package, whatever its top folder is called."""
    path = write_tarball(tmp_path, {"package/a.js": b"a", "package/lib/b.js": b"b", "package/c.js": b"c"})
    assert read_files(path, ["a.js", "lib/b.js"]) == {"a.js": b"a", "lib/b.js": b"b"}


def test_read_files_names_what_is_missing(tmp_path: Path) -> None:
    """A package that lost a file in an upgrade is noticed at once."""
    path = write_tarball(tmp_path, {"package/a.js": b"a"})
    with pytest.raises(CheckFailed, match=r"no b\.js, c\.js"):
        read_files(path, ["a.js", "c.js", "b.js"])


def test_unpack_writes_everything_once(tmp_path: Path) -> None:
    """A folder unpacked from the same tarball is used as it is; another tarball replaces it."""
    path = write_tarball(tmp_path, {"package/a.js": b"a", "package/lib/b.js": b"b"})
    folder = unpack(path, tmp_path / "to" / "thing")
    assert (folder / "lib" / "b.js").read_bytes() == b"b"
    (folder / "a.js").write_bytes(b"kept")
    assert (unpack(path, folder) / "a.js").read_bytes() == b"kept"
    path = write_tarball(tmp_path, {"package/c.js": b"c"})
    assert (unpack(path, folder) / "c.js").read_bytes() == b"c"
    assert not (folder / "a.js").exists()


def test_unpack_stays_in_its_folder(tmp_path: Path) -> None:
    """A member that points elsewhere is refused, and the folder does not count as unpacked."""
    path = write_tarball(tmp_path, {"package/a.js": b"a", "package/../../../evil": b"x"})
    for _ in range(2):
        with pytest.raises(CheckFailed, match="outside"):
            unpack(path, tmp_path / "to" / "thing")
    assert not list(tmp_path.rglob("evil"))
