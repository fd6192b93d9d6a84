"""Charts: what stands where, and that the numbers can be read."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import InputError
from vouching.report.charts import (
    ForestRow,
    bar_chart,
    confusion_matrix,
    coverage_curve,
    forest_plot,
    histogram,
    line_plot,
    reliability_diagram,
    roc_curve,
    share_bar,
)
from vouching.report.svg import ticks, width_of

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>x</script> \"'&<!-- \x00\u202e\ud800"
EVERY_CHART = [
    share_bar({HOSTILE: 3, "b": 1}, title=HOSTILE),
    bar_chart({HOSTILE: 3}, title=HOSTILE),
    histogram([0.1, 0.9], title=HOSTILE, name=HOSTILE),
    reliability_diagram([(0.1, 0.2, 5), (0.5, 0.5, 0)], title=HOSTILE),
    roc_curve({HOSTILE: [(0, 0), (1, 1)]}, title=HOSTILE),
    coverage_curve({HOSTILE: [(0.5, 0.9), (1, 0.8)]}, title=HOSTILE),
    line_plot({HOSTILE: [(1, 0.9), (20, 0.8)]}, title=HOSTILE, names=(HOSTILE, "y"), x_range=(1, 20)),
    confusion_matrix([[1, 2], [3, 4]], (HOSTILE, "b"), title=HOSTILE),
    forest_plot([ForestRow(HOSTILE, 0.5, 0.4, 0.6, 0.3)], title=HOSTILE),
]
EMPTY_CHARTS = [
    share_bar({}, title="t"),
    bar_chart({}, title="t"),
    histogram([], title="t"),
    reliability_diagram([], title="t"),
    roc_curve({}, title="t"),
    coverage_curve({}, title="t"),
    line_plot({}, title="t", names=("x", "y"), x_range=(1, 20)),
    confusion_matrix([[0, 0], [0, 0]], ("a", "b"), title="t"),
    forest_plot([], title="t"),
]


def boxes(chart: str) -> list[tuple[float, float, float, float]]:
    """x, y, width and height of every box."""
    found = ElementTree.fromstring(chart).iter(f"{SVG}rect")
    return [tuple(float(box.attrib[name]) for name in ("x", "y", "width", "height")) for box in found]  # type: ignore[misc]


def dots(chart: str) -> list[tuple[float, float]]:
    return [
        (float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in ElementTree.fromstring(chart).iter(f"{SVG}circle")
    ]


def description(chart: str) -> str:
    return ElementTree.fromstring(chart).findtext(f"{SVG}desc") or ""


@pytest.mark.parametrize("chart", EVERY_CHART)
def test_foreign_names_stay_text_and_the_drawing_has_a_name_and_a_description(chart: str) -> None:
    root = ElementTree.fromstring(chart)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg",
        "title",
        "desc",
        "rect",
        "text",
        "line",
        "polyline",
        "circle",
    }
    assert root.findtext(f"{SVG}title") == root.attrib["aria-label"]
    assert "<script>x</script>" in root.attrib["aria-label"]
    assert description(chart)


@pytest.mark.parametrize("chart", EMPTY_CHARTS)
def test_a_chart_of_nothing_is_still_a_drawing(chart: str) -> None:
    assert ElementTree.fromstring(chart).tag == f"{SVG}svg"


@pytest.mark.parametrize("chart", EVERY_CHART)
def test_every_colour_can_be_set_by_the_page_and_has_a_fallback(chart: str) -> None:
    colours = re.findall(r'(?:fill|stroke)="([^"]*)"', chart)
    assert colours
    assert all(
        colour == "none" or re.fullmatch(r"var\(--[a-z-]+, (#[0-9a-f]{6}|currentColor)\)", colour) for colour in colours
    )


def test_the_bar_is_cut_in_proportion() -> None:
    # 400 pixels for 3 + 1: the second share starts at 300; a gap of 2 pixels follows each.
    shares = boxes(share_bar({"yes": 3, "no": 1}, title="t"))
    assert [share[0:3:2] for share in shares if share[3] == 16] == [(0.0, 298.0), (300.0, 98.0)]


def test_bars_are_as_long_as_their_numbers() -> None:
    (_, _, long, _), (_, _, short, _) = boxes(bar_chart({"a": 40, "b": 10}, title="t"))
    assert long == pytest.approx(4 * short, abs=0.2)


@given(st.lists(st.integers(0, 100).map(lambda value: value / 100), max_size=50))
def test_the_histogram_counts_as_numpy_does(values: list[float]) -> None:
    # numpy puts a value on an edge into the upper bin, and 1 into the last; hundredths are scaled up so that its
    # edges are exact.
    expected, _ = np.histogram([round(value * 100) for value in values], bins=10, range=(0, 100))
    said = re.findall(r"to (\d\.\d\d): (\d+)", description(histogram(values, bins=10, title="t")))
    assert {round(float(end) * 10) - 1: int(count) for end, count in said} == {
        place: count for place, count in enumerate(expected.tolist()) if count
    }


@pytest.mark.parametrize("value", [float("nan"), 1.5, -0.1])
def test_the_histogram_refuses_what_is_no_share(value: float) -> None:
    with pytest.raises(InputError, match="must be between 0 and 1"):
        histogram([value], title="t")


def test_a_calibrated_bin_stands_on_the_diagonal_of_the_reliability_diagram() -> None:
    # The frame is 300 x 300 pixels from (48, 30): 0.5 and 0.5 is its middle.
    assert dots(reliability_diagram([(0.5, 0.5, 10)], title="t")) == [(198.0, 180.0)]


def test_a_curve_runs_through_its_points() -> None:
    chart = roc_curve({"ours": [(0, 0), (0.5, 1), (1, 1)]}, title="t")
    [curve, _legend] = ElementTree.fromstring(chart).findall(f"{SVG}polyline")
    assert curve.attrib["points"] == "48,330 198,30 348,30"


def test_the_coverage_axis_starts_at_the_tenth_below_the_lowest_value() -> None:
    texts = ElementTree.fromstring(coverage_curve({"a": [(1, 0.78)]}, title="t")).iter(f"{SVG}text")
    assert [text.text for text in texts if text.attrib["text-anchor"] == "end"] == ["0.7", "0.8", "0.9", "1"]


def test_curves_differ_by_dashes_as_well_as_by_colour() -> None:
    chart = roc_curve({"a": [(0, 0)], "b": [(0, 0)], "c": [(0, 0)]}, title="t")
    dashes = [line.attrib.get("stroke-dasharray", "") for line in ElementTree.fromstring(chart).iter(f"{SVG}polyline")]
    assert len(set(dashes)) == 3


def test_the_confusion_matrix_gives_shares_of_the_gold_label() -> None:
    # Gold "no": 2 of 10 were given "yes".
    said = description(confusion_matrix([[9, 1], [2, 8]], ("yes", "no"), title="t")).split("; ")
    assert said == [
        "gold yes, predicted yes: 9 (90%)",
        "gold yes, predicted no: 1 (10%)",
        "gold no, predicted yes: 2 (20%)",
        "gold no, predicted no: 8 (80%)",
    ]


def test_the_forest_plot_puts_the_estimate_between_the_ends_of_its_interval() -> None:
    chart = forest_plot([ForestRow("set", 0.7, 0.6, 0.8, baseline=0.5)], title="t")
    lines = ElementTree.fromstring(chart).iter(f"{SVG}line")
    [interval] = [line for line in lines if line.attrib["stroke-width"] == "2.5"]
    (ring, _), (estimate, _) = dots(chart)
    assert ring < float(interval.attrib["x1"]) < estimate < float(interval.attrib["x2"])
    assert estimate == pytest.approx((float(interval.attrib["x1"]) + float(interval.attrib["x2"])) / 2, abs=0.1)


def test_a_forest_plot_of_differences_writes_signs_and_tells_a_gain_and_a_loss_from_neither() -> None:
    rows = [ForestRow("up", 0.1, 0.05, 0.15), ForestRow("down", -0.1, -0.15, -0.05), ForestRow("level", 0.0, -0.1, 0.1)]
    chart = forest_plot(rows, title="t", reference=0.0, ends=(-0.2, 0.2))
    lines = [line for line in ElementTree.fromstring(chart).iter(f"{SVG}line") if line.get("stroke-width") == "2.5"]
    assert [line.attrib["stroke"].split(",")[0] for line in lines] == ["var(--match", "var(--mismatch", "var(--muted"]
    assert description(chart).split("; ") == [
        "up: +0.10 (+0.05 to +0.15)",
        "down: -0.10 (-0.15 to -0.05)",
        "level: +0.00 (-0.10 to +0.10)",
    ]
    # On an axis from -.2 to .2 the estimates stand as far apart from the middle as they are from 0.
    up, down, level = (x for x, _ in dots(chart))
    assert (level, up - level) == (200.0, pytest.approx(level - down, abs=0.2))


def test_the_names_of_curves_stay_within_the_drawing_and_take_more_lines_where_they_must() -> None:
    names = ["a" * 200, "first", "second", "a name that fills a good part of a line"]
    points = [(1.0, 0.1), (2.0, 0.2)]
    chart = line_plot(dict.fromkeys(names, points), title="t", names=("x", "y"), x_range=(1, 2))
    texts = [text for text in ElementTree.fromstring(chart).iter(f"{SVG}text") if text.attrib["font-size"] == "13"]
    assert len(texts) == 4
    assert all(float(text.attrib["x"]) + width_of(text.text or "") <= 400 for text in texts)
    assert len({text.attrib["y"] for text in texts}) == 3


@given(st.floats(0, 0.9), st.floats(0.05, 1))
def test_ticks_are_few_and_within_the_axis(low: float, span: float) -> None:
    found = ticks(low, low + span)
    assert len(found) <= 6
    assert all(low - 1e-6 <= tick <= low + span + 1e-6 for tick in found)
