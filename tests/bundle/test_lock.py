"""The lock file of the bundle."""

import hashlib
import json
from pathlib import Path

import pytest

from tests.bundle.tiny import wheel_bytes
from worker.bundle.lock import lock_text
from worker.bundle.outcome import CheckFailed

INFO = {"abi_version": "2026_0", "arch": "wasm32", "platform": "emscripten_5_0_3", "python": "3.14.2"}


def write_wheel(folder: Path, name: str, requires: list[str]) -> Path:
    """Write a wheel of version 1.0."""
    path = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    path.write_bytes(wheel_bytes(name, requires=requires))
    return path


def test_lock_has_the_form_that_pyodide_reads(tmp_path: Path) -> None:
    """Every field is there; hashes are of the very files, dependencies those of Emscripten."""
    upper = write_wheel(tmp_path, "Upper_Part", ["lower-part>=1", "tzdata; sys_platform == 'win32'", "x; extra == 'y'"])
    lower = write_wheel(tmp_path, "lower-part", [])
    lock = json.loads(lock_text([upper, lower], info=INFO))
    assert lock["info"] == INFO
    assert list(lock["packages"]) == ["lower-part", "upper-part"]
    assert lock["packages"]["upper-part"] == {
        "name": "upper-part",
        "version": "1.0",
        "file_name": "Upper_Part-1.0-py3-none-any.whl",
        "sha256": hashlib.sha256(upper.read_bytes()).hexdigest(),
        "imports": ["Upper_Part"],
        "depends": ["lower-part"],
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }


def test_lock_is_the_same_text_for_any_order_of_wheels(tmp_path: Path) -> None:
    """The order in which wheels are found leaves no trace."""
    wheels = [write_wheel(tmp_path, name, []) for name in ("b", "a", "c")]
    assert lock_text(wheels, info=INFO) == lock_text(reversed(wheels), info=INFO)


def test_a_dependency_without_pin_ends_the_build(tmp_path: Path) -> None:
    """A bundle that could not be loaded offline is not built; the message names what is missing."""
    wheel = write_wheel(tmp_path, "upper", ["lower", "only-here; platform_system == 'Emscripten'"])
    with pytest.raises(CheckFailed, match="upper needs lower, only-here"):
        lock_text([wheel], info=INFO)
