"""How a host sends the bundle: whether it compresses packs itself, and what lies ready for those that look for it."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from worker.bundle.toolchain import Toolchain

_COMPRESSIBLE = (".js", ".mjs", ".wasm", ".json", ".pack")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """`host`: any host gets packs that are gzipped, one that compresses what it sends gets them as they are.

    `release`: what compresses well also lies there as `.br` and `.gz`.
    """

    host: Literal["any", "compressing"] = "any"
    release: bool = False

    def packs(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The packs of the bundle in the form for this host."""
        packs = {path: content for path, content in files.items() if path.endswith(".pack")}
        return {path: gzip.decompress(pack) for path, pack in packs.items()} if self.host == "compressing" else packs

    def compressed(self, files: Mapping[str, bytes], toolchain: Toolchain) -> dict[str, bytes]:
        """What lies beside these files."""
        made: dict[str, bytes] = {}
        for path, content in files.items() if self.release else ():
            if path.endswith(_COMPRESSIBLE) and not is_gzipped(content):
                made |= {f"{path}.br": toolchain.brotli(content), f"{path}.gz": gzip.compress(content, 9, mtime=0)}
        return made


def is_gzipped(content: bytes) -> bool:
    """Whether these bytes are gzipped, by the two that gzip begins with."""
    return content.startswith(b"\x1f\x8b")
