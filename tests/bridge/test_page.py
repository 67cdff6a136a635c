"""Tools of the page are tools like any other."""

from __future__ import annotations

from typing import Any

import pytest

from langfx_web.bridge.outbox import Outbox
from langfx_web.bridge.page import TOOL_TIMEOUT, Page
from langfx_web.errors import InvalidValueError
from langfx_web.tools import Tool


def declared(**fields: Any) -> Tool:
    page = Page(Outbox(lambda *sent: None))
    return page.tool({"name": "show", "description": "Show it.", "inputSchema": {"type": "object"}, **fields})


def test_what_a_page_says_of_its_tool() -> None:
    """It holds as in Python; a minute is enough unless it says otherwise."""
    plain = declared()
    assert (plain.idempotent, plain.writes, plain.trusted, plain.approval) == (None, True, False, False)
    assert (plain.timeout, plain.is_typed) == (TOOL_TIMEOUT, False)
    full = declared(idempotent=True, writes=True, trusted=True, approval=True, timeout=5)
    assert (full.idempotent, full.writes, full.trusted, full.approval, full.timeout) == (True, True, True, True, 5)
    assert declared(inputSchema=None).describe()["inputSchema"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "fields", [{"name": "a b"}, {"description": ""}, {"inputSchema": {"type": "array"}}, {"timeout": "5"}]
)
def test_what_is_wrong_of_it_is_named(fields: dict[str, Any]) -> None:
    """Where the page connects."""
    with pytest.raises(InvalidValueError) as caught:
        declared(**fields)
    assert caught.value.code == "invalid_tool"
