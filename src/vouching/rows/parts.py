"""Work on a folder of rows block by block: each block becomes one part of the output, whoever does it.

An output folder has

- ``run.json``: the settings, the files of the input with their sizes, and the size of a block;
- ``work/N.jsonl``: the lines of a block in progress, with the note of :mod:`vouching.rows.journal`, so that a killed
  run loses no finished row (in the folder for temporary files if the output is an address);
- ``parts/N.jsonl`` or ``parts/N.parquet``: the lines of a finished block;
- ``errors/N.jsonl``: the rows of the block that cannot be used, with file, row and reason;
- ``ids/N``: eight bytes for the id of each row, from which the check at the end sees that none is missing or doubled;
- ``blocks/N.json``: what the block holds. It is written last; a block without it is worked on again.

Each file replaces an older one at once, so a block that two processes work on is still one part.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from vouching.errors import BackendError, InputError
from vouching.rows.blocks import Block, block_bytes, plan_blocks, read_block
from vouching.rows.columns import Table, parquet_bytes
from vouching.rows.grouping import by_source
from vouching.rows.journal import Settings, open_journal, refuse_other_settings
from vouching.rows.lines import LookIn
from vouching.rows.places import OutputFolder, found_files
from vouching.rows.pool import AsyncWorkFactory, OpenWork, StreamWorkFactory
from vouching.rows.read import Row
from vouching.rows.run import BatchSummary, run_batch

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

    @classmethod
    def read(cls, content: bytes) -> BlockResult:
        """The result in a file of ``blocks``. Raises InputError if it is damaged."""
        try:
            return cls(**json.loads(content))
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
        _refuse_other_plan(job, folder, plan)
        return plan_blocks(files, read_plan(folder)["block_bytes"])
    return blocks


def read_plan(folder: OutputFolder) -> dict[str, Any]:
    """The content of ``run.json``. Raises InputError if the folder is not the output of such a run."""
    content = folder.read(RUN)
    try:
        return cast("dict[str, Any]", json.loads(content or b""))
    except ValueError:
        state = "missing" if content is None else "damaged"
        raise InputError(
            f"{folder.path} is not the output of a folder of rows ({RUN} is {state}): pass the --output of such a run"
        ) from None


def _refuse_other_plan(job: FolderJob, folder: OutputFolder, plan: dict[str, Any]) -> None:
    old = read_plan(folder)
    refuse_other_settings(job.output, old["settings"], job.settings)
    was, now = (dict(one["files"]) for one in (old, plan))
    changed = [name for name in {**was, **now} if was.get(name) != now.get(name)]
    if changed:
        raise InputError(
            f"{job.output} was made from other files: {changed[0]} was "
            f"{_bytes(was.get(changed[0]))} and is {_bytes(now.get(changed[0]))} now; use the same input, or choose "
            "another output"
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
            InputError: the file of the block cannot be read, or another process works on the block.
        """
        try:
            return self._finish(block)
        except OSError as error:
            raise BackendError(
                f"block {block.number} ({block.name}) cannot be written to {self._job.output}: "
                f"{error.strerror or error}"
            ) from None

    def _finish(self, block: Block) -> BlockResult:
        lines = self._lines_path(block)
        read: list[tuple[int, str]] = []
        streams = isinstance(self._work, StreamWorkFactory)
        if streams:  # a line depends on those before it, so the block starts again
            lines.unlink(missing_ok=True)
        with (
            read_block(block, self._job.columns) as reader,
            open_journal(str(lines), self._job.settings, resume=True) as journal,
        ):
            rows = _noted(reader if streams else by_source(reader), read)
            summary = run_batch(rows, journal, self._factory(), lambda line: self._job.look(block.name, line))
        if summary.stopped is not None:
            raise BackendError(summary.stopped)
        result = self._publish(block, lines, read, summary)
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
        self, block: Block, lines: Path, read: Sequence[tuple[int, str]], summary: BatchSummary
    ) -> BlockResult:
        """Write the part, in the order of the rows, and what belongs to it, the result last."""
        written, name = lines.read_bytes().splitlines(keepends=True), stem(block.number)
        if len(written) != len(read):
            raise InputError(f"{block.name} changed during the run: choose another output, and start again")
        order = sorted(range(len(read)), key=lambda at: read[at][0])
        places, content = [read[at][1] for at in order], b"".join(written[at] for at in order)
        records: list[dict[str, Any]] = [json.loads(line) for line in content.splitlines()]
        seen = [self._job.look(block.name, record) for record in records]
        errors = [
            {"file": block.name, "row": place, "id": one.name, "reason": one.problem}
            for one, place in zip(seen, places, strict=True)
            if one.problem is not None
        ]
        if errors:
            self._folder.write(f"errors/{name}.jsonl", "".join(json.dumps(one) + "\n" for one in errors).encode())
        self._folder.write(f"ids/{name}", b"".join(id_hash(one.name) for one in seen))
        part = parquet_bytes(records, self._job.table) if self._job.table and self._job.ending == PARQUET else content
        self._folder.write(f"parts/{name}{self._job.ending}", part)
        counts = {key: count for key, count in summary.counts.items() if count}
        usage: Counter[str] = Counter()
        for record in records:
            usage.update(record.get("usage") or {})
        result = BlockResult(
            block.number, block.name, len(records), summary.problems, summary.left, counts, dict(usage)
        )
        self._folder.write(f"blocks/{name}.json", json.dumps(asdict(result)).encode())
        return result


def id_hash(name: str) -> bytes:
    """Eight bytes that stand for the id of a row."""
    return hashlib.blake2b(name.encode(), digest_size=ID_BYTES).digest()


def _noted(rows: Iterable[Row], read: list[tuple[int, str]]) -> Iterator[Row]:
    for row in rows:
        read.append((row.number, row.place))
        yield row


def finished(folder: OutputFolder) -> dict[int, BlockResult]:
    """The results of the finished blocks, by number."""
    found: dict[int, BlockResult] = {}
    for name in folder.names("blocks"):
        content = folder.read(f"blocks/{name}")
        if content is not None:
            found[int(name.partition(".")[0])] = BlockResult.read(content)
    return found
