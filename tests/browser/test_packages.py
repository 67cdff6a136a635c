"""Packages beside our own: from the bundle, from Pyodide's release, from the registry, by address.

No request leaves the machine: what a page asks of other hosts is answered here, and anything else is refused.
"""

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Route

from tests.browser.tab import PageError, Tab
from tests.bundle.tiny import wheel_bytes
from worker.bundle.server import Server

NewTab = Callable[..., Tab]
NewServer = Callable[..., Server]

HTTP = """\
import urllib.request

import pyodide_http


def get(url):
    pyodide_http.patch_all()
    with urllib.request.urlopen(url, timeout=20) as response:
        return [response.status, response.read().decode()]
"""
ARCHIVE = """\
import pathlib
import shutil
import tempfile


def pack():
    folder, other = (pathlib.Path(tempfile.mkdtemp()) for _ in range(2))
    (folder / "a.txt").write_text("a")
    made = shutil.make_archive(other / "made", "tar", folder)
    shutil.unpack_archive(made, other / "unpacked")
    return (other / "unpacked" / "a.txt").read_text()
"""


def module(*names: str) -> bytes:
    """A module of the page that imports names and gives what they are."""
    return f"import {', '.join(names)}\ndef say(): return [each.NAME for each in ({', '.join(names)},)]\n".encode()


def wheel(name: str, *requires: str) -> bytes:
    """A wheel with one module of its own name, and a record of it."""
    stem = name.replace("-", "_")
    record = f"{stem}.py,,\n{stem}-1.0.dist-info/RECORD,,\n".encode()
    metadata = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0"])
    metadata += "".join(f"\nRequires-Dist: {requirement}" for requirement in requires) + "\n"
    described = {"METADATA": metadata.encode(), "RECORD": record}
    files = {f"{stem}-1.0.dist-info/{name}": content for name, content in described.items()}
    return wheel_bytes(name, files={f"{stem}.py": f"NAME = {name!r}\n".encode(), **files})


class World:
    """The other hosts that a tab may ask: an index of packages, and Pyodide's release."""

    def __init__(self, tab: Tab, server: Server) -> None:
        self.asked: list[str] = []
        self.down = False
        self._files: dict[str, tuple[str, bytes]] = {}
        self._own = server.url
        tab.page.context.route(re.compile("https?://"), self._answer)

    def publish(self, name: str, content: bytes) -> None:
        """Put version 1.0 of a package into the index."""
        file = f"{name.replace('-', '_')}-1.0-py3-none-any.whl"
        entry = {"filename": file, "url": f"https://files.invalid/{file}", "hashes": {"sha256": sha256(content)}}
        page = {"name": name, "files": [entry], "versions": ["1.0"], "meta": {"api-version": "1.1"}}
        self._files[f"/simple/{name}/"] = ("application/vnd.pypi.simple.v1+json", json.dumps(page).encode())
        self.put(f"/{file}", content)

    def put(self, path: str, content: bytes) -> None:
        """Answer requests for this path of any host."""
        self._files[path] = ("application/octet-stream", content)

    def _answer(self, route: Route) -> None:
        url = route.request.url
        if url.startswith(self._own):
            route.continue_()
            return
        self.asked.append(urlsplit(url).path)
        if self.down:
            route.abort()
            return
        type_, content = self._files.get(urlsplit(url).path, ("text/plain", b""))
        headers = {"access-control-allow-origin": "*", "content-type": type_}
        route.fulfill(status=200 if content else 404, headers=headers, body=content)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def altered(dist: Path, to: Path, change: Callable[[Path], dict[str, bytes]]) -> Path:
    """A copy of the bundle in which files of the runtime are other ones, which its manifest describes."""
    shutil.copytree(dist, to)
    (runtime,) = to.glob("runtime-*")
    script = runtime / "web" / "manifest.js"
    prefix, suffix = "export const manifest = ", ";\n"
    manifest = json.loads(script.read_text().removeprefix(prefix).removesuffix(suffix))
    for path, content in change(runtime).items():
        (runtime / path).parent.mkdir(exist_ok=True)
        (runtime / path).write_bytes(content)
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        known = manifest["files"].get(path, {"set": "wheels"})
        manifest["files"][path] = {**known, "size": len(content), "sha256": f"sha256-{digest}"}
    script.write_text(f"{prefix}{json.dumps(manifest)}{suffix}")
    return to


@pytest.fixture(scope="module")
def richer_dist(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle as `--with` makes it: with `upper`, which needs `lower`; in Pyodide's release lies `released`."""

    def change(runtime: Path) -> dict[str, bytes]:
        contents = {name: wheel(name) for name in ("upper", "lower")}
        own, full = (json.loads((runtime / f"pyodide-lock{end}.json").read_text()) for end in ("", "-full"))
        for lock in (own, full):
            lock["packages"]["upper"] = entry("upper", contents["upper"], "lower")
            lock["packages"]["lower"] = entry("lower", contents["lower"])
        far = f"https://release.invalid/{file_name('released')}"
        full["packages"]["released"] = {**entry("released", wheel("released"), "lower"), "file_name": far}
        files = {f"wheels/{file_name(name)}": content for name, content in contents.items()}
        files["pyodide-lock.json"] = json.dumps(own).encode()
        files["pyodide-lock-full.json"] = json.dumps(full).encode()
        return files

    return altered(dist, tmp_path_factory.mktemp("richer") / "dist", change)


def file_name(name: str) -> str:
    return f"{name}-1.0-py3-none-any.whl"


def entry(name: str, content: bytes, *depends: str) -> dict[str, object]:
    """An entry of a lock."""
    return {
        "name": name,
        "version": "1.0",
        "file_name": file_name(name),
        "sha256": sha256(content),
        "imports": [name],
        "depends": list(depends),
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
    }


@pytest.fixture
def richer(richer_dist: Path, new_server: NewServer) -> Server:
    return new_server(root=richer_dist)


def requested(server: Server) -> list[str]:
    """What was asked of the bundle's on-demand files."""
    names = [exchange.path.rpartition("/")[2] for exchange in server.exchanges]
    return [name for name in names if name.endswith(".whl") or name in ("packages.js", "pyodide-lock-full.json")]


def test_a_page_without_packages_loads_nothing_for_them(new_server: NewServer, new_tab: NewTab) -> None:
    """No installer, no wheel, no lock but the bundle's own."""
    server = new_server()
    tab = new_tab(server.url)
    tab.connect("agents.py")
    assert tab.call("agents:echo", ["here"]) == "here"
    assert requested(server) == []


def test_platform_33_a_bundled_package_is_loaded_without_other_hosts(richer: Server, new_tab: NewTab) -> None:
    """By name or by being imported, with what it needs, and told as a phase of the start."""
    richer.faults.bodies = {"/shop/one.py": module("upper", "lower"), "/shop/two.py": module("lower")}
    tab = new_tab(richer.url)
    world = World(tab, richer)
    tab.connect("/shop/one.py", packages=["upper"])
    assert tab.call("one:say") == ["upper", "lower"]
    assert sorted(requested(richer)) == sorted([file_name("lower"), file_name("upper"), "packages.js"])
    progress = tab.attempt("harness.progress")
    phases = list(dict.fromkeys(step["phase"] for step in progress))
    assert phases == ["download", "start", "packages", "modules", "ready"]
    assert [step["loaded"] for step in progress] == sorted(step["loaded"] for step in progress)
    assert progress[-1]["loaded"] == progress[-1]["total"]
    other = new_tab(richer.url)
    World(other, richer)
    other.connect("/shop/two.py")
    assert other.call("two:say") == ["lower"]
    assert (world.asked, tab.console.complaints, other.console.complaints) == ([], [], [])


def test_a_package_of_pyodides_release_comes_by_its_address(richer: Server, new_tab: NewTab) -> None:
    """Checked by the hash in the lock; what it needs of the bundle comes from there."""
    richer.faults.bodies = {"/shop/one.py": module("released", "lower")}
    tab = new_tab(richer.url)
    world = World(tab, richer)
    world.put(f"/{file_name('released')}", wheel("released"))
    tab.connect("/shop/one.py", packages=["released>=1"])
    assert tab.call("one:say") == ["released", "lower"]
    assert world.asked == [f"/{file_name('released')}"]
    assert file_name("lower") in requested(richer)
    assert tab.console.complaints == []


def test_a_released_file_with_another_hash_is_refused(richer: Server, new_tab: NewTab) -> None:
    """By name, before a module runs."""
    tab = new_tab(richer.url)
    World(tab, richer).put(f"/{file_name('released')}", wheel("lower"))
    with pytest.raises(PageError, match="released") as caught:
        tab.connect(packages=["released"])
    error = caught.value
    assert (error.code, error.retryable, error.details["names"]) == ("package_failed", False, ["released"])


def test_a_package_of_the_registry_comes_with_what_it_needs(richer: Server, new_tab: NewTab) -> None:
    """The index is asked for what neither bundle nor release have, and for nothing else; pydantic is there already."""
    richer.faults.bodies = {"/shop/one.py": module("published", "needed", "lower")}
    tab = new_tab(richer.url)
    world = World(tab, richer)
    world.publish("published", wheel("published", "needed>=1", "lower", "pydantic>=2", "absent; os_name == 'nt'"))
    world.publish("needed", wheel("needed"))
    tab.connect("/shop/one.py", packages=["published==1.0"])
    assert tab.call("one:say") == ["published", "needed", "lower"]
    index = [path for path in world.asked if path.startswith("/simple/")]
    assert index == ["/simple/published/", "/simple/needed/"]
    assert tab.console.complaints == []


def test_platform_33_unknown_packages_are_named(richer: Server, new_tab: NewTab) -> None:
    """All of them at once; trying again is no use."""
    tab = new_tab(richer.url)
    World(tab, richer)
    with pytest.raises(PageError) as caught:
        tab.connect(packages=["lower", "no-such-thing", "nor_this>=2"])
    error = caught.value
    assert (error.code, error.retryable) == ("package_failed", False)
    assert error.details["names"] == ["no-such-thing", "nor_this"]


def test_platform_33_a_registry_out_of_reach_may_be_tried_again(richer: Server, new_tab: NewTab) -> None:
    """So says the error, and it names the package."""
    tab = new_tab(richer.url)
    World(tab, richer).down = True
    with pytest.raises(PageError) as caught:
        tab.connect(packages=["no-such-thing"])
    error = caught.value
    assert (error.code, error.retryable, error.details["names"]) == ("package_failed", True, ["no-such-thing"])


def test_platform_33_a_wheel_of_the_bundle_that_is_gone(richer: Server, new_tab: NewTab) -> None:
    """A lost file is named as the package that it is."""
    richer.faults.missing = {f"*/{file_name('lower')}"}
    tab = new_tab(richer.url)
    with pytest.raises(PageError, match="404") as caught:
        tab.connect(packages=["upper"])
    error = caught.value
    assert (error.code, error.retryable, error.details["names"]) == ("package_failed", False, ["lower"])


def test_a_wheel_by_address_with_its_hash(richer: Server, new_tab: NewTab) -> None:
    """Relative to the page; with what it needs; another file is refused."""
    content = wheel("mine", "upper")
    richer.faults.bodies = {f"*/{file_name('mine')}": content, "/shop/one.py": module("mine", "upper")}
    tab = new_tab(richer.url)
    world = World(tab, richer)
    tab.connect("/shop/one.py", wheels=[f"/files/{file_name('mine')}#sha256={sha256(content)}"])
    assert tab.call("one:say") == ["mine", "upper"]
    assert world.asked == []
    with pytest.raises(PageError, match="another hash") as caught:
        new_tab(richer.url).connect(wheels=[f"/files/{file_name('mine')}#sha256={'0' * 64}"])
    assert caught.value.details["names"] == [file_name("mine")]


def test_a_wheel_of_a_host_that_does_not_allow_the_page(richer: Server, new_server: NewServer, new_tab: NewTab) -> None:
    """The message says what the browser does not: CORS."""
    other = new_server()
    other.faults.bodies = {f"*/{file_name('mine')}": wheel("mine")}
    with pytest.raises(PageError, match=r"allow this page's origin \(CORS\)") as caught:
        new_tab(richer.url).connect(wheels=[f"{other.url}{file_name('mine')}"])
    assert (caught.value.code, caught.value.retryable) == ("package_failed", True)


def test_synchronous_http_in_a_function(new_server: NewServer, new_tab: NewTab) -> None:
    """`urllib` works once `pyodide_http` has patched it, which lies in every bundle."""
    server = new_server()
    server.faults.bodies = {"/shop/web.py": HTTP.encode(), "/data/a.txt": b"the answer"}
    tab = new_tab(server.url)
    tab.connect("/shop/web.py")
    assert tab.call("web:get", [f"{server.url}data/a.txt"]) == [200, "the answer"]
    assert [name.partition("-")[0] for name in requested(server)] == ["packages.js", "pyodide_http"]


def test_platform_34_a_moved_module_is_found_by_whoever_imports_it(new_server: NewServer, new_tab: NewTab) -> None:
    """Code of the standard library reaches a part that the start does not load: fetched at that moment, once."""
    server = new_server()
    server.faults.bodies = {"/shop/packing.py": ARCHIVE.encode()}
    tab = new_tab(server.url)
    tab.connect("/shop/packing.py")
    assert not [exchange for exchange in server.exchanges if exchange.path.endswith("/extra.pack")]
    assert tab.call("packing:pack") == "a"
    assert len([exchange for exchange in server.exchanges if exchange.path.endswith("/extra.pack")]) == 1
    assert tab.console.complaints == []


def test_platform_34_a_moved_module_that_cannot_be_had_says_what_to_do(new_server: NewServer, new_tab: NewTab) -> None:
    """The function's error names the file, the reason and the remedy."""
    server = new_server()
    server.faults.bodies = {"/shop/packing.py": ARCHIVE.encode()}
    server.faults.missing = {"*/extra.pack"}
    tab = new_tab(server.url)
    tab.connect("/shop/packing.py")
    with pytest.raises(PageError, match=r"'tarfile' is in extra\.pack.*status 404.*connect"):
        tab.call("packing:pack")
