"""A folder of rows: run in shares, killed, resumed, checked and merged."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.rows import works
from vouching.errors import BackendError, InputError
from vouching.rows.blocks import Shard
from vouching.rows.folder import LocalEngine, check_folder, merge_parts, run_folder
from vouching.rows.parts import FolderJob
from vouching.rows.worker import WorkerError

SIZE = 200
"""Bytes of a block: about ten rows."""


def job_of(tmp_path: Path, *broken: int, rows: int = 300, files: int = 3, **more: object) -> FolderJob:
    """Rows in files, some of them broken."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for file in range(files):
        lines = [
            "{broken" if number in broken else json.dumps({"id": f"r{number}", **more})
            for number in range(file, rows, files)
        ]
        (folder / f"{file}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return FolderJob(str(folder), str(tmp_path / "out"), works.die_once, works.seen_in, {"model": "echo"}, size=SIZE)


def lines_of(output: str) -> list[dict[str, str]]:
    parts = sorted(Path(output, "parts").iterdir())
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def ids(output: str) -> Counter[str]:
    return Counter(line["id"] for line in lines_of(output))


EVERY = Counter(f"r{number}" for number in range(300))


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_row_of_a_folder_has_one_line(tmp_path: Path, jobs: int) -> None:
    job = job_of(tmp_path)
    summary = run_folder(job, LocalEngine(jobs))
    assert (summary.rows, summary.counts["lines"], summary.complete) == (300, 300, True)
    assert ids(job.output) == EVERY
    whole = check_folder(job.output)
    assert (whole.faults, whole.doubled) == ((), 0)
    assert json.loads(Path(job.output, "manifest.json").read_text())["rows"] == 300
    assert len({line["pid"] for line in lines_of(job.output)} - {str(os.getpid())}) >= 1
    assert run_folder(job, LocalEngine(), resume=True).found == 300


def test_shards_write_into_one_folder_and_the_check_says_which_is_missing(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    for number in (1, 3):
        run_folder(job, LocalEngine(), Shard(number, 3))
    missing = check_folder(job.output)
    assert len(missing.faults) == missing.blocks // 3
    assert "block 1 (0.jsonl) is not finished" in missing.faults
    assert not Path(job.output, "manifest.json").exists()
    run_folder(job, LocalEngine(), Shard(2, 3))
    run_folder(job, LocalEngine(), Shard(2, 3))  # a share that is started twice changes nothing
    assert check_folder(job.output).faults == ()
    assert ids(job.output) == EVERY


def test_a_killed_worker_loses_and_doubles_no_row(tmp_path: Path) -> None:
    job = job_of(tmp_path, die=str(tmp_path / "died"))
    with pytest.raises(WorkerError, match="SIGKILL"):
        run_folder(job, LocalEngine(2))
    assert run_folder(job, LocalEngine(2), resume=True).rows == 300
    assert ids(job.output) == EVERY
    assert check_folder(job.output).faults == ()


def test_a_run_killed_at_any_file_it_writes_is_resumed_without_loss(tmp_path: Path) -> None:
    job = job_of(tmp_path, rows=60)
    run_folder(job, LocalEngine())
    names = ("blocks/00000001.json", "parts/00000002.jsonl", "ids/00000000")
    for count in range(1, len(names) + 1):
        for name in names[:count]:
            Path(job.output, name).unlink()
        faults = check_folder(job.output).faults
        assert len(faults) == count
        for fault in faults:  # the message says what to delete for the block to be done again
            if "delete" in fault:
                Path(job.output, fault.rpartition("delete ")[2]).unlink()
        run_folder(job, LocalEngine(), resume=True)
        assert check_folder(job.output).faults == ()
    assert ids(job.output) == Counter(f"r{number}" for number in range(60))


def test_rows_that_cannot_be_used_are_listed_with_file_row_and_reason(tmp_path: Path) -> None:
    job = job_of(tmp_path, 3, 100)
    summary = run_folder(job, LocalEngine())
    assert (summary.rows, summary.problems, summary.complete) == (300, 2, False)
    listed = [json.loads(path.read_text()) for path in sorted(Path(job.output, "errors").iterdir())]
    # Row 3 is the second of file 0, after '{"id": "r0"}\n', which has 13 bytes.
    assert (listed[0]["file"], listed[0]["row"]) == ("0.jsonl", "byte 13")
    assert listed[0]["reason"].startswith("0.jsonl, invalid JSON")
    assert {one["file"] for one in listed} == {"0.jsonl", "1.jsonl"}


def test_ids_that_occur_twice_are_counted(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    Path(job.input, "copy.jsonl").write_text('{"id": "r5"}\n{"id": "r6"}\n')
    run_folder(job, LocalEngine())
    assert check_folder(job.output).doubled == 2


def test_other_files_or_settings_are_not_mixed_into_an_output(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    run_folder(job, LocalEngine(), Shard(1, 2))
    with pytest.raises(InputError, match="is not empty: continue it with --resume"):
        run_folder(job, LocalEngine())
    with pytest.raises(InputError, match="made with model echo, but model is now other"):
        run_folder(replace(job, settings={"model": "other"}), LocalEngine(), resume=True)
    with Path(job.input, "0.jsonl").open("a") as file:
        file.write('{"id": "new"}\n')
    with pytest.raises(InputError, match=r"0\.jsonl was [\d,]+ bytes and is [\d,]+ bytes now"):
        run_folder(job, LocalEngine(), Shard(2, 2))


def test_an_output_inside_the_input_and_a_folder_of_something_else_are_refused(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    with pytest.raises(InputError, match="is in the folder of the input"):
        run_folder(replace(job, output=f"{job.input}/out"), LocalEngine())
    with pytest.raises(InputError, match=r"run\.json is missing"):
        check_folder(job.input)


def test_a_block_whose_folder_cannot_be_written_stops_the_run_and_is_resumed(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    run_folder(job, LocalEngine(), Shard(1, 2))
    parts = Path(job.output, "parts")
    parts.rename(tmp_path / "kept")
    parts.write_text("")  # a file where the folder should be
    with pytest.raises(BackendError, match="cannot be written"):
        run_folder(job, LocalEngine(), Shard(2, 2))
    parts.unlink()
    (tmp_path / "kept").rename(parts)
    run_folder(job, LocalEngine(), Shard(2, 2))
    assert ids(job.output) == EVERY
    assert check_folder(job.output).faults == ()


def test_parts_become_one_file_in_the_order_of_the_blocks(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    run_folder(job, LocalEngine(2))
    merge_parts(job.output, str(tmp_path / "all.jsonl"))
    merged = [json.loads(line)["id"] for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert merged == [f"r{number}" for file in range(3) for number in range(file, 300, 3)]
    with pytest.raises(InputError, match="already exists"):
        merge_parts(job.output, str(tmp_path / "all.jsonl"))
    with pytest.raises(InputError, match=r"must end in \.jsonl"):
        merge_parts(job.output, str(tmp_path / "all.parquet"))


def test_the_output_may_be_an_object_store(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    job = replace(job_of(tmp_path), output="memory://bucket/verdicts")
    assert run_folder(job, LocalEngine()).rows == 300
    assert check_folder(job.output).faults == ()
    merge_parts(job.output, str(tmp_path / "all.jsonl"))
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 300
