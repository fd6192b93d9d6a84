"""``vouch data taxes``: returns of people who do not exist, as cases, as tasks to challenge, and wrong proposals.

It is a ``data`` command as it makes data for training and testing verifiers. Left out: resuming; a thousand returns
take seconds.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Annotated, Any, cast

import typer

from vouching.cli.streams import Exit, cannot_write, usage_errors, write_error
from vouching.errors import InputError

app = typer.Typer()

_Out = Annotated[Path, typer.Option(metavar="DIR", help="A new folder for cases, tasks and proposals.")]
_Count = Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="How many returns.")]
_Seed = Annotated[int, typer.Option(metavar="N", help="Seed of all that is drawn: equal runs give equal files.")]
_Mistakes = Annotated[
    str | None,
    typer.Option(
        metavar="A,B", help="Put one of these mistakes into each proposal, in turn; all for every kind (docs/taxes.md)."
    ),
]
_EPILOG = """
**Example**

vouch data taxes --out returns --count 20 --mistakes all

**Exit status**: 0 done; 2 the command line or the folder cannot be used; 3 the disk is full.
"""


@app.command("taxes", epilog=_EPILOG)
def taxes_command(out: _Out, count: _Count = 100, seed: _Seed = 0, mistakes: _Mistakes = None) -> None:
    """Make Form 1040 returns for 2024 that never were, with their nineteen lines computed.

    DIR/ty24/test_data holds them in TaxCalcBench's layout, DIR/tasks and DIR/proposals what vouch challenge reads, and
    DIR/mistakes.jsonl what was done to each proposal. Not tax advice.
    """
    from vouching.bench.taxes.mistakes import MISTAKES, Mistake

    with usage_errors():
        names = [] if mistakes is None else [*MISTAKES] if mistakes == "all" else mistakes.split(",")
        if unknown := [name for name in names if name not in MISTAKES]:
            raise InputError(f"there is no mistake {unknown[0]!r}; there are {', '.join(MISTAKES)}, or all")
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise InputError(f"{out} is there already and not an empty folder: name a new one")
        try:
            made = _write(out, count, seed, cast("list[Mistake]", names))
        except OSError as error:
            raise typer.Exit(cannot_write(error, str(out), "make room and start again in a new folder")) from None
    write_error(f"{count:,} returns in {out}; proposals with a mistake: {made:,}")
    raise typer.Exit(Exit.OK)


def _write(out: Path, count: int, seed: int, mistakes: list[Any]) -> int:
    """Write everything; how many proposals have a mistake."""
    from vouching.bench.taxes.mistakes import make_mistake
    from vouching.bench.taxes.synthetic import make_return, write_return
    from vouching.bench.taxes.task import proposal_of, task_of

    cases, tasks, proposals = out / "ty24" / "test_data", out / "tasks", out / "proposals"
    for folder in (cases, tasks, proposals):
        folder.mkdir(parents=True, exist_ok=True)
    made = 0
    with (out / "mistakes.jsonl").open("w", encoding="utf-8") as sink:
        for index in range(count):
            name, record, lines = make_return(seed, index)
            write_return(cases / name, record, lines)
            (tasks / f"{name}.json").write_text(_json(task_of(name, record)), encoding="utf-8")
            # A return may give no occasion for a mistake: then the next kind.
            turns = [mistakes[(index + turn) % len(mistakes)] for turn in range(len(mistakes))]
            tries = (make_mistake(record, one, Random(f"taxes/{seed}/{index}/{one}")) for one in turns)
            wrong = next((one for one in tries if one is not None), None)
            (proposals / f"{name}.json").write_text(_json(proposal_of(name, wrong.lines if wrong else lines)), "utf-8")
            if wrong is not None:
                made += 1
                row = {"id": name, "mistake": wrong.mistake, "roots": wrong.roots, "wrong": wrong.wrong}
                sink.write(f"{json.dumps(row)}\n")
    return made


def _json(value: object) -> str:
    return f"{json.dumps(value, indent=1, ensure_ascii=False)}\n"
