"""The memory snapshot: made once in a quiet moment, restored at later starts, and harmless when it is of no use."""

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.tab import Tab
from worker.bundle.browsers import need_chromium
from worker.bundle.server import Server

CACHE = "langfx-web-snapshot"
# Key and name of everything that the cache holds.
KEPT = f"caches.open({CACHE!r}).then(async (c) => (await c.keys()).map(({{ url }}) => url.split('/').slice(-2)))"
# Changes the bytes of the heap; `change` gets them and returns others, `fresh` gives those their own hash and length.
DAMAGE = """(async () => {
  const cache = await caches.open("langfx-web-snapshot");
  const request = (await cache.keys()).find(({ url }) => url.endsWith("/heap"));
  const heap = await cache.match(request);
  const about = JSON.parse(heap.headers.get("langfx"));
  const bytes = (%s)(new Uint8Array(await heap.arrayBuffer()));
  const { digest } = await harness.module("worker/download.js");
  if (%s) Object.assign(about, { length: bytes.length, sha256: await digest(bytes.buffer) });
  await cache.put(request, new Response(bytes, { headers: { langfx: JSON.stringify(about) } }));
})()"""
FLIP = "(bytes) => bytes.with(100_000, bytes[100_000] ^ 1)"
CUT = "(bytes) => bytes.slice(0, bytes.length / 2)"
# The second word of Pyodide's own head, behind the numbers of the pages, says of which build it is.
OTHER_BUILD = "(bytes) => bytes.with(4 * (1 + new Uint32Array(bytes.buffer)[0]) + 16, 1)"
# Makes a snapshot after Python has run `argument`, and gives what came of it.
MAKE = """(async () => {
  const { manifest } = await harness.module("web/manifest.js");
  const base = new URL(`/${manifest.runtime}/`, location.href).href;
  const snapshot = `${origin}/langfx-web-snapshot/${manifest.snapshotKey}/`;
  const worker = new Worker("/tests/maker.js", { type: "module" });
  const made = new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data.made)));
  worker.postMessage({ make: { manifest, base, jspi: true, snapshot }, code: argument });
  return made.finally(() => worker.terminate());
})()"""
# Asks for a snapshot on a page of which `argument` says what is different, and gives how many workers were started.
ASK = """(async () => {
  const { failures, visible = true, busy = 0 } = argument;
  const { makeSnapshot } = await harness.module("web/snapshot.js");
  const url = `${origin}/langfx-web-snapshot/asked/`;
  const cache = await caches.open("langfx-web-snapshot");
  if (failures) await cache.put(`${url}failures`, new Response(String(failures)));
  let [started, looks] = [0, 0];
  const worker = { terminate() {}, postMessage: () => worker.onmessage({ data: { made: "" } }) };
  const page = {
    clock: { after: (wait, then) => (wait === 1 && setTimeout(then), () => {}), now: () => 0 },
    quiet: 1,
    isIdle: () => ++looks > busy,
    over: new Promise(() => {}),
    start: () => (started++, { worker, base: "" }),
  };
  await makeSnapshot({ manifest: {}, jspi: true, snapshot: url }, page);
  return [started, looks];
})()"""

Visit = Callable[..., Tab]


def connected(tab: Tab, *modules: str, quiet: int = 50, **options: object) -> Tab:
    """Connect with modules of the tests, and hardly any wait before a snapshot is made."""
    urls = [f"/tests/modules/{name}" for name in modules]
    tab.attempt("harness.connect(...argument)", [{"modules": urls, **options}, quiet])
    return tab


def is_restored(tab: Tab) -> bool:
    return bool(tab.attempt("harness.langfx.snapshot"))


def kept(tab: Tab) -> list[str]:
    """The names of what the cache holds."""
    return [name for _, name in tab.attempt(KEPT)]


def wait_for_kept(tab: Tab, name: str) -> None:
    """Wait until the cache holds it."""
    for _ in range(600):
        if name in kept(tab):
            return
        tab.page.wait_for_timeout(200)
    raise AssertionError(f"the cache holds no {name}")


def warnings(tab: Tab) -> list[str]:
    return [entry["text"] for entry in tab.attempt("harness.logs") if entry["level"] == "warn"]


@contextmanager
def visitor(browser: Browser, server: Server) -> Iterator[Visit]:
    """Somebody whose snapshot has been made; opens further pages of that browser profile."""
    with browser.new_context(service_workers="block") as context:
        tab = connected(Tab(context.new_page(), server.url).open(), "agents.py")
        assert not is_restored(tab)
        wait_for_kept(tab, "heap")
        assert tab.console.complaints == []
        tab.page.close()
        yield lambda: Tab(context.new_page(), server.url).open()


@pytest.fixture(scope="module")
def visit(browser: Browser, server: Server) -> Iterator[Visit]:
    """A visitor for tests that leave the snapshot as it is."""
    with visitor(browser, server) as visit:
        yield visit


def test_platform_12_the_third_visit_is_restored(browser: Browser, server: Server) -> None:
    """A short first visit makes none; the second has a quiet moment; the third, in a new browser, starts from it."""
    with tempfile.TemporaryDirectory() as profile:

        def visited(quiet: int) -> bool:
            launch = browser.browser_type.launch_persistent_context
            with launch(profile, executable_path=_executable(), args=["--no-sandbox"]) as context:
                tab = connected(Tab(context.new_page(), server.url).open(), "agents.py", quiet=quiet)
                assert tab.call("agents:echo", ["here"]) == "here"
                if quiet < 1000:
                    wait_for_kept(tab, "heap")
                assert tab.console.complaints == []
                return is_restored(tab)

        assert [visited(quiet) for quiet in (600_000, 50, 50)] == [False, False, True]


def test_platform_13_restored_sessions_draw_other_numbers(visit: Visit) -> None:
    """What one session takes for random, no other one can foretell."""
    tabs = [connected(visit(), "memory.py") for _ in range(2)]
    assert [is_restored(tab) for tab in tabs] == [True, True]
    first, second = (tab.call("memory:drawn") for tab in tabs)
    assert not set(first) & set(second)


def test_platform_14_pydantic_works_after_a_restore(visit: Visit) -> None:
    """Typed work is done as ever, by a pydantic that is loaded after the restore."""
    tab = connected(visit(), "typed.py")
    assert is_restored(tab)
    assert tab.call("typed:check", ['{"name": "desk", "legs": 4}']) == {"name": "desk", "legs": 4}
    assert tab.console.complaints == []


@pytest.mark.parametrize(
    ("change", "fresh", "reason"),
    [
        (FLIP, "false", "changed"),
        pytest.param(CUT, "false", "instead of", marks=pytest.mark.long),
        pytest.param(OTHER_BUILD, "true", "build id", marks=pytest.mark.long),
    ],
    ids=["changed", "cut", "other build"],
)
def test_platform_14_a_snapshot_of_no_use_costs_one_warning(
    browser: Browser, server: Server, change: str, fresh: str, reason: str
) -> None:
    """Python starts normally and works; the snapshot is gone, and made again."""
    with visitor(browser, server) as visit:
        tab = visit()
        tab.attempt(DAMAGE % (change, fresh))
        connected(tab, "agents.py", quiet=600_000)
        assert not is_restored(tab)
        assert tab.call("agents:echo", ["here"]) == "here"
        (warning,) = warnings(tab)
        assert reason in warning
        wait_for_kept(tab, "failures")
        assert kept(tab) == ["failures"]
        tab.attempt("harness.langfx.close()")
        wait_for_kept(connected(visit(), "agents.py"), "heap")
        tab = connected(visit(), "agents.py")
        assert is_restored(tab)
        assert warnings(tab) == []


def test_platform_14_a_snapshot_of_another_release_is_not_used(browser: Browser, server: Server) -> None:
    """It lies under another key, so nothing is said of it; it is deleted when a new one is stored."""
    with visitor(browser, server) as visit:
        tab = visit()
        tab.attempt("""(async () => {
            const cache = await caches.open("langfx-web-snapshot");
            for (const request of await cache.keys()) {
              const url = request.url.replace(/[^/]+\\/([^/]+)$/, "older/$1");
              await cache.put(url, await cache.match(request));
              await cache.delete(request);
            }
        })()""")
        connected(tab, "agents.py")
        assert not is_restored(tab)
        assert warnings(tab) == []
        for _ in range(600):
            keys = {key for key, _ in tab.attempt(KEPT)}
            if keys != {"older"} and "heap" in kept(tab):
                break
            tab.page.wait_for_timeout(200)
        assert "older" not in keys


def test_platform_15_a_heap_that_has_grown_is_restored(new_tab: Visit) -> None:
    """A snapshot may be longer than the memory that Python starts with."""
    tab = new_tab()
    assert tab.attempt(MAKE, "import builtins; builtins.ballast = b'x' * (40 << 20)") == ""
    connected(tab, "memory.py")
    assert is_restored(tab)
    assert tab.call("memory:loaded", [["langfx_web"]]) == ["langfx_web"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import builtins, js; builtins.kept = js.Object.new()", "serialize object"),
        ("import pyodide_js, builtins, js; pyodide_js.registerJsModule('ours', js.Object.new())", "serialize object"),
    ],
    ids=["object", "registered module"],
)
def test_no_object_of_javascript_can_be_in_it(new_tab: Visit, code: str, reason: str) -> None:
    """Python that holds one cannot be stored, and nothing half-made stays."""
    tab = new_tab()
    assert reason in tab.attempt(MAKE, code)
    assert kept(tab) == []


def test_it_holds_our_package_and_nothing_of_a_page(visit: Visit) -> None:
    """Neither pydantic nor a page's modules are in it, no task runs, and what user modules begin with is there."""
    tab = connected(visit(), "memory.py")
    assert is_restored(tab)
    names = ["langfx_web.testing", "decimal", "uuid", "pydantic_core", "agents"]
    assert tab.call("memory:loaded", [names])[:3] == names[:3]
    assert "agents" not in tab.call("memory:loaded", [names])
    # This start's own: the call, and what imports pydantic when nothing else is to do.
    assert set(tab.call("memory:tasks")) <= {"Dispatch._run", "Dispatch._warm_when_idle"}


def test_pydantic_comes_after_the_restore(visit: Visit, new_server: Callable[..., Server]) -> None:
    """Right after the restore it is not there, however long its pack takes."""
    tab = visit()
    tab.page.route("**/schemas.pack", lambda route: None)
    connected(tab, "memory.py")
    assert is_restored(tab)
    assert tab.call("memory:loaded", [["pydantic", "pydantic_core"]]) == []


def test_snapshot_false_neither_uses_nor_makes_one(visit: Visit) -> None:
    """The start is a normal one, without a word."""
    tab = connected(visit(), "agents.py", snapshot=False)
    assert not is_restored(tab)
    assert tab.console.complaints == []


def test_without_the_cache_api_python_starts_as_ever(browser: Browser, server: Server) -> None:
    """Insecure origins have none; nothing is said about it."""
    with browser.new_context(service_workers="block") as context:
        context.add_init_script("delete globalThis.caches; delete Window.prototype.caches")
        tab = Tab(context.new_page(), server.url).open()
        assert tab.attempt("'caches' in globalThis") is False
        connected(tab, "agents.py")
        assert tab.call("agents:echo", ["here"]) == "here"
        assert tab.console.complaints == []


@pytest.mark.parametrize(
    ("script", "given", "outcome"),
    [
        ("", {}, [1, 1]),
        ("", {"failures": 1}, [1, 1]),
        ("", {"failures": 2}, [0, 1]),
        ("", {"busy": 3}, [1, 4]),
        ("navigator.connection.__defineGetter__('saveData', () => true)", {}, [0, 1]),
        ("navigator.storage.estimate = async () => ({ quota: 3e8, usage: 1.5e8 })", {}, [0, 1]),
    ],
    ids=["quiet", "failed once", "failed twice", "busy for a while", "saves data", "no room"],
)
def test_it_is_made_only_where_it_is_welcome(
    new_tab: Visit, script: str, given: dict[str, int], outcome: list[int]
) -> None:
    """In a quiet moment, on a disk with room, for visitors who do not save data, and not after two failures."""
    tab = new_tab()
    tab.page.evaluate(f"() => {{ {script} }}")
    assert tab.attempt(ASK, given) == outcome


def test_a_hidden_page_waits(new_tab: Visit) -> None:
    """Nothing is made behind the visitor's back."""
    tab = new_tab()
    tab.page.evaluate("""() => {
        let looks = 0;
        Object.defineProperty(document, "visibilityState", { get: () => (++looks > 2 ? "visible" : "hidden") });
    }""")
    assert tab.attempt(ASK, {}) == [1, 3]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("_makeSnapshot", r"config\._makeSnapshot"),
        ("_loadSnapshot", r"\b\w+\._loadSnapshot"),
        ("makeMemorySnapshot", r"\bmakeMemorySnapshot\("),
        ("_api", r"\b_api=API\b"),
        ("on_fatal", r"\bAPI\.on_fatal\b"),
        ("HEAP8", r'Module(\.HEAP8|\["HEAP8"\])\s*=|\bHEAP8='),
        ("_malloc", r'Module\["_malloc"\]|\b_malloc='),
    ],
)
def test_platform_40_private_names_of_pyodide(dist: Path, name: str, pattern: str) -> None:
    """A Pyodide without one of the private names that the worker uses is noticed, by that name."""
    (folder,) = dist.glob("runtime-*/pyodide")
    scripts = "".join((folder / script).read_text() for script in ("pyodide.mjs", "pyodide.asm.mjs"))
    assert re.search(pattern, scripts), f"Pyodide has no {name} any more"


def _executable() -> str:
    """The Chromium that the tests run in."""
    return os.environ.get("LANGFX_CHROMIUM") or str(need_chromium(Path(sys.executable)))
