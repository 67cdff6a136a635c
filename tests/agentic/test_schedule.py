"""Which calls run together: neighbours that do not write, up to the limit; a writer alone; order kept."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from langfx_web.agentic.schedule import groups


@given(st.lists(st.booleans()), st.integers(min_value=1, max_value=5))
def test_groups(writes: list[bool], most: int) -> None:
    """Against the rules themselves, for any batch."""
    items = list(enumerate(writes))
    found = list(groups(items, alone=lambda item: item[1], most=most))
    assert [item for group in found for item in group] == items
    assert all(1 <= len(group) <= most for group in found)
    assert all(len(group) == 1 for group in found if any(alone for _, alone in group))
    for one, other in itertools.pairwise(found):
        readers = not any(alone for _, alone in one + other)
        assert not readers or len(one) == most
