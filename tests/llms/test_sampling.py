"""Options of an answer."""

from __future__ import annotations

import pytest

from langfx_web.llms import SamplingOptions


def test_providers_24_call_options_replace_and_none_removes() -> None:
    """Options of a call win field by field, None takes a default away, and the defaults stay as they are."""
    defaults = SamplingOptions(temperature=0.5, max_tokens=10, n=3)
    merged = defaults.merged({"temperature": None, "max_tokens": 20, "n": None})
    assert merged == SamplingOptions(max_tokens=20)
    assert defaults.temperature == 0.5


def test_providers_25_an_unknown_option_is_a_type_error() -> None:
    """A misspelled option is named, with the ones there are."""
    with pytest.raises(TypeError, match=r"'temprature'.*temperature"):
        SamplingOptions().merged({"temprature": 1})


def test_a_single_stop_text_is_one_stop_text() -> None:
    """A str is one stop sequence, not its letters."""
    assert SamplingOptions().merged({"stop": "ab"}).stop == ("ab",)
    assert SamplingOptions().merged({"stop": ["a", "b"]}).stop == ("a", "b")


def test_extras_merge_deeply() -> None:
    """Objects in extras merge with those of the defaults; anything else replaces."""
    defaults = SamplingOptions(extras={"a": {"x": 1, "y": [1]}, "b": 1})
    merged = defaults.merged({"extras": {"a": {"y": [2], "z": 3}, "b": {"c": 2}}})
    assert merged.extras == {"a": {"x": 1, "y": [2], "z": 3}, "b": {"c": 2}}
    assert defaults.merged({"extras": None}).extras is None
