"""``vouch bench``: what it prints, how it ends, and what it says about what it cannot use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.bench.samples import claim_rows, data_folder
from vouching.cli.app import app

PROGRAM = [sys.executable, "-m", "vouching", "bench"]


def bench(*arguments: str | Path, data: Path | None = None, columns: int = 100) -> Result:
    """Run ``vouch bench`` in this process."""
    env = {"COLUMNS": str(columns), "VOUCH_MODEL": "", "VOUCH_DATA": str(data) if data else ""}
    return CliRunner(env=env).invoke(app, ["bench", *map(str, arguments)])


def refused(*arguments: str | Path, data: Path | None = None) -> str:
    """The one line that a command line which cannot be used is answered with."""
    result = bench(*arguments, data=data)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("vouch: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return data_folder(tmp_path / "data", wice=claim_rows(30), seva_truthfulqa=claim_rows(12))


def test_list_counts_what_is_here_and_says_how_to_get_the_rest(data: Path) -> None:
    result = bench("list", "--split", "test", data=data, columns=140)
    assert result.exit_code == 0
    about, counts = result.stdout.partition("wice: ")[2].splitlines()[:2]
    assert about.endswith("ODC-BY")
    # 30 rows, three on each of 10 sources, half of them right.
    assert counts.split() == ["test", "30", "rows", "10", "groups", "50%", "attributable"]
    assert "broken slice" in result.stdout
    assert "llm_aggrefact: generated claims" in result.stdout.partition("Not available here:")[2]


def test_list_works_without_data_and_says_what_to_set() -> None:
    result = bench("list")
    assert result.exit_code == 0
    assert result.stderr == "vouch: VOUCH_DATA is not set: set it to the folder with the data sets\n"
    assert "  obtain   " in result.stdout


def test_validate_names_the_faults_and_ends_with_3(tmp_path: Path) -> None:
    first, *rest = claim_rows()
    folder = data_folder(tmp_path / "data", wice=[{**first, "label": None}, *rest])
    result = bench("validate", "wice", "--split", "test", data=folder)
    assert result.exit_code == 3
    assert result.stdout.startswith('wice, test: 1 fault\n  wice.jsonl.gz, line 1: "label" is null: expected one of ')
    sound = bench("validate", "anli", "--split", "test", data=folder)
    assert (sound.exit_code, sound.stdout) == (0, "anli, test: valid\n")


def test_run_prints_the_figures_with_their_remarks_and_where_everything_is(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = bench("run", "wice", "seva_truthfulqa", "--model", "embedded:rules", "--out", out, data=data)
    assert result.exit_code == 0, result.stderr
    assert "seva_truthfulqa *" in result.stdout
    assert "* seva_truthfulqa: broken slice" in result.stdout.replace("\n", " ")
    assert json.loads((out / "results.json").read_text(encoding="utf-8"))["sets"]["wice"]["rows"] == 30


def test_a_set_without_an_auroc_says_why_and_what_it_has_instead(tmp_path: Path) -> None:
    one_class = [row for row in claim_rows(48) if row["label"] == "Attributable"]
    folder = data_folder(tmp_path / "data", wice=one_class)
    result = bench("run", "wice", "facts_grounding", "--out", tmp_path / "out", data=folder, columns=200)
    assert "wice: one class only: all 24 rows are Attributable" in result.stdout
    assert "facts_grounding: no row has a label.\nfacts_grounding: share judged Attributable 1.000." in result.stdout


def test_wide_terminals_show_the_length_of_the_claim_as_a_rival(data: Path, tmp_path: Path) -> None:
    result = bench("run", "wice", "--out", tmp_path / "out", data=data, columns=140)
    header, row = (line.split() for line in result.stdout.splitlines()[:2])
    assert "length" in header
    # Right and wrong claims are equally long.
    assert row.count("0.500") >= 1


def test_run_fits_on_80_columns(data: Path, tmp_path: Path) -> None:
    result = bench("run", "wice", "--model", "embedded:rules", "--out", tmp_path / "out", data=data, columns=80)
    assert max(map(len, result.stdout.splitlines()[:2])) <= 80


def test_run_ends_with_3_if_a_row_has_no_verdict(tmp_path: Path) -> None:
    folder = data_folder(tmp_path / "data", wice=[*claim_rows(), {**claim_rows(1)[0], "id": "x", "claim": "?!"}])
    result = bench("run", "wice", "--model", "embedded:rules", "--out", tmp_path / "out", data=folder)
    assert result.exit_code == 3
    assert "x: input: the claim must contain at least one word or number" in result.stderr
    assert "rows without a verdict: 1; excluded from the figures" in result.stderr


def test_compare_tells_the_difference_of_two_runs(data: Path, tmp_path: Path) -> None:
    for name, model in (("a", "embedded:rules"), ("b", "embedded")):
        bench("run", "wice", "--model", model, "--out", tmp_path / name, data=data)
    result = bench("compare", tmp_path / "a", tmp_path / "b")
    assert result.exit_code == 0
    assert "wice" in result.stdout
    told = json.loads(bench("compare", tmp_path / "a", tmp_path / "b", "--json").stdout)
    assert told["sets"]["wice"]["rows"] == 30


def test_what_cannot_be_used_is_one_line_that_says_what_to_do(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "VOUCH_DATA is not set" in refused("run", "wice", "--out", out)
    assert "nowhere is not a folder" in refused("run", "wice", "--out", out, data=tmp_path / "nowhere")
    assert "did you mean 'wice'?" in refused("run", "wise", "--out", out, data=data)
    no_dev = refused("run", "wice", "--split", "dev", "--out", out, data=data)
    assert "has no dev split: pass --split train or test" in no_dev
    assert "fool_me_twice is missing" in refused("run", "fool_me_twice", "--out", out, data=data)
    assert "unknown model 'gpt'" in refused("run", "wice", "--model", "gpt", "--out", out, data=data)
    assert "is not empty" in refused("run", "wice", "--out", tmp_path, data=data)
    assert "the folder of a run?" in refused("compare", tmp_path, tmp_path)
    assert not out.exists()


def test_a_full_disk_is_one_line_and_the_run_can_be_gone_on_with(data: Path, tmp_path: Path) -> None:
    # A limit on the size of files stands in for the end of the disk: writing beyond it fails in the same place.
    out = tmp_path / "out"
    arguments = ["run", "wice", "--model", "embedded:rules", "--out", str(out)]
    limited = [
        "import resource, signal, sys",
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))",
        f"sys.argv[1:] = {['bench', *arguments]!r}",
        "from vouching.cli.app import main",
        "sys.exit(main())",
    ]
    environment = {**os.environ, "VOUCH_DATA": str(data)}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(limited)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "cannot write to" in done.stderr
    assert "resume with --resume" in done.stderr
    resumed = subprocess.run([*PROGRAM, *arguments, "--resume"], capture_output=True, env=environment, check=False)
    assert resumed.returncode == 0
    assert (out / "results.json").exists()


def test_without_a_subcommand_the_help_is_shown() -> None:
    result = bench()
    assert result.exit_code == 0
    assert "compare" in result.stdout


def test_a_file_that_cannot_be_read_spoils_only_its_own_set(data: Path) -> None:
    (data / "attribution/test/wice.jsonl.gz").write_text("no gzip", encoding="utf-8")
    listed, validated = bench("list", data=data), bench("validate", data=data)
    assert listed.exit_code == 0
    assert "vouch: wice, test: " in listed.stderr
    assert "seva_truthfulqa: " in listed.stdout.partition("Not available here:")[0]
    assert validated.exit_code == 3
    assert "wice, test: 1 fault" in validated.stdout
    assert "seva_truthfulqa, test: " in validated.stdout


def test_a_quick_look_tells_all_rows_that_cannot_be_used(data: Path, tmp_path: Path) -> None:
    rows = claim_rows(30)
    del rows[3]["label"], rows[20]["claim"]
    folder = data_folder(tmp_path / "broken", wice=rows)
    ended = bench("run", "wice", "--limit", "5", "--out", str(tmp_path / "run"), data=folder)
    assert ended.exit_code == 3
    assert "line 4" in ended.stderr
    assert "line 21" in ended.stderr
    assert "Quick run: at most 5 rows" in (tmp_path / "run/report.html").read_text(encoding="utf-8")


def test_data_sets_are_looked_for_one_folder_up_only_in_words(data: Path) -> None:
    ended = bench("run", "wice", "--out", "run", data=data / "attribution")
    assert ended.exit_code == 2
    assert f"must be set to the parent folder, {data}; got {data}/attribution" in ended.stderr


def test_runs_of_other_sets_are_not_compared(data: Path, tmp_path: Path) -> None:
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    bench("run", "wice", "--out", one, data=data)
    bench("run", "seva_truthfulqa", "--out", other, data=data)
    assert f"only {one} has wice" in bench("compare", one, other).stderr
