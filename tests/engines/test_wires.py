"""The four wires over the network, in every engine: whole answers, failures by their codes, cancels that arrive."""

from collections.abc import Callable, Iterator

import pytest

from tests.browser import wire_paths as paths
from tests.browser.tab import Tab
from tests.browser.wire_paths import MODULES, Services
from tests.browser.wires import WIRES, services
from worker.bundle.server import Server

__all__ = ["MODULES"]

NewServer = Callable[..., Server]


@pytest.fixture(scope="module")
def providers() -> Iterator[Services]:
    """The four providers."""
    with services() as running:
        yield running


def test_every_body_gives_the_same_answer(tab: Tab, providers: Services) -> None:
    """Text, thought, call and usage arrive whole and equal, however the network cuts them."""
    paths.every_body(tab, providers)


def test_a_body_that_ends_early(tab: Tab, providers: Services) -> None:
    """Whatever an engine calls it, the code is the same, and what was said is kept."""
    paths.early_ends(tab, providers)


@pytest.mark.parametrize("way", paths.WAYS)
def test_a_cancel_reaches_the_server(tab: Tab, providers: Services, way: str) -> None:
    """From the page or in Python, before headers, in the body or between attempts."""
    paths.cancels(tab, providers, way)


def test_redirects_are_not_followed(tab: Tab, providers: Services, new_server: NewServer) -> None:
    """A key stays where it was sent."""
    paths.redirects(tab, providers, new_server(cors=WIRES["Anthropic"].cors))
