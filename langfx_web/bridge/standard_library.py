"""The rarely used part of the standard library: a pack of its own, fetched when something is imported of it."""

from __future__ import annotations

import base64
import hashlib
import importlib
import sys
import zlib
from collections.abc import Callable, Collection, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

_EXTRA = """
    _pyrepl bdb cProfile cmd ctypes doctest ftplib imaplib mailbox multiprocessing optparse pdb plistlib poplib profile
    pstats pydoc shelve smtplib sqlite3 tabnanny tarfile timeit trace unittest webbrowser wsgiref xmlrpc zipapp
"""
EXTRA_MODULES = frozenset(_EXTRA.split())
"""Top-level names in `extra.pack`; the build takes the same."""

_REMEDY = "Import it in a module that `connect` is given: then its pack is loaded before."


class ExtraFinder(MetaPathFinder):
    """Makes `extra.pack` importable at the first import of one of its names, while the worker stands still.

    `read` gives the bytes of the pack or raises `OSError`; they must have one of `hashes`, in SRI spelling, since
    a host may have unpacked them. The zip is written to `path`, and Python reads it there.
    """

    def __init__(self, read: Callable[[], bytes], *, hashes: Collection[str], path: Path) -> None:
        self._read = read
        self._hashes = hashes
        self._path = path

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None or fullname not in EXTRA_MODULES or str(self._path) in sys.path:
            return None
        try:
            self._install()
        except OSError as error:
            reason = f"{fullname!r} is in extra.pack, which could not be loaded ({error}). {_REMEDY}"
            raise ModuleNotFoundError(reason, name=fullname) from error
        return PathFinder.find_spec(fullname)

    def _install(self) -> None:
        pack = self._read()
        digest = base64.b64encode(hashlib.sha256(pack).digest()).decode()
        if f"sha256-{digest}" not in self._hashes:
            raise OSError("it is not the file that belongs to this release")
        self._path.write_bytes(zlib.decompress(pack, wbits=31) if pack[:2] == b"\x1f\x8b" else pack)
        sys.path.append(str(self._path))
        importlib.invalidate_caches()
