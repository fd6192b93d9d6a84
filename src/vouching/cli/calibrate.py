"""``vouch calibrate``: fit what turns scores into probabilities, on rows with labels.

A language model's verdicts are calibrated here, a scorer's own numbers in ``calibrate_scorer``. Left out: labelling
rows, and the embedded verifier, whose scores are calibrated where they are made.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vouching.cli.check_options import CheckOptions
from vouching.cli.files import STDIN
from vouching.cli.streams import Exit, usage_errors, write_error
from vouching.errors import InputError
from vouching.rows import json_output
from vouching.rows.read import open_rows

if TYPE_CHECKING:
    from vouching.judging.calibration import LabelledVerdict

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
_Votes = Annotated[int, typer.Option(metavar="N", min=1, help="Answers to a question, of which the majority decides.")]
_Seed = Annotated[int | None, typer.Option(metavar="N", help="Seed of the sampling; without it, none.")]
_MaxTokens = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Length of a reply; a model that thinks needs more. (1024)")
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
    votes: _Votes = 1,
    seed: _Seed = None,
    max_tokens: _MaxTokens = None,
) -> None:
    """Fit what turns scores of a language model or a scorer into probabilities; measure the gain on held-out rows.

    The verdicts are kept beside the output, as NAME.verdicts.jsonl: start again to go on with a run that stopped.
    """
    from vouching.cli.calibrate_scorer import calibrated_scorer
    from vouching.judging.calibration import calibrate, load_calibration
    from vouching.methods.discriminative.open import is_scorer

    with usage_errors():
        json_output(output, load_calibration, "calibration")
        if verdicts is None and model is not None and is_scorer(model):
            calibration = calibrated_scorer(model, input, output, kind or "platt")
        else:
            if verdicts is None:
                if model is None:
                    raise InputError("got neither --model nor --verdicts: name a language model, or finished verdicts")
                _refuse_too_few_labels(input)
                verdicts = str(output.with_suffix(".verdicts.jsonl"))
                options = CheckOptions(
                    input=input, output=verdicts, resume=True, model=model, method=method, votes=votes, seed=seed,
                    max_tokens=max_tokens,
                )  # fmt: skip
                _ask(options)
            found = [*labelled_verdicts(input, verdicts)]
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


def _refuse_too_few_labels(path: str) -> None:
    """Raise InputError before anybody is asked, if the rows have a wrong label or too few to fit on."""
    from vouching.inputs import gold_of
    from vouching.metrics.calibrators import FEWEST_ROWS

    if path == STDIN:
        raise InputError("got --input -, but the rows are read twice: name a file")
    labels: Counter[str | None] = Counter()
    with open_rows(path) as rows:
        for row in rows:
            try:
                labels[gold_of(row.fields or {})] += 1
            except InputError as error:
                raise InputError(f"{rows.name}, {row.place}: {error}") from None
    del labels[None]
    if labels.total() < FEWEST_ROWS or len(labels) < 2:
        raise InputError(
            f"{path} has {labels.total():,} rows with a label, {labels['Attributable']:,} of them Attributable, wanted "
            f"at least {FEWEST_ROWS} with both labels: label some more"
        )


def _ask(options: CheckOptions) -> None:
    """Verify the rows, or what is left of them; ends the command if that stops early."""
    from vouching.checker import Checker
    from vouching.cli.check_rows import check_rows
    from vouching.judging.calibration import VARIABLE
    from vouching.methods.embedded.verify import is_embedded

    if is_embedded(options.model):
        raise InputError(f"--model is {options.model}, whose scores are calibrated already: name a language model")
    assert options.method not in ("rules", "checklist", "holistic", "blinded")
    checker = Checker(
        options.model,
        method=options.method,
        votes=options.votes,
        seed=options.seed,
        max_tokens=options.max_tokens,
    )
    if checker.decoding is not None and checker.decoding["calibrator"] is not None:
        raise InputError(f"{VARIABLE} has a calibration for {options.model} already: unset it, or move that file away")
    check_rows(options, again="start again: what was verified is kept")
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
    from vouching.inputs import labelled_row
    from vouching.judging.calibration import LabelledVerdict
    from vouching.types import Verdict
    from vouching.types.serial import from_json

    missing = 0
    with open_rows(rows_path) as rows, open_rows(verdicts_path) as lines:
        for row, line in zip_longest(rows, lines):
            if row is None or line is None:
                less, more = (rows.name, lines.name) if row is None else (lines.name, rows.name)
                raise InputError(f"{less} has fewer lines than {more}: name all verdicts on these rows, and no others")
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
