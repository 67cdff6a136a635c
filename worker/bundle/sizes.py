"""What a visitor downloads, in bytes as a good host sends them, and how much it may be."""

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from worker.bundle.delivery import is_gzipped
from worker.bundle.outcome import CheckFailed
from worker.bundle.toolchain import Toolchain


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """One figure of the bundle and its limit, both in bytes."""

    name: str
    bytes: int
    most: int


def sizes(files: Mapping[str, bytes], sets: Mapping[str, str], toolchain: Toolchain) -> list[Size]:
    """What of the runtime has a budget: starting scripts by gzip, all else as sent, by brotli unless it is gzipped."""
    boot = set(_paths(sets, "boot"))
    worker = {path for path in boot if path.startswith("worker/")}
    compressing = not is_gzipped(files["python.pack"])

    def sent(path: str) -> int:
        content = files[path]
        return len(content if is_gzipped(content) or path.endswith(".json") else toolchain.brotli(content))

    return [
        Size(name="boot_set", bytes=sum(map(sent, boot)), most=5_300_000 if compressing else 6_000_000),
        Size(name="langfx_pack", bytes=sent("langfx.pack"), most=700_000),
        Size(name="schemas_pack", bytes=sent("schemas.pack"), most=1_600_000 if compressing else 2_300_000),
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
