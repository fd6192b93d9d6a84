"""Pictures of figures with their intervals, as SVG without scripts, fonts or a drawing library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, LABELS, ROW, TOP = 480, 150, 15, 46
"""Units of the picture: its width, the column of labels, a point's line, and the space above the rows."""
COLOURS = ("#00796b", "#b26a00", "#5e6a75", "#8e24aa")
"""Dark enough on white for text; the shapes differ too."""


@dataclass(frozen=True, slots=True)
class Point:
    """A figure of one series, with its interval if it has one."""

    series: str
    value: float
    low: float | None = None
    high: float | None = None


def points_svg(
    title: str, axis: tuple[float, float, float], rows: Sequence[tuple[str, Sequence[Point]]], mark: float | None = None
) -> str:
    """A picture with the rows one below the other, and in each a point for each series.

    Args:
        title: what the figures are, above the picture.
        axis: where it starts and ends, and the step of its numbers.
        rows: names with their points; a value outside the axis is drawn at its end.
        mark: where a dashed line is drawn, such as the figure of chance.
    """
    names = list(dict.fromkeys(point.series for _, points in rows for point in points))
    bottom = TOP + sum(_height(points) for _, points in rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 24}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="12"><title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{bottom + 24}" rx="6" fill="#ffffff"/>',
        f'<text x="10" y="17" font-weight="600" fill="#24292f">{escape(title)}</text>',
        *_legend(names),
        *_axis(axis, bottom, mark),
    ]
    top = TOP
    for name, points in rows:
        middle = top + _height(points) / 2 + 4
        parts.append(f'<text x="{LABELS - 8}" y="{middle:.1f}" text-anchor="end" fill="#24292f">{escape(name)}</text>')
        for number, point in enumerate(points):
            parts += _point(point, names.index(point.series), axis, top + 5 + ROW * (number + 0.5))
        top += _height(points)
    return "\n".join([*parts, "</svg>", ""])


def _height(points: Sequence[Point]) -> int:
    return ROW * len(points) + 10


def _place(value: float, axis: tuple[float, float, float]) -> float:
    start, end, _ = axis
    return LABELS + (WIDTH - LABELS - 20) * (min(max(value, start), end) - start) / (end - start)


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = 10.0
    for number, name in enumerate(names):
        yield _shape(number, x + 4, 33)
        yield f'<text x="{x + 13:.0f}" y="37" fill="#57606a">{escape(name)}</text>'
        x += 28 + 7 * len(name)


def _axis(axis: tuple[float, float, float], bottom: int, mark: float | None) -> Iterator[str]:
    start, end, step = axis
    for number in range(round((end - start) / step) + 1):
        value = start + number * step
        x = _place(value, axis)
        yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#d8dee4"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" fill="#57606a">{value:.1f}</text>'
    if mark is not None:
        x = _place(mark, axis)
        yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#24292f" stroke-dasharray="3 3"/>'


def _point(point: Point, number: int, axis: tuple[float, float, float], y: float) -> Iterator[str]:
    if point.low is not None and point.high is not None:
        ends = (_place(point.low, axis), _place(point.high, axis))
        place = f'x1="{ends[0]:.1f}" y1="{y:.1f}" x2="{ends[1]:.1f}" y2="{y:.1f}"'
        yield f'<line {place} stroke="{COLOURS[number]}" stroke-width="2"/>'
    yield _shape(number, _place(point.value, axis), y)


def _shape(number: int, x: float, y: float) -> str:
    """The mark of a series: a disc, a square, a ring, a diamond."""
    colour = COLOURS[number]
    match number:
        case 0:
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
        case 1:
            return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
        case 2:
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#ffffff" stroke="{colour}" stroke-width="2"/>'
        case _:
            return f'<path d="M{x:.1f} {y - 5:.1f} l5 5 l-5 5 l-5 -5 z" fill="{colour}"/>'
