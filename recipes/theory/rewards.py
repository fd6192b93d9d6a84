"""Diagnose rewards: how much they differ within groups, which part makes them differ, which label they favour.

    python recipes/theory/rewards.py rewards.jsonl --report rewards.html

Reads what ``vouch reward`` writes, for any method except assurance; "-" is standard input. Rows have id, group, total
and parts, or the totals of a ranking, which is one group; gold and predicted labels are used if present. Not supported:
files that do not fit into memory.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast, get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.theory.reward_statistics import (
    BinaryCheck,
    Diagnosis,
    GroupSpread,
    LabelGap,
    PartVariance,
    ScoredReply,
    diagnose,
    group_standard_deviations,
)
from vouching.cli.streams import MAX_NAMED, Exit, draw_tables, write_error, write_json
from vouching.errors import InputError, VouchError
from vouching.methods.structured.reward_scale import Equal, equal_by_label
from vouching.models.json_fields import json_number
from vouching.report import charts
from vouching.report.figures import Chart, Table, figure
from vouching.report.skeleton import TEMPLATES, page_target, write_page
from vouching.rows import STDIN, Row, fields_of, read_rows
from vouching.types import Label, Reward
from vouching.types.visible import shown_json, shown_keys


def tables_of(diagnosis: Diagnosis) -> Iterator[Table]:
    """The tables that there are figures for."""
    yield Table("Within groups", ("", ""), [*_spread_rows(diagnosis.spread)])
    if diagnosis.variance is not None:
        yield _variance_table(diagnosis.variance)
        yield _correlation_table(diagnosis.variance)
    if diagnosis.binary is not None:
        yield _binary_table(diagnosis.binary)
    if diagnosis.gap is not None:
        yield _label_table(diagnosis.gap)
        yield Table("Wrong labels", ("", ""), [*_bias_rows(diagnosis.gap)])


def _spread_rows(spread: GroupSpread) -> Iterator[tuple[str, str]]:
    yield "groups of two or more replies", figure(spread.groups)
    yield "replies in these groups", figure(spread.replies)
    yield "replies alone in their group, excluded", figure(spread.alone)
    yield "mean standard deviation, unbiased", figure(spread.standard_deviation)
    yield "mean variance, unbiased", figure(spread.variance, 4)
    yield "mean variance, population", figure(spread.population_variance, 4)
    yield "share of groups with equal rewards", figure(spread.equal_groups)
    yield "share of replies with an advantage", figure(spread.effective)
    yield "mean of the largest advantages", figure(spread.greatest_advantage)


def _variance_table(found: PartVariance) -> Table:
    columns = zip(found.names, found.weights, found.shares, strict=True)
    rows = [(name, figure(weight), figure(share)) for name, weight, share in columns]
    rows.append(("sum of the variances of the parts", "", figure(found.own, 4)))
    rows.append(("twice their covariances", "", figure(found.crossed, 4)))
    rows.append(("variance of the total", "", figure(found.total, 4)))
    if found.residual > 1e-6:
        rows.append(("largest difference between the total and the weighted sum", "", figure(found.residual)))
    return Table("Proposition 2: variance within groups, by part", ("", "weight", "share"), rows)


def _correlation_table(found: PartVariance) -> Table:
    rows = [(name, *map(figure, line)) for name, line in zip(found.names, found.correlations, strict=True)]
    return Table("Correlations within groups", ("", *found.names), rows)


def _binary_table(found: BinaryCheck) -> Table:
    rows = [
        ("expected, unbiased: q (1 - q)", figure(found.unbiased, 4)),
        ("expected, population: (G - 1) / G q (1 - q)", figure(found.population, 4)),
        ("equation 3 of the paper: G / (G - 1) q (1 - q)", figure(found.paper, 4)),
        ("observed, unbiased", figure(found.observed, 4)),
    ]
    heading = f"Proposition 1: variance of correct labels, q = {figure(found.q)}, G = {found.group_size}"
    return Table(heading, ("", ""), rows)


def _label_table(gap: LabelGap) -> Table:
    columns = zip(gap.replies, gap.mean, gap.mean_right, gap.mean_wrong, strict=True)
    rows = [
        (f"gold {label}", *map(figure, column))
        for label, column in zip(("Attributable", "Not Attributable"), columns, strict=True)
    ]
    rows.append(("difference", "", figure(gap.gap), "", ""))
    return Table("Rewards by gold label", ("", "replies", "mean", "label correct", "label wrong"), rows)


def _bias_rows(gap: LabelGap) -> Iterator[tuple[str, str]]:
    yield "Attributable judged Not Attributable", figure(gap.false_positives)
    yield "Not Attributable judged Attributable", figure(gap.false_negatives)
    yield "difference (above 0: the policy favours Not Attributable)", figure(gap.bias)


def write_diagnosis(path: str | Path, title: str, diagnosis: Diagnosis, rows: Sequence[ScoredReply]) -> None:
    """Write the page, replacing the file. Raises InputError if it cannot be written."""
    spread = diagnosis.spread
    write_page(
        path,
        "rewards.html.jinja",
        TEMPLATES,
        title=title,
        lead=f"replies: {diagnosis.replies:,}; groups of two or more: {spread.groups:,}",
        tables=[*tables_of(diagnosis)],
        charts=[*_charts(diagnosis, rows)],
    )


def _charts(diagnosis: Diagnosis, rows: Sequence[ScoredReply]) -> Iterator[Chart]:
    """The charts that there are figures for."""
    # A standard deviation above 1 is larger than any of these rewards can give; it counts to the last bar.
    standard_deviations = [min(1.0, value) for value in group_standard_deviations(rows)]
    if standard_deviations:
        title = "Groups by the standard deviation of their rewards"
        yield Chart(title, charts.histogram(standard_deviations, title=title, name="standard deviation, unbiased"))
    if diagnosis.variance and not any(map(math.isnan, diagnosis.variance.shares)):
        title = "Sources of the variance within groups"
        yield Chart(title, _share_plot(diagnosis.variance, title))
    if any(row.gold and row.predicted for row in rows):
        labels = ("Attributable", "Not Attributable")
        counts = [[sum(row.gold == gold and row.predicted == one for row in rows) for one in labels] for gold in labels]
        yield Chart("Labels", charts.confusion_matrix(counts, labels, title="Labels"))


def _share_plot(variance: PartVariance, title: str) -> str:
    lines = [
        charts.ForestRow(name, share, None, None) for name, share in zip(variance.names, variance.shares, strict=True)
    ]
    ends = (min(0.0, math.floor(10 * min(variance.shares)) / 10), max(1.0, math.ceil(10 * max(variance.shares)) / 10))
    return charts.forest_plot(lines, title=title, name="share of the variance", ends=ends, reference=None)


def read_rewards(path: str) -> tuple[list[ScoredReply], list[str]]:
    """The rewarded replies of a file, as ``vouch reward`` writes them, and the problems of its other rows.

    Raises:
        InputError: the file cannot be read.
    """
    return read_rows(path, _replies, ("total", "totals"))


def equal_rewards(rows: Sequence[ScoredReply], by: Equal) -> list[ScoredReply]:
    """The rows with their diagnosis on one scale. Raises InputError for rows without a gold label or that part."""
    golds: list[Label] = [row.gold for row in rows if row.gold is not None]
    if len(golds) < len(rows):
        raise InputError(
            f"rows without a gold label: {len(rows) - len(golds):,}; equalizing the rewards requires one in every row"
        )
    made = equal_by_label([row.reward for row in rows], golds, by)
    return [replace(row, reward=reward) for row, reward in zip(rows, made, strict=True)]


def _replies(row: Row) -> list[ScoredReply]:
    """The rewarded replies of a row: one, or the answers of a ranking that have a score. Raises InputError for none."""
    fields = fields_of(row)
    if "totals" not in fields:
        return [_reply(row.name, fields)]
    given: tuple[object, object] = (fields["totals"], fields.get("parts"))
    totals, parts = (cast("list[Any]", one) if isinstance(one, list) else [] for one in given)
    if not totals or len(totals) != len(parts):
        raise InputError('"totals" and "parts" must be lists of equal length, as vouch reward writes them')
    return [
        _reply(f"{row.name}/{number}", {"total": total, "parts": own, "group": row.name})
        for number, (total, own) in enumerate(zip(totals, parts, strict=True), 1)
        if total is not None
    ]


def _reply(name: str, fields: Mapping[str, Any]) -> ScoredReply:
    """A rewarded reply. Raises InputError if it is none."""
    total, given = json_number(fields.get("total")), fields.get("parts")
    if "total" not in fields:
        raise InputError(
            f'the row has no "total" or "totals"; {shown_keys(fields)}; use the output of vouch reward '
            "with the method structured, checklist, blinded or discriminative"
        )
    if total is None:
        raise InputError(f'"total" must be a number, got {shown_json(fields.get("total"))}')
    if given is not None and not isinstance(given, dict):
        raise InputError(f'"parts" must be an object of numbers by name, got {shown_json(given)}')
    parts: dict[str, float] = {}
    for name, value in cast("dict[str, Any]", given or {}).items():
        if isinstance(value, list):
            continue  # a number for each item, such as the votes behind a checklist's reward, is no part of a sum
        part = json_number(value)
        if part is None:
            raise InputError(f'the part "{name}" must be a number, got {shown_json(value)}')
        parts[name] = part
    if fields.get("group") is None:
        raise InputError(
            f'the row has no "group"; {shown_keys(fields)}: add a "group" to every input row of vouch '
            "reward, with the same value for all replies to one prompt"
        )
    for key in ("gold", "predicted"):
        if fields.get(key) not in (None, "Attributable", "Not Attributable"):
            raise InputError(f'"{key}" must be Attributable or Not Attributable, got {shown_json(fields[key])}')
    reward = Reward(total, parts)
    return ScoredReply(name, str(fields["group"]), reward, fields.get("gold"), fields.get("predicted"))


def report_problems(problems: Sequence[str]) -> None:
    """Report the first rows that cannot be used."""
    for problem in problems[:MAX_NAMED]:
        write_error(problem)


def end_of(problems: Sequence[str]) -> Exit:
    """The exit status for rows that were excluded, after reporting how many."""
    if broken := len(problems):
        write_error(f"{broken:,} row{'s' * (broken != 1)} cannot be used and {'are' if broken != 1 else 'is'} excluded")
    return Exit.INCOMPLETE if problems else Exit.OK


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the diagnosis; 0, 2 for wrong options or files, or 3 if some rows could not be used."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", metavar="REWARDS", help="rewards from vouch reward; - is standard input")
    parser.add_argument(
        "--equal",
        choices=get_args(Equal),
        help='first rescale the part "diagnosis" to the same range, or mean, for both gold labels',
    )
    parser.add_argument("--report", type=Path, help="also write a page with charts: .html")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    given = parser.parse_args(arguments)
    try:
        if given.report is not None:
            page_target(given.report)
        rows, problems = read_rewards(given.file)
        report_problems(problems)
        rows = equal_rewards(rows, given.equal) if given.equal else rows
        diagnosis = diagnose(rows)
        if given.report is not None:
            name = "standard input" if given.file == STDIN else Path(given.file).name
            write_diagnosis(given.report, name, diagnosis, rows)
    except VouchError as error:
        write_error(str(error))
        return Exit.USAGE
    if given.json:
        write_json(asdict(diagnosis))
    else:
        draw_tables(tables_of(diagnosis))
    return end_of(problems)


if __name__ == "__main__":
    sys.exit(main())
