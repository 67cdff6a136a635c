#!/usr/bin/env python3
"""Build, serve, check and test langfx_web: `python3 build.py build | serve | check | test | bench | parity | clean`.

Needs Python 3.11 or newer and Node 20 or newer, and nothing else installed: it makes its own environment in
`.build/`. Exit codes: 0 good, 1 a check, test or target failed, 2 usage, 3 cannot run here (with what to do).
"""

import sys

# Older interpreters must be able to read this far, so the check stands before every import of ours.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.stderr.write("build.py needs Python 3.11 or newer; this is Python %d.%d.\n" % sys.version_info[:2])  # noqa: UP031
    sys.exit(3)

import argparse
import contextlib
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path

from worker.bundle.additions import Additions
from worker.bundle.bench import Bench, environment
from worker.bundle.bench import bench as workbench
from worker.bundle.benches import BENCHES, Report, measure
from worker.bundle.delivery import Delivery
from worker.bundle.demo import demo_server
from worker.bundle.dist import node_toolchain, write_dist
from worker.bundle.download import Cache, Clients
from worker.bundle.environments import need_node, pip_command
from worker.bundle.live import live_server
from worker.bundle.outcome import BuildError, CannotRun
from worker.bundle.parity import asked_again, read_parity, write_parity
from worker.bundle.pins import Pins, read_pins
from worker.bundle.place import Place
from worker.bundle.tiers import TIERS, default_tiers, run_tiers
from worker.bundle.toolchain import Toolchain

PLACE = Place(root=Path(__file__).resolve().parent)


def main(arguments: list[str]) -> int:
    """Run one verb and return the exit code."""
    options = _parser().parse_args(arguments)
    # As an exception, a request to end also ends the programs that a verb has started.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        return int(options.verb(options))
    except BuildError as error:
        print(f"build.py: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def build(options: argparse.Namespace) -> int:
    """Write `dist/`."""
    node, started, pins = need_node(), time.monotonic(), read_pins()
    cache = _cache(pins)
    additions = Additions(requirements=options.requirements, wheels=options.wheels)
    delivery = Delivery(host=options.kind, release=options.release)
    with PLACE.held():
        write_dist(PLACE, pins, cache, node_toolchain(PLACE, pins, cache, node=node), additions, delivery)
    size = sum(path.stat().st_size for path in PLACE.dist.rglob("*") if path.is_file())
    print(f"built dist/ ({size / 1e6:.1f} MB) in {time.monotonic() - started:.1f} s")
    return 0


def serve(options: argparse.Namespace) -> int:
    """Build, then serve on loopback: a page of yours, loaded again when a file of it changes, or else the demo."""
    build(options)
    script = PLACE.root / "web" / "demo" / "scripted_provider.py"
    page, where = options.page, {"host": options.host, "port": options.port}
    with live_server(page, PLACE.dist, **where) if page else demo_server(PLACE.dist, script, **where) as server:
        print(f"{'your page' if page else 'the demo'} is at {server.url}; stop with Ctrl-C", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


def check(options: argparse.Namespace) -> int:
    """Look at the sources without running them: ruff, mypy (twice) and tsc."""
    return _run_tiers(["check"], long=False)


def test(options: argparse.Namespace) -> int:
    """Run the test tiers, all of them if none is named; the last line counts what passed and failed."""
    return _run_tiers(options.tiers or default_tiers(), long=options.long)


def bench(options: argparse.Namespace) -> int:
    """Measure, beside peers in the same browser; with `--json` the last lines are one object per bench."""
    node, pins = need_node(), read_pins()
    cache = _cache(pins)
    with workbench(PLACE, pins, cache, ["bench"], long=False) as made:
        toolchain = node_toolchain(PLACE, pins, cache, node=node)
        found = [_measured(name, made, toolchain, options.rounds) for name in options.names or BENCHES]
    reports = [report for report in found if isinstance(report, Report)]
    for report in reports if options.json else ():
        print(report.json(), flush=True)
    if len(reports) < len(found):
        return CannotRun.exit_code
    return int(not all(report.met for report in reports))


def _measured(name: str, made: Bench, toolchain: Toolchain, rounds: int) -> Report | CannotRun:
    """One bench and its table; what it lacks, if a peer is missing, as the others can run all the same."""
    try:
        report = measure(name, made, toolchain, rounds=rounds)
    except CannotRun as error:
        print(f"== {name}\nnot measured: {error}", flush=True)
        return error
    print(report.table(), flush=True)
    return report


def parity(options: argparse.Namespace) -> int:
    """Give the answers of the parity table to langfun again, keep what it makes of them, and show where we differ."""
    table = PLACE.root / "tests" / "protocols"
    with PLACE.held():
        python = environment(PLACE, read_pins(), "env-langfun")
    before = read_parity(table)
    with tempfile.TemporaryDirectory() as folder:
        found = asked_again(before, python, root=PLACE.root, folder=Path(folder))
    write_parity(found, table)
    print(found.report(before))
    unexplained = found.unexplained()
    if unexplained:
        print(f"reasons are missing or left over in {table / 'parity_langfun.json'}: {', '.join(unexplained)}")
    return int(bool(unexplained))


def clean(options: argparse.Namespace) -> int:
    """Remove everything that was made; downloads stay, unless `--all` is given."""
    shutil.rmtree(PLACE.dist, ignore_errors=True)
    for path in PLACE.made.iterdir() if PLACE.made.exists() else ():
        if path != PLACE.cache or options.all:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return 0


def _run_tiers(names: list[str], *, long: bool) -> int:
    need_node()
    pins = read_pins()
    with workbench(PLACE, pins, _cache(pins), names, long=long) as made:
        counts = run_tiers(made, names)
    print(f"{counts.passed} passed, {counts.failed} failed")
    return int(counts.failed > 0)


def _cache(pins: Pins) -> Cache:
    return Cache(folder=PLACE.cache, clients=Clients(pip=pip_command(PLACE), wheel_target=pins.wheel_target))


def _folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    return path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="build.py", description=(__doc__ or "").splitlines()[0])
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    parsers = {}
    for verb in (build, serve, check, test, bench, parity, clean):
        parsers[verb] = verbs.add_parser(verb.__name__, help=verb.__doc__, description=verb.__doc__)
        parsers[verb].set_defaults(verb=verb)
    for verb in (build, serve):
        _add_additions(parsers[verb])
    kinds = "what will send the bundle: one that `compressing` gets packs without gzip (default: any)"
    parsers[build].add_argument("--host", dest="kind", choices=["any", "compressing"], default="any", help=kinds)
    parsers[build].add_argument("--release", action="store_true", help="also write .br and .gz beside scripts and wasm")
    parsers[serve].set_defaults(kind="any", release=False)
    parsers[serve].add_argument("page", nargs="?", type=_folder, metavar="DIR", help="folder of a page of yours")
    parsers[serve].add_argument("--port", type=int, default=8000, help="port to listen at (default: 8000)")
    parsers[serve].add_argument("--host", default="127.0.0.1", help="address to listen at (default: loopback)")
    names = f"of {', '.join(TIERS)}"
    parsers[test].add_argument("tiers", nargs="*", metavar="TIER", choices=[*TIERS, []], help=names)
    parsers[test].add_argument("--long", action="store_true", help="also the tests that take minutes")
    benches = f"of {', '.join(BENCHES)}"
    parsers[bench].add_argument("names", nargs="*", metavar="NAME", choices=[*BENCHES, []], help=benches)
    parsers[bench].add_argument("--rounds", type=int, default=5, help="rounds of every bench (default: 5)")
    parsers[bench].add_argument("--json", action="store_true", help="end with one line of JSON per bench")
    parsers[clean].add_argument("--all", action="store_true", help="remove downloads too")
    return parser


def _add_additions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--with",
        dest="requirements",
        nargs="+",
        default=[],
        action="extend",
        metavar="NAME[==VERSION]",
        help="add packages of PyPI to the bundle, with all that they need",
    )
    parser.add_argument(
        "--wheel",
        dest="wheels",
        nargs="+",
        default=[],
        action="extend",
        type=_wheel,
        metavar="PATH",
        help="add wheel files to the bundle, with all that they need",
    )


def _wheel(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".whl" or not path.is_file():
        raise argparse.ArgumentTypeError(f"{text} is no wheel file")
    return path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
