"""Our own wheel, and what is read out of others."""

import io
import os
import zipfile
from pathlib import Path

from tests.bundle.tiny import Project, wheel_bytes
from worker.bundle.wheels import project_wheel, wheel_facts


def test_wheel_is_the_same_bytes_each_time(project: Project) -> None:
    """Neither times nor modes of the source files reach the wheel."""
    root = project.place.root
    first = project_wheel(root)
    for path in (root / "langfx_web").rglob("*"):
        path.chmod(0o700)
        os.utime(path, (1, 1))
    assert project_wheel(root) == first


def test_wheel_holds_package_and_metadata_only(project: Project) -> None:
    """A wheel has the package, its licence and a record of every file; nothing that lay around."""
    name, content = project_wheel(project.place.root)
    assert name == "langfx_web-0.1.0-py3-none-any.whl"
    archive = zipfile.ZipFile(io.BytesIO(content))
    assert archive.namelist() == [
        "langfx_web-0.1.0.dist-info/METADATA",
        "langfx_web-0.1.0.dist-info/RECORD",
        "langfx_web-0.1.0.dist-info/WHEEL",
        "langfx_web-0.1.0.dist-info/licenses/LICENSE",
        "langfx_web/__init__.py",
        "langfx_web/inner/__init__.py",
        "langfx_web/py.typed",
    ]
    record = archive.read("langfx_web-0.1.0.dist-info/RECORD").decode().splitlines()
    assert {line.partition(",")[0] for line in record} == set(archive.namelist())
    assert "langfx_web/py.typed,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0" in record


def test_wheel_names_requirements_and_extras(project: Project, tmp_path: Path) -> None:
    """The metadata says what pyproject.toml says."""
    name, content = project_wheel(project.place.root)
    path = tmp_path / name
    path.write_bytes(content)
    facts = wheel_facts(path)
    assert (facts.name, facts.version, facts.imports) == ("langfx-web", "0.1.0", ["langfx_web"])
    assert facts.requires == ["small-thing>=1", "httpx>=0.27; extra == 'host'"]


def test_top_level_names_are_what_can_be_imported(tmp_path: Path) -> None:
    """Packages, modules and extension modules count, metadata and data do not."""
    path = tmp_path / "mixed-1.0-py3-none-any.whl"
    files = {
        "package/__init__.py": b"",
        "_native.cpython-314-wasm32-emscripten.so": b"",
        "module.py": b"",
        "NOTES.txt": b"",
        "mixed-1.0.data/scripts/run": b"",
    }
    path.write_bytes(wheel_bytes("mixed", files=files))
    assert wheel_facts(path).imports == ["_native", "module", "package"]
