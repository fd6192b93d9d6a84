"""The world of answers: the order is the number of errors, what is needed was found, and chats are what is asked."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.world_answers import ARMS, HEADS, HELD, LINES, MADE, QUESTIONS, compressor, rows_of_arm, write_rows
from recipes.rank.rows import RankPair, RatedAnswer, hold_out, read_pairs
from recipes.worlds.answers import LABELS, AnswersWorld, answer_chats, oracle, right_share
from recipes.worlds.facts import places
from vouching.errors import ConfigError
from vouching.methods.discriminative.input import given as found_by
from vouching.types import Source

WORLDS = st.builds(AnswersWorld, st.integers(0, 6))


@given(WORLDS, st.integers(0, 1000))
def test_an_answer_has_as_many_errors_as_its_label_says_and_what_it_takes_was_found(
    world: AnswersWorld, seed: int
) -> None:
    for row in world.rows(8, seed):
        assert len(row["sources"]) == 2 + world.irrelevant
        for thing, number in row["asked"].items():
            stated = [one for one in row["sources"] if row["place"] in one and thing in one]
            assert stated == [f"The {thing} of {row['place']} number {number}."]
        shares = {one["label"]: right_share(one["answer"], row) for one in row["answers"]}
        assert shares == {"correct": 1.0, "intermediate": 0.5, "incorrect": 0.0}


def test_the_right_answer_is_in_every_place_equally_often() -> None:
    """Otherwise a ranker could know it by its place."""
    rows = AnswersWorld().rows(1500, 0)
    first = [[one["label"] for one in row["answers"]].index("correct") for row in rows]
    assert all(abs(first.count(place) / 1500 - 1 / 3) < 0.04 for place in range(3))  # the standard error is .012


def test_the_oracle_scores_orders_as_computed_by_hand() -> None:
    row: dict[str, Any] = {"answers": [{"label": label} for label in LABELS]}
    assert oracle([3, 2, 1], row) == {"oracle/first": 1.0, "oracle/tau": 1.0, "oracle/valid": 1.0}
    assert oracle([1, 2, 3], row) == {"oracle/first": 0.0, "oracle/tau": -1.0, "oracle/valid": 1.0}
    # Two of three pairs in order, none tied: (2 - 1) / 3.
    assert oracle([2, 3, 1], row)["oracle/tau"] == pytest.approx(1 / 3)
    assert oracle([1, 1, 1], row) == {"oracle/first": pytest.approx(1 / 3), "oracle/tau": 0.0, "oracle/valid": 1.0}
    assert oracle([1, None, 1], row) == {"oracle/first": 0.0, "oracle/tau": -1.0, "oracle/valid": 0.0}


def test_the_compression_keeps_two_sentences_and_mostly_those_that_decide() -> None:
    kept = 0
    rows = AnswersWorld().rows(200, 0)
    for row in rows:
        trajectory = found_by(row["question"], (), [Source(one) for one in row["sources"]])
        found = asyncio.run(compressor().compress(trajectory, row["reference"]))
        assert len(found.facts) == 2
        kept += {*found.facts} == {f"The {thing} of {row['place']} number {n}." for thing, n in row["asked"].items()}
    assert kept / len(rows) > 0.95


def test_chats_state_the_right_numbers_but_for_the_rate_that_is_set() -> None:
    rows = AnswersWorld().rows(1500, 0)
    for wrong, right in ((0.0, 1.0), (0.5, 0.5 + 0.5 / 28)):  # a drawn number is right once in 28
        said = [line["messages"][-1]["content"] for line in answer_chats(rows, 0, wrong)]
        shares = [right_share(one, row) for one, row in zip(said, rows, strict=True)]
        assert sum(shares) / len(shares) == pytest.approx(right, abs=0.03)


def test_held_out_places_do_not_occur_in_training_and_numbers_out_of_range_are_refused() -> None:
    texts = " ".join(source for row in AnswersWorld().rows(200, 0) for source in row["sources"])
    assert not any(place in texts for place in places("held-out"))
    assert AnswersWorld().rows(5, 1) == AnswersWorld().rows(5, 1) != AnswersWorld().rows(5, 2)
    with pytest.raises(ConfigError, match="irrelevant must be from 0 to 6, got 7"):
        AnswersWorld(7)
    with pytest.raises(ConfigError, match=r"wrong must be in \[0, 1\], got 2"):
        next(answer_chats([], 0, wrong=2))


def test_the_answers_alone_tell_which_is_intermediate_and_not_which_of_the_others_is_right() -> None:
    for row in AnswersWorld().rows(50, 0):
        said = {one["label"]: one["answer"].split(". ") for one in row["answers"]}
        shared = {
            frozenset(pair): sum(
                a.strip(".") == b.strip(".") for a, b in zip(said[pair[0]], said[pair[1]], strict=True)
            )
            for pair in (LABELS[:2], LABELS[1:], LABELS[::2])
        }
        assert shared == {frozenset(LABELS[:2]): 1, frozenset(LABELS[1:]): 1, frozenset(LABELS[::2]): 0}


def test_every_arm_is_trained_on_the_same_questions_as_often_and_on_none_that_is_held_out(tmp_path: Path) -> None:
    write_rows(tmp_path, 60)
    found: dict[int, dict[str, Counter[str]]] = {}
    for seed in (0, 1):
        pairs, held = hold_out(read_pairs([rows_of_arm("diva", tmp_path, seed)]), HELD, seed)
        assert held
        found[seed] = {arm: Counter(one.group for one in pairs) for arm in HEADS}
        for arm in {*ARMS} - {*HEADS}:
            lines = rows_of_arm(arm, tmp_path, seed).read_text(encoding="utf-8").splitlines()
            found[seed][arm] = Counter(json.loads(line)["id"].rpartition("/")[0] for line in lines)
        [questions] = {frozenset(counts) for counts in found[seed].values()}
        assert 40 < len(questions) < 60
        assert {arm: {*counts.values()} for arm, counts in found[seed].items()} == {
            arm: {LINES.get(arm, 1)} for arm in ARMS
        }
    assert found[0]["points"] != found[1]["points"]


def test_enough_questions_are_made_for_every_seed() -> None:
    right, wrong = RatedAnswer("1", "correct"), RatedAnswer("2", "incorrect")
    made = [RankPair(one["id"], "", "", one["question"], right, wrong) for one in AnswersWorld().rows(MADE, seed=1)]
    for seed in range(5):
        assert len(hold_out(made, HELD, seed)[0]) >= QUESTIONS
