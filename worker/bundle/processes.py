"""Running the programs of a test tier: bounded in time, and never left behind."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

TIMED_OUT = 124


def run(
    command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str] | None = None, seconds: float
) -> int:
    """Run `command` in `folder`, its output going where ours goes; its exit code, or `TIMED_OUT` after `seconds`.

    Whatever ends the waiting also ends every process that the command started.
    """
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        print(f"ended after {seconds:.0f} s: {' '.join(map(str, command))}", flush=True)
        return TIMED_OUT
    finally:
        _end_session(process)


def _end_session(process: subprocess.Popen[bytes]) -> None:
    # The session outlives its first process while a browser or a server that it started goes on.
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
