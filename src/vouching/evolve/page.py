"""The page of a fingerprint: what every round did to every set, as charts and as the tables behind them.

Left out: single claims; ``judged.jsonl`` of each round has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vouching.bench.intervals import Figure
from vouching.evolve.fingerprint import MEAN, Fingerprint, Line
from vouching.report.charts import ForestRow, forest_plot, line_plot
from vouching.report.skeleton import write_page
from vouching.rewards.page import TEMPLATES, WIDTH, Chart
from vouching.rewards.tables import Table, figure


def write_fingerprint_page(path: Path, found: Fingerprint, title: str) -> None:
    """Write the page.

    Args:
        path: the file; replaced as a whole.
        found: the figures.
        title: what evolved, on which rows.

    Raises:
        InputError: the file cannot be written.
    """
    sets = [line for line in found.lines if line.data_set != MEAN and line.metric != "auroc"]
    lead = f"{len(found.rounds) - 1} rounds, {len(sets)} sets, {sum(line.rows for line in sets):,} rows"
    if found.left_out:
        lead += f"; {found.left_out:,} rows that a round gave no answer to are left out"
    write_page(
        path, "rewards.html.jinja", TEMPLATES, title=title, lead=lead, tables=[*tables_of(found)],
        charts=[*_charts(found)],
    )  # fmt: skip


def tables_of(found: Fingerprint) -> Iterator[Table]:
    """The figures as tables of words."""
    rounds = [f"round {number}" for number in found.rounds]
    for metric, heading in (("label", "Macro F1 (accuracy where a set has one class)"), ("auroc", "AUROC")):
        lines = [line for line in found.lines if (line.metric == "auroc") == (metric == "auroc")]
        if lines:
            rows = [(line.data_set, f"{line.rows:,}", *map(figure, line.levels)) for line in lines]
            yield Table(heading, ("set", "rows", *rounds), rows)
            rows = [(line.data_set, *map(difference, line.changes)) for line in lines]
            yield Table(f"{heading}: less round 0, with 95 % interval", ("set", *rounds[1:]), rows)
    if found.types:
        rows = [(kind, f"{found.type_rows[kind]:,}", *map(figure, levels)) for kind, levels in found.types.items()]
        yield Table("Share of the errors of each type that is found", ("type", "rows", *rounds), rows)
    yield Table(
        "How differently a round changed the sets",
        ("round", "spread", "not chance", "gained", "lost", "started from", "stays"),
        [
            (
                str(number), figure(one.spread), figure(one.heterogeneity, 2), ", ".join(one.gained) or "none",
                ", ".join(one.lost) or "none", str(found.bases[number]), "yes" if found.stays[number] else "no",
            )
            for number, one in enumerate(found.spreads, 1)
        ],
    )  # fmt: skip
    yield Table("Saturation", ("", ""), [("last round with a gain in the mean that its interval shows", _last(found))])


def difference(one: Figure) -> str:
    """A difference in words, with its interval where it has one.

    >>> difference({"estimate": 0.0312, "low": 0.011, "high": 0.052}), difference({"estimate": 0.0, "low": None})
    ('+0.031 (+0.011 to +0.052)', '+0.000')
    """
    if one["estimate"] is None:
        return "–"
    interval = "" if one["low"] is None else f" ({one['low']:+.3f} to {one['high']:+.3f})"
    return f"{one['estimate'] + 0.0:+.3f}{interval}"


def _charts(found: Fingerprint) -> Iterator[Chart]:
    lines = [line for line in found.lines if line.metric != "auroc"]
    last = len(found.rounds) - 1
    for number in range(1, last + 1):
        title = f"Round {number} less round 0"
        yield Chart(
            title,
            _forest(lines, number, title),
            "Line: 95 % interval; dashed: no change. Of a set with one class it is accuracy.",
        )
    if last > 1:
        means = {line.metric: _points(line) for line in found.lines if line.data_set == MEAN}
        if means:
            yield Chart("Mean of sets by round", _plot(means, last))
    if found.types and last > 1:
        for half in (list(found.types)[:3], list(found.types)[3:]):
            points = {
                kind: [(float(k), value) for k, value in enumerate(found.types[kind]) if value is not None]
                for kind in half
            }
            if points:
                yield Chart(f"Errors found: {', '.join(points)}", _plot(points, last))


def _forest(lines: list[Line], number: int, title: str) -> str:
    known = [(line, line.changes[number - 1]) for line in lines if line.changes[number - 1]["estimate"] is not None]
    reach = max([0.05, *(abs(value) for _, one in known for value in (one["low"], one["high"]) if value is not None)])
    rows = [ForestRow(line.data_set, one["estimate"], one["low"], one["high"]) for line, one in known]
    return forest_plot(rows, title=title, name="change of macro F1", ends=(-reach, reach), reference=0.0, width=WIDTH)


def _plot(curves: dict[str, list[tuple[float, float]]], last: int) -> str:
    values = [y for points in curves.values() for _, y in points]
    room = 0.05 * (max(values) - min(values)) or 0.05
    return line_plot(
        curves, title=", ".join(curves), names=("round", "value"), x_range=(0, last), y_top=max(values) + room,
        y_bottom=min(values) - room,
    )  # fmt: skip


def _points(line: Line) -> list[tuple[float, float]]:
    return [(float(k), value) for k, value in enumerate(line.levels) if value is not None]


def _last(found: Fingerprint) -> str:
    if found.saturated_after is None:
        return "not known: the mean has no interval"
    return f"round {found.saturated_after}" if found.saturated_after else "none"
