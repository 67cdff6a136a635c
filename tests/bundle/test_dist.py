"""The written `dist/`."""

import base64
import gzip
import hashlib
import json
from pathlib import Path

import pytest

from tests.bundle.tiny import Project, make_project, stock
from worker.bundle.delivery import Delivery
from worker.bundle.dist import write_dist
from worker.bundle.outcome import BuildError, CheckFailed


def build(project: Project, delivery: Delivery | None = None) -> dict[str, bytes]:
    """Write `dist/` and read it back, by relative path."""
    dist = write_dist(project.place, project.pins, project.cache, project.toolchain, delivery=delivery)
    return {path.relative_to(dist).as_posix(): path.read_bytes() for path in dist.rglob("*") if path.is_file()}


def test_dist_has_its_layout(project: Project) -> None:
    """Stable names lie at the top, everything that must fit together in one folder named by its content."""
    files = build(project)
    folder = json.loads(files["manifest.json"])["runtime"]
    assert len(folder) == len("runtime-") + 12
    assert sorted(path.replace(folder, "R") for path in files) == [
        "LICENSE",
        "R/extra.pack",
        "R/langfx.pack",
        "R/pyodide-lock-full.json",
        "R/pyodide-lock.json",
        "R/pyodide/pyodide.asm.mjs",
        "R/pyodide/pyodide.asm.wasm",
        "R/pyodide/pyodide.mjs",
        "R/python.pack",
        "R/schemas.pack",
        "R/web/channel.js",
        "R/web/langfx-web-sw.js",
        "R/web/langfx-web.js",
        "R/web/late.js",
        "R/web/manifest.js",
        "R/wheels/langfx_web-0.1.0-py3-none-any.whl",
        "R/wheels/on_demand-1.0-py3-none-any.whl",
        "R/wheels/small_thing-1.0-py3-none-any.whl",
        "R/worker/worker.js",
        "demo/agent.py",
        "demo/index.html",
        "demo/provider.json",
        "index.html",
        "langfx-web-sw.js",
        "langfx-web.d.ts",
        "langfx-web.js",
        "manifest.json",
        "package.json",
    ]


def test_manifest_describes_every_file_of_the_runtime(project: Project) -> None:
    """Sizes and hashes are those of the files; each file is in the set that it is loaded with."""
    files = build(project)
    manifest = json.loads(files["manifest.json"])
    folder = manifest["runtime"]
    assert {key: manifest[key] for key in ("format", "version", "pyodide", "python")} == {
        "format": 1,
        "version": "0.1.0",
        "pyodide": "314.0.7",
        "python": "3.14.2",
    }
    described = {f"{folder}/{path}" for path in manifest["files"]} | {f"{folder}/web/manifest.js"}
    assert described == {path for path in files if path.startswith("runtime-")}
    for path, entry in manifest["files"].items():
        content = files[f"{folder}/{path}"]
        assert entry["size"] == len(content)
        assert entry["sha256"] == "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()
    sets = {path: entry["set"] for path, entry in manifest["files"].items()}
    assert {path: name for path, name in sets.items() if path.endswith(".pack")} == {
        "python.pack": "boot",
        "langfx.pack": "boot",
        "schemas.pack": "schemas",
        "extra.pack": "extra",
    }
    assert {sets[path] for path in sets if path.startswith("wheels/")} == {"wheels"}
    assert (sets["web/channel.js"], sets["web/late.js"]) == ("page", "later")
    assert {sets[path] for path in sets if path.startswith(("pyodide/", "worker/"))} == {"boot"}
    assert (sets["pyodide-lock.json"], sets["pyodide-lock-full.json"]) == ("boot", "wheels")


def test_a_pack_is_known_gzipped_and_as_its_zip(project: Project) -> None:
    """A host may unpack what is gzipped, so the manifest describes both."""
    files = build(project)
    manifest = json.loads(files["manifest.json"])
    for path, entry in manifest["files"].items():
        assert ("unpacked" in entry) == path.endswith(".pack")
        if "unpacked" in entry:
            zipped = gzip.decompress(files[f"{manifest['runtime']}/{path}"])
            digest = base64.b64encode(hashlib.sha256(zipped).digest()).decode()
            assert entry["unpacked"] == {"size": len(zipped), "sha256": f"sha256-{digest}"}


def test_a_host_that_compresses_gets_packs_as_they_are(project: Project) -> None:
    """The zips lie there without gzip, under another name of the runtime, and have their own budget."""
    usual, files = build(project), build(project, Delivery(host="compressing"))
    old, new = (json.loads(made["manifest.json"]) for made in (usual, files))
    assert old["runtime"] != new["runtime"]
    for path in (path for path in new["files"] if path.endswith(".pack")):
        assert files[f"{new['runtime']}/{path}"] == gzip.decompress(usual[f"{old['runtime']}/{path}"])
        assert "unpacked" not in new["files"][path]


def test_a_release_has_compressed_files_beside_the_others(project: Project) -> None:
    """Scripts and WebAssembly lie there as brotli and gzip, too; the manifest and all else stay as they are."""
    usual, files = build(project), build(project, Delivery(release=True))
    added = {path: content for path, content in files.items() if path not in usual}
    assert {path: files[path] for path in usual} == usual
    folder = json.loads(files["manifest.json"])["runtime"]
    assert {f"{folder}/pyodide/pyodide.asm.wasm.br", f"{folder}/web/channel.js.gz", "langfx-web.js.br"} <= set(added)
    for path, content in added.items():
        original = files[path.removesuffix(".br").removesuffix(".gz")]
        assert content.startswith(b"brotli ") if path.endswith(".br") else gzip.decompress(content) == original
    assert not any(path.endswith((".pack.br", ".pack.gz", ".html.br")) for path in added)


def test_scripts_have_no_comments(project: Project) -> None:
    """What only readers of the sources need is not downloaded."""
    files = build(project)
    folder = json.loads(files["manifest.json"])["runtime"]
    assert files[f"{folder}/worker/worker.js"] == b"export const worker = 1;\n"


def test_what_the_start_does_not_import_has_no_budget(project: Project) -> None:
    """A module that the page loads when it is wanted costs nothing at the start."""
    text = "export const noise = '" + hashlib.shake_256(b"").hexdigest(20_000) + "';\n"
    (project.place.root / "web/late.js").write_text(text)
    build(project)


def test_what_is_too_large_fails_the_build(project: Project) -> None:
    """Every part that is over its budget is named with both sizes, and nothing is written."""
    text = "export const noise = '" + hashlib.shake_256(b"").hexdigest(20_000) + "';\n"
    (project.place.root / "web/channel.js").write_text(text)
    with pytest.raises(CheckFailed, match=r"too large: page_scripts \d+ of \d+ bytes"):
        build(project)
    assert not project.place.dist.exists()


def test_manifest_module_says_the_same_as_the_manifest(project: Project) -> None:
    """The page gets the manifest by an import, without a request of its own."""
    files = build(project)
    folder = json.loads(files["manifest.json"])["runtime"]
    text = files[f"{folder}/web/manifest.js"].decode()
    prefix, suffix = "export const manifest = ", ";\n"
    assert text.startswith(prefix)
    assert text.endswith(suffix)
    assert json.loads(text[len(prefix) : -len(suffix)]) == json.loads(files["manifest.json"])


def test_platform_04_two_builds_are_equal_byte_for_byte(project: Project, tmp_path: Path) -> None:
    """The same sources give the same bytes: again, in another clone, and over an older dist."""
    first = build(project)
    assert build(make_project(tmp_path / "elsewhere")) == first
    (project.place.dist / "left-over.txt").write_text("old")
    assert build(project) == first


@pytest.mark.parametrize("changed", ["worker/worker.js", "web/channel.js", "langfx_web/inner/__init__.py"])
def test_any_change_gives_the_runtime_another_name(project: Project, changed: str) -> None:
    """Files of two releases cannot mix, since they lie in two folders."""
    before = json.loads(build(project)["manifest.json"])["runtime"]
    (project.place.root / changed).write_text("changed = 1\n")
    assert json.loads(build(project)["manifest.json"])["runtime"] != before


def test_front_door_loads_all_page_modules_of_the_runtime(project: Project) -> None:
    """One stable module imports those that start side by side and exports what the page uses."""
    files = build(project)
    folder = json.loads(files["manifest.json"])["runtime"]
    assert files["langfx-web.js"].decode().splitlines() == [
        f'import "./{folder}/web/channel.js";',
        f'import "./{folder}/web/langfx-web.js";',
        f'import "./{folder}/web/manifest.js";',
        f'export * from "./{folder}/web/langfx-web.js";',
    ]


def test_service_worker_is_one_stable_script(project: Project) -> None:
    """It changes with every release, so that browsers notice; imported by another service worker it starts nothing."""
    files = build(project)
    folder = json.loads(files["manifest.json"])["runtime"]
    assert files["langfx-web-sw.js"].decode().splitlines() == [
        f'import {{ listen }} from "./{folder}/web/langfx-web-sw.js";',
        f'export * from "./{folder}/web/langfx-web-sw.js";',
        "if (location.href === import.meta.url) listen();",
    ]


def test_npm_package_points_to_files_that_are_there(project: Project) -> None:
    """`dist/` can be published as an npm package: ES modules with types, no dependency."""
    files = build(project)
    package = json.loads(files["package.json"])
    assert (package["type"], package["sideEffects"]) == ("module", False)
    assert "dependencies" not in package
    exports = package["exports"]
    targets = [exports["."]["types"], exports["."]["default"], exports["./worker"], exports["./manifest.json"]]
    assert {target.removeprefix("./") for target in targets} <= set(files)


def test_lock_names_nothing_outside_of_the_bundle(project: Project) -> None:
    """The lock that came with Pyodide, full of remote addresses, is replaced by ours."""
    files = build(project)
    folder = json.loads(files["manifest.json"])["runtime"]
    text = files[f"{folder}/pyodide-lock.json"].decode()
    assert "://" not in text
    for entry in json.loads(text)["packages"].values():
        assert f"{folder}/wheels/{entry['file_name']}" in files


def test_index_page_is_the_demo_with_its_own_base(project: Project) -> None:
    """The page of the folder is the demo page, whose relative addresses still lead to the demo's files."""
    files = build(project)
    assert b"base" not in files["demo/index.html"]
    assert b"<head lang='en'>\n<base href=\"demo/\"><title>demo</title>" in files["index.html"]
    assert json.loads(files["demo/provider.json"]) == {"baseUrl": None}


def test_an_equal_dist_is_left_alone(project: Project) -> None:
    """Building again does not disturb a server or a test that uses what is there."""
    build(project)
    before = {path: path.stat().st_ino for path in project.place.dist.rglob("*")}
    build(project)
    assert {path: path.stat().st_ino for path in project.place.dist.rglob("*")} == before


def test_platform_02_a_failed_build_leaves_the_old_dist(project: Project) -> None:
    """`dist/` is replaced as a whole or not at all."""
    before = build(project)
    wheel = project.pins.wheels["small-thing"]
    stock(project.cache, wheel, b"altered")
    with pytest.raises(CheckFailed, match="small_thing"):
        build(project)
    with pytest.raises(BuildError, match="put the file at"):
        build(project)
    dist = project.place.dist
    assert {path.relative_to(dist).as_posix() for path in dist.rglob("*") if path.is_file()} == set(before)
