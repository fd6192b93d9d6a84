"""Figures of scored rows, against scikit-learn and by hand."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, f1_score, roc_auc_score

from vouching.bench.evaluate import pooled_figures, set_curves, set_figures
from vouching.bench.score import NO_CLAIM, Scored
from vouching.errors import InputError

FEW = 200
"""Resamples, where the interval itself is not looked at."""


def scored(number: int, **changes: Any) -> Scored:
    """A row as score.py leaves it, right and rather sure."""
    gold = bool(number % 2)
    return {
        "id": f"row-{number}",
        "is_response": False,
        "attributable": gold,
        "score": 0.8 if gold else 0.3,
        "label": gold,
        "unverified": None,
        "error_types": [] if gold else ["fabrication"],
        "overlap": 0.5,
        "length": 20,
        "spans": None,
        "structure": None,
        "seconds": 0.01,
        "part": None,
        "keys": [str(number // 2)],
        "pair": None,
        "preferred": None,
        **changes,
    }


def width(figure: dict[str, Any]) -> float:
    """How wide an interval is."""
    return figure["high"] - figure["low"]


def noisy(number: int) -> list[Scored]:
    """Rows whose scores are right more often than not."""
    draw = random.Random(0)
    rows: list[Scored] = []
    for place in range(number):
        score = min(1.0, max(0.0, draw.gauss(0.65 if place % 2 else 0.4, 0.2)))
        rows.append(scored(place, score=score, label=score >= 0.5, overlap=round(draw.random(), 1)))
    return rows


def test_the_metrics_are_those_of_scikit_learn() -> None:
    rows = noisy(300)
    gold, score = [row["attributable"] for row in rows], [row["score"] for row in rows]
    label = [row["label"] for row in rows]
    found = {name: figure["estimate"] for name, figure in set_figures(rows, FEW)["metrics"].items()}
    assert found["auroc"] == pytest.approx(roc_auc_score(gold, score), abs=1e-4)
    assert found["macro_f1"] == pytest.approx(f1_score(gold, label, average="macro"), abs=1e-4)
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(gold, label), abs=1e-4)
    assert found["na_f1"] == pytest.approx(f1_score(gold, label, pos_label=False), abs=1e-4)
    assert found["brier"] == pytest.approx(brier_score_loss(gold, score), abs=1e-4)


def test_the_overlap_is_measured_on_the_same_rows_and_the_difference_has_a_verdict() -> None:
    figures = set_figures(noisy(300), 1_000)
    rows = noisy(300)
    by_overlap = roc_auc_score([row["attributable"] for row in rows], [row["overlap"] for row in rows])
    assert figures["baselines"]["overlap"]["auroc"]["estimate"] == pytest.approx(by_overlap, abs=1e-4)
    difference = figures["difference"]
    assert difference["low"] < difference["estimate"] < difference["high"]
    assert difference["verdict"] == "better"


def test_the_length_of_the_claim_is_a_baseline_that_prefers_the_shorter() -> None:
    # Attributable claims of 10 and 30 characters, others of 20 and 40: of four pairs, three have the shorter right.
    rows = [scored(n, length=length) for n, length in ((1, 10), (3, 30), (2, 20), (4, 40))]
    assert set_figures(rows, FEW)["baselines"]["claim_length"]["auroc"]["estimate"] == 0.75


def test_two_systems_that_come_out_level_on_few_rows_show_nothing() -> None:
    # Both rank three rows perfectly, by other scores.
    rows = [scored(n, overlap=0.9 if n % 2 else 0.2) for n in range(3)]
    difference = set_figures(rows, FEW)["difference"]
    assert (difference["estimate"], difference["verdict"]) == (0.0, "no interval")
    perfect = [scored(n, overlap=0.9 if n % 2 else 0.2) for n in range(40)]
    assert set_figures(perfect, FEW)["difference"]["verdict"] == "no interval"
    same = [{**row, "overlap": row["score"]} for row in noisy(40)]
    assert set_figures(same, FEW)["difference"]["verdict"] == "no significant difference"


def test_both_constant_labels_are_baselines() -> None:
    # Of five rows, 1 and 3 are Attributable. Always Not Attributable: 3 of 5 right, F1 2 * 3 / (3 + 5), macro-F1 half.
    baselines = set_figures([scored(n) for n in range(5)], FEW)["baselines"]
    negative, positive = baselines["always_not_attributable"], baselines["always_attributable"]
    assert [negative[name] for name in ("accuracy", "na_f1", "macro_f1", "balanced_accuracy")] == [
        0.6,
        0.75,
        0.375,
        0.5,
    ]
    assert (positive["accuracy"], positive["na_f1"]) == (0.4, 0.0)


def test_rows_without_a_verdict_are_counted_and_left_out_and_counted_as_the_authors_do() -> None:
    rows = [scored(n) for n in range(18)]
    rows.append(scored(19, score=None, label=None, unverified="backend: no answer"))
    rows.append(scored(21, score=None, label=None, unverified=NO_CLAIM))
    figures = set_figures(rows, FEW)
    assert (figures["rows"], figures["unverified"], figures["no_claim"]) == (20, 1, 1)
    assert figures["metrics"]["accuracy"]["estimate"] == 1.0
    # All 20 are labelled: 18 right, the failure counts as Not Attributable and is wrong, no claim as Attributable.
    assert figures["as_authors"]["accuracy"] == 0.95
    assert figures["confusion_matrix"] == [[9, 0], [0, 9]]


def test_with_one_class_auroc_is_undefined_and_says_so() -> None:
    figures = set_figures([scored(2 * n) for n in range(12)], FEW)
    assert figures["metrics"]["auroc"]["estimate"] is None
    assert figures["undefined"].startswith("one class only: all 12 rows are Not Attributable")
    assert figures["metrics"]["na_recall"]["estimate"] == 1.0
    assert figures["difference"]["verdict"] == "no interval"


def test_three_rows_have_figures_and_no_intervals() -> None:
    auroc = set_figures([scored(2 * n + n % 2) for n in range(3)], FEW)["metrics"]["auroc"]
    assert (auroc["estimate"], auroc["low"], auroc["high"]) == (1.0, None, None)
    assert auroc["why_not"] == "an interval needs at least 10 groups of rows, got 3"


def test_rows_of_one_group_are_drawn_together() -> None:
    rows = noisy(120)
    alone = set_figures([{**row, "keys": []} for row in rows], 1_000)["metrics"]["accuracy"]
    # The same rows four times over say no more than once.
    fourfold = set_figures([row for row in rows for _ in range(4)], 1_000)["metrics"]["accuracy"]
    assert fourfold["high"] - fourfold["low"] > 0.8 * (alone["high"] - alone["low"])


def test_a_score_that_is_no_number_is_refused() -> None:
    rows = [*noisy(12), scored(13, score=float("nan"))]
    with pytest.raises(InputError, match="scores must be finite, got nan in row 13"):
        set_figures(rows, FEW)


def test_nothing_that_can_be_measured_leaves_counts() -> None:
    figures = set_figures([scored(1, score=None, label=None, unverified="backend: no answer")], FEW)
    assert figures["metrics"] is None
    assert figures["undefined"] == "no row has a label and a verdict"
    assert set_curves([]) == {}


def test_responses_have_no_calibration_since_their_scores_are_no_probabilities() -> None:
    rows = [{**row, "is_response": True} for row in noisy(40)]
    assert "ece" not in set_figures(rows, FEW)["metrics"]
    assert sorted(set_curves(rows)) == ["roc", "roc_overlap"]


def test_spans_are_summed_over_rows_beside_marking_everything() -> None:
    # In both 4 + 0, predicted 14 + 6, gold 4 + 8, all 45 + 55: precision 4/20, recall 4/12, F1 8/32; everything 24/112.
    rows = [scored(1, spans=[4, 14, 4, 45]), scored(2, spans=[0, 6, 8, 55]), scored(3)]
    spans = set_figures(rows, FEW)["spans"]
    assert spans["rows"] == 2
    assert [spans[name]["estimate"] for name in ("precision", "recall", "f1")] == [0.2, 0.3333, 0.25]
    assert spans["f1_of_marking_everything"] == round(24 / 112, 4)


def test_spans_of_rows_of_one_group_are_drawn_together() -> None:
    # Each of 20 rows all right or all wrong; the same rows four times over say no more than once.
    rows = [scored(n, keys=[str(n)], spans=[10 * (n % 2), 10, 10, 40]) for n in range(20)]
    fourfold = [row for row in rows for _ in range(4)]
    once, grouped = (width(set_figures(some, 1_000)["spans"]["f1"]) for some in (rows, fourfold))
    alone = width(set_figures([{**row, "keys": []} for row in fourfold], 1_000)["spans"]["f1"])
    assert grouped == pytest.approx(once, rel=0.1)
    assert alone < 0.7 * grouped


def test_pairs_of_one_group_are_drawn_together() -> None:
    pairs = [
        scored(
            n, attributable=None, pair=f"p-{n}-{copy}", preferred=better, score=0.9 if better == (n % 3 > 0) else 0.1
        )
        for n in range(20)
        for copy in range(4)
        for better in (True, False)
    ]
    # The better row of a pair shares a key with its copies, the other has one of its own.
    grouped = [{**row, "keys": [row["id"] if row["preferred"] else row["pair"]]} for row in pairs]
    alone = [{**row, "keys": [row["pair"]]} for row in pairs]
    narrow, wide = (width(set_figures(rows, 1_000)["pairs"]["pair_accuracy"]) for rows in (alone, grouped))
    # Twenty pairs rather than eighty: twice as wide.
    assert 1.6 * narrow < wide < 2.4 * narrow


def test_without_labels_and_pairs_the_figure_is_the_share_judged_attributable() -> None:
    rows = [scored(n, attributable=None, label=n % 4 > 0, keys=[]) for n in range(40)]
    failed = scored(40, attributable=None, label=None, score=None, unverified="backend: no answer")
    figures = set_figures([*rows, failed], 1_000)
    share = figures["share_attributable"]
    assert share["estimate"] == 0.75
    assert share["low"] < 0.75 < share["high"]
    assert figures["undefined"] == "no row has a label"
    assert set_figures(noisy(20), FEW)["share_attributable"] is None


def test_a_pair_is_right_if_the_preferred_row_scores_higher_and_half_right_if_level() -> None:
    scores = [(0.9, 0.1), (0.2, 0.6), (0.5, 0.5)]
    rows = [
        scored(n, attributable=None, pair=f"p-{n}", preferred=better, score=pair[not better])
        for n, pair in enumerate(scores)
        for better in (True, False)
    ]
    lonely = scored(9, attributable=None, pair="p-9", preferred=True)
    pairs = set_figures([*rows, lonely], FEW)["pairs"]
    assert (pairs["pairs"], pairs["pair_accuracy"]["estimate"]) == (3, 0.5)


def test_parts_are_told_apart_and_one_class_parts_keep_what_is_defined() -> None:
    rows = [scored(n, part="years" if n % 2 else "names") for n in range(40)]
    parts = set_figures(rows, FEW)["parts"]
    assert {name: part["rows"] for name, part in parts.items()} == {"names": 20, "years": 20}
    assert parts["years"]["metrics"]["auroc"]["estimate"] is None
    assert parts["years"]["metrics"]["accuracy"]["estimate"] == 1.0
    assert {name: part["error_types"] for name, part in parts.items()} == {"names": {"fabrication": 20}, "years": {}}


def test_pooled_figures_take_sets_with_both_classes_and_count_each_set_the_same() -> None:
    small, large, one_class = noisy(20), [scored(n) for n in range(60)], [scored(2 * n) for n in range(20)]
    pooled = pooled_figures({"small": small, "large": large, "one": one_class}, FEW)
    assert pooled
    assert (pooled["sets"], pooled["rows"]) == (["small", "large"], 80)
    accuracy = [sum(row["label"] == row["attributable"] for row in rows) / len(rows) for rows in (small, large)]
    assert pooled["mean_of_sets"]["accuracy"]["estimate"] == pytest.approx(sum(accuracy) / 2, abs=1e-4)
    right = sum(row["label"] == row["attributable"] for row in [*small, *large])
    assert pooled["all_rows"]["accuracy"]["estimate"] == pytest.approx(right / 80, abs=1e-4)
    assert pooled_figures({"large": large}, FEW) is None


def test_pooled_rows_of_different_sets_that_share_a_source_are_drawn_together() -> None:
    one, other = noisy(60), noisy(60)
    apart = [{**row, "keys": [f"other {row['keys'][0]}"]} for row in other]
    shared = pooled_figures({"one": one, "other": other}, 1_000)
    separate = pooled_figures({"one": one, "other": apart}, 1_000)
    assert shared
    assert separate
    # The same rows twice over say no more than once; if they were other rows, the interval would be 1 / sqrt 2 as wide.
    assert width(shared["all_rows"]["accuracy"]) > 1.2 * width(separate["all_rows"]["accuracy"])
    assert width(shared["mean_of_sets"]["accuracy"]) > 1.2 * width(separate["mean_of_sets"]["accuracy"])


def test_the_mean_of_the_parts_counts_each_part_with_both_classes_the_same() -> None:
    # Balanced accuracy 1 on ten rows, .5 on thirty that are all called Attributable; a part of one class is left out.
    rows = [scored(n, part="small") for n in range(10)]
    rows += [scored(n, part="large", label=True, score=0.9) for n in range(10, 40)]
    rows += [scored(2 * n, part="one class") for n in range(20)]
    assert set_figures(rows, FEW)["mean_balanced_accuracy"]["estimate"] == 0.75
    assert set_figures(rows[:10], FEW)["mean_balanced_accuracy"] is None


def test_the_reliability_curve_counts_every_row_once() -> None:
    curves = set_curves(noisy(100))
    assert sum(count for _, _, count in curves["reliability"]) == 100
    assert curves["roc"][0] == [0.0, 0.0]
    assert curves["roc"][-1] == [1.0, 1.0]
