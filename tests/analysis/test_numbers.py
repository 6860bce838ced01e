"""Numbers and durations as sentences have them."""

from attnviz.analysis.numbers import duration


def test_durations_have_two_units_at_most() -> None:
    assert [duration(seconds) for seconds in (12, 300, 3600 * 4 + 300)] == ["12 s", "5 min", "4 h 05 min"]
