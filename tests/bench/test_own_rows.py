"""Your own rows as a data set: the same figures as for a set, a tuned threshold, and samples for several seeds."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.bench.samples import claim_rows, data_folder, write_rows
from tests.bench.test_run import Notes
from vouching.bench.catalog import chosen
from vouching.bench.claims import ClaimsTask
from vouching.bench.compare import compare
from vouching.bench.own import own_set, tuned
from vouching.bench.raw import Asking
from vouching.bench.run import run_task
from vouching.bench.task import RunOptions
from vouching.cli.app import app
from vouching.errors import InputError

QUICK = RunOptions(model="embedded:rules", resamples=100)


def run_own(path: Path, out: Path, asking: Asking | None = None, options: RunOptions = QUICK) -> dict[str, Any]:
    data_set, folder = own_set(str(path), "test")
    outcome = run_task(ClaimsTask(options.model, 1, asking), [data_set], folder, out, options, Notes())
    assert outcome.results is not None
    return outcome.results


def test_own_rows_have_the_figures_of_the_same_rows_as_a_public_set(tmp_path: Path) -> None:
    data = data_folder(tmp_path / "data", wice=claim_rows(30))
    found = run_own(write_rows(tmp_path / "mine[1].jsonl", claim_rows(30)), tmp_path / "mine")
    public = run_task(
        ClaimsTask("embedded:rules"), chosen(["wice"], data, "test"), data, tmp_path / "out", QUICK, Notes()
    )
    assert public.results is not None
    ours, theirs = found["sets"]["mine[1]"], public.results["sets"]["wice"]
    for key in ("rows", "groups", "metrics", "baselines", "difference"):
        assert ours[key] == theirs[key]
    kind, comparison = compare(tmp_path / "mine", tmp_path / "mine", resamples=100)
    assert kind == "claims"
    assert comparison["sets"]["mine[1]"]["auroc"]["difference"]["estimate"] == 0.0


def test_rows_of_another_tool_are_measured_and_faults_are_named(tmp_path: Path) -> None:
    rows = [
        {"doc": row["source"], "claim": row["claim"], "label": int(row["label"] == "Attributable"), "dataset": "a"}
        for row in claim_rows(12)
    ]
    path = write_rows(tmp_path / "aggrefact.jsonl", [*rows, {"question": "When?"}])
    found = run_own(path, tmp_path / "out")["sets"]["aggrefact"]
    assert (found["rows"], found["attributable"], found["unverified"]) == (13, 0.5, 1)
    lines = [json.loads(line) for line in (tmp_path / "out" / "rows" / "aggrefact.jsonl").read_text().splitlines()]
    assert "unknown format: the row has question" in lines[-1]["unverified"]


def test_a_threshold_is_tuned_on_rows_that_no_figure_includes() -> None:
    # Gold is score >= .75, so every label by .5 between .5 and .75 is wrong; groups of four rows each.
    rows = [
        {
            "id": str(n),
            "keys": [f"g{n // 4}"],
            "score": (n * 7 % 40) / 40,
            "label": (n * 7 % 40) >= 20,
            "attributable": (n * 7 % 40) >= 30,
        }
        for n in range(40)
    ]
    rest, how = tuned(rows, 0.5)
    assert how is not None
    assert how["rows"] + len(rest) == 40
    assert how["rows"] == 20
    assert how["balanced_accuracy"] == 1.0
    assert not {row["keys"][0] for row in rest} & ({f"g{n}" for n in range(10)} - {row["keys"][0] for row in rest})
    below = [row for row in rest if row["label"] != (row["score"] >= how["threshold"])]
    assert below == []
    one_label = [{**row, "attributable": True} for row in rows]
    assert tuned(one_label, 0.5) == (one_label, None)


def test_a_tuned_run_reports_the_other_rows_only(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "mine.jsonl", claim_rows(30))
    found = run_own(path, tmp_path / "out", Asking(tune=0.4))["sets"]["mine"]
    assert found["rows"] + found["tuned"]["rows"] == 30
    with pytest.raises(InputError, match="a share between 0 and 1, got 1"):
        Asking(tune=1.0)


def test_tuned_runs_are_compared_by_their_thresholds_on_the_rows_that_neither_was_tuned_on(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "mine.jsonl", claim_rows(40))
    folders = {share: tmp_path / f"out-{share}" for share in (None, 0.3, 0.5)}
    found = {share: run_own(path, folder, Asking(tune=share))["sets"]["mine"] for share, folder in folders.items()}
    half = found[0.5]
    assert half["rows"] + half["tuned"]["rows"] == 40
    for share in (None, 0.3):
        # Groups are drawn in one order: the part of 30 % lies inside that of 50 %.
        _, comparison = compare(folders[share], folders[0.5], resamples=100)
        pair = comparison["sets"]["mine"]
        assert pair["rows"] == half["rows"]
        assert pair["balanced_accuracy"]["second"] == half["metrics"]["balanced_accuracy"]["estimate"]
    _, same = compare(folders[0.3], folders[0.3], resamples=100)
    first = same["sets"]["mine"]["balanced_accuracy"]["first"]
    assert first == found[0.3]["metrics"]["balanced_accuracy"]["estimate"]


def test_samples_of_several_seeds_are_scored_once_and_their_spread_is_reported(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "mine.jsonl", claim_rows(60))
    options = RunOptions(model="embedded:rules", resamples=100, limit=20, seeds=(0, 1, 2))
    found = run_own(path, tmp_path / "out", options=options)
    samples = found["data"]["mine"]["samples"]
    assert [len(names) for names in samples.values()] == [20, 20, 20]
    assert found["sets"]["mine"]["rows"] == len({name for names in samples.values() for name in names}) < 60
    lines = [json.loads(line) for line in (tmp_path / "out" / "rows" / "mine.jsonl").read_text().splitlines()]
    right = {line["id"]: line["label"] == line["attributable"] for line in lines}
    each = [statistics.fmean(right[name] for name in names) for names in samples.values()]
    spread = found["sets"]["mine"]["seeds"]["accuracy"]
    assert spread["mean"] == pytest.approx(statistics.fmean(each), abs=1e-4)
    assert spread["standard_deviation"] == pytest.approx(statistics.stdev(each), abs=1e-4)
    with pytest.raises(InputError, match="requires --limit N"):
        run_own(path, tmp_path / "all", options=RunOptions(model="embedded:rules", seeds=(0, 1)))


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "pass names of data sets"),
        (["wice", "--input", "mine.jsonl"], "pass names of data sets"),
        (["--input", "nowhere.jsonl"], "--input nowhere.jsonl does not exist"),
        (["--input", "MINE", "--seeds", "0,0"], "--seeds must be different whole numbers"),
        (["--input", "MINE", "--raw"], "--raw requires a language model"),
        (["--input", "MINE", "--wording", "paper"], "are for language models, got --model embedded:rules"),
        (["--input", "MINE", "--responses", "x"], "--responses cannot be used here: MINE contains claims to judge"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(
    tmp_path: Path, arguments: list[str], fault: str
) -> None:
    write_rows(tmp_path / "MINE.jsonl", claim_rows(3))
    given = [str(tmp_path / "MINE.jsonl") if word == "MINE" else word for word in arguments]
    model = ["--model", "embedded:rules", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["bench", "run", *given, *model])
    assert done.exit_code == 2
    assert fault in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()
