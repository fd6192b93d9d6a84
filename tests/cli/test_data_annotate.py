"""``vouch data annotate``: accepted, rejected, prompts, resuming."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.methods.scripts import CLAIM, RIGHT, SOURCE, WRONG, reply
from vouching.cli.data import ended
from vouching.cli.streams import Exit, show_rows
from vouching.errors import InputError, ModelUnavailableError
from vouching.methods.structured.prompt import structured_prompt
from vouching.methods.structured.reply import Reply, parse_reply
from vouching.methods.structured.teacher import Demand, Teacher
from vouching.methods.structured.teacher import annotate_rows as annotated
from vouching.models import ScriptedModel
from vouching.rows import MadeFiles

ROWS: list[dict[str, Any]] = [
    {"id": "a", "claim": CLAIM, "source": SOURCE, "label": "Not Attributable", "group": "d1"},
    {"id": "b", "claim": "The bridge opened in 1973.", "sources": [SOURCE, "It is long."], "gold": "Attributable"},
    {"id": "c", "claim": "The bridge opened once.", "source": SOURCE, "label": "Attributable"},
    {"id": "d", "claim": "The bridge opened late.", "source": SOURCE},
]
SCRIPT = {
    r"cannot be used|opened once": "no record",
    r"in 1937": reply(),
    r"in 1973\.\n<<<\w+ end of claim": reply(RIGHT),
    r"opened late": reply(RIGHT),
}
"""Row c never gets a record."""


@dataclass(frozen=True)
class AnnotateOptions:
    """What the command is given."""

    input: str
    output: Path
    demands: tuple[Demand, ...] = ()
    prompts: Path | None = None
    max_tokens: int = 1024
    resume: bool = False

    @property
    def rejected(self) -> Path:
        return self.output.with_suffix(".rejected.jsonl")


def annotate_rows(options: AnnotateOptions, model: ScriptedModel) -> Exit:
    """As the command does it."""
    files = MadeFiles(options.input, options.output, options.resume)
    teacher = Teacher(model, options.demands, max_tokens=options.max_tokens)
    return ended(annotated(files, teacher, options.prompts, show_rows))


def written(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def options(tmp_path: Path) -> AnnotateOptions:
    return AnnotateOptions(written(tmp_path / "rows.jsonl", ROWS), tmp_path / "sft.jsonl", prompts=tmp_path / "p.jsonl")


def test_accepted_rows_become_chats_and_rejected_ones_go_apart_with_reasons(
    options: AnnotateOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    assert annotate_rows(options, ScriptedModel(SCRIPT)) == Exit.OK
    accepted = lines(options.output)
    assert [row["id"] for row in accepted] == ["a", "b", "d"]
    assert [message["role"] for message in accepted[0]["messages"]] == ["system", "user", "assistant"]
    assert accepted[0]["messages"][0]["content"] == structured_prompt().system  # not the teacher's
    assert parse_reply(accepted[0]["messages"][2]["content"], Reply) == parse_reply(json.dumps(WRONG), Reply)
    assert (accepted[0]["gold"], accepted[0]["group"]) == ("Not Attributable", "d1")
    [rejected] = lines(options.output.with_suffix(".rejected.jsonl"))
    assert (rejected["id"], rejected["attempts"], len(rejected["faults"])) == ("c", 3, 3)
    # 3 of 4 rows have a record; of the 3 with a label, a and b have the right one, and a has a type and a fix.
    assert capsys.readouterr().err.splitlines() == [
        f"vouch: 3 of 4 rows accepted (75.0 %); the others are in {options.output.with_suffix('')}"
        ".rejected.jsonl, with reasons",
        "vouch: rows with the right form: 3 (75.0 %)",
        "vouch: rows that also have the gold label, type and fix: 2 (66.7 %) of the rows with a label; not all of "
        "these were required",
    ]


def test_the_student_s_prompt_can_be_the_short_one_and_its_record_has_only_what_it_asks(
    options: AnnotateOptions,
) -> None:
    teacher, files = Teacher(ScriptedModel(SCRIPT)), MadeFiles(options.input, options.output)
    assert ended(annotated(files, teacher, options.prompts, show_rows, "short")) == Exit.OK
    chat = lines(options.output)[0]["messages"]
    assert chat[0]["content"] == structured_prompt(wording="short").system
    assert "revised_claim" not in json.loads(chat[2]["content"])
    assert options.prompts is not None
    assert lines(options.prompts)[0]["prompt"] == chat[:2]


def test_prompts_alone_are_written_for_every_row_with_what_a_reward_needs(options: AnnotateOptions) -> None:
    annotate_rows(options, ScriptedModel(SCRIPT))
    assert options.prompts is not None
    prompts = lines(options.prompts)
    assert [row["id"] for row in prompts] == ["a", "b", "c", "d"]
    assert [message["role"] for message in prompts[2]["prompt"]] == ["system", "user"]
    assert (prompts[1]["gold"], prompts[1]["claim"]) == ("Attributable", "The bridge opened in 1973.")
    assert prompts[1]["source"] == f"{SOURCE}\n\nIt is long."
    assert prompts[0]["prompt"] == lines(options.output)[0]["messages"][:2]


def test_a_row_that_was_not_answered_is_asked_again_and_the_files_are_those_of_a_run_that_had_all_answers(
    options: AnnotateOptions, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {"opened once": ModelUnavailableError("the server is down"), **SCRIPT}
    assert annotate_rows(options, ScriptedModel(broken)) == Exit.INCOMPLETE
    assert "rows.jsonl, line 3: the server is down" in capsys.readouterr().err
    assert [row["id"] for row in lines(options.output)] == ["a", "b", "d"]
    with pytest.raises(InputError, match="--resume"):
        annotate_rows(options, ScriptedModel(SCRIPT))
    again = ScriptedModel(SCRIPT)
    resumed = AnnotateOptions(options.input, options.output, prompts=options.prompts, resume=True)
    assert annotate_rows(resumed, again) == Exit.OK
    assert not any("in 1937" in asked.last for asked in again.asked)  # row a was not asked about again
    (tmp_path / "whole").mkdir()
    whole = AnnotateOptions(options.input, tmp_path / "whole" / "sft.jsonl")
    annotate_rows(whole, ScriptedModel(SCRIPT))
    assert whole.output.read_text() == options.output.read_text()


def test_a_row_that_cannot_be_used_is_named_and_the_others_go_on(
    options: AnnotateOptions, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": "x", "claim": CLAIM, "label": "maybe", "source": SOURCE}, *ROWS[:1]]
    given = AnnotateOptions(written(tmp_path / "more.jsonl", rows), options.output)
    assert annotate_rows(given, ScriptedModel(SCRIPT)) == Exit.INCOMPLETE
    assert (
        'more.jsonl, line 1: "label" must be Attributable (or 1) or Not Attributable (or 0), got '
        "'maybe'" in capsys.readouterr().err
    )
    assert [row["id"] for row in lines(options.output)] == ["a"]


def test_files_of_another_making_are_left_alone(options: AnnotateOptions, tmp_path: Path) -> None:
    options.output.write_text("precious\n")
    with pytest.raises(InputError, match="but no journal"):
        annotate_rows(options, ScriptedModel(SCRIPT))
    assert options.output.read_text() == "precious\n"
    with pytest.raises(InputError, match=r"must end in \.jsonl"):
        annotate_rows(AnnotateOptions(options.input, tmp_path / "sft.json"), ScriptedModel(SCRIPT))


@pytest.mark.parametrize("resume", [False, True])
def test_no_file_is_written_over_another(options: AnnotateOptions, resume: bool) -> None:
    if resume:
        annotate_rows(options, ScriptedModel(SCRIPT))
    before = {path: path.read_bytes() for path in options.output.parent.iterdir()}
    taken = (options.output, options.rejected, options.output.with_suffix(".journal.jsonl"), Path(options.input))
    for prompts in taken:
        with pytest.raises(InputError, match="two of these paths are the same file"):
            annotate_rows(replace(options, prompts=prompts, resume=resume), ScriptedModel(SCRIPT))
    assert {path: path.read_bytes() for path in options.output.parent.iterdir()} == before


def test_a_file_of_rejected_rows_that_is_somebody_elses_stays(options: AnnotateOptions) -> None:
    options.rejected.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"sft\.rejected\.jsonl but no journal"):
        annotate_rows(options, ScriptedModel(SCRIPT))
    assert options.rejected.read_text(encoding="utf-8") == "mine"


def test_a_label_is_not_demanded_of_rows_without_one_and_that_is_told(
    options: AnnotateOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    annotate_rows(replace(options, demands=("label",)), ScriptedModel(SCRIPT))
    # Of the four rows only d has none.
    assert (
        capsys.readouterr().err.splitlines()[0] == "vouch: rows without a gold label, whose labels were not checked: 1"
    )


def test_a_run_with_other_demands_is_named(options: AnnotateOptions) -> None:
    annotate_rows(replace(options, demands=("label",)), ScriptedModel(SCRIPT))
    with pytest.raises(InputError, match="was made with demands label, but demands is now none: use the same"):
        annotate_rows(replace(options, resume=True), ScriptedModel(SCRIPT))


def test_the_length_of_a_reply_reaches_the_teacher(options: AnnotateOptions) -> None:
    model = ScriptedModel(SCRIPT)
    annotate_rows(replace(options, max_tokens=7), model)
    assert {call.sampling.max_tokens for call in model.asked} == {7}
