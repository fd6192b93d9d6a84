"""Figures from scored rows, as JSON: of one set, of its parts, and of all sets together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from vouching import metrics
from vouching.bench.intervals import RESAMPLES, Figure, figure, intervals, plain, verdict_of
from vouching.bench.score import COSTS, MEASURES, NO_CLAIM, Labelled, Scored, group_numbers, labelled
from vouching.metrics import Interval
from vouching.metrics.intervals import Statistic

LABEL_METRICS: Mapping[str, Callable[..., Any]] = {
    "accuracy": metrics.accuracy,
    "macro_f1": metrics.macro_f1,
    "balanced_accuracy": metrics.balanced_accuracy,
    "na_precision": metrics.na_precision,
    "na_recall": metrics.na_recall,
    "na_f1": metrics.na_f1,
}
"""Metrics of gold and predicted labels."""
PROBABILITY_METRICS: Mapping[str, Callable[..., Any]] = {"brier": metrics.brier, "brier_skill": metrics.brier_skill}
"""Metrics of gold labels and probabilities; for claims only."""
COVERAGES = {"accuracy_at_50": 0.5, "accuracy_at_80": 0.8}
"""Accuracy on the most confident share of the rows; for claims only."""
SPAN_METRICS = {"precision": metrics.span_precision, "recall": metrics.span_recall, "f1": metrics.span_f1}
_CURVE_POINTS = 200


def set_figures(rows: Sequence[Scored], resamples: int = RESAMPLES) -> dict[str, Any]:
    """All figures of one set; None for what its rows do not define.

    ``mean_balanced_accuracy`` is the mean over parts with both classes; ``share_attributable`` is for sets without
    labels and pairs. Scores of responses are not probabilities, so calibration and coverage are for claims only.
    0 resamples give no intervals.
    """
    arrays = labelled(rows)
    return {
        **_counts(rows),
        "metrics": _metrics(arrays, resamples) if arrays else None,
        "undefined": _why_undefined(rows, arrays),
        "predicted_na_rate": plain(metrics.predicted_na_rate(_labels(rows))) if _labels(rows) else None,
        "share_attributable": _share_attributable(rows, resamples),
        **(_against_baselines(arrays, resamples) if arrays else {"baselines": None, "difference": None}),
        "as_authors": _as_authors(rows),
        "confusion_matrix": _confusion(arrays) if arrays else None,
        "error_types": _error_types(rows),
        "spans": _spans(rows, resamples),
        "pairs": _pairs(rows, resamples),
        "structure": _structure(rows),
        "parts": _parts(rows, resamples),
        "mean_balanced_accuracy": _mean_balanced_accuracy(rows, resamples),
        **_spent(rows),
    }


def _spent(rows: Sequence[Scored]) -> dict[str, Any]:
    """Time; with a model its calls, tokens, price, and the seconds of a row, as its rows are judged concurrently."""
    times = [row["seconds"] for row in rows]
    used = [row["usage"] for row in rows if row.get("usage")]
    if not used:
        seconds = None if None in times else sum(times)
        rate = round(len(rows) / seconds, 1) if seconds else None
        return {"seconds": None if seconds is None else round(seconds, 2), "rows_per_second": rate, "usage": None}
    half, most = np.percentile([time for time in times if time is not None], (50, 95))
    spent: dict[str, Any] = {name: sum(one[name] for one in used) for name in COSTS}
    latency = {"seconds_median": round(float(half), 3), "seconds_p95": round(float(most), 3)}
    return {"seconds": None, "rows_per_second": None, "usage": {**spent, **latency}}


def set_curves(rows: Sequence[Scored]) -> dict[str, list[list[float]]]:
    """The curves of one set, rounded and thinned: ROC of the verifier and of word overlap, coverage, reliability.

    Points of the reliability curve are mean score, share Attributable and number of rows of each bin.
    """
    arrays = labelled(rows)
    if arrays is None:
        return {}
    ranked = {
        "roc": _thinned(metrics.roc_points(arrays.gold, arrays.score)),
        "roc_overlap": _thinned(metrics.roc_points(arrays.gold, arrays.overlap)),
    }
    if not arrays.calibrated:
        return ranked
    return {
        **ranked,
        "coverage": _thinned(metrics.coverage_points(arrays.right, arrays.confidence)),
        "reliability": [
            [round(bin.mean_score, 4), round(bin.share_attributable, 4), bin.count]
            for bin in metrics.reliability_bins(arrays.gold, arrays.score)
            if bin.count
        ],
    }


def pooled_figures(sets: Mapping[str, Sequence[Scored]], resamples: int = RESAMPLES) -> dict[str, Any] | None:
    """Figures over several sets: of all rows together, and the mean over sets; None for fewer than two sets.

    Rows of different sets that share a source or a claim are resampled together. Sets with one class are excluded, as
    their AUROC is undefined. The AUROC of all rows together also compares claims of different sets with each other.
    """
    names, each, together = _both_classes(sets)
    if together is None:
        return None
    measures = main_statistics(together)
    sizes = [len(arrays.gold) for arrays in each]
    means = {name: mean_over([main_statistics(arrays)[name] for arrays in each], sizes) for name in measures}
    both = {**{f"all {k}": v for k, v in measures.items()}, **{f"mean {k}": v for k, v in means.items()}}
    found = intervals(both, together.group, resamples)
    return {
        "sets": names,
        "rows": len(together.gold),
        "all_rows": {name: found[f"all {name}"] for name in measures},
        "mean_of_sets": {name: found[f"mean {name}"] for name in measures},
    }


def _counts(rows: Sequence[Scored]) -> dict[str, Any]:
    gold = [row["attributable"] for row in rows if row["attributable"] is not None]
    return {
        "rows": len(rows),
        "groups": len(set(group_numbers(rows).tolist())),
        "attributable": round(sum(gold) / len(gold), 4) if gold else None,
        "unlabelled": len(rows) - len(gold),
        "unverified": sum(row["score"] is None and row["unverified"] != NO_CLAIM for row in rows),
        "no_claim": sum(row["unverified"] == NO_CLAIM for row in rows),
    }


def main_statistics(arrays: Labelled) -> dict[str, Statistic]:
    """The statistics of baselines, parts, pools and comparisons."""
    return {
        "auroc": partial(metrics.auroc, arrays.gold, arrays.score),
        "overlap_auroc": partial(metrics.auroc, arrays.gold, arrays.overlap),
        "length_auroc": partial(metrics.auroc, arrays.gold, arrays.brevity),
        "difference": _difference(arrays),
        "macro_f1": partial(metrics.macro_f1, arrays.gold, arrays.label),
        "balanced_accuracy": partial(metrics.balanced_accuracy, arrays.gold, arrays.label),
        "accuracy": partial(metrics.accuracy, arrays.gold, arrays.label),
    }


def _difference(arrays: Labelled) -> Statistic:
    """AUROC of the verifier minus that of word overlap, on the same resamples."""
    gold, ours, theirs = arrays.gold, arrays.score, arrays.overlap
    return lambda weights: metrics.auroc(gold, ours, weights) - metrics.auroc(gold, theirs, weights)


def _both_classes(members: Mapping[str, Sequence[Scored]]) -> tuple[list[str], list[Labelled], Labelled | None]:
    """Names and rows of the members with both classes, and all their rows together; None for fewer than two."""
    each = {name: arrays for name, rows in members.items() if (arrays := labelled(rows)) and arrays.both_classes}
    together = labelled([row for name in each for row in members[name]]) if len(each) > 1 else None
    return [*each], [*each.values()], together


def mean_over(statistics: Sequence[Statistic], sizes: Sequence[int]) -> Statistic:
    """The mean of one statistic over members, whose rows follow each other in the weights; ``sizes`` counts them.

    >>> first, second = partial(metrics.mean, [1, 0]), partial(metrics.mean, [1])
    >>> mean_over([first, second], [2, 1])(np.array([[1, 1, 1], [2, 0, 1]])).tolist()
    [0.75, 1.0]
    """
    ends = np.cumsum(sizes)[:-1]
    return lambda weights: np.mean(
        [statistic(part) for statistic, part in zip(statistics, np.split(weights, ends, axis=-1), strict=True)],
        axis=0,
    )


def _metrics(arrays: Labelled, resamples: int) -> dict[str, Figure]:
    statistics: dict[str, Statistic] = {
        "auroc": partial(metrics.auroc, arrays.gold, arrays.score),
        **{name: partial(metric, arrays.gold, arrays.label) for name, metric in LABEL_METRICS.items()},
    }
    if not arrays.calibrated:
        return intervals(statistics, arrays.group, resamples)
    statistics |= {name: partial(metric, arrays.gold, arrays.score) for name, metric in PROBABILITY_METRICS.items()}
    statistics |= {
        name: partial(metrics.accuracy_at_coverage, arrays.right, arrays.confidence, coverage=share)
        for name, share in COVERAGES.items()
    }
    # Resampling adds noise to noise, so the bootstrap of ECE is biased upwards.
    ece = Interval(float(metrics.ece(arrays.gold, arrays.score)), None, None, 0.95, "BCa", "resampling overstates it")
    return {**intervals(statistics, arrays.group, resamples), "ece": figure(ece)}


def _against_baselines(arrays: Labelled, resamples: int) -> dict[str, Any]:
    """Word overlap, claim length and both constant labels; the AUROC difference to the first and its verdict."""
    main = main_statistics(arrays)
    found = intervals(
        {name: main[name] for name in ("overlap_auroc", "length_auroc", "difference")}, arrays.group, resamples
    )
    trivial = {"overlap": {"auroc": found["overlap_auroc"]}, "claim_length": {"auroc": found["length_auroc"]}}
    verdict = verdict_of(found["difference"], equal=np.array_equal(arrays.score, arrays.overlap))
    return {
        "baselines": {**trivial, **_constants(arrays)},
        "difference": {**found["difference"], "verdict": verdict},
    }


def _why_undefined(rows: Sequence[Scored], arrays: Labelled | None) -> str | None:
    """Why there is no AUROC; None if there is."""
    if arrays:
        return metrics.why_undefined(arrays.gold, arrays.label)
    labelled_at_all = any(row["attributable"] is not None for row in rows)
    return "no row has a label and a verdict" if labelled_at_all else "no row has a label"


def _share_attributable(rows: Sequence[Scored], resamples: int) -> Figure | None:
    """Share of the rows judged Attributable, if no row has a label or a pair."""
    judged = [row for row in rows if row["label"] is not None]
    if not judged or any(row["attributable"] is not None or row["pair"] is not None for row in rows):
        return None
    share = partial(metrics.mean, [float(row["label"]) for row in judged])
    return intervals({"share": share}, group_numbers(judged), resamples)["share"]


def _constants(arrays: Labelled) -> dict[str, dict[str, float | None]]:
    """The metrics of constant labels; their AUROC is .5."""
    given = {"always_attributable": True, "always_not_attributable": False}
    return {
        name: {key: plain(metric(arrays.gold, [label] * len(arrays.gold))) for key, metric in LABEL_METRICS.items()}
        for name, label in given.items()
    }


def _as_authors(rows: Sequence[Scored]) -> dict[str, float | None] | None:
    """Metrics that count failures as Not Attributable (SEVA), responses without claims as Attributable (RAGTruth)."""
    kept = [row for row in rows if row["attributable"] is not None]
    if not kept:
        return None
    gold = [row["attributable"] for row in kept]
    label = [row["unverified"] == NO_CLAIM if row["label"] is None else row["label"] for row in kept]
    return {name: plain(metric(gold, label)) for name, metric in LABEL_METRICS.items()}


def _confusion(arrays: Labelled) -> list[list[int]]:
    return metrics.confusion_matrix(arrays.gold, arrays.label).astype(int).tolist()


def _error_types(rows: Sequence[Scored]) -> dict[str, int]:
    """How often each error type is named, most frequent first."""
    return dict(Counter(kind for row in rows for kind in row["error_types"]).most_common())


def _labels(rows: Sequence[Scored]) -> list[bool]:
    return [row["label"] for row in rows if row["label"] is not None]


def _spans(rows: Sequence[Scored], resamples: int) -> dict[str, Any] | None:
    """Agreement of unsupported and gold spans, next to marking everything."""
    kept = [row for row in rows if row["spans"]]
    if not kept:
        return None
    counts = np.array([row["spans"] for row in kept], dtype=np.float64)
    found = intervals(
        {name: partial(metric, counts[:, :3]) for name, metric in SPAN_METRICS.items()},
        group_numbers(kept),
        resamples,
    )
    everything = counts[:, [2, 3, 2]]
    return {"rows": len(kept), **found, "f1_of_marking_everything": plain(metrics.span_f1(everything))}


def _pairs(rows: Sequence[Scored], resamples: int) -> dict[str, Any] | None:
    """Share of the pairs whose preferred row scores higher; ties count half."""
    scores: dict[str, dict[bool, Scored]] = {}
    for row in rows:
        if row["pair"] is not None and row["score"] is not None:
            scores.setdefault(row["pair"], {})[row["preferred"]] = row
    whole = [pair for pair in scores.values() if len(pair) == 2]
    if not whole:
        return None
    won = [float(np.sign(pair[True]["score"] - pair[False]["score"]) + 1) / 2 for pair in whole]
    groups = metrics.document_numbers([*pair[True]["keys"], *pair[False]["keys"]] for pair in whole)
    found = intervals({"pair_accuracy": partial(metrics.mean, won)}, groups, resamples)
    return {"pairs": len(whole), **found}


def _structure(rows: Sequence[Scored]) -> dict[str, float] | None:
    kept = [row["structure"] for row in rows if row["structure"]]
    return {name: round(sum(one[name] for one in kept) / len(kept), 4) for name in MEASURES} if kept else None


def _parts(rows: Sequence[Scored], resamples: int) -> dict[str, Any]:
    """The main figures of each part of the set; empty if it has fewer than two."""
    members = _members(rows)
    return {name: _part(part, resamples) for name, part in members.items()} if len(members) > 1 else {}


def _members(rows: Sequence[Scored]) -> dict[str, list[Scored]]:
    """The rows of each part, by its name."""
    members: dict[str, list[Scored]] = {}
    for row in rows:
        if row["part"] is not None:
            members.setdefault(row["part"], []).append(row)
    return dict(sorted(members.items()))


def _mean_balanced_accuracy(rows: Sequence[Scored], resamples: int) -> Figure | None:
    """The mean over parts with both classes, as LLM-AggreFact's authors report it."""
    _, each, together = _both_classes(_members(rows))
    if together is None:
        return None
    statistics = [main_statistics(arrays)["balanced_accuracy"] for arrays in each]
    mean = mean_over(statistics, [len(arrays.gold) for arrays in each])
    return intervals({"mean": mean}, together.group, resamples)["mean"]


def _part(rows: Sequence[Scored], resamples: int) -> dict[str, Any]:
    arrays = labelled(rows)
    statistics = main_statistics(arrays) if arrays else {}
    # If no row is Not Attributable, its F1 is 0 as soon as one row is predicted so.
    if arrays and not arrays.gold.all():
        statistics["na_f1"] = partial(metrics.na_f1, arrays.gold, arrays.label)
    return {
        **_counts(rows),
        "metrics": intervals(statistics, arrays.group, resamples) if arrays else None,
        "baselines": _constants(arrays) if arrays else None,
        "error_types": _error_types(rows),
        "spans": _spans(rows, resamples),
        "pairs": _pairs(rows, resamples),
    }


def _thinned(points: Sequence[tuple[float, float]]) -> list[list[float]]:
    step = max(1, math.ceil(len(points) / _CURVE_POINTS))
    return [[round(x, 4), round(y, 4)] for x, y in [*points[:-1:step], *points[-1:]]]
