"""Runs as tables and as a page with charts: a curve per number.

Curves are means over up to 100 windows, with alarms as lines; constant numbers get no chart, except rewards. Not
supported: single steps, which the log has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vouching.report.charts import Curves, line_plot
from vouching.report.figures import Chart, Table
from vouching.report.skeleton import TEMPLATES, write_page
from vouching.train.monitor import WINDOW
from vouching.train.runs import Run, differing, improvements

_POINTS = 100
"""Points of a curve, at most: more cannot be seen."""
_TOGETHER = 5
"""Curves in one chart, at most: there are as many line styles."""
_OWN_SCALE = ("/std", "/cut", "/flat", "/count")
"""Numbers with a chart of their own, by the end of their name."""
_MAIN = ("reward/generator/total", "reward/solver/total", "oracle/rules", "oracle/submitted")
"""The number that stands for a game of several roles where there is room for one."""
_LEADING = (
    "reward/",
    "oracle/",
    "dev/",
    "loss",
    "kl",
    "entropy",
    "advantage/",
    "groups/",
    "length/",
    "judge/",
    "readable",
    "not_attributable/",
    "case/",
    "said/",
    "gradient/",
)
"""What is shown, in this order, by the start of its name."""


def runs_table(runs: Sequence[Run]) -> Table:
    """One line per run."""
    head = ("run", "kind", "steps", "reward", "loss", "oracle", "kg CO2e", "alarms", "")
    return Table("Runs", head, [(run.name, str(run.note.get("kind", "")), *_figures(run)) for run in runs])


def run_tables(run: Run) -> Iterator[Table]:
    """The tables of one run."""
    about = [(name, str(run.note[name])) for name in ("kind", "revision", "machine") if name in run.note]
    about += [("steps", f"{run.steps:,}"), ("model", "saved" if run.finished else "not saved yet")]
    yield Table(run.name, ("", ""), about)
    yield alarm_table(run)
    ends = run.ends()
    rows = [(name, *map(_number, (*ends[name], ends[name][1] - ends[name][0]))) for name in _ordered(ends)]
    yield Table(f"Values (means over up to {WINDOW} steps)", ("", "first", "last", "change"), rows)
    found = [improvement for improvement in improvements(run) if improvement.half is not None]
    if found:
        rows = [
            (improvement.part, f"{improvement.half:,}", _number(improvement.first), _number(improvement.last))
            for improvement in found
        ]
        yield Table("Order in which parts improve", ("part", "half of the gain by step", "first", "last"), rows)
    yield Table("Settings", ("", ""), [(name, str(value)) for name, value in run.settings.items()])


def alarm_table(run: Run) -> Table:
    """The alarms of a run; one line that says so if there are none."""
    rows = [(f"step {alarm.step:,}", alarm.kind, alarm.about, alarm.message) for alarm in run.alarms()]
    if not rows:
        from_steps = run.watched_from()
        starts = ", ".join(f"{step} ({which})" for step, which in from_steps.items())
        early = f"; monitors start at step {starts}" if run.steps < max(from_steps) else ""
        return Table("Alarms", ("", ""), [("none", f"in {run.steps:,} steps{early}")])
    return Table("Alarms", ("since", "alarm", "about", "message"), rows)


def comparison(runs: Sequence[Run]) -> Iterator[Table]:
    """Runs side by side: settings that differ, and results."""
    names = tuple(run.name for run in runs)
    settings = [
        (name, *("–" if value is None else str(value) for value in values)) for name, values in differing(runs).items()
    ]
    yield Table("Settings that differ", ("", *names), settings or [("none", *("" for _ in runs))])
    ends = [run.ends() for run in runs]
    rows: list[tuple[str, ...]] = []
    for name in _ordered(dict.fromkeys(name for one in ends for name in one)):
        last = [one[name][1] if name in one else float("nan") for one in ends]
        change = (_number(last[1] - last[0]),) if len(runs) == 2 else ()
        rows.append((name, *map(_number, last), *change))
    head = ("", *names, *(("difference",) if len(runs) == 2 else ()))
    yield Table(f"Final values (means over up to {WINDOW} steps)", head, rows)


def write_runs(path: str | Path, runs: Sequence[Run]) -> None:
    """Write the page of one run, or of several in the same charts. Raises InputError if it cannot be written."""
    lead = ", ".join(f"{run.name}: {run.steps:,} steps" for run in runs)
    runs = _short(runs)
    tables = [*run_tables(runs[0])] if len(runs) == 1 else [runs_table(runs), *comparison(runs)]
    title = runs[0].name if len(runs) == 1 else f"{len(runs)} runs"
    for run in runs:
        lead += "".join(
            f"; {alarm.kind} ({alarm.about}) in step {alarm.step:,} of {run.name}" for alarm in run.alarms()
        )
    charts = [*_charts(runs)]
    write_page(path, "rewards.html.jinja", TEMPLATES, title=title, lead=lead, tables=tables, charts=charts)


def _short(runs: Sequence[Run]) -> list[Run]:
    """The runs named by the last part of their folders' paths, where these differ."""
    names = [Path(run.name).resolve().name for run in runs]
    return (
        [replace(run, name=name) for run, name in zip(runs, names, strict=True)]
        if len({*names}) == len(names)
        else [*runs]
    )


def _charts(runs: Sequence[Run]) -> Iterator[Chart]:
    """One chart per table of one run, or one per number of several."""
    marks = sorted({float(alarm.step) for run in runs for alarm in run.alarms()}) if len(runs) == 1 else []
    note = "Dashed lines mark alarms." if marks else ""
    names = _ordered(dict.fromkeys(name for run in runs for name in run.columns if name.startswith(_LEADING)))
    if len(runs) > 1:
        sets = {name: {run.name: run.columns[name] for run in runs if name in run.columns} for name in names}
    else:
        tables: dict[str, list[str]] = {}
        for name in names:
            tables.setdefault(_table_of(name), []).append(name)
        sets = {
            f"{table}{f' ({at // _TOGETHER + 1})' if at else ''}": {
                name.removeprefix(f"{table}/"): runs[0].columns[name] for name in members[at : at + _TOGETHER]
            }
            for table, members in tables.items()
            for at in range(0, len(members), _TOGETHER)
        }
    steps = max((run.steps for run in runs), default=0)
    stretch = max(1, -(-steps // _POINTS))
    drawn = {
        title: {name: points for name, one in series.items() if (points := _points(one, stretch))}
        for title, series in sets.items()
    }
    for title, curves in drawn.items():
        moves = len({y for points in curves.values() for _, y in points}) > 1
        if moves or (curves and title.startswith("reward/")):
            words = "value" if stretch == 1 else f"mean of {stretch} steps"
            alike = (
                [curves]
                if not title.startswith("reward/") or title.endswith(_OWN_SCALE)
                else [
                    others
                    for other, others in drawn.items()
                    if other.startswith("reward/") and not other.endswith(_OWN_SCALE)
                ]
            )
            yield Chart(title, _plot(curves, (title, words), steps, marks, _range(alike)), note)


def _range(alike: Iterable[Curves]) -> tuple[float, float]:
    """The common axis of these charts, so that parts of a reward can be compared."""
    values = [y for curves in alike for points in curves.values() for _, y in points]
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 0.5
    return 0.0 if low >= 0 and low < 0.5 * high else low - room, high + room


def _plot(curves: Curves, names: tuple[str, str], steps: int, marks: Sequence[float], ends: tuple[float, float]) -> str:
    return line_plot(
        curves,
        title=names[0],
        names=("step", names[1]),
        x_range=(1, max(2, steps)),
        y_top=ends[1],
        y_bottom=ends[0],
        marks=marks,
    )


def _points(series: NDArray[np.float64], stretch: int) -> list[tuple[float, float]]:
    """Means over windows of ``stretch`` steps, where there is a number."""
    points: list[tuple[float, float]] = []
    for start in range(0, len(series), stretch):
        piece = series[start : start + stretch]
        there = np.isfinite(piece)
        if there.any():
            points.append((start + float(np.flatnonzero(there).mean()) + 1, float(piece[there].mean())))
    return points


def _figures(run: Run) -> tuple[str, ...]:
    ends = {name: last for name, (_, last) in run.ends().items()}

    def first(start: str, end: str = "") -> str:
        found = [name for name in ends if name.startswith(start) and name.endswith(end)]
        chosen = next((name for name in (*_MAIN, *found) if name in found), None)
        return "–" if chosen is None else _number(ends[chosen])

    carbon = run.columns.get("energy/kg_co2e")
    spent = "–" if carbon is None or not len(carbon) else f"{float(carbon[-1]):.2g}"
    state = "" if run.finished else "no model yet"
    alarms = str(len(run.alarms())) if run.steps >= min(run.watched_from()) else "–"
    return (f"{run.steps:,}", first("reward/", "/total"), first("loss"), first("oracle/"), spent, alarms, state)


def _table_of(name: str) -> str:
    """The chart that a number belongs to: the name before the last slash, unless it has a scale of its own."""
    return name if name.endswith(_OWN_SCALE) else name.rpartition("/")[0] or name


def _ordered(names: Mapping[str, object]) -> list[str]:
    """In the order of ``_LEADING``; a whole before its parts."""
    place = {start: number for number, start in enumerate(_LEADING)}

    def key(name: str) -> tuple[int, bool]:
        return next((place[start] for start in _LEADING if name.startswith(start)), 99), not name.endswith("/total")

    return sorted(names, key=key)


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.4g}"
