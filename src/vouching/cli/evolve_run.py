"""``vouch evolve run``: rounds of verify, reflect, probe and refine, which can be killed and gone on with.

Left out: the test sets; ``vouch evolve test`` scores them, once.
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
**Examples**

vouch evolve run recipes/evolve/embedded.toml --out runs/weakness

vouch evolve run recipes/evolve/embedded.toml source=random --out runs/random

vouch evolve run recipes/evolve/embedded.toml gate=harm --out runs/gated

**Exit status**: 0 done; 2 a setting, a row or the folder cannot be used; 3 the second verifier or the teacher was
not reached; 130 stopped. After 3 and 130 go on with --resume.
"""


@app.command("run", epilog=_EPILOG)
def run_command(
    config: Annotated[Path, typer.Argument(help="TOML file with the settings.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the evolution: a folder for each round.")],
    settings: Annotated[
        list[str] | None, typer.Argument(help="Settings over those of the file, such as source=random.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", metavar="", help="Go on with the evolution in DIR.")] = False,
) -> None:
    """Evolve a verifier: several rounds, each learning from probes at what the one before failed at.

    Only rows that may guide training are read. Killed at any moment and gone on with, it ends like one that was not.
    DIR/fingerprint.html shows what each round did to each set.
    """
    with usage_errors():
        from vouching.evolve.config import read_config, second_verifier, start_of
        from vouching.evolve.loop import evolve, fingerprint
        from vouching.evolve.page import write_fingerprint

        asked = read_config(config, settings or ())
        say = partial(print, file=sys.stderr, flush=True)
        try:
            evolve(asked, out, start_of(asked, say), check=second_verifier(asked), resume=resume, report=say)
            title = f"Evolution by {asked.source} probes, on the rows that guide it"
            page = write_fingerprint(out, fingerprint(out, asked.resamples), title)
        except KeyboardInterrupt:
            write_error(f"stopped; go on with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None
        write_result(f"{page}\n")
