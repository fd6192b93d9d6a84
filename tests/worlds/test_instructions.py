"""The world of instructions: constraints fit together, the oracle agrees with IFEval's rules, noise is as it is set."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.world_judge import judgment
from recipes.worlds.instructions import (
    PIECES,
    TEMPLATE,
    WORDS,
    InstructionsWorld,
    as_read,
    chats,
    constraints_of,
    follow,
    judging,
    labelled,
    oracle,
    question_parts,
    readings,
)
from vouching.errors import ConfigError
from vouching.methods.checklist.game import against_rules, task_of
from vouching.methods.checklist.prompt import item_messages, whole_messages

SEEDS = st.integers(0, 1000)


@given(SEEDS)
def test_a_response_without_slips_follows_every_constraint(seed: int) -> None:
    draw = random.Random(seed)
    for row in InstructionsWorld().rows(8, seed):
        response = follow(constraints_of(row["prompt"][0]["content"]), draw)
        assert oracle(response, row) == {"oracle/items": 1.0, "oracle/all": 1.0, "oracle/plain": 1.0}


@given(SEEDS)
def test_the_oracle_agrees_with_the_rules_of_ifeval(seed: int) -> None:
    draw = random.Random(seed)
    for row in InstructionsWorld().rows(8, seed):
        response = follow(constraints_of(row["prompt"][0]["content"]), draw, slips=0.4)
        assert against_rules(task_of(row), response, 0.0)["oracle/all"] == oracle(response, row)["oracle/all"]


def test_the_oracle_counts_each_constraint() -> None:
    row = {"constraints": [["count", "3"], ["first", "owl"], ["last", "sun"], ["has", "red"], ["lacks", "fox"]]}
    assert oracle("owl red sun", row)["oracle/items"] == 1.0
    assert oracle("red owl fox cat", row)["oracle/items"] == 0.2  # only "red" is used
    assert oracle("", row) == {"oracle/items": 0.0, "oracle/all": 0.0, "oracle/plain": 0.0}
    assert oracle("owl red moose sun", row)["oracle/plain"] == 0.0


def test_instructions_of_the_held_out_part_do_not_occur_in_training() -> None:
    asked = {
        part: {row["prompt"][0]["content"] for row in InstructionsWorld().rows(2000, 0, part)}
        for part in ("train", "held-out")
    }
    assert not asked["train"] & asked["held-out"]
    assert InstructionsWorld().rows(5, 1) == InstructionsWorld().rows(5, 1)


def test_instructions_have_two_to_six_constraints_and_one_question_each() -> None:
    rows = InstructionsWorld().rows(500, 0)
    assert {len(row["constraints"]) for row in rows} == {2, 3, 4, 5, 6}
    for row in rows:
        said = [tuple(one) for one in row["constraints"]]
        assert [constraints_of(question)[0] for question in row["checklist"]] == said
        assert constraints_of(row["prompt"][0]["content"]) == said


def test_slips_and_errors_of_judgments_have_the_rates_that_are_set() -> None:
    rows = InstructionsWorld().rows(3000, 0)
    lines = [*chats(rows, 0, slips=0.2, missed=0.1, passed=0.3)]
    said = [line["messages"][-1]["content"] for line in lines]
    kept = sum(oracle(one, row)["oracle/items"] for one, row in zip(said[::2], rows, strict=True)) / len(rows)
    assert kept == pytest.approx(0.8, abs=0.02)  # the standard error is below .005
    labels = [item["l"] for item in labelled(rows, 0)]
    wrong = [
        [one != ("yes" if label else "no") for one, label in zip(said[1::2], labels, strict=True) if label == held]
        for held in (1, 0)
    ]
    assert [sum(one) / len(one) for one in wrong] == pytest.approx([0.1, 0.3], abs=0.03)


def test_the_question_of_training_is_made_of_single_tokens_and_the_world_s_own_words() -> None:
    [item] = labelled(InstructionsWorld().rows(1, 0), 0)
    text = judging(item)[0].content
    for piece in question_parts():
        assert text.count(piece) == 1
        text = text.replace(piece, " ")
    assert text.split() == [*item["x"].split(), *item["y"].split(), *item["c"].split()]


def test_a_word_is_read_as_the_same_piece_wherever_it_stands_and_a_question_ends_with_it() -> None:
    jinja2 = pytest.importorskip("jinja2")
    row, *_ = InstructionsWorld(5, 6).rows(1, 0)
    [item] = labelled([row], 0)
    for message in (row["prompt"][0]["content"], judging(item)[0].content):
        read = as_read(message)
        said = [{"role": "user", "content": message}, {"role": "assistant", "content": item["y"]}]
        assert jinja2.Template(TEMPLATE).render(messages=said) == f"{read} {item['y']}<end>"
        rest = re.sub("|".join(map(re.escape, sorted(PIECES, key=len, reverse=True))), "", read)
        assert set(rest) <= {".", "?"}
    assert as_read(judging(item)[0].content).endswith(f" {item['c'].removesuffix('?')}")


def test_readings_repeat_judge_words_and_judge_the_checklist_as_the_oracle_does() -> None:
    rows = InstructionsWorld().rows(20, 0)
    lines = readings(rows, 0)
    for row, repeated, words, items in zip(rows, lines, lines, lines, strict=True):
        asked = row["prompt"][0]["content"]
        response = repeated["messages"][-1]["content"].removeprefix(f"{asked} ")
        assert [*re.findall(r"Does it use (\w+) yes", words["messages"][-1]["content"])] == [
            word
            for word in re.findall(r"Does it use (\w+)", words["messages"][-1]["content"])
            if word in response.split()
        ]
        held = [float(one == "yes") for one in items["messages"][-1]["content"].split() if one in ("yes", "no")]
        assert sum(held) / len(held) == oracle(response, row)["oracle/items"]


@pytest.mark.parametrize("whole", [False, True])
def test_the_noisy_judge_errs_as_often_as_its_name_says_and_says_the_same_again(whole: bool) -> None:
    rows = InstructionsWorld(2, 3).rows(3000, 0)
    draw, said = random.Random(0), {True: list[str](), False: list[str]()}
    name = ("whole" if whole else "items") + "-0.9-0.7"
    for row in rows:
        x = row["prompt"][0]["content"]
        y = follow(constraints_of(x), draw, slips=0.4)
        messages = whole_messages(x, y) if whole else item_messages(x, y, row["checklist"][0], wording="paper")
        held = oracle(y, row)["oracle/all"] == 1.0
        if not whole:
            held = oracle(y, {"constraints": row["constraints"][:1]})["oracle/all"] == 1.0
        said[held].append(judgment(name, messages[-1].content))
        assert judgment(name, messages[-1].content) == said[held][-1]
        assert judgment(name.replace("0.9-0.7", "1-1"), messages[-1].content) == ("yes" if held else "no")
    assert said[True].count("yes") / len(said[True]) == pytest.approx(0.9, abs=0.03)
    assert said[False].count("no") / len(said[False]) == pytest.approx(0.7, abs=0.04)


@pytest.mark.parametrize(("fewest", "most"), [(1, 3), (3, 2), (2, 7)])
def test_numbers_of_constraints_out_of_range_are_refused(fewest: int, most: int) -> None:
    with pytest.raises(ConfigError, match=f"from 2 to 6, got {fewest} to {most}"):
        InstructionsWorld(fewest, most)


def test_a_rate_out_of_range_and_a_text_of_another_world_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"passed must be in \[0, 1\], got 2"):
        next(chats(InstructionsWorld().rows(1, 0), 0, 0.0, passed=2))
    with pytest.raises(ConfigError, match="not of the world of instructions"):
        constraints_of("Write a poem.")
    assert len({*WORDS}) == 10
