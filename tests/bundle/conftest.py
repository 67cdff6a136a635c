"""What the tests of the build share."""

from pathlib import Path

import pytest

from tests.bundle.tiny import Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A complete project that builds without any download."""
    return make_project(tmp_path / "project")
