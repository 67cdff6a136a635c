"""The form page of the demo, as its visitors watch a typed answer being written."""

import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import ROOT
from tests.browser.kept import PREPARED, wait_until
from tests.browser.model_choice import choose_model, open_dialog, use_script
from tests.browser.provider import says
from tests.browser.tab import Console
from tests.browser.test_demo import all_barriers
from worker.bundle.server import Server

FORM = ROOT / "web" / "demo" / "form"
KEPT = [*(path.name for path in FORM.glob("*.js")), "style.css", "order_form.py", "form_in_worker.py"]
STATES = [
    "confirmed",
    "does not fit",
    *(pytest.param(state, marks=pytest.mark.long) for state in ("unconfirmed", "model")),
]

# What the page shows after each of its changes: whether it is confirmed, the customer's name, and how many items.
WATCH = """() => {
  const [sheet, customer, items] = ["sheet", "customer", "items"].map((id) => document.getElementById(id));
  globalThis.seen = [];
  new MutationObserver(() => seen.push([sheet.dataset.outcome, customer.textContent, items.children.length]))
    .observe(sheet, { subtree: true, childList: true, characterData: true, attributes: true });
}"""


class Form:
    """The form page in one browser tab."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.console = Console()
        self.console.listen(page)
        self.pill = page.locator("#pill")
        self.verdict = page.locator("#verdict")
        self.customer = page.get_by_label("Customer", exact=True)

    def open(self, url: str) -> "Form":
        """Load the page and wait until Python is ready."""
        self.page.goto(url)
        expect(self.page.locator("#fill")).to_be_enabled(timeout=60_000)
        return self

    def start(self, sample: str) -> None:
        """Pick a note and let the model fill in the form."""
        self.page.get_by_role("button", name=sample).click()
        self.page.get_by_role("button", name="Fill in the form").click()
        expect(self.pill).to_have_text("unconfirmed")

    def fill(self, sample: str, outcome: str) -> None:
        """Let the model fill in the form from a note, to its end."""
        self.start(sample)
        expect(self.pill).to_have_text(outcome)

    def marks(self) -> set[str | None]:
        """The marks of all fields."""
        return {field.get_attribute("data-mark") for field in self.page.locator("[data-path]").all()}


@pytest.fixture(scope="module")
def shared_form(browser: Browser, demo_server: Server) -> Iterator[Form]:
    """One page for the tests of this module; use it through `form`."""
    with browser.new_context() as context:
        yield Form(context.new_page()).open(f"{demo_server.url}demo/form/")


@pytest.fixture
def form(shared_form: Form) -> Form:
    """The form on the script, at rest."""
    expect(shared_form.page.locator("#badge")).to_have_text("Scripted model")
    expect(shared_form.page.locator("#fill")).to_have_text("Fill in the form")
    shared_form.console.complaints.clear()
    return shared_form


def test_the_form_fills_while_the_model_writes(form: Form, demo_server: Server) -> None:
    """Letters and rows appear one after the other, unconfirmed; at the end the whole order is there, checked."""
    page = form.page
    page.evaluate(WATCH)
    form.fill("A voicemail", "confirmed")
    seen = page.evaluate("() => seen")
    names = list(dict.fromkeys(name for outcome, name, _ in seen if outcome == "running"))
    # A busy browser draws several pieces at once, but never only the whole.
    assert len(names) > 2
    assert all(later.startswith(earlier) for earlier, later in pairwise(names))
    assert ["running", "Maya Okafor", 1] in seen
    assert ["running", "Maya Okafor", 2] in seen
    assert form.marks() == {"confirmed"}
    expect(page.get_by_label("E-mail")).to_have_text("maya@okafor.example")
    rows = [row.split("\t") for row in page.locator("#items tr").all_inner_texts()]
    assert [[cell.strip() for cell in row] for row in rows] == [["3", "walnut desk lamp"], ["12", "brass pen tray"]]
    expect(page.get_by_label("Express")).to_be_checked()
    expect(page.get_by_role("group", name="Gift wrap").get_by_label("No")).to_be_checked()
    expect(page.get_by_label("Wanted by")).to_have_text("Friday, 18 September 2026")
    expect(page.locator("#status")).to_have_text("The order is confirmed: Maya Okafor, 2 items.")
    assert demo_server.wait_for(lambda exchange: exchange.path == "/v1/messages").status == 200
    assert form.console.complaints == []


def test_what_the_note_does_not_say_is_none(form: Form) -> None:
    """A remark that is not there is shown as such, and differs from one that is still to come."""
    form.fill("An e-mail", "confirmed")
    expect(form.page.get_by_label("Remark")).to_have_text("not said")
    expect(form.page.get_by_label("Pickup")).to_be_checked()


def test_an_answer_that_does_not_fit(form: Form) -> None:
    """What is wrong is said at its field and in a list of places; nothing is confirmed."""
    page = form.page
    form.fill("A vague one", "does not fit")
    assert form.marks() == {"unconfirmed", "wrong"}
    expect(page.locator('[data-path="items.0.quantity"] .problem')).to_contain_text("int is wanted")
    expect(page.locator('[data-path="wanted_by"] .problem')).to_contain_text("date")
    assert page.locator("#problems code").all_inner_texts() == ["items[0].quantity", "wanted_by"]
    expect(page.locator("#status")).to_contain_text("items[0].quantity: int is wanted")
    form.fill("A voicemail", "confirmed")
    expect(page.locator(".problem")).to_have_count(0)
    assert form.console.complaints == []


def test_stop_closes_the_request(form: Form, demo_server: Server) -> None:
    """Stop ends the writing at once and leaves what is there unconfirmed; the server saw the client go."""
    page = form.page
    form.start("A voicemail")
    expect(form.customer).to_contain_text("Maya")
    page.get_by_role("button", name="Stop").click()
    expect(form.verdict).to_contain_text("Stopped", timeout=2000)
    assert "confirmed" not in form.marks()
    exchange = [exchange for exchange in demo_server.exchanges if exchange.path == "/v1/messages"][-1]
    assert exchange.wait_ended(2)
    assert exchange.client_closed_at is not None
    form.start("An e-mail")
    expect(form.customer).to_contain_text("Tom")
    page.keyboard.press("Escape")
    expect(form.verdict).to_contain_text("Stopped", timeout=2000)
    form.fill("An e-mail", "confirmed")
    assert form.console.complaints == []


def test_a_note_of_ones_own(form: Form) -> None:
    """The visitor's text is read, and no sample counts as picked any more."""
    page = form.page
    page.get_by_role("textbox").fill("This is Bo. 4 linen desk mats, please.")
    expect(page.locator('[aria-pressed="true"]')).to_have_count(0)
    page.get_by_role("button", name="Fill in the form").click()
    expect(form.pill).to_have_text("confirmed")
    expect(form.customer).to_have_text("Bo")
    expect(page.locator("#items tr")).to_have_text(["4linen desk mat"])


def test_what_arrived_and_the_python_can_be_read(form: Form) -> None:
    """Every event is listed, the last one with the value, and the module is shown as it is."""
    page = form.page
    form.fill("A voicemail", "confirmed")
    page.locator("#events summary").click()
    count = int(re.sub(r"\D", "", page.locator("#count").inner_text()))
    expect(page.locator("#log li")).to_have_count(count)
    expect(page.locator("#log li").first).to_contain_text("object_start")
    expect(page.locator("#log li").last).to_contain_text('generation_complete {"value":{"customer":"Maya Okafor"')
    page.locator("#events summary").click()
    page.locator("#code summary").click()
    expect(page.locator("#source")).to_have_text((FORM / "order_form.py").read_text())
    page.locator("#code summary").click()


def test_model_text_is_never_markup(form: Form, demo_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a model writes is shown as it is, tags and all."""
    text = '<img src=x onerror="alert(1)">'
    answer = f"Order(customer={text!r}, email=None, items=[], delivery='standard', wanted_by=None, remark={text!r})"
    monkeypatch.setitem(demo_server.routes, "POST /v1/messages", says(answer))
    form.page.get_by_role("button", name="Fill in the form").click()
    expect(form.pill).to_have_text("does not fit")
    expect(form.customer).to_have_text(text)
    assert form.page.locator("#sheet img").count() == 0


def test_a_refused_key_is_shown(form: Form) -> None:
    """With a key the real address is asked; its refusal is told with its code; without one the script answers."""
    page = form.page
    keys = []

    def refuse(route: Route) -> None:
        keys.append(route.request.headers["x-api-key"])
        body = '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}'
        route.fulfill(status=401, headers={"access-control-allow-origin": "*"}, body=body)

    page.context.route("https://api.anthropic.com/**", refuse)
    choose_model(page, "Anthropic", key="sk-ant-wrong", model="claude-sonnet-5")
    page.get_by_role("button", name="Fill in the form").click()
    expect(form.pill).to_have_text("failed")
    expect(page.locator("#problems code")).to_have_text("authentication")
    expect(page.locator("#problems")).to_contain_text("Type the key again, as api.anthropic.com shows it")
    assert set(keys) == {"sk-ant-wrong"}
    assert "sk-ant-wrong" not in page.content()
    page.context.unroute_all()
    use_script(page)
    form.fill("A voicemail", "confirmed")


@pytest.mark.long
def test_static_host_without_a_network(plain_host: str, browser: Browser) -> None:
    """On a plain file server the script plays in the worker, and needs no network once the page is there."""
    with browser.new_context() as context:
        form = Form(context.new_page()).open(f"{plain_host}demo/form/")
        wait_until(form.page, PREPARED, KEPT)
        context.set_offline(True)
        expect(form.page.locator("#offline")).to_be_visible()
        expect(form.page.locator("#where-model")).to_have_text("is scripted, played in the worker")
        form.fill("A voicemail", "confirmed")
        assert form.console.complaints == []
        form.page.reload()
        expect(form.page.locator("#fill")).to_be_enabled(timeout=60_000)


def test_the_pages_lead_to_each_other(demo_server: Server, browser: Browser) -> None:
    """From the desk, also as the page of the whole folder, to the form and back."""
    with browser.new_context() as context:
        page = context.new_page()
        for start in ("", "demo/"):
            page.goto(f"{demo_server.url}{start}")
            page.get_by_role("link", name="Order form").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Order form")
            page.get_by_role("link", name="Support desk").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("Support desk")


@pytest.mark.parametrize("state", STATES)
def test_no_barriers(form: Form, axe: str, state: str) -> None:
    """No barrier is found by axe, on a phone and a desktop, light and dark, and nothing is too wide."""
    page = form.page
    page.evaluate(axe)
    if state == "model":
        open_dialog(page, "Gemini")
    else:
        form.start("A vague one" if state == "does not fit" else "An e-mail")
        expect(page.locator("#items tr").first).to_be_visible()
        expect(form.pill).to_have_text(state)
    folds = page.locator(".behind summary").all() if state == "confirmed" else []
    for fold in folds:
        fold.click()
    found = all_barriers(page)
    page.keyboard.press("Escape")
    for fold in folds:
        fold.click()
    assert found == {}
