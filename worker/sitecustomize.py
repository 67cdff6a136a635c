"""Has zipimport read each module once; by itself it also reads one whole to learn the name of its file.

Python imports this before anything of ours. A third of what a start spends on importing is reading.
"""

import zipimport
from typing import Any


def _reading_once(read: Any) -> Any:
    """Keep what was read for the file name until the code is asked for, which comes next."""
    kept: dict[tuple[str, str, str], Any] = {}

    def read_once(importer: zipimport.zipimporter, name: str) -> Any:
        module = (importer.archive, importer.prefix, name)
        if module in kept:
            return kept.pop(module)
        kept.clear()
        kept[module] = read(importer, name)
        return kept[module]

    return read_once


zipimport._get_module_code = _reading_once(zipimport._get_module_code)  # type: ignore[attr-defined]
