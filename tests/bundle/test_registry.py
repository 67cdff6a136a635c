"""Builds that look packages up: pip itself, asked through a registry of our own on loopback."""

import dataclasses
import functools
import http.server
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bundle.tiny import TARGET, Project, make_project, wheel_bytes
from worker.bundle.additions import Additions
from worker.bundle.dist import write_dist
from worker.bundle.download import Cache, Clients
from worker.bundle.outcome import CannotRun, CheckFailed

Build = Callable[..., dict[str, bytes]]


class Registry(http.server.ThreadingHTTPServer):
    """Serves the files of a folder as an index of packages, and counts what it was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.requests: list[str] = []
        super().__init__(("127.0.0.1", 0), functools.partial(_Page, directory=str(folder)))

    @property
    def index(self) -> str:
        """The address that pip is given."""
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def put(self, name: str, file: str, content: bytes) -> None:
        """Offer a file of the package `name`."""
        (self.folder / name).mkdir(exist_ok=True)
        (self.folder / name / file).write_bytes(content)


class _Page(http.server.SimpleHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    """Offers `top`, which needs `bottom`, and packages that cannot run in a browser."""
    (tmp_path / "registry").mkdir()
    with Registry(tmp_path / "registry") as registry:
        registry.put("top", "top-1.0-py3-none-any.whl", wheel_bytes("top", requires=["bottom>=1", "small-thing"]))
        registry.put("bottom", "bottom-1.0-py3-none-any.whl", wheel_bytes("bottom"))
        registry.put("native", "native-1.0-cp314-cp314-win_amd64.whl", b"")
        registry.put("sources", "sources-1.0.tar.gz", b"")
        thread = threading.Thread(target=registry.serve_forever, args=(0.05,))
        thread.start()
        yield registry
        registry.shutdown()
        thread.join()


@pytest.fixture
def build() -> Build:
    """Builds a project with additions and reads `dist/` back."""

    def run(project: Project, *requirements: str) -> dict[str, bytes]:
        parts = (project.place, project.pins, project.cache, project.toolchain)
        dist = write_dist(*parts, Additions(requirements=requirements))
        return {path.relative_to(dist).as_posix(): path.read_bytes() for path in dist.rglob("*") if path.is_file()}

    return run


def asking(project: Project, index: str, waited: list[float] | None = None) -> Project:
    """The project with a real pip that knows no registry but `index`."""
    settings = {"CONFIG_FILE": "/dev/null", "INDEX_URL": index, "EXTRA_INDEX_URL": "", "FIND_LINKS": "", "NO_INDEX": ""}
    pip = ["env", *(f"PIP_{name}={value}" for name, value in settings.items()), sys.executable, "-m", "pip"]
    clients = Clients(npm=["no-such-npm"], pip=pip, wheel_target=TARGET)
    notes: list[float] = [] if waited is None else waited
    return dataclasses.replace(project, cache=Cache(folder=project.cache.folder, clients=clients, sleep=notes.append))


def test_platform_01_a_build_with_packages_asks_the_registry_once(
    project: Project, registry: Registry, build: Build
) -> None:
    """What was looked up and downloaded is used again, offline and for the same bytes."""
    online = asking(project, registry.index)
    first = build(online, "top")
    wheels = {path.rpartition("/")[2] for path in first if "/wheels/" in path}
    assert {"bottom-1.0-py3-none-any.whl", "top-1.0-py3-none-any.whl"} <= wheels
    asked = len(registry.requests)
    shutil.rmtree(project.place.dist)
    assert build(online, "top") == first
    assert build(project, "top") == first
    assert len(registry.requests) == asked


def test_platform_02_a_registry_that_does_not_answer_changes_nothing(project: Project, build: Build) -> None:
    """After three tries the build ends with what it looked for, what to do, and the `dist/` there was."""
    before = build(project)
    waited: list[float] = []
    with pytest.raises(CannotRun) as caught:
        build(asking(project, "http://127.0.0.1:9/", waited), "top")
    assert waited == [1, 4]
    assert caught.value.exit_code == 3
    for part in ("top", "PyPI", "--wheel", str(project.cache.folder)):
        assert part in str(caught.value)
    assert build(project) == before


def test_platform_03_a_package_that_changed_in_the_cache_is_refused(
    project: Project, registry: Registry, build: Build
) -> None:
    """It leaves the cache, and the same file is downloaded again."""
    online = asking(project, registry.index)
    first = build(online, "top")
    (cached,) = project.cache.folder.rglob("bottom-1.0-py3-none-any.whl")
    good = cached.read_bytes()
    cached.write_bytes(good + b"!")
    with pytest.raises(CheckFailed, match=r"sha256 is [0-9a-f]{64}, pinned is [0-9a-f]{64}"):
        build(online, "top")
    assert not cached.exists()
    assert build(online, "top") == first
    assert cached.read_bytes() == good


def test_platform_04_two_builds_with_packages_are_equal(
    project: Project, registry: Registry, build: Build, tmp_path: Path
) -> None:
    """In two clones, whatever the order in which packages are named."""
    other = asking(make_project(tmp_path / "elsewhere"), registry.index)
    first = build(asking(project, registry.index), "top", "bottom")
    assert build(other, "bottom", "top") == first


@pytest.mark.parametrize(
    ("requirement", "reason"),
    [
        ("native", "native has wheels for other platforms only: give one that runs in Pyodide by --wheel"),
        ("sources", "sources has sources only: build a wheel of it for Pyodide and give that by --wheel"),
        ("top==2", "no version of PyPI's fits top==2; it has 1.0"),
        ("unheard-of", "PyPI has no unheard-of"),
    ],
)
def test_what_cannot_run_in_a_browser_is_refused(
    project: Project, registry: Registry, build: Build, requirement: str, reason: str
) -> None:
    """Nothing is written, no second try is made, and the reason says what to do."""
    waited: list[float] = []
    with pytest.raises(CheckFailed) as caught:
        build(asking(project, registry.index, waited), requirement)
    assert str(caught.value) == reason
    assert (waited, caught.value.exit_code) == ([], 1)
    assert not project.place.dist.exists()
