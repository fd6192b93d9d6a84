"""Charts as SVG strings: pure functions, with a name and the numbers in words for screen readers.

Nothing depends on colour alone: every bar, curve and cell carries its number or its name; tooltips show the numbers of
marks. Not supported: zooming and selecting.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle

from vouching.errors import InputError
from vouching.report.svg import Frame, Tone, box, dot, fitted, line, path, svg, text, ticks, width_of

WIDTH = 400.0
"""Pixels: narrow enough for a phone; a wide page puts several charts in a row."""
_ROW = 44.0
"""Pixels of a row of a forest plot, with the words above its line."""
Curves = Mapping[str, Sequence[tuple[float, float]]]
"""Points of each curve, by its name in the legend."""

_LOOKS: tuple[tuple[Tone, str], ...] = (
    ("accent", ""),
    ("muted", "5 4"),
    ("mismatch", "9 3"),
    ("match", "2 3"),
    ("unverified", "9 3 2 3"),
)
"""Colour and dash pattern of each curve, in order."""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One row of a forest plot; ``low`` and ``high`` are the ends of its interval."""

    name: str
    estimate: float
    low: float | None
    high: float | None
    baseline: float | None = None
    whole: bool = False
    """Whether it summarises the rows before it."""


def share_bar(counts: Mapping[str, int], *, title: str, tones: Mapping[str, Tone] | None = None) -> str:
    """One bar split into the shares of ``counts``, with a legend below; a name without a tone is "accent"."""
    width, total = WIDTH, max(1, sum(counts.values()))
    body: list[str] = []
    x, left, row = 0.0, 0.0, 0
    for name, count in counts.items():
        tone, words = (tones or {}).get(name, "accent"), f"{name}: {count:,} of {total:,} ({count / total:.0%})"
        across = width * count / total
        if count:
            # A gap of 2 pixels separates neighbours; the smallest share stays visible.
            body.append(box(x, 0, max(2.0, across - 2), 16, tone=tone, hint=words, radius=3))
        x += across
        label = f"{name} {count:,} ({count / total:.0%})"
        needed = width_of(label) + 40
        if left and left + needed > width:
            left, row = 0.0, row + 1
        body += [box(left, 32 + 24 * row, 11, 11, tone=tone), text(left + 18, 42 + 24 * row, label)]
        left += needed
    described = "; ".join(f"{name}: {count:,} of {total:,} ({count / total:.0%})" for name, count in counts.items())
    return svg(width, 50 + 24 * row, title, described, body)


def bar_chart(counts: Mapping[str, int], *, title: str, tones: Mapping[str, Tone] | None = None) -> str:
    """A horizontal bar for each of ``counts``, with its name before it and its number after it."""
    gutter = max((width_of(name) for name in counts), default=0.0) + 12
    room, most = WIDTH - gutter - 56, max([1, *counts.values()])
    body: list[str] = []
    for row, (name, count) in enumerate(counts.items()):
        y, across = 28.0 * row, room * count / most
        body += [
            text(gutter - 12, y + 15, name, anchor="end"),
            box(gutter, y + 3, max(1.0, across), 16, tone=(tones or {}).get(name, "accent"), hint=f"{name}: {count:,}"),
            text(gutter + across + 8, y + 15, f"{count:,}", tone="muted"),
        ]
    described = "; ".join(f"{name}: {count:,}" for name, count in counts.items()) or "Nothing to count."
    return svg(WIDTH, max(28.0, 28.0 * len(counts)), title, described, body)


def histogram(values: Iterable[float], bins: int = 20, *, title: str, name: str = "value", low: float = 0.0) -> str:
    """A histogram of ``values`` in [low, 1] with ``bins`` of equal width. Raises InputError for a value outside."""
    counts, wide = [0] * bins, (1 - low) / bins
    for value in values:
        if not low <= value <= 1.0:
            raise InputError(f"the values of a histogram must be between {low:g} and 1, got {value!r}")
        # A value on an edge, up to rounding, belongs to the bin above.
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
    described = "; ".join(hint for count, hint in zip(counts, hints, strict=True) if count) or "No values."
    return svg(WIDTH, 188, title, described, body)


def reliability_diagram(bins: Sequence[tuple[float, float, int]], *, title: str) -> str:
    """Scores against outcomes; points on the diagonal are calibrated.

    ``bins`` are mean score, share attributable and number of claims; bins without claims are not drawn.
    """
    frame, filled = Frame(48, 30, 300, 300), [(score, share, count) for score, share, count in bins if count]
    most = max((count for _, _, count in filled), default=1)
    body = [*frame.axes("mean score", "share attributable"), _diagonal(frame)]
    body.append(path(frame.points((score, share) for score, share, _ in filled), tone="accent", width=1.5))
    described: list[str] = []
    for score, share, count in filled:
        hint = f"mean score {score:.2f}, share attributable {share:.2f}, {count:,} claims"
        described.append(hint)
        body.append(dot(frame.x(score), frame.y(share), 2.5 + 6 * math.sqrt(count / most), tone="accent", hint=hint))
    body.append(text(48, 394, "Larger points represent more claims.", tone="muted", size=12))
    return svg(370, 404, title, "; ".join(described) or "No claims.", body)


def roc_curve(curves: Curves, *, title: str) -> str:
    """True positive rate over false positive rate of each curve; the diagonal is chance."""
    return _curves(curves, Frame(48, 30, 300, 300), title, ("false positive rate", "true positive rate"), diagonal=True)


def coverage_curve(curves: Curves, *, title: str) -> str:
    """Accuracy on the most confident share of the claims, over that share.

    The vertical axis starts at the tenth below the lowest value.
    """
    lowest = min((y for points in curves.values() for _, y in points), default=0.0)
    floor = min(0.9, max(0.0, math.floor(lowest * 10) / 10))
    frame = Frame(48, 30, 300, 300, y_range=(floor, 1.0))
    return _curves(curves, frame, title, ("share of claims kept, most confident first", "accuracy"), diagonal=False)


def line_plot(
    curves: Curves,
    *,
    title: str,
    names: tuple[str, str],
    x_range: tuple[float, float],
    y_top: float = 1.0,
    y_bottom: float = 0.0,
    marks: Iterable[float] = (),
) -> str:
    """Curves over whole numbers; ``names`` are those of the axes, ``marks`` the places of vertical lines.

    Points beyond an edge are drawn on it.
    """
    frame = Frame(48, 30, WIDTH - 66, 220, x_range, (y_bottom, y_top), x_step=1)
    return _curves(curves, frame, title, names, diagonal=False, marks=marks)


def _curves(
    curves: Curves, frame: Frame, title: str, names: tuple[str, str], *, diagonal: bool, marks: Iterable[float] = ()
) -> str:
    body = frame.axes(*names)
    bottom = frame.top + frame.height
    body += [line(frame.x(mark), frame.top, frame.x(mark), bottom, tone="mismatch", dash="3 3") for mark in marks]
    body += [_diagonal(frame)] if diagonal else []
    for points, (tone, dash) in zip(curves.values(), cycle(_LOOKS), strict=False):
        body.append(path(frame.points(points), tone=tone, dash=dash))
    width, below = frame.left + frame.width + 18, bottom + 64
    legend, lines = ([], 0) if [*curves] == [title] else _legend(curves, width, below)
    ends = (
        f"{name}: {points[0][1]:.3g} at {points[0][0]:g} to {points[-1][1]:.3g} at {points[-1][0]:g}"
        for name, points in curves.items()
        if points
    )
    described = f"{names[1]} over {names[0]}: {'; '.join(ends)}"
    return svg(width, below - 20 + 22 * lines, title, described, [*body, *legend])


def _legend(names: Iterable[str], width: float, top: float) -> tuple[list[str], int]:
    """The legend of curves, filled line by line, and its number of lines."""
    body: list[str] = []
    left, row = 12.0, 0
    for name, (tone, dash) in zip(names, cycle(_LOOKS), strict=False):
        label = fitted(name, width - 48)
        needed = 34 + width_of(label)
        if left > 12 and left + needed > width:
            left, row = 12.0, row + 1
        y = top + 22 * row
        body += [path([(left, y - 4), (left + 26, y - 4)], tone=tone, dash=dash), text(left + 34, y, label)]
        left += needed + 18
    return body, row + 1


def _diagonal(frame: Frame) -> str:
    return line(frame.x(0), frame.y(0), frame.x(1), frame.y(1), tone="muted", dash="3 4")


def confusion_matrix(counts: Sequence[Sequence[int]], labels: tuple[str, str], *, title: str) -> str:
    """Counts by gold label (rows) and given label (columns), each with its share of the row."""
    gutter, cell, high = max(width_of(label) for label in labels) + 24, 130.0, 74.0
    body = [
        text(gutter + cell, 14, "predicted", tone="muted", anchor="middle", size=12),
        text(gutter - 14, 34, "gold", tone="muted", anchor="end", size=12),
    ]
    described: list[str] = []
    for row, gold in enumerate(labels):
        total = max(1, sum(counts[row]))
        body.append(text(gutter + cell * (row + 0.5), 34, gold, anchor="middle"))
        body.append(text(gutter - 14, 48 + high * (row + 0.5), gold, anchor="end"))
        for column, given in enumerate(labels):
            count, share = counts[row][column], counts[row][column] / total
            hint = f"gold {gold}, predicted {given}: {count:,} ({share:.0%})"
            described.append(hint)
            x, y, tone = gutter + cell * column, 44 + high * row, "match" if row == column else "mismatch"
            body += [
                box(x, y, cell - 3, high - 3, tone=tone, hint=hint, opacity=0.06 + 0.4 * share, radius=5),
                text(x + cell / 2, y + high / 2, f"{count:,}", anchor="middle", size=18, bold=True),
                text(x + cell / 2, y + high / 2 + 20, f"{share:.0%}", tone="muted", anchor="middle", size=12),
            ]
    return svg(gutter + 2 * cell, 48 + 2 * high, title, "; ".join(described), body)


def forest_plot(
    rows: Sequence[ForestRow],
    *,
    title: str,
    name: str = "AUROC",
    ends: tuple[float, float] = (0.0, 1.0),
    reference: float | None = 0.5,
    keys: str = "line: 95 % interval; ring: baseline",
) -> str:
    """Estimates with their intervals, one row each, beside a baseline (ring) and a reference (dashed line).

    Args:
        rows: from the top.
        title: name of the drawing.
        name: the measure, written below the axis.
        ends: values at the ends of the axis; values beyond are drawn at the end.
        reference: value of the dashed line, e.g. chance; None for no line. With 0 the values are differences: they have
            a sign, and an interval on one side of 0 has the colour of a gain or a loss.
        keys: legend of line and ring, shown if there is a ring.
    """
    frame = Frame(10, 4, WIDTH - 20, _ROW * len(rows), x_range=ends)
    bottom, changes = frame.top + frame.height, reference == 0
    body: list[str] = []
    described: list[str] = []
    for place, row in enumerate(rows):
        top = frame.top + _ROW * place
        # The words are above the line, so that both have the whole width; the grid does not cross the words.
        body += [line(frame.x(value), top + 20, frame.x(value), top + _ROW - 2) for value in ticks(*ends)]
        if row.whole:
            body.append(line(0, top - 1, WIDTH, top - 1, tone="muted"))
        number, drawn = _forest_row(row, frame, top + 30, changes)
        described.append(f"{row.name}: {number}{'' if row.baseline is None else f', baseline {row.baseline:.2f}'}")
        body += drawn
        body += [
            text(0, top + 14, fitted(row.name, WIDTH - 16 - width_of(number, 12)), bold=row.whole),
            text(WIDTH, top + 14, number, tone="muted", anchor="end", size=12),
        ]
    for value in ticks(*ends):
        label = f"{value:+g}" if changes and value else f"{value:g}"
        body.append(text(frame.x(value), bottom + 16, label, tone="muted", anchor="middle", size=12))
    if reference is not None:
        at = frame.x(reference)
        body.insert(0, line(at, frame.top + 18, at, bottom, tone="muted", dash="3 4"))
    legend = f"{name}; {keys}" if keys and any(row.baseline is not None for row in rows) else name
    body.append(text(WIDTH / 2, bottom + 36, legend, tone="muted", anchor="middle", size=12))
    return svg(WIDTH, bottom + 44, title, "; ".join(described) or "Nothing measured.", body)


def _forest_row(row: ForestRow, frame: Frame, y: float, changes: bool) -> tuple[str, list[str]]:
    """The figures of a row as text, and its marks."""
    sign = "+" if changes else ""
    number = f"{row.estimate + 0.0:{sign}.2f}"
    tone: Tone = "muted" if changes else "accent"
    drawn: list[str] = []
    if row.low is not None and row.high is not None:
        number += f" ({row.low + 0.0:{sign}.2f} to {row.high + 0.0:{sign}.2f})"
        if changes and (row.low > 0 or row.high < 0):
            tone = "match" if row.low > 0 else "mismatch"
        drawn.append(line(frame.x(row.low), y, frame.x(row.high), y, tone=tone, width=2.5))
    if row.baseline is not None:
        drawn.append(dot(frame.x(row.baseline), y, 5, tone="muted", hint=f"{row.baseline:.2f}", hollow=True))
    return number, [*drawn, dot(frame.x(row.estimate), y, 5, tone=tone, hint=f"{row.name}: {number}")]
