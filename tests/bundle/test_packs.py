"""What goes into which pack."""

import gzip
import io
import zipfile
from pathlib import Path

from tests.bundle.tiny import LIBRARY, Project, TinyToolchain, wheel_bytes
from worker.bundle.packs import library_packs, project_pack, wheels_pack
from worker.bundle.wheels import project_wheel
from worker.bundle.zips import read_zip, zip_bytes


def unpacked(pack: bytes) -> dict[str, bytes]:
    """The files of a pack."""
    return read_zip(gzip.decompress(pack))


def test_the_library_is_split_by_whole_names(project: Project, tmp_path: Path) -> None:
    """`trace` goes, `traceback` stays; what is no module goes nowhere; each module is compiled without docstrings."""
    name, content = project_wheel(project.place.root)
    (tmp_path / name).write_bytes(content)
    library = zip_bytes({name: text.encode() for name, text in LIBRARY.items()} | {"site-packages/README.txt": b""})
    packs = library_packs(library, tmp_path / name, TinyToolchain())
    core, extra = unpacked(packs["python.pack"]), unpacked(packs["extra.pack"])
    assert sorted(core) == ["json/__init__.pyc", "methods.marshal", "os.pyc", "sitecustomize.pyc", "traceback.pyc"]
    assert core["methods.marshal"] == b"methods of langfx_web/__init__.py langfx_web/inner/__init__.py"
    assert sorted(extra) == ["trace.pyc", "unittest/__init__.pyc"]
    assert core["os.pyc"] == b"/lib/python.pack/ 2 import sys\n"


def test_our_package_keeps_its_docstrings_and_its_version(project: Project, tmp_path: Path) -> None:
    """Modules at the level that drops nothing, and the metadata."""
    name, content = project_wheel(project.place.root)
    (tmp_path / name).write_bytes(content)
    files = unpacked(project_pack(tmp_path / name, TinyToolchain()))
    assert files["langfx_web/inner/__init__.pyc"].startswith(b"/lib/langfx.pack/ 0 ")
    assert sorted(files) == [
        "langfx_web-0.1.0.dist-info/METADATA",
        "langfx_web/__init__.pyc",
        "langfx_web/inner/__init__.pyc",
    ]


def test_wheels_lose_what_nobody_reads(tmp_path: Path) -> None:
    """Type stubs, the part of pydantic for its first version and the plugin of a type checker are left out."""
    wheel = tmp_path / "pydantic-1.0-py3-none-any.whl"
    kept = {"pydantic/main.py": b"", "pydantic_core/_core.so": b"\0asm", "pydantic-1.0.dist-info/licenses/LICENSE": b""}
    left_out = ["pydantic/v1/main.py", "pydantic/mypy.py", "pydantic/py.typed", "pydantic_core/a.pyi"]
    dropped = dict.fromkeys(left_out, b"")
    metadata = read_zip(wheel_bytes("pydantic", files={"x.py": b""}))["pydantic-1.0.dist-info/METADATA"]
    wheel.write_bytes(zip_bytes({**kept, **dropped, "pydantic-1.0.dist-info/METADATA": metadata}))
    pack = wheels_pack([wheel], TinyToolchain())
    assert sorted(unpacked(pack)) == [
        "pydantic-1.0.dist-info/METADATA",
        "pydantic-1.0.dist-info/licenses/LICENSE",
        "pydantic/main.pyc",
        "pydantic_core/_core.so",
    ]
    with zipfile.ZipFile(io.BytesIO(gzip.decompress(pack))) as archive:
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
