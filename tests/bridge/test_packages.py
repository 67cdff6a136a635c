"""Packages of a page: out of the bundle, in order, looked for afterwards, with everything that is missing named."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from langfx_web.bridge.importable import imports_of
from langfx_web.bridge.packages import Lock, Packages
from langfx_web.errors import BootError, PackageError
from tests.bridge.fake_page import FakeInstaller, FakePage

UNREACHABLE = {"code": "download_failed", "name": "BootError", "message": "no answer", "retryable": True, "details": {}}
ALTERED = {"code": "integrity_failed", "name": "BootError", "message": "not it", "retryable": False, "details": {}}


def entry(*depends: str, imports: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    """An entry of a lock."""
    return {
        "file_name": "x-1.0-py3-none-any.whl",
        "sha256": "00",
        "imports": list(imports),
        "depends": list(depends),
        "install_dir": "site",
        **fields,
    }


@pytest.fixture
def bundle(tmp_path, page: FakePage) -> FakeInstaller:
    """Wheels in a chain, one that has less than its lock says, and one that the bundle's packs provide."""
    site = tmp_path / "site"
    site.mkdir()
    sys.path.insert(0, str(site))
    packages = {
        "shelf-top": entry("Shelf_Middle", imports=("shelf_top",)),
        "shelf-middle": entry("shelf-bottom", "pydantic", imports=("shelf_middle",)),
        "shelf-bottom": entry("shelf-top", imports=("shelf_bottom",), file_name="https://far.invalid/bottom.whl"),
        "hollow": entry(imports=("hollow_shelf", "hollow_part"), has=["hollow_part"]),
        "pydantic": entry(imports=("pydantic",)),
    }
    return FakeInstaller(packages, site=site)


@pytest.fixture
def prepared() -> list[str]:
    """How often the packs were asked for."""
    return []


@pytest.fixture
def packages(bundle: FakeInstaller, prepared: list[str], tmp_path) -> Packages:
    async def prepare() -> None:
        prepared.append("packs")

    return Packages(bundle.open, prepare=prepare, folder=tmp_path / "wheels")


async def test_a_package_comes_behind_what_it_needs(packages: Packages, bundle: FakeInstaller, prepared) -> None:
    """Each once, a circle is no trouble, and what packs provide is not installed."""
    await packages.load(["Shelf.Top", "pydantic"], [], set())
    assert bundle.installed == [
        "shelf-bottom https://far.invalid/bottom.whl site",
        "shelf-middle wheels/x-1.0-py3-none-any.whl site",
        "shelf-top wheels/x-1.0-py3-none-any.whl site",
    ]
    assert (bundle.locks, prepared) == (["pyodide-lock.json"], ["packs"])


async def test_imports_bring_what_the_bundle_has(packages: Packages, bundle: FakeInstaller) -> None:
    """A page that imports a bundled package need not name it."""
    await packages.load([], [], {"shelf_bottom", "unheard_of"})
    assert [line.split()[0] for line in bundle.installed] == ["shelf-middle", "shelf-top", "shelf-bottom"]


async def test_nothing_is_opened_for_a_page_without_packages(tmp_path) -> None:
    """Its start does not pay for them."""

    async def never() -> Any:
        raise AssertionError("opened")

    await Packages(never, prepare=never, folder=tmp_path).load([], [], set())


async def test_packs_are_left_alone_where_nothing_is_found(packages: Packages, prepared) -> None:
    """A name that no wheel brings costs a look into the lock."""
    await packages.load([], [], {"unheard_of"})
    assert prepared == []


async def test_everything_that_is_missing_is_named(packages: Packages, bundle: FakeInstaller) -> None:
    """Wheels that did not come, and wheels that lack what the lock promises; the network makes it retryable."""
    bundle.broken["shelf-middle"] = ALTERED
    with pytest.raises(PackageError) as caught:
        await packages.load(["shelf-top", "hollow"], [], set())
    assert set(caught.value.names) == {"shelf-middle", "hollow"}
    assert "hollow: it brings no hollow_shelf" in caught.value.message
    assert (caught.value.code, caught.value.retryable) == ("package_failed", False)


async def test_an_unreachable_server_makes_a_failure_retryable(packages: Packages, bundle: FakeInstaller) -> None:
    """Trying again may help then."""
    bundle.broken["hollow"] = UNREACHABLE
    with pytest.raises(PackageError) as caught:
        await packages.load(["hollow"], [], set())
    assert caught.value.retryable is True


async def test_a_lock_that_cannot_be_read_says_why(packages: Packages, bundle: FakeInstaller) -> None:
    """By the code of the download."""
    bundle.broken["pyodide-lock.json"] = UNREACHABLE
    with pytest.raises(BootError) as caught:
        await packages.load(["hollow"], [], set())
    assert caught.value.code == "download_failed"


async def test_a_wheel_by_address_is_checked_by_the_hash_in_its_fragment(
    packages: Packages, bundle: FakeInstaller
) -> None:
    """One that does not come is named by its file; others are still tried."""
    bundle.packages["micropip"] = entry()
    bundle.broken = {f"https://far.invalid/bad-1.0-py3-none-any.whl#sha256={'a' * 64}": ALTERED}
    with pytest.raises(PackageError) as caught:
        await packages.load([], list(bundle.broken), set())
    assert caught.value.names == ("bad-1.0-py3-none-any.whl",)
    assert bundle.read_hashes == ["a" * 64]


async def test_an_address_that_is_of_no_wheel_is_not_even_asked_for(packages: Packages, bundle: FakeInstaller) -> None:
    """A folder or a page is told by its address, without what may be secret in it."""
    bundle.packages["micropip"] = entry()
    with pytest.raises(PackageError, match="no wheel") as caught:
        await packages.load([], ["https://far.invalid/wheels/?key=k", "https://far.invalid/rules.zip"], set())
    assert caught.value.names == ("https://far.invalid/wheels/", "https://far.invalid/rules.zip")
    assert bundle.read_hashes == []


async def test_a_page_waits_for_its_packages_before_its_modules_run(bundle: FakeInstaller, tmp_path) -> None:
    """Named or imported, they are there when a module is imported."""
    page = FakePage(tmp_path / "modules", open_installer=bundle.open)
    source = "import shelf_top, hollow_part\ndef names(): return [shelf_top.NAME, hollow_part.NAME]\n"
    bundle.packages["hollow"]["imports"] = ["hollow_part"]
    assert (await page.setup({"package_shop": source}, packages=["shelf-top"]))["kind"] == "ready"
    assert (await page.ask("call", target="package_shop:names", args=[]))["value"] == ["shelf_top", "hollow_part"]


async def test_a_page_is_told_which_packages_are_missing(bundle: FakeInstaller, tmp_path) -> None:
    """As an error of its setup."""
    bundle.broken["hollow"] = UNREACHABLE
    page = FakePage(tmp_path / "modules", open_installer=bundle.open)
    error = (await page.setup({}, packages=["hollow"]))["error"]
    assert (error["code"], error["retryable"], error["details"]["names"]) == ("package_failed", True, ["hollow"])


def test_a_lock_lacks_what_a_package_needs() -> None:
    """Only a broken lock does; it is said by name."""
    with pytest.raises(PackageError, match="no package 'gone'"):
        Lock(packages={"here": entry("gone")}).with_dependencies(["here"])


def test_the_record_of_a_distribution_names_its_imports(tmp_path, monkeypatch) -> None:
    """Packages, modules and extension modules; scripts and metadata are none."""
    info = tmp_path / "Some_Thing-1.0.dist-info"
    info.mkdir()
    lines = ["some/__init__.py,sha256=x,1", "thing.py,,", "_fast.cpython-314.so,,", "../../bin/run,,"]
    lines += ["Some_Thing-1.0.dist-info/RECORD,,", "notes.txt,,"]
    (info / "RECORD").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert imports_of("some.thing") == {"some", "thing", "_fast"}
    assert imports_of("other") is None
