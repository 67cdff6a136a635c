"""The demo page, as its visitors meet it."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import ROOT
from tests.browser.kept import PREPARED, wait_until
from tests.browser.model_choice import choose_model, open_dialog, use_script
from tests.browser.provider import Text, says, stream
from tests.browser.tab import Console
from worker.bundle.server import Server

SIZES = {"phone": (390, 844), "desktop": (1280, 800)}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
NewServer = Callable[..., Server]

SCRIPTS = [path.name for path in (ROOT / "web" / "demo").glob("*.js")] + [
    "style.css",
    "trace.css",
    "scripted_in_worker.py",
]


class Demo:
    """The demo in one browser tab."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.console = Console()
        self.console.listen(page)

    def open(self, url: str) -> "Demo":
        """Load the page and wait until the desk is ready."""
        self.page.goto(url)
        expect(self.page.locator("#send")).to_be_enabled(timeout=60_000)
        return self

    def ask(self, text: str) -> None:
        """Type a prompt and send it with Enter."""
        with self._one_more_prompt():
            self.page.get_by_label("Your message").fill(text)
            self.page.keyboard.press("Enter")

    def pick(self, question: str) -> None:
        """Click one of the questions to try."""
        with self._one_more_prompt():
            self.page.get_by_role("button", name=question).click()

    @contextmanager
    def _one_more_prompt(self) -> Iterator[None]:
        prompts = self.page.locator(".entry.user")
        before = prompts.count()
        yield
        expect(prompts).to_have_count(before + 1)

    def use_key(self, key: str) -> None:
        """Choose a model of Anthropic's, with this key."""
        choose_model(self.page, "Anthropic", key=key, model="claude-sonnet-5")

    def wait_for_end(self) -> None:
        """Wait until no turn is running."""
        expect(self.page.locator("#send-label")).to_have_text("Send")

    @property
    def last_answer(self) -> str:
        return self.page.locator(".entry.answer").last.inner_text()


@pytest.fixture
def demo_page(browser: Browser) -> Iterator[Callable[..., Demo]]:
    """Opens the demo in a context of its own."""
    with ExitStack() as stack:

        def open_page(url: str) -> Demo:
            context = stack.enter_context(browser.new_context())
            return Demo(context.new_page()).open(url)

        yield open_page


@pytest.fixture(scope="module")
def shared_demo(browser: Browser, demo_server: Server) -> Iterator[Demo]:
    """One demo for the tests of this module; use it through `demo`."""
    with browser.new_context() as context:
        yield Demo(context.new_page()).open(f"{demo_server.url}demo/")


@pytest.fixture
def demo(shared_demo: Demo) -> Demo:
    """The demo with a new conversation on the script; orders stay as earlier tests left them."""
    page = shared_demo.page
    if page.locator("#badge").inner_text() != "Scripted model":
        use_script(page)
    start_over = page.get_by_role("button", name="Start over")
    if start_over.is_visible():
        start_over.click()
    # The page draws in its next frame, and what is still there would be counted.
    expect(page.locator("#badge")).to_have_text("Scripted model")
    expect(page.locator(".entry")).to_have_count(0)
    shared_demo.console.complaints.clear()
    return shared_demo


def test_order_story(demo: Demo, demo_server: Server) -> None:
    """Asking for an order shows a thought, the Python tool, the page tool that lights up the card, and the answer."""
    expect(demo.page.locator("#orders button")).to_have_count(4)
    demo.pick("Where is order 7?")
    demo.wait_for_end()
    tools = demo.page.locator(".entry.tool .call")
    assert tools.all_inner_texts() == ['get_order(id: "7")', 'show_order(id: "7")']
    outcomes = demo.page.locator(".entry.tool .outcome").all_inner_texts()
    assert re.fullmatch(r"done in Python, \d+ ms", outcomes[0])
    assert re.fullmatch(r"done on the page, \d+ ms", outcomes[1])
    assert "Arrives Thursday" in demo.last_answer
    expect(demo.page.locator(".order.shown .item")).to_have_text("Walnut desk lamp")
    thought = demo.page.locator(".entry.thought details")
    assert thought.get_attribute("open") is None
    thought.locator("summary").click()
    expect(thought.locator(".text")).to_contain_text("order 7")
    assert demo_server.wait_for(lambda exchange: exchange.path == "/v1/messages").status == 200
    assert demo.console.complaints == []


def test_refund_story(demo: Demo) -> None:
    """A refund changes the order in Python's table and the card; the second one fails in the tool and says why."""
    card = demo.page.locator('#orders [data-id="12"]')
    demo.ask("Refund order 12")
    demo.wait_for_end()
    expect(card.locator(".pill")).to_have_text("refunded")
    expect(card.locator(".slip")).to_be_visible()
    demo.ask("Refund it again")
    demo.wait_for_end()
    failed = demo.page.locator(".entry.tool.failed")
    expect(failed.locator(".outcome")).to_contain_text("tool_failed in Python")
    assert "was refunded before" in demo.last_answer
    assert demo.console.complaints == []


def test_stop(demo: Demo, demo_server: Server) -> None:
    """Stop ends a long answer at once and keeps what was said; the server saw the client go."""
    demo.pick("Explain your returns policy in detail")
    expect(demo.page.locator(".entry.answer .text")).to_contain_text("sixty days")
    demo.page.get_by_role("button", name="Stop").click()
    expect(demo.page.locator(".entry.notice")).to_have_text("Stopped.", timeout=2000)
    assert "whole policy" not in demo.last_answer
    exchange = [exchange for exchange in demo_server.exchanges if exchange.path == "/v1/messages"][-1]
    assert exchange.wait_ended(2)
    assert exchange.client_closed_at is not None
    demo.ask("hello")
    demo.wait_for_end()
    assert "welcome to the desk" in demo.last_answer
    assert demo.console.complaints == []


@pytest.mark.parametrize("path", [pytest.param("", marks=pytest.mark.long), "demo/"])
def test_static_host_below_a_path(plain_host: str, demo_page: Callable[..., Demo], path: str) -> None:
    """On a plain file server, below any path, the demo plays its script in the worker, and needs no network for it."""
    demo = demo_page(f"{plain_host}{path}")
    expect(demo.page.locator("#orders button")).to_have_count(4)
    # The demo keeps itself for a later visit, and says so where the network goes meanwhile.
    wait_until(demo.page, PREPARED, SCRIPTS)
    demo.page.context.set_offline(True)
    expect(demo.page.locator("#offline")).to_be_visible()
    expect(demo.page.locator("#where-model")).to_have_text("is scripted, played in the worker")
    demo.ask("Where is order 19?")
    demo.wait_for_end()
    assert "being packed" in demo.last_answer
    assert demo.console.complaints == []


def test_keyboard_alone(demo: Demo) -> None:
    """Everything can be reached and used with the keyboard, and focus is never lost."""
    keyboard = demo.page.keyboard

    def focused() -> str:
        return str(demo.page.evaluate("() => document.activeElement.id || document.activeElement.textContent.trim()"))

    order = []
    demo.page.locator("#open-model").focus()
    for _ in range(12):
        keyboard.press("Tab")
        order.append(focused())
        assert demo.page.evaluate("() => document.activeElement.matches(':focus-visible')")
    assert [name.startswith("Order") for name in order[:4]] == [True] * 4
    assert order[4:] == [
        "open-trace",
        "scroll",
        "Where is order 7?",
        "Can order 19 come sooner?",
        "Refund order 7",
        "Refund order 12",
        "Explain your returns policy in detail",
        "prompt",
    ]
    keyboard.type("Explain your returns policy in detail")
    keyboard.press("Enter")
    expect(demo.page.locator(".entry.answer .text")).to_contain_text("Gladly")
    keyboard.press("Escape")
    expect(demo.page.locator(".entry.notice")).to_have_text("Stopped.")
    assert focused() == "prompt"
    keyboard.press("Shift+Tab")
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    expect(demo.page.locator(".entry.user")).to_have_count(2)
    demo.wait_for_end()
    assert focused() == "Refund order 12"


def test_a_model_with_the_keyboard(demo: Demo) -> None:
    """A model is chosen and the script again without a mouse, and focus comes back to where it was."""
    page, keyboard = demo.page, demo.page.keyboard
    page.get_by_role("button", name="Choose a model").focus()
    keyboard.press("Enter")
    keyboard.press("ArrowRight")
    for typed in ("sk-ant-typed-0123456789", "claude-sonnet-5"):
        while page.evaluate("() => document.activeElement.localName !== 'input' || document.activeElement.value"):
            keyboard.press("Tab")
        keyboard.type(typed)
    keyboard.press("Enter")
    expect(page.locator("#badge")).to_have_text("claude-sonnet-5")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.evaluate("() => document.activeElement.id") == "open-model"
    keyboard.press("Enter")
    keyboard.press("ArrowLeft")
    keyboard.press("Enter")
    expect(page.locator("#badge")).to_have_text("Scripted model")
    keyboard.press("Enter")
    keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert page.evaluate("() => document.activeElement.id") == "open-model"
    assert demo.console.complaints == []


def test_typed_key_goes_to_the_provider(demo: Demo) -> None:
    """With a key the same agent asks the real address; a refusal is shown with its code, a new key is used at once."""
    keys = []

    def answer(route: Route) -> None:
        keys.append(route.request.headers["x-api-key"])
        if keys[-1] == "sk-ant-wrong":
            body = '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}'
            route.fulfill(status=401, headers={"access-control-allow-origin": "*"}, body=body)
        else:
            body = "".join(item.decode() for item in stream(Text(deltas=("Hello!",))) if isinstance(item, bytes))
            route.fulfill(headers={"access-control-allow-origin": "*", "content-type": "text/event-stream"}, body=body)

    demo.page.context.route("https://api.anthropic.com/**", answer)
    demo.use_key("sk-ant-wrong")
    demo.ask("hello")
    expect(demo.page.locator(".entry.error .code")).to_have_text("authentication")
    for key in ("sk-ant-first", "sk-ant-second"):
        demo.use_key(key)
        demo.ask("hello")
        demo.wait_for_end()
        assert demo.last_answer == "Hello!"
        assert keys[-1] == key
    demo.page.context.unroute_all()


def test_lost_worker_is_shown(demo_server: Server, demo_page: Callable[..., Demo]) -> None:
    """When Python dies in the middle of an answer the page says so, and starts it again on request."""
    demo = demo_page(f"{demo_server.url}demo/")
    demo.ask("Explain your returns policy in detail")
    expect(demo.page.locator(".entry.answer .text")).to_contain_text("Gladly")
    demo.page.workers[0].evaluate("() => setTimeout(() => { throw new Error('spilled ink'); })")
    expect(demo.page.locator(".entry.error .code")).to_have_text("worker_stopped")
    expect(demo.page.locator("#boot-label")).to_contain_text("worker_stopped")
    demo.page.locator("#boot-again").click()
    expect(demo.page.locator("#send")).to_be_enabled(timeout=60_000)
    expect(demo.page.locator(".entry.notice")).to_contain_text("has forgotten")
    demo.ask("hello")
    demo.wait_for_end()
    assert "welcome to the desk" in demo.last_answer


def test_boot_failure_is_shown(new_server: NewServer, browser: Browser, axe: str) -> None:
    """When Python cannot be loaded the page says so with the code, and trying again works once the cause is gone."""
    server = new_server()
    server.faults.missing = {"*.wasm"}
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{server.url}demo/")
        expect(page.locator("#boot-label")).to_contain_text("download_failed")
        page.evaluate(axe)
        assert all_barriers(page) == {}
        server.faults.missing.clear()
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("#send")).to_be_enabled(timeout=60_000)


def test_model_text_is_never_markup(demo: Demo, demo_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a model writes is shown as it is, tags and all."""
    text = '<img src=x onerror="alert(1)"><b>bold</b>'
    monkeypatch.setitem(demo_server.routes, "POST /v1/messages", says(text))
    demo.ask("hello")
    demo.wait_for_end()
    assert demo.last_answer == text
    assert demo.page.locator(".entry.answer .text *").count() == 0


@pytest.mark.parametrize("state", ["idle", "story", "streaming", "model"])
def test_no_barriers(demo: Demo, axe: str, state: str) -> None:
    """No barrier is found by axe, on a phone and a desktop, light and dark, and nothing is too wide."""
    page = demo.page
    page.evaluate(axe)
    if state == "story":
        demo.ask("Where is order 7?")
        demo.wait_for_end()
        demo.ask("Refund order 23")
        demo.wait_for_end()
        page.locator(".entry.tool summary").first.click()
    elif state == "streaming":
        demo.ask("Explain your returns policy in detail")
        expect(page.locator(".entry.answer.open")).to_be_visible()
    elif state == "model":
        open_dialog(page, "OpenAI-compatible")
    found = all_barriers(page)
    page.keyboard.press("Escape")
    demo.wait_for_end()
    assert found == {}


def all_barriers(page: Page) -> dict[tuple[str, str], list[str]]:
    """What axe finds, by look."""
    found = {look: barriers(page, *look) for look in product(SIZES, SCHEMES)}
    return {look: lines for look, lines in found.items() if lines}


def barriers(page: Page, size: str, scheme: Literal["light", "dark"]) -> list[str]:
    """What axe finds in one look of the page, one line each."""
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    found = [
        f"{item['id']}: {[node['target'] for node in item['nodes']]}"
        for item in page.evaluate("() => axe.run()")["violations"]
    ]
    fits = page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    return found if fits else [*found, "wider than the window"]
