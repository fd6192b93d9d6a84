"""The page of a fingerprint: the change of every set in every round, as charts and as the tables behind them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from vouching.bench.intervals import Figure
from vouching.evolve.fingerprint import MEAN, Fingerprint, Line
from vouching.evolve.records import TYPED, write_record
from vouching.report.charts import Curves, ForestRow, forest_plot, line_plot
from vouching.report.figures import Chart, Table, figure
from vouching.report.skeleton import TEMPLATES, write_page

FINGERPRINT, PAGE = "fingerprint.json", "fingerprint.html"
_NAMES = {"macro_f1": "macro F1", "accuracy": "accuracy", "auroc": "AUROC"}


def write_fingerprint(folder: Path, found: Fingerprint, title: str) -> Path:
    """Write a fingerprint as JSON and as a page. Returns the path of the page."""
    write_record(folder / FINGERPRINT, found)
    sets = [line for line in found.lines if line.data_set != MEAN and line.metric != "auroc"]
    counts = {"round": len(found.rounds) - 1, "set": len(sets), "row": sum(line.rows for line in sets)}
    lead = ", ".join(f"{count:,} {what}{'s' * (count != 1)}" for what, count in counts.items())
    if found.excluded:
        lead += f"; rows excluded because a round failed on them: {found.excluded:,}"
    write_page(
        folder / PAGE,
        "rewards.html.jinja",
        TEMPLATES,
        title=title,
        lead=lead,
        tables=[*tables_of(found)],
        charts=[*_charts(found)],
    )
    return folder / PAGE


def tables_of(found: Fingerprint) -> Iterator[Table]:
    """The figures as tables."""
    rounds = [f"round {number}" for number in found.rounds]
    for metric, heading in (("label", "Macro F1 (accuracy for sets with one class)"), ("auroc", "AUROC")):
        lines = [line for line in found.lines if (line.metric == "auroc") == (metric == "auroc")]
        if lines:
            lines += _without_typed(lines)
            rows = [(line.data_set, f"{line.rows:,}", *map(figure, line.levels)) for line in lines]
            yield Table(heading, ("set", "rows", *rounds), rows)
            rows = [(line.data_set, *map(difference, line.changes)) for line in lines]
            yield Table(f"{heading}: change since round 0, with 95 % interval", ("set", *rounds[1:]), rows)
    if found.types:
        rows = [(kind, f"{found.type_rows[kind]:,}", *map(figure, levels)) for kind, levels in found.types.items()]
        yield Table("Share of errors found, by type", ("type", "rows", *rounds), rows)
    yield Table(
        "How much the changes differ between sets",
        ("round", "spread", "beyond chance", "gained", "lost", "started from round", "accepted"),
        [
            (
                str(number),
                figure(one.spread),
                figure(one.heterogeneity, 2),
                ", ".join(one.gained) or "none",
                ", ".join(one.lost) or "none",
                str(found.bases[number]),
                "yes" if found.stays[number] else "no",
            )
            for number, one in enumerate(found.spreads, 1)
        ],
    )
    yield Table("Saturation", ("", ""), [("last round with a significant gain in the mean", _saturation(found))])


def _without_typed(lines: list[Line]) -> list[Line]:
    """The mean without the perturbed rows, if they are in it; it has no interval."""
    sets = [line for line in lines if line.data_set not in (MEAN, TYPED)]
    if len(sets) < 2 or len(lines) != len(sets) + 2:
        return []
    by_round = zip(*(line.levels for line in sets), strict=True)
    means = [
        sum(known) / len(sets) if len(known := [x for x in one if x is not None]) == len(sets) else None
        for one in by_round
    ]
    begun = means[0]
    changes: list[Figure] = [
        {"estimate": None if mean is None or begun is None else mean - begun, "low": None, "high": None}
        for mean in means[1:]
    ]
    rows = sum(line.rows for line in sets)
    return [Line(f"{MEAN} without {TYPED}", sets[0].metric, rows, tuple(means), tuple(changes))]


def difference(one: Figure) -> str:
    """A difference as text, with its interval if it has one."""
    if one["estimate"] is None:
        return "–"
    interval = "" if one["low"] is None else f" ({one['low']:+.3f} to {one['high']:+.3f})"
    return f"{one['estimate'] + 0.0:+.3f}{interval}"


def _charts(found: Fingerprint) -> Iterator[Chart]:
    lines = [line for line in found.lines if line.metric != "auroc"]
    last, reach = len(found.rounds) - 1, _reach(lines)
    note = (
        "Lines show 95 % intervals: green is a significant gain, red a significant loss. All rounds use the same scale."
    )
    for number in range(1, last + 1):
        title = f"Change from round 0 to round {number}"
        yield Chart(title, _forest(lines, number, title, reach), note)
    if last > 1:
        means = {_NAMES[line.metric]: _points(line) for line in found.lines if line.data_set == MEAN}
        if means:
            yield Chart("Mean over sets, by round", _plot(means, last, "mean of sets", means), _typed_words(found))
    if found.types and last > 1:
        points = {
            kind.replace("_", " "): [(float(k), value) for k, value in enumerate(levels) if value is not None]
            for kind, levels in found.types.items()
        }
        for title, half in (("Errors found", [*points][:3]), ("Errors found (2)", [*points][3:])):
            if half:
                some = {kind: points[kind] for kind in half}
                yield Chart(title, _plot(some, last, "share of errors found", points))


def _typed_words(found: Fingerprint) -> str:
    """How to read the mean if perturbed rows are in it."""
    if not any(line.data_set == TYPED for line in found.lines):
        return "All sets have the same weight."
    return (
        f"All sets have the same weight. One of them, {TYPED}, contains only inserted errors, so its score rises when "
        "more claims are called Not Attributable; a table shows the mean without it."
    )


def _reach(lines: list[Line]) -> float:
    """The ends of all rounds' axes: one scale, so that rounds can be compared."""
    ends = (value for line in lines for one in line.changes for value in (one["estimate"], one["low"], one["high"]))
    return math.ceil(20 * max([0.05, *(abs(value) for value in ends if value is not None)]) - 1e-9) / 20


def _forest(lines: list[Line], number: int, title: str, reach: float) -> str:
    known = [(line, line.changes[number - 1]) for line in lines if line.changes[number - 1]["estimate"] is not None]
    rows = [
        ForestRow(_named(line), one["estimate"], one["low"], one["high"], whole=line.data_set == MEAN)
        for line, one in known
    ]
    return forest_plot(rows, title=title, name="change in macro F1", ends=(-reach, reach), reference=0.0)


def _named(line: Line) -> str:
    return f"{line.data_set}, accuracy" if line.metric == "accuracy" else line.data_set


def _plot(curves: Curves, last: int, name: str, scale: Curves) -> str:
    """Curves over rounds, on a scale that fits all of ``scale``."""
    values = [y for points in scale.values() for _, y in points]
    room = 0.05 * (max(values) - min(values)) or 0.05
    return line_plot(
        curves,
        title=", ".join(curves),
        names=("round", name),
        x_range=(0, last),
        y_top=max(values) + room,
        y_bottom=min(values) - room,
    )


def _points(line: Line) -> list[tuple[float, float]]:
    return [(float(k), value) for k, value in enumerate(line.levels) if value is not None]


def _saturation(found: Fingerprint) -> str:
    if found.saturated_after is None:
        return "unknown: the mean has no interval"
    return f"round {found.saturated_after}" if found.saturated_after else "none"
