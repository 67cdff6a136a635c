"""Making ready what the tiers need."""

import pytest

from tests.bundle.tiny import Project
from worker.bundle.bench import bench
from worker.bundle.outcome import CannotRun


def test_a_run_has_a_folder_of_its_own(project: Project) -> None:
    """Two runs in one clone do not meet, and leave nothing behind."""
    with (
        bench(project.place, project.pins, project.cache, ["js"], long=False) as one,
        bench(project.place, project.pins, project.cache, ["js"], long=False) as other,
    ):
        assert one.folder != other.folder
        assert one.folder.is_dir()
    assert not one.folder.exists()
    assert not other.folder.exists()


def test_the_js_tier_needs_no_python(project: Project) -> None:
    """A tier gets what it needs and nothing else: no environment is made for tests of scripts."""
    with bench(project.place, project.pins, project.cache, ["js"], long=True) as made:
        assert (made.pythons, made.long) == ({}, True)


def test_no_node_ends_the_run_before_any_test(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is said at once."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with (
        pytest.raises(CannotRun, match="Node"),
        bench(project.place, project.pins, project.cache, ["js"], long=False),
    ):
        pass
