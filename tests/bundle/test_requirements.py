"""Requirements, and the versions that they admit."""

import pytest

from worker.bundle.markers import emscripten
from worker.bundle.outcome import CheckFailed
from worker.bundle.requirements import needed, normalize, read_requirement

HERE = emscripten("3.14.2")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Jinja2", "jinja2"),
        (" a.b_C ", "a-b-c"),
        ("six==1.17.0", "six==1.17.0"),
        ("httpx[http2, Brotli]>=0.27,<1", "httpx[brotli,http2]<1,>=0.27"),
        ("pydantic.core (>= 2)", "pydantic-core>=2"),
        ("x~=1.4; os_name == 'nt'", "x~=1.4"),
        ("x==1.*", "x==1.*"),
    ],
)
def test_requirements_are_read(text: str, plain: str) -> None:
    """Names are normalized, extras and bounds sorted, markers kept apart."""
    assert str(read_requirement(text)) == plain


@pytest.mark.parametrize("text", ["", "-r file", "a b", "x @ https://host.invalid/x.whl", "../x.whl", "x=1"])
def test_other_texts_are_refused(text: str) -> None:
    """The message shows how a requirement is written."""
    with pytest.raises(CheckFailed, match="NAME==VERSION"):
        read_requirement(text)


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [
        (">=1.2,<2", ["1.2", "1.10", "1.2.post1", "2.0rc1"], ["1.1", "2", "2.0.0", "1.2.dev1", "1.2b2"]),
        ("==1.2", ["1.2", "1.2.0", "1.2+local"], ["1.2.1", "1.2a1"]),
        ("==1.*", ["1", "1.9.9"], ["2", "10.1"]),
        ("!=1.*", ["2"], ["1.5"]),
        ("!=1.5", ["1.4", "1.5.1"], ["1.5"]),
        ("~=1.4", ["1.4", "1.9"], ["1.3", "2.0"]),
        ("~=1.4.2", ["1.4.9"], ["1.4.1", "1.5"]),
        (">1,<=3", ["1.1", "3.0"], ["1", "3.0.1"]),
        ("===1.0", ["1.0"], ["1"]),
        ("<2.0", ["2.0a1", "2.0.dev1"], ["2.0"]),
    ],
)
def test_bounds_admit_versions(bounds: str, inside: list[str], outside: list[str]) -> None:
    """Versions are ordered as installers order them."""
    requirement = read_requirement(f"x{bounds}")
    assert [version for version in inside + outside if requirement.admits(version)] == inside


def test_unreadable_versions_and_bounds_are_errors() -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="version"):
        read_requirement("x>=1").admits("yesterday")
    with pytest.raises(ValueError, match="bound"):
        read_requirement("x>").admits("1")


def test_needed_are_the_requirements_that_hold() -> None:
    """Other platforms are left out, names are sorted and without repeats, bounds of one name belong together."""
    requirements = [
        "Typing_Extensions>=4.16.0",
        "httpx2-jsfetch; sys_platform == 'emscripten'",
        "anyio>=4 ; sys_platform != 'emscripten'",
        "h2<5,>=3; extra == 'http2'",
        "pydantic-core==2.50.5",
        "pydantic.core (>=2); python_version > '3'",
        "colorama[full]>=1; os_name == 'nt'",
    ]
    found = needed(requirements, HERE)
    wanted = ["httpx2-jsfetch", "pydantic-core==2.50.5,>=2", "typing-extensions>=4.16.0"]
    assert list(map(str, found.values())) == wanted
    assert list(needed(requirements, HERE, extras=["http2"])) == ["h2", *found]


def test_normalize_has_one_spelling_per_name() -> None:
    """Names that the registry takes for the same are the same."""
    assert {normalize(name) for name in ("A_b", "a-B", "a.b", "A__.b")} == {"a-b"}
