"""The demo on a model of the visitor's own: each wire, at a server on loopback, with a key that nothing keeps."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.kept import PREPARED, wait_until
from tests.browser.model_choice import choose_model, open_dialog, pick_place, use_script
from tests.browser.model_server import GOOD_KEY, MODEL, WIRES, sent_key, wires_server
from tests.browser.test_demo import Demo
from worker.bundle.server import Server

PROVIDERS = {"anthropic": "Anthropic", "openai": "OpenAI", "openai_chat": "OpenAI-compatible", "gemini": "Gemini"}
WRONG_KEY = "wrong-key-0123456789"

# Which of some texts are in all that a page can keep, and all that it shows.
FOUND_IN_ALL = """async (wanted) => {
  const texts = [location.href, document.cookie, JSON.stringify(history.state), document.documentElement.outerHTML];
  texts.push(...[localStorage, sessionStorage].flatMap((storage) => Object.entries(storage).flat()));
  texts.push(...[...document.querySelectorAll("input, textarea")].map((field) => field.value));
  const bytes = new TextDecoder("latin1");
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      texts.push(request.url, bytes.decode(await (await cache.match(request)).arrayBuffer()));
    }
  }
  const asked = (request) => new Promise((resolve, reject) => {
    Object.assign(request, { onsuccess: () => resolve(request.result), onerror: () => reject(request.error) });
  });
  for (const { name } of await indexedDB.databases()) {
    const database = await asked(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const rows = await asked(database.transaction(store).objectStore(store).getAll());
      texts.push(JSON.stringify(rows, (_, value) => ArrayBuffer.isView(value) ? bytes.decode(value) : value));
    }
    database.close();
  }
  return wanted.filter((one) => texts.some((text) => text.includes(one)));
}"""


@pytest.fixture(scope="module")
def models() -> Iterator[Server]:
    """The server that speaks all four wires, to those who have the key."""
    with wires_server() as server:
        yield server


@pytest.fixture(scope="module")
def opened(browser: Browser, demo_server: Server) -> Iterator[Demo]:
    """One page for the tests of this module; use it through `demo`."""
    with browser.new_context() as context:
        yield Demo(context.new_page()).open(f"{demo_server.url}demo/")


@pytest.fixture
def demo(opened: Demo) -> Iterator[Demo]:
    """The page on the script, with no dialog open."""
    yield opened
    opened.page.keyboard.press("Escape")
    use_script(opened.page)
    opened.console.complaints.clear()


@pytest.mark.parametrize("wire", WIRES)
def test_each_wire_lists_its_models_and_answers(demo: Demo, models: Server, wire: str) -> None:
    """A server and a key are typed, its models are listed, one is picked, and the agent speaks with it."""
    dialog = pick_place(demo.page, PROVIDERS[wire], base_url=models.origin + WIRES[wire].root, key=GOOD_KEY)
    dialog.get_by_role("button", name="List models").click()
    dialog.get_by_label("Models of the server").select_option(MODEL)
    expect(dialog.get_by_role("status")).to_contain_text(f"at 127.0.0.1:{models.port}")
    expect(dialog.locator("#in-python")).to_contain_text(f'("{MODEL}", base_url="{models.origin}{WIRES[wire].root}"')
    dialog.get_by_role("button", name="Use this model").click()
    expect(demo.page.locator("#where-model")).to_have_text(
        f"is {MODEL}, asked from this tab at 127.0.0.1:{models.port}"
    )
    demo.ask("hello")
    demo.wait_for_end()
    assert demo.last_answer == f"Hello from {wire}"
    assert sent_key(models.exchanges[-1]) == GOOD_KEY
    assert demo.console.complaints == []


def test_a_server_without_a_key_is_asked_without_one(demo: Demo) -> None:
    """A local server gets no header of a key, which its answer to a preflight would not allow."""
    page = demo.page
    with wires_server(key=None) as local:
        choose_model(page, "OpenAI-compatible", base_url=f"{local.origin}/chat/v1", key="", model=MODEL)
        demo.ask("hello")
        demo.wait_for_end()
        assert demo.last_answer == "Hello from openai_chat"
        assert sent_key(local.exchanges[-1]) is None
    dialog = open_dialog(page, "OpenAI-compatible")
    dialog.get_by_label("Server", exact=True).select_option("Ollama")
    expect(dialog.get_by_label("API key")).to_have_attribute("placeholder", "not needed")
    expect(dialog.get_by_label("Base URL")).to_have_value("http://localhost:11434/v1")


def test_refusals_are_sentences_with_a_way_out(demo: Demo, models: Server, demo_server: Server) -> None:
    """A wrong key, a missing one, a page that is not let in, and a key on an open line: each says what to do."""
    root = f"{models.origin}/chat/v1"
    refused: list[tuple[str, str, str]] = [
        (root, WRONG_KEY, "Type the key again"),
        (root, "", "wants a key: type yours"),
        (f"{demo_server.origin.replace('127.0.0.1', 'localhost')}/v1", GOOD_KEY, "whether it lets pages of"),
        ("http://192.0.2.1/v1", GOOD_KEY, "use an https address, or leave the key empty"),
    ]
    dialog = pick_place(demo.page, "OpenAI-compatible", base_url=root, key="")
    for base_url, key, advice in refused:
        dialog.get_by_label("Base URL").fill(base_url)
        dialog.get_by_label("API key").fill(key)
        dialog.get_by_role("button", name="List models").click()
        expect(dialog.get_by_role("status")).to_contain_text(advice)
    dialog.get_by_label("Base URL").fill("nowhere")
    dialog.get_by_role("button", name="List models").click()
    assert dialog.get_by_label("Base URL").evaluate("field => field.matches(':invalid:focus')")
    dialog.get_by_role("button", name="Cancel").click()
    choose_model(demo.page, "OpenAI-compatible", base_url=root, key=GOOD_KEY, model="nobody")
    demo.ask("hello")
    demo.wait_for_end()
    error = demo.page.locator(".entry.error").last
    expect(error.locator(".code")).to_have_text("model_not_found")
    expect(error.locator(".advice")).to_have_text("List the models and pick one, or look at how the name is written.")
    expect(demo.page.locator("#status")).to_contain_text("List the models and pick one")


def test_a_key_is_kept_nowhere_and_a_reload_forgets_it(demo: Demo, models: Server) -> None:
    """After an answer and a refusal no storage, address, field or text has a key; a new page is on the script."""
    page = demo.page
    for key in (GOOD_KEY, WRONG_KEY):
        choose_model(page, "Gemini", base_url=f"{models.origin}/gemini/v1beta", key=key, model=MODEL)
        demo.ask("hello")
        demo.wait_for_end()
        dialog = open_dialog(page, "Gemini")
        expect(dialog.get_by_label("API key")).to_have_value("")
        dialog.get_by_role("button", name="Cancel").click()
    expect(page.locator(".entry.error .code").last).to_have_text("authentication")
    wait_until(page, PREPARED, ["visitors_model.py"])
    shown, cached = "Walnut desk lamp", "class VisitorsModel"
    assert page.evaluate(FOUND_IN_ALL, [GOOD_KEY, WRONG_KEY, shown, cached]) == [shown, cached]
    assert not any(key in line for key in (GOOD_KEY, WRONG_KEY) for line in demo.console.lines)
    page.reload()
    expect(page.locator("#send")).to_be_enabled(timeout=60_000)
    expect(page.locator("#badge")).to_have_text("Scripted model")
    dialog = open_dialog(page, "Gemini")
    expect(dialog.get_by_label("API key")).to_have_attribute("placeholder", "AIza…")
    expect(dialog.get_by_label("API key")).to_have_value("")
