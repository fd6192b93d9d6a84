"""What the commands show on a terminal: the sets there are, the figures of a run, a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from vouching.bench.catalog import DataSet
from vouching.bench.rankings import RankingRow
from vouching.bench.report import interval_words, number_words
from vouching.bench.rows import BenchRow, Split, group_keys
from vouching.metrics import document_numbers

WIDE = 110
"""Columns of a terminal from which the tables have all their columns."""
_PLAIN: dict[str, Any] = {"box": None, "pad_edge": False, "padding": (0, 2, 0, 0)}
_STYLES = {"better": "green", "worse": "red"}


def here_words(data_set: DataSet[Any], parts: Mapping[Split, Sequence[BenchRow | RankingRow]]) -> Group:
    """What a set is whose files are there, and what was counted in each part of it."""
    columns = (Column(justify=side) for side in ("left", "right", "right", "right"))
    counts = Table(*columns, show_header=False, **_PLAIN)
    for split, rows in parts.items():
        counts.add_row(f"  {split}", *_counted(rows))
    about = f"{data_set.name}: {data_set.what}; {data_set.origin}; {data_set.licence}"
    return Group(about, counts, *([f"  note  {data_set.remark}"] if data_set.remark else []))


def missing_words(data_set: DataSet[Any]) -> str:
    """What a set is whose files are not there, how to get them and where to put them."""
    wanted = dict.fromkeys(pattern for patterns in data_set.files.values() for pattern in patterns)
    return (
        f"{data_set.name}: {data_set.what}; {data_set.origin}; {data_set.licence}\n"
        f"  get  {data_set.get}\n"
        f"  as   {', '.join(wanted)}"
    )


def run_table(results: Mapping[str, Any], width: int) -> Table:
    """AUROC of each set beside the overlap of words; then the sets together.

    Args:
        results: what results.json holds.
        width: columns of the terminal; the claim's length, balanced accuracy and macro-F1 are shown from ``WIDE`` on.
    """
    wide = ("length >", "bal. acc. >", "macro-F1 >") if width >= WIDE else ()
    table = plain_table("set", "rows >", "AUROC >", "overlap >", "difference [95 %]", *wide)
    rows = [(f"{name} *" if found["remark"] else name, *_run(found)) for name, found in results["sets"].items()]
    pooled = results["pooled"]
    for way, name in (("mean_of_sets", "mean of the sets"), ("all_rows", "all their rows")) if pooled else ():
        rows.append((name, *_pooled(pooled["rows"], pooled[way])))
    for row in rows:
        table.add_row(*row[: len(table.columns)])
    return table


def run_notes(results: Mapping[str, Any]) -> Iterator[str]:
    """What must be said below the table: remarks, why a set has no AUROC, and the figure it has instead."""
    for name, found in results["sets"].items():
        if found["remark"]:
            yield f"* {name}: {found['remark']}."
        if found["undefined"]:
            yield f"{name}: {found['undefined']}."
        if found["share_attributable"]:
            yield f"{name}: judged Attributable {interval_words(found['share_attributable'])}."
        if found["pairs"]:
            yield f"{name}: right pairs {interval_words(found['pairs']['pair_accuracy'])}."


def comparison_table(comparison: Mapping[str, Any], width: int) -> Table:
    """Differences of the second run against the first, and McNemar's test of the rows that only one gets right.

    Args:
        comparison: from :func:`~vouching.bench.compare.compare_runs`.
        width: columns of the terminal; macro-F1 and balanced accuracy are shown from ``WIDE`` on.
    """
    wide = ("macro-F1", "balanced accuracy") if width >= WIDE else ()
    table = plain_table("set", "rows >", "1st only >", "2nd only >", "p >", "AUROC", *wide)
    named = [*comparison["sets"].items()]
    if comparison["pooled"]:
        named += [("mean of the sets", comparison["mean_of_sets"]), ("all their rows", comparison["pooled"])]
    for name, found in named:
        table.add_row(name, *_compared(found)[: len(table.columns) - 1])
    return table


def plain_table(*columns: str) -> Table:
    """A plain table; a name that ends in > is that of a column of numbers."""
    return Table(
        *(Column(name.rstrip(" >"), justify="right" if name.endswith(">") else "left") for name in columns),
        header_style="dim", **_PLAIN,
    )  # fmt: skip


def _counted(found: Sequence[BenchRow | RankingRow]) -> Sequence[str]:
    rows = [row for row in found if isinstance(row, BenchRow)]
    if len(rows) < len(found):
        answers = sum(len(row.answers) for row in found if isinstance(row, RankingRow))
        return (f"{len(found):,} questions", f"{answers:,} answers", "")
    gold = [row.attributable for row in rows if row.attributable is not None]
    groups = len(set(document_numbers(map(group_keys, rows)).tolist()))
    share = f"{sum(gold) / len(gold):.0%} attributable" if gold else "no labels"
    return (f"{len(rows):,} rows", f"{groups:,} groups", share)


def _run(found: Mapping[str, Any]) -> Sequence[str | Text]:
    figures: Mapping[str, Any] = found["metrics"] or {}
    baselines: Mapping[str, Any] = found["baselines"] or {}
    auroc, balanced, macro = (
        number_words(figures[key]["estimate"] if figures else None)
        for key in ("auroc", "balanced_accuracy", "macro_f1")
    )
    overlap, length = (
        number_words(baselines[name]["auroc"]["estimate"] if baselines else None)
        for name in ("overlap", "claim_length")
    )
    return (f"{found['rows']:,}", auroc, overlap, _difference(found["difference"]), length, balanced, macro)


def _pooled(rows: int, found: Mapping[str, Any]) -> Sequence[str | Text]:
    difference, keys = found["difference"], ("auroc", "overlap_auroc", "length_auroc", "balanced_accuracy", "macro_f1")
    auroc, overlap, length, balanced, macro = (number_words(found[key]["estimate"]) for key in keys)
    return (f"{rows:,}", auroc, overlap, interval_words(difference, sign=True), length, balanced, macro)


def _compared(found: Mapping[str, Any]) -> Sequence[str | Text]:
    differences = [_difference(found[metric]["difference"]) for metric in ("auroc", "macro_f1", "balanced_accuracy")]
    if "mcnemar" not in found:
        return ("", "", "", "", *differences)
    test = found["mcnemar"]
    return (f"{found['rows']:,}", str(test["only_a"]), str(test["only_b"]), f"{test['p_value']:.3f}", *differences)


def _difference(difference: dict[str, Any] | None) -> Text:
    """A difference with its interval and what that shows."""
    if difference is None or difference["estimate"] is None:
        return Text("–")
    verdict: str = difference["verdict"]
    words = {"no difference shown": "none shown"}.get(verdict, verdict)
    return Text.assemble(interval_words(difference, sign=True), " ", (words, _STYLES.get(verdict, "")))
