"""A diagnosis on one scale under both gold labels: what changes, and what does not."""

from __future__ import annotations

import numpy as np
import pytest

from tests.methods.structured.replies import reply, supported
from vouching.errors import InputError
from vouching.methods.structured.reward import structured_reward
from vouching.methods.structured.reward_scale import Equal, equal_by_label
from vouching.types import Label, Reward

A: Label = "Attributable"
NA: Label = "Not Attributable"
GOLDS: list[Label] = [A, A, NA, NA]


def batch() -> list[Reward]:
    """R_d 1 and .3 on gold Attributable, 1 and 0 on gold Not Attributable."""
    replies = [supported(), supported(error_type="fabrication"), reply(), reply(error_type=..., fix_suggestion=...)]
    return [structured_reward(one, gold) for one, gold in zip(replies, GOLDS, strict=True)]


def diagnoses(rewards: list[Reward]) -> list[float]:
    return [reward.parts["diagnosis"] for reward in rewards]


def test_by_range_a_false_alarm_costs_as_much_as_a_miss() -> None:
    rewards = batch()
    scaled = equal_by_label(rewards, GOLDS, "range")
    assert diagnoses(rewards) == [1.0, 0.3, 1.0, 0.0]
    assert diagnoses(scaled) == [1.0, 0.0, 1.0, 0.0]
    # Only the second changes, by .15 * -.3.
    assert [new.total - old.total for new, old in zip(scaled, rewards, strict=True)] == pytest.approx([0, -0.045, 0, 0])


def test_by_mean_both_labels_get_the_same_mean() -> None:
    # Means .65 and .5, their mean .575.
    scaled = diagnoses(equal_by_label(batch(), GOLDS, "mean"))
    assert scaled == pytest.approx([0.575 / 0.65, 0.3 * 0.575 / 0.65, 0.575 / 0.5, 0.0])
    assert sum(scaled[:2]) == pytest.approx(sum(scaled[2:]))


def test_by_mean_nothing_changes_at_the_papers_operating_point() -> None:
    # Table 15: R_d is 1 for 64.1 % and .3 for 35.9 % of gold A, mean .7487; 1 for 74.6 % and 0 for the rest of gold NA.
    golds: list[Label] = [A] * 1000 + [NA] * 1000
    values = [1.0] * 641 + [0.3] * 359 + [1.0] * 746 + [0.0] * 254
    rewards = [Reward(0.15 * value, {"format": 1.0, "diagnosis": value}) for value in values]
    scaled = diagnoses(equal_by_label(rewards, golds, "mean"))
    assert max(abs(new - old) for new, old in zip(scaled, values, strict=True)) < 0.002
    assert diagnoses(equal_by_label(rewards, golds, "range"))[641] == 0.0


def test_a_factor_on_the_total_would_leave_the_advantages_as_they_are() -> None:
    # The reason why the part is scaled and not the total: gold is constant inside a group.
    totals = np.array([reward.total for reward in batch()[:2]] + [0.2, 0.9])

    def advantages(rewards: np.ndarray) -> np.ndarray:
        return (rewards - rewards.mean()) / rewards.std(ddof=1)

    assert np.allclose(advantages(totals), advantages((totals - totals.min()) / np.ptp(totals)))


def test_replies_that_cannot_be_read_are_neither_counted_nor_changed() -> None:
    unread = structured_reward("no JSON", A)
    *scaled, last = equal_by_label([*batch(), unread], [*GOLDS, A])
    assert last == unread
    # Else the 0 of the unread one would be the least seen, and .3 would stay.
    assert diagnoses(scaled)[1] == 0.0


@pytest.mark.parametrize("by", ["range", "mean"])
def test_what_does_not_differ_is_left_as_it_is(by: Equal) -> None:
    rewards = batch()[:1]
    assert equal_by_label(rewards, [A], by) == rewards


def test_rewards_of_another_kind_are_refused() -> None:
    with pytest.raises(InputError, match="the parts of structured_reward"):
        equal_by_label([Reward(1.0, {"label": 1.0})], [A])
