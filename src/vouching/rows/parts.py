"""Work on a folder of rows block by block: each block becomes one part of the output, whoever does it.

An output folder has

- ``run.json``: the settings, the files of the input with their sizes, and the size of a block;
- ``work/N.jsonl``: the lines of a block in progress, with the note of :mod:`vouching.rows.journal`, so that a killed
  run loses no finished row (in the folder for temporary files if the output is an address);
- ``parts/N.jsonl`` or ``parts/N.parquet``: the lines of a finished block;
- ``errors/N.jsonl``: the rows of the block that cannot be used, with file, row and reason;
- ``ids/N``: eight bytes for the id of each row, from which the check at the end sees which occur twice;
- ``blocks/N.json``: what the block holds, and a digest of its rows. It is written last; a block without it is worked on
  again. If the file of the rows was written since, the rows are compared with the digest.

Each file replaces an older one at once, so a block that two processes work on is still one part.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from vouching.errors import BackendError, ConfigError, InputError, OutputBusyError, VouchError
from vouching.rows.blocks import Block, block_bytes, plan_blocks, read_block
from vouching.rows.columns import Table, parquet_bytes
from vouching.rows.grouping import by_source
from vouching.rows.journal import Settings, open_journal, refuse_other_settings
from vouching.rows.lines import LookIn
from vouching.rows.places import FoundFile, OutputFolder, found_files, whole_path
from vouching.rows.pool import AsyncWorkFactory, OpenWork, StreamWorkFactory
from vouching.rows.row import Row, RowDigest
from vouching.rows.run import BatchSummary, run_batch
from vouching.text.json_values import parse_json

RUN = "run.json"
PARQUET = ".parquet"
ID_BYTES = 8


@dataclass(frozen=True, slots=True)
class FolderJob:
    """Files of rows, how to work on each row, and the folder of the parts."""

    input: str
    """A folder, a pattern, a file, or the address of one in an object store."""
    output: str
    """The folder of the output; its parts are Parquet if it ends in .parquet, else JSONL."""
    open_work: OpenWork
    look: LookIn
    """Reads the status of a line; must be picklable."""
    settings: Settings
    """The settings that determine the lines."""
    columns: tuple[str, ...] = ()
    """A table of rows must have one of these."""
    table: Table | None = "records"
    """The columns of Parquet parts; None if the lines have none."""
    size: int | None = None
    """Bytes of a block; None for one that suits the input."""

    @property
    def ending(self) -> str:
        """The ending of the parts."""
        return PARQUET if self.output.rstrip("/").endswith(PARQUET) else ".jsonl"


@dataclass(frozen=True, slots=True)
class BlockResult:
    """What a finished block holds."""

    block: int
    file: str
    rows: int
    """Lines in the part."""
    problems: int
    """How many of them belong to rows that cannot be used."""
    left: int
    """How many of them a resumed run tries again."""
    counts: dict[str, int] = field(default_factory=dict[str, int])
    """As in :class:`~vouching.rows.run.BatchSummary`."""
    usage: dict[str, float] = field(default_factory=dict[str, float])
    """Seconds, tokens and calls, summed over the lines."""
    stamp: str = ""
    """Of the file from which the rows were read or with which they were compared last."""
    digest: str = ""
    """Of the rows, see :class:`~vouching.rows.row.RowDigest`."""

    def is_old(self, block: Block) -> bool:
        """Whether the file of the block was written since, as far as its stamp tells."""
        return not block.stamp or block.stamp != self.stamp

    @classmethod
    def read(cls, content: bytes) -> BlockResult:
        """The result in a file of ``blocks``. Raises InputError if it is damaged."""
        try:
            return cls(**parse_json(content))
        except (ValueError, TypeError) as error:
            raise InputError(f"a file in blocks/ is damaged ({error}): delete it, and resume the run") from None


def stem(number: int) -> str:
    """The name of the files of a block.

    >>> stem(12)
    '00000012'
    """
    return f"{number:08d}"


def planned(job: FolderJob, resume: bool) -> list[Block]:
    """The blocks of a job, whose output is created, or compared with what an earlier run planned.

    Args:
        job: what to work on.
        resume: whether the output may exist.

    Raises:
        InputError: there is no input, the output exists, or it was made from other files or with other settings.
        OSError: the output cannot be written.
    """
    files = found_files(job.input)
    if _below(job.input, job.output):
        raise InputError(f"{job.output} is in the folder of the input: choose an output outside of it")
    if job.ending == PARQUET and job.table is None:
        raise InputError(f"{job.output}: the lines of this command have no columns; choose a name without {PARQUET}")
    folder = OutputFolder(job.output)
    plan = {
        "settings": dict(job.settings),
        "input": whole_path(job.input),
        "parts": job.ending,
        "block_bytes": job.size or block_bytes(files),
        "files": [[file.name, file.size] for file in files],
    }
    blocks = plan_blocks(files, cast("int", plan["block_bytes"]))
    if not folder.remote and Path(job.output).is_file():
        raise InputError(f"{job.output} is a file, but the rows of a folder need a folder: choose another output")
    if not folder.write(RUN, json.dumps(plan, indent=1).encode(), new=True):
        if not resume and (folder.names("blocks") or folder.names("work")):
            raise InputError(f"{job.output} is not empty: continue it with --resume, or choose another output")
        _refuse_other_plan(job, folder, files)
        return plan_blocks(files, read_plan(folder)["block_bytes"])
    return blocks


def read_plan(folder: OutputFolder) -> dict[str, Any]:
    """The content of ``run.json``. Raises InputError if the folder is not the output of such a run."""
    content = folder.read(RUN)
    try:
        return cast("dict[str, Any]", parse_json(content or b""))
    except ValueError:
        state = "missing" if content is None else "damaged"
        raise InputError(
            f"{folder.path} is not the output of a folder of rows ({RUN} is {state}): pass the --output of such a run"
        ) from None


def _refuse_other_plan(job: FolderJob, folder: OutputFolder, files: Sequence[FoundFile]) -> None:
    old = read_plan(folder)
    refuse_other_settings(job.output, old["settings"], job.settings)
    refuse_other_files(job.output, old["files"], files)


def refuse_other_files(output: str, old: Iterable[tuple[str, int]], files: Sequence[FoundFile]) -> None:
    """Raise InputError if an output was made from files with other names or sizes than these."""
    was, now = dict(old), {file.name: file.size for file in files}
    for name in {**was, **now}:
        if was.get(name) != now.get(name):
            raise InputError(
                f"{output} was made from other files: {name} was {_bytes(was.get(name))} and is "
                f"{_bytes(now.get(name))} now; use the same input, or choose another output"
            )


def _bytes(size: int | None) -> str:
    return "missing" if size is None else f"{size:,} bytes"


def _below(input: str, output: str) -> bool:
    place = Path(input)
    return place.is_dir() and Path(output).resolve().is_relative_to(place.resolve())


class BlockWorker:
    """Works on blocks, with a verifier that is opened once.

    Args:
        job: what to work on.
    """

    def __init__(self, job: FolderJob) -> None:
        self._job = job
        self._folder = OutputFolder(job.output)
        self._work = job.open_work()

    def finish(self, block: Block) -> BlockResult:
        """Work on a block, or on what an earlier run left of it, and write its files.

        Raises:
            BackendError: a language model cannot be reached, or a file cannot be written; both can be resumed.
            InputError: the file of the block cannot be read or has other rows than those of an earlier run, or another
                process works on the block.
        """
        try:
            return compared(self._folder, block) if block.written else self._finish(block)
        except OSError as error:
            if getattr(error, "__notes__", ()):  # it names a row: an error of the work, not of the output
                raise
            raise BackendError(
                f"block {block.number} ({block.name}) cannot be written to {self._job.output}: "
                f"{error.strerror or error}"
            ) from None

    def _finish(self, block: Block) -> BlockResult:
        lines = self._lines_path(block)
        read, digest = list[Row](), RowDigest()
        streams = isinstance(self._work, StreamWorkFactory)
        if streams:  # a line depends on those before it, so the block starts again
            lines.unlink(missing_ok=True)
        with (
            read_block(block, self._job.columns) as reader,
            open_journal(str(lines), self._job.settings, resume=True) as journal,
        ):
            rows = _digested(reader, digest)
            rows = _noted(rows if streams else by_source(rows), read)
            summary = run_batch(rows, journal, self._factory(), lambda line: self._job.look(block.name, line))
        if summary.stopped is not None:
            raise BackendError(summary.stopped)
        result = self._publish(block, lines, read, summary, digest.hexdigest())
        if not summary.left:
            for path in (lines, lines.with_name(f"{lines.name}.run.json")):
                path.unlink(missing_ok=True)
        return result

    def _factory(self) -> Any:
        work = self._work
        return work if isinstance(work, AsyncWorkFactory | StreamWorkFactory) else lambda: work

    def _lines_path(self, block: Block) -> Path:
        if self._folder.remote:
            digest = hashlib.blake2b(self._job.output.encode(), digest_size=6).hexdigest()
            place = Path(tempfile.gettempdir(), f"vouch-{os.getuid() if os.name == 'posix' else 0}-{digest}")
        else:
            place = Path(self._job.output, "work")
        place.mkdir(parents=True, exist_ok=True, mode=0o700 if self._folder.remote else 0o777)
        if self._folder.remote and os.name == "posix":
            found = place.lstat()
            if place.is_symlink() or found.st_uid != os.getuid() or found.st_mode & 0o077:
                raise InputError(f"{place} belongs to somebody else, or others can write to it: remove it")
        return place / f"{stem(block.number)}.jsonl"

    def _publish(
        self, block: Block, lines: Path, read: Sequence[Row], summary: BatchSummary, digest: str
    ) -> BlockResult:
        """Write the part, in the order of the rows, and what belongs to it, the result last."""
        written, name = lines.read_bytes().splitlines(keepends=True), stem(block.number)
        if len(written) != len(read):
            raise InputError(f"{block.name} changed during the run: choose another output, and start again")
        order = sorted(range(len(read)), key=lambda at: read[at].number)
        content = b"".join(written[at] for at in order)
        records: list[dict[str, Any]] = [parse_json(line) for line in content.splitlines()]
        seen = [self._job.look(block.name, record) for record in records]
        errors: list[dict[str, Any]] = []
        for at, one in zip(order, seen, strict=True):
            if one.name != read[at].name:
                raise RuntimeError(f"the line of {read[at].place}, id {read[at].name}, has the id {one.name}")
            if one.problem is not None:
                errors.append({"file": block.name, "row": read[at].place, "id": one.name, "reason": one.problem})
        if errors or self._folder.read(f"errors/{name}.jsonl") is not None:
            self._folder.write(f"errors/{name}.jsonl", "".join(json.dumps(one) + "\n" for one in errors).encode())
        self._folder.write(f"ids/{name}", b"".join(id_hash(one.name) for one in seen))
        part = parquet_bytes(records, self._job.table) if self._job.table and self._job.ending == PARQUET else content
        self._folder.write(f"parts/{name}{self._job.ending}", part)
        counts = {key: count for key, count in summary.counts.items() if count}
        usage: Counter[str] = Counter()
        for record in records:
            usage.update(record.get("usage") or {})
        result = BlockResult(
            block.number,
            block.name,
            len(records),
            summary.problems,
            summary.left,
            counts,
            dict(usage),
            block.stamp,
            digest,
        )
        self._folder.write(f"blocks/{name}.json", json.dumps(asdict(result)).encode())
        return result


def id_hash(name: str) -> bytes:
    """Eight bytes that stand for the id of a row."""
    return hashlib.blake2b(name.encode(), digest_size=ID_BYTES).digest()


def compared(folder: OutputFolder, block: Block) -> BlockResult:
    """The result of a finished block whose file was written since. Raises InputError if its rows have changed."""
    digest, name = RowDigest(), f"blocks/{stem(block.number)}.json"
    with read_block(block) as reader:
        for row in reader:
            digest.add(row)
    result = BlockResult.read(folder.read(name) or b"")
    if result.digest != digest.hexdigest():
        raise InputError(
            f"{block.name} has changed: its rows are not those from which block {block.number} was made; restore the "
            f"file, choose another output, or, to work on the new rows, delete {name}"
        )
    result = replace(result, stamp=block.stamp)
    folder.write(name, json.dumps(asdict(result)).encode())
    return result


def _digested(rows: Iterable[Row], digest: RowDigest) -> Iterator[Row]:
    for row in rows:
        digest.add(row)
        yield row


def _noted(rows: Iterable[Row], read: list[Row]) -> Iterator[Row]:
    """The rows; their number, place and name are kept."""
    for row in rows:
        read.append(Row(row.number, row.place, {"id": row.name}))
        yield row


class WorkBug(RuntimeError):
    """An error in the work on a row that should not happen. The message is its traceback, and names file and row."""


_KINDS = {"busy": OutputBusyError, "unusable": InputError, "failed": BackendError, "bug": WorkBug}


def outcome_of(worker: BlockWorker, block: Block) -> dict[str, Any]:
    """The result of a block, or why there is none, as JSON for the process that asked, see :func:`result_of`."""
    try:
        return {"result": asdict(worker.finish(block))}
    except OutputBusyError as error:
        return {"busy": str(error)}
    except (InputError, ConfigError) as error:
        return {"unusable": str(error)}
    except VouchError as error:
        return {"failed": str(error)}
    except MemoryError:
        return {"failed": f"block {block.number} ({block.name}) does not fit into the memory: use smaller files"}
    except Exception as error:
        error.add_note(f"in block {block.number} ({block.name})")
        return {"bug": "".join(traceback.format_exception(error))}


def result_of(outcome: Mapping[str, Any]) -> BlockResult:
    """The result of a block.

    Raises:
        OutputBusyError: another process works on the block.
        InputError: its file cannot be used.
        BackendError: it could not be finished; a resumed run may finish it.
        WorkBug: the work has a bug.
    """
    for kind, error in _KINDS.items():
        if kind in outcome:
            raise error(outcome[kind])
    return BlockResult(**outcome["result"])


def finished(folder: OutputFolder) -> dict[int, BlockResult]:
    """The results of the finished blocks, by number."""
    found: dict[int, BlockResult] = {}
    for name in folder.names("blocks"):
        content = folder.read(f"blocks/{name}")
        if content is not None:
            found[int(name.partition(".")[0])] = BlockResult.read(content)
    return found
