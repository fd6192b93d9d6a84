"""Charts of rates over time and of reviews, as SVG strings like those of :mod:`vouching.report.charts`.

Shares are drawn with the ends of their intervals; every mark has its numbers as a tooltip, and every drawing has all of
them in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from vouching.metrics import Interval
from vouching.report.charts import WIDTH
from vouching.report.svg import Frame, Tone, box, dot, fitted, line, path, svg, text, width_of

_LANE = 46.0
"""Pixels of a row of bars, with its name above it."""


def interval_words(interval: Interval) -> str:
    """A share in per cent with its interval.

    >>> interval_words(Interval(0.25, 0.12, 0.44, 0.95, "Wilson"))
    '25 % (12 to 44)'
    """
    if math.isnan(interval.estimate):
        return "not known"
    words = f"{100 * interval.estimate:.0f} %"
    if interval.low is None or interval.high is None:
        return words
    return f"{words} ({100 * interval.low:.0f} to {100 * interval.high:.0f})"


def share_over_time(shares: Mapping[str, Interval], *, title: str) -> str:
    """A share in each period, with its interval; ``shares`` are by the name of the period, in order."""
    frame = Frame(44, 14, WIDTH - 62, 150)
    body = list(_grid(frame, [*shares]))
    points: list[tuple[float, float]] = []
    for place, (name, share) in enumerate(shares.items()):
        if math.isnan(share.estimate):
            continue
        x = _middle(frame, place, len(shares))
        points.append((x, frame.y(share.estimate)))
        if share.low is not None and share.high is not None:
            body.append(line(x, frame.y(share.low), x, frame.y(share.high), tone="accent", width=2))
        body.append(dot(x, frame.y(share.estimate), 4, tone="accent", hint=f"{name}: {interval_words(share)}"))
    body.insert(0, path(points, tone="accent", width=1.5))
    described = "; ".join(f"{name}: {interval_words(share)}" for name, share in shares.items()) or "No verdicts."
    return svg(WIDTH, 196, title, described, body)


def bars_over_time(
    counts: Mapping[str, Mapping[str, int]],
    names: Sequence[str],
    *,
    title: str,
    tones: Mapping[str, Tone] | None = None,
) -> str:
    """A row of bars for each of ``names``: how many in each period, all rows to one scale.

    ``counts`` are by period, in order, then by name. A row carries its name and its total; a name without a tone is
    "accent".
    """
    most = max((counts[period].get(name, 0) for period in counts for name in names), default=0) or 1
    frame = Frame(0, 0, WIDTH, _LANE * len(names))
    wide = frame.width / max(1, len(counts))
    body: list[str] = []
    described: list[str] = []
    for row, name in enumerate(names):
        low = _LANE * (row + 1) - 4
        total = f"{sum(of.get(name, 0) for of in counts.values()):,}"
        body += [
            text(0, low - 30, fitted(name, WIDTH - 16 - width_of(total))),
            text(WIDTH, low - 30, total, tone="muted", anchor="end"),
            line(0, low, WIDTH, low),
        ]
        for place, (period, of) in enumerate(counts.items()):
            number = of.get(name, 0)
            if number:
                high, across = max(1.5, 20 * number / most), min(28.0, max(1.5, wide - 2))
                hint = f"{name}, {period}: {number:,}"
                left = wide * (place + 0.5) - across / 2
                tone = (tones or {}).get(name, "accent")
                body.append(box(left, low - high, across, high, tone=tone, hint=hint, radius=1))
        described.append(f"{name}: {', '.join(f'{of.get(name, 0):,} on {period}' for period, of in counts.items())}")
    body += _dates(frame, [*counts])
    return svg(WIDTH, frame.height + 24, title, "; ".join(described) or "Nothing to count.", body)


def reliability_with_intervals(bins: Sequence[tuple[float, Interval, int]], *, title: str) -> str:
    """Scores against what reviewers say; an interval that misses the diagonal is a score that misleads.

    ``bins`` are mean score, share attributable with its interval, and number of verdicts; empty ones are not drawn.
    """
    frame, filled = Frame(48, 30, 300, 260), [one for one in bins if one[2]]
    body = frame.axes("mean score", "share attributable by reviews")
    body.append(line(frame.x(0), frame.y(0), frame.x(1), frame.y(1), tone="muted", dash="3 4"))
    described: list[str] = []
    for score, share, count in filled:
        missed = share.low is not None and share.high is not None and not share.low <= score <= share.high
        tone: Tone = "mismatch" if missed else "accent"
        hint = f"mean score {score:.2f}, attributable {interval_words(share)}, {count:,} reviewed"
        described.append(f"{hint}{', misses the diagonal' if missed else ''}")
        x = frame.x(score)
        if share.low is not None and share.high is not None:
            body.append(line(x, frame.y(share.low), x, frame.y(share.high), tone=tone, width=2))
        body.append(dot(x, frame.y(share.estimate), 4.5, tone=tone, hint=hint, hollow=missed))
    return svg(WIDTH, 336, title, "; ".join(described) or "No reviews.", body)


def _grid(frame: Frame, periods: Sequence[str]) -> Iterator[str]:
    for value in (0.0, 0.5, 1.0):
        yield line(frame.left, frame.y(value), frame.left + frame.width, frame.y(value))
        yield text(frame.left - 8, frame.y(value) + 4, f"{100 * value:.0f} %", tone="muted", anchor="end", size=12)
    yield from _dates(frame, periods)


def _dates(frame: Frame, periods: Sequence[str]) -> list[str]:
    """The names of the first and the last period, below the frame."""
    y = frame.top + frame.height + 18
    if not periods:
        return []
    if len(periods) == 1:
        return [text(frame.left + frame.width / 2, y, periods[0], tone="muted", anchor="middle", size=12)]
    first = text(frame.left, y, periods[0], tone="muted", size=12)
    return [first, text(frame.left + frame.width, y, periods[-1], tone="muted", anchor="end", size=12)]


def _middle(frame: Frame, place: int, number: int) -> float:
    return frame.left + frame.width * (place + 0.5) / number
