"""Wheels: making our own, byte for byte the same each time, and reading those of others."""

import base64
import hashlib
import re
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath

from worker.bundle.zips import zip_bytes

_WHEEL = b"""\
Wheel-Version: 1.0
Generator: build.py
Root-Is-Purelib: true
Tag: py3-none-any
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelFacts:
    """What a lock says of a wheel: normal metadata, `requires` as in `Requires-Dist`, top-level `imports`."""

    name: str
    version: str
    requires: list[str]
    imports: list[str]


def project_wheel(root: Path) -> tuple[str, bytes]:
    """File name and bytes of the wheel of the package below `root`, described by its `pyproject.toml`."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    package = project["name"].replace("-", "_")
    stem = f"{package}-{project['version']}"
    entries = _package_files(root / package)
    entries[f"{stem}.dist-info/METADATA"] = _metadata(project).encode()
    entries[f"{stem}.dist-info/WHEEL"] = _WHEEL
    for license_file in project.get("license-files", []):
        entries[f"{stem}.dist-info/licenses/{license_file}"] = (root / license_file).read_bytes()
    entries[f"{stem}.dist-info/RECORD"] = _record(entries, f"{stem}.dist-info/RECORD").encode()
    return f"{stem}-py3-none-any.whl", zip_bytes(entries)


def wheel_facts(path: Path) -> WheelFacts:
    """Read name, version, requirements and top-level names out of the wheel at `path`."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        metadata_name = next(name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        metadata = HeaderParser().parsestr(archive.read(metadata_name).decode())
    return WheelFacts(
        name=metadata["Name"],
        version=metadata["Version"],
        requires=metadata.get_all("Requires-Dist") or [],
        imports=_top_level_names(names),
    )


def _package_files(package: Path) -> dict[str, bytes]:
    files = (path for path in package.rglob("*") if path.is_file())
    return {
        path.relative_to(package.parent).as_posix(): path.read_bytes()
        for path in files
        if "__pycache__" not in path.parts and not path.name.startswith(".")
    }


def _metadata(project: Mapping[str, object]) -> str:
    """Core metadata of `[project]`; the extras become markers of their requirements."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in _texts(project.get("license-files"))),
        f"Requires-Python: {project['requires-python']}",
        *(f"Classifier: {name}" for name in _texts(project.get("classifiers"))),
        *(f"Requires-Dist: {requirement}" for requirement in _texts(project.get("dependencies"))),
    ]
    extras = project.get("optional-dependencies")
    for extra, requirements in extras.items() if isinstance(extras, dict) else ():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {requirement}; extra == '{extra}'" for requirement in requirements]
    return "\n".join(lines) + "\n"


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _record(entries: Mapping[str, bytes], own_name: str) -> str:
    lines = []
    for name in sorted(entries):
        digest = base64.urlsafe_b64encode(hashlib.sha256(entries[name]).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(entries[name])}")
    return "\n".join([*lines, f"{own_name},,"]) + "\n"


def _top_level_names(names: list[str]) -> list[str]:
    """Importable top-level names: packages, modules, extension modules."""
    found = set()
    for path in map(PurePosixPath, names):
        top = path.parts[0]
        if top.endswith((".dist-info", ".data")):
            continue
        if len(path.parts) > 1 or path.suffix in {".py", ".so"}:
            found.add(top.partition(".")[0])
    return sorted(found)
