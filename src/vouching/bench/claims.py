"""The task of most sets: claims and responses judged by a verifier; tables, charts and report."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from vouching.bench.evaluate import main_statistics, pooled_figures, set_curves, set_figures
from vouching.bench.own import tuned
from vouching.bench.raw import Asking, RawJudge, raw_figures, refuse_raw
from vouching.bench.report import TEMPLATES, WIDE, interval_words, number_words, plain_table
from vouching.bench.rows import BenchRow, Fault, group_keys
from vouching.bench.score import NO_CLAIM, Scored, ScoreRows, labelled, span_counts_of
from vouching.bench.task import SPOILED, DataSet, Line, Listener, Task
from vouching.embedded.verify import is_embedded
from vouching.errors import ConfigError
from vouching.metrics import document_numbers
from vouching.models.open import open_model
from vouching.report import charts
from vouching.report.skeleton import write_page
from vouching.rows.pool import ROWS_AT_ONCE, AsyncWorkFactory
from vouching.rows.worker import WorkFactory

if TYPE_CHECKING:
    from rich.console import RenderableType

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
    "accuracy_at_50": "accuracy on the most confident 50 %",
    "accuracy_at_80": "accuracy on the most confident 80 %",
    "pair_accuracy": "pair accuracy",
}
"""Names of the metrics, in display order."""
Curves = Mapping[str, Sequence[Sequence[float]]]
_STYLES = {"better": "green", "worse": "red"}


class ClaimsTask(Task[BenchRow]):
    """The task of sets of claims and responses. Raises ConfigError if the model cannot be used with so many processes.

    >>> ClaimsTask("embedded:rules").arguments
    '--model embedded:rules'
    """

    failed_words = "rows without a verdict: {}; excluded from the figures"

    def __init__(self, model: str, jobs: int = 1, asking: Asking | None = None) -> None:
        asking = asking or Asking()
        self._asking = asking
        if is_embedded(model) and asking.settings:
            raise ConfigError(f"the prompt and the length of replies are for language models, got --model {model}")
        scoring = ScoreRows(model, asking.method, asking.settings)
        checker = scoring.checker()  # an invalid setting shows before any file is created
        if not checker.embedded and jobs != 1:
            raise ConfigError(
                f"--jobs must be 1 with a language model, got {jobs}: omit it; one process handles {ROWS_AT_ONCE} rows "
                "concurrently"
            )
        self.arguments = f"--model {model}{asking.arguments}"
        self.settings = checker.decoding or {}
        self._work: WorkFactory | AsyncWorkFactory = scoring if checker.embedded else scoring.waiting(checker)
        if asking.raw:
            refuse_raw(asking.method, checker.embedded)
            judge = RawJudge(
                open_model(model),
                "label" if asking.method == "label" else "structured",
                asking.wording or "ours",
                asking.max_tokens or 1024,
            )
            self.settings = judge.settings
            self._work = AsyncWorkFactory(judge.work, judge.model.aclose)

    def work(self) -> WorkFactory | AsyncWorkFactory:
        """The work that scores rows."""
        return self._work

    def fields(self, name: str, row: BenchRow) -> dict[str, Any]:
        """The fields of a row; documents of different sets are different even if their names are the same."""
        document = None if row.document is None else f"{name} {row.document}"
        return dataclasses.asdict(dataclasses.replace(row, document=document))

    def share_of(self, fields: Mapping[str, Any]) -> str:
        """The label."""
        return str(fields["attributable"])

    def problem(self, line: Line) -> str | None:
        """Why a row has no verdict."""
        return None if line["unverified"] in (None, NO_CLAIM) else line["unverified"]

    def set_figures(self, lines: Sequence[Line], resamples: int) -> Mapping[str, Any]:
        """The figures of one set, with a tuned threshold over the rows that it was not tuned on."""
        kept, how = tuned(lines, self._asking.tune) if self._asking.tune else (lines, None)
        raw = {"raw": raw_figures(lines, resamples)} if self._asking.raw else {}
        return {**set_figures(kept, resamples), **raw, **({"tuned": how} if self._asking.tune else {})}

    def slice_figures(self, lines: Sequence[Line]) -> Mapping[str, float]:
        """The figures of a slice whose spread over seeds is reported."""
        arrays = labelled(lines)
        if arrays is None or not arrays.both_classes:
            return {}
        ones = np.ones((1, len(arrays.gold)))
        statistics = main_statistics(arrays)
        return {name: float(statistics[name](ones)[0]) for name in ("accuracy", "macro_f1", "auroc")}

    def figures(
        self,
        scored: Mapping[str, Sequence[Line]],
        sets: Sequence[DataSet[BenchRow]],
        resamples: int,
        listener: Listener,
    ) -> dict[str, Any]:
        """The figures of each set, and of all sets without a remark together."""
        figures = super().figures(scored, sets, resamples, listener)
        if self._asking.tune:
            scored = {name: tuned(lines, self._asking.tune)[0] for name, lines in scored.items()}
        regular = {data_set.name: scored[data_set.name] for data_set in sets if not data_set.remark}
        listener.phase("computing the figures over all sets")
        return {**figures, "pooled": pooled_figures(regular, resamples)}

    def report(self, path: Path, results: Mapping[str, Any], scored: Mapping[str, Sequence[Line]]) -> None:
        """Write the HTML report with its charts."""
        sets: Mapping[str, Mapping[str, Any]] = results["sets"]
        rows = sum(found["rows"] for found in sets.values())
        write_page(
            path,
            "bench.html.jinja",
            TEMPLATES,
            title=f"{results['settings']['model']} on {len(sets)} benchmark set{'s' * (len(sets) != 1)}",
            lead=f"{rows:,} rows, {results['settings']['split']} split; {results['date']}, {results['machine']}",
            results=results,
            summary=comparison_words(sets.values()),
            unverified=sum(found["unverified"] for found in sets.values()),
            forest=_forest(sets),
            charts={name: _charts(name, found, set_curves(scored[name])) for name, found in sets.items()},
            metric_names=METRIC_NAMES,
            number=number_words,
            interval=interval_words,
        )

    def show(self, results: Mapping[str, Any], width: int) -> Iterator[RenderableType]:
        """The table of all sets, and the notes below it."""
        yield run_table(results, width)
        yield from run_notes(results)
        yield "Difference: AUROC minus that of word overlap, with a 95 % interval by paired bootstrap over groups.\n"

    @staticmethod
    def counted(rows: Sequence[BenchRow]) -> Sequence[str]:
        """Rows, groups of rows, and the share that is Attributable."""
        gold = [row.attributable for row in rows if row.attributable is not None]
        groups = len(set(document_numbers(map(group_keys, rows)).tolist()))
        share = f"{sum(gold) / len(gold):.0%} attributable" if gold else "no labels"
        return (f"{len(rows):,} rows", f"{groups:,} groups", share)

    @staticmethod
    def validate(data_set: DataSet[BenchRow], rows: Sequence[BenchRow]) -> Iterator[Fault]:
        """Figures that are not 1 for perfect answers, or still 1 if a tenth of the answers is wrong."""
        if not rows:
            yield Fault("the whole set", "no row is usable")
            return
        perfect = _values([_answer(row, right=True) for row in rows])
        spoiled = _values([_answer(row, right=number % SPOILED != 0) for number, row in enumerate(rows)])
        for name, value in perfect.items():
            if value != 1.0:
                yield Fault("the whole set", f"{name} of perfect answers is {value}, expected 1")
            elif spoiled[name] == 1.0:
                yield Fault("the whole set", f"{name} is 1 with a tenth of the answers wrong, expected less than 1")
        if not perfect:
            yield Fault("the whole set", "no metric is defined, because there are neither labels nor complete pairs")


def comparison_words(sets: Iterable[Mapping[str, Any]]) -> str:
    """On how many sets without a remark the verifier is better than word overlap.

    >>> comparison_words([{"remark": "", "difference": {"verdict": "better"}}, {"remark": "", "difference": None}])
    'On 1 set: better than word overlap on 1, worse on 0, no significant difference on 0.'
    """
    verdicts = Counter(
        found["difference"]["verdict"] for found in sets if not found["remark"] and found["difference"] is not None
    )
    shown = [verdicts[verdict] for verdict in ("better", "worse", "no significant difference")]
    number = sum(shown)
    if not number:
        return ""
    return (
        f"On {number} set{'s' * (number != 1)}: better than word overlap on {shown[0]}, worse on {shown[1]}, "
        f"no significant difference on {shown[2]}."
    )


def _forest(sets: Mapping[str, Mapping[str, Any]]) -> str:
    """AUROC of every set with its interval, next to that of word overlap."""
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
    """The charts of one set by title."""
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
        drawn["Error types"] = charts.bar_chart(counts, title=f"Error types, {name}")
    return drawn


def _pairs(points: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in points]


def run_table(results: Mapping[str, Any], width: int) -> Table:
    """AUROC of each set next to that of word overlap, then pooled; more columns on a terminal of ``WIDE`` columns."""
    wide = ("length >", "bal. acc. >", "macro-F1 >") if width >= WIDE else ()
    table = plain_table("set", "rows >", "AUROC >", "overlap >", "difference [95 %]", *wide)
    rows = [(f"{name} *" if found["remark"] else name, *_run(found)) for name, found in results["sets"].items()]
    pooled = results["pooled"]
    for way, name in (("mean_of_sets", "mean of the sets"), ("all_rows", "all rows pooled")) if pooled else ():
        rows.append((name, *_pooled(pooled["rows"], pooled[way])))
    for row in rows:
        table.add_row(*row[: len(table.columns)])
    return table


def run_notes(results: Mapping[str, Any]) -> Iterator[str]:
    """Remarks, sets without AUROC and why, and the figures they have instead."""
    for name, found in results["sets"].items():
        if found["remark"]:
            yield f"* {name}: {found['remark']}."
        if found["undefined"]:
            yield f"{name}: {found['undefined']}."
        if found["share_attributable"]:
            yield f"{name}: share judged Attributable {interval_words(found['share_attributable'])}."
        for line in _measured_words(found):
            yield f"{name}: {line}."
        if found["pairs"]:
            yield f"{name}: pair accuracy {interval_words(found['pairs']['pair_accuracy'])}."
        if spent := found.get("usage"):
            cost = f", cost {spent['cost']:.4g}" if spent["cost"] else ""
            yield (
                f"{name}: {spent['calls']:,} calls, {spent['prompt_tokens']:,} tokens sent, "
                f"{spent['completion_tokens']:,} received{cost}; seconds of a row: median "
                f"{spent['seconds_median']:.3g}, p95 {spent['seconds_p95']:.3g}."
            )


def _measured_words(found: Mapping[str, Any]) -> Iterator[str]:
    """What raw replies, a tuned threshold and several seeds add to the figures of a set."""
    raw: Mapping[str, Any] = found.get("raw", {})
    spreads: Mapping[str, Any] = found.get("seeds", {})
    if raw.get("replies"):
        names = {"parse_rate": "parse rate", "alignment": "R_a", "chain": "R_c", "strict_accuracy": "strict accuracy"}
        names |= {"alignment_parsed": "of parsed replies R_a", "chain_parsed": "R_c"}
        shown = [f"{words} {interval_words(raw[key])}" for key, words in names.items() if key in raw]
        yield f"{raw['replies']:,} raw replies: {', '.join(shown)}"
    if "tuned" in found:
        how = found["tuned"]
        tuned_on = how and f"threshold {how['threshold']:.3f}, tuned on {how['rows']:,} rows that no figure includes"
        yield tuned_on or "threshold not tuned: the part for tuning has rows of one label only"
    for metric, spread in spreads.items():
        number, deviation = len(spread["values"]), spread["standard_deviation"]
        yield f"{metric} over {number} samples: {spread['mean']:.3f}, standard deviation {deviation:.3f}"


def comparison_table(comparison: Mapping[str, Any], width: int) -> Table:
    """Differences of the second run to the first, from :func:`~vouching.bench.compare.compare_runs`."""
    wide = ("macro-F1", "balanced accuracy") if width >= WIDE else ()
    table = plain_table("set", "rows >", "1st only >", "2nd only >", "p >", "AUROC", *wide)
    named = [*comparison["sets"].items()]
    if comparison["pooled"]:
        named += [("mean of the sets", comparison["mean_of_sets"]), ("all rows pooled", comparison["pooled"])]
    for name, found in named:
        table.add_row(name, *_compared(found)[: len(table.columns) - 1])
    return table


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
    """A difference with its interval and verdict."""
    if difference is None or difference["estimate"] is None:
        return Text("–")
    verdict: str = difference["verdict"]
    words = {"no significant difference": "not significant"}.get(verdict, verdict)
    return Text.assemble(interval_words(difference, sign=True), " ", (words, _STYLES.get(verdict, "")))


def _answer(row: BenchRow, *, right: bool) -> Scored:
    """The row as scored by an oracle, or by one that is always wrong."""
    # With neither a label nor a pair, the figure is the share judged Attributable.
    gold = next((known for known in (row.attributable, row.preferred) if known is not None), True)
    label = gold is right
    predicted = row.spans or () if right else tuple((end, end + 1) for _, end in row.spans or ())
    return {
        "id": row.id,
        "is_response": row.is_response,
        "attributable": row.attributable,
        "score": float(label),
        "label": label,
        "unverified": None,
        "error_types": [],
        "overlap": 0.0,
        "length": 0,
        "spans": None if row.spans is None else span_counts_of(row, predicted),
        "structure": None,
        "seconds": 0.0,
        "part": None,
        "keys": [],
        "pair": row.pair,
        "preferred": row.preferred,
    }


def _values(rows: Sequence[Scored]) -> dict[str, float]:
    """The figures that depend on the answers, by name, where they are defined."""
    figures = set_figures(rows, resamples=0)
    places = {
        "accuracy": ("metrics", "accuracy"),
        "auroc": ("metrics", "auroc"),
        "span F1": ("spans", "f1"),
        "pair accuracy": ("pairs", "pair_accuracy"),
    }
    found = {name: figures[group][key]["estimate"] for name, (group, key) in places.items() if figures[group]}
    if figures["share_attributable"]:
        found["share Attributable"] = figures["share_attributable"]["estimate"]
    return {name: value for name, value in found.items() if value is not None}
