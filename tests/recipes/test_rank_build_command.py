"""``python recipes/rank/build.py``: three steps from questions to a set, which ``vouch bench run`` can run."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from recipes.rank.build import count_votes, main, vote
from tests.bench.ranking_samples import question_row
from tests.bench.samples import write_rows
from tests.cli.test_bench import bench


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Three rows of the first step."""
    rows = [{**question_row(number), "verified": "model", "votes": dict[str, str]()} for number in range(3)]
    return write_rows(tmp_path / "built.jsonl", rows)


def test_votes_are_asked_for_row_by_row_and_resumed(built: Path, tmp_path: Path) -> None:
    out, lines = tmp_path / "ada.jsonl", list[str]()
    done, told = vote(built, out, False, io.StringIO("y\nperhaps\nn\nq\n"), lines.append)
    assert (done, told) == (False, ["stopped after voting on 2 of 3 rows; continue with --resume"])
    assert read(out) == [{"id": "nq-0", "vote": "accept"}, {"id": "nq-1", "vote": "reject"}]
    shown = "\n".join(lines)
    assert "Got 'perhaps', expected y, n or q" in shown
    # The second row's answers stand in another order; they are shown best first.
    second = shown[shown.index("Row 2 of 3") : shown.index("Row 3 of 3")]
    assert second.index("1. It opened in 1901.") < second.index("2. I have no") < second.index("3. It opened in 1951.")
    assert vote(built, out, True, io.StringIO("y\n"), lines.append) == (True, ["voted on all 3 rows"])
    assert [one["id"] for one in read(out)] == ["nq-0", "nq-1", "nq-2"]


def test_what_two_of_three_reject_is_dropped_and_the_agreement_told(built: Path, tmp_path: Path) -> None:
    files = [
        write_rows(tmp_path / f"{name}.jsonl", [{"id": f"nq-{n}", "vote": said} for n, said in enumerate(votes)])
        for name, votes in {
            "ada": ("accept", "reject", "accept"),
            "bob": ("accept", "reject", "accept"),
            "cy": ("accept", "accept"),
        }.items()
    ]
    out = tmp_path / "mine.jsonl"
    said = "\n".join(count_votes(built, out, files))
    assert [(row["id"], row["verified"]) for row in read(out)] == [("nq-0", "people"), ("nq-2", "model")]
    assert read(out)[0]["votes"] == {"ada": "accept", "bob": "accept", "cy": "accept"}
    assert "1 of 3 rows dropped; 1 of the others verified by people" in said
    # Two rows have all votes: all agree on one; of six pairs of votes two differ.
    assert "on the 2 rows that every voter judged: 50.0% unanimous, 66.7% of the pairs of votes equal" in said


def test_a_set_of_ones_own_is_sound_and_listed(built: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_rows(data / "rankings" / "mine.jsonl", read(built))
    result = bench("validate", "own_rankings", data=data)
    assert result.stdout == "own_rankings, test: valid\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "choose one step"),
        (("--judge", "openai/x", "--voter"), "choose one step"),
        (("--voter", "--model", "openai/x"), "models answer only in the first step"),
        (("--votes", "BUILT", "--votes", "BUILT"), "expected at most 3 different vote files"),
        (("--votes", "BUILT"), "that is accept or reject, got 'nq-0' and null"),
    ],
)
def test_steps_that_do_not_fit_are_refused(
    arguments: tuple[str, ...], complaint: str, built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    placed = [str(built) if one == "BUILT" else one for one in arguments]
    assert main(["--input", str(built), "--output", str(tmp_path / "out.jsonl"), *placed]) == 2
    assert complaint in capsys.readouterr().err


def test_votes_are_on_rows_of_the_first_step_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = write_rows(tmp_path / "questions.jsonl", [{"id": "q", "question": "When?", "reference": "1973"}])
    assert main(["--input", str(questions), "--output", str(tmp_path / "votes.jsonl"), "--voter"]) == 2
    assert "expected a file written with --judge" in capsys.readouterr().err


def test_a_judge_that_babbles_builds_no_row_and_the_journal_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="the extra train (torch) is not installed")
    from tests.models.tiny_llama import write_tiny_llama

    llama = write_tiny_llama(tmp_path / "llama", context=4096)
    asked = [{"id": "q", "question": "When did it open?", "reference": "1973", "answers": ["In 1973.", "In 1937."]}]
    out = tmp_path / "out.jsonl"
    command = ["--input", str(write_rows(tmp_path / "asked.jsonl", asked)), "--output", str(out)]
    command += ["--judge", f"local:{llama}"]
    assert main(command) == 0
    assert out.read_text(encoding="utf-8") == ""
    assert "1 question dropped: no answer is labelled correct" in capsys.readouterr().err
    [line] = (tmp_path / "out.journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert all("the judge gave no mark" in answer["fault"] for answer in json.loads(line)["pool"])
    main(command)
    assert "continue it with --resume" in capsys.readouterr().err
    assert main([*command, "--resume"]) == 0
