"""Run a folder of rows, or one machine's share of it, and check and merge what all of them wrote."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from vouching.errors import InputError, needed
from vouching.rows.blocks import Block, Shard, count_rows, plan_blocks
from vouching.rows.parts import (
    ID_BYTES,
    PARQUET,
    BlockResult,
    BlockWorker,
    FolderJob,
    compared,
    finished,
    outcome_of,
    planned,
    read_plan,
    refuse_other_files,
    result_of,
    stem,
)
from vouching.rows.places import FoundFile, OutputFolder, found_files
from vouching.rows.pool import in_order
from vouching.rows.row import Row
from vouching.rows.run import BatchSummary
from vouching.rows.tables import parquet_count
from vouching.rows.worker import Work
from vouching.text.json_values import parse_json

Engine: TypeAlias = Callable[[FolderJob, Sequence[Block]], Iterator[BlockResult]]
"""Works on blocks somewhere and yields each result as it is finished."""
MANIFEST = "manifest.json"
_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _BlockRows:
    """Makes the work on rows that are blocks, in a worker process; picklable if the job is."""

    job: FolderJob

    def __call__(self) -> Work:
        worker = BlockWorker(self.job)

        def work(row: Row) -> str:
            assert row.fields is not None
            return json.dumps(outcome_of(worker, Block(**row.fields)))

        return work


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Works on blocks in one process or several of this machine."""

    jobs: int = 1
    """Number of processes."""

    def __call__(self, job: FolderJob, blocks: Sequence[Block]) -> Iterator[BlockResult]:
        """Yield the results. Raises WorkerError if a process dies, and as ``result_of`` does."""
        rows = (Row(number, f"block {block.number}", asdict(block)) for number, block in enumerate(blocks, 1))
        if self.jobs > 1:
            pickle.dumps(job)  # fails here, with a useful message, rather than in a worker
        with closing(in_order(_BlockRows(job), rows, min(self.jobs, max(1, len(blocks))), patience=0.0)) as results:
            for _, line in results:
                yield result_of(parse_json(line))


def run_folder(
    job: FolderJob,
    engine: Engine,
    shard: Shard | None = None,
    resume: bool = False,
    watch: Callable[[BlockResult, float], None] = lambda result, share: None,
) -> BatchSummary:
    r"""Work on every block that is not finished, and sum up the blocks.

    Args:
        job: rows, work and output.
        engine: where blocks are worked on.
        shard: the share of the blocks to work on; None for all. A shard may always be started again.
        resume: whether to continue an existing output; blocks with temporary failures are tried again.
        watch: called after each finished block, with the share of the blocks that are finished.

    Raises:
        InputError: the input or output cannot be used, or the output belongs to other files, rows or settings.
        BackendError: a model cannot be reached or a file cannot be written; finished blocks are kept.
        WorkBug: the work has a bug; finished blocks are kept.

    >>> import tempfile
    >>> from vouching.rows import json_work, looker
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "rows").mkdir()
    >>> _ = (folder / "rows/a.jsonl").write_text('{"id": "a"}\n{"id": "b"}\n')
    >>> work = json_work(lambda row: {"id": row.name})
    >>> job = FolderJob(str(folder / "rows"), str(folder / "out"), lambda: work, looker(), {})
    >>> run_folder(job, LocalEngine()).rows
    2
    """
    blocks = planned(job, resume or shard is not None)
    done = finished(OutputFolder(job.output))
    mine = list((shard or Shard()).of(blocks))
    kept = {block.number for block in mine if block.number in done and not done[block.number].left}
    summary = BatchSummary(found=sum(done[number].rows for number in kept))
    summary.again = sum(done[block.number].left for block in mine if block.number in done)
    # Files that were written since are compared first.
    to_do = [
        replace(block, written=True) for block in mine if block.number in kept and done[block.number].is_old(block)
    ]
    to_do += [block for block in mine if block.number not in kept]
    finished_now = len(mine) - len(to_do)
    for result in engine(job, to_do):
        done[result.block] = result
        finished_now += 1
        watch(result, finished_now / len(mine))
    for block in mine:
        add_result(summary, done[block.number])
    return summary


def add_result(summary: BatchSummary, result: BlockResult) -> None:
    """Add a block to a summary."""
    summary.rows += result.rows
    summary.problems += result.problems
    summary.left += result.left
    summary.counts.update(result.counts)


@dataclass(frozen=True, slots=True)
class Completeness:
    """Whether the output of a folder of rows is whole."""

    summary: BatchSummary
    """Of the finished blocks."""
    blocks: int
    """How many there should be."""
    faults: tuple[str, ...]
    """What is missing or wrong; empty if every row has exactly one line."""
    doubled: int = 0
    """How many rows share their id with an earlier one."""
    usage: dict[str, float] | None = None
    """Seconds, tokens and calls, summed over all lines."""


def check_folder(output: str, input: str | None = None) -> Completeness:
    """Check that every block is finished and every row of the input has one line, and write ``manifest.json`` if so.

    The rows of each file are counted, without its blocks; blocks whose file was written since are compared with it.
    About ten bytes for each row are held in memory.

    Args:
        output: the folder of the output.
        input: where the rows are now; None for where they were. If they are gone, those that an earlier manifest
            counts are taken.

    Raises:
        InputError: this is no output of a folder of rows, or its input is missing or has other files.
    """
    folder = OutputFolder(output)
    plan = read_plan(folder)
    files, counted = _input_of(folder, plan, input)
    blocks, done = plan_blocks(files, plan["block_bytes"]), finished(folder)
    faults = [f"block {block.number} ({block.name}) is not finished" for block in blocks if block.number not in done]
    summary, ids, usage, lines = BatchSummary(), bytearray(), dict[str, float](), Counter[str]()
    for block in blocks:
        if block.number not in done:
            continue
        result = done[block.number]
        add_result(summary, result)
        usage |= {key: usage.get(key, 0) + value for key, value in result.usage.items()}
        lines[block.name] += result.rows
        try:
            ids += _checked(folder, plan["parts"], block, result)
            if result.is_old(block):
                done[block.number] = compared(folder, block)
        except InputError as error:
            faults.append(str(error))
    if not faults:
        counted |= {file.name: count_rows(file) for file in files if file.name not in counted}
        faults += [
            f"{name} has {rows:,} rows, but {lines[name]:,} lines: choose another output, and start again"
            for name, rows in counted.items()
            if rows != lines[name]
        ]
    doubled = _doubled(ids)
    if not faults:
        found: dict[str, Any] = {"rows": summary.rows, "doubled_ids": doubled, "usage": usage}
        found["counted"] = [[file.name, file.size, file.stamp, counted[file.name]] for file in files]
        found["blocks"] = [asdict(done[block.number]) for block in blocks]
        folder.write(MANIFEST, json.dumps({**plan, **found}).encode())
    return Completeness(summary, len(blocks), tuple(faults), doubled, usage)


def _input_of(
    folder: OutputFolder, plan: Mapping[str, Any], input: str | None
) -> tuple[list[FoundFile], dict[str, int]]:
    """The files of the input, or those of the manifest if they are gone, and the rows that the manifest counts."""
    known = parse_json(folder.read(MANIFEST) or b"{}").get("counted", ())
    old = {name: (FoundFile(name, name, size, stamp), rows) for name, size, stamp, rows in known}
    try:
        files = found_files(input or plan["input"])
    except InputError as error:
        if input is not None or not old:
            raise InputError(f"{error}; its rows are counted once more: pass --input with where they are now") from None
        return [file for file, _ in old.values()], {name: rows for name, (_, rows) in old.items()}
    planned_files = {name for name, _ in plan["files"]}  # others came later
    files = [file for file in files if file.name in planned_files]
    refuse_other_files(folder.path, plan["files"], files)
    same = (file.name for file in files if file.name in old and file.stamp and old[file.name][0].stamp == file.stamp)
    return files, {name: old[name][1] for name in same}


def _checked(folder: OutputFolder, ending: str, block: Block, result: BlockResult) -> bytes:
    """The hashes of the ids of a block. Raises InputError if these or its lines are not as many as its rows."""
    name = stem(block.number)
    part, ids = folder.read(f"parts/{name}{ending}"), folder.read(f"ids/{name}") or b""
    lines = 0 if part is None else _lines_in(part, ending)
    if not lines == len(ids) / ID_BYTES == result.rows:
        raise InputError(
            f"part {name}{ending} has {lines} lines and {len(ids) // ID_BYTES} ids of {result.rows}: delete "
            f"blocks/{name}.json"
        )
    return ids


def _doubled(ids: bytearray) -> int:
    """How many ids occur before; sorts them."""
    every = np.frombuffer(ids, dtype="<u8")
    every.sort()
    return int(np.count_nonzero(every[1:] == every[:-1]))


def _lines_in(part: bytes, ending: str) -> int:
    if ending != PARQUET:
        return part.count(b"\n")
    try:
        return parquet_count(BytesIO(part), ending)
    except InputError:  # damaged
        return 0


def merge_parts(output: str, target: str) -> int:
    """Write all parts of a complete output, in order, to one file that ends as the parts do; returns its bytes.

    Raises InputError for another ending or an existing file, OSError if it cannot be written.
    """
    folder = OutputFolder(output)
    ending = read_plan(folder)["parts"]
    path = Path(target)
    if path.suffix != ending:
        raise InputError(f"{target}: the parts are {ending}, so the file must end in {ending}")
    if path.exists():
        raise InputError(f"{target} already exists: choose another output, or delete it")
    fresh = path.with_name(f".{path.name}.new")
    try:
        with fresh.open("wb") as file:
            writer: Any = None
            for name in folder.names("parts"):
                part = folder.read(f"parts/{name}") or b""
                if ending != PARQUET:
                    file.write(part)
                    continue
                table = needed("pyarrow.parquet", "data", "reading Parquet").read_table(BytesIO(part))
                writer = writer or needed("pyarrow.parquet", "data", "writing Parquet").ParquetWriter(
                    file, table.schema, compression="zstd"
                )
                writer.write_table(table)
            if writer is not None:
                writer.close()
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return path.stat().st_size


def shown_faults(faults: Sequence[str]) -> str:
    """The first faults as one text.

    >>> shown_faults(["a", "b"])
    'a; b'
    """
    more = f"; and {len(faults) - _MAX_SHOWN:,} more" if len(faults) > _MAX_SHOWN else ""
    return "; ".join(faults[:_MAX_SHOWN]) + more
