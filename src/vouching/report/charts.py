"""Charts as SVG strings: pure functions, with a name and the numbers in words for screen readers.

Nothing depends on colour alone: every bar, curve and cell carries its number or its name. Left out: zooming and
choosing; a pointer that rests on a mark shows its number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vouching.errors import InputError
from vouching.report.svg import Frame, Tone, box, dot, line, path, svg, text, ticks, width_of

_WIDTH = 400.0
"""Pixels: narrow enough for a phone to show the letters nearly at their size."""
Curves = Mapping[str, Sequence[tuple[float, float]]]
"""Points of each curve, by the name that the legend shows."""

_LOOKS: tuple[tuple[Tone, str], ...] = (
    ("accent", ""), ("muted", "5 4"), ("mismatch", "9 3"), ("match", "2 3"), ("unverified", "9 3 2 3"),
)  # fmt: skip
"""Colour and dashes of the first, second, ... curve."""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One line of a forest plot."""

    name: str
    """What was measured."""
    estimate: float
    """The value."""
    low: float | None
    """Lower end of its interval; None if there is none."""
    high: float | None
    """Upper end of its interval; None if there is none."""
    baseline: float | None = None
    """The value of what it is compared with; None if nothing."""


def share_bar(counts: Mapping[str, int], *, title: str, tones: Mapping[str, Tone] | None = None) -> str:
    """One bar cut into the shares of ``counts``, with a legend below it.

    Args:
        counts: how many of each name, at least 0.
        title: what is counted.
        tones: the colour of each name; those left out are "accent".

    >>> "3 of 4 (75%)" in share_bar({"yes": 3, "no": 1}, title="Answers")
    True
    """
    width, total = _WIDTH, max(1, sum(counts.values()))
    body: list[str] = []
    x, left, row = 0.0, 0.0, 0
    for name, count in counts.items():
        tone, words = (tones or {}).get(name, "accent"), f"{name}: {count:,} of {total:,} ({count / total:.0%})"
        across = width * count / total
        if count:
            # A gap of 2 pixels keeps neighbours apart; what is there at all stays visible.
            body.append(box(x, 0, max(2.0, across - 2), 16, tone=tone, hint=words, radius=3))
        x += across
        label = f"{name} {count:,} ({count / total:.0%})"
        wanted = width_of(label) + 40
        if left and left + wanted > width:
            left, row = 0.0, row + 1
        body += [box(left, 32 + 24 * row, 11, 11, tone=tone), text(left + 18, 42 + 24 * row, label)]
        left += wanted
    said = "; ".join(f"{name}: {count:,} of {total:,} ({count / total:.0%})" for name, count in counts.items())
    return svg(width, 50 + 24 * row, title, said, body)


def bar_chart(counts: Mapping[str, int], *, title: str, tones: Mapping[str, Tone] | None = None) -> str:
    """A horizontal bar for each of ``counts``, with its name before it and its number behind it.

    >>> bar_chart({"fabrication": 12}, title="Error types").count("<rect")
    1
    """
    gutter = max((width_of(name) for name in counts), default=0.0) + 12
    room, most = _WIDTH - gutter - 56, max([1, *counts.values()])
    body: list[str] = []
    for row, (name, count) in enumerate(counts.items()):
        y, across = 28.0 * row, room * count / most
        body += [
            text(gutter - 12, y + 15, name, anchor="end"),
            box(gutter, y + 3, max(1.0, across), 16, tone=(tones or {}).get(name, "accent"), hint=f"{name}: {count:,}"),
            text(gutter + across + 8, y + 15, f"{count:,}", tone="muted"),
        ]
    said = "; ".join(f"{name}: {count:,}" for name, count in counts.items()) or "Nothing to count."
    return svg(_WIDTH, max(28.0, 28.0 * len(counts)), title, said, body)


def histogram(values: Iterable[float], bins: int = 20, *, title: str, name: str = "value", low: float = 0.0) -> str:
    """How many of ``values`` in [low, 1] fall into each of ``bins`` stretches of equal width; 1 counts to the last.

    Raises:
        InputError: a value outside [low, 1], or one that is not a number.

    >>> "0.90 to 1.00: 2" in histogram([0.95, 1.0, 0.2], bins=10, title="Confidence")
    True
    """
    counts, wide = [0] * bins, (1 - low) / bins
    for value in values:
        if not low <= value <= 1.0:
            raise InputError(f"a histogram takes values in [{low:g}, 1], got {value!r}")
        # A value that stands on an edge up to rounding counts to the bin above.
        counts[min(bins - 1, int((value - low) / wide + 1e-9))] += 1
    most, frame = max([1, *counts]), Frame(48, 12, 336, 130, x_range=(low, 1.0))
    across = frame.width / bins
    hints = [f"{low + wide * i:.2f} to {low + wide * (i + 1):.2f}: {count:,}" for i, count in enumerate(counts)]
    body = [line(frame.left, frame.y(1), frame.left + frame.width, frame.y(1), dash="2 4")]
    for place, (count, hint) in enumerate(zip(counts, hints, strict=True)):
        if count:
            height = max(1.5, frame.height * count / most)
            left = frame.left + place * across
            body.append(box(left + 1, frame.y(0) - height, across - 2, height, tone="accent", hint=hint))
    body.append(line(frame.left, frame.y(0), frame.left + frame.width, frame.y(0), tone="muted"))
    body.append(text(frame.left - 8, frame.y(1) + 4, f"{most:,}", tone="muted", anchor="end", size=12))
    body.append(text(frame.x((1 + low) / 2), frame.y(0) + 38, name, tone="muted", anchor="middle", size=12))
    for value in ticks(low, 1):
        body.append(text(frame.x(value), frame.y(0) + 18, f"{value:g}", tone="muted", anchor="middle", size=12))
    said = "; ".join(hint for count, hint in zip(counts, hints, strict=True) if count) or "No values."
    return svg(_WIDTH, 188, title, said, body)


def reliability_diagram(bins: Sequence[tuple[float, float, int]], *, title: str) -> str:
    """Scores held against outcomes: points on the diagonal are calibrated.

    Args:
        bins: mean score, share attributable, number of claims of each bin; bins without claims are not drawn.
        title: what was scored.

    >>> "mean score 0.90, share attributable 0.70, 40 claims" in reliability_diagram([(0.9, 0.7, 40)], title="Dev")
    True
    """
    frame, filled = Frame(48, 30, 300, 300), [(score, share, count) for score, share, count in bins if count]
    most = max((count for _, _, count in filled), default=1)
    body = [*frame.axes("mean score", "share attributable"), _diagonal(frame)]
    body.append(path(frame.points((score, share) for score, share, _ in filled), tone="accent", width=1.5))
    said: list[str] = []
    for score, share, count in filled:
        hint = f"mean score {score:.2f}, share attributable {share:.2f}, {count:,} claims"
        said.append(hint)
        body.append(dot(frame.x(score), frame.y(share), 2.5 + 6 * math.sqrt(count / most), tone="accent", hint=hint))
    body.append(text(48, 394, "The larger a point, the more claims.", tone="muted", size=12))
    return svg(370, 404, title, "; ".join(said) or "No claims.", body)


def roc_curve(curves: Curves, *, title: str) -> str:
    """True positive rate over false positive rate of each curve; the diagonal is chance.

    >>> "true positive rate" in roc_curve({"ours": [(0, 0), (0.1, 0.8), (1, 1)]}, title="ROC")
    True
    """
    return _curves(curves, Frame(48, 30, 300, 300), title, ("false positive rate", "true positive rate"), diagonal=True)


def coverage_curve(curves: Curves, *, title: str) -> str:
    """Accuracy on the most confident share of the claims, over that share.

    The vertical axis starts at the tenth below the lowest value.

    >>> "share of claims kept" in coverage_curve({"ours": [(0.5, 0.95), (1.0, 0.8)]}, title="Coverage")
    True
    """
    lowest = min((y for points in curves.values() for _, y in points), default=0.0)
    floor = min(0.9, max(0.0, math.floor(lowest * 10) / 10))
    frame = Frame(48, 30, 300, 300, y_range=(floor, 1.0))
    return _curves(curves, frame, title, ("share of claims kept, most confident first", "accuracy"), diagonal=False)


def line_plot(
    curves: Curves, *, title: str, names: tuple[str, str], x_range: tuple[float, float], y_top: float = 1.0,
    y_bottom: float = 0.0, marks: Iterable[float] = (),
) -> str:  # fmt: skip
    """Curves over whole numbers.

    Args:
        curves: points of each curve.
        title: what is shown.
        names: of the horizontal and of the vertical axis.
        x_range: values at the left and right edge.
        y_top: value at the upper edge; what lies beyond is drawn on it.
        y_bottom: value at the lower edge.
        marks: where to draw a vertical line.

    >>> "error over items: ours" in line_plot(
    ...     {"ours": [(1, 0.3), (2, 0.2)]}, title="Errors", names=("items", "error"), x_range=(1, 2)
    ... )
    True
    """
    frame = Frame(48, 30, 300, 300, x_range, (y_bottom, y_top), x_least=1)
    return _curves(curves, frame, title, names, diagonal=False, marks=marks)


def _curves(
    curves: Curves, frame: Frame, title: str, names: tuple[str, str], *, diagonal: bool, marks: Iterable[float] = ()
) -> str:
    body = frame.axes(*names)
    bottom = frame.top + frame.height
    body += [line(frame.x(mark), frame.top, frame.x(mark), bottom, tone="mismatch", dash="3 3") for mark in marks]
    body += [_diagonal(frame)] if diagonal else []
    below = frame.top + frame.height + 64
    for place, (name, points) in enumerate(curves.items()):
        tone, dash = _LOOKS[place % len(_LOOKS)]
        y = below + 22 * place
        body += [
            path(frame.points(points), tone=tone, dash=dash),
            path([(48, y - 4), (76, y - 4)], tone=tone, dash=dash),
        ]
        body.append(text(86, y, name))
    said = f"{names[1]} over {names[0]}: {', '.join(curves)}"
    return svg(370, below + 22 * len(curves) - 8, title, said, body)


def _diagonal(frame: Frame) -> str:
    return line(frame.x(0), frame.y(0), frame.x(1), frame.y(1), tone="muted", dash="3 4")


def confusion_matrix(counts: Sequence[Sequence[int]], labels: tuple[str, str], *, title: str) -> str:
    """Counts by gold label (rows) and given label (columns), each with its share of the row.

    >>> "gold no, given yes: 2 (20%)" in confusion_matrix([[9, 1], [2, 8]], ("yes", "no"), title="Test")
    True
    """
    gutter, cell, high = max(width_of(label) for label in labels) + 24, 130.0, 74.0
    body = [
        text(gutter + cell, 14, "given", tone="muted", anchor="middle", size=12),
        text(gutter - 14, 34, "gold", tone="muted", anchor="end", size=12),
    ]
    said: list[str] = []
    for row, gold in enumerate(labels):
        total = max(1, sum(counts[row]))
        body.append(text(gutter + cell * (row + 0.5), 34, gold, anchor="middle"))
        body.append(text(gutter - 14, 48 + high * (row + 0.5), gold, anchor="end"))
        for column, given in enumerate(labels):
            count, share = counts[row][column], counts[row][column] / total
            hint = f"gold {gold}, given {given}: {count:,} ({share:.0%})"
            said.append(hint)
            x, y, tone = gutter + cell * column, 44 + high * row, "match" if row == column else "mismatch"
            body += [
                box(x, y, cell - 3, high - 3, tone=tone, hint=hint, opacity=0.06 + 0.4 * share, radius=5),
                text(x + cell / 2, y + high / 2, f"{count:,}", anchor="middle", size=18, bold=True),
                text(x + cell / 2, y + high / 2 + 20, f"{share:.0%}", tone="muted", anchor="middle", size=12),
            ]
    return svg(gutter + 2 * cell, 48 + 2 * high, title, "; ".join(said), body)


def forest_plot(
    rows: Sequence[ForestRow], *, title: str, name: str = "AUROC", ends: tuple[float, float] = (0.0, 1.0),
    reference: float | None = 0.5, width: float = 640, keys: str = "line: interval; ring: baseline",
) -> str:  # fmt: skip
    """Estimates with their intervals, one line each, beside a baseline (ring) and a reference (dashed).

    Args:
        rows: what to draw, top down.
        title: what was measured.
        name: the measure, written below the axis.
        ends: values at the ends of the axis; what lies beyond is drawn at the end.
        reference: where to draw the dashed line, e.g. chance; None for no line.
        width: of the drawing; a wide one is hard to read where it is shown small.
        keys: what line and ring mean, said below where there is a ring; "" if the page says it.

    >>> row = ForestRow("wice", 0.7, 0.66, 0.74, baseline=0.64)
    >>> "wice: 0.70 (0.66 to 0.74), baseline 0.64" in forest_plot([row], title="Sets")
    True
    """
    gutter = max((width_of(row.name) for row in rows), default=0.0) + 16
    frame = Frame(gutter, 8, width - gutter - 130, 30.0 * len(rows), x_range=ends)
    bottom = frame.top + frame.height
    body: list[str] = []
    for value in ticks(*ends):
        body.append(line(frame.x(value), frame.top, frame.x(value), bottom))
        body.append(text(frame.x(value), bottom + 18, f"{value:g}", tone="muted", anchor="middle", size=12))
    if reference is not None:
        body.append(line(frame.x(reference), frame.top, frame.x(reference), bottom, tone="muted", dash="3 4"))
    said: list[str] = []
    for place, row in enumerate(rows):
        y = frame.top + 30.0 * place + 15
        interval = "" if row.low is None or row.high is None else f" ({row.low:.2f} to {row.high:.2f})"
        baseline = "" if row.baseline is None else f", baseline {row.baseline:.2f}"
        said.append(f"{row.name}: {row.estimate:.2f}{interval}{baseline}")
        body.append(text(gutter - 16, y + 4, row.name, anchor="end"))
        if row.low is not None and row.high is not None:
            body.append(line(frame.x(row.low), y, frame.x(row.high), y, tone="accent", width=2.5))
        if row.baseline is not None:
            body.append(dot(frame.x(row.baseline), y, 5, tone="muted", hint=said[-1], hollow=True))
        body.append(dot(frame.x(row.estimate), y, 5, tone="accent", hint=said[-1]))
        body.append(text(width, y + 4, f"{row.estimate:.2f}{interval}", tone="muted", anchor="end", size=12))
    legend = f"{name}; {keys}" if keys and any(row.baseline is not None for row in rows) else name
    body.append(text(frame.x(ends[0]) + frame.width / 2, bottom + 38, legend, tone="muted", anchor="middle", size=12))
    return svg(width, bottom + 48, title, "; ".join(said) or "Nothing measured.", body)


__all__ = [
    "Curves", "ForestRow", "Tone", "bar_chart", "confusion_matrix", "coverage_curve", "forest_plot", "histogram",
    "line_plot", "reliability_diagram", "roc_curve", "share_bar",
]  # fmt: skip
