"""The lock file of the bundle."""

import hashlib
import json
from pathlib import Path

import pytest

from tests.bundle.tiny import wheel_bytes
from worker.bundle.additions import Bundled, bundled
from worker.bundle.lock import full_lock_text, lock_text, release_address
from worker.bundle.outcome import CheckFailed

INFO = {"abi_version": "2026_0", "arch": "wasm32", "platform": "emscripten_5_0_3", "python": "3.14.2"}


def wheel(folder: Path, name: str, requires: list[str]) -> Bundled:
    """A wheel of version 1.0."""
    path = folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
    path.write_bytes(wheel_bytes(name, requires=requires))
    return bundled(path)


def test_lock_has_the_form_that_pyodide_reads(tmp_path: Path) -> None:
    """Every field is there; hashes are of the very files, dependencies those of Emscripten."""
    upper = wheel(tmp_path, "Upper_Part", ["lower-part>=1", "tzdata; sys_platform == 'win32'", "x; extra == 'y'"])
    lower = wheel(tmp_path, "lower-part", [])
    lock = json.loads(lock_text([upper, lower], info=INFO))
    assert lock["info"] == INFO
    assert list(lock["packages"]) == ["lower-part", "upper-part"]
    assert lock["packages"]["upper-part"] == {
        "name": "upper-part",
        "version": "1.0",
        "file_name": "Upper_Part-1.0-py3-none-any.whl",
        "sha256": hashlib.sha256(upper.path.read_bytes()).hexdigest(),
        "imports": ["Upper_Part"],
        "depends": ["lower-part"],
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }


def test_lock_is_the_same_text_for_any_order_of_wheels(tmp_path: Path) -> None:
    """The order in which wheels are found leaves no trace."""
    wheels = [wheel(tmp_path, name, []) for name in ("b", "a", "c")]
    assert lock_text(wheels, info=INFO) == lock_text(reversed(wheels), info=INFO)


def test_a_dependency_without_pin_ends_the_build(tmp_path: Path) -> None:
    """A bundle that could not be loaded offline is not built; the message names what is missing."""
    upper = wheel(tmp_path, "upper", ["lower", "only-here; platform_system == 'Emscripten'"])
    with pytest.raises(CheckFailed, match="upper needs lower, only-here"):
        lock_text([upper], info=INFO)


def test_what_a_pack_provides_is_nobodys_dependency(tmp_path: Path) -> None:
    """Installing a package does not bring a second pydantic beside the compiled one."""
    others = [wheel(tmp_path, name, []) for name in ("lower", "packed")]
    wheels = [wheel(tmp_path, "upper", ["lower", "packed"]), *others]
    lock = json.loads(lock_text(wheels, info=INFO, provided={"packed"}))
    assert lock["packages"]["upper"]["depends"] == ["lower"]
    assert "packed" in lock["packages"]


def test_the_full_lock_adds_the_release_of_pyodide(tmp_path: Path) -> None:
    """What the bundle has stays its own; everything else has an absolute address and keeps its hash."""
    own = lock_text([wheel(tmp_path, "mine", [])], info=INFO)
    entry = {
        "name": "Far_Part",
        "version": "2.0",
        "file_name": "far_part-2.0-py3-none-any.whl",
        "sha256": "ab",
        "imports": ["far_part"],
        "depends": ["Packed", "Mine"],
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": True,
        "tool": {},
    }
    theirs = json.dumps({"packages": {"Far_Part": entry, "mine": {}, "packed": {}}}).encode()
    full = json.loads(full_lock_text(own, theirs, release="https://cdn.invalid/full/", provided={"packed"}))
    assert full["info"] == INFO
    assert full["packages"] == {
        "mine": json.loads(own)["packages"]["mine"],
        "far-part": {
            "name": "far-part",
            "version": "2.0",
            "file_name": "https://cdn.invalid/full/far_part-2.0-py3-none-any.whl",
            "sha256": "ab",
            "imports": ["far_part"],
            "depends": ["mine"],
            "install_dir": "site",
            "package_type": "package",
            "unvendored_tests": True,
        },
    }


def test_the_address_of_the_release_is_read_from_the_loader() -> None:
    """A loader that names none any more ends the build."""
    loader = "x=`https://cdn.invalid/pyodide/v${U}/full/`;"
    assert release_address(loader, "314.0.7") == "https://cdn.invalid/pyodide/v314.0.7/full/"
    with pytest.raises(CheckFailed, match="address"):
        release_address("x=1", "314.0.7")
