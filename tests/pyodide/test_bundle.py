"""The bundled wheels inside Pyodide, loaded by our own lock."""

from typing import Any

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide(packages=["langfx-web"])
def test_own_wheel_brings_what_it_needs(selenium: Any) -> None:
    """Loading langfx-web by the lock loads pydantic with it, and both work."""
    import pydantic

    import langfx_web

    assert langfx_web.__name__ == "langfx_web"
    assert pydantic.TypeAdapter(list[int]).validate_json("[1, 2]") == [1, 2]


@run_in_pyodide(packages=["langfx-web"])
def test_markers_of_the_lock_are_those_of_the_interpreter(selenium: Any) -> None:
    """The platform that dependencies were judged for is the one the wheels run on."""
    import os
    import platform
    import sys

    assert (sys.platform, os.name) == ("emscripten", "posix")
    assert (platform.system(), platform.machine()) == ("Emscripten", "wasm32")
    assert platform.python_version() == "3.14.2"


@pytest.mark.chrome
@run_in_pyodide(packages=["langfx-web"])
def test_own_wheel_works_in_chromium(selenium: Any) -> None:
    """What the lock names also loads over HTTP in a browser."""
    import pydantic

    import langfx_web

    assert langfx_web.__name__ == "langfx_web"
    assert pydantic.TypeAdapter(int).validate_python("7") == 7
