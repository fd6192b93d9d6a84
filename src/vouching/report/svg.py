"""Elements of a drawing as SVG strings: text, lines, boxes and the frame of a plot.

Colours are CSS custom properties with a fallback, so that a page can set them for light and dark and a stand-alone
picture still has them. Not supported: measuring text, which only a browser can; widths are estimates.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import Literal, TypeAlias

from vouching.types.visible import visible_line

Tone: TypeAlias = Literal["match", "mismatch", "not-found", "unverified", "accent", "muted", "faint", "text"]
"""The role of a colour; the custom property of the same name holds it."""
Anchor: TypeAlias = Literal["start", "middle", "end"]

_FALLBACK: dict[Tone, str] = {
    "match": "#0f766e",
    "mismatch": "#c2410c",
    "not-found": "#a16207",
    "unverified": "#6d5bb5",
    "accent": "#2f5fd0",
    "muted": "#6b7280",
    "faint": "#d4d7dd",
    "text": "currentColor",
}
_LETTER = 0.56
"""Estimated width of a letter as a share of the font size."""


def colour(tone: Tone) -> str:
    """The CSS value of a tone."""
    return f"var(--{tone}, {_FALLBACK[tone]})"


def number(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def shown(text: str) -> str:
    """Foreign text, escaped for a tag or an attribute."""
    return escape(visible_line(text))


def width_of(text: str, size: float = 13) -> float:
    """Estimated width of a text in pixels."""
    return len(text) * size * _LETTER


def fitted(text: str, room: float, size: float = 13) -> str:
    """A text without its middle, if it is wider than ``room`` pixels."""
    letters = max(3, int(room / (size * _LETTER)))
    kept = (letters - 1) // 2
    return text if len(text) <= letters else f"{text[:kept]}…{text[-kept:]}"


def svg(width: float, height: float, title: str, description: str, body: Iterable[str]) -> str:
    """A whole drawing; ``description`` has its content in words for screen readers."""
    box = f'viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" height="{number(height)}"'
    return (
        f'<svg class="chart" role="img" aria-label="{shown(title)}" {box} xmlns="http://www.w3.org/2000/svg" '
        f'font-family="system-ui,sans-serif"><title>{shown(title)}</title><desc>{shown(description)}</desc>{"".join(body)}</svg>'
    )


def text(
    x: float,
    y: float,
    content: str,
    *,
    tone: Tone = "text",
    anchor: Anchor = "start",
    size: int = 13,
    bold: bool = False,
) -> str:
    """A line of text; ``y`` is its baseline."""
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}"{weight} fill="{colour(tone)}">{shown(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, *, tone: Tone = "faint", width: float = 1, dash: str = "") -> str:
    """A straight line; ``dash`` is an SVG dash pattern."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return f'<line {ends} stroke="{colour(tone)}" stroke-width="{number(width)}"{dashes}/>'


def path(points: Sequence[tuple[float, float]], *, tone: Tone, width: float = 2, dash: str = "") -> str:
    """A line through points."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    places = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return (
        f'<polyline points="{places}" fill="none" stroke="{colour(tone)}" stroke-width="{number(width)}"'
        f' stroke-linejoin="round"{dashes}/>'
    )


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    tone: Tone,
    hint: str = "",
    opacity: float = 1,
    radius: float = 2,
) -> str:
    """A filled box; ``hint`` is its tooltip."""
    place = f'x="{number(x)}" y="{number(y)}" width="{number(max(0, width))}" height="{number(max(0, height))}"'
    faded = f' fill-opacity="{opacity:.2f}"' if opacity < 1 else ""
    faded += "" if radius else ' shape-rendering="crispEdges"'  # avoids seams between neighbours
    return f'<rect {place} rx="{number(radius)}" fill="{colour(tone)}"{faded}><title>{shown(hint)}</title></rect>'


def dot(x: float, y: float, radius: float, *, tone: Tone, hint: str = "", hollow: bool = False) -> str:
    """A point, or a ring if ``hollow``."""
    look = f'fill="none" stroke="{colour(tone)}" stroke-width="2"' if hollow else f'fill="{colour(tone)}"'
    place = f'cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"'
    return f"<circle {place} {look}><title>{shown(hint)}</title></circle>"


@dataclass(frozen=True, slots=True)
class Frame:
    """The area of a plot and the values at its edges."""

    left: float
    top: float
    width: float
    height: float
    x_range: tuple[float, float] = (0.0, 1.0)
    """Values at the left and the right edge."""
    y_range: tuple[float, float] = (0.0, 1.0)
    """Values at the lower and the upper edge."""
    x_step: float = 0.01
    """Minimum distance of the ticks on the horizontal axis."""

    def x(self, value: float) -> float:
        """Pixels of a value on the horizontal axis, clipped to the edges."""
        return self.left + self.width * _share(value, self.x_range)

    def y(self, value: float) -> float:
        """Pixels of a value on the vertical axis."""
        return self.top + self.height * (1 - _share(value, self.y_range))

    def points(self, pairs: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        """Pixels of pairs of values."""
        return [(self.x(x), self.y(y)) for x, y in pairs]

    def axes(self, x_name: str, y_name: str) -> list[str]:
        """Grid, ticks and names; a line at 0 where the values have either sign."""
        drawn: list[str] = []
        bottom = self.top + self.height
        signed = self.y_range[0] < 0 < self.y_range[1]
        for value in ticks(*self.y_range):
            tone: Tone = "muted" if signed and value == 0 else "faint"
            drawn.append(line(self.left, self.y(value), self.left + self.width, self.y(value), tone=tone))
            drawn.append(text(self.left - 8, self.y(value) + 4, f"{value:g}", tone="muted", anchor="end", size=12))
        for value in ticks(*self.x_range, self.x_step):
            drawn.append(text(self.x(value), bottom + 18, f"{value:g}", tone="muted", anchor="middle", size=12))
        middle = self.left + self.width / 2
        drawn.append(text(middle, bottom + 38, x_name, tone="muted", anchor="middle", size=12))
        drawn.append(text(self.left - 36, self.top - 12, y_name, tone="muted", size=12))
        return drawn


def ticks(low: float, high: float, min_step: float = 0.01) -> list[float]:
    """Round values from ``low`` to ``high``, at most six of them and at least ``min_step`` apart."""
    scales = (10.0**power for power in count(-2))
    steps = (step for scale in scales for step in (scale, 2 * scale, 5 * scale))
    step = next(step for step in steps if step >= min_step and (high - low) / step <= 5.001)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


def _share(value: float, ends: tuple[float, float]) -> float:
    return min(1.0, max(0.0, (value - ends[0]) / (ends[1] - ends[0])))
