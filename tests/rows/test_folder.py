"""A folder of rows: run in shares, killed, resumed, checked and merged."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from tests.rows import works
from vouching.cli.spread import Spread
from vouching.cli.streams import Exit
from vouching.errors import BackendError, InputError
from vouching.rows import RowJob
from vouching.rows.blocks import Shard
from vouching.rows.folder import LocalEngine, check_folder, merge_parts, run_folder
from vouching.rows.parts import FolderJob, WorkBug
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


def rewrite(file: Path, old: str, new: str) -> None:
    """Change the text of a file, whose size stays, and its time, which a coarse clock could leave as it was."""
    assert len(old) == len(new)
    before = file.stat().st_mtime_ns
    file.write_text(file.read_text().replace(old, new))
    os.utime(file, ns=(before + 1, before + 1))


def test_an_edit_that_keeps_the_size_of_a_file_is_noticed_by_the_next_run_and_by_the_check(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    run_folder(job, LocalEngine(), Shard(1, 2))
    edited = Path(job.input, "0.jsonl")
    rewrite(edited, '"r0"', '"x0"')
    for jobs in (1, 2):
        with pytest.raises(
            InputError, match=r"0\.jsonl has changed: its rows are not those from which block 0 was made"
        ):
            run_folder(job, LocalEngine(jobs), resume=True)
    rewrite(edited, '"x0"', '"r0"')
    run_folder(job, LocalEngine(), resume=True)
    assert check_folder(job.output).faults == ()
    rewrite(edited, '"r0"', '"x0"')
    [fault] = check_folder(job.output).faults
    assert fault.startswith("0.jsonl has changed")
    Path(job.output, fault.rpartition("delete ")[2]).unlink()  # what the message advises for the new rows
    run_folder(job, LocalEngine(), resume=True)
    assert check_folder(job.output).faults == ()
    assert ids(job.output) == EVERY - Counter(["r0"]) + Counter(["x0"])


def test_files_that_were_only_touched_are_compared_once_and_not_worked_on_again(tmp_path: Path) -> None:
    job = job_of(tmp_path, rows=60)
    run_folder(job, LocalEngine())
    parts = {path: path.stat().st_mtime_ns for path in Path(job.output, "parts").iterdir()}
    for file in Path(job.input).iterdir():
        os.utime(file)
    assert run_folder(job, LocalEngine(), resume=True).found == 60
    assert {path: path.stat().st_mtime_ns for path in parts} == parts
    results = {path: path.stat().st_mtime_ns for path in Path(job.output, "blocks").iterdir()}
    run_folder(job, LocalEngine(), resume=True)
    assert {path: path.stat().st_mtime_ns for path in results} == results


@pytest.mark.parametrize("lost", [0, 5])
def test_rows_that_no_block_has_read_are_missed_by_the_check(tmp_path: Path, lost: int) -> None:
    # Whatever might lose a row when a file is divided, such as a wrong end of a block, loses it here: the blocks are
    # planned for files that lack their last rows, which are put back before the check.
    job = job_of(tmp_path, rows=90)
    file = Path(job.input, "2.jsonl")
    whole, before = file.read_text(), file.stat().st_mtime_ns
    rows = whole.splitlines(keepends=True)
    file.write_text("".join(rows[: len(rows) - lost]) + " " * sum(map(len, rows[len(rows) - lost :])))
    run_folder(job, LocalEngine())
    file.write_text(whole)
    for path in Path(job.output, "blocks").iterdir():  # not by their time
        result = json.loads(path.read_text())
        result["stamp"] = str(before) if result["file"] == "2.jsonl" else result["stamp"]
        path.write_text(json.dumps(result))
    os.utime(file, ns=(before, before))
    faults = check_folder(job.output).faults
    assert faults == (("2.jsonl has 30 rows, but 25 lines: choose another output, and start again",) if lost else ())


def test_the_rows_may_be_moved_or_deleted_after_a_check(tmp_path: Path) -> None:
    job = job_of(tmp_path, rows=30)
    run_folder(job, LocalEngine())
    moved = Path(job.input).rename(tmp_path / "moved")
    with pytest.raises(InputError, match=r"does not exist.*pass --input with where they are now"):
        check_folder(job.output)
    assert check_folder(job.output, str(moved)).faults == ()
    assert check_folder(job.output).faults == ()  # the manifest has the counts
    (moved / "later.jsonl").write_text('{"id": "later"}\n')  # no row of this run
    assert check_folder(job.output, str(moved)).faults == ()
    (moved / "0.jsonl").unlink()
    with pytest.raises(InputError, match=r"0\.jsonl was [\d,]+ bytes and is missing now"):
        check_folder(job.output, str(moved))


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_the_work_is_a_bug_with_its_traceback_file_and_row(tmp_path: Path, jobs: int) -> None:
    job = replace(job_of(tmp_path, rows=60, files=2), open_work=works.fail_at_r30)
    with pytest.raises(WorkBug) as raised:
        run_folder(job, LocalEngine(jobs))
    # Before r30, file 0 has r0 to r8 with 13 bytes each and r10 to r28 with 14: 5 * 13 + 10 * 14 = 205.
    for part in ("ZeroDivisionError", "works.py", "while working on byte 205, id r30", "(0.jsonl)"):
        assert part in str(raised.value)
    assert run_folder(replace(job, open_work=works.die_once), LocalEngine(), resume=True).rows == 60


def test_the_command_shows_the_traceback_and_does_not_advise_to_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = job_of(tmp_path, rows=60)
    rows = RowJob(job.input, job.output, works.fail_at_r30, works.seen_in, job.settings)
    with pytest.raises(typer.Exit) as ended:
        Spread().rows(rows)
    assert ended.value.exit_code == Exit.INCOMPLETE
    told = capsys.readouterr().err
    assert "while working on" in told
    assert told.splitlines()[-1].startswith("vouch: stopped: this is a bug of Vouch, which --resume would meet again")


def test_a_line_with_the_id_of_another_row_is_no_line_of_its_row(tmp_path: Path) -> None:
    job = replace(job_of(tmp_path, rows=30), open_work=works.mislabel)
    with pytest.raises(WorkBug, match="the line of byte 0, id r0, has the id another"):
        run_folder(job, LocalEngine())
    assert not Path(job.output, "parts").exists()


def test_a_damaged_part_or_list_of_ids_is_named(tmp_path: Path) -> None:
    job = job_of(tmp_path, rows=60)
    run_folder(job, LocalEngine())
    for name in ("parts/00000000.jsonl", "ids/00000002"):
        place = Path(job.output, name)
        place.write_bytes(place.read_bytes()[:-9])
    rows = [json.loads(Path(job.output, f"blocks/0000000{number}.json").read_text())["rows"] for number in (0, 2)]
    assert check_folder(job.output).faults == (
        f"part 00000000.jsonl has {rows[0] - 1} lines and {rows[0]} ids of {rows[0]}: delete blocks/00000000.json",
        f"part 00000002.jsonl has {rows[1]} lines and {rows[1] - 2} ids of {rows[1]}: delete blocks/00000002.json",
    )


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
