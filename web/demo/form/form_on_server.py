"""The form on a scripted model that the page's own server plays: real HTTP, no key, no network."""

from js import location
from order_form import read_order

import langfx_web as lf

lm = lf.llms.Anthropic(model="scripted-form", base_url=f"{location.origin}/v1")


def read_note(note: str) -> lf.QueryStream:
    """The order in a note, while the script writes it."""
    return read_order(note, lm)
