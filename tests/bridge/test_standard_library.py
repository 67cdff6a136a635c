"""The rest of the standard library, fetched by an import statement."""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib
import io
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from langfx_web.bridge.standard_library import EXTRA_MODULES, ExtraFinder
from worker.bundle.packs import EXTRA_NAMES

NAME = "zipapp"
"""One of the pack's modules, and one that no test needs."""


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{NAME}.py", "FROM = 'the pack'\n")
    return buffer.getvalue()


def hashed(content: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()


@pytest.fixture
def install(tmp_path: Path) -> Iterator[Callable[..., list[str]]]:
    """Puts a finder in the place of all others, and gives the list of its reads."""
    path, meta_path, known = list(sys.path), list(sys.meta_path), sys.modules.pop(NAME, None)
    reads: list[str] = []

    def put(read: Callable[[], bytes], *hashes: str) -> list[str]:
        def noted() -> bytes:
            reads.append("read")
            return read()

        sys.path[:] = []
        sys.meta_path[:] = [*meta_path, ExtraFinder(noted, hashes=hashes, path=tmp_path / "extra.zip")]
        return reads

    yield put
    sys.path[:], sys.meta_path[:] = path, meta_path
    sys.modules.pop(NAME, None)
    if known:
        sys.modules[NAME] = known


def test_the_build_moves_out_what_python_expects() -> None:
    """Both sides have the same list."""
    assert EXTRA_MODULES == EXTRA_NAMES


@pytest.mark.parametrize("pack", [zipped(), gzip.compress(zipped())], ids=["unpacked by the host", "as it is"])
def test_platform_34_an_import_fetches_the_pack_once(install, pack: bytes) -> None:
    """However a host sends it; other names fetch nothing."""
    reads = install(lambda: pack, hashed(zipped()), hashed(pack))
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_module")
    assert reads == []
    assert importlib.import_module(NAME).FROM == "the pack"
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("tabnanny")
    assert reads == ["read"]


def test_an_unreachable_pack_says_what_to_do(install) -> None:
    """The import fails as any import does, and tells the reason; the next one tries again."""

    def unreachable() -> bytes:
        raise OSError("status 404")

    reads = install(unreachable, "x")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match=r"'zipapp' is in extra.pack.*status 404.*`connect`"):
            importlib.import_module(NAME)
    assert len(reads) == 2


def test_another_file_is_not_run(install) -> None:
    """The hash is that of this release."""
    install(lambda: zipped() + b" ", hashed(zipped()))
    with pytest.raises(ModuleNotFoundError, match="not the file"):
        importlib.import_module(NAME)
