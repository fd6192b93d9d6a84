"""Two runs on the same rows, compared by hand and refused where they are not on the same rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bench.test_evaluate import scored, width
from vouching.bench.compare import compare_runs
from vouching.errors import InputError

FEW = 500


def write_run(out: Path, rows: list[dict[str, Any]], *names: str, **settings: Any) -> Path:
    """A folder like that of a run over sets that all have the same rows."""
    (out / "rows").mkdir(parents=True)
    sets = names or ("wice",)
    note = {
        "settings": {"model": "x", "vouching": "1", "split": "test", "limit": None, **settings},
        "data": {name: {"rows": len(rows), "fingerprint": "f"} for name in sets},
    }
    (out / "run.json").write_text(json.dumps(note), encoding="utf-8")
    for name in sets:
        (out / "rows" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return out


def wrong(row: dict[str, Any]) -> dict[str, Any]:
    """The row with the other label."""
    return {**row, "label": not row["label"], "score": 1 - row["score"]}


def test_differences_are_those_of_the_second_run(tmp_path: Path) -> None:
    right = [scored(n) for n in range(40)]
    # The first run gets rows 0 to 7 wrong, four of each class; the second gets all right.
    first = write_run(tmp_path / "a", [wrong(row) if n < 8 else row for n, row in enumerate(right)])
    found = compare_runs(first, write_run(tmp_path / "b", right), FEW)["sets"]["wice"]
    # Balanced accuracy: 16 of 20 in each class, then 20 of 20.
    assert (found["balanced_accuracy"]["first"], found["balanced_accuracy"]["second"]) == (0.8, 1.0)
    assert found["balanced_accuracy"]["difference"]["estimate"] == pytest.approx(0.2)
    assert found["balanced_accuracy"]["difference"]["verdict"] == "better"
    # All eight rows on which they differ go to the second: p = 2 / 2^8.
    assert found["mcnemar"] == {"only_a": 0, "only_b": 8, "p_value": 2 / 256}


def test_a_run_compared_with_itself_shows_no_difference(tmp_path: Path) -> None:
    rows = [wrong(scored(n)) if n % 7 == 0 else scored(n) for n in range(40)]
    found = compare_runs(write_run(tmp_path / "a", rows), write_run(tmp_path / "b", rows), FEW)["sets"]["wice"]
    assert found["auroc"]["difference"]["verdict"] == "no significant difference"
    assert found["mcnemar"]["p_value"] == 1.0


def test_rows_of_one_group_are_drawn_together(tmp_path: Path) -> None:
    rows = [scored(n, keys=[str(n)]) for n in range(40)]
    fourfold = [row for row in rows for _ in range(4)]
    widths: list[float] = []
    for name, second in (("grouped", fourfold), ("alone", [{**row, "keys": []} for row in fourfold])):
        first = [wrong(row) if int(row["id"].removeprefix("row-")) < 8 else row for row in second]
        runs = [write_run(tmp_path / name / run, some) for run, some in (("a", first), ("b", second))]
        widths.append(width(compare_runs(*runs, FEW)["sets"]["wice"]["balanced_accuracy"]["difference"]))
    # Forty groups rather than 160 rows: twice as wide.
    assert 1.5 < widths[0] / widths[1] < 2.5


def test_all_rows_are_those_of_the_sets_that_a_run_pools(tmp_path: Path) -> None:
    rows = [scored(n) for n in range(40)]
    folders = [write_run(tmp_path / run, rows, "wice", "bump", "seva_truthfulqa") for run in "ab"]
    comparison = compare_runs(*folders, FEW)
    # seva_truthfulqa has a remark.
    assert (len(comparison["sets"]), comparison["pooled"]["rows"]) == (3, 80)


def test_the_mean_of_the_sets_counts_each_set_the_same(tmp_path: Path) -> None:
    right = [scored(n) for n in range(40)]
    folders = [write_run(tmp_path / run, right, "wice", "bump") for run in "ab"]
    # The first run gets all of bump's first ten rows wrong, of which there are twenty: five of ten in each class.
    small = right[:20]
    for folder, rows in zip(folders, ([*map(wrong, small[:10]), *small[10:]], small), strict=True):
        (folder / "rows" / "bump.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    comparison = compare_runs(*folders, FEW)
    mean, pooled = comparison["mean_of_sets"]["balanced_accuracy"], comparison["pooled"]["balanced_accuracy"]
    # wice 1, bump .5; of all 60 rows, 25 of 30 in each class.
    assert (mean["first"], mean["second"], mean["difference"]["estimate"]) == (0.75, 1.0, 0.25)
    assert pooled["first"] == pytest.approx(25 / 30, abs=1e-4)
    assert mean["difference"]["verdict"] == "better"


def test_two_different_systems_without_a_mistake_have_no_interval(tmp_path: Path) -> None:
    rows = [scored(n) for n in range(40)]
    other = [{**row, "score": row["score"] / 2 + 0.3} for row in rows]
    found = compare_runs(write_run(tmp_path / "a", rows), write_run(tmp_path / "b", other), FEW)["sets"]["wice"]
    assert found["auroc"]["difference"]["verdict"] == "no interval"
    assert found["macro_f1"]["difference"]["verdict"] == "no significant difference"


def test_rows_without_a_verdict_in_either_run_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [scored(n) for n in range(40)]
    failed = {**rows[0], "score": None, "label": None, "unverified": "backend: no answer"}
    found = compare_runs(write_run(tmp_path / "a", rows), write_run(tmp_path / "b", [failed, *rows[1:]]), FEW)
    assert (found["sets"]["wice"]["rows"], found["sets"]["wice"]["excluded"]) == (39, 1)
    assert (found["pooled"], found["mean_of_sets"]) == (None, None)


@pytest.mark.parametrize(
    ("rows", "name", "settings", "said"),
    [
        ([scored(n) for n in range(40)], "bump", {}, "only .* has wice"),
        ([scored(n) for n in range(40)], "wice", {"split": "dev"}, "different rows, because their split differs"),
        ([scored(n) for n in range(40)], "wice", {"limit": 40}, "different rows, because their limit differs"),
        ([scored(n) for n in range(39)], "wice", {}, "different rows, because their wice differs"),
        ([scored(n + 2) for n in range(40)], "wice", {}, "wice differs between the runs at row 'row-0'"),
    ],
)
def test_runs_on_different_rows_are_refused(
    tmp_path: Path, rows: list[dict[str, Any]], name: str, settings: dict[str, Any], said: str
) -> None:
    first = write_run(tmp_path / "a", [scored(n) for n in range(40)])
    with pytest.raises(InputError, match=said):
        compare_runs(first, write_run(tmp_path / "b", rows, name, **settings), FEW)


def test_a_run_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    rows = [scored(n) for n in range(40)]
    first, second = write_run(tmp_path / "a", rows), write_run(tmp_path / "b", rows)
    (second / "rows" / "wice.jsonl").write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="one run has 40 rows and the other 1; finish both"):
        compare_runs(first, second, FEW)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"run\.json cannot be read: .* is .* the folder of a run\?"):
        compare_runs(tmp_path, tmp_path, FEW)
