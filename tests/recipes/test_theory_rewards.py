"""Diagnostics of rewards: both propositions and both tables of the paper against numbers, and what the labels show."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recipes.theory.reward_statistics import (
    ScoredReply,
    binary_check,
    diagnose,
    expected_variances,
    group_spread,
    label_gap,
    part_variance,
)
from recipes.theory.rewards import tables_of, write_diagnosis
from tests.methods.structured.replies import reply, supported
from vouching.errors import InputError
from vouching.methods.structured.reward import structured_reward
from vouching.types import Label, Reward

A: Label = "Attributable"
NA: Label = "Not Attributable"


def grouped(*groups: Sequence[float]) -> list[ScoredReply]:
    """Replies with these totals."""
    return [
        ScoredReply(f"{name}-{number}", str(name), Reward(total))
        for name, totals in enumerate(groups)
        for number, total in enumerate(totals)
    ]


def scored() -> list[ScoredReply]:
    """Two groups of four real replies, one per gold label."""
    rows: list[ScoredReply] = []
    for gold in (A, NA):
        for number, text in enumerate((supported(), reply(), supported(reasoning_chain=[]), "no JSON")):
            predicted = (A, NA, A, None)[number]
            rows.append(ScoredReply(f"{gold}-{number}", gold, structured_reward(text, gold), gold, predicted))
    return rows


def test_the_spread_is_that_inside_groups() -> None:
    # Deviations: 1 for 0, 1, 2 (unbiased); 0 for three equal ones; the single one is left out.
    spread = group_spread(grouped([0, 1, 2], [5, 5, 5], [9]))
    assert (spread.groups, spread.replies, spread.alone) == (2, 6, 1)
    assert (spread.standard_deviation, spread.variance) == (0.5, 0.5)
    assert spread.population_variance == pytest.approx((2 / 3 + 0) / 2)
    assert spread.equal_groups == 0.5
    # Of six replies two are off their group's mean; max |A| is 1 in the first group and 0 in the second.
    assert (spread.effective, spread.greatest_advantage) == (pytest.approx(2 / 6), 0.5)


def test_without_a_group_of_two_the_spread_is_undefined() -> None:
    spread = group_spread(grouped([1], [2]))
    assert (spread.groups, spread.alone) == (0, 2)
    assert math.isnan(spread.standard_deviation)
    assert math.isnan(spread.effective)


@pytest.mark.parametrize(("q", "size"), [(0.37, 8), (0.5, 2), (0.01, 16), (0.0, 4), (1.0, 4)])
def test_proposition_1_the_unbiased_variance_has_no_factor(q: float, size: int) -> None:
    unbiased, population = expected_variances(q, size)
    assert unbiased == pytest.approx(q * (1 - q), abs=1e-12)
    assert population == pytest.approx((size - 1) / size * q * (1 - q), abs=1e-12)


def test_proposition_1_as_printed_is_the_expectation_of_neither_estimator() -> None:
    # q = .37, G = 8 (App. C.7): the paper has 8/7 * .2331 = .2664, "about .27".
    unbiased, population = expected_variances(0.37, 8)
    printed = 8 / 7 * 0.37 * 0.63
    assert printed == pytest.approx(0.2664, abs=1e-4)
    assert max(unbiased, population) == pytest.approx(0.2331)
    # The same by drawing, 200,000 groups: the standard error is below .0003.
    drawn = np.random.default_rng(0).binomial(1, 0.37, (200_000, 8))
    assert drawn.var(axis=1, ddof=1).mean() == pytest.approx(unbiased, abs=1e-3)
    assert drawn.var(axis=1).mean() == pytest.approx(population, abs=1e-3)


def test_the_check_of_proposition_1_uses_the_labels_of_the_rows() -> None:
    found = binary_check(scored())
    assert found is not None
    # Right: 2 of 4 on gold A (the fourth is unread), 1 of 4 on gold NA; variances 1/3 and 1/4.
    assert (found.q, found.group_size) == (3 / 8, 4)
    assert found.observed == pytest.approx((1 / 3 + 1 / 4) / 2)
    assert found.paper == pytest.approx(4 / 3 * found.unbiased)
    assert binary_check(grouped([0, 1])) is None


def test_proposition_2_the_parts_variances_and_covariances_give_the_totals() -> None:
    found = part_variance(scored())
    assert found is not None
    assert found.residual < 1e-9
    assert found.own + found.crossed == pytest.approx(found.total, abs=1e-12)
    assert sum(found.shares) == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_proposition_2_holds_for_any_weighted_sum(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    weights = numbers.random(3)
    parts = numbers.random((12, 3)).round(2)
    rows = [
        ScoredReply(str(n), str(n // 4), Reward(float(weights @ row), dict(zip("abc", map(float, row), strict=True))))
        for n, row in enumerate(parts)
    ]
    found = part_variance(rows)
    assert found is not None
    assert found.own + found.crossed == pytest.approx(found.total, abs=1e-9)
    assert found.weights == pytest.approx(weights, abs=1e-6)


def test_proposition_2_three_parts_cancel_out_though_no_two_are_opposites() -> None:
    # One of three parts is 1 in each reply: correlations of -1/2, never -1, and every total is the same. The paper says
    # that this needs perfect anti-correlation.
    parts = [{name: float(name == one) for name in "abc"} for one in "abc"]
    rows = [ScoredReply(str(n), "g", Reward(0.2, one)) for n, one in enumerate(parts)]
    found = part_variance(rows)
    assert found is not None
    assert found.own == pytest.approx(3 * 0.04 / 3)
    assert found.crossed == pytest.approx(-found.own)
    assert found.total == pytest.approx(0.0, abs=1e-15)
    assert found.correlations[0][1] == pytest.approx(-0.5)
    assert group_spread(rows).equal_groups == 1.0


def test_a_total_that_was_clamped_is_no_weighted_sum_and_that_is_said() -> None:
    texts = ("{}", '{"confidence": 1}', reply(), supported(), '{"label": "no"}')
    rows = [
        ScoredReply(str(n), "g", structured_reward(text, NA, variant="released")) for n, text in enumerate(texts * 2)
    ]
    rows += [ScoredReply(f"x{n}", "h", structured_reward(reply(confidence=n / 9), A)) for n in range(10)]
    found = part_variance(rows)
    assert found is not None
    assert found.residual > 1e-6
    assert any("total and the weighted sum" in row[0] for table in tables_of(diagnose(rows)) for row in table.rows)


def test_the_labels_show_gap_and_bias() -> None:
    found = label_gap(scored())
    assert found is not None
    assert found.replies == (4, 4)
    # Of four on gold A one is called NA, of four on gold NA two are called A; one reply of each has no label.
    assert (found.false_positives, found.false_negatives, found.bias) == (0.25, 0.5, -0.25)
    totals = [row.reward.total for row in scored()]
    assert found.gap == pytest.approx(sum(totals[:4]) / 4 - sum(totals[4:]) / 4)
    assert found.mean_right[1] == pytest.approx(totals[5])
    assert label_gap(grouped([1, 2])) is None


def test_rows_of_different_rewards_are_not_mixed() -> None:
    with pytest.raises(InputError, match="compare rewards of one method"):
        diagnose([*scored(), *grouped([1.0])])
    with pytest.raises(InputError, match="no replies with a reward"):
        diagnose([])


def test_every_figure_has_its_table_and_the_page_shows_them(tmp_path: Path) -> None:
    rows = scored()
    diagnosis = diagnose(rows)
    tables = {table.heading: table for table in tables_of(diagnosis)}
    assert all(len(row) == len(table.head) for table in tables.values() for row in table.rows)
    page = tmp_path / "page.html"
    write_diagnosis(page, "<rewards>", diagnosis, rows)
    text = page.read_text(encoding="utf-8")
    assert "<rewards>" not in text
    assert all(heading.replace("<", "&lt;") in text for heading in tables)
    assert text.count("<svg") == 3


def test_a_page_of_totals_alone_has_the_histogram_only(tmp_path: Path) -> None:
    rows = grouped([0.0, 3.0], [1.0, 1.0])
    page = tmp_path / "page.html"
    write_diagnosis(page, "totals", diagnose(rows), rows)
    assert page.read_text(encoding="utf-8").count("<svg") == 1


def test_the_order_of_rows_does_not_matter() -> None:
    rows = scored()
    turned = [*rows]
    random.Random(0).shuffle(turned)
    first, second = diagnose(rows), diagnose(turned)
    assert second.gap == first.gap
    assert second.spread.standard_deviation == pytest.approx(first.spread.standard_deviation)


def test_a_group_of_one_has_no_variance() -> None:
    with pytest.raises(InputError, match="at least 2"):
        expected_variances(0.5, 1)
