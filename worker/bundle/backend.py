"""The build backend that `pyproject.toml` names, so that `pip install .` gives the very wheel of the bundle."""

from pathlib import Path

from worker.bundle.wheels import project_wheel


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: str | None = None) -> str:
    """Write the project's wheel into `wheel_directory` and return its file name."""
    name, content = project_wheel(Path(__file__).parents[2])
    (Path(wheel_directory) / name).write_bytes(content)
    return name
