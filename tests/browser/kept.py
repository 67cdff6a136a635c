"""Waiting until a page is kept for a start without a network."""

import time

from playwright.sync_api import Page

PREPARED = """async (files) => {
  if (!(await navigator.serviceWorker.getRegistration())?.active) return false;
  const cache = await caches.open(`langfx-web page ${location.origin}${location.pathname}`);
  const kept = (await cache.keys()).map(({ url }) => url);
  return files.every((file) => kept.includes(new URL(file, document.baseURI).href));
}"""


def wait_until_prepared(page: Page, *files: str) -> None:
    """The service worker is active, and these files of the page are kept beside the page itself."""
    wait_until(page, PREPARED, ["", *files])


def wait_until(page: Page, claim: str, argument: object = None) -> None:
    """The async function `claim` has come true on the page."""
    end = time.monotonic() + 60
    while not page.evaluate(claim, argument):
        assert time.monotonic() < end, claim
        page.wait_for_timeout(50)
