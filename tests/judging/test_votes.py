"""Votes on one item: their share, the four aggregators, ties and unclear votes, each by hand."""

from __future__ import annotations

from statistics import median
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import ConfigError, InputError
from vouching.judging.votes import Aggregate, Votes, judgment, vote_share

Y, N, U = True, False, None
VOTES = st.lists(st.sampled_from([Y, N, U]), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("votes", "share"),
    # An unclear vote is no yes, and J stays: 2 of 3, not 2 of 2.
    [([Y], 1.0), ([N], 0.0), ([U], 0.0), ([Y, Y, U], 2 / 3), ([U, U, U], 0.0), ([Y, N, U, N], 0.25)],
)
def test_an_unclear_vote_counts_among_all_votes_and_is_no_yes(votes: Votes, share: float) -> None:
    assert vote_share(votes) == share


@pytest.mark.parametrize(
    ("votes", "threshold", "majority", "shaped", "median_"),
    [
        ([Y, Y, Y, N], 1.0, 1.0, 0.75, 1.0),  # .75 >= .75
        ([Y, Y, N], 0.0, 1.0, 2 / 3, 1.0),  # 2/3 < .75
        ([Y, N], 0.0, 0.0, 0.5, 0.5),  # a tie: no majority, and a median between the two
        ([Y, U], 0.0, 0.0, 0.5, 0.5),
        ([Y, N, U], 0.0, 0.0, 1 / 3, 0.0),  # total disagreement
        ([U, U], 0.0, 0.0, 0.0, 0.0),
    ],
)
def test_the_four_aggregators(votes: Votes, threshold: float, majority: float, shaped: float, median_: float) -> None:
    found = [judgment(votes, 0.75, by) for by in get_args(Aggregate)]
    assert found == [threshold, majority, shaped, median_]


@given(VOTES)
def test_the_median_is_that_of_the_votes_as_numbers(votes: Votes) -> None:
    assert judgment(votes, aggregate="median") == median(float(vote is True) for vote in votes)


@given(VOTES, st.sampled_from(get_args(Aggregate)), st.floats(0.01, 1))
def test_one_more_yes_never_lowers_a_judgment(votes: list[bool | None], by: Aggregate, tau: float) -> None:
    before = judgment(votes, tau, by)
    for place, vote in enumerate(votes):
        if vote is not True:
            assert judgment([*votes[:place], True, *votes[place + 1 :]], tau, by) >= before


def test_shares_meet_the_thresholds_they_are_written_as() -> None:
    # k / J and the decimal that a user writes are the same float.
    assert [judgment([Y] * k + [N] * (10 - k), k / 10) for k in range(1, 11)] == [1.0] * 10
    assert judgment([Y, Y, Y, N, N], 0.6) == 1.0


def test_what_cannot_be_judged_is_an_error() -> None:
    with pytest.raises(InputError, match="no votes"):
        vote_share([])
    with pytest.raises(ConfigError, match="expected one of threshold, majority, shaped, median"):
        judgment([Y], aggregate="mode")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"tau must be above 0 and at most 1, got 1\.2"):
        judgment([Y], 1.2)
