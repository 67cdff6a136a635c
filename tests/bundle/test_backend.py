"""The build backend."""

from pathlib import Path

from worker.bundle.backend import build_wheel
from worker.bundle.wheels import project_wheel

ROOT = Path(__file__).parents[2]


def test_pip_gets_the_wheel_of_the_bundle(tmp_path: Path) -> None:
    """`pip install .` installs the very bytes that are in `dist/`."""
    name, content = project_wheel(ROOT)
    assert build_wheel(str(tmp_path)) == name
    assert (tmp_path / name).read_bytes() == content
