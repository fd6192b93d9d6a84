"""Figures of rankings, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from scipy.stats import kendalltau

from vouching.bench.ranking_figures import ranked, ranking_figures
from vouching.bench.rankings import PARTS

LABELS = ("correct", "intermediate", "incorrect")


def line(scores: Sequence[float] | None, **more: Any) -> dict[str, Any]:
    """A scored row whose answers stand best first."""
    return {
        "id": "q",
        "part": None,
        "worth": (3.0, 2.0, 1.0),
        "labels": LABELS,
        "scores": scores,
        "failed": None if scores else "unparsable: no verdict",
        "found": None,
        "supported": None,
        "longest": [5, 9, 9],
        "overlap": [0.5, 0.5, 0.5],
        "token_f1": None,
        "seconds": 0.5,
        "keys": [str(id(scores))],
    } | more


def figures(*rows: dict[str, Any]) -> dict[str, Any]:
    return ranking_figures([{**row, "id": str(n), "keys": [str(n)]} for n, row in enumerate(rows)], resamples=0)


def estimates(found: dict[str, Any]) -> tuple[float, float]:
    return found["p_at_1"]["estimate"], found["tau"]["estimate"]


@pytest.mark.parametrize(
    ("scores", "tau"),
    [
        ((3, 2, 1), 1.0),
        ((3, 1, 2), 1 / 3),  # two pairs as in the gold ranking, one against it
        ((1, 2, 3), -1.0),
        ((2, 2, 1), 2 / 6**0.5),  # two pairs agree, one is level: 2 / sqrt(3 * 2)
        ((2, 2, 2), 0.0),  # all level: tau-b has no value, and says nothing
    ],
)
def test_tau_of_three_answers(scores: tuple[float, ...], tau: float) -> None:
    assert ranked([line(scores)]).tau[0] == pytest.approx(tau)
    if len({*scores}) > 1:
        assert tau == pytest.approx(kendalltau((3, 2, 1), scores).statistic)


def test_a_failed_ranking_is_wrong_or_dropped_and_both_are_told() -> None:
    found = figures(line((3, 2, 1)), line((3, 1, 2)), line(None))
    # P@1 1, 1, 0; tau 1, 1/3, -1. Without the last: 1 and 2/3.
    assert estimates(found["metrics"]) == (0.6667, 0.1111)
    assert found["dropped"]["rows"] == 2
    assert estimates(found["dropped"]) == (1.0, 0.6667)
    assert (found["rows"], found["failed"], found["why_failed"]) == (3, 1, {"unparsable": 1})


def test_a_set_of_which_every_ranking_failed_has_no_figure_without_them() -> None:
    found = figures(line(None))
    assert estimates(found["metrics"]) == (0.0, -1.0)
    assert found["dropped"] == {"rows": 0}


def test_baselines_are_what_their_names_say() -> None:
    found = figures(line((3, 2, 1)))["baselines"]
    assert estimates(found["random"]) == (0.3333, 0.0)
    assert estimates(found["first_given"]) == (1.0, 1.0)
    # 5, 9, 9: two pairs against the gold ranking, one level.
    assert estimates(found["longest"]) == (0.0, -0.8165)
    assert estimates(found["overlap"]) == (0.3333, 0.0)


def test_a_difference_is_ours_less_the_baselines() -> None:
    found = figures(line((3, 1, 2)), line((3, 2, 1)))
    # Tau 1/3 and 1, so 2/3 on average, against 1 of the order given.
    assert found["differences"]["first_given"]["tau"]["estimate"] == pytest.approx(-1 / 3, abs=1e-4)


def test_each_part_counts_the_same_in_a_mean() -> None:
    # Every part has one right ranking; nq has three wrong ones besides, with tau -1.
    rows = [line((3, 2, 1), part=part) for part in PARTS] + [line((1, 2, 3), part="nq")] * 3
    found = figures(*rows)
    assert found["parts"]["nq"]["metrics"]["tau"]["estimate"] == -0.5
    # General: nq -.5, triviaqa 1, popqa 1; p_at_1 .25, 1, 1.
    assert estimates(found["means"]["general"]["metrics"]) == (0.75, 0.5)
    assert estimates(found["means"]["multi-hop"]["metrics"]) == (1.0, 1.0)
    assert estimates(found["means"]["all parts"]["metrics"]) == (0.875, 0.75)
    # All rows together: 6 of 9 right, tau (6 - 3) / 9.
    assert estimates(found["metrics"]) == (0.6667, 0.3333)


def test_there_is_no_mean_where_a_part_is_missing() -> None:
    assert figures(line((3, 2, 1), part="nq"))["means"] is None


def test_the_binary_setting_asks_which_of_the_right_and_the_wrong_answer_is_higher() -> None:
    turned = {"labels": LABELS[::-1], "worth": (1.0, 2.0, 3.0)}
    found = figures(
        line((3, 0, 1)),  # correct first, said so
        line((1, 0, 3)),  # correct first, not said
        line((1, 9, 3), **turned),  # correct last, said so
        line((2, 0, 2), **turned),  # correct last, level: half
        line(None),  # correct first; failed, so wrong
    )["binary"]
    # Right: 1 + 0 + 1 + .5 + 0 of 5.
    assert found["accuracy"]["estimate"] == 0.5
    # "First": said 1 + .5 times, right 1, gold 3: F1 2 / (1.5 + 3). "Last": said 3.5 times, right 1.5, gold 2: 3 / 5.5.
    assert found["macro_f1"]["estimate"] == pytest.approx((2 / 4.5 + 3 / 5.5) / 2, abs=1e-4)
    # Without the failed one: 2.5 of 4.
    assert found["dropped"]["accuracy"]["estimate"] == 0.625


def test_the_chosen_answer_stands_between_chance_and_the_best_there_is() -> None:
    found = figures(
        line((1, 3, 2), token_f1=[1.0, 0.5, 0.0]),  # takes the second: .5
        line((2, 1, 2), token_f1=[1.0, 0.0, 0.0]),  # first and last are level: .5
        line(None, token_f1=[0.6, 0.3, 0.0]),  # failed: one at random, .3
    )["token_f1"]
    assert found["chosen"]["estimate"] == pytest.approx((0.5 + 0.5 + 0.3) / 3, abs=1e-4)
    assert found["random"]["estimate"] == pytest.approx((0.5 + 1 / 3 + 0.3) / 3, abs=1e-4)
    assert found["oracle"]["estimate"] == pytest.approx((1 + 1 + 0.6) / 3, abs=1e-4)
    assert found["answers"] == [3]


def test_relevance_is_not_measured_without_a_judge() -> None:
    assert figures(line((3, 2, 1)))["by_relevance"] is None


def test_rows_are_told_apart_by_how_many_answers_the_search_supports() -> None:
    found = figures(
        line((3, 2, 1), supported=1), line((1, 2, 3), supported=0), line((3, 1, 2), supported=1), line(None)
    )
    levels = found["by_relevance"]["levels"]
    assert found["by_relevance"]["rows"] == 3
    assert {name: one["metrics"]["tau"]["estimate"] for name, one in levels.items()} == {"0": -1.0, "1": 0.6667}


def test_what_was_found_bears_on_a_question_if_it_names_its_subject_and_holds_its_reference() -> None:
    held = {"passages": 3, "titled": True, "reference": True}
    found = figures(
        line((3, 2, 1), found=held),
        line((3, 2, 1), found={**held, "titled": False}),
        line((3, 2, 1), found={**held, "reference": None}),  # a reference such as "yes" says nothing
        line((3, 2, 1), found={"passages": 0, "titled": False, "reference": False}),
    )["found"]
    assert (found["rows"], found["nothing"], found["titled"]) == (4, 1, 0.5)
    assert (found["asked"], found["reference"], found["both"]) == (3, 0.6667, 0.3333)
    assert found["where_both"]["rows"] == 1


def test_best_of_n_alone_has_no_ranking_to_be_measured_by() -> None:
    found = figures(line((1, 2), worth=None, labels=None, token_f1=[0.0, 1.0]))
    assert found["metrics"] is None
    assert found["token_f1"]["chosen"]["estimate"] == 1.0
