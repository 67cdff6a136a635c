"""What a visitor downloads, in bytes as a good host sends them, and how much it may be."""

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from worker.bundle.outcome import CheckFailed
from worker.bundle.toolchain import Toolchain


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """One figure of the bundle and its limit, both in bytes."""

    name: str
    bytes: int
    most: int


def sizes(files: Mapping[str, bytes], sets: Mapping[str, str], toolchain: Toolchain) -> list[Size]:
    """What of the runtime has a budget: packs as they are, other boot files by brotli, starting scripts by gzip."""
    boot = set(_paths(sets, "boot"))
    worker = {path for path in boot if path.startswith("worker/")}
    compressible = {path for path in boot if path.endswith((".wasm", ".mjs", ".js"))}
    sent = sum(toolchain.brotli_size(files[path]) for path in compressible)
    return [
        Size(name="boot_set", bytes=sent + sum(len(files[path]) for path in boot - compressible), most=5_800_000),
        Size(name="langfx_pack", bytes=len(files["langfx.pack"]), most=300_000),
        Size(name="schemas_pack", bytes=len(files["schemas.pack"]), most=2_300_000),
        Size(name="page_scripts", bytes=_gzipped(files, _paths(sets, "page")), most=12 * 1024),
        Size(name="worker_scripts", bytes=_gzipped(files, worker), most=20 * 1024),
    ]


def check_sizes(files: Mapping[str, bytes], sets: Mapping[str, str], toolchain: Toolchain) -> None:
    """Raise `CheckFailed` with every part that is larger than it may be."""
    over = [size for size in sizes(files, sets, toolchain) if size.bytes > size.most]
    if over:
        raise CheckFailed("too large: " + ", ".join(f"{size.name} {size.bytes} of {size.most} bytes" for size in over))


def _gzipped(files: Mapping[str, bytes], paths: Iterable[str]) -> int:
    return sum(len(gzip.compress(files[path], 9)) for path in paths)


def _paths(sets: Mapping[str, str], wanted: str) -> list[str]:
    return [path for path, name in sets.items() if name == wanted]
