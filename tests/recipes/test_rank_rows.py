"""Pairs are read and checked, questions held out as wholes, and settings named where they are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipes.rank.rows import RankPair, RatedAnswer, hold_out, input_of, pair_of, questions_of, read_pairs
from recipes.rank.settings import RankConfig
from recipes.rank.train import main
from vouching.cli.streams import Exit
from vouching.errors import ConfigError, InputError
from vouching.settings import read_settings

RECIPES = Path(__file__).parents[2] / "recipes/rank"
RIGHT = RatedAnswer("In 1973.", "correct", ("It opened in 1973.", "It is old."), "The year agrees.")
WRONG = RatedAnswer("In 1937.", "incorrect")


def pair(question: str, number: int = 0) -> RankPair:
    return RankPair(f"{question}/{number}", "set", question, question, RIGHT, WRONG)


def test_a_scorer_reads_what_it_is_shown_and_no_more() -> None:
    asked = "Question: When?\nAnswer: In 1973.\n"
    facts = "Useful facts: It opened in 1973.; It is old."
    assert input_of("When?", RIGHT, "Search: opening", "none").text == asked
    assert input_of("When?", RIGHT, "Search: opening", "facts").text == asked + facts
    assert (
        input_of("When?", RIGHT, "Search: opening", "compressed").text == f"{asked}{facts}\nReasoning: The year agrees."
    )
    assert input_of("When?", RIGHT, "Search: opening", "full").text == asked + "Search: opening"


@given(st.lists(st.tuples(st.text(max_size=5), st.integers(0, 3)), max_size=40), st.floats(0, 1), st.integers(0, 9))
def test_no_question_is_on_both_sides_and_no_pair_is_lost(
    asked: list[tuple[str, int]], share: float, seed: int
) -> None:
    pairs = [pair(question, number) for question, number in asked]
    train, held = hold_out(pairs, share, seed)
    assert {one.question for one in train}.isdisjoint(one.question for one in held)
    assert sorted(one.id for one in (*train, *held)) == sorted(one.id for one in pairs)


def test_other_pairs_do_not_move_what_is_held_out() -> None:
    many = [pair(f"question {i}") for i in range(2000)]
    _, held = hold_out(many, 0.1, 0)
    assert 150 < len(held) < 250  # 2,000 draws at .1: mean 200, standard deviation 13
    assert hold_out(many[:500], 0.1, 0)[1] == [one for one in held if one in many[:500]]
    assert hold_out(many, 0.1, 1)[1] != held


def test_a_question_has_each_of_its_answers_once() -> None:
    late = RatedAnswer("In 1974.", "incorrect")
    pairs = [pair("a"), RankPair("2", "set", "a", "a", RIGHT, late), pair("b")]
    assert [[one.answer for one in found.answers] for found in questions_of(pairs)] == [
        ["In 1973.", "In 1937.", "In 1974."],
        ["In 1973.", "In 1937."],
    ]
    assert questions_of(pairs)[0].worth == [2, 0, 0]


def test_questions_that_share_a_name_stay_apart() -> None:
    named = [RankPair("1", "set", "document 7", question, RIGHT, WRONG) for question in ("When?", "Where?")]
    assert [one.question for one in questions_of(named)] == ["When?", "Where?"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": " "}, "\"question\" must be a non-empty string, got ' '"),
        ({"better": "1973"}, "\"better\" must be an object with .*, got '1973'"),
        (
            {"worse": {"answer": "1937", "label": "wrong"}},
            "unknown label 'wrong' of \"worse\"; expected one of correct",
        ),
        ({"worse": {"answer": "1937", "facts": "It."}}, '"facts" of "worse" must be a list of strings, got \'It.\''),
        (
            {"worse": {"answer": "1974", "label": "correct"}},
            r'the label of "better" \(correct\) must be better than that of "worse" \(correct\)',
        ),
    ],
)
def test_a_row_that_is_no_pair_is_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    record = {"question": "When?", "better": {"answer": "1973"}, "worse": {"answer": "1937"}}
    assert pair_of(record, "r").better.label == "correct"
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{json.dumps(record)}\n{json.dumps({**record, **change})}\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"pairs\.jsonl, line 2: {message}"):
        read_pairs([path])


@pytest.mark.parametrize("path", sorted(RECIPES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_recipe_can_be_read(path: Path) -> None:
    assert read_settings(RankConfig, path).pairs


@pytest.mark.parametrize(
    ("name", "expected"),
    [("qwen2.5-7b", (2e-4, 8, 32, 0.05)), ("qwen3-4b", (1e-4, 0, 32, 0.05))],
)
def test_the_paper_s_settings_are_those_of_its_table_8(name: str, expected: tuple[float, int, float, float]) -> None:
    config = read_settings(RankConfig, RECIPES / f"{name}.toml")
    assert (config.learning_rate, config.lora_rank, config.lora_alpha, config.dropout) == expected
    assert (config.margin, config.max_tokens, config.epochs, config.precision) == (0.1, 1024, 3, "bfloat16")
    zero = json.loads((RECIPES.parents[1] / config.deepspeed).read_text(encoding="utf-8"))
    assert zero["zero_optimization"]["stage"] == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pairs": ()}, "pairs must not be empty: list the files"),
        ({"margin": 0.0}, "margin must be above 0"),
        ({"held_share": 1.0}, "held_share must be above 0 and below 1"),
        ({"lora_rank": -1}, "lora_rank must be at least 0"),
    ],
)
def test_a_setting_out_of_range_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RankConfig(**{"pairs": ("a.jsonl",), **settings})


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("margn=0.2", "unknown setting 'margn'; did you mean 'margin'?"),
        ("threads=many", "threads must be a valid integer, got 'many'"),
        ("margin=-1", "margin must be above 0"),
        ("pairs=mine.jsonl", """pairs must be a list, such as ["one", "two"], got 'mine.jsonl'"""),
        ("pairs=[1]", "item 1 of pairs must be a valid string, got 1"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line(
    setting: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(RECIPES / "cpu.toml"), setting, "--out", str(tmp_path / "run")]) == Exit.USAGE
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "run").exists()
