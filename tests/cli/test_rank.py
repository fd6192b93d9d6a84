"""``vouch rank``: one question, files of questions, where evidence comes from, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from tests.methods.discriminative.scorers import BRIDGE, QUESTION, TableScorer
from vouching.cli.app import app
from vouching.cli.streams import Exit
from vouching.errors import ModelUnavailableError
from vouching.methods.discriminative.generative import GenerativeRanker
from vouching.methods.discriminative.rank import Ranker, ScoringRanker, rank_work, seen_ranking
from vouching.models import ScriptedModel
from vouching.rows.journal import Journal, open_journal
from vouching.rows.read import open_rows
from vouching.rows.run import BatchSummary, run_batch
from vouching.types.serial import json_schema

ASKED = ["rank", "--question", QUESTION, "--answer", "In 1937.", "--answer", "In 1973."]
FILM = {
    "nosferatu.txt": "Nosferatu is a film directed by Friedrich Murnau. It was shown first in 1922.",
    "murnau.txt": "Friedrich Murnau was born in Bielefeld in 1888. He studied in Berlin.",
    "ulm.txt": "Ulm lies on the Danube. Albert Einstein was born there.",
}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def written(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index of three documents, of which two must be read one after the other."""
    (tmp_path / "films").mkdir()
    for name, text in FILM.items():
        (tmp_path / "films" / name).write_text(text, encoding="utf-8")
    result = run("index", "build", tmp_path / "films.index", tmp_path / "films")
    assert result.exit_code == Exit.OK, result.stderr
    return tmp_path / "films.index"


def test_the_supported_answer_stands_first_with_its_place_in_the_source() -> None:
    result = run(*ASKED, "--source-text", BRIDGE)
    assert result.exit_code == Exit.OK
    shown = result.stdout
    assert shown.index("1  In 1973.") < shown.index("2  In 1937.")
    assert "source-1:32-36" in shown
    assert BRIDGE[32:36] == "1973"
    assert "The claim says 1937, the source says 1973." in shown


def test_json_is_the_record_that_the_schema_describes() -> None:
    result = run(*ASKED, "--source-text", BRIDGE, "--json")
    ranking = json.loads(result.stdout)
    jsonschema.validate(ranking, json_schema("ranking"))
    assert [(answer["place"], answer["number"]) for answer in ranking["answers"]] == [(1, 2), (2, 1)]
    assert (ranking["mode"], ranking["scale"], ranking["kind"]) == ("full", "unit", "ranking")


def test_tied_answers_are_shown_as_tied() -> None:
    result = run(*ASKED, "--answer", "In 1973.", "--source-text", BRIDGE)
    assert result.stdout.count("1 tied  In 1973.") == 2
    assert "3  In 1937." in result.stdout


def test_answers_are_ranked_by_what_an_index_leads_to(index: Path) -> None:
    asked = "rank", "--question", "Where was the director of Nosferatu born?"
    result = run(*asked, "--answer", "In Ulm.", "--answer", "In Bielefeld.", "--index", index, "--json")
    assert result.exit_code == Exit.OK, result.stderr
    ranking = json.loads(result.stdout)
    assert ranking["answers"][0]["text"] == "In Bielefeld."
    assert len(ranking["trajectory"]["turns"]) > 1
    origins = {p["origin"] for turn in ranking["trajectory"]["turns"] for p in turn["result"]["passages"]}
    assert origins == {"index:films.index"}


def test_an_answer_that_nothing_was_found_for_has_no_place(index: Path) -> None:
    result = run("rank", "--question", "xyzzy?", "--answer", "plugh", "--answer", "plover", "--index", index)
    assert result.exit_code == Exit.INCOMPLETE
    assert result.stdout.count("Unverified") == 2 or result.stdout.count("not verified") >= 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--question", "When?"], "no answers were given"),
        (["--question", "When?", "--answer", "a"], "no evidence was given"),
        (["--question", "When?", "--answer", " ", "--source-text", "x"], "answer 1 is empty"),
        ([*ASKED[1:], "--source-text", "x", "--mode", "facts"], "reads the passages themselves"),
        ([*ASKED[1:], "--source-text", "x", "--mode", "agentic"], "pass a language model with --score-model"),
        ([*ASKED[1:], "--source-text", "x", "--mode", "generative"], "uses no evidence"),
        ([*ASKED[1:], "--mode", "no-search", "--search-model", "x"], "does not search"),
        ([*ASKED[1:], "--source-text", "x", "--score-model", "bogus"], "unknown scorer 'bogus'"),
        ([*ASKED[1:], "--source-text", "x", "--score-model", "http://h/v1#m"], "requires mode generative, agentic"),
        ([*ASKED[1:], "--source-text", "x", "--output", "o.jsonl"], "add --input"),
        ([*ASKED[1:], "--web", "bogus"], "unknown search engine 'bogus'"),
        ([*ASKED[1:], "--source", "nowhere.txt"], "nowhere.txt does not exist"),
        (["--input", "a.jsonl"], "--input requires --output"),
        (
            ["--input", "a.jsonl", "--output", "b.jsonl", "--answer", "a"],
            "--answer and --input cannot be used together",
        ),
        (["--input", "a.jsonl", "--output", "a.jsonl"], "different files"),
        (["--input", "a.jsonl", "--output", "-", "--resume"], "--resume requires a file for --output, got -"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error_of_one_line(arguments: list[str], message: str) -> None:
    result = run("rank", *arguments)
    assert result.exit_code == Exit.USAGE
    assert message in result.stderr
    assert result.stdout == ""


def test_each_row_gives_a_ranking_and_a_broken_one_says_why(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "question": QUESTION, "answers": ["In 1937.", "In 1973."], "sources": [BRIDGE]},
        {"id": "b", "question": QUESTION, "answers": ["In 1973."]},
        {"id": "c", "question": QUESTION, "answers": "In 1973.", "source": BRIDGE},
        {"question": QUESTION, "source": BRIDGE},
        {"id": "e", "question": QUESTION, "answers": ["In 1973.", ""], "source": BRIDGE},
    ]
    output = tmp_path / "out.jsonl"
    result = run("rank", "--input", written(tmp_path / "rows.jsonl", rows), "--output", output)
    assert result.exit_code == Exit.INCOMPLETE
    lines = lines_of(output)
    assert (lines[0]["id"], lines[0]["answers"][0]["text"]) == ("a", "In 1973.")
    assert [line["kind"] for line in lines] == ["ranking", *["unverified"] * 4]
    messages = [line["message"] for line in lines[1:]]
    wanted = [
        'the row has no "sources"',
        '"answers" must be a list of strings',
        'expected "question" and "answers"',
        "answer 2 is empty",
    ]
    assert all(words in message for words, message in zip(wanted, messages, strict=True))
    assert "5 rows, 2 answers; 4 of the rows cannot be used" in result.stderr


def test_rows_without_sources_are_told_where_sources_could_come_from(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", [{"question": QUESTION, "answers": ["In 1973."]}])
    for command, row in (("rank", rows), ("check", written(tmp_path / "claims.jsonl", [{"claim": "In 1973."}]))):
        result = run(command, "--input", row, "--output", tmp_path / f"{command}.jsonl")
        assert result.exit_code == Exit.INCOMPLETE
        assert "or search for sources with --index or --web" in result.stderr.splitlines()[0]


def test_a_run_that_was_cut_short_is_finished_and_other_settings_are_refused(tmp_path: Path) -> None:
    rows = [
        {"id": str(n), "question": QUESTION, "answers": ["In 1937.", "In 1973."], "source": f"{BRIDGE} Page {n}."}
        for n in range(4)
    ]
    path, output = written(tmp_path / "rows.jsonl", rows), tmp_path / "out.jsonl"
    assert run("rank", "--input", path, "--output", output).exit_code == Exit.OK
    whole = output.read_bytes()
    output.write_bytes(whole[: len(whole) // 2])
    note = json.loads((tmp_path / "out.jsonl.run.json").read_text())
    (tmp_path / "out.jsonl.run.json").write_text(json.dumps(note | {"rows": 0, "digest": ""}))
    assert run("rank", "--input", path, "--output", output, "--resume").exit_code == Exit.OK
    again = [{key: value for key, value in line.items() if key != "usage"} for line in lines_of(output)]
    before = [json.loads(line) for line in whole.splitlines()]
    assert again == [{key: value for key, value in line.items() if key != "usage"} for line in before]
    other = run("rank", "--input", path, "--output", output, "--resume", "--score-model", "factscore:embedded:rules")
    assert (other.exit_code, "was made with" in other.stderr) == (Exit.USAGE, True)
    assert "is already complete" in run("rank", "--input", path, "--output", output, "--resume").stderr


def batch(ranker: Ranker, rows: Path, journal: Journal, needed: bool = False) -> BatchSummary:
    with open_rows(str(rows)) as reader, journal:
        return run_batch(reader, journal, rank_work(ranker, needed), lambda line: seen_ranking("rows", line))


def test_failures_and_invalid_rankings_are_counted_apart(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", [{"id": n, "question": "q", "answers": ["a", "b"]} for n in "xyz"])
    said = ["<verdict>Answer 2 > Answer 1</verdict>", "<verdict>Answer 2</verdict>", "I cannot."]
    ranker = GenerativeRanker(ScriptedModel(said), "generative")
    summary = batch(ranker, rows, open_journal(str(tmp_path / "out.jsonl"), {}))
    assert dict(summary.counts) == {"answers": 6, "without a score": 4, "no ranking": 2}
    assert [line["invalid"] is None for line in lines_of(tmp_path / "out.jsonl")] == [True, False, False]


def test_a_model_out_of_reach_stops_the_run_so_that_it_can_be_resumed(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", [{"id": n, "question": "q", "answers": ["a", "b"]} for n in "rstuvwxy"])
    good = "<verdict>Answer 2 > Answer 1</verdict>"
    path = str(tmp_path / "out.jsonl")
    down = GenerativeRanker(ScriptedModel([good, *[ModelUnavailableError("the server is down")] * 9]), "generative")
    summary = batch(down, rows, open_journal(path, {}))
    assert (summary.rows + summary.ahead, summary.stopped) == (1, "the server is down")
    up = GenerativeRanker(ScriptedModel([good] * 7), "generative")  # the answered row is not asked about again
    summary = batch(up, rows, open_journal(path, {}, resume=True))
    assert (summary.rows, summary.stopped) == (8, None)


def test_rows_without_sources_are_fine_where_none_are_needed(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", [{"id": "x", "question": "q", "answers": ["a", "b"]}])
    ranker = ScoringRanker(TableScorer({"a": 1.0, "b": 2.0}), "no-search")
    assert batch(ranker, rows, open_journal(str(tmp_path / "out.jsonl"), {})).counts["answers"] == 2


def test_a_token_limit_is_a_setting_of_the_run_where_it_is_given(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.jsonl", [{"question": QUESTION, "answers": ["1973"], "source": BRIDGE}])
    settings = []
    for number, given in enumerate(([], ["--max-tokens", "64"])):
        output = tmp_path / f"{number}.jsonl"
        assert run("rank", "--input", rows, "--output", output, *given).exit_code == Exit.OK
        settings.append(json.loads((tmp_path / f"{number}.jsonl.run.json").read_text(encoding="utf-8"))["settings"])
    assert [one.get("max_tokens") for one in settings] == [None, 64]
