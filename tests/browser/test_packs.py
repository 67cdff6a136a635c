"""The bundle's packs: read however a host sends them, and loaded only when something needs them."""

import gzip
import threading
from collections.abc import Callable
from pathlib import Path

from tests.browser.provider import Provider, calls, says
from tests.browser.tab import Tab
from worker.bundle.exchange import Exchange
from worker.bundle.server import Server

NewTab = Callable[..., Tab]
NewServer = Callable[..., Server]

LAB = """\
import logging.config
import sqlite3
import unittest


def count() -> int:
    assert issubclass(unittest.TestCase, object)
    return sqlite3.connect(":memory:").execute("select 6 * 7").fetchone()[0]
"""


def test_platform_07_a_host_that_unpacks_what_is_gzipped(new_server: NewServer, new_tab: NewTab, dist: Path) -> None:
    """Such a host sends the zips themselves; typed work is no exception."""
    server = new_server()
    server.faults.bodies = {f"*/{path.name}": gzip.decompress(path.read_bytes()) for path in dist.glob("*/*.pack")}
    tab = new_tab(server.url)
    tab.connect("typed.py")
    assert tab.call("typed:check", ['{"name": "desk", "legs": 4}']) == {"name": "desk", "legs": 4}
    assert tab.attempt("harness.progress.at(-1)")["phase"] == "ready"


def test_platform_11_only_typed_work_waits_for_its_pack(
    new_server: NewServer, new_tab: NewTab, provider: Provider, dist: Path
) -> None:
    """Others are answered while it is on its way; a turn with a typed tool starts when it has come."""
    server = new_server()
    sent = threading.Event()

    def answer(exchange: Exchange) -> None:
        sent.wait(60)
        exchange.respond(200, {}, pack.read_bytes())

    (pack,) = dist.glob("*/schemas.pack")
    server.routes["GET /*/schemas.pack"] = answer
    provider.play("late", calls("add", '{"a": 2, "b": 40}'), says("It is 42."))
    tab = new_tab(server.url)
    tab.connect("agents.py")
    assert tab.call("agents:echo", ["here"]) == "here"
    (late,) = [exchange for exchange in server.exchanges if exchange.path.endswith("/schemas.pack")]
    assert late.ended_at is None
    sent.set()
    assert tab.turn("late").text == "It is 42."
    assert late.ended_at is not None
    assert late.ended_at <= server.wait_for(lambda exchange: exchange.path == "/v1/messages").started_at


def test_platform_34_what_is_rarely_used_is_loaded_for_who_imports_it(new_server: NewServer, new_tab: NewTab) -> None:
    """Most pages never ask for the rest of the standard library, and nobody for the wheels."""
    server = new_server()
    server.faults.bodies = {"/shop/lab.py": LAB.encode()}
    tab = new_tab(server.url)
    tab.connect("agents.py")
    assert not [exchange for exchange in server.exchanges if exchange.path.endswith(("/extra.pack", ".whl"))]
    tab = new_tab(server.url)
    tab.connect("/shop/lab.py")
    assert tab.call("lab:count") == 42
    assert tab.console.complaints == []


METHODS = """\
import dataclasses
import importlib
import marshal

import langfx_web.usage


def known() -> list[bool]:
    table = marshal.loads(dataclasses.__loader__.get_data("methods.marshal"))
    asked = []
    dataclasses.exec = lambda text, *scope: (asked.append(text in table), exec(text, *scope))
    try:
        importlib.reload(langfx_web.usage)
    finally:
        del dataclasses.exec
    return asked


def left() -> bool:
    return hasattr(dataclasses, "exec")


def reads() -> list[str]:
    import zipimport

    read, seen = zipimport._get_data, []
    zipimport._get_data = lambda archive, entry: (seen.append(entry[0].rpartition("/")[2]), read(archive, entry))[1]
    try:
        import colorsys
    finally:
        zipimport._get_data = read
    return seen
"""


def test_platform_40_dataclasses_compiles_nothing_of_ours_at_a_start(new_server: NewServer, new_tab: NewTab) -> None:
    """The bundle has the methods ready that it asks `exec` for; afterwards the module is as it was."""
    server = new_server()
    server.faults.bodies = {"/shop/methods.py": METHODS.encode()}
    tab = new_tab(server.url)
    tab.connect("/shop/methods.py", snapshot=False)
    assert tab.call("methods:left") is False
    asked = tab.call("methods:known")
    assert asked, "dataclasses.exec is not what dataclasses calls any more"
    assert all(asked)


def test_platform_40_zipimport_reads_a_module_once(new_server: NewServer, new_tab: NewTab) -> None:
    """What it reads for the name of the file is kept for the code, under the name that zipimport has for reading."""
    server = new_server()
    server.faults.bodies = {"/shop/methods.py": METHODS.encode()}
    tab = new_tab(server.url)
    tab.connect("/shop/methods.py")
    assert tab.call("methods:reads") == ["colorsys.pyc"]


def test_a_pack_that_is_gone_fails_the_work_that_needs_it(new_server: NewServer, new_tab: NewTab) -> None:
    """The start names the file; nothing hangs."""
    server = new_server()
    server.faults.bodies = {"/shop/lab.py": LAB.encode()}
    server.faults.missing = {"*/extra.pack"}
    answer = new_tab(server.url).page.evaluate('harness.attempt(() => harness.connect({ modules: ["/shop/lab.py"] }))')
    assert (answer["error"]["code"], answer["error"]["details"]["file"]) == ("download_failed", "extra.pack")
