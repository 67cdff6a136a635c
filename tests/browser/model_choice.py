"""The dialog of the demo pages in which a visitor chooses who answers."""

from playwright.sync_api import Locator, Page, expect


def open_dialog(page: Page, provider: str) -> Locator:
    """Open it and pick a provider, or the script."""
    page.get_by_role("button", name="Choose a model").click()
    dialog = page.get_by_role("dialog")
    dialog.locator(".chips").get_by_text(provider, exact=True).click()
    return dialog


def pick_place(page: Page, provider: str, *, base_url: str, key: str) -> Locator:
    """Open it and say which server is to be asked, with which key."""
    dialog = open_dialog(page, provider)
    if not dialog.get_by_label("Base URL").is_visible():
        dialog.locator("summary").click()
    dialog.get_by_label("Base URL").fill(base_url)
    dialog.get_by_label("API key").fill(key)
    return dialog


def choose_model(page: Page, provider: str, *, key: str, model: str, base_url: str | None = None) -> None:
    """Use a model of a provider, at its own address unless there is another one."""
    if base_url is None:
        dialog = open_dialog(page, provider)
        dialog.get_by_label("API key").fill(key)
    else:
        dialog = pick_place(page, provider, base_url=base_url, key=key)
    dialog.get_by_label("Model", exact=True).fill(model)
    dialog.get_by_role("button", name="Use this model").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#badge")).to_have_text(model)


def use_script(page: Page) -> None:
    """Go back to the script."""
    open_dialog(page, "Script").get_by_role("button", name="Use the script").click()
    expect(page.locator("#badge")).to_have_text("Scripted model")
