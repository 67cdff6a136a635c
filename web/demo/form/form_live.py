"""The form on the model that the visitor has chosen."""

from order_form import read_order
from visitors_model import visitors_model

import langfx_web as lf


def read_note(note: str) -> lf.QueryStream:
    """The order in a note, while the model writes it."""
    return read_order(note, visitors_model)
