"""The real pins."""

from worker.bundle.pins import read_pins


def test_every_pin_has_a_whole_digest_and_a_size() -> None:
    """What is downloaded can always be checked."""
    pins = read_pins()
    for pin in [*pins.npm.values(), *pins.wheels.values(), *pins.on_demand.values(), *pins.peers.values()]:
        assert len(pin.digest) == {"sha256": 64, "sha512": 128}[pin.algorithm]
        assert pin.size > 0
        assert pin.version in pin.file


def test_a_peer_comes_behind_what_it_needs() -> None:
    """A worker installs them one after another, and asks no index."""
    names = list(read_pins().peers)
    assert names.index("httpx2-jsfetch") < names.index("httpx2") < names.index("pydantic-ai-slim") == len(names) - 1


def test_tools_are_pinned_exactly() -> None:
    """Two environments made from the same pins hold the same tools."""
    for requirements in read_pins().environments.values():
        assert all("==" in requirement for requirement in requirements)


def test_host_tests_run_with_the_pydantic_of_the_bundle() -> None:
    """What passes on the host was tested with the version that ships."""
    pins = read_pins()
    for name in ("env", "env-langfun"):
        assert f"pydantic=={pins.wheels['pydantic'].version}" in pins.environments[name]


def test_pytest_is_older_than_the_version_that_breaks_pytest_pyodide() -> None:
    """`pytest-pyodide` works with the pinned pytest."""
    environments = read_pins().environments
    for name in ("env", "env-pyodide"):
        (version,) = [text.partition("==")[2] for text in environments[name] if text.startswith("pytest==")]
        assert tuple(map(int, version.split(".")[:2])) < (9, 2)
