"""The rules by which the form page's script reads a note, and the types that its answers are checked against."""

import importlib
import re
import sys
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

import langfx_web as lf

DEMO = Path(__file__).parents[2] / "web" / "demo"
SAMPLES = re.findall(r'data-note="([^"]+)"', (DEMO / "form" / "index.html").read_text("utf-8"))


@pytest.fixture
def form(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The form's module, imported anew as a worker does."""
    monkeypatch.syspath_prepend(str(DEMO))
    monkeypatch.syspath_prepend(str(DEMO / "form"))
    monkeypatch.delitem(sys.modules, "order_form", raising=False)
    return importlib.import_module("order_form")


@pytest.fixture
def notes(form: ModuleType) -> ModuleType:
    """The script."""
    return importlib.import_module("scripted_notes")


def test_the_samples_are_read(form: ModuleType, notes: ModuleType) -> None:
    """The first two notes of the page become the orders that a person would read in them."""
    voicemail, email = (lf.read_answer(notes.order_in(note.replace("&#10;", "\n")), form.Order) for note in SAMPLES[:2])
    assert voicemail == form.Order(
        customer="Maya Okafor",
        email="maya@okafor.example",
        items=[form.Item(3, "walnut desk lamp"), form.Item(12, "brass pen tray")],
        delivery="express",
        wanted_by=date(2026, 9, 18),
        gift_wrap=False,
        remark="Please ring the side bell, the front door is stuck.",
    )
    assert [(item.quantity, item.article) for item in email.items] == [
        (1, "linen desk mat"),
        (2, "cork pinboard"),
        (1, "brass pen tray"),
    ]
    assert (email.customer, email.delivery, email.gift_wrap, email.remark) == ("Tomás Rivera", "pickup", True, None)


def test_the_vague_sample_does_not_fit(form: ModuleType, notes: ModuleType) -> None:
    """The third note has a quantity that is no number and a day that is no date, and both are named."""
    with pytest.raises(lf.LangfxError) as caught:
        lf.read_answer(notes.order_in(SAMPLES[2]), form.Order)
    paths = [problem["path"] for problem in caught.value.details["problems"]]
    assert paths == [["items", 0, "quantity"], ["wanted_by"]]


def test_a_note_that_orders_nothing_does_not_fit(form: ModuleType, notes: ModuleType) -> None:
    """The shop's own rule holds for what a model wrote, too."""
    with pytest.raises(lf.LangfxError, match="nothing is ordered"):
        lf.read_answer(notes.order_in("Good morning!"), form.Order)


def test_quotes_of_a_note_stay_in_their_text(form: ModuleType, notes: ModuleType) -> None:
    """Whatever a visitor types is written as a Python text."""
    order = lf.read_answer(notes.order_in("""2 mats. Please write "it's \\n" on them."""), form.Order)
    assert order.remark == """Please write "it's \\n" on them."""
