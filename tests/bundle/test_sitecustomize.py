"""What makes the worker's Python import faster, in this Python."""

import json
import subprocess
import sys
from pathlib import Path

from worker.bundle.packs import SITE
from worker.bundle.zips import zip_bytes

MODULES = {"one.py": b"import two.three\nname = __file__\n", "two/__init__.py": b"", "two/three.py": b"value = 3\n"}
COUNT = """
import json, sys, zipimport
sys.path.insert(0, sys.argv[1])
reads, read = [], zipimport._get_data

def count(archive, entry):
    reads.append(entry[0].rpartition("modules.zip/")[2])
    return read(archive, entry)

zipimport._get_data = count
import one, two.three
print(json.dumps([sorted(reads), one.name, two.three.value, "sitecustomize" in sys.modules]))
"""


def test_a_module_of_a_zip_is_read_once(tmp_path: Path) -> None:
    """By itself zipimport reads it twice; names of files and what modules hold stay the same."""
    (tmp_path / "modules.zip").write_bytes(zip_bytes(MODULES, stored=True))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / SITE.name).write_bytes(SITE.read_bytes())
    outcomes = [_counted(tmp_path, path) for path in ("", str(tmp_path / "site"))]
    once, file = sorted(MODULES), str(tmp_path / "modules.zip" / "one.py")
    assert outcomes == [[sorted(once * 2), file, 3, False], [once, file, 3, True]]


def _counted(folder: Path, path: str) -> list[object]:
    command = [sys.executable, "-c", COUNT, str(folder / "modules.zip")]
    done = subprocess.run(command, env={"PYTHONPATH": path, "PATH": ""}, capture_output=True, text=True, check=True)
    counted: list[object] = json.loads(done.stdout)
    return counted
