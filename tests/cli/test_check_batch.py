"""``vouch check --input``: rows in, lines out."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli import batch_runs
from tests.cli.batch_runs import MANY, ROWS, SOURCE, lines_of, resumed, untimed, vouch, write_jsonl
from vouching import Report, Unverified, Verdict
from vouching.cli.check import LOOK
from vouching.cli.judge import Judging
from vouching.cli.streams import Exit
from vouching.rows.read import Row
from vouching.types.serial import from_json

rows, output = batch_runs.rows, batch_runs.output
many, expected = batch_runs.many, batch_runs.expected


# What it writes


def test_each_row_gives_the_record_that_it_would_give_alone(rows: Path, output: Path) -> None:
    result = vouch("--input", rows, "--output", output)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "vouch: 4 rows: 2 attributable, 2 not attributable\n"
    first, second, third, fourth = output.read_text(encoding="utf-8").splitlines()
    assert [from_json(Verdict, line).claim.id for line in (first, second, fourth)] == ["a", "b", "row-4"]
    assert from_json(Verdict, second).fix_suggestion == "Change 1937 to 1973."
    report = from_json(Report, third)
    assert (report.id, report.question, report.totals.not_attributable) == ("7", "When?", 1)


def test_standard_input_and_output_will_do(rows: Path, output: Path) -> None:
    vouch("--input", rows, "--output", output)
    printed = vouch("--input", "-", "--output", "-", stdin=rows.read_bytes()).stdout
    assert re.sub(r'"seconds":[^,}]*', '"seconds":0', printed) == untimed(output)


def _as_gzip(folder: Path) -> Path:
    path = folder / "rows.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    return path


def _as_csv(folder: Path, delimiter: str = ",") -> Path:
    path = folder / "rows.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.DictWriter(file, ["id", "claim", "response", "question", "source", "sources"], delimiter=delimiter)
        table.writeheader()
        table.writerows({k: json.dumps(v) if isinstance(v, list) else v for k, v in row.items()} for row in ROWS)
    return path


def _as_csv_with_semicolons(folder: Path) -> Path:
    return _as_csv(folder, ";")


def _as_parquet(folder: Path) -> Path:
    path = folder / "rows.parquet"
    keys = ["id", "claim", "response", "question", "source", "sources"]
    pq.write_table(pa.Table.from_pylist([{key: row.get(key) for key in keys} for row in ROWS]), path)
    return path


@pytest.mark.parametrize("write", [_as_gzip, _as_csv, _as_csv_with_semicolons, _as_parquet])
def test_every_format_gives_what_jsonl_gives(
    rows: Path, output: Path, tmp_path: Path, write: Callable[[Path], Path]
) -> None:
    vouch("--input", rows, "--output", output)
    other = tmp_path / "other.jsonl"
    assert vouch("--input", write(tmp_path), "--output", other).exit_code == 0
    assert untimed(other) == untimed(output)


def test_the_other_options_apply(rows: Path, output: Path) -> None:
    assert vouch("--input", rows, "--output", output, "--threshold", "0", "--repair", "keep").exit_code == 0
    first, _, third, _ = output.read_text(encoding="utf-8").splitlines()
    assert from_json(Verdict, first).threshold == 0
    assert from_json(Report, third).revised_response is not None


def test_fail_counts_every_row(rows: Path, tmp_path: Path) -> None:
    assert vouch("--input", rows, "--output", tmp_path / "a.jsonl", "--fail").exit_code == 1
    good = write_jsonl(tmp_path / "good.jsonl", ROWS[:1])
    assert vouch("--input", good, "--output", tmp_path / "b.jsonl", "--fail").exit_code == 0
    polite = write_jsonl(tmp_path / "polite.jsonl", [*ROWS[:1], {"response": "Hello there!", "source": SOURCE}])
    assert vouch("--input", polite, "--output", tmp_path / "c.jsonl").exit_code == 0
    result = vouch("--input", polite, "--output", tmp_path / "d.jsonl", "--fail")
    assert (result.exit_code, "1 without a claim" in result.stderr) == (3, True)
    empty = write_jsonl(tmp_path / "empty.jsonl", [])
    assert vouch("--input", empty, "--output", tmp_path / "e.jsonl").stderr == "vouch: 0 rows\n"


def test_two_processes_write_what_one_writes(many: Path, expected: str, output: Path) -> None:
    with resumed(many, output, jobs=2) as program:
        program.communicate()
    assert program.returncode == Exit.INCOMPLETE
    assert untimed(output) == expected
    assert vouch("--input", many, "--output", output, "--resume", "--jobs", "0").stderr.startswith(
        f"vouch: {output} is already complete"
    )


def test_the_report_shows_the_claims_with_their_sources(rows: Path, output: Path, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    assert vouch("--input", rows, "--output", output, "--report", page).exit_code == 0
    shown = page.read_text(encoding="utf-8")
    assert "Change 1937 to 1973." in shown
    assert "It is long." in shown
    # A single claim has one too.
    result = vouch("It opened in 1937.", "--source-text", SOURCE, "--report", page)
    assert "temporal shift" in result.stdout
    assert "It is long." not in page.read_text(encoding="utf-8")
    assert "It has two towers." in page.read_text(encoding="utf-8")


def test_the_report_of_a_run_that_stopped_early_has_the_finished_rows(rows: Path, output: Path, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    write_jsonl(rows, [ROWS[1], {}, ROWS[3]])
    assert vouch("--input", rows, "--output", output, "--stop-on-error", "--report", page).exit_code == 3
    shown = page.read_text(encoding="utf-8")
    assert "Change 1937 to 1973." in shown
    assert "and more" in ROWS[3]["claim"]
    assert "and more" not in shown


def test_a_report_that_cannot_be_written_takes_nothing_from_the_verdicts(
    rows: Path, output: Path, tmp_path: Path
) -> None:
    # A name of 255 bytes is allowed; the file that is written before it takes its name has a longer one.
    result = vouch("--input", rows, "--output", output, "--report", tmp_path / f"{'r' * 250}.html")
    assert result.exit_code == 3
    assert "the verdicts were written, but the report was not: " in result.stderr
    assert len(output.read_text(encoding="utf-8").splitlines()) == len(ROWS)


# Rows that cannot be used

BROKEN = [
    ("{", "line 2: invalid JSON"),
    ('["a"]', "line 2: got a list, expected a JSON object on each line"),
    ('{"id": "x", "claim": "a", "claim": "b"}', 'line 2: the key "claim" occurs twice'),
    (
        '{"id": "x", "claim": "a"}',
        'line 2: the row has no "sources"; its keys are id, claim; pass "source" or "sources"',
    ),
    ('{"id": "x", "source": "a"}', 'line 2: the row has no "claim" or "response"; its keys are id, source'),
    ('{"id": "x", "claim": 3, "source": "a"}', "line 2: the claim must be a string, got 3"),
    ('{"id": "x", "claim": "a", "source": 3}', "line 2: source 1 must be a string"),
    ('{"id": "x", "claim": " ", "source": "a"}', "line 2: the claim must contain at least one word or number, got ' '"),
    ('{"id": "x", "claim": "a", "response": "b", "source": "c"}', 'line 2: the row has both "claim" and "response"'),
    (
        '{"id": "x", "claim": "a", "source": "b", "sources": ["c"]}',
        'line 2: the row has both "sources" and "source": put',
    ),
    (
        '{"id": "x", "claim": "a", "docs": "b", "context": "c"}',
        'line 2: the row has both "context" and "docs": put all',
    ),
    ('{"id": "\\ud800", "claim": "a", "source": "c"}', "line 2: the id contains a lone surrogate"),
    ('{"id": "x", "response": "a b.", "question": 3, "source": "c"}', "line 2: the question must be a string, got 3"),
]


@pytest.mark.parametrize(("line", "reason"), BROKEN)
def test_a_row_that_cannot_be_used_is_named_and_the_others_go_on(
    rows: Path, output: Path, line: str, reason: str
) -> None:
    first, *others = rows.read_text(encoding="utf-8").splitlines()
    rows.write_text("\n".join([first, line, *others]), encoding="utf-8")
    result = vouch("--input", rows, "--output", output)
    assert result.exit_code == Exit.INCOMPLETE
    named, total = result.stderr.splitlines()
    assert named.startswith(f"vouch: rows.jsonl, {reason}")
    assert total.startswith("vouch: 5 rows, 4 claims: ")
    assert "not verified" not in total
    assert total.endswith("; 1 of the rows cannot be used (see the output)")
    lines = output.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5
    broken = from_json(Unverified, lines[1])
    assert broken.reason == "input"
    assert broken.message.startswith(reason)
    # It counts again when the output is found finished, and its line belongs to its row.
    again = vouch("--input", rows, "--output", output, "--resume")
    assert (again.exit_code, "is already complete" in again.stderr) == (Exit.INCOMPLETE, True)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["text", "id", "title"]), inner),
    max_leaves=6,
)
KEYS = st.sampled_from(["id", "claim", "response", "source", "sources", "question", "\ud800"])


@given(st.dictionaries(KEYS, VALUES), st.sampled_from([None, "mark"]))
@settings(max_examples=300)
def test_any_row_gives_a_line_that_belongs_to_it(fields: dict[str, Any], repair_rest: Any) -> None:
    row = Row(3, "line 4", json.loads(json.dumps(fields)))
    line = Judging("embedded", repair_rest=repair_rest)()(row)
    seen = LOOK("rows.jsonl", json.loads(line))
    assert seen.name == row.name
    assert seen.problem is None or seen.problem.startswith("rows.jsonl, line 4: ")
    assert "\n" not in line


def test_many_broken_rows_are_named_up_to_a_hundred_and_all_counted(rows: Path, output: Path) -> None:
    rows.write_text("{\n" * 150, encoding="utf-8")
    told = vouch("--input", rows, "--output", output).stderr.splitlines()
    assert len(told) == 102
    assert "150 of the rows cannot be used" in told[-1]


def test_stopped_at_a_broken_row_the_run_resumes_with_it_when_it_is_repaired(rows: Path, output: Path) -> None:
    lines = rows.read_text(encoding="utf-8").splitlines()
    rows.write_text("\n".join([*lines[:2], "{", *lines[3:]]), encoding="utf-8")
    for _ in range(2):
        result = vouch("--input", rows, "--output", output, "--stop-on-error", "--resume")
        assert result.exit_code == Exit.INCOMPLETE
        assert result.stderr.startswith("vouch: stopped: rows.jsonl, line 3: invalid JSON")
        assert "fix this and finish with --resume" in result.stderr
        assert lines_of(output) == 2
    write_jsonl(rows, ROWS)
    assert vouch("--input", rows, "--output", output, "--stop-on-error", "--resume").exit_code == 0
    whole = output.with_name("whole.jsonl")
    vouch("--input", rows, "--output", whole)
    assert untimed(output) == untimed(whole)


def test_a_cut_gzip_file_gives_what_was_read(many: Path, output: Path, tmp_path: Path, expected: str) -> None:
    packed = tmp_path / "rows.jsonl.gz"
    raw = gzip.compress(many.read_bytes())
    packed.write_bytes(raw[: len(raw) // 2])
    result = vouch("--input", packed, "--output", output)
    assert result.exit_code == Exit.INCOMPLETE
    assert "stopped: rows.jsonl.gz cannot be read to the end: Compressed file ended before" in result.stderr
    assert 10 < lines_of(output) < MANY
    # The same rows from a whole file finish it.
    assert vouch("--input", many, "--output", output, "--resume", "--jobs", "2").exit_code == Exit.INCOMPLETE
    assert untimed(output) == expected


# What it refuses


def refused(*arguments: str | Path) -> str:
    result = vouch(*arguments)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), result.output
    return result.stderr


def test_an_output_is_never_overwritten_or_mixed(rows: Path, output: Path) -> None:
    vouch("--input", rows, "--output", output)
    raw = output.read_bytes()
    given = ("--input", rows, "--output", output)
    assert "is not empty: continue it with --resume, or choose another output" in refused(*given)
    assert "made with threshold 0.5, but threshold is now 0.7" in refused(*given, "--resume", "--threshold", "0.7")
    assert "made with repair none, but repair is now mark" in refused(*given, "--resume", "--repair", "mark")
    assert "model embedded:rules, but model is now embedded" in refused(*given, "--resume", "--model", "embedded")
    write_jsonl(rows, [{**row, "source": "Something else."} for row in ROWS])
    assert "was made from different rows" in refused(*given, "--resume")
    assert output.read_bytes() == raw
    write_jsonl(rows, ROWS)
    output.write_bytes(raw[: raw.index(b"\n") + 1])
    assert "has only 1 of the 4 lines that were written to it" in refused(*given, "--resume")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--input", "rows.jsonl"), "--input requires --output"),
        (("--output", "out.jsonl"), "--output applies only to a file of rows"),
        (("It opened.", "--resume"), "--resume applies only to a file of rows"),
        (("It opened.", "--source-text", "x", "--stop-on-error"), "--stop-on-error applies only to a file of rows"),
        (
            ("It opened.", "--source-text", "x", "--jobs", "2"),
            "--jobs applies only to a file of rows: add --input ROWS",
        ),
        (("It opened.", "--input", "rows.jsonl", "--output", "-"), "CLAIM and --input cannot be used together"),
        (("--source", "x", "--input", "rows.jsonl", "--output", "-"), "--source and --input cannot be used together"),
        (
            ("--question", "x", "--input", "rows.jsonl", "--output", "-"),
            "--question and --input cannot be used together",
        ),
        (("--json", "--input", "rows.jsonl", "--output", "-"), "--json and --input cannot be used together"),
        (("--input", "rows.jsonl", "--output", "-", "--resume"), "--resume requires a file for --output, got -"),
        (
            ("--input", "-", "--output", "out.jsonl", "--report", "r.html"),
            "--report requires files for --input and --output, got -",
        ),
        (("--input", "rows.jsonl", "--output", "rows.jsonl"), "must be different files"),
        (("--input", "rows.jsonl", "--output", "o.jsonl", "--report", "r.md"), "has no Markdown version"),
        (("--input", "rows.jsonl", "--output", "o.jsonl", "--report", "r.pdf"), "a name that ends in .html\n"),
        (("--input", "rows.jsonl", "--output", "o.jsonl", "--report", "none/r.html"), "the folder none does not exist"),
        (("--input", "rows.jsonl", "--output", "o.jsonl", "--threshold", "2"), "threshold must be in [0, 1]"),
        (("--input", "rows.jsonl", "--output", "o.jsonl", "--model", "gpt"), "unknown model 'gpt'"),
        (
            ("--input", "rows.txt", "--output", "o.jsonl"),
            "expected a file that ends in .jsonl, .jsonl.gz, .csv, .tsv, .parquet or .json, hf:OWNER",
        ),
        (("--input", "none.jsonl", "--output", "o.jsonl"), "none.jsonl does not exist"),
        (("--input", "rows.jsonl", "--output", "none/o.jsonl"), "the folder none does not exist; create it first"),
        (("--input", "rows.jsonl", "--output", "o.jsonl.gz"), "the output file must end in .jsonl"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_written(
    rows: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], reason: str
) -> None:
    monkeypatch.chdir(rows.parent)
    assert reason in refused(*arguments)
    assert [*rows.parent.iterdir()] == [rows]


def test_a_folder_that_may_not_be_written_is_refused(rows: Path, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):  # an administrator may write nearly everywhere
        folder = Path("/sys")
    if not folder.is_dir():
        pytest.skip("does not exist; create it first that this user may not write")
    assert "cannot be written: " in refused("--input", rows, "--output", folder / "out.jsonl")
