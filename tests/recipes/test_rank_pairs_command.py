"""``python recipes/rank/pairs.py``: made answers, answers of models, rejects, preferences, resuming."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from recipes.rank.pairs import pairs_command
from recipes.rank.rows import read_pairs
from tests.cli.chat_server import chat_server
from tests.cli.folder_commands import RowCommand, folder_of, lines_of
from vouching.cli.streams import Exit
from vouching.prompts import load_prompt

ROWS: list[dict[str, Any]] = [
    {
        "id": "a",
        "question": "When did Ada Moore die?",
        "reference": "3 May 1899",
        "sources": [{"title": "Ada Moore", "text": "Ada Moore was born on 9 June 1821. She died on 3 May 1899."}],
    },
    {"id": "b", "question": "Is Ulm in France?", "reference": "no"},
    {"id": "c", "question": "What did she die of?", "reference": "heart failure"},
]


@dataclass(frozen=True)
class PairOptions:
    """What the command is given."""

    input: str
    output: Path
    models: tuple[str, ...] = ()
    judge: str | None = None
    per_model: int = 2
    dpo: Path | None = None
    resume: bool = False


def make_pairs(options: PairOptions) -> Exit:
    """How the command ends."""
    with pytest.raises(typer.Exit) as ended:
        pairs_command(
            options.input,
            options.output,
            [*options.models],
            options.judge,
            options.per_model,
            dpo=options.dpo,
            resume=options.resume,
        )
    return Exit(ended.value.exit_code)


def written(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def options(tmp_path: Path) -> PairOptions:
    return PairOptions(written(tmp_path / "asked.jsonl", ROWS), tmp_path / "pairs.jsonl", dpo=tmp_path / "dpo.jsonl")


def answering(asked: str) -> str | int:
    """Answers, marks and compares: whatever has 1899 in it is right."""
    texts = [line for line in asked.splitlines() if not line.startswith("<<<")]
    if "answer 2" in asked:
        order = "1 > Answer 2" if "1899" in texts[-2] else "2 > Answer 1"
        return f"<verdict>Answer {order}</verdict>"
    if "reference" in asked:
        return f"<verdict>{'correct' if '1899' in texts[-1] else 'incorrect'}</verdict>"
    return "In May 1899." if "Ada" in asked else "No."


def test_without_a_model_the_right_answer_is_set_against_made_ones(
    options: PairOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make_pairs(options) == Exit.OK
    pairs = read_pairs([options.output])
    assert {one.group for one in pairs} == {"a", "b"}
    assert {one.set for one in pairs} == {"asked"}
    assert {one.better.label for one in pairs} == {"correct"}
    assert any("9 June 1821" in one.worse.answer for one in pairs)
    # Its own paragraph is the evidence, since nothing was searched; there is none for the second question.
    assert any("died on 3 May 1899" in fact for fact in pairs[0].better.facts)
    assert pairs[-1].better.facts == ()
    preferences = lines(options.dpo or Path())
    assert [(row["chosen"], row["rejected"]) for row in preferences] == [
        (one.better.answer, one.worse.answer) for one in pairs
    ]
    [rejected] = lines(options.output.with_suffix(".rejected.jsonl"))
    assert (rejected["id"], rejected["answers"]) == ("c", [])
    assert (
        capsys.readouterr().err.splitlines()[-1] == f"vouch: {len(pairs)} pairs; questions with a pair: 2 of 3 (66.7 %)"
        f"; the reasons for the others are in {options.output.with_suffix('.rejected.jsonl')}"
    )


def test_models_answer_and_a_judge_marks_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{**ROWS[0], "answers": ["In 1899.", "In 1821.", "Long ago."]}, ROWS[1]]
    with chat_server(answering) as model:
        options = PairOptions(
            written(tmp_path / "asked.jsonl", rows), tmp_path / "pairs.jsonl", models=(model,), judge=model, per_model=1
        )
        assert make_pairs(options) == Exit.OK
    pairs = read_pairs([options.output])
    assert [(one.better.answer, one.worse.answer) for one in pairs] == [
        ("In 1899.", "In 1821."),
        ("In 1899.", "Long ago."),
    ]
    [rejected] = lines(options.output.with_suffix(".rejected.jsonl"))
    assert [(one["answer"], one["label"]) for one in rejected["answers"]] == [("No.", "incorrect")]
    assert capsys.readouterr().err.splitlines() == [
        "vouch: answers labelled by the judge: 4 of 4 (100.0 %)",
        "vouch: pairs confirmed by the judge: 2 of 2 (100.0 %)",
        "vouch: 2 pairs; questions with a pair: 1 of 2 (50.0 %); "
        f"the reasons for the others are in {options.output.with_suffix('.rejected.jsonl')}",
    ]


def test_the_search_model_is_asked_as_the_paper_prints_it_where_that_is_asked_for(tmp_path: Path) -> None:
    asked = list[str]()

    def compressing(prompt: str) -> str:
        asked.append(prompt)
        return ""

    questions = written(tmp_path / "asked.jsonl", ROWS[:1])
    with chat_server(compressing) as model, pytest.raises(typer.Exit):
        pairs_command(questions, tmp_path / "pairs.jsonl", search_model=model, wording="paper")
    printed = load_prompt("vouching.search", "paper_compress").text.partition("{{")[0]
    assert asked
    assert all(prompt.startswith(printed) for prompt in asked)
    with pytest.raises(typer.Exit) as refused:
        pairs_command(questions, tmp_path / "others.jsonl", wording="paper")
    assert refused.value.exit_code == Exit.USAGE


def test_a_run_that_stopped_goes_on_and_ends_like_one_that_did_not(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "id": str(i), "answers": ["In 1899.", f"In 18{i}."]} for i in range(10, 16)]
    down = False

    def sometimes(asked: str) -> str | int:
        return 503 if down and "1813" in asked else answering(asked)

    with chat_server(sometimes) as model:
        asked = written(tmp_path / "asked.jsonl", rows)
        whole = PairOptions(asked, tmp_path / "whole.jsonl", judge=model)
        assert make_pairs(whole) == Exit.OK
        down = True
        cut = PairOptions(asked, tmp_path / "cut.jsonl", judge=model)
        assert make_pairs(cut) == Exit.INCOMPLETE
        assert len(lines(cut.output)) < len(lines(whole.output))
        down = False
        assert make_pairs(PairOptions(asked, tmp_path / "cut.jsonl", judge=model, resume=True)) == Exit.OK
    assert cut.output.read_bytes() == whole.output.read_bytes()


def test_a_broken_row_is_named_and_the_others_are_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = PairOptions(
        written(tmp_path / "asked.jsonl", [{"id": "x", "question": "When?"}, ROWS[1]]), tmp_path / "p.jsonl"
    )
    assert make_pairs(options) == Exit.INCOMPLETE
    assert [one.group for one in read_pairs([options.output])] == ["b"]
    assert (
        'line 1: the row must have "question" and "reference", both non-empty strings; its keys are id, question'
        in capsys.readouterr().err
    )


def test_what_cannot_be_written_or_judged_is_refused(
    options: PairOptions, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(options: PairOptions) -> str:
        assert make_pairs(options) == Exit.USAGE
        return capsys.readouterr().err

    assert "must end in .jsonl" in refused(PairOptions(options.input, tmp_path / "pairs.csv"))
    without = PairOptions(options.input, tmp_path / "pairs.jsonl", models=("local:/qwen",))
    assert "--model requires --judge" in refused(without)
    (tmp_path / "there.jsonl").write_text("{}\n", encoding="utf-8")
    assert "but no journal" in refused(PairOptions(options.input, tmp_path / "there.jsonl"))
    assert make_pairs(options) == Exit.OK
    assert "--resume" in refused(options)


def test_real_models_answer_and_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")
    pytest.importorskip("torch", reason="the extra train (torch) is not installed")
    from tests.train.tiny_qwen import write_tiny_qwen

    model = f"local:{write_tiny_qwen(tmp_path / 'qwen', map(json.dumps, ROWS), context=4096)}"
    row = {**ROWS[0], "answers": ["In 1899.", "In 1821."]}
    asked = written(tmp_path / "asked.jsonl", [ROWS[1], row])
    assert (
        make_pairs(PairOptions(asked, tmp_path / "pairs.jsonl", models=(model,), judge=model, per_model=2)) == Exit.OK
    )
    # Random weights write no verdict: every answer is rejected with a reason, and none is a pair.
    rejected = lines(tmp_path / "pairs.rejected.jsonl")
    answered = [one for one in rejected if "answer" in one]
    assert [one["answer"] for one in answered[-2:]] == ["In 1899.", "In 1821."]
    assert all(one["fault"].startswith("the judge gave no mark: ") for one in answered)
    assert (tmp_path / "pairs.jsonl").read_text(encoding="utf-8") == ""


def test_pairs_of_a_folder_are_those_of_a_file(tmp_path: Path) -> None:
    lake, single = folder_of(RowCommand((), "questions.jsonl"), tmp_path)
    for rows, output in ((lake, "folder.jsonl"), (single, "file.jsonl")):
        assert make_pairs(PairOptions(str(rows), tmp_path / output)) == Exit.OK
    made, expected = lines_of(tmp_path / "folder.jsonl"), lines_of(tmp_path / "file.jsonl")
    assert [{**one, "set": ""} for one in made] == [{**one, "set": ""} for one in expected]  # the set is the input
