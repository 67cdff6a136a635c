"""Where our outcome is not langfun's, the table says why; what langfun does was recorded by `build.py parity`."""

from __future__ import annotations

from pathlib import Path

from worker.bundle.parity import read_parity
from worker.bundle.pins import read_pins

PARITY = read_parity(Path(__file__).parent)


def test_every_difference_has_a_reason() -> None:
    """And no reason stands where there is no difference."""
    assert len(PARITY.cases) > 300
    assert PARITY.unexplained() == []


def test_every_reason_is_needed() -> None:
    """Each letter of the table stands beside an answer, and each that stands there is in the table."""
    assert {case.reason for case in PARITY.cases if case.reason} == set(PARITY.reasons)


def test_the_recorded_langfun_is_the_one_that_is_pinned() -> None:
    """A new pin comes with a new recording."""
    assert f"langfun=={PARITY.langfun}" in read_pins().environments["env-langfun"]
