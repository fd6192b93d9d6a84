"""The HTML page of a plan for verification: MSE over items and votes, bias condition, lengths, rates, and the tables.

Left out: single completions; the rows have them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from vouching.metrics.checklist_plan import VerificationPlan
from vouching.report import charts
from vouching.report.skeleton import write_page
from vouching.rewards.checklist_tables import NAMES, plan_tables
from vouching.rewards.page import TEMPLATES, Chart
from vouching.rewards.tables import figure


def write_plan(path: str | Path, title: str, plan: VerificationPlan) -> None:
    """Write the page.

    Args:
        path: the file; replaced as a whole.
        title: what was diagnosed, e.g. the name of the file.
        plan: the figures.

    Raises:
        InputError: the file cannot be written.
    """
    single, checklist = (plan.measured[name].estimate for name in ("single", "checklist"))
    errors = f"MSE {figure(checklist)} by checklist, {figure(single)} of the whole"
    write_page(
        path,
        "rewards.html.jinja",
        TEMPLATES,
        title=title,
        lead=f"{plan.completions:,} completions to {plan.groups:,} prompts: {errors}",
        tables=[*plan_tables(plan)],
        charts=[*_charts(plan)],
    )


def _charts(plan: VerificationPlan) -> Iterator[Chart]:
    title = "MSE by number of items"
    note = (
        "By the theory, with the rates and relaxation gaps of these completions held as they are; a finer checklist "
        f"changes both. These have {plan.items:.1f} items in the mean."
    )
    yield Chart(title, _size_plot(plan, title), note)
    if len(plan.by_votes) > 1:
        title = "Measured MSE by votes"
        yield Chart(title, _votes_plot(plan, title))
    title = "Bias condition"
    counts = {f"{kind}, {words}": plan.condition[f"{kind}, {words}"] for words in ("met", "not met")
              for kind in ("success", "failure")}  # fmt: skip
    tones: dict[str, charts.Tone] = {"success, met": "match", "failure, met": "accent",
                                     "success, not met": "not-found", "failure, not met": "mismatch"}  # fmt: skip
    note = "Met: the checklist's reward is no further off in the mean than one judgment (Proposition 4)."
    yield Chart(title, charts.share_bar(counts, title=title, tones=tones), note)
    title = "Lengths of the checklists"
    lengths = {f"{items} item{'s' * (items != 1)}": prompts for items, prompts in plan.lengths.items()}
    yield Chart(title, charts.bar_chart(lengths, title=title), "How many prompts have a checklist of so many items.")
    title = "How often the verifier is right"
    rows = [
        charts.ForestRow(NAMES[name], rate.share.estimate, rate.share.low, rate.share.high)
        for name, rate in plan.rates.items()
    ]
    drawn = charts.forest_plot(rows, title=title, name="share, with its 95 % interval (Wilson)", reference=None)
    yield Chart(title, drawn)


def _size_plot(plan: VerificationPlan, title: str) -> str:
    curves = {
        "one judgment of the whole": [(float(point.items), point.single) for point in plan.curve],
        "checklist, errors independent": [(float(point.items), point.independent) for point in plan.curve],
    }
    if math.isfinite(plan.correlation.estimate):
        words = f"checklist, errors correlated by {max(0.0, plan.correlation.estimate):.2f}"
        curves[words] = [(float(point.items), point.checklist) for point in plan.curve]
    ends = (1.0, float(plan.curve[-1].items))
    return charts.line_plot(curves, title=title, names=("items", "MSE"), x_range=ends, y_top=_top(curves))


def _votes_plot(plan: VerificationPlan, title: str) -> str:
    curves = {
        "whole": [(float(line.votes), line.single) for line in plan.by_votes if line.single is not None],
        "items": [(float(line.votes), line.checklist) for line in plan.by_votes if line.checklist is not None],
    }
    ends, names = (1.0, float(plan.by_votes[-1].votes)), ("votes on each question", "MSE")
    return charts.line_plot(curves, title=title, names=names, x_range=ends, y_top=_top(curves))


def _top(curves: charts.Curves) -> float:
    """The tenth above the highest point."""
    highest = max(y for points in curves.values() for _, y in points)
    return max(0.1, math.ceil(10 * highest) / 10)
