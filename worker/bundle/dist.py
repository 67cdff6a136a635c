"""Writing `dist/`: plain static files, the same bytes for the same sources, below any path of any server.

Everything that must fit together lies in one folder named by the hash of all its files, so that two releases
cannot mix. Its files keep the relative places they have in the sources.
"""

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from worker.bundle.additions import Additions, Bundled, with_additions
from worker.bundle.delivery import Delivery, is_gzipped
from worker.bundle.download import Cache
from worker.bundle.lock import full_lock_text, lock_text, release_address
from worker.bundle.npm_package import read_files, unpack
from worker.bundle.outcome import CheckFailed
from worker.bundle.packs import library_packs, project_pack, wheels_pack
from worker.bundle.pins import Pins
from worker.bundle.place import Place
from worker.bundle.sizes import check_sizes
from worker.bundle.toolchain import NodeToolchain, Toolchain
from worker.bundle.wheels import project_wheel

FORMAT = 1
LIBRARY = "python_stdlib.zip"
CORE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
PYODIDE_FILES = (*CORE_FILES, LIBRARY)
LEGAL_FILES = ("LICENSE", "THIRD_PARTY_NOTICES.md")

Set = Literal["boot", "schemas", "extra", "wheels", "page", "later"]

# What a module asks for before it runs: `import … from "./x.js"`, `export … from "./x.js"`, `import "./x.js"`.
_STATIC_IMPORT = re.compile(r'(?m)^(?:import|export)\s+(?:[\w$*{},\s]*\sfrom\s+)?"\./([\w.-]+\.js)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The files of the runtime folder by relative path, each in the set that is loaded together."""

    version: str
    pyodide: str
    python: str
    files: dict[str, bytes] = field(default_factory=dict)
    sets: dict[str, Set] = field(default_factory=dict)

    def add(self, path: str, content: bytes, *, to: Set) -> None:
        self.files[path] = content
        self.sets[path] = to

    def manifest(self) -> dict[str, object]:
        """What the page and the worker know of the folder; its name is made of everything else in it."""
        described: dict[str, object] = {
            "format": FORMAT,
            "version": self.version,
            "pyodide": self.pyodide,
            "python": self.python,
            "files": {
                path: {**_content(content), "set": self.sets[path], **_unpacked(path, content)}
                for path, content in sorted(self.files.items())
            },
        }
        described["snapshotKey"] = self._snapshot_key()
        name = hashlib.sha256(_json(described).encode()).hexdigest()[:12]
        return {**described, "runtime": f"runtime-{name}"}

    def _snapshot_key(self) -> str:
        """Of all that a memory snapshot is made of: what starts Python, and the script that makes and reads one."""
        decisive = {path for path, name in self.sets.items() if name == "boot" or path.startswith("worker/")}
        hashes = {path: _content(self.files[path]) for path in decisive}
        return hashlib.sha256(_json(hashes).encode()).hexdigest()[:16]


def write_dist(
    place: Place,
    pins: Pins,
    cache: Cache,
    toolchain: Toolchain,
    additions: Additions | None = None,
    delivery: Delivery | None = None,
) -> Path:
    """Build `dist/` and put it in place of the old one when it is whole, and only if it differs; returns its path.

    Raises `CheckFailed` if a part is larger than it may be, or if `additions` cannot run in Pyodide.
    """
    delivery = delivery or Delivery()
    runtime = _runtime(place, pins, cache, toolchain, additions or Additions())
    runtime.files.update(delivery.packs(runtime.files))
    check_sizes(runtime.files, runtime.sets, toolchain)
    files = _dist_files(place.root, runtime)
    files |= delivery.compressed(files, toolchain)
    if _read(place.dist) == files:
        return place.dist
    new = place.made / "dist-new"
    shutil.rmtree(new, ignore_errors=True)
    for path, content in files.items():
        target = new / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    _swap(new, place.dist, place.made / "dist-old")
    return place.dist


def pyodide_info(lock: bytes) -> dict[str, str]:
    """The `info` of the lock that comes with Pyodide: its Python, its platform, its ABI."""
    info = json.loads(lock)["info"]
    return {key: str(info[key]) for key in ("abi_version", "arch", "platform", "python")}


def wheel_files(root: Path, pins: Pins, cache: Cache, work: Path) -> list[Path]:
    """The wheels of the bundle as files, our own first (written to `work`), then the pinned ones by name."""
    name, content = project_wheel(root)
    work.mkdir(parents=True, exist_ok=True)
    own = work / name
    own.write_bytes(content)
    return [own, *(cache.get(wheels[name]) for wheels in (pins.wheels, pins.on_demand) for name in sorted(wheels))]


def node_toolchain(place: Place, pins: Pins, cache: Cache, *, node: str) -> NodeToolchain:
    """The toolchain of the pinned packages, unpacked where builds do their work."""
    pyodide, terser = (unpack(cache.get(pins.npm[name]), place.work / name) for name in ("pyodide", "terser"))
    return NodeToolchain(node=node, pyodide=pyodide, terser=terser, work=place.work / "made")


def _runtime(place: Place, pins: Pins, cache: Cache, toolchain: Toolchain, additions: Additions) -> Runtime:
    core = read_files(cache.get(pins.npm["pyodide"]), [*PYODIDE_FILES, "pyodide-lock.json"])
    info = pyodide_info(core["pyodide-lock.json"])
    own, *others = wheel_files(place.root, pins, cache, place.work / "wheels")
    runtime = Runtime(version=own.name.split("-")[1], pyodide=pins.npm["pyodide"].version, python=info["python"])
    for name in CORE_FILES:
        runtime.add(f"pyodide/{name}", core[name], to="boot")
    library = library_packs(core[LIBRARY], own, toolchain)
    runtime.add("python.pack", library["python.pack"], to="boot")
    runtime.add("langfx.pack", project_pack(own, toolchain), to="boot")
    runtime.add("schemas.pack", wheels_pack(others[: len(pins.wheels)], toolchain), to="schemas")
    runtime.add("extra.pack", library["extra.pack"], to="extra")
    target = pins.wheel_target
    wheels = with_additions([own, *others], additions, find=cache.find, target=target, python=info["python"])
    _add_wheels(runtime, wheels, pins, core, info)
    scripts = [path for side in ("worker", "web") for path in (place.root / side).glob("*.js")]
    sources = {path.relative_to(place.root).as_posix(): path.read_bytes() for path in scripts}
    starting = _starting_modules(sources, "web/langfx-web.js") | _starting_modules(sources, "worker/worker.js")
    for path, text in sorted(toolchain.minified(dict(sorted(sources.items()))).items()):
        runtime.add(path, text, to=_script_set(path, starting))
    return runtime


def _add_wheels(
    runtime: Runtime, wheels: list[Bundled], pins: Pins, core: Mapping[str, bytes], info: Mapping[str, str]
) -> None:
    """Every wheel of the bundle, and the locks that a worker finds packages by."""
    for wheel in wheels:
        runtime.add(f"wheels/{wheel.path.name}", wheel.path.read_bytes(), to="wheels")
    provided = {"langfx-web", *pins.wheels}
    lock = lock_text(wheels, info=info, provided=provided)
    release = release_address(core["pyodide.mjs"].decode(), runtime.pyodide)
    full = full_lock_text(lock, core["pyodide-lock.json"], release=release, provided=provided)
    runtime.add("pyodide-lock.json", lock.encode(), to="boot")
    runtime.add("pyodide-lock-full.json", full.encode(), to="wheels")


def _script_set(path: str, starting: set[str]) -> Set:
    if path not in starting:
        return "later"
    return "boot" if path.startswith("worker/") else "page"


def _starting_modules(sources: Mapping[str, bytes], path: str) -> set[str]:
    """The modules that `path` cannot run without; others are loaded when they are wanted, by `import()`."""
    found, waiting = set[str](), [path]
    folder = path.partition("/")[0]
    while waiting:
        if (path := waiting.pop()) in found or path not in sources:
            continue
        found.add(path)
        waiting += [f"{folder}/{name}" for name in _STATIC_IMPORT.findall(sources[path].decode())]
    return found


def _dist_files(root: Path, runtime: Runtime) -> dict[str, bytes]:
    manifest = runtime.manifest()
    folder = str(manifest["runtime"])
    files = {f"{folder}/{path}": content for path, content in runtime.files.items()}
    manifest_text = _json(manifest)
    files[f"{folder}/web/manifest.js"] = f"export const manifest = {manifest_text};\n".encode()
    files["manifest.json"] = f"{manifest_text}\n".encode()
    files["package.json"] = f"{_json(_npm_metadata(runtime.version, folder))}\n".encode()
    files["langfx-web.js"] = _front_door(runtime, folder).encode()
    files["langfx-web-sw.js"] = _service_worker(folder).encode()
    copied = {f"web/{name}": name for name in ("langfx-web.d.ts", "langfx-web-sw.d.ts")}
    copied |= {f"web/npm/{name}": name for name in ("vite.js", "vite.d.ts", "python.d.ts")}
    files |= _copies(root, copied | {name: name for name in LEGAL_FILES})
    files |= _demo(root / "web" / "demo")
    return files


def _front_door(runtime: Runtime, folder: str) -> str:
    """The stable entry: names every page module, so that the browser asks for all of them at once."""
    modules = [path for path, name in sorted(runtime.sets.items()) if name == "page"]
    imports = [f'import "./{folder}/{path}";' for path in [*modules, "web/manifest.js"]]
    return "\n".join([*imports, f'export * from "./{folder}/web/langfx-web.js";']) + "\n"


def _service_worker(folder: str) -> str:
    """The stable script of the service worker, which does its work by itself only where it is the whole script."""
    module = f'"./{folder}/web/langfx-web-sw.js"'
    start = "if (location.href === import.meta.url) listen();"
    return "\n".join([f"import {{ listen }} from {module};", f"export * from {module};", start]) + "\n"


def _npm_metadata(version: str, folder: str) -> dict[str, object]:
    return {
        "name": "langfx-web",
        "version": version,
        "license": "MIT",
        "type": "module",
        "sideEffects": False,
        "description": "LLM agents in Python inside a browser tab.",
        "types": "./langfx-web.d.ts",
        "exports": {
            ".": {"types": "./langfx-web.d.ts", "default": "./langfx-web.js"},
            "./sw": {"types": "./langfx-web-sw.d.ts", "default": "./langfx-web-sw.js"},
            "./vite": {"types": "./vite.d.ts", "default": "./vite.js"},
            "./python": {"types": "./python.d.ts"},
            "./worker": f"./{folder}/worker/worker.js",
            "./runtime/*": f"./{folder}/*",
            "./manifest.json": "./manifest.json",
            "./package.json": "./package.json",
        },
    }


def _demo(source: Path) -> dict[str, bytes]:
    """The demo page, also as the page of the folder itself; without a server of ours it has no scripted provider."""
    paths = {path.relative_to(source): path for path in source.rglob("*") if path.is_file()}
    shipped = {name: path for name, path in paths.items() if not any(_is_made(part) for part in name.parts)}
    files = {f"demo/{name.as_posix()}": path.read_bytes() for name, path in shipped.items()}
    files["demo/provider.json"] = b'{"baseUrl": null}\n'
    if "demo/index.html" in files:
        files["index.html"] = _with_base(files["demo/index.html"].decode(), "demo/").encode()
    return files


def _is_made(part: str) -> bool:
    """Whether a file or folder of this name is what some tool left there."""
    return part == "__pycache__" or part.startswith(".")


def _with_base(html: str, base: str) -> str:
    changed, count = re.subn(r"(<head[^>]*>)", rf'\1\n<base href="{base}">', html, count=1)
    if count == 0:
        raise CheckFailed("web/demo/index.html has no <head>, so it cannot be the page of dist/ too")
    return changed


def _copies(root: Path, places: Mapping[str, str]) -> dict[str, bytes]:
    return {to: (root / source).read_bytes() for source, to in places.items() if (root / source).exists()}


def _read(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _swap(new: Path, dist: Path, old: Path) -> None:
    shutil.rmtree(old, ignore_errors=True)
    if dist.exists():
        os.replace(dist, old)
    os.replace(new, dist)
    shutil.rmtree(old, ignore_errors=True)


def _content(content: bytes) -> dict[str, object]:
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    return {"size": len(content), "sha256": f"sha256-{digest}"}


def _unpacked(path: str, content: bytes) -> dict[str, object]:
    """Some hosts unpack what is gzipped, and the browser then gets the zip itself."""
    is_packed = path.endswith(".pack") and is_gzipped(content)
    return {"unpacked": _content(gzip.decompress(content))} if is_packed else {}


def _json(value: object) -> str:
    return json.dumps(value, indent=1, sort_keys=True)
