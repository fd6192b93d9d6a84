"""``vouch check`` and its kin with a language model behind a real socket."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from tests.cli.chat_server import chat_server
from tests.methods.scripts import CLAIM, RIGHT, SOURCE, reply
from vouching.checker import Checker
from vouching.cli.app import app
from vouching.cli.streams import Exit, usage_errors
from vouching.errors import (
    BackendError,
    ConfigError,
    ModelAnswerError,
    ModelDeadlineError,
    ModelUnavailableError,
    SearchError,
)
from vouching.methods.discriminative.open import open_scorer
from vouching.models import Sampling, ScriptedModel
from vouching.types import Verdict


def vouch(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    made = [
        {"id": f"r{n}", "claim": f"The bridge opened, page {n}.", "source": f"{SOURCE} Page {n}."} for n in range(30)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in [*made[:10], {"id": "bad"}, *made[10:]]))
    return path


def test_a_claim_is_checked_by_the_model_that_is_named() -> None:
    with chat_server(lambda asked: reply()) as model:
        result = vouch("check", CLAIM, "--source-text", SOURCE, "--model", model, "--json")
    assert result.exit_code == Exit.OK, result.stderr
    found = json.loads(result.stdout)
    assert (found["label"], found["provenance"]["model"]) == ("Not Attributable", model)
    assert (found["usage"]["prompt_tokens"], found["usage"]["calls"]) == (9, 1)


def test_votes_and_method_reach_the_model() -> None:
    said = iter(
        ['{"label": "Attributable", "confidence": 0.9}'] * 2 + ['{"label": "Not Attributable", "confidence": 1}']
    )
    lock = threading.Lock()

    def answer(asked: str) -> str:
        with lock:
            return next(said)

    with chat_server(answer) as model:
        result = vouch(
            "check", CLAIM, "--source-text", SOURCE, "--model", model, "--json", "--method", "label", "--votes", "3"
        )
    found = json.loads(result.stdout)
    assert (found["label"], round(found["score"], 3), found["provenance"]["votes"]) == ("Attributable", 0.667, 3)


def test_rows_are_asked_about_at_the_same_time_and_written_in_order(rows: Path) -> None:
    under_way, limit, lock, gate = 0, 0, threading.Lock(), threading.Barrier(4)

    def answer(asked: str) -> str:
        nonlocal under_way, limit
        with lock:
            under_way += 1
            limit = max(limit, under_way)
        if re.search(r"page [0-3]\.", asked):
            gate.wait(20)  # passes only when four questions are here together
        with lock:
            under_way -= 1
        return reply(RIGHT)

    output = rows.with_name("out.jsonl")
    with chat_server(answer) as model:
        result = vouch("check", "--input", rows, "--output", output, "--model", model)
    assert result.exit_code == Exit.INCOMPLETE  # for the row without a claim
    assert limit >= 4
    found = [json.loads(line) for line in output.read_text().splitlines()]
    assert [line["claim"]["id"] for line in found] == [f"r{n}" for n in range(10)] + ["bad"] + [
        f"r{n}" for n in range(10, 30)
    ]


@pytest.mark.parametrize("status", [503, 0], ids=["busy", "killed"])
def test_a_server_that_goes_away_stops_the_run_and_resume_ends_it(rows: Path, status: int) -> None:
    output, down, repaired = rows.with_name("out.jsonl"), list[str](), list[bool]()

    def answer(asked: str) -> str | int:
        down.extend(["down"] * ("page 15" in asked))
        return status if down and not repaired else reply(RIGHT)

    with chat_server(answer) as model:
        arguments: list[Any] = ["check", "--input", rows, "--output", output, "--model", model]
        stopped = vouch(*arguments)
        assert stopped.exit_code == Exit.INCOMPLETE
        assert "stopped: " in stopped.stderr
        assert "--resume" in stopped.stderr
        assert len(output.read_text().splitlines()) <= 16  # fifteen pages and the row without a claim
        repaired.append(True)
        assert "30 attributable" in vouch(*arguments, "--resume").stderr
    assert len(output.read_text().splitlines()) == 31


@pytest.mark.parametrize(("status", "kind"), [(500, ""), (0, "decision:")], ids=["error", "hang-up"])
def test_rows_that_a_server_never_answers_have_lines_of_their_own_and_the_others_their_verdicts(
    rows: Path, status: int, kind: str
) -> None:
    output, failing = rows.with_name("out.jsonl"), [True]

    def answer(asked: str) -> str | int:  # eight rows: more than fail in a row if a server is out of reach
        fails = failing[0] and re.search(r"page [0-7]\.", asked)
        return status if fails else "0.9" if kind else reply(RIGHT)

    with chat_server(answer, retry_after=0) as model:
        arguments: list[Any] = ["check", "--input", rows, "--output", output, "--model", f"{kind}{model}"]
        done = vouch(*arguments)
        lines = [json.loads(line) for line in output.read_text().splitlines()]
        failing[0] = False
        assert "30 attributable" in vouch(*arguments, "--resume").stderr
    assert done.exit_code == Exit.INCOMPLETE
    assert "stopped" not in done.stderr
    assert "could not verify 8 rows because of temporary failures: retry with --resume" in done.stderr
    assert [line["id"] for line in lines] == [*(f"r{n}" for n in range(10)), "bad", *(f"r{n}" for n in range(10, 30))]
    assert [line["id"] for line in lines if line.get("reason") == "backend"] == [f"r{n}" for n in range(8)]
    assert all(("returned 500" if status else "no answer from") in line["message"] for line in lines[:8])
    assert sum(line["kind"] == "verdict" for line in lines) == 22


def test_a_model_that_is_not_there_ends_the_command_as_incomplete() -> None:
    with chat_server(lambda asked: reply()) as model:
        pass  # the port is free again
    result = vouch("check", CLAIM, "--source-text", SOURCE, "--model", model)
    assert result.exit_code == Exit.INCOMPLETE
    assert result.stdout == ""


def test_options_that_do_not_fit_the_model_are_refused(rows: Path) -> None:
    output = rows.with_name("out.jsonl")
    one = ("check", CLAIM, "--source-text", SOURCE)
    assert (
        "embedded is not a language model, so --method cannot be used" in vouch(*one, "--method", "structured").stderr
    )
    assert "embedded is not a language model, so --votes cannot be used" in vouch(*one, "--votes", "3").stderr
    many = ("check", "--input", rows, "--output", output, "--model", "http://localhost:9/v1#x")
    assert "256 rows concurrently" in vouch(*many, "--jobs", "4").stderr
    with pytest.raises(ConfigError, match="expected structured or label"):
        Checker("http://localhost:9/v1#x", method="embedded")
    assert not output.exists()


def test_one_checker_works_with_and_without_a_running_loop() -> None:
    with chat_server(lambda asked: reply()) as model:
        checker = Checker(model)
        found = [checker.check(CLAIM, SOURCE) for _ in range(3)]
        checker.close()
        found.append(checker.check(CLAIM, SOURCE))
        checker.close()
    assert all(isinstance(one, Verdict) for one in found)


def test_a_calibration_is_made_by_asking_the_model_and_then_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = ("Attributable", "Not Attributable")
    made = [
        {
            "claim": f"The bridge opened, page {n}.",
            "source": f"{SOURCE} Page {n}.",
            "label": said[n // 20 if n % 4 else 1 - n // 20],
        }
        for n in range(40)
    ]
    rows, output = tmp_path / "dev.jsonl", tmp_path / "tiny.json"
    rows.write_text("".join(f"{json.dumps(row)}\n" for row in made))

    def answer(asked: str) -> str:  # pages 0 to 19 are called Attributable, the others not
        page = re.search(r"page (\d+)", asked)
        return reply(RIGHT, label=said[int(page[1]) // 20 if page else 0], confidence=0.9)

    with chat_server(answer) as model:
        result = vouch("calibrate", "--input", rows, "--model", model, "--output", output)
        assert result.exit_code == Exit.OK, result.stderr
        monkeypatch.setenv("VOUCH_CALIBRATION", str(tmp_path / "tiny.json"))
        found = json.loads(vouch("check", CLAIM, "--source-text", SOURCE, "--model", model, "--json").stdout)
        again = vouch("calibrate", "--input", rows, "--model", model, "--output", tmp_path / "again.json")
    # Odds of a stated .9 are 9, of the 30 in 40 labels that are right 3.
    assert round(found["score"], 3) == 0.75
    assert found["provenance"]["calibrator"].startswith("temperature:")
    assert "unset VOUCH_CALIBRATION" in again.stderr


def test_a_reply_may_be_as_long_as_the_option_says(rows: Path) -> None:
    asked: list[int] = []

    def answer(sampling: Sampling) -> str:
        asked.append(sampling.max_tokens)
        return reply(RIGHT)

    checker = Checker(ScriptedModel(lambda messages, sampling: answer(sampling)), max_tokens=5_000)
    checker.check(CLAIM, SOURCE)
    Checker(ScriptedModel(lambda messages, sampling: answer(sampling))).check(CLAIM, SOURCE)
    assert asked == [5_000, 1_024]
    with chat_server(lambda prompt: reply()) as model:
        done = vouch("check", CLAIM, "--source-text", SOURCE, "--model", model, "--max-tokens", "9000", "--json")
    assert json.loads(done.stdout)["label"] == "Not Attributable"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            ["--votes", "3"],
            "--model embedded is not a language model, so --votes cannot be used: pass a language model with --model",
        ),
        (
            ["--votes", "3", "--max-tokens", "9"],
            "--model embedded is not a language model, so --votes and --max-tokens cannot be used",
        ),
        (["--method", "label"], "--model embedded is not a language model, so --method cannot be used"),
    ],
)
def test_a_setting_that_only_a_language_model_takes_is_not_passed_over(settings: list[str], words: str) -> None:
    result = vouch("check", CLAIM, "--source-text", SOURCE, *settings)
    assert result.exit_code == Exit.USAGE
    assert words in result.stderr


@pytest.mark.parametrize(
    "name", ["qwen", "qwen:7b", "embeded", "embeded:runs/weakness/round-2/student", "runs/student"]
)
def test_a_name_that_is_nearly_one_of_ours_is_told_what_there_is(name: str) -> None:
    with pytest.raises(
        ConfigError, match="expected one of embedded, embedded:small, embedded:rules, embedded:FOLDER, language models"
    ):
        Checker(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("embeded", "embedded"),
        ("embedded-rules", "embedded:rules"),
        ("embeded:runs/round-2", "embedded:runs/round-2"),
        ("mini-check:model", "minicheck:model"),
        ("minichek:x", "minicheck:x"),
        ("opnai:gpt-5", "openai/gpt-5"),
        ("openai:gpt-5", "openai/gpt-5"),
        ("lokal:/models/qwen", "local:/models/qwen"),
        ("localhost:8000/v1#qwen", "http://localhost:8000/v1#qwen"),
    ],
)
def test_a_name_with_a_typo_gets_the_nearest_name(name: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"; did you mean '{meant}'[?]$"):
        Checker(name)
    with pytest.raises(ConfigError, match=f"unknown scorer '{name}'.*; did you mean '{meant}'[?]$"):
        open_scorer(name)


@pytest.mark.parametrize("name", ["qwen", "qwen:7b", "runs/student", "gpt-5"])
def test_a_name_that_is_like_none_gets_no_other(name: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Checker(name)
    assert "did you mean" not in str(raised.value)


@pytest.mark.parametrize("name", ["embedded:rule", "embedded:"])
def test_an_embedded_verifier_that_does_not_ship_is_looked_for_in_its_folder(name: str) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*combined\.json .*: expected embedded, .* or embedded:FOLDER"):
        Checker(name)


def test_the_share_of_votes_is_not_called_what_the_model_states() -> None:
    model = ScriptedModel(lambda messages, sampling: reply(RIGHT))
    for votes, words in ((1, "the confidence that the model states"), (3, "the share of the votes")):
        found = Checker(model, votes=votes).check(CLAIM, SOURCE)
        assert isinstance(found, Verdict)
        [warning] = [warning for warning in found.warnings if warning.kind == "uncalibrated"]
        assert warning.message.startswith(f"The score is {words}")


def test_what_every_verdict_of_an_answer_warns_of_stands_once_above_them() -> None:
    answer = "The bridge opened in 1937. The bridge opened in 1973."
    report = Checker(ScriptedModel(lambda messages, sampling: reply(RIGHT))).check_response(answer, SOURCE)
    assert [warning.kind for warning in report.warnings] == ["uncalibrated"]


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_is_busy_is_named_with_what_to_do(status: int) -> None:
    with chat_server(lambda prompt: status) as model:
        result = vouch("check", CLAIM, "--source-text", SOURCE, "--model", model)
    assert result.exit_code == Exit.INCOMPLETE
    assert f"returned {status}" in result.stderr
    assert result.stderr.endswith("; try again later\n")
    assert "running" not in result.stderr


def refused_search() -> SearchError:
    error = SearchError("no answer")
    error.__cause__ = ModelUnavailableError("no answer")
    return error


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (ModelUnavailableError("no answer"), "no answer; check that the server is running, or try again later"),
        (ModelDeadlineError("too late: allow more"), "too late: allow more"),
        (ModelUnavailableError("answered 500", status=500), "answered 500; try again later"),
        (SearchError("the engine is busy"), "the engine is busy; try again later"),
        (refused_search(), "no answer; check that the server is running, or try again later"),
        (ModelAnswerError("no choices"), "no choices"),
    ],
)
def test_the_advice_fits_the_failure(error: BackendError, advice: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, usage_errors():
        raise error
    assert (ended.value.exit_code, capsys.readouterr().err) == (Exit.INCOMPLETE, f"vouch: {advice}\n")


def test_an_address_that_is_not_there_is_told_how_most_end() -> None:
    with chat_server(lambda prompt: 404) as model:
        result = vouch("check", CLAIM, "--source-text", SOURCE, "--model", model)
    assert result.exit_code == Exit.USAGE
    assert "check the address (most end in /v1), the model's name and VOUCH_API_KEY" in result.stderr
