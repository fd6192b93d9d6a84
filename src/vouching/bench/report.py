"""The HTML report of a run: every set beside its baselines, with its charts and what its publishers report.

Left out: single rows; ``vouch check --input ... --report`` shows verdicts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vouching.bench.intervals import Figure
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
