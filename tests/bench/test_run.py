"""A run from the data to its folder: what it writes, how it goes on after an end, and which folders it refuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.bench.samples import claim_rows, data_folder, write_rows
from vouching.bench.catalog import chosen
from vouching.bench.claims import ClaimsTask
from vouching.bench.run import RunOutcome, run_task
from vouching.bench.score import group_numbers
from vouching.bench.task import RunOptions
from vouching.errors import ConfigError, InputError

QUICK = RunOptions(model="embedded:rules", resamples=200)


class Notes:
    """A listener that keeps what it is told."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.problems: list[str] = []

    def row(self, share: float, problem: str | None) -> None:
        self.shares.append(share)
        self.problems += [problem] if problem else []

    def phase(self, words: str) -> None:
        pass


def run(data: Path, out: Path, *names: str, options: RunOptions = QUICK, notes: Notes | None = None) -> RunOutcome:
    task = ClaimsTask(options.model, options.jobs)
    return run_task(task, chosen(names or ["wice"], data, options.split), data, out, options, notes or Notes())


def lines_of(out: Path, name: str = "wice") -> list[dict[str, Any]]:
    """The rows of a run, without what differs from run to run."""
    text = (out / "rows" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in text.split("\n") if line]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return data_folder(tmp_path / "data", wice=claim_rows(30), seva_fever=claim_rows(12))


def test_a_run_leaves_settings_rows_figures_and_a_report(data: Path, tmp_path: Path) -> None:
    out, notes = tmp_path / "out", Notes()
    outcome = run(data, out, "wice", "seva_fever", notes=notes)
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "results.json", "rows", "run.json"]
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results == outcome.results
    assert results["command"] == "vouch bench run wice seva_fever --model embedded:rules --split test"
    assert results["data"]["wice"]["rows"] == 30
    # The rules tell a wrong year from a right one.
    assert results["sets"]["wice"]["metrics"]["accuracy"]["estimate"] == 1.0
    assert results["pooled"]["rows"] == 42
    assert len(lines_of(out)) == 30
    assert notes.shares[-1] == 1.0
    assert outcome.unverified == 0


def test_rows_that_share_a_source_or_a_claim_are_one_group(tmp_path: Path) -> None:
    # Three rows on each of ten sources; one more row has the claim of the first and a source of its own.
    again = {**claim_rows(1)[0], "id": "again", "source": "Nobody knows.", "claim": " bridge 0  OPENED in 1900."}
    data = data_folder(tmp_path / "data", wice=[*claim_rows(30), again])
    outcome = run(data, tmp_path / "out")
    groups = group_numbers(lines_of(tmp_path / "out")).tolist()
    assert groups == [*(place // 3 for place in range(30)), 0]
    assert outcome.results
    assert outcome.results["sets"]["wice"]["groups"] == 10


def test_sets_share_groups_by_their_texts_and_not_by_the_names_of_documents(tmp_path: Path) -> None:
    named = [{**row, "group": "7", "bump_error_type": None} for row in claim_rows(6)]
    other = [{**row, "claim": f"Long ago, {row['claim']}", "source": f"So: {row['source']}"} for row in named]
    data = data_folder(tmp_path / "data", bump=named, wice=claim_rows(6), faithbench=other)
    run(data, tmp_path / "out", "bump", "wice", "faithbench")
    each = [lines_of(tmp_path / "out", name) for name in ("bump", "wice", "faithbench")]
    assert group_numbers([*each[0], *each[1]]).tolist() == [0] * 12
    assert not {key for row in each[0] for key in row["keys"]} & {key for row in each[2] for key in row["keys"]}


def test_answers_without_labels_have_a_share_and_no_decoding_is_recorded(tmp_path: Path) -> None:
    outcome = run(data_folder(tmp_path / "data"), tmp_path / "out", "facts_grounding")
    assert outcome.results
    assert outcome.results["decoding"] is None
    assert outcome.results["sets"]["facts_grounding"]["share_attributable"]["estimate"] == 1.0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<td>share judged Attributable</td><td>1.000</td>" in page


def test_published_figures_and_remarks_stand_beside_ours(tmp_path: Path) -> None:
    folder = data_folder(tmp_path / "data", seva_truthfulqa=claim_rows())
    outcome = run(folder, tmp_path / "out", "seva_truthfulqa")
    assert outcome.results
    found = outcome.results["sets"]["seva_truthfulqa"]
    assert found["remark"].startswith("broken slice")
    assert {"system": "GPT-4o-mini", "metric": "macro_f1", "percent": 48.6} in [
        {key: figure[key] for key in ("system", "metric", "percent")} for figure in found["published"]
    ]
    assert "broken slice" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_limit_keeps_the_share_of_each_label(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "out", options=replace(QUICK, limit=10))
    gold = [line["attributable"] for line in lines_of(tmp_path / "out")]
    assert sorted(gold) == [False] * 5 + [True] * 5


def test_two_processes_write_the_same_rows_as_one(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "one")
    run(data, tmp_path / "two", options=replace(QUICK, jobs=2))
    assert lines_of(tmp_path / "one") == lines_of(tmp_path / "two")


def test_a_broken_row_is_told_counted_and_has_a_line(tmp_path: Path) -> None:
    first, *rest = claim_rows()
    folder, notes = data_folder(tmp_path / "data", wice=[{**first, "label": None}, *rest]), Notes()
    outcome = run(folder, tmp_path / "out", notes=notes)
    assert outcome.unverified == 1
    assert notes.problems == [
        'row-1: broken: wice, wice.jsonl.gz, line 1: "label" is null: expected one of '
        "'Attributable', 'Not Attributable'"
    ]
    assert outcome.results
    assert outcome.results["sets"]["wice"]["unverified"] == 1
    assert outcome.results["sets"]["wice"]["unlabelled"] == 1


def test_a_set_whose_format_changed_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    folder = data_folder(tmp_path / "data", wice=[{"id": 1, "hypothesis": "It opened."}])
    with pytest.raises(InputError, match="none of the 1 rows of wice is usable: check their format; first problem: "):
        run(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_model_is_refused_before_anything_is_written(data: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown model 'gpt'"):
        run(data, tmp_path / "out", options=RunOptions(model="gpt"))
    assert not (tmp_path / "out").exists()


def test_a_run_that_is_there_is_gone_on_with_only_when_asked(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(data, out)
    before = lines_of(out)
    with pytest.raises(InputError, match="already contains a run: resume it with --resume, or choose another folder"):
        run(data, out)
    notes = Notes()
    run(data, out, options=replace(QUICK, resume=True), notes=notes)
    assert lines_of(out) == before
    assert notes.shares == []


def test_a_run_that_was_cut_off_is_finished_as_if_it_had_not_been(data: Path, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    run(data, whole, "wice", "seva_fever")
    run(data, cut, "wice", "seva_fever")
    rows = cut / "rows" / "seva_fever.jsonl"
    raw = rows.read_bytes()
    # Half of the fourth line is left, and the note beside it is the first: as after a kill within a second.
    rows.write_bytes(raw[: len(b"\n".join(raw.split(b"\n")[:3])) + 20])
    note = cut / "rows" / "seva_fever.jsonl.run.json"
    note.write_text(json.dumps({**json.loads(note.read_text(encoding="utf-8")), "rows": 0, "digest": ""}))
    (cut / "results.json").unlink()
    run(data, cut, "wice", "seva_fever", options=replace(QUICK, resume=True))
    assert lines_of(cut, "seva_fever") == lines_of(whole, "seva_fever")
    assert (cut / "results.json").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (replace(QUICK, limit=5, resume=True), "has limit null, but this one has limit 5"),
        (RunOptions(model="embedded", resume=True), "has model embedded:rules, but this one has model embedded"),
    ],
)
def test_a_run_with_other_settings_is_not_mixed_in(data: Path, tmp_path: Path, options: RunOptions, said: str) -> None:
    run(data, tmp_path / "out")
    with pytest.raises(InputError, match=said):
        run(data, tmp_path / "out", options=options)


def test_a_run_on_other_data_is_not_mixed_in(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "out")
    write_rows(data / "attribution/test/wice.jsonl.gz", claim_rows(33))
    with pytest.raises(InputError, match="has sets wice, but this one has sets wice with different data"):
        run(data, tmp_path / "out", options=replace(QUICK, resume=True))


def test_a_folder_with_something_else_in_it_is_refused_and_left_alone(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"out is not empty \(it contains notes.txt\)"):
        run(data, out)
    assert [path.name for path in out.iterdir()] == ["notes.txt"]


def test_a_folder_that_cannot_be_made_is_refused(data: Path) -> None:
    with pytest.raises(InputError, match="/proc/nowhere cannot be written"):
        run(data, Path("/proc/nowhere"))


def test_a_damaged_run_is_refused(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path / "out")
    (tmp_path / "out" / "run.json").write_text('{"settings"', encoding="utf-8")
    with pytest.raises(InputError, match=r"run\.json is damaged"):
        run(data, tmp_path / "out", options=replace(QUICK, resume=True))


def test_the_report_holds_no_request_and_no_markup_of_the_data(tmp_path: Path) -> None:
    rows = [{**row, "fine_label": f"<script>alert({n % 2})</script>"} for n, row in enumerate(claim_rows())]
    run(data_folder(tmp_path / "data", wice=rows), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    assert not re.search(r"(?:src|href)=[\"'](?!#)", page)


def test_a_run_that_is_killed_again_and_again_ends_like_one_that_was_not(tmp_path: Path) -> None:
    # Long sources make rows that take a few hundredths of a second each, so that kills fall between and into them.
    rows = [{**row, "source": row["source"] + " The river is wide there and slow." * 400} for row in claim_rows(60)]
    data = data_folder(tmp_path / "data", wice=rows)
    run(data, tmp_path / "whole", options=QUICK)
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "vouching", "bench", "run", "wice", "--model", "embedded:rules", "--resume"]
    lines = out / "rows" / "wice.jsonl"
    for wanted in (5, 20, 40):
        with subprocess.Popen([*command, "--out", str(out)], env={**os.environ, "VOUCH_DATA": str(data)}) as process:
            deadline = time.monotonic() + 20
            while process.poll() is None and time.monotonic() < deadline:
                if lines.exists() and lines.read_bytes().count(b"\n") >= wanted:
                    break
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
    run(data, out, options=replace(QUICK, resume=True))
    assert lines_of(out) == lines_of(tmp_path / "whole")
