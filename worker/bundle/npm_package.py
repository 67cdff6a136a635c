"""Files out of an npm package's tarball, where everything lies below one top folder."""

import hashlib
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from worker.bundle.outcome import CheckFailed


def read_files(tarball: Path, names: Iterable[str]) -> dict[str, bytes]:
    """The content of the files `names` of the package; raises `CheckFailed` if one is missing."""
    wanted = set(names)
    found = {name: content for name, content in _files(tarball) if name in wanted}
    if missing := sorted(wanted - set(found)):
        raise CheckFailed(f"{tarball.name} has no {', '.join(missing)}")
    return found


def unpack(tarball: Path, folder: Path) -> Path:
    """Unpack the package into `folder` unless that was done with this very tarball before."""
    stamp, digest = folder / ".unpacked", hashlib.sha256(tarball.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in _files(tarball):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    stamp.write_text(digest)
    return folder


def _files(tarball: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(tarball, "r:gz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if path.is_absolute() or ".." in path.parts:
                raise CheckFailed(f"{tarball.name} holds a file outside of its folder: {member.name}")
            yield str(path), file.read()
