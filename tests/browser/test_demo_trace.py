"""The demo's trace, its questions to the visitor, and stopping what is in the middle of something."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.test_demo import Demo, all_barriers
from worker.bundle.server import Server

# Each piece of work with the one that it is part of, as the tree shows them.
TREE = """() => [...document.querySelectorAll("#turns li")].map((item) => {
  const title = (node) => node?.querySelector(":scope > details > summary .title")?.firstChild.data ?? null;
  return [title(item), title(item.parentElement.closest("li"))];
})"""


@pytest.fixture(scope="module")
def opened(browser: Browser, demo_server: Server) -> Iterator[Demo]:
    """One page for the tests of this module, wide enough for the trace; use it through `demo`."""
    with browser.new_context(viewport={"width": 1280, "height": 860}) as context:
        yield Demo(context.new_page()).open(f"{demo_server.url}demo/")


@pytest.fixture
def demo(opened: Demo) -> Iterator[Demo]:
    """The page with a new conversation; orders stay as earlier tests left them."""
    opened.page.set_viewport_size({"width": 1280, "height": 860})
    if opened.page.get_by_role("button", name="Start over").is_visible():
        opened.page.get_by_role("button", name="Start over").click()
        expect(opened.page.locator("#turns li")).to_have_count(0)
    yield opened
    assert opened.console.complaints == []


def node(demo: Demo, title: str, status: str = "") -> Locator:
    """The pieces of work of this name, in any state or in one."""
    wanted = f"[data-status={status}]" if status else "[data-status]"
    titled = demo.page.locator(f"#turns li{wanted} > details > summary > .title", has_text=title)
    return titled.locator("xpath=ancestor::li[1]")


def test_a_denied_refund_moves_nothing(demo: Demo, axe: str) -> None:
    """The page asks, with what would be done; a stop takes the question back, a denial is told with its reason."""
    page = demo.page
    card = page.locator(".question").last
    demo.pick("Refund order 7")
    expect(card.get_by_role("group", name="May the tool refund_order run?")).to_be_visible()
    expect(page.locator("#status")).to_have_text("May the tool refund_order run? Allow or deny.")
    expect(node(demo, "Step 1", "running")).to_have_count(1)
    page.keyboard.press("Escape")
    demo.wait_for_end()
    expect(card.locator(".decided")).to_have_text("Stopped before it was decided.")
    expect(node(demo, "Turn 1", "cancelled")).to_have_count(1)

    demo.ask("Refund order 7, please")
    expect(card.locator(".call")).to_have_text('refund_order(id: "7", reason: "the customer asked")')
    page.evaluate(axe)
    assert all_barriers(page) == {}
    card.get_by_label("Reason for a denial").fill("only with a photo")
    page.keyboard.press("Enter")
    demo.wait_for_end()
    assert page.evaluate("() => document.activeElement.id") == "prompt"
    expect(card.locator(".decided")).to_have_text("You did not allow it. “only with a photo”")
    expect(page.locator(".entry.tool.failed .outcome").last).to_contain_text("tool_denied")
    assert "The reason: only with a photo. No money has moved." in demo.last_answer
    expect(page.locator('#orders [data-id="7"] .pill')).to_have_text("shipped")
    denied = node(demo, "refund_order", "error")
    expect(denied.locator(".time")).to_have_text("denied")
    denied.locator("summary").click()
    expect(denied.locator("dd")).to_have_text(
        ['id: "7", reason: "the customer asked"', "only with a photo (tool_denied)"]
    )


def test_an_allowed_refund_changes_the_page(demo: Demo) -> None:
    """After a yes the tool runs, and a tool of the page sticks its note on the card."""
    demo.pick("Refund order 7")
    demo.page.get_by_role("button", name="Allow").click()
    demo.wait_for_end()
    order = demo.page.locator('#orders [data-id="7"]')
    expect(order.locator(".pill")).to_have_text("refunded")
    expect(order.locator(".slip")).to_have_text("Refunded, nothing to send back")
    assert "89.00 €" in demo.last_answer
    assert demo.page.evaluate(TREE) == [
        ["Turn 1", None],
        ["Step 1", "Turn 1"],
        ["refund_order", "Step 1"],
        ["Step 2", "Turn 1"],
        ["set_note", "Step 2"],
        ["Step 3", "Turn 1"],
    ]
    note = node(demo, "set_note", "ok")
    note.locator("summary").click()
    expect(note.locator("dd").last).to_have_text("The note is there.")


def test_an_agent_in_the_trace_of_another(demo: Demo) -> None:
    """The shipping desk's run is below the call that asked it, its two tools run at once, and all tokens are summed."""
    page = demo.page
    demo.pick("Can order 19 come sooner?")
    for carrier in ("ask_northwind", "ask_harbour"):
        expect(node(demo, carrier, "running")).to_be_visible()
    demo.wait_for_end()
    assert "Harbour Post brings it on Friday for 4.90 €" in demo.last_answer
    assert page.evaluate(TREE) == [
        ["Turn 1", None],
        ["Step 1", "Turn 1"],
        ["get_order", "Step 1"],
        ["Step 2", "Turn 1"],
        ["ask_shipping", "Step 2"],
        ["shipping", "ask_shipping"],
        ["Step 1", "shipping"],
        ["ask_northwind", "Step 1"],
        ["ask_harbour", "Step 1"],
        ["Step 2", "shipping"],
        ["Step 3", "Turn 1"],
    ]
    expect(page.locator("#turns li:not([data-status=ok])")).to_have_count(0)
    tokens = page.locator("#turns > li > details > .below > li > details > summary > .tokens").all_inner_texts()
    sums = [sum(int(text.split()[place]) for text in tokens) for place in (0, 3)]
    expect(page.locator("#turns .tokens").first).to_have_text(f"{sums[0]} in · {sums[1]} out")
    assert sums[1] > sum(int(text.split()[3]) for text in tokens[::2]) > 0


def test_a_stop_between_two_tools(demo: Demo) -> None:
    """Both tools that run, the agent that runs them and the turn end as stopped; the next question is answered."""
    page = demo.page
    demo.pick("Can order 19 come sooner?")
    for carrier in ("ask_northwind", "ask_harbour"):
        expect(node(demo, carrier, "running")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".entry.notice")).to_have_text("Stopped.", timeout=2000)
    expect(page.locator("#turns [data-status=running]")).to_have_count(0)
    stopped = page.locator("#turns [data-status=cancelled] > details > summary > .title")
    names = ["Turn 1 ", "Step 2 model", "ask_shipping tool", "shipping agent", "Step 1 model"]
    expect(stopped).to_have_text([*names, "ask_northwind tool", "ask_harbour tool"])
    demo.ask("hello")
    demo.wait_for_end()
    assert "welcome to the desk" in demo.last_answer


def test_the_trace_on_a_phone(demo: Demo) -> None:
    """It comes and goes with its button, below the conversation, and gives the focus back."""
    page = demo.page
    page.set_viewport_size({"width": 390, "height": 844})
    toggle = page.get_by_role("button", name="Trace")
    expect(toggle).to_have_attribute("aria-expanded", "true")
    chat, trace = page.locator(".chat").bounding_box(), page.locator("#trace").bounding_box()
    assert chat is not None
    assert trace is not None
    assert trace["y"] >= chat["y"] + chat["height"]
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#trace")).to_be_hidden()
    assert page.evaluate("() => document.activeElement.id") == "open-trace"
    expect(page.locator("#orders")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#trace")).to_be_visible()
