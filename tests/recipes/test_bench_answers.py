"""Questions through a scripted model: the sets, exact match, F1, judged, faithful, eight drafts and their majority."""

from __future__ import annotations

import asyncio
import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from recipes.bench.answer_task import answer_figures
from recipes.bench.answers import AnswerRow, ScoredAnswer, score_answer
from recipes.bench.run import app
from recipes.bench.sets import ANSWERS
from tests.bench.samples import write_rows
from tests.cli.chat_server import chat_server
from vouching.answering.answer import AnswerConfig, Answerer
from vouching.bench.rows import Fault
from vouching.cli.streams import Exit
from vouching.errors import ModelUnavailableError
from vouching.models import ScriptedModel
from vouching.models.base import Completion
from vouching.shortcuts import open_audit
from vouching.types import Source, Usage

SOURCE = Source("The Sarn bridge opened in 1973. It is 64 metres long.", "a")
ROW = AnswerRow("q", "When did the Sarn bridge open?", (SOURCE,), ("1973", "in 1973"))
RIGHT = "Response: The Sarn bridge opened in 1973.\nAnswer: 1973"
NEAR = "Response: The Sarn bridge opened in 1973.\nAnswer: 1973 AD"
WRONG = "Response: The Sarn bridge opened in 1937.\nAnswer: 1937"
RULES = open_audit("embedded:rules", "embedded")


def scored(drafts: Sequence[str | Completion | Exception], row: AnswerRow = ROW, marks: bool = False) -> ScoredAnswer:
    async def mark(row: AnswerRow, answer: str) -> bool | None:
        return None if answer == "no idea" else answer in row.references

    answerer = Answerer(ScriptedModel(drafts), RULES, AnswerConfig(generations=len(drafts)))
    return asyncio.run(score_answer(row, answerer, mark if marks else None))


def figures(*rows: ScoredAnswer) -> dict[str, float | None]:
    found = answer_figures(rows, resamples=0)["metrics"]
    return {name: None if one is None else one["estimate"] for name, one in found.items()}


def test_words_are_measured_of_each_draft_and_of_the_majority() -> None:
    line = scored([RIGHT, RIGHT, NEAR, WRONG])
    assert line["exact"] == [1.0, 1.0, 0.0, 0.0]
    # "1973 AD" has one of two words right: precision 1/2, recall 1 against "1973", F1 2/3.
    assert line["f1"] == [1.0, 1.0, pytest.approx(2 / 3), 0.0]
    assert (line["answer"], line["votes"], line["exact_majority"]) == ("1973", 3, 1.0)
    found = figures(line)
    assert found["exact_match"] == 0.5
    assert found["f1"] == pytest.approx((1 + 1 + 2 / 3) / 4, abs=1e-4)
    assert (found["f1_majority"], found["judged"]) == (1.0, None)


def test_a_draft_that_was_cut_off_counts_as_wrong_in_the_words_of_a_draft() -> None:
    line = scored([RIGHT, Completion("Response: It", "length", Usage())])
    assert (line["unusable"], line["exact_majority"]) == (1, 1.0)
    assert figures(line)["exact_match"] == 0.5  # one of two drafts


def test_eight_drafts_are_judged_one_by_one_and_a_tie_is_no_majority() -> None:
    assert figures(scored([RIGHT] * 4 + [WRONG] * 4, marks=True))["judged_majority"] == 0.0
    found = figures(scored([RIGHT] * 5 + [WRONG] * 3, marks=True))
    assert (found["judged"], found["judged_majority"]) == (0.625, 1.0)
    assert (found["faithful"], found["faithful_majority"]) == (0.625, 1.0)


def test_a_draft_that_a_judge_cannot_mark_is_left_out() -> None:
    found = figures(scored(["Answer: no idea", RIGHT], marks=True))
    assert (found["judged"], found["judged_majority"]) == (1.0, 1.0)


def test_no_usable_draft_counts_as_wrong_in_every_figure() -> None:
    failed = scored([Completion(RIGHT, "length", Usage())], marks=True)
    assert failed["failed"].startswith("all drafts are cut off or empty (1 generated)")
    found = figures(failed, scored([RIGHT], marks=True))
    assert {name: value for name, value in found.items() if value != 0.5} == {}


def test_an_abstention_is_wrong_but_not_unfaithful() -> None:
    found = figures(scored(["Answer: not in the sources"]), scored([RIGHT]))
    assert (found["exact_match_majority"], found["faithful_majority"]) == (0.5, 1.0)


def test_a_model_out_of_reach_is_raised_for_the_run_to_stop() -> None:
    with pytest.raises(ModelUnavailableError):
        scored([ModelUnavailableError("busy")])


def test_requests_are_measured_by_task() -> None:
    asked = [AnswerRow(task, "Summarise it.", (SOURCE,), (), task, task) for task in ("qa", "summary")]
    lines = [scored([SOURCE.text], asked[0]), scored(["It opened in 1937."] * 3, asked[1])]
    found = answer_figures(lines, resamples=0)
    assert found["metrics"]["exact_match"] is None
    assert [one["metrics"]["faithful_majority"]["estimate"] for one in found["parts"].values()] == [1.0, 0.0]
    assert found["macro"] == {"faithful_majority": 0.5}


def test_gold_answers_score_1_and_spoiled_ones_less() -> None:
    rows = [AnswerRow(f"q{n}", f"When {n}?", (SOURCE,), (f"19{n}", f"{n}")) for n in range(10, 30)]
    gold = [scored([f"Answer: {row.references[0]}"], row) for row in rows]
    spoiled = [scored([f"Answer: {'no' if n % 10 == 0 else row.references[0]}"], row) for n, row in enumerate(rows)]
    assert figures(*gold)["exact_match"] == figures(*gold)["f1_majority"] == 1.0
    assert figures(*spoiled)["exact_match"] == 0.9


def sample_data(folder: Path) -> Path:
    """A data folder with two multi-hop questions, three RAGTruth responses on two documents, and requests of FACTS."""
    context = [["Sarn bridge", [SOURCE.text]], ["Oslo", ["Oslo is a city."]]]
    facts = [["Sarn bridge", 0]]
    questions = [
        {
            "_id": f"q{n}",
            "question": f"When did bridge {n} open?",
            "answer": "1973",
            "context": context,
            "supporting_facts": facts,
        }
        for n in range(2)
    ]
    write_rows(folder / "multihop" / "hotpot_test200.jsonl.gz", questions)
    responses: list[dict[str, Any]] = [
        {"id": f"r{n}", "task": task, "source_id": source, "question": "When?", "response": "x", "source": SOURCE.text}
        for n, (task, source) in enumerate([("qa", "1"), ("qa", "1"), ("data2txt", "2"), ("poem", "3")])
    ]
    write_rows(folder / "attribution" / "test" / "ragtruth.jsonl.gz", responses)
    passages = [{"id": str(n), "claim": "c", "source": f"Passage {n // 2}."} for n in range(4)]
    write_rows(folder / "attribution" / "test" / "faithbench.jsonl.gz", passages)
    (folder / "facts_grounding").mkdir(parents=True)
    with (folder / "facts_grounding" / "examples.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["system_instruction", "user_request", "context_document", "full_prompt"])
        writer.writerow(["Answer from the document alone.", "When did it open?", SOURCE.text, "..."])
        writer.writerow(["", "How long is it?", SOURCE.text, "..."])
    return folder


def test_the_layouts_are_read_and_each_document_is_asked_about_once(tmp_path: Path) -> None:
    data = sample_data(tmp_path)
    found = {name: [*one.rows(data, "test")] for name, one in ANSWERS.items() if one.paths(data, "test")}
    rows = {name: [row for row in read if isinstance(row, AnswerRow)] for name, read in found.items()}
    assert [(row.id, row.references, len(row.sources)) for row in rows["hotpotqa"]] == [
        ("q0", ("1973",), 2),
        ("q1", ("1973",), 2),
    ]
    assert [(row.id, row.part) for row in rows["ragtruth_requests"]] == [("qa-1", "qa"), ("data2txt-2", "data2txt")]
    assert [str(one) for one in found["ragtruth_requests"] if isinstance(one, Fault)] == [
        "ragtruth.jsonl.gz, line 4: unknown task 'poem'; expected one of qa, summary, data2txt"
    ]
    assert len(rows["faithbench_requests"]) == 2
    assert [row.question for row in rows["facts_requests"]] == [
        "Answer from the document alone.\n\nWhen did it open?",
        "How long is it?",
    ]


def bench(tmp_path: Path, said: str, *arguments: str) -> tuple[Result, dict[str, Any]]:
    data, out = sample_data(tmp_path / "data"), tmp_path / "out"
    with chat_server(lambda asked: "<verdict>correct</verdict>" if "reference" in asked else said) as model:
        given = [one.replace("MODEL", model) for one in arguments]
        result = CliRunner(env={"VOUCH_DATA": str(data)}).invoke(
            app, ["answers", *given, "--model", model, "--out", str(out)]
        )
    path = out / "results.json"
    return result, json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def test_a_run_writes_rows_figures_and_a_report(tmp_path: Path) -> None:
    options = ("--judge", "embedded:rules", "--method", "embedded", "--generations", "3", "--marker", "MODEL")
    result, results = bench(tmp_path, RIGHT, "hotpotqa", *options)
    assert result.exit_code == Exit.OK, result.stderr
    found = results["sets"]["hotpotqa"]
    assert (found["rows"], found["metrics"]["exact_match_majority"]["estimate"]) == (2, 1.0)
    assert found["metrics"]["judged_majority"]["estimate"] == 1.0
    assert found["metrics"]["faithful"]["estimate"] == 1.0
    assert "--generations 3" in results["command"]
    assert re.search(r"all rows +2 +0 +exact match +1\.000", result.stdout)
    assert "MARCH general" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_ten_examples_of_ones_own_are_shown_before_each_question(tmp_path: Path) -> None:
    shots, seen = tmp_path / "shots.jsonl", list[int]()
    write_rows(shots, [{"question": f"Who is {n}?", "source": "She is Ada.", "answer": f"Ada {n}"} for n in range(10)])

    def counting(conversation: str) -> str:
        seen.append(len(re.findall(r"Answer: Ada \d", conversation)))
        return RIGHT

    with chat_server(counting, whole=True) as model:
        arguments = ("hotpotqa", "--prompt", "few-shot", "--shots", str(shots), "--out", str(tmp_path / "out"))
        result = CliRunner(env={"VOUCH_DATA": str(sample_data(tmp_path / "data"))}).invoke(
            app, ["answers", *arguments, "--model", model]
        )
    assert result.exit_code == Exit.OK, result.stderr
    assert {*seen} == {10}
    assert f"--shots {shots}" in json.loads((tmp_path / "out/results.json").read_text("utf-8"))["command"]


def test_requests_need_no_known_answer(tmp_path: Path) -> None:
    result, results = bench(
        tmp_path, SOURCE.text, "facts_requests", "--judge", "embedded:rules", "--method", "embedded"
    )
    assert result.exit_code == Exit.OK, result.stderr
    metrics = results["sets"]["facts_requests"]["metrics"]
    assert (metrics["exact_match"], metrics["faithful_majority"]["estimate"]) == (None, 1.0)
    assert "exact match" not in result.stdout


def test_without_a_model_nothing_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VOUCH_MODEL", raising=False)
    environment = {"VOUCH_DATA": str(sample_data(tmp_path / "data"))}
    result = CliRunner(env=environment).invoke(app, ["answers", "hotpotqa", "--out", str(tmp_path / "out")])
    assert result.exit_code == Exit.USAGE
    assert "set VOUCH_MODEL" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_row_that_cannot_be_read_is_not_counted_against_the_model(tmp_path: Path) -> None:
    options = ("--judge", "embedded:rules", "--method", "embedded")
    result, results = bench(tmp_path, SOURCE.text, "ragtruth_requests", *options)
    assert result.exit_code == Exit.INCOMPLETE
    found = results["sets"]["ragtruth_requests"]
    assert (found["rows"], found["broken"], found["failed"]) == (2, 1, 0)
    assert found["macro"] == {"faithful_majority": 1.0}
    assert "Unreadable rows, excluded: 1" in result.stdout
