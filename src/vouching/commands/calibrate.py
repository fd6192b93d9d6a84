"""``vouch calibrate``: fit what turns scores into probabilities, on rows with labels.

A language model's verdicts are calibrated here, a scorer's own numbers in ``calibrate_scorer``. Left out: labelling
rows, and the embedded verifier, whose scores are calibrated where they are made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vouching.batch.rows import open_rows
from vouching.commands.check_options import CheckOptions
from vouching.commands.streams import Exit, usage_errors, write_error
from vouching.errors import InputError

if TYPE_CHECKING:
    from vouching.verifiers.calibrating import LabelledVerdict

app = typer.Typer()

_Input = Annotated[str, typer.Option("--input", metavar="ROWS", help="Rows with claim, source and label.")]
_Output = Annotated[Path, typer.Option("--output", metavar="PATH", help="The calibration: .json.")]
_Model = Annotated[
    str | None, typer.Option(metavar="NAME", envvar="VOUCH_MODEL", help="The language model or scorer that is asked.")
]
_Verdicts = Annotated[
    str | None, typer.Option(metavar="PATH", help="Verdicts on the rows from vouch check, in place of asking.")
]
_Kind = Annotated[
    Literal["temperature", "platt", "isotonic"] | None,
    typer.Option(help="One number (for language models), a line (for scorers), or from some hundred rows any curve."),
]
_Method = Annotated[Literal["structured", "label"], typer.Option(help="How the model is asked.")]
_Votes = Annotated[int, typer.Option(metavar="N", min=1, help="Answers whose majority decides.")]
_Seed = Annotated[int | None, typer.Option(metavar="N", help="Of the sampling.")]

_EPILOG = """
**Examples**

vouch calibrate --input dev.jsonl --model http://localhost:8000/v1#qwen --output calibrations/qwen.json

vouch calibrate --input dev.jsonl --model discriminative:runs/rank/model --output calibrations/rank.json

export VOUCH_CALIBRATION=calibrations    # a file or a folder; applied by the model's name from now on

**Exit status**: 0 done; 2 the command line or a file cannot be used; 3 the model was not reached: start again, what was
verified is kept beside the output.
"""


@app.command("calibrate", epilog=_EPILOG)
def calibrate_command(
    input: _Input,
    output: _Output,
    model: _Model = None,
    verdicts: _Verdicts = None,
    kind: _Kind = None,
    method: _Method = "structured",
    votes: _Votes = 1,
    seed: _Seed = None,
) -> None:
    """Fit what turns the scores of a language model or a scorer into probabilities, and measure it on held-out rows."""
    from vouching.commands.calibrate_scorer import calibrated_scorer
    from vouching.verifiers.calibrating import calibrate
    from vouching.verifiers.discriminative_open import is_scorer

    with usage_errors():
        if output.suffix != ".json":
            raise InputError(f"{output}: wanted an output that ends in .json")
        if verdicts is None and model is not None and is_scorer(model):
            calibration = calibrated_scorer(model, input, output, kind or "platt")
        else:
            if verdicts is None:
                if model is None:
                    raise InputError("got neither --model nor --verdicts: name a language model, or finished verdicts")
                verdicts = str(output.with_suffix(".verdicts.jsonl"))
                options = CheckOptions(
                    input=input, output=verdicts, resume=True, model=model, method=method, votes=votes, seed=seed
                )
                _ask(options)
            calibration = calibrate([*labelled_verdicts(input, verdicts)], kind or "temperature")
        try:
            calibration.save(output)
        except OSError as error:
            raise InputError(f"{output} cannot be written: {error.strerror or error}") from None
    measured = calibration.measured
    write_error(f"{output}: {calibration.name} for {calibration.model}, from {measured['rows']:,.0f} rows")
    for name, title in (("ece", "ECE"), ("brier", "Brier score")):
        after = measured.get(f"{name}_held_out")
        words = "too few rows to measure what it gains" if after is None else f"{after:.3f} on held-out rows"
        before = f"{measured[name]:.3f} before, " if name in measured else ""
        write_error(f"{title}: {before}{words}")


def _ask(options: CheckOptions) -> None:
    """Verify the rows, or what is left of them; ends the command if that stops early."""
    from vouching.checker import Checker
    from vouching.commands.check_rows import check_rows
    from vouching.verifiers.calibration import VARIABLE

    checker = Checker(options.model, method=options.method, votes=options.votes, seed=options.seed)
    if checker.calibrator is not None:
        raise InputError(f"{VARIABLE} has a calibration for {options.model} already: unset it, or move that file away")
    check_rows(options)
    assert options.input is not None
    assert options.output is not None
    with open_rows(options.input) as rows, open_rows(options.output) as lines:
        if sum(1 for _ in rows) > sum(1 for _ in lines):
            raise typer.Exit(Exit.INCOMPLETE)


def labelled_verdicts(rows_path: str, verdicts_path: str) -> Iterator[LabelledVerdict]:
    """The rows that have a label and a verdict, in order; how many have not is told.

    Raises:
        InputError: a file cannot be used, or the verdicts are not those of the rows.
    """
    from vouching.commands.labelled import labelled_row
    from vouching.types import Verdict
    from vouching.types.serial import from_json
    from vouching.verifiers.calibrating import LabelledVerdict

    missing = 0
    with open_rows(rows_path) as rows, open_rows(verdicts_path) as lines:
        for row, line in zip(rows, lines, strict=False):
            if line.fields is None:
                raise InputError(f"{lines.name}, {line.place}: {line.problem}")
            if line.fields.get("kind") != "verdict":
                missing += 1
                continue
            verdict = from_json(Verdict, json.dumps(line.fields))
            try:
                found = labelled_row(row)
            except InputError as error:
                raise InputError(f"{rows.name}, {row.place}: {error}") from None
            if (found.claim.id, found.claim.text.strip()) != (verdict.claim.id, verdict.claim.text.strip()):
                raise InputError(
                    f"{lines.name}, {line.place} is about {verdict.claim.id!r}, the row there is {found.claim.id!r}: "
                    "name the verdicts on these rows"
                )
            if found.gold is None:
                missing += 1
                continue
            yield LabelledVerdict(found.gold, verdict, found.group or found.sources[0].text)
    if missing:
        write_error(f"{missing:,} rows without a label or a verdict are left out")
