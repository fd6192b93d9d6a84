"""Charts of rates: their words have every number, and marks show what they should."""

from __future__ import annotations

from math import nan

from tests.report.html_reading import elements_of
from vouching.metrics import Interval
from vouching.report.rates import bars_over_time, interval_words, reliability_with_intervals, share_over_time


def interval(estimate: float, low: float | None, high: float | None) -> Interval:
    return Interval(estimate, low, high, 0.95, "Wilson")


def test_a_share_that_is_not_known_is_said_and_not_drawn() -> None:
    drawing = share_over_time(
        {"2026-05-04": interval(0.5, 0.1, 0.9), "2026-05-05": interval(nan, None, None)}, title="t"
    )
    circles = [one for one in elements_of(drawing) if one.tag == "circle"]
    assert len(circles) == 1
    assert "2026-05-04: 50 % (10 to 90); 2026-05-05: not known" in drawing


def test_bars_have_one_scale_and_their_numbers_in_words() -> None:
    drawing = bars_over_time({"May": {"a": 4, "b": 1}, "June": {"a": 2}}, ["a", "b"], title="t")
    heights = [float(one.attributes["height"]) for one in elements_of(drawing) if one.tag == "rect"]
    assert heights == [20, 10, 5]  # 20 pixels for the most, 4: then 2 and 1
    assert "a: 4 on May, 2 on June; b: 1 on May, 0 on June" in drawing


def test_a_bin_whose_interval_misses_the_diagonal_is_a_ring_and_said_to_miss_it() -> None:
    bins = [
        (0.9, interval(0.5, 0.3, 0.7), 20),
        (0.1, interval(0.1, 0.02, 0.3), 20),
        (nan, interval(nan, None, None), 0),
    ]
    drawing = reliability_with_intervals(bins, title="t")
    rings = [one.attributes.get("fill") == "none" for one in elements_of(drawing) if one.tag == "circle"]
    assert rings == [True, False]
    assert drawing.count("misses the diagonal") == 1


def test_names_that_are_markup_stay_text() -> None:
    drawing = bars_over_time({"<b>": {"<img>": 1}}, ["<img>"], title="<i>")
    assert not [one for one in elements_of(drawing) if one.tag in ("b", "i", "img")]
    assert interval_words(interval(0.0, 0.0, 0.4)) == "0 % (0 to 40)"
