"""Packages that a person adds to a bundle, with a registry of made-up wheels."""

from pathlib import Path

import pytest

from tests.bundle.tiny import TARGET, wheel_bytes
from worker.bundle.additions import Additions, with_additions
from worker.bundle.outcome import CheckFailed
from worker.bundle.requirements import read_requirement


class Shelf:
    """Wheels by file name, found as pip would: the newest that fits."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.asked: list[str] = []

    def put(self, name: str, version: str, *requires: str, tags: str = "py3-none-any") -> Path:
        """Write a wheel and return its path."""
        path = self._folder / f"{name.replace('-', '_')}-{version}-{tags}.whl"
        path.write_bytes(wheel_bytes(name, requires=list(requires), version=version))
        return path

    def find(self, text: str) -> Path:
        """The newest wheel for the requirement."""
        self.asked.append(text)
        wanted = read_requirement(text)
        paths = sorted(self._folder.glob(f"{wanted.name.replace('-', '_')}-*.whl"), reverse=True)
        return next(path for path in paths if wanted.admits(path.name.split("-")[1]))

    def bundle(self, *requirements: str, base: list[Path] | None = None, wheels: list[Path] | None = None) -> list[str]:
        """What the bundle has in the end, as `name version [extras]`."""
        found = with_additions(
            base or [],
            Additions(requirements=requirements, wheels=wheels or []),
            find=self.find,
            target=TARGET,
            python="3.14.2",
        )
        return [" ".join([item.name, item.facts.version, *sorted(item.extras)]) for item in found]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_a_package_brings_what_it_needs_in_a_browser(shelf: Shelf) -> None:
    """Dependencies are followed by the markers of Emscripten, to the end."""
    shelf.put("top", "1.0", "middle>=1", "windows-only; sys_platform == 'win32'", "wasm; sys_platform == 'emscripten'")
    shelf.put("middle", "1.0", "bottom")
    shelf.put("bottom", "1.0", "top")
    shelf.put("wasm", "1.0")
    assert shelf.bundle("Top") == ["bottom 1.0", "middle 1.0", "top 1.0", "wasm 1.0"]


def test_bounds_of_everyone_are_respected(shelf: Shelf) -> None:
    """A version is looked for that satisfies all who need it, and one that nobody needs any more leaves no trace."""
    shelf.put("a", "1.0", "shared>=1")
    shelf.put("b", "1.0", "shared<3")
    for version, needs in (("1.0", "old"), ("2.0", "right"), ("3.0", "new")):
        shelf.put("shared", version, needs)
        shelf.put(needs, "1.0")
    assert shelf.bundle("a", "b") == ["a 1.0", "b 1.0", "right 1.0", "shared 2.0"]
    assert shelf.bundle("shared==1.0") == ["old 1.0", "shared 1.0"]


def test_extras_are_added_for_whoever_asks(shelf: Shelf) -> None:
    """Their requirements come along only where the extra is named."""
    shelf.put("web", "1.0", "fast; extra == 'speed'")
    shelf.put("fast", "1.0")
    shelf.put("app", "1.0", "web[speed]")
    assert shelf.bundle("web") == ["web 1.0"]
    assert shelf.bundle("app", "web") == ["app 1.0", "fast 1.0", "web 1.0 speed"]


def test_what_the_bundle_has_is_not_looked_for(shelf: Shelf, tmp_path: Path) -> None:
    """Pinned wheels serve those who fit them; who does not fit is refused by name."""
    (tmp_path / "pinned").mkdir()
    pinned = Shelf(tmp_path / "pinned").put("pinned", "2.0")
    shelf.put("app", "1.0", "pinned>=1.5")
    shelf.put("older", "1.0", "pinned<2")
    assert shelf.bundle("app", base=[pinned]) == ["app 1.0", "pinned 2.0"]
    assert shelf.asked == ["app"]
    with pytest.raises(CheckFailed, match=r"older needs pinned<2; the bundle has pinned 2\.0"):
        shelf.bundle("older", base=[pinned])


def test_a_wheel_file_is_taken_with_what_it_needs(shelf: Shelf, tmp_path: Path) -> None:
    """A file needs no registry for itself, and serves others that need it."""
    (tmp_path / "mine").mkdir()
    wheel = Shelf(tmp_path / "mine").put("mine", "1.0", "other", tags="cp314-cp314-pyemscripten_2026_0_wasm32")
    shelf.put("other", "1.0", "mine")
    assert shelf.bundle(wheels=[wheel]) == ["mine 1.0", "other 1.0"]
    assert shelf.asked == ["other"]


@pytest.mark.parametrize(
    "tags", ["cp314-cp314-manylinux_2_17_x86_64", "cp313-cp313-pyemscripten_2026_0_wasm32", "py2-none-any", "any"]
)
def test_a_wheel_for_another_platform_is_refused(shelf: Shelf, tags: str) -> None:
    """The message says what a bundle takes."""
    wheel = shelf.put("native", "1.0", tags=tags)
    with pytest.raises(CheckFailed, match=r"other platforms only.*pyemscripten_2026_0_wasm32"):
        shelf.bundle(wheels=[wheel])


def test_what_is_no_wheel_is_refused(shelf: Shelf, tmp_path: Path) -> None:
    """A broken file, or one with metadata that cannot be read, is named."""
    (tmp_path / "broken-1.0-py3-none-any.whl").write_bytes(b"no zip")
    with pytest.raises(CheckFailed, match=r"broken.* is no wheel"):
        shelf.bundle(wheels=[tmp_path / "broken-1.0-py3-none-any.whl"])
    with pytest.raises(CheckFailed, match=r"strange-1.0-py3-none-any.whl: .*planet"):
        shelf.bundle(wheels=[shelf.put("strange", "1.0", "x; planet == 'mars'")])


def test_versions_that_never_settle_end_the_search(shelf: Shelf) -> None:
    """Two packages that exclude each other's newest version do not keep the build busy for ever."""
    shelf.put("a", "1.0", "b")
    shelf.put("b", "2.0", "c<2")
    shelf.put("b", "1.0", "c")
    shelf.put("c", "2.0", "b")
    shelf.put("c", "1.0", "b<2")
    with pytest.raises(CheckFailed, match="no versions fit together for a, c"):
        shelf.bundle("a", "c")
