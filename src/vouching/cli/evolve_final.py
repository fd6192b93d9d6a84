"""``vouch evolve test``: the rounds of an evolution on test sets, once.

Left out: choosing a round by what is seen here; the rows that guided it are for that.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from vouching.cli.streams import Exit, usage_errors, write_error, write_result

app = typer.Typer()

_EPILOG = """
**Example**

vouch evolve test runs/weakness wice fool_me_twice --most 200

**Exit status**: 0 done; 2 a set or the folder cannot be used, or the test was done before; 130 stopped, start again.
"""


@app.command("test", epilog=_EPILOG)
def final_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the evolution.")],
    sets: Annotated[list[str], typer.Argument(help="Test sets, see vouch bench list; claims only.")],
    most: Annotated[int, typer.Option(metavar="N", min=1, help="Rows of a set, at most, by whole groups.")] = 200,
    again: Annotated[bool, typer.Option("--again", metavar="", help="Score anew what was scored before.")] = False,
) -> None:
    """Score every round of an evolution on test sets, at the end and once.

    Nothing else in vouch evolve reads a test set. A finished test is refused the second time. DIR/test/fingerprint.html
    shows what each round did to each set.
    """
    with usage_errors():
        from vouching.bench.catalog import chosen, data_folder
        from vouching.evolve.config import opened_by
        from vouching.evolve.loop import TEST, config_of, read_data, rows_of_sets, run_test
        from vouching.evolve.page import PAGE

        config, data = config_of(folder), data_folder()
        say = partial(print, file=sys.stderr, flush=True)
        rows = rows_of_sets(chosen(sets, data, "test"), data, most)
        try:
            run_test(folder, rows, read_data(config), opened_by(config), again=again, report=say)
        except KeyboardInterrupt:
            write_error("stopped; start again, what was answered is kept")
            raise typer.Exit(Exit.INTERRUPTED) from None
        write_result(f"{folder / TEST / PAGE}\n")
