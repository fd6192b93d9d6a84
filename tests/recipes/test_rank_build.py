"""Building ranking sets: which answers are chosen, which rows are dropped, and the agreement of voters."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipes.rank.build import (
    RankingBuilder,
    Vote,
    agreement,
    choose,
    row_of,
    voted,
    votes_of,
    why_dropped,
)
from recipes.rank.marking import Candidate, RankQuestion
from vouching.bench.rankings import LABELS, fgveribench_row
from vouching.errors import InputError

ASKED = RankQuestion("q", "When did it open?", ("1973", "in 1973"))
MARKS = {
    "In 1973.": "correct",
    "In the 1970s.": "intermediate",
    "Who knows?": "irrelevant",
    "In 1937.": "incorrect",
}


def builder(*pool: str, order: bool = True, seed: int = 0) -> RankingBuilder:
    """Answers that stand in ``MARKS`` are marked by it; an order is confirmed if ``order``."""

    async def propose(asked: RankQuestion) -> list[Candidate]:
        return [Candidate(text, f"model-{number}") for number, text in enumerate(pool)]

    async def mark(asked: RankQuestion, answer: str) -> tuple[str | None, str | None]:
        return (MARKS[answer], None) if answer in MARKS else (None, "the judge gave no mark")

    async def confirm(asked: RankQuestion, better: str, worse: str) -> str | None:
        return None if order else "the judge finds neither better"

    return RankingBuilder(propose, mark, confirm, seed)


@given(st.integers(0, 50))
def test_a_row_is_one_of_fgveribench_whatever_order_its_answers_stand_in(seed: int) -> None:
    line = asyncio.run(builder("In 1937.", "In the 1970s.", "In 1973.", seed=seed).build(ASKED))
    row = row_of(line)
    assert row is not None
    [read] = fgveribench_row(row, "q")
    best = [read.answers[place] for place in sorted(range(3), key=lambda place: -(read.worth or ())[place])]
    assert best == ["In 1973.", "In the 1970s.", "In 1937."]
    assert (row["verified"], row["votes"]) == ("model", {})
    assert read.references == ("1973", "in 1973")


def test_the_order_in_which_answers_stand_is_drawn() -> None:
    lines = [asyncio.run(builder("In 1937.", "Who knows?", "In 1973.", seed=seed).build(ASKED)) for seed in range(20)]
    assert len({tuple(line["order"]) for line in lines}) > 3


@pytest.mark.parametrize(
    ("pool", "order", "fault"),
    [
        (("In 1973.", "In 1937."), True, "no answer is labelled intermediate"),
        (("In 1973.", "Who knows?"), True, "no answer is labelled incorrect"),
        ((), True, "no answer is labelled correct"),
        (("In 1973.", "Who knows?", "In 1937."), False, "the judge finds neither better"),
    ],
)
def test_a_question_that_makes_no_row_says_why(pool: tuple[str, ...], order: bool, fault: str) -> None:
    line = asyncio.run(builder(*pool, order=order).build(ASKED))
    assert line["fault"] == fault
    assert row_of(line) is None
    assert why_dropped([line, line]) == {fault: 2}


def test_an_answer_that_the_judge_cannot_mark_is_kept_in_the_pool_with_the_reason_and_never_chosen() -> None:
    line = asyncio.run(builder("In 1973.", "???", "Who knows?", "In 1937.").build(ASKED))
    assert line["pool"][1] == {"text": "???", "label": None, "generator": "model-1", "fault": "the judge gave no mark"}
    assert [one["label"] for one in line["chosen"]] == ["correct", "irrelevant", "incorrect"]


def test_each_answer_of_a_label_can_be_chosen() -> None:
    pool = [Candidate(f"{label} {n}", "a", label) for label in LABELS for n in range(2)]
    drawn = [choose(pool, random.Random(seed)) for seed in range(30)]
    assert {one.answer for three in drawn if not isinstance(three, str) for one in three} == {
        one.answer for one in pool
    }


@pytest.mark.parametrize(
    ("votes", "verified"),
    [
        ("", "model"),
        ("a", "model"),
        ("aa", "model"),
        ("ar", "model"),
        ("aaa", "people"),
        ("aar", "people"),
        ("arr", None),
        ("rr", None),
        ("rrr", None),
    ],
)
def test_two_of_three_drop_a_row_and_three_verify_it(votes: str, verified: str | None) -> None:
    cast_votes: dict[str, Vote] = {str(n): "accept" if vote == "a" else "reject" for n, vote in enumerate(votes)}
    row = voted({"id": "q", "verified": "model", "votes": {}}, cast_votes)
    assert (row["verified"] if row else None) == verified


def test_agreement_of_three_people_on_four_rows() -> None:
    cast_votes = {"ada": "aarr", "bob": "aaar", "cy": "aarr"}
    votes: dict[str, dict[str, Vote]] = {
        name: {str(n): "accept" if vote == "a" else "reject" for n, vote in enumerate(all_votes)}
        for name, all_votes in cast_votes.items()
    }
    # All agree on three of four rows. Of 12 pairs of votes two differ, both on the third row.
    # Ada and Bob: p_o 3/4, p_e .5 * .75 + .5 * .25 = .5, kappa .5; so are Bob and Cy; Ada and Cy have 1.
    assert agreement(votes) == {"rows": 4, "all_agree": 0.75, "pairwise": 0.8333, "kappa": 0.6667}


def test_agreement_is_of_the_rows_that_all_voted_on() -> None:
    votes: dict[str, dict[str, Vote]] = {"ada": {"a": "accept", "b": "accept"}, "bob": {"b": "accept"}}
    # Both accept all, so chance alone would agree: kappa is undefined.
    assert agreement(votes) == {"rows": 1, "all_agree": 1.0, "pairwise": 1.0, "kappa": None}
    assert agreement({"ada": votes["ada"]})["all_agree"] is None


def test_a_vote_of_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match=r'vote 1 must have .* a "vote" that is accept or reject, got .q. and .maybe.'):
        votes_of([{"id": "q", "vote": "maybe"}])
