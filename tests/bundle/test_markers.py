"""Environment markers, judged for Emscripten."""

import pytest

from worker.bundle.markers import emscripten, holds

HERE = emscripten("3.14.2")


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("sys_platform == 'emscripten'", True),
        ("sys_platform != 'emscripten'", False),
        ('platform_system == "Emscripten" and platform_machine == "wasm32"', True),
        ("os_name == 'nt' or os_name == 'posix'", True),
        ("os_name == 'nt' or os_name == 'java'", False),
        ("os_name == 'posix' or os_name == 'nt' and sys_platform == 'win32'", True),
        ("(os_name == 'posix' or os_name == 'nt') and sys_platform == 'win32'", False),
        ("python_version >= '3.9'", True),
        ("python_version < '3.9'", False),
        ("python_version == '3.14'", True),
        ("python_full_version >= '3.14.10'", False),
        ("python_version <= '3.14.0'", True),
        ("'emscripten' == sys_platform", True),
        ("sys_platform in 'linux emscripten'", True),
        ("sys_platform not in 'linux emscripten'", False),
        ("extra == 'http2'", False),
        ("(platform_system == 'Windows') and extra == 'timezone'", False),
    ],
)
def test_markers_hold_for_pyodide(marker: str, expected: bool) -> None:
    """A marker is judged for the interpreter in the browser, whatever the host is."""
    assert holds(marker, HERE) is expected


@pytest.mark.parametrize(
    "marker",
    ["", "os_name", "os_name ==", "os_name == 'a' or", "(os_name == 'a'", "os_name ~= '1'", "planet == 'x'", "%"],
)
def test_a_marker_that_cannot_be_read_is_an_error(marker: str) -> None:
    """Nothing is guessed: an unknown marker ends the build."""
    with pytest.raises(ValueError, match="marker"):
        holds(marker, HERE)
