"""``vouch evolve``: a verifier that analyzes its failures and learns from them, round by round."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from vouching.cli.streams import Exit, show_rows, usage_errors, write_error, write_result
from vouching.rows import json_output
from vouching.version import __version__

app = typer.Typer()
_AGAIN = "start again: finished answers are kept"
_Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="The verifier: embedded, embedded:small, embedded:rules, embedded:FOLDER (a round of vouch "
        "evolve), a scorer, or a language model such as http://host:8000/v1#name.",
    ),
]
_REFLECT_EPILOG = """
**Example**

vouch evolve reflect --input dev.jsonl --output reflection.json

**Exit status**: 0 done; 2 invalid command line, input or output; 3 some rows could not be used, or the model could not
be reached (run the command again).
"""
_RUN_EPILOG = """
**Examples**

vouch evolve run recipes/evolve/structured.toml --out runs/weakness

vouch evolve run recipes/evolve/structured.toml source=random --out runs/random

vouch evolve run recipes/evolve/structured.toml gate=harm --out runs/gated

**Exit status**: 0 done; 2 invalid setting, row or folder; 3 the second verifier or the teacher could not be reached;
130 interrupted. After 3 and 130, resume with --resume.
"""
_TEST_EPILOG = """
**Example**

vouch evolve test runs/weakness wice fool_me_twice --limit 200

**Exit status**: 0 done; 2 invalid set or folder, or the test was already run; 130 interrupted (run the command
again).
"""


@app.callback(invoke_without_command=True)
def evolve(context: typer.Context) -> None:
    """Let a verifier find its weaknesses and learn from probes that target them, round by round."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("reflect", epilog=_REFLECT_EPILOG)
def reflect_command(
    input: Annotated[
        Path, typer.Option(metavar="ROWS", help="Rows with claim, source, label and, if known, error_type and set.")
    ],
    output: Annotated[Path, typer.Option(metavar="PATH", help="File for the reflection: .json.")],
    model: _Model = "embedded",
    method: Annotated[
        Literal["structured", "label"] | None,
        typer.Option(help="What a language model is asked for: a full record with an error type, or only a label."),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Sampling seed of a language model.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Maximum number of tokens in a reply; default: 1024.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of tables.")] = False,
) -> None:
    """Find a verifier's weaknesses: accuracy by error type and by set, the weights of the next probes, and rules.

    Use rows that may guide training, never test rows. vouch data perturb creates rows with known error types. Answers
    are kept next to the output, as NAME.judged.jsonl, from which an interrupted run resumes.
    """
    from vouching.checker import Checker
    from vouching.evolve.records import Reflection, read_answers, read_record, write_record
    from vouching.evolve.reflect import reflect, reflection_lines
    from vouching.evolve.rows import judging_job

    with usage_errors():
        json_output(output, lambda path: read_record(path, Reflection), "reflection")
        checker = Checker(model, method=method, seed=seed, max_tokens=max_tokens)
        answers = output.with_suffix(".judged.jsonl")
        settings = {
            "command": "evolve reflect",
            "model": model,
            "method": method,
            "seed": seed,
            "max_tokens": max_tokens,
            "vouching": __version__,
            **(checker.decoding or {}),
        }
        summary = show_rows(judging_job(checker, input, answers, settings), _AGAIN)
        if summary.stopped is not None:
            raise typer.Exit(Exit.INCOMPLETE)
        found = reflect(read_answers(answers, str(input)))
        write_record(output, found)
    write_result(output.read_text(encoding="utf-8") if as_json else "\n".join(reflection_lines(found)) + "\n")
    if summary.problems:
        write_error(f"{summary.problems:,} rows could not be used")
        raise typer.Exit(Exit.INCOMPLETE)


@app.command("run", epilog=_RUN_EPILOG)
def run_command(
    config: Annotated[Path, typer.Argument(help="TOML file with the settings.")],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the evolution, with a subfolder for each round.")
    ],
    settings: Annotated[
        list[str] | None, typer.Argument(help="Settings that override those of the file, such as source=random.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", metavar="", help="Resume the evolution in DIR.")] = False,
) -> None:
    """Evolve a language model: several rounds, each learning from probes for the failures of the previous one.

    Only rows that may guide training are read. An interrupted and resumed run gives the same result as an uninterrupted
    one. DIR/fingerprint.html shows how each round changed the accuracy on each set. The built-in verifier is evolved by
    recipes/evolve/embedded.py.
    """
    with usage_errors():
        from vouching.evolve.config import EvolveConfig
        from vouching.evolve.loop import evolve_by
        from vouching.settings import read_settings

        try:
            page = evolve_by(read_settings(EvolveConfig, config, settings or ()), out, resume, _say)
        except KeyboardInterrupt:
            write_error(f"stopped; resume with --resume --out {out}")
            raise typer.Exit(Exit.INTERRUPTED) from None
        write_result(f"{page}\n")


@app.command("test", epilog=_TEST_EPILOG)
def score_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the evolution.")],
    sets: Annotated[list[str], typer.Argument(help="Test sets of claims (see vouch bench list).")],
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="Maximum number of rows per set; groups are never split.")
    ] = 200,
    again: Annotated[bool, typer.Option("--again", metavar="", help="Repeat a test that was already run.")] = False,
) -> None:
    """Score every round of an evolution on test sets, once, at the end.

    No other vouch evolve command reads a test set. A finished test cannot be repeated without --again.
    DIR/test/fingerprint.html shows how each round changed the accuracy on each set.
    """
    with usage_errors():
        from vouching.evolve.loop import config_of, score_by

        try:
            page = score_by(config_of(folder), folder, sets, limit, again, _say)
        except KeyboardInterrupt:
            write_error("stopped; start again: finished answers are kept")
            raise typer.Exit(Exit.INTERRUPTED) from None
        write_result(f"{page}\n")


_say = partial(print, file=sys.stderr, flush=True)
