"""Programs of others, made ready for the benches."""

import json
from pathlib import Path

import pytest

from tests.bundle.stand_in import StandIn
from worker.bundle.outcome import CannotRun
from worker.bundle.peers import bundled_peer

SOURCES = Path(__file__).parents[1] / "bench" / "peers"


def test_a_peer_that_was_made_is_not_made_again(tmp_path: Path) -> None:
    """Without a change of script or lock file nothing is asked of npm, so the bench runs offline."""
    (tmp_path / "sources").mkdir()
    for name in ("one.js", "package.json", "package-lock.json"):
        (tmp_path / "sources" / name).write_text("{}")
    npm = StandIn(tmp_path / "npm", "/usr/bin/env python3")
    node = _bundler(tmp_path / "node")
    made = [
        bundled_peer("one", sources=tmp_path / "sources", made=tmp_path / "made", node=node, npm=[str(npm.path)])
        for _ in range(2)
    ]
    assert made[0] == made[1]
    assert made[0].read_text() == "bundled\n"
    assert [call[0] for call in npm.calls()] == ["ci"]


def test_a_failing_npm_says_why(tmp_path: Path) -> None:
    """A bench without its peer cannot run; the reason is told."""
    npm = StandIn(tmp_path / "npm", "/usr/bin/env python3")
    npm.plan(report="", codes={"ci": 1})
    with pytest.raises(CannotRun, match="exit code 1"):
        bundled_peer("ai_sdk", sources=SOURCES, made=tmp_path / "made", node="node", npm=[str(npm.path)])


def test_the_lock_file_names_every_package_by_hash_and_no_registry() -> None:
    """What is installed is what was pinned, from whatever registry npm is set up for."""
    lock = json.loads((SOURCES / "package-lock.json").read_text())
    packages = {path: entry for path, entry in lock["packages"].items() if path}
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())
    assert not any("resolved" in entry for entry in packages.values())


def _bundler(path: Path) -> str:
    path.write_text("#!/bin/sh\necho bundled > unfinished.js\n")
    path.chmod(0o755)
    return str(path)
