"""Ray does what the local runner does, in any order, and a killed actor or another version changes no verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.rows import works
from vouching.cli.check import LOOK
from vouching.cli.judge import Judging
from vouching.errors import BackendError, ConfigError, InputError
from vouching.rows.columns import record_schema
from vouching.rows.folder import LocalEngine, check_folder, run_folder
from vouching.rows.parts import FolderJob, WorkBug
from vouching.scale import check_dataset
from vouching.scale.engine import RayEngine
from vouching.scale.session import check_nodes

pytest.importorskip("ray")
CLAIMS = [json.loads(line) for line in Path("examples/claims.jsonl").read_text(encoding="utf-8").splitlines()]


def claims_in(folder: Path, rows: int, files: int) -> Path:
    """Rows with ids in files of a folder."""
    folder.mkdir()
    for file in range(files):
        lines = [json.dumps({**CLAIMS[n % len(CLAIMS)], "id": f"r{n}"}) for n in range(file, rows, files)]
        (folder / f"{file}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def check_job(rows: Path, output: Path) -> FolderJob:
    return FolderJob(str(rows), str(output), Judging("embedded:rules").opened, LOOK, {"model": "rules"}, size=4_000)


def verdicts(output: Path) -> dict[str, dict[str, Any]]:
    """The records by id, without the time they took."""
    found: dict[str, dict[str, Any]] = {}
    for part in (output / "parts").iterdir():
        for line in part.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            record["usage"].pop("seconds")
            assert record["id"] not in found
            found[record["id"]] = record
    return found


def test_verdicts_are_those_of_the_local_runner_also_in_a_run_that_is_resumed(ray: Any, tmp_path: Path) -> None:
    rows = claims_in(tmp_path / "rows", 60, 3)
    (rows / "broken.jsonl").write_text("{broken\n")
    here, there = check_job(rows, tmp_path / "here"), check_job(rows, tmp_path / "there")
    local = run_folder(here, LocalEngine())
    run_folder(there, LocalEngine())
    results = sorted((tmp_path / "there/blocks").iterdir())
    kept = results[0].stat().st_mtime_ns
    for result in results[1:]:  # all but the first block are done again, by actors of a Ray with two cores
        result.unlink()
    spread = run_folder(there, RayEngine(), resume=True)
    assert results[0].stat().st_mtime_ns == kept
    assert (spread.rows, spread.problems, spread.counts) == (local.rows, local.problems, local.counts)
    assert spread.problems == 1
    assert verdicts(tmp_path / "there") == verdicts(tmp_path / "here")
    assert check_folder(there.output).faults == ()


def test_a_killed_actor_loses_and_doubles_no_row(ray: Any, tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    lines = [json.dumps({"id": f"r{n}", **({"die": str(tmp_path / "died")} if n == 30 else {})}) for n in range(60)]
    (folder / "a.jsonl").write_text("".join(f"{line}\n" for line in lines))
    job = FolderJob(str(folder), str(tmp_path / "out"), works.die_once, works.seen_in, {}, size=150)
    assert run_folder(job, RayEngine(actors=2)).rows == 60
    assert (tmp_path / "died").exists()
    ids = Counter(json.loads(n)["id"] for part in (tmp_path / "out/parts").iterdir() for n in part.open())
    assert ids == Counter(f"r{number}" for number in range(60))
    assert check_folder(job.output).faults == ()


def test_a_block_that_kills_every_actor_ends_the_run_and_is_named(ray: Any, tmp_path: Path) -> None:
    (folder := tmp_path / "rows").mkdir()
    (folder / "a.jsonl").write_text("".join(f'{{"id": "id-{number}"}}\n' for number in range(6)))
    job = FolderJob(str(folder), str(tmp_path / "out"), works.always_die, works.seen_in, {})
    with pytest.raises(BackendError, match=r"3 actors died while they worked on block 0 \(a\.jsonl\)"):
        run_folder(job, RayEngine(actors=1))


def test_a_block_that_cannot_be_finished_ends_the_run_with_its_reason(ray: Any, tmp_path: Path) -> None:
    job = check_job(claims_in(tmp_path / "rows", 20, 1), tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/parts").write_text("")  # a file where the folder should be
    with pytest.raises(BackendError, match=r"block \d+ \(0\.jsonl\) cannot be written"):
        run_folder(job, RayEngine())


def test_an_error_in_the_work_is_a_bug_with_its_traceback_file_and_row(ray: Any, tmp_path: Path) -> None:
    (folder := tmp_path / "rows").mkdir()
    (folder / "a.jsonl").write_text("".join(f'{{"id": "r{number}"}}\n' for number in range(60)))
    job = FolderJob(str(folder), str(tmp_path / "out"), works.fail_at_r30, works.seen_in, {}, size=150)
    with pytest.raises(WorkBug) as raised:
        run_folder(job, RayEngine(actors=1))
    # Before r30 are 10 rows of 13 bytes and 20 of 14: it begins at byte 410, in block 2 of 150 bytes each.
    for part in ("ZeroDivisionError", "works.py", "while working on byte 410, id r30", "in block 2 (a.jsonl)"):
        assert part in str(raised.value)
    assert {"00000000.json", "00000001.json"} <= {path.name for path in (tmp_path / "out/blocks").iterdir()}
    fixed = replace(job, open_work=works.echo)
    assert run_folder(fixed, RayEngine(actors=1), resume=True).rows == 60
    before = (folder / "a.jsonl").stat().st_mtime_ns  # actors notice an edit that keeps the size
    (folder / "a.jsonl").write_text((folder / "a.jsonl").read_text().replace("r0", "x0"))
    os.utime(folder / "a.jsonl", ns=(before + 1, before + 1))
    with pytest.raises(InputError, match="has changed: its rows are not those from which block 0 was made"):
        run_folder(fixed, RayEngine(actors=1), resume=True)


def test_another_version_or_an_output_that_a_node_does_not_see_is_told_before_work(ray: Any, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    check_nodes(ray, str(tmp_path))
    with pytest.raises(ConfigError, match=r"has vouching [\d.]+, this machine 9\.9: install the same version"):
        check_nodes(ray, str(tmp_path), "9.9")
    with pytest.raises(InputError, match="does not see"):
        check_nodes(ray, str(tmp_path / "elsewhere"))


def test_small_files_of_a_dataset_do_not_become_one_block_of_one_actor(ray: Any, tmp_path: Path) -> None:
    data = pytest.importorskip("ray.data")
    dataset = data.read_json(str(claims_in(tmp_path / "rows", 80, 4))).select_columns(["id", "claim", "source"])
    made = check_dataset(dataset, "embedded:rules", rows_per_block=20, actors=1).materialize()
    assert made.num_blocks() >= 4  # 80 rows by 20
    rows = made.take_all()
    assert Counter(row["id"] for row in rows) == Counter(f"r{number}" for number in range(80))
    assert made.schema().names == record_schema().names
    assert {row["label"] for row in rows} == {"Attributable", "Not Attributable"}


def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    (rows := tmp_path / "rows").mkdir()
    (rows / "a.jsonl").write_text('{"id": "a"}\n')
    done = vouch(
        "check", "--input", rows, "--output", tmp_path / "out", "--engine", "ray", "--ray-address", "127.0.0.1:1"
    )
    assert done.returncode == 2
    assert "the Ray cluster at 127.0.0.1:1 cannot be used" in done.stderr


def test_the_engine_without_its_extra_is_named(tmp_path: Path) -> None:
    (rows := tmp_path / "rows").mkdir()
    (rows / "a.jsonl").write_text('{"id": "a"}\n')
    blocked = "import sys; sys.modules['ray'] = None; from vouching.cli.app import main; sys.exit(main())"
    arguments = ["check", "--input", str(rows), "--output", str(tmp_path / "out"), "--engine", "ray"]
    done = subprocess.run([sys.executable, "-c", blocked, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install 'vouching[ray]'" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def vouch(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "vouching", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
