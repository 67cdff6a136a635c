"""The page's modules: imported in order, agents found by name, failures with file and line."""

from __future__ import annotations

import sys

import pytest

from langfx_web.bridge.modules import Modules
from langfx_web.errors import NoAgentError, TargetNotFoundError, UserModuleError

AGENT = "import langfx_web as lf\nagent = lf.Agent(name='support', lm=lf.testing.Echo())\n"


@pytest.fixture
def modules(tmp_path, page):
    """Modules below an empty folder."""
    return Modules(tmp_path)


def given(**sources: str) -> list[dict[str, str]]:
    return [{"url": f"https://shop.test/app/{name}.py?v=1", "source": source} for name, source in sources.items()]


def test_modules_import_each_other_and_agents_are_found_once(modules) -> None:
    """An agent that a second module imports is still one agent."""
    modules.load(given(shop_agent=AGENT, shop_page="from shop_agent import agent\ndef hello(): return 'hi'\n"))
    assert modules.agents == ["support"]
    assert modules.agent("support").name == "support"
    assert modules.function("shop_page:hello")() == "hi"


def test_an_unknown_agent_lists_the_known_ones(modules) -> None:
    """By name."""
    modules.load(given(shop_agent=AGENT))
    with pytest.raises(NoAgentError, match="Defined: support") as caught:
        modules.agent("sales")
    assert caught.value.details == {"agent": "sales"}


@pytest.mark.parametrize(
    ("source", "line", "type_"),
    [
        ("x = 1\ny = (\n", 2, "SyntaxError"),
        ("import no_such_package\n", 1, "ModuleNotFoundError"),
        ("def f():\n    return 1 / 0\n\nf()\n", 2, "ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit"),
    ],
)
def test_platform_31_a_module_that_fails_says_where(modules, source, line, type_) -> None:
    """File, line, class and traceback of its own frames."""
    with pytest.raises(UserModuleError) as caught:
        modules.load(given(broken_shop=source))
    details = caught.value.details
    assert (details["module"], details["file"], details["line"], details["type"]) == (
        "broken_shop",
        "broken_shop.py",
        line,
        type_,
    )
    assert type_ in details["traceback"]
    assert "importlib" not in details["traceback"]
    assert f"broken_shop.py, line {line}" in str(caught.value)


@pytest.mark.parametrize("name", ["json", "langfx_web", "my-module", "class", "1st"])
def test_platform_31_names_that_cannot_be_imported_or_would_hide_something(modules, name) -> None:
    """A module needs a name of its own."""
    with pytest.raises(UserModuleError):
        modules.load([{"url": f"http://127.0.0.1/{name}.py", "source": ""}])
    assert "json" in sys.modules


def test_platform_31_doubled_names_are_refused(modules) -> None:
    """Of modules, and of agents."""
    with pytest.raises(UserModuleError, match="two modules"):
        modules.load([*given(twice_a=""), *given(twice_a="")])
    with pytest.raises(UserModuleError, match="two agents named 'support'"):
        modules.load(given(first_shop=AGENT, second_shop=AGENT))


@pytest.mark.parametrize(
    "target",
    [
        "shop_tools:_private",
        "shop_tools:number",
        "shop_tools:nope",
        "other:f",
        "shop_tools",
        "os:system",
        "shop_tools:os.system",
    ],
)
def test_platform_32_only_public_functions_of_the_modules_can_be_called(modules, target) -> None:
    """Nothing else can be reached from the page."""
    modules.load(given(shop_tools="import os\nnumber = 1\ndef _private(): pass\ndef public(): return 1\n"))
    with pytest.raises(TargetNotFoundError):
        modules.function(target)
    assert modules.function("shop_tools:public")() == 1


def test_a_package_that_is_missing_has_a_remedy(modules) -> None:
    """Who imports what nobody named reads how to name it; modules of the standard library are another matter."""
    with pytest.raises(UserModuleError, match=r"connect\(\{ packages: \[\.\.\.\] \}\)"):
        modules.load(given(needs_more="import no_such_package.part\n"))
    with pytest.raises(UserModuleError) as caught:
        modules.load(given(needs_windows="import winreg\n"))
    assert "packages" not in str(caught.value)


def test_imports_are_read_without_running_anything() -> None:
    """Top-level package names; broken sources import nothing."""
    names = Modules.imported_names(
        ["import a.b, c as d\nfrom e.f import g\nfrom . import h\n", "broken (", "def f():\n import i\n"]
    )
    assert names == {"a", "c", "e", "i"}
