"""``vouch calibrate``: fit what turns scores into probabilities, on rows with labels.

The verdicts of a language model, or a scorer's own numbers, are kept line by line beside the output, and a curve is
fitted through them. Not here: labelling rows, the embedded verifier, whose scores are calibrated where they are made,
and rows whose sources are searched for; a calibration is for one kind of evidence.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from vouching.cli.judge import Judging
from vouching.cli.options import MaxTokens, Seed, Votes
from vouching.cli.streams import Exit, show_rows, tell_rows, usage_errors, write_error
from vouching.errors import InputError
from vouching.rows import json_output

app = typer.Typer()

_Input = Annotated[str, typer.Option("--input", metavar="ROWS", help="Rows with claim, source and label; at least 20.")]
_Output = Annotated[Path, typer.Option("--output", metavar="PATH", help="The calibration: .json.")]
_Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="The language model (http://host:8000/v1#name, openai/name) or scorer that is asked.",
    ),
]
_Verdicts = Annotated[
    str | None, typer.Option(metavar="PATH", help="Verdicts on the rows from vouch check, in place of asking.")
]
_Kind = Annotated[
    Literal["temperature", "platt", "isotonic"] | None,
    typer.Option(help="One number (for language models), a line (for scorers), or from some hundred rows any curve."),
]
_Method = Annotated[
    Literal["structured", "label"],
    typer.Option(help="How the model is asked: for the whole record, or for label and confidence."),
]
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
    votes: Votes = 1,
    seed: Seed = None,
    max_tokens: MaxTokens = None,
) -> None:
    """Fit what turns scores of a language model or a scorer into probabilities; measure the gain on held-out rows.

    The verdicts are kept beside the output, as NAME.verdicts.jsonl: start again to go on with a run that stopped.
    """
    from vouching.judging.calibration import calibrate, load_calibration
    from vouching.methods.calibrate import calibrated_scorer, labelled_verdicts, scores_beside
    from vouching.methods.discriminative.open import is_scorer

    with usage_errors():
        json_output(output, load_calibration, "calibration")
        if verdicts is None and model is not None and is_scorer(model):
            run = partial(show_rows, again=f"start again, what was scored is kept in {scores_beside(output)}")
            calibration = calibrated_scorer(model, (input, output), kind or "platt", run, write_error)
            if calibration is None:
                raise typer.Exit(Exit.INCOMPLETE)
        else:
            if verdicts is None:
                if model is None:
                    raise InputError("got neither --model nor --verdicts: name a language model, or finished verdicts")
                verdicts = str(output.with_suffix(".verdicts.jsonl"))
                settings = {"votes": votes, "seed": seed, "max_tokens": max_tokens}
                _ask(input, verdicts, Judging(model, method, settings=settings))
            found, missing = labelled_verdicts(input, verdicts)
            if missing:
                write_error(f"{missing:,} rows without a label or a verdict are left out")
            if not found:
                raise InputError(f"{verdicts} has no verdict on a row with a label: it says why, line by line")
            calibration = calibrate(found, kind or "temperature")
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
    if "brier" in measured and measured.get("brier_held_out", 0.0) >= measured["brier"]:
        write_error("on held-out rows it gains nothing: label more rows, or leave the scores as they are")


def _ask(input: str, output: str, judging: Judging) -> None:
    """Verify the rows, or what is left of them; ends the command if that stops early."""
    from vouching.cli.check import CLAIMS, check_job
    from vouching.judging.calibration import VARIABLE
    from vouching.methods.calibrate import refuse_too_few_labels
    from vouching.methods.embedded.verify import is_embedded

    if is_embedded(judging.model):
        raise InputError(f"--model is {judging.model}, whose scores are calibrated already: name a language model")
    refuse_too_few_labels(input)
    checker = judging.checker()
    if checker.decoding is not None and checker.decoding["calibrator"] is not None:
        raise InputError(f"{VARIABLE} has a calibration for {judging.model} already: unset it, or move that file away")
    summary = show_rows(check_job((input, output, True), judging), "start again: what was verified is kept")
    tell_rows(summary, CLAIMS.words(summary))
    if summary.stopped is not None:
        raise typer.Exit(Exit.INCOMPLETE)
