"""Run a folder of rows, or one machine's share of it, and check and merge what all of them wrote."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from vouching.errors import InputError, needed
from vouching.rows.blocks import Block, Shard, plan_blocks
from vouching.rows.parts import (
    ID_BYTES,
    PARQUET,
    BlockResult,
    BlockWorker,
    FolderJob,
    finished,
    planned,
    read_plan,
    stem,
)
from vouching.rows.places import FoundFile, OutputFolder
from vouching.rows.pool import in_order
from vouching.rows.row import Row
from vouching.rows.run import BatchSummary
from vouching.rows.worker import Work

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
            return json.dumps(asdict(worker.finish(Block(**row.fields))))

        return work


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Works on blocks in one process or several of this machine."""

    jobs: int = 1
    """Number of processes."""

    def __call__(self, job: FolderJob, blocks: Sequence[Block]) -> Iterator[BlockResult]:
        """Yield the results. Raises WorkerError if a process dies, BackendError as BlockWorker does."""
        rows = (Row(number, f"block {block.number}", asdict(block)) for number, block in enumerate(blocks, 1))
        if self.jobs > 1:
            pickle.dumps(job)  # fails here, with a useful message, rather than in a worker
        with closing(in_order(_BlockRows(job), rows, min(self.jobs, max(1, len(blocks))), patience=0.0)) as results:
            for _, line in results:
                yield BlockResult(**json.loads(line))


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
        InputError: the input or output cannot be used, or the output belongs to other files or settings.
        BackendError: a model cannot be reached or a file cannot be written; finished blocks are kept.

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
    found = {block.number for block in mine if block.number in done and not done[block.number].left}
    summary = BatchSummary(found=sum(done[number].rows for number in found))
    summary.again = sum(done[block.number].left for block in mine if block.number in done)
    finished_now = len(found)
    for result in engine(job, [block for block in mine if block.number not in found]):
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


def check_folder(output: str) -> Completeness:
    """Check that every block is finished and every row has one line, and write ``manifest.json`` if so.

    Eight bytes for each row are held in memory. Raises InputError if it is no output of a folder of rows.
    """
    folder = OutputFolder(output)
    plan = read_plan(folder)
    files = [FoundFile(name, name, size) for name, size in plan["files"]]
    blocks, done = plan_blocks(files, plan["block_bytes"]), finished(folder)
    missing = [block for block in blocks if block.number not in done]
    faults = [f"block {block.number} ({block.name}) is not finished" for block in missing]
    summary, hashes, usage = BatchSummary(), list[bytes](), dict[str, float]()
    for block in blocks:
        if block.number not in done:
            continue
        result, name = done[block.number], stem(block.number)
        add_result(summary, result)
        for key, value in result.usage.items():
            usage[key] = usage.get(key, 0) + value
        ids, part = folder.read(f"ids/{name}"), folder.read(f"parts/{name}{plan['parts']}")
        lines = None if part is None else _lines_in(part, plan["parts"])
        if lines != result.rows or ids is None or len(ids) != ID_BYTES * result.rows:
            faults.append(
                f"part {name}{plan['parts']} has {lines or 0} of {result.rows} lines: delete blocks/{name}.json"
            )
            continue
        hashes.append(ids)
    every = np.frombuffer(b"".join(hashes), dtype="<u8")
    doubled = len(every) - len(np.unique(every))
    if not faults:
        results = [asdict(done[block.number]) for block in blocks]
        manifest = {**plan, "rows": summary.rows, "doubled_ids": doubled, "usage": usage, "blocks": results}
        folder.write(MANIFEST, json.dumps(manifest).encode())
    return Completeness(summary, len(blocks), tuple(faults), doubled, usage)


def _lines_in(part: bytes, ending: str) -> int:
    if ending != PARQUET:
        return part.count(b"\n")
    return needed("pyarrow.parquet", "data", "reading Parquet").ParquetFile(BytesIO(part)).metadata.num_rows


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
