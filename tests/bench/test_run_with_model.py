"""A run with a language model behind a real socket: many rows at once, in order, and an end that is no loss."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench.samples import claim_rows, data_folder
from tests.bench.test_run import Notes, lines_of, run
from tests.cli.chat_server import chat_server
from vouching.bench.claims import run_notes
from vouching.bench.task import RunOptions
from vouching.errors import ConfigError, InputError

ROWS = 30


def record(asked: str) -> str:
    """What a good model says of a bridge: it reads the years in the question."""
    opened, claimed = (re.search(r"Bridge \d+ (opened in \d+)", part)[1] for part in asked.split(" claim>>>")[:2])  # type: ignore[index]
    right = opened == claimed
    return json.dumps(
        {
            "evidence_alignment": [
                {"claim_span": claimed, "source_span": opened, "status": "match" if right else "mismatch"}
            ],
            "reasoning_chain": [
                {
                    "claim_part": claimed,
                    "source_evidence": opened,
                    "judgment": "supported" if right else "not_supported",
                    "explanation": "The years are compared.",
                }
            ],
            "label": "Attributable" if right else "Not Attributable",
            "confidence": 0.9,
            "error_type": None if right else "temporal_shift",
            "fix_suggestion": None if right else f"Say {opened}.",
            "revised_claim": None,
        }
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return data_folder(tmp_path / "data", wice=claim_rows(ROWS), seva_fever=claim_rows(6))


def options(model: str, **more: Any) -> RunOptions:
    return RunOptions(model=model, resamples=200, **more)


def test_rows_are_asked_about_at_the_same_time_and_written_in_order(data: Path, tmp_path: Path) -> None:
    together = threading.Barrier(3)

    def answer(asked: str) -> str:
        if "Bridge 0 opened" in asked:
            together.wait(20)  # passes only when the first three questions are here at the same time
        return record(asked)

    with chat_server(answer) as model:
        outcome = run(data, tmp_path / "out", options=options(model))
    lines = lines_of(tmp_path / "out")
    assert [line["id"] for line in lines] == [f"bridge-{n}" for n in range(ROWS)]
    assert [line["label"] for line in lines] == [n % 2 == 0 for n in range(ROWS)]
    assert outcome.results
    found = outcome.results["sets"]["wice"]
    assert found["metrics"]["accuracy"]["estimate"] == 1.0
    assert (found["seconds"], found["rows_per_second"]) == (None, None)
    assert outcome.results["decoding"]["temperature"] == 0.0
    assert len(outcome.results["decoding"]["prompt"]) == 64


def test_a_model_that_goes_away_stops_the_run_and_resume_ends_it_as_if_it_had_not(data: Path, tmp_path: Path) -> None:
    down, repaired, out = list[str](), list[bool](), tmp_path / "out"

    def answer(asked: str) -> str | int:
        down.extend(["down"] * ("Bridge 5 opened" in asked))
        return 503 if down and not repaired else record(asked)

    with chat_server(answer) as model:
        stopped = run(data, out, "wice", "seva_fever", options=options(model))
        assert stopped.results is None
        assert "503" in str(stopped.stopped)
        # Three rows on each bridge: at most those before the first on bridge 5 are answered, and kept in order.
        kept = len(lines_of(out))
        assert kept <= 15
        assert [line["id"] for line in lines_of(out)] == [f"bridge-{n}" for n in range(kept)]
        repaired.append(True)
        notes = Notes()
        finished = run(data, out, "wice", "seva_fever", options=options(model, resume=True), notes=notes)
        run(data, tmp_path / "whole", "wice", "seva_fever", options=options(model))
    assert finished.results
    assert finished.unverified == 0
    assert len(notes.shares) == ROWS - kept + 6
    for name in ("wice", "seva_fever"):
        assert lines_of(out, name) == lines_of(tmp_path / "whole", name)


def test_a_reply_that_is_no_record_is_a_row_without_a_verdict(data: Path, tmp_path: Path) -> None:
    def answer(asked: str) -> str:
        return "no" if "Bridge 3 " in asked or "cannot be used" in asked else record(asked)

    with chat_server(answer) as model:
        outcome = run(data, tmp_path / "out", options=options(model))
    assert outcome.unverified == 3
    failed = [line for line in lines_of(tmp_path / "out") if line["unverified"]]
    assert {line["unverified"].split(":")[0] for line in failed} == {"unparsable"}
    assert {line["score"] for line in failed} == {None}


def test_a_wrong_key_ends_the_run_with_an_error_and_keeps_what_was_finished(data: Path, tmp_path: Path) -> None:
    with chat_server(lambda asked: 401) as model, pytest.raises(ConfigError, match="401"):
        run(data, tmp_path / "out", options=options(model))
    assert lines_of(tmp_path / "out") == []


def test_several_processes_and_another_way_of_asking_are_refused(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with chat_server(record) as model:
        with pytest.raises(ConfigError, match="256 rows concurrently"):
            run(data, out, options=options(model, jobs=2))
        assert not out.exists()
        run(data, out, options=options(model))
        calibration = {
            "format": 1,
            "model": model,
            "prompt_hash": "x",
            "votes": 1,
            "measured": {},
            "calibrator": {"kind": "temperature", "at": [2.0], "values": []},
        }
        (tmp_path / "calibration.json").write_text(json.dumps(calibration))
        monkeypatch.setenv("VOUCH_CALIBRATION", str(tmp_path / "calibration.json"))
        with pytest.raises(InputError, match="has calibrator null, but this one has calibrator temperature:"):
            run(data, out, options=replace(options(model), resume=True))


def test_latency_tokens_and_price_of_a_decision_model_are_figures_and_printed(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOUCH_PRICE", "0.1,0")
    with chat_server(lambda asked: "0.9") as model:
        outcome = run(data, tmp_path / "out", options=options(f"decision:{model}"))
    assert outcome.results
    used = outcome.results["sets"]["wice"]["usage"]
    # Each row is a call, whose reply reports 900 tokens of the request and 5 of the reply; a million costs .1 and 0.
    assert (used["calls"], used["prompt_tokens"], used["completion_tokens"]) == (ROWS, 900 * ROWS, 5 * ROWS)
    assert used["cost"] == pytest.approx(ROWS * 900 * 0.1 / 1e6)
    assert 0 < used["seconds_median"] <= used["seconds_p95"]
    assert any("30 calls, 27,000 tokens sent, 150 received, cost 0.0027" in one for one in run_notes(outcome.results))
    assert lines_of(tmp_path / "out")[0]["usage"]["cost"] == pytest.approx(900 * 0.1 / 1e6)
