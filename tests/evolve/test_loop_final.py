"""Test sets: once, whole groups, and nothing that was learned from."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.evolve.boats import boat, said
from tests.evolve.scholar import Scholar, start
from vouching.bench.catalog import chosen
from vouching.errors import InputError
from vouching.evolve.config import EvolveConfig
from vouching.evolve.loop import Data, evolve, read_data, run_test
from vouching.evolve.probe import typed_rows
from vouching.evolve.records import Row, read_records, write_records
from vouching.evolve.rows import rows_of_sets, some_groups

TESTED = [boat(number, "cutters") for number in range(200, 230)]


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Data]:
    folder = tmp_path_factory.mktemp("evolved")
    write_records(folder / "train.jsonl", [boat(number) for number in range(30)])
    write_records(folder / "dev.jsonl", typed_rows([boat(number, "ferries") for number in range(100, 130)], 4))
    config = EvolveConfig(
        (str(folder / "train.jsonl"),), (str(folder / "dev.jsonl"),), rounds=1, probes=20, replay=5, resamples=100
    )
    evolve(config, folder / "out", start)
    return folder / "out", read_data(config)


def test_a_test_is_done_once(evolved: tuple[Path, Data]) -> None:
    out, data = evolved
    rows = typed_rows(TESTED, 4)
    found = run_test(out, rows, data, Scholar, again=True, resamples=100)
    assert found.line("typed").rows == len(rows)
    with pytest.raises(InputError, match="add --again"):
        run_test(out, rows, data, Scholar, resamples=100)
    assert run_test(out, rows, data, Scholar, again=True, resamples=100) == found


def test_an_interrupted_test_resumes_with_the_same_rows_only(evolved: tuple[Path, Data]) -> None:
    out, data = evolved
    rows, asked = typed_rows(TESTED, 4), list[Path]()

    def opened(folder: Path) -> Scholar:
        asked.append(folder)
        return Scholar(folder)

    run_test(out, rows, data, opened, again=True, resamples=100)
    (out / "test/fingerprint.json").unlink()
    (out / "test/round-1.jsonl").unlink()
    asked.clear()
    with pytest.raises(InputError, match="other rows"):
        run_test(out, rows[1:], data, opened, resamples=100)
    run_test(out, rows, data, opened, resamples=100)
    assert [folder.parent.name for folder in asked] == ["round-1"]


def test_training_rows_are_excluded_from_the_test(evolved: tuple[Path, Data]) -> None:
    out, data = evolved
    reports: list[str] = []
    rows = [*TESTED, replace(data.train[0], id="the same claim"), replace(TESTED[0], source=data.dev[0].source)]
    run_test(out, rows, data, Scholar, again=True, resamples=100, report=reports.append)
    assert reports[0] == "test rows excluded because they share a claim, source or document with train or dev: 2"
    assert read_records(out / "test/rows.jsonl", Row) == TESTED
    with pytest.raises(InputError, match="but none is disjoint"):
        run_test(out, [data.train[0]], data, Scholar, again=True)


def test_a_test_before_the_end_is_refused(evolved: tuple[Path, Data], tmp_path: Path) -> None:
    out, data = evolved
    whole = tmp_path / "out"
    shutil.copytree(out, whole, ignore=shutil.ignore_patterns("test"))
    (whole / "round-1/round.json").unlink()
    with pytest.raises(InputError, match="0 of 1 rounds"):
        run_test(whole, TESTED, data, Scholar, resamples=100)
    assert not (whole / "test").exists()


def test_a_test_is_refused_if_the_training_files_have_changed(evolved: tuple[Path, Data]) -> None:
    out, data = evolved
    with pytest.raises(InputError, match=r"have changed since the run \(train\)"):
        run_test(out, TESTED, replace(data, train=data.train[1:]), Scholar, again=True, resamples=100)


def test_a_finished_test_is_kept_if_another_one_fails(evolved: tuple[Path, Data]) -> None:
    out, data = evolved
    run_test(out, TESTED, data, Scholar, again=True, resamples=100)
    before = (out / "test/fingerprint.json").read_bytes()
    with pytest.raises(InputError, match="but none is disjoint"):
        run_test(out, [data.train[0]], data, Scholar, again=True, resamples=100)
    assert (out / "test/fingerprint.json").read_bytes() == before


def test_groups_are_whole(evolved: tuple[Path, Data]) -> None:
    rows = [replace(boat(number), group=f"page {number // 4}") for number in range(40)]
    for limit in (3, 10, 40):
        taken = some_groups(rows, limit, seed=1)
        assert len(taken) == limit // 4 * 4
        for name in {row.group for row in taken}:
            assert sum(row.group == name for row in taken) == 4
    assert some_groups(rows, 20, seed=1) == some_groups(rows, 20, seed=1) != some_groups(rows, 20, seed=2)


def test_a_set_gives_claims_but_not_responses(tmp_path: Path) -> None:
    folder = tmp_path / "attribution/test"
    folder.mkdir(parents=True)
    lines = [f'{{"id": "{n}", "claim": "Claim {n}.", "source": "S {n}.", "label": "Attributable"}}' for n in range(5)]
    (folder / "wice.jsonl").write_text("\n".join(lines), encoding="utf-8")
    import gzip

    with gzip.open(folder / "wice.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join([*lines, '{"id": "broken"}']))
    rows = rows_of_sets(chosen(["wice"], tmp_path, "test"), tmp_path, 3)
    assert len(rows) == 3
    assert {row.data_set for row in rows} == {"wice"}
    assert said(rows[0], True).right
