"""Token counts: unknown stays unknown, sums say when they are lower bounds."""

from langfx_web.usage import Usage, total


def test_sums_keep_what_is_unknown() -> None:
    """A count that one side lacks makes the sum a lower bound; one that both lack stays None."""
    known = Usage(input_tokens=10, output_tokens=5, total_tokens=15)
    both = known + Usage(input_tokens=1, output_tokens=2)
    assert both == Usage(input_tokens=11, output_tokens=7, total_tokens=15, num_requests=2, lower_bound=True)
    assert both.reasoning_tokens is None
    assert not (known + known).lower_bound


def test_total_of_several() -> None:
    """No report at all is None; an unreported one among others marks the sum."""
    one = Usage(input_tokens=1, output_tokens=1, total_tokens=2)
    assert total([]) is None
    assert total([None, None]) is None
    assert total([one, one]) == Usage(input_tokens=2, output_tokens=2, total_tokens=4, num_requests=2)
    assert total([one, None]) == one.as_lower_bound()


def test_uncached_input_is_never_negative() -> None:
    """Cached tokens that exceed the input count as all of it."""
    assert Usage(input_tokens=100, cached_input_tokens=30, cache_write_input_tokens=20).uncached_input_tokens == 50
    assert Usage(input_tokens=10, cached_input_tokens=30).uncached_input_tokens == 0
    assert Usage().uncached_input_tokens is None


def test_plain_form_and_back() -> None:
    """The camelCase form reads back equal and leaves the provider's raw numbers behind."""
    usage = Usage(input_tokens=1, reasoning_tokens=2, lower_bound=True, raw={"secret": 1})
    plain = usage.to_plain()
    assert plain["inputTokens"] == 1
    assert "raw" not in plain
    assert Usage.from_plain(plain) == usage
