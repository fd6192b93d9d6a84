"""Options that spread a folder of rows over processes and machines, and ``vouch rows merge``."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from vouching.cli.options import ROWS, STDIN, panel
from vouching.cli.streams import (
    AGAIN,
    Exit,
    RowProgress,
    cannot_write,
    interruptible,
    show_rows,
    usage_errors,
    write_error,
    write_result,
    write_summary,
)
from vouching.errors import BackendError, InputError
from vouching.rows import ROWS_AT_ONCE, AsyncWorkFactory, BatchSummary, RowJob
from vouching.rows.blocks import Shard
from vouching.rows.columns import Table, table_schema
from vouching.rows.folder import (
    Completeness,
    Engine,
    LocalEngine,
    check_folder,
    merge_parts,
    run_folder,
    shown_faults,
)
from vouching.rows.parts import BlockResult, FolderJob, WorkBug
from vouching.rows.places import is_folder
from vouching.rows.pool import OpenWork, cores
from vouching.rows.worker import WorkerError

app = typer.Typer()

ShardOf = Annotated[
    str | None,
    panel(
        ROWS,
        "--shard",
        metavar="I/N",
        help="Work on the I-th of N shares of the rows; start the others elsewhere, then run vouch rows merge.",
    ),
]
EngineName = Annotated[
    Literal["local", "ray"],
    panel(
        ROWS, "--engine", help="Where rows are worked on: in processes of this machine, or on Ray (see docs/scale.md)."
    ),
]
RayAddress = Annotated[
    str | None,
    panel(
        ROWS,
        "--ray-address",
        metavar="ADDRESS",
        help="For --engine ray: a running cluster, such as auto or 10.0.0.1:6379; default: RAY_ADDRESS, or a Ray that "
        "starts and ends with this command.",
    ),
]
Jobs = Annotated[
    int,
    panel(
        ROWS,
        "--jobs",
        metavar="N",
        min=0,
        help="Number of processes, or of actors of Ray, that work on rows; 0 means one per core.",
    ),
]


@dataclass(frozen=True, slots=True)
class Spread:
    """How the rows of a command are spread, as given on the command line."""

    shard: str | None = None
    engine: Literal["local", "ray"] = "local"
    address: str | None = None
    jobs: int = 1
    """Number of processes or actors; 0 for one per core."""

    @property
    def given(self) -> dict[str, object]:
        """The options that need a file or a folder of rows, with whether they were given."""
        return {
            "--jobs": self.jobs != 1,
            "--shard": self.shard,
            "--engine": self.engine != "local",
            "--ray-address": self.address,
        }

    def wanted(self, input: str) -> bool:
        """Whether rows are worked on block by block: those of a folder, or if an option asks for it.

        Raises InputError for options that do not fit together.
        """
        if self.address is not None and self.engine != "ray":
            raise InputError(f"--ray-address {self.address} needs --engine ray")
        asked = self.shard is not None or self.engine != "local"
        if asked and input == STDIN:
            raise InputError("--shard and --engine need files for --input, got -")
        return asked or (input != STDIN and is_folder(input))

    def rows(self, job: RowJob, then: str | None = None) -> BatchSummary:
        """Work on the rows of a file or a folder with progress.

        Args:
            job: rows, work and output.
            then: what to run when all shards are done; None for ``vouch rows merge``.

        Raises:
            InputError: the input, the output or an option cannot be used.
            typer.Exit: the output cannot be written.
        """
        in_blocks = self.wanted(str(job.input))
        job = job if self.jobs == 1 else replace(job, jobs=self.jobs)
        if job.jobs != 1 and self.engine == "local":
            if job.waits is not None:
                raise InputError(
                    f"--jobs {job.jobs} cannot be used with {job.waits}: one process handles {ROWS_AT_ONCE} rows "
                    "concurrently"
                )
            if not in_blocks and isinstance(job.work, AsyncWorkFactory):
                raise InputError(f"--jobs {job.jobs} needs a folder of rows, or --engine ray, for this command")
        return self._blocks(job, then) if in_blocks else show_rows(job)

    def made(self, job: RowJob) -> BatchSummary:
        """As :meth:`rows`, for files that are made from all rows: a single shard ends the command."""
        summary = self.rows(job, "the same command with --resume and without --shard")
        if self.shard is not None:
            write_summary(summary)
            raise typer.Exit(Exit.OK if summary.complete else Exit.INCOMPLETE)
        return summary

    def _blocks(self, job: RowJob, then: str | None) -> BatchSummary:
        """Work on the blocks, and check the output if all of it should be there."""
        if job.output == STDIN or job.stop_on_problem:
            name = "--output -" if job.output == STDIN else "--stop-on-error"
            raise InputError(f"{name} cannot be used with a folder of rows: omit it, or pass a single file")
        if job.output.endswith(".jsonl"):
            raise InputError(f"{job.output}: rows of a folder go to a folder: choose a name without .jsonl")
        shard = None if self.shard is None else Shard.read(self.shard)
        work, columns = job.open_work or cast("OpenWork", job.work), tuple(job.columns)
        folder = FolderJob(str(job.input), job.output, work, job.look, job.settings, columns, job.table)
        try:
            with RowProgress() as progress, interruptible(AGAIN):
                summary = run_folder(folder, self._engine(job), shard, job.resume, _Watch(progress))
        except OSError as error:
            raise typer.Exit(cannot_write(error, job.output)) from None
        except WorkBug as error:
            sys.stderr.write(str(error))
            write_error("stopped: this is a bug of Vouch, which --resume would meet again; please report the above")
            raise typer.Exit(Exit.INCOMPLETE) from None
        except (BackendError, WorkerError) as error:
            write_error(f"stopped: {error}; {AGAIN if shard is None else 'start the same shard again'}")
            raise typer.Exit(Exit.INCOMPLETE) from None
        if summary.problems:
            write_error(f"the rows that cannot be used are listed in {job.output}/errors")
        if shard is None:
            summary.stopped = _complaint(check_folder(job.output, str(job.input)))
        else:
            write_error(f"when all {shard.count} shards are done: {then or f'vouch rows merge {job.output}'}")
        return summary

    def _engine(self, job: RowJob) -> Engine:
        """Where blocks are worked on. Raises MissingExtraError before any file is created."""
        if self.engine == "local":
            return LocalEngine(job.jobs or cores())
        from vouching.models.open import is_in_process
        from vouching.scale.engine import RayEngine
        from vouching.scale.session import ray_module

        ray_module()
        # 1 is the default, not a wish.
        actors = job.jobs if job.jobs != 1 else int(job.waits is not None)
        names = [name for value in job.settings.values() if isinstance(value, str) for name in value.split(",")]
        here = any(map(is_in_process, names))
        address = self.address or os.environ.get("RAY_ADDRESS") or None
        return RayEngine(address, 0 if here and job.jobs == 1 else actors, job.waits is not None, here, write_error)


class _Watch:
    def __init__(self, progress: RowProgress) -> None:
        self._progress = progress

    def __call__(self, result: BlockResult, share: float) -> None:
        self._progress.advance(lambda: share, result.rows)


def _complaint(whole: Completeness) -> str | None:
    """Report what the check found; returns the fault, None if every row has one line."""
    if whole.usage and whole.usage.get("calls"):
        sent, received = whole.usage["prompt_tokens"], whole.usage["completion_tokens"]
        cost = f", cost {whole.usage['cost']:,.4g}" if whole.usage.get("cost") else ""
        write_error(f"{whole.usage['calls']:,.0f} calls, {sent:,.0f} tokens sent, {received:,.0f} received{cost}")
    fault = shown_faults(whole.faults) if whole.faults else None
    if fault is None and whole.doubled:
        fault = f"{whole.doubled:,} rows have the id of another row"
    if fault is not None:
        write_error(f"incomplete: {fault}")
    return fault


_EPILOG = """
**Examples**

vouch check --input lake --output verdicts --shard 3/16

vouch rows merge verdicts --output verdicts.jsonl

**Exit status**: 0 every row has one line; 2 invalid command line or folder; 3 a block is missing, ids are not unique, a
row could not be used, or the file could not be written.
"""


@app.command("merge", epilog=_EPILOG)
def merge_command(
    folder: Annotated[str, typer.Argument(help="Output of a command with a folder of rows.")],
    output: Annotated[
        str | None, typer.Option(metavar="PATH", help="Also write all parts to one file: .jsonl or .parquet.")
    ] = None,
    input: Annotated[
        str | None, typer.Option(metavar="ROWS", help="Where the rows are now, if they were moved since the run.")
    ] = None,
) -> None:
    """Check that every row of a folder has exactly one line, and write the manifest or one file of all parts."""
    with usage_errors():
        try:
            whole = check_folder(folder, input)
            fault = _complaint(whole)
            if output is not None and not whole.faults:
                merge_parts(folder, output)
        except OSError as error:
            raise typer.Exit(cannot_write(error, output or folder, advice="free some space and start again")) from None
    summary = whole.summary
    broken = (
        f"; {summary.problems:,} of them cannot be used (see {Path(folder) / 'errors'})" if summary.problems else ""
    )
    write_error(f"{summary.rows:,} rows in {whole.blocks:,} blocks{broken}")
    raise typer.Exit(Exit.INCOMPLETE if fault or summary.problems else Exit.OK)


_COLUMNS_EPILOG = """
**Example**

vouch rows columns check

**Exit status**: 0 done; 2 unknown command.
"""
_TABLE_OF: dict[str, Table] = {
    "check": "records",
    "audit": "records",
    "follow": "records",
    "follow-rules": "rules",
    "rank": "rankings",
    "reward": "rewards",
}


@app.command("columns", epilog=_COLUMNS_EPILOG)
def columns_command(
    command: Annotated[
        Literal["check", "audit", "follow", "follow-rules", "rank", "reward"],
        typer.Argument(help="Name of the command; follow-rules is follow without a language model."),
    ] = "check",
) -> None:
    """Print the Parquet columns that a command writes for a folder of rows: name and Arrow type, one per line."""
    with usage_errors():
        write_result("".join(f"{field.name}\t{field.type}\n" for field in table_schema(_TABLE_OF[command])))


@app.callback(invoke_without_command=True)
def rows(context: typer.Context) -> None:
    """Check and merge the output of folders of rows, and show its columns."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
