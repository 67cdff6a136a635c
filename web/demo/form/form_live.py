"""The form on a real model, with the key that the visitor typed into the page."""

from order_form import read_order

import langfx_web as lf

MODEL = "claude-sonnet-5"
lm = lf.llms.Anthropic(model=MODEL, api_key=lf.page_credential("anthropic"))


def read_note(note: str) -> lf.QueryStream:
    """The order in a note, while the model writes it."""
    return read_order(note, lm)
