"""A made-up project with everything that a bundle is made of, and the downloads it pins."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from worker.bundle.download import Cache, Clients
from worker.bundle.pins import Pin, Pins
from worker.bundle.place import Place
from worker.bundle.toolchain import Toolchain
from worker.bundle.zips import zip_bytes

PYPROJECT = """\
[project]
name = "langfx-web"
version = "0.1.0"
description = "A tiny stand-in."
license = "MIT"
license-files = ["LICENSE"]
requires-python = ">=3.11"
dependencies = ["small-thing>=1"]
[project.optional-dependencies]
host = ["httpx>=0.27"]
"""
SOURCES = {
    "pyproject.toml": PYPROJECT,
    "LICENSE": "as you like\n",
    "langfx_web/__init__.py": "",
    "langfx_web/inner/__init__.py": "NAME = 'inner'\n",
    "langfx_web/py.typed": "",
    "langfx_web/__pycache__/left.cpython-311.pyc": "left over",
    "worker/worker.js": "// the worker\nexport const worker = 1;\n",
    "worker/pyodide.d.ts": "// types only\n",
    "web/langfx-web.js": 'import { channel } from "./channel.js";\nexport const connect = () => import("./late.js");\n',
    "web/langfx-web-sw.js": "export const listen = () => {};\n",
    "web/late.js": "export const late = 1;\n",
    "web/channel.js": "export const channel = 1;\n",
    "web/langfx-web.d.ts": "export const connect: number;\n",
    "web/demo/index.html": "<!doctype html><html><head lang='en'><title>demo</title></head></html>\n",
    "web/demo/agent.py": "agent = 1\n",
}
TARGET = {
    "python-version": ["3.14"],
    "implementation": ["cp"],
    "abi": ["cp314", "none"],
    "platform": ["pyemscripten_2026_0_wasm32", "any"],
}
EMPTY_MODULES = ("json/__init__.py", "unittest/__init__.py", "trace.py", "traceback.py")
LIBRARY = {"os.py": "import sys\n", **dict.fromkeys(EMPTY_MODULES, "")}
CORE = {
    "pyodide.mjs": b"// the loader\nconst address = `https://cdn.invalid/pyodide/v${V}/full/`;\n",
    "pyodide.asm.mjs": b"// the glue\n",
    "pyodide.asm.wasm": b"\0asm",
    "python_stdlib.zip": zip_bytes({name: text.encode() for name, text in LIBRARY.items()}),
    "pyodide-lock.json": json.dumps(
        {
            "info": {"abi_version": "a", "arch": "wasm32", "platform": "emscripten_5", "python": "3.14.2"},
            "packages": {
                "far": {
                    "file_name": "far-2.0-py3-none-any.whl",
                    "version": "2.0",
                    "sha256": "00",
                    "imports": ["far"],
                    "depends": ["Small_Thing", "farther"],
                    "install_dir": "site",
                    "package_type": "package",
                    "unvendored_tests": False,
                },
                "small-thing": {"file_name": "theirs.whl"},
            },
        }
    ).encode(),
}


class TinyToolchain:
    """Does what needs no Node: bytecode is a copy that says how it was made, scripts lose their comment lines."""

    def compiled(self, modules: Mapping[str, bytes], *, optimize: int, prefix: str) -> dict[str, bytes]:
        made = f"{prefix} {optimize} ".encode()
        return {f"{name}c": made + content for name, content in modules.items()}

    def methods(self, package: Mapping[str, bytes]) -> bytes:
        return b"methods of " + " ".join(sorted(package)).encode()

    def minified(self, scripts: Mapping[str, bytes]) -> dict[str, bytes]:
        return {
            name: b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(b"//"))
            for name, text in scripts.items()
        }

    def brotli(self, content: bytes) -> bytes:
        return b"brotli " + content[:100]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project on disk, its pins, and a cache that has every pinned file and cannot get another one."""

    place: Place
    pins: Pins
    cache: Cache
    toolchain: Toolchain = field(default_factory=TinyToolchain)


def make_project(root: Path) -> Project:
    """Write the tiny project below `root`."""
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    clients = Clients(npm=["no-such-npm"], pip=["no-such-pip"], wheel_target=TARGET)
    cache = Cache(folder=root / ".build" / "cache", clients=clients)
    core = tarball({f"package/{name}": content for name, content in CORE.items()})
    thing = wheel_bytes("small-thing", requires=["tzdata; sys_platform == 'win32'"])
    tool = wheel_bytes("on-demand")
    pins = Pins(
        wheel_target=TARGET,
        npm={"pyodide": pin("npm", "pyodide", "pyodide-314.0.7.tgz", core, version="314.0.7")},
        wheels={"small-thing": pin("PyPI", "small-thing", "small_thing-1.0-py3-none-any.whl", thing)},
        on_demand={"on-demand": pin("PyPI", "on-demand", "on_demand-1.0-py3-none-any.whl", tool)},
        peers={},
        environments={},
    )
    stock(cache, pins.npm["pyodide"], core)
    stock(cache, pins.wheels["small-thing"], thing)
    stock(cache, pins.on_demand["on-demand"], tool)
    return Project(place=Place(root=root), pins=pins, cache=cache)


def pin(source: Literal["npm", "PyPI"], name: str, file: str, content: bytes, *, version: str = "1.0") -> Pin:
    """The pin of a file with the given content."""
    return Pin(
        source=source,
        name=name,
        version=version,
        file=file,
        size=len(content),
        algorithm="sha256",
        digest=hashlib.sha256(content).hexdigest(),
    )


def stock(cache: Cache, pin: Pin, content: bytes) -> None:
    """Put a file where the cache looks for it."""
    path = cache.path(pin)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def wheel_bytes(
    name: str,
    *,
    requires: list[str] | None = None,
    files: Mapping[str, bytes] | None = None,
    version: str = "1.0",
) -> bytes:
    """A wheel with the given requirements."""
    stem = name.replace("-", "_")
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires or []]
    metadata = "\n".join(lines) + "\n\nRequires-Dist: only-in-the-text\n"
    described = {"METADATA": metadata.encode(), "WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"}
    info = {f"{stem}-{version}.dist-info/{name}": content for name, content in described.items()}
    return zip_bytes({**info, **(files or {f"{stem}.py": b""})})


def tarball(files: Mapping[str, bytes]) -> bytes:
    """A gzipped tar as npm makes them."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()
