"""Figures from scored rankings, as JSON: of one set, its parts, and the paper's means over parts.

    p_at_1   the answer ranked first is the best one; tied answers share the hit
    tau      Kendall's tau-b with the gold ranking, in [-1, 1]; 0 if all answers are tied

A failed ranking (an invalid reply, an answer without a score) counts as wrong: P@1 0 and tau -1. ``dropped`` has the
same figures without failed rankings, as DiVA's authors count, which favors rankers that fail on hard rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vouching import metrics
from vouching.bench.evaluate import mean_over
from vouching.bench.intervals import RESAMPLES, Figure, intervals, verdict_of
from vouching.bench.rankings import GENERAL, LABELS, MULTI_HOP, PARTS, ScoredRanking
from vouching.metrics.intervals import Statistic

BASELINES = ("random", "first_given", "longest", "overlap")
"""Random scores (expected value), the given order, length, and share of the question's words in the answer."""
MEANS = {"general": GENERAL, "multi-hop": MULTI_HOP, "all parts": PARTS}
"""The parts of FGVeriBench over which the paper averages."""
WRONG = {"p_at_1": 0.0, "tau": -1.0}
"""The metrics of a failed ranking."""
METRICS = tuple(WRONG)


def ranking_figures(rows: Sequence[ScoredRanking], resamples: int = RESAMPLES) -> dict[str, Any]:
    """All figures of one set, from lines of :func:`~vouching.bench.rankings.score_ranking`; 0 resamples: no intervals.

    Figures that the set or the run does not define are None. ``level`` counts rankings with all answers tied;
    ``differences`` are to the baselines; ``by_relevance`` needs a judge.
    """
    gold = [row for row in rows if row["worth"] is not None]
    seconds = sum(row["seconds"] for row in rows)
    return {
        **_counts(rows),
        **(
            _against_gold(gold, resamples)
            if gold
            else dict.fromkeys(("metrics", "dropped", "baselines", "differences"))
        ),
        "parts": {name: {**_counts(part), **_both_ways(part, resamples)} for name, part in _parts(gold).items()},
        "means": _means(gold, resamples),
        "binary": _binary([row for row in rows if row["labels"] is not None], resamples),
        "token_f1": _token_f1([row for row in rows if row["token_f1"] is not None], resamples),
        "by_relevance": _by_relevance(gold, resamples),
        "found": _found(rows, resamples),
        "seconds": round(seconds, 2),
        "rows_per_second": round(len(rows) / seconds, 1) if seconds else None,
    }


@dataclass(frozen=True, slots=True)
class Ranked:
    """Rankings with a gold ranking, as arrays with one entry per row."""

    p_at_1: NDArray[np.float64]
    tau: NDArray[np.float64]
    group: NDArray[np.intp]
    """Number of the row's group: rows on the same question."""

    def statistics(self) -> dict[str, Statistic]:
        """The mean of each metric."""
        return {"p_at_1": partial(metrics.mean, self.p_at_1), "tau": partial(metrics.mean, self.tau)}


def ranked(rows: Sequence[ScoredRanking], by: str = "scores") -> Ranked:
    """The metrics of rows with a gold ranking, by their scores or by a baseline; a failed one counts as ``WRONG``.

    >>> row = {"worth": [1.0, 3.0, 2.0], "scores": [0.1, 0.9, 0.5], "longest": [9, 9, 4], "keys": ["a"]}
    >>> ranked([row, {**row, "scores": None}]).tau.tolist()
    [1.0, -1.0]
    >>> ranked([row], "longest").p_at_1.tolist()  # two are the longest, and one of them is the best
    [0.5]
    """
    hits, taus = (np.full(len(rows), WRONG[metric]) for metric in METRICS)
    gold, scores = [row["worth"] for row in rows], [_scores(row, by) for row in rows]
    for size in {len(one) for one in scores if one is not None}:  # all of one size at once
        places = [place for place, one in enumerate(scores) if one is not None and len(one) == size]
        worth, given = (np.array([one[place] for place in places], dtype=float) for one in (gold, scores))
        hits[places] = metrics.precision_at_1(worth, given)
        taus[places] = np.nan_to_num(metrics.kendall_tau_b(worth, given))
    return Ranked(hits, taus, metrics.document_numbers(row["keys"] for row in rows))


def _scores(row: ScoredRanking, by: str) -> Sequence[float] | None:
    if by == "random":
        return [0.0] * len(row["worth"])
    return [-float(place) for place in range(len(row["worth"]))] if by == "first_given" else row[by]


def _counts(rows: Sequence[ScoredRanking]) -> dict[str, Any]:
    why = Counter(row["failed"].partition(":")[0] for row in rows if row["failed"] is not None)
    return {
        "rows": len(rows),
        "failed": why.total(),
        "why_failed": dict(why.most_common()),
        "level": sum(row["scores"] is not None and len(set(row["scores"])) == 1 for row in rows),
    }


def _both_ways(rows: Sequence[ScoredRanking], resamples: int) -> dict[str, Any]:
    """The metrics with failed rankings counted as wrong, and without them."""
    every, kept = ranked(rows), [row for row in rows if row["scores"] is not None]
    sound = ranked(kept) if kept else None
    return {
        "metrics": intervals(every.statistics(), every.group, resamples),
        "dropped": {"rows": len(kept), **(intervals(sound.statistics(), sound.group, resamples) if sound else {})},
    }


def _against_gold(rows: Sequence[ScoredRanking], resamples: int) -> dict[str, Any]:
    ours = ranked(rows)
    trivial = {name: ranked(rows, name) for name in BASELINES}
    statistics = {f"{name} {key}": one for name, found in trivial.items() for key, one in found.statistics().items()}
    statistics |= {
        f"{name} {key} difference": partial(metrics.mean, getattr(ours, key) - getattr(found, key))
        for name, found in trivial.items()
        for key in METRICS
    }
    figures = intervals(statistics, ours.group, resamples)
    return {
        **_both_ways(rows, resamples),
        "baselines": {name: {key: figures[f"{name} {key}"] for key in METRICS} for name in BASELINES},
        "differences": {
            name: {
                key: _with_verdict(
                    figures[f"{name} {key} difference"], np.array_equal(getattr(ours, key), getattr(trivial[name], key))
                )
                for key in METRICS
            }
            for name in BASELINES
        },
    }


def _with_verdict(difference: Figure, equal: bool) -> Figure:
    return {**difference, "verdict": verdict_of(difference, equal)}


def _parts(rows: Sequence[ScoredRanking]) -> dict[str, list[ScoredRanking]]:
    """The rows of each part, those of FGVeriBench in the paper's order; none if the set has no parts."""
    others = sorted({row["part"] for row in rows if row["part"] is not None and row["part"] not in PARTS})
    return {name: part for name in (*PARTS, *others) if (part := [row for row in rows if row["part"] == name])}


def _means(rows: Sequence[ScoredRanking], resamples: int) -> dict[str, Any] | None:
    """The means over parts; None if a part is missing."""
    parts = _parts(rows)
    if parts.keys() != {*PARTS}:
        return None
    found: dict[str, Any] = {}
    for name, members in MEANS.items():
        found[name] = {"metrics": _mean([parts[member] for member in members], resamples)}
        sound = [[row for row in parts[member] if row["scores"] is not None] for member in members]
        found[name]["dropped"] = _mean(sound, resamples) if all(sound) else None
    return found


def _mean(parts: Sequence[Sequence[ScoredRanking]], resamples: int) -> dict[str, Figure]:
    each, together = [ranked(part) for part in parts], ranked([row for part in parts for row in part])
    sizes = [len(part) for part in parts]
    means = {key: mean_over([one.statistics()[key] for one in each], sizes) for key in METRICS}
    return intervals(means, together.group, resamples)


def _binary(rows: Sequence[ScoredRanking], resamples: int) -> dict[str, Any] | None:
    """The binary setting (DiVA, Table 4): of the correct and the incorrect answer of a row, which is ranked higher.

    The paper gives accuracy and F1 and says no more; here each row is one decision, whether the one that was given
    first is the correct one, and F1 is the mean of that of both choices. Tied answers are half a decision for each.
    """
    if not rows:
        return None
    kept = [row for row in rows if row["scores"] is not None]
    members = {"": rows, **_parts(rows)}
    figures = {name: _decisions(part, resamples) for name, part in members.items()}
    return {
        **figures.pop(""),
        "dropped": {"rows": len(kept), **(_decisions(kept, resamples) if kept else {})},
        "parts": figures,
    }


def _decisions(rows: Sequence[ScoredRanking], resamples: int) -> dict[str, Figure]:
    gold, share = map(np.array, zip(*map(_first_is_correct, rows), strict=True))
    twice, chosen = np.concatenate([gold, gold]), np.repeat([True, False], len(gold))

    def macro_f1(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return metrics.macro_f1(twice, chosen, np.concatenate([weights * share, weights * (1 - share)], axis=-1))

    accuracy = partial(metrics.mean, np.where(gold, share, 1 - share))
    groups = metrics.document_numbers(row["keys"] for row in rows)
    return intervals({"accuracy": accuracy, "macro_f1": macro_f1}, groups, resamples)


def _first_is_correct(row: ScoredRanking) -> tuple[bool, float]:
    """Whether the correct answer precedes the incorrect one, and the share of the decision for that: 1, 0 or .5."""
    right, wrong = row["labels"].index(LABELS[-1]), row["labels"].index(LABELS[0])
    gold = right < wrong
    if row["scores"] is None:
        return gold, float(not gold)
    first, second = (row["scores"][place] for place in sorted((right, wrong)))
    return gold, 0.5 + 0.5 * float(np.sign(first - second))


def _token_f1(rows: Sequence[ScoredRanking], resamples: int) -> dict[str, Any] | None:
    """Best-of-N (DiVA, Table 6): token F1 of the chosen answer, of a random one and of the best one.

    Tied answers share the choice; if the ranking failed, it is random.
    """
    if not rows:
        return None
    ours = np.array([_chosen(row["token_f1"], row["scores"]) for row in rows])
    chance = np.array([_chosen(row["token_f1"], None) for row in rows])
    best = np.array([max(row["token_f1"]) for row in rows])
    named = {"chosen": ours, "random": chance, "oracle": best, "difference": ours - chance}
    groups = metrics.document_numbers(row["keys"] for row in rows)
    found = intervals({name: partial(metrics.mean, values) for name, values in named.items()}, groups, resamples)
    answers = sorted({len(row["token_f1"]) for row in rows})
    equal = np.array_equal(ours, chance)
    return {"rows": len(rows), "answers": answers, **found, "difference": _with_verdict(found["difference"], equal)}


def _chosen(values: Sequence[float], scores: Sequence[float] | None) -> float:
    first = [True] * len(values) if scores is None else np.equal(scores, max(scores))
    return float(np.mean(np.array(values)[first]))


def _by_relevance(rows: Sequence[ScoredRanking], resamples: int) -> dict[str, Any] | None:
    """The metrics by the number of answers that the evidence supports (DiVA, Fig. 6); None without a judge."""
    judged = [row for row in rows if row["supported"] is not None]
    if not judged:
        return None
    levels = sorted({row["supported"] for row in judged})
    members = {str(level): [row for row in judged if row["supported"] == level] for level in levels}
    return {
        "rows": len(judged),
        "levels": {name: {"rows": len(part), **_both_ways(part, resamples)} for name, part in members.items()},
    }


def _found(rows: Sequence[ScoredRanking], resamples: int) -> dict[str, Any] | None:
    """How the passages relate to the question, by words; and the metrics of the rows where they do."""
    searched = [row for row in rows if row["found"] is not None]
    if not searched:
        return None
    asked = [row for row in searched if row["found"]["reference"] is not None]
    held = [row for row in asked if row["found"]["reference"] and row["found"]["titled"]]
    gold = [row for row in held if row["worth"] is not None]
    return {
        "rows": len(searched),
        "nothing": sum(not row["found"]["passages"] for row in searched),
        "titled": _share([row["found"]["titled"] for row in searched]),
        "asked": len(asked),
        "reference": _share([row["found"]["reference"] for row in asked]),
        "both": _share([row["found"]["reference"] and row["found"]["titled"] for row in asked]),
        "parts": {name: _bears(part) for name, part in _parts(searched).items()},
        "where_both": {"rows": len(gold), **_both_ways(gold, resamples)} if gold else None,
    }


def _bears(rows: Sequence[ScoredRanking]) -> dict[str, Any]:
    asked = [row["found"] for row in rows if row["found"]["reference"] is not None]
    return {
        "titled": _share([row["found"]["titled"] for row in rows]),
        "asked": len(asked),
        "reference": _share([found["reference"] for found in asked]),
        "both": _share([found["reference"] and found["titled"] for found in asked]),
    }


def _share(values: Sequence[bool]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
