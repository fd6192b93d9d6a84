"""The HTML report of a run: every set beside its baselines, with its charts and what its publishers report.

Left out: single rows; ``vouch check --input ... --report`` shows verdicts.

What the commands show on a terminal: the sets there are, the figures of a run, a comparison.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from vouching.bench.catalog import DataSet
from vouching.bench.intervals import Figure
from vouching.bench.rankings import RankingRow
from vouching.bench.rows import BenchRow, Split, group_keys
from vouching.metrics import document_numbers
from vouching.report import charts
from vouching.report.skeleton import write_page

METRIC_NAMES = {
    "auroc": "AUROC",
    "accuracy": "accuracy",
    "macro_f1": "macro-F1",
    "balanced_accuracy": "balanced accuracy",
    "mean_balanced_accuracy": "balanced accuracy, mean of the parts",
    "na_precision": "precision of Not Attributable",
    "na_recall": "recall of Not Attributable",
    "na_f1": "F1 of Not Attributable",
    "ece": "ECE, 10 bins",
    "brier": "Brier score",
    "brier_skill": "Brier skill",
    "accuracy_at_50": "accuracy on the surest 50 %",
    "accuracy_at_80": "accuracy on the surest 80 %",
    "pair_accuracy": "right pairs",
}
"""What the metrics of the results are called, in the order they are shown in."""
TEMPLATES = Path(__file__).with_name("templates")
Curves = Mapping[str, Sequence[Sequence[float]]]
"""Points by the name of the curve, from :func:`~vouching.bench.evaluate.set_curves`."""


def write_report(path: Path, results: Mapping[str, Any], curves: Mapping[str, Curves]) -> None:
    """Write the report of a run.

    Args:
        path: the file; replaced as a whole.
        results: what results.json holds.
        curves: what to draw of each set, by its name.

    Raises:
        InputError: the file cannot be written.
    """
    sets: Mapping[str, Mapping[str, Any]] = results["sets"]
    rows = sum(found["rows"] for found in sets.values())
    unverified = sum(found["unverified"] for found in sets.values())
    write_page(
        path,
        "bench.html.jinja",
        TEMPLATES,
        title=f"{results['settings']['model']} on {len(sets)} benchmark set{'s' * (len(sets) != 1)}",
        lead=f"{rows:,} rows, {results['settings']['split']} split; {results['date']}, {results['machine']}",
        results=results,
        summary=comparison_words(sets.values()),
        unverified=unverified,
        forest=_forest(sets),
        charts={name: _charts(name, found, curves.get(name, {})) for name, found in sets.items()},
        metric_names=METRIC_NAMES,
        number=number_words,
        interval=interval_words,
    )


def write_tables(
    path: Path, results: Mapping[str, Any], title: str, lead: str, headings: Sequence[str],
    tables: Mapping[str, Sequence[Sequence[str]]], notes: Mapping[str, Sequence[str]],
) -> None:  # fmt: skip
    """Write the report of a run that is tables alone.

    Args:
        path: the file; replaced as a whole.
        results: what results.json holds.
        title: of the page.
        lead: below the title.
        headings: of every table; one that ends in > is that of a column of numbers.
        tables: rows by the name of the set.
        notes: sentences below the table of a set.

    Raises:
        InputError: the file cannot be written.
    """
    columns = [(name.rstrip(" >"), name.endswith(">")) for name in headings]
    write_page(
        path, "bench_rankings.html.jinja", TEMPLATES, title=title, lead=lead, results=results, headings=columns,
        tables=tables, notes=notes,
    )  # fmt: skip


def number_words(value: float | None, sign: bool = False) -> str:
    """A number of a table: three decimals, a dash for none.

    >>> number_words(0.6667), number_words(-0.02, sign=True), number_words(None)
    ('0.667', '-0.020', '–')
    """
    return "–" if value is None else f"{value:{'+' if sign else ''}.3f}"


def interval_words(figure: Figure | None, sign: bool = False) -> str:
    """A figure with its interval, if it has one.

    >>> interval_words({"estimate": 0.7, "low": 0.651, "high": 0.744, "why_not": None})
    '0.700 [0.651, 0.744]'
    """
    if figure is None or figure["estimate"] is None:
        return "–"
    value = number_words(figure["estimate"], sign)
    if figure["low"] is None:
        return value
    return f"{value} [{number_words(figure['low'], sign)}, {number_words(figure['high'], sign)}]"


def comparison_words(sets: Iterable[Mapping[str, Any]]) -> str:
    """On how many sets the verifier is better than the overlap of words; empty without any.

    Sets with a remark are not counted.

    >>> comparison_words([{"remark": "", "difference": {"verdict": "better"}}, {"remark": "", "difference": None}])
    'On 1 set: better than word overlap on 1, worse on 0, no difference shown on 0.'
    """
    verdicts = Counter(
        found["difference"]["verdict"] for found in sets if not found["remark"] and found["difference"] is not None
    )
    shown = [verdicts[verdict] for verdict in ("better", "worse", "no difference shown")]
    number = sum(shown)
    if not number:
        return ""
    return (
        f"On {number} set{'s' * (number != 1)}: better than word overlap on {shown[0]}, worse on {shown[1]}, "
        f"no difference shown on {shown[2]}."
    )


def _forest(sets: Mapping[str, Mapping[str, Any]]) -> str:
    """AUROC of every set with its interval, beside that of the overlap of words."""
    rows = [
        charts.ForestRow(
            f"{name} *" if found["remark"] else name,
            found["metrics"]["auroc"]["estimate"],
            found["metrics"]["auroc"]["low"],
            found["metrics"]["auroc"]["high"],
            found["baselines"]["overlap"]["auroc"]["estimate"],
        )
        for name, found in sets.items()
        if found["metrics"] and found["metrics"]["auroc"]["estimate"] is not None
    ]
    if not rows:
        return ""
    lowest = min(value for row in rows for value in (row.estimate, row.low, row.baseline) if value is not None)
    floor = min(0.4, math.floor(lowest * 10) / 10)
    keys = "line: 95 % interval; ring: word overlap"
    return charts.forest_plot(rows, title="AUROC by set", ends=(floor, 1.0), keys=keys)


def _charts(name: str, found: Mapping[str, Any], curves: Curves) -> dict[str, str]:
    """The drawings of one set, by what they show; only those there is something for."""
    drawn: dict[str, str] = {}
    if curves.get("roc"):
        both = {"verifier": _pairs(curves["roc"]), "word overlap": _pairs(curves["roc_overlap"])}
        drawn["ROC"] = charts.roc_curve(both, title=f"ROC, {name}")
    if curves.get("reliability"):
        bins = [(score, share, int(count)) for score, share, count in curves["reliability"]]
        drawn["Reliability"] = charts.reliability_diagram(bins, title=f"Reliability, {name}")
    if curves.get("coverage"):
        drawn["Coverage"] = charts.coverage_curve({"verifier": _pairs(curves["coverage"])}, title=f"Coverage, {name}")
    if found["confusion_matrix"]:
        labels = ("Attributable", "Not Attributable")
        drawn["Labels"] = charts.confusion_matrix(found["confusion_matrix"], labels, title=f"Labels, {name}")
    if found["error_types"]:
        counts = {kind.replace("_", " "): count for kind, count in found["error_types"].items()}
        drawn["Errors named"] = charts.bar_chart(counts, title=f"Errors named, {name}")
    return drawn


def _pairs(points: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in points]


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
