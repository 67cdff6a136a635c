"""Packs: uncompressed zips of compiled Python, gzipped as a whole, so that they are small on every host.

Python compiles nothing at a start then, and reads most modules out of the zip. A top-level name is wholly in one pack,
since a package in two zips is not found.
"""

import gzip
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from worker.bundle.annotations import without_annotations
from worker.bundle.toolchain import Toolchain
from worker.bundle.zips import read_zip, zip_bytes

# Rarely used in a browser; loaded only for modules that import one of them.
_EXTRA = """
    _pyrepl bdb cProfile cmd ctypes doctest ftplib imaplib mailbox multiprocessing optparse pdb plistlib poplib profile
    pstats pydoc shelve smtplib sqlite3 tabnanny tarfile timeit trace unittest webbrowser wsgiref xmlrpc zipapp
"""
EXTRA_NAMES = frozenset(_EXTRA.split())
# `v1` cannot run on Python 3.14, and the plugin is for a type checker.
_LEFT_OUT = re.compile(r"pydantic/(v1/|mypy\.py)|.*\.pyi$|.*/py\.typed$|.*/RECORD$|.*/sboms/")
_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
# Python imports a module of this name by itself when it starts.
SITE = Path(__file__).parents[1] / "sitecustomize.py"
# What `dataclasses` would compile at each start, for the worker to give it instead.
METHODS = "methods.marshal"


def library_packs(library: bytes, package: Path, toolchain: Toolchain) -> dict[str, bytes]:
    """`python.pack` and `extra.pack` of the zip with Pyodide's standard library, without docstrings and assertions.

    The former also holds what the standard library makes of the wheel `package`, which is ours, and what makes it
    import faster.
    """
    ours = {name: content for name, content in read_zip(package.read_bytes()).items() if name.endswith(".py")}
    modules = {name: content for name, content in read_zip(library).items() if name.endswith(".py")}
    extra = {name: content for name, content in modules.items() if _top_level(name) in EXTRA_NAMES}
    core = {name: content for name, content in modules.items() if name not in extra} | {SITE.name: SITE.read_bytes()}
    return {
        "python.pack": _pack("python.pack", {**core, METHODS: toolchain.methods(ours)}, toolchain, optimize=2),
        "extra.pack": _pack("extra.pack", extra, toolchain, optimize=2),
    }


def project_pack(wheel: Path, toolchain: Toolchain) -> bytes:
    """`langfx.pack`: our own package with its docstrings, and the metadata by which its version is found.

    Annotations of functions are left out: what reads some reads those of the page's tools.
    """
    files = read_zip(wheel.read_bytes())
    wanted = {name: without_annotations(content) for name, content in files.items() if name.endswith(".py")}
    wanted |= {name: files[name] for name in files if _METADATA.fullmatch(name)}
    return _pack("langfx.pack", wanted, toolchain, optimize=0)


def wheels_pack(wheels: Iterable[Path], toolchain: Toolchain) -> bytes:
    """`schemas.pack`: what wheels hold, but for what only type checkers and installers read."""
    files: dict[str, bytes] = {}
    for wheel in wheels:
        files |= {name: content for name, content in read_zip(wheel.read_bytes()).items() if not _LEFT_OUT.match(name)}
    return _pack("schemas.pack", files, toolchain, optimize=0)


def _pack(name: str, files: Mapping[str, bytes], toolchain: Toolchain, *, optimize: int) -> bytes:
    modules = {path: content for path, content in files.items() if path.endswith(".py")}
    others = {path: content for path, content in files.items() if path not in modules}
    compiled = toolchain.compiled(modules, optimize=optimize, prefix=f"/lib/{name}/")
    return gzip.compress(zip_bytes({**others, **compiled}, stored=True), 9, mtime=0)


def _top_level(name: str) -> str:
    return name.partition("/")[0].removesuffix(".py")
