"""Options that spread a folder of rows over processes and machines, and ``vouch rows merge``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vouching.cli.options import ROWS, STDIN, panel
from vouching.cli.streams import AGAIN, Exit, RowProgress, cannot_write, interruptible, usage_errors, write_error
from vouching.errors import BackendError, InputError
from vouching.rows import AsyncWorkFactory, BatchSummary, RowJob
from vouching.rows.blocks import Shard
from vouching.rows.folder import (
    Completeness,
    Engine,
    LocalEngine,
    check_folder,
    merge_parts,
    run_folder,
    shown_faults,
)
from vouching.rows.parts import BlockResult, FolderJob
from vouching.rows.places import is_folder
from vouching.rows.pool import cores
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
    panel(ROWS, "--engine", help="Where rows are worked on: this machine, or a Ray cluster (see docs/scale.md)."),
]
RayAddress = Annotated[
    str | None,
    panel(
        ROWS,
        "--ray-address",
        metavar="ADDRESS",
        envvar="RAY_ADDRESS",
        help="A running Ray cluster, such as auto or 10.0.0.1:6379; default: one for this command alone.",
    ),
]


@dataclass(frozen=True, slots=True)
class Spread:
    """How the rows of a command are spread, as given on the command line."""

    shard: str | None = None
    engine: Literal["local", "ray"] = "local"
    address: str | None = None

    def wanted(self, input: str) -> bool:
        """Whether rows are worked on block by block: those of a folder, or if an option asks for it."""
        asked = self.shard is not None or self.engine != "local"
        if asked and input == STDIN:
            raise InputError("--shard and --engine need files for --input, got -")
        return asked or (input != STDIN and is_folder(input))

    def run(self, job: RowJob) -> BatchSummary:
        """Work on the blocks with progress, and check the output if all of it should be there.

        Raises:
            InputError: the input, the output or an option cannot be used.
            typer.Exit: the output cannot be written.
        """
        if job.output == STDIN or job.stop_on_problem:
            name = "--output -" if job.output == STDIN else "--stop-on-error"
            raise InputError(f"{name} cannot be used with a folder of rows: omit it, or pass a single file")
        if job.output.endswith(".jsonl"):
            raise InputError(f"{job.output}: rows of a folder go to a folder: choose a name without .jsonl")
        shard = None if self.shard is None else Shard.read(self.shard)
        folder = FolderJob(str(job.input), job.output, _open_work(job), job.look, job.settings, tuple(job.columns))
        try:
            with RowProgress() as progress, interruptible(AGAIN):
                summary = run_folder(folder, self._engine(job), shard, job.resume, _Watch(progress))
        except OSError as error:
            raise typer.Exit(cannot_write(error, job.output)) from None
        except (BackendError, WorkerError) as error:
            write_error(f"stopped: {error}; {AGAIN if shard is None else 'start the same shard again'}")
            raise typer.Exit(Exit.INCOMPLETE) from None
        if summary.problems:
            write_error(f"the rows that cannot be used are listed in {job.output}/errors")
        if shard is None:
            whole = check_folder(job.output)
            summary.stopped = _complaint(whole)
        else:
            write_error(f"when all {shard.count} shards are done: vouch rows merge {job.output}")
        return summary

    def _engine(self, job: RowJob) -> Engine:
        """Where blocks are worked on. Raises MissingExtraError before any file is created."""
        if self.engine == "local":
            return LocalEngine(job.jobs or cores())
        from vouching.scale.engine import RayEngine
        from vouching.scale.session import ray_module

        ray_module()
        # A language model's limits on concurrent calls hold for one process; --jobs 1 is the default, not a wish.
        actors = 1 if isinstance(job.work, AsyncWorkFactory) else 0 if job.jobs == 1 else job.jobs
        return RayEngine(self.address, actors)


class _Watch:
    def __init__(self, progress: RowProgress) -> None:
        self._progress = progress

    def __call__(self, result: BlockResult, share: float) -> None:
        self._progress.advance(lambda: share, result.rows)


def _open_work(job: RowJob) -> Any:
    if job.open_work is None and isinstance(job.work, AsyncWorkFactory):
        raise InputError("this command works on single files of rows only: pass a file for --input")
    return job.open_work or job.work


def _complaint(whole: Completeness) -> str | None:
    """Report what the check found; returns the fault, None if every row has one line."""
    if whole.usage and whole.usage.get("calls"):
        tokens = whole.usage["prompt_tokens"], whole.usage["completion_tokens"]
        write_error(f"{whole.usage['calls']:,.0f} calls, {tokens[0]:,.0f} tokens sent, {tokens[1]:,.0f} received")
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
) -> None:
    """Check that every row of a folder has exactly one line, and write the manifest or one file of all parts."""
    with usage_errors():
        try:
            whole = check_folder(folder)
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


@app.callback(invoke_without_command=True)
def rows(context: typer.Context) -> None:
    """Merge and check the output of folders of rows."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
