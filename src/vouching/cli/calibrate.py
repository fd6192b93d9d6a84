"""``vouch calibrate``: calibrate the scores of a language model or a scorer on labelled rows, or on reviewed verdicts.

Not supported: rows whose sources are searched for, as a calibration is for one kind of evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from vouching.cli.judge import Judging
from vouching.cli.options import MaxTokens, Seed, Votes
from vouching.cli.streams import Exit, show_rows, usage_errors, write_error, write_summary
from vouching.errors import InputError
from vouching.rows import json_output

if TYPE_CHECKING:
    from vouching.judging import calibration as judging
    from vouching.metrics.calibrators import CalibratorKind

app = typer.Typer()

_Labelled = Annotated[
    str | None, typer.Option("--input", metavar="ROWS", help="At least 20 rows with claim, source and label.")
]
_FromLedger = Annotated[
    str | None,
    typer.Option(metavar="TARGET", help="Use the reviewed verdicts of this ledger instead of --input (vouch review)."),
]
_Reviewers = Annotated[
    int,
    typer.Option(metavar="N", min=1, max=2, help="With --from-ledger: how many people decide each verdict, 1 or 2."),
]
_Every = Annotated[
    bool,
    typer.Option(
        "--every",
        metavar="",
        help="With --from-ledger: use every review, not only the unbiased random sample.",
    ),
]
_CalibrationFile = Annotated[Path, typer.Option("--output", metavar="PATH", help="File for the calibration: .json.")]
_Calibrated = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        envvar="VOUCH_MODEL",
        help="Language model (http://host:8000/v1#name, openai/name), scorer (see vouch models) or embedded verifier.",
    ),
]
_Verdicts = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Verdicts of vouch check on these rows, used instead of new verdicts."),
]
_CurveKind = Annotated[
    Literal["temperature", "platt", "isotonic"] | None,
    typer.Option(
        help="Calibration curve: one parameter that changes no label (temperature, for language models), a line "
        "(platt, for scorers, and for a model that gives all claims one label), or any rising curve (isotonic, for a "
        "few hundred rows or more)."
    ),
]
_Asking = Annotated[
    Literal["structured", "label"],
    typer.Option(help="What the model is asked for: a full record, or only label and confidence."),
]
_CALIBRATE_EPILOG = """
**Examples**

vouch calibrate --input dev.jsonl --model http://localhost:8000/v1#qwen --output calibrations/qwen.json

vouch calibrate --input dev.jsonl --model discriminative:runs/rank/model --output calibrations/rank.json

vouch calibrate --input dev.jsonl --model embedded --output calibrations/embedded.json

vouch calibrate --from-ledger verdicts.db --model embedded --output calibrations/embedded.json

export VOUCH_CALIBRATION=calibrations    # a file or a folder; applied by model name from now on

**Exit status**: 0 done; 2 invalid command line or file; 3 the model could not be reached (run the command again;
finished verdicts are kept next to the output).
"""


@app.command("calibrate", epilog=_CALIBRATE_EPILOG)
def calibrate_command(
    output: _CalibrationFile,
    input: _Labelled = None,
    from_ledger: _FromLedger = None,
    reviewers: _Reviewers = 1,
    every: _Every = False,
    model: _Calibrated = None,
    verdicts: _Verdicts = None,
    kind: _CurveKind = None,
    method: _Asking = "structured",
    votes: Votes = 1,
    seed: Seed = None,
    max_tokens: MaxTokens = None,
) -> None:
    """Calibrate the scores of a language model or a scorer, and measure the gain on held-out rows.

    A calibration maps scores to probabilities. Verdicts are kept next to the output, as NAME.verdicts.jsonl: run the
    command again to resume an interrupted run. From a ledger, the reviews of the random sample count; the verdicts of a
    language model are used as they are; a scorer or the embedded verifier scores the reviewed claims again.
    """
    from vouching.judging.calibration import load_calibration

    with usage_errors():
        json_output(output, load_calibration, "calibration")
        if model is not None and "," in model:
            raise InputError(f"--model {model} is a cascade: calibrate each of its models separately")
        if (input is None) == (from_ledger is None) or (from_ledger and verdicts):
            raise InputError("pass labelled rows with --input, or a ledger of reviewed verdicts with --from-ledger")
        scores = model is not None and verdicts is None and _is_scored(model)
        rows = input or _reviewed_rows((str(from_ledger), reviewers, every), output) if scores else input
        if scores and model is not None and rows is not None:
            calibration = _scored(model, (rows, output), kind)
        elif rows is not None:
            asking = {"votes": votes, "seed": seed, "max_tokens": max_tokens}
            calibration = _fitted(_judged((rows, output), model, verdicts, method, asking), kind)
        else:
            calibration = _fitted(reviewed_verdicts((str(from_ledger), reviewers, every), model), kind)
        try:
            calibration.save(output)
        except OSError as error:
            raise InputError(f"{output} cannot be written: {error.strerror or error}") from None
    _report_calibration(output, calibration)


def _is_scored(model: str) -> bool:
    from vouching.embedded.verify import is_embedded
    from vouching.methods.discriminative.open import is_scorer

    return is_scorer(model) or is_embedded(model)


def _fitted(found: Sequence[judging.LabelledVerdict], kind: CalibratorKind | None) -> judging.Calibration:
    from vouching.judging.calibration import calibrate

    calibration = calibrate(found, kind)
    if left_out := len(found) - int(calibration.measured["rows"]):
        count = f"{left_out:,} verdict{'s' * (left_out != 1)}"
        write_error(f"omitted {count}: only some are scored by the tokens of their labels")
    return calibration


def _scored(model: str, files: tuple[str, Path], kind: CalibratorKind | None) -> judging.Calibration:
    """The calibration of a scorer; ends the command if the scoring stops early."""
    from vouching.embedded.verify import is_embedded
    from vouching.methods.calibrate import calibrated_scorer, scores_beside

    run = partial(show_rows, again=f"start again: finished scores are kept in {scores_beside(files[1])}")
    curve: CalibratorKind = kind or ("temperature" if is_embedded(model) else "platt")
    calibration = calibrated_scorer(model, files, curve, run, write_error)
    if calibration is None:
        raise typer.Exit(Exit.INCOMPLETE)
    return calibration


def _judged(
    files: tuple[str, Path], model: str | None, verdicts: str | None, method: str, asking: Mapping[str, Any]
) -> list[judging.LabelledVerdict]:
    """The rows with the verdicts of a language model, which is asked where no finished verdicts are given."""
    from vouching.methods.calibrate import labelled_verdicts

    if verdicts is None:
        if model is None:
            raise InputError("missing --model or --verdicts: pass a language model or finished verdicts")
        verdicts = str(files[1].with_suffix(".verdicts.jsonl"))
        _ask(files[0], verdicts, Judging(model, method, settings=asking))
    found, missing = labelled_verdicts(files[0], verdicts)
    if missing:
        write_error(f"skipped {missing:,} rows without a label or a verdict")
    if not found:
        raise InputError(f"{verdicts} contains no verdict on a labelled row; its lines give the reasons")
    return found


_Reviews: TypeAlias = tuple[str, int, bool]
"""A ledger, how many people decide each verdict, and whether every review counts."""


def reviewed_verdicts(reviews: _Reviews, model: str | None = None) -> list[judging.LabelledVerdict]:
    """The reviewed verdicts of a ledger, of one model or of all. Raises InputError if there is none."""
    from vouching.ledger import open_ledger
    from vouching.review.gold import labelled_verdicts
    from vouching.review.queue import ReviewQueue
    from vouching.types.review import QueueFilters

    target, reviewers, every = reviews
    left_out: Counter[str] = Counter()
    with open_ledger(target, create=False) as ledger:
        found = labelled_verdicts(ReviewQueue(ledger, reviewers), QueueFilters(model=model), left_out, every)
    for reason, number in left_out.items():
        write_error(f"omitted {number:,} reviewed verdicts: {reason}")
    if not found:
        raise InputError(_none_reviewed(reviews, model))
    return found


def _reviewed_rows(reviews: _Reviews, output: Path) -> str:
    """The reviewed verdicts of a ledger as a file of rows next to the calibration."""
    from vouching.ledger import open_ledger
    from vouching.review.gold import export_gold
    from vouching.review.queue import ReviewQueue

    target, reviewers, every = reviews
    path = output.with_suffix(".reviewed.jsonl")
    with open_ledger(target, create=False) as ledger:
        if path.exists():
            raise InputError(f"{path} exists, perhaps with other reviews: remove it and what is next to it")
        if not export_gold(ReviewQueue(ledger, reviewers), path, sampled=not every).written:
            path.unlink()
            raise InputError(_none_reviewed(reviews, None))
    return str(path)


def _none_reviewed(reviews: _Reviews, model: str | None) -> str:
    what = f"reviewed verdict{f' of {model}' if model else ''}"
    if reviews[2]:
        return f"{reviews[0]} has no {what}: see  vouch review status"
    return (
        f"{reviews[0]} has no {what} in the random sample: review in the order sampled, or pass --every to use what "
        "was reviewed for other reasons"
    )


def _report_calibration(output: Path, calibration: judging.Calibration) -> None:
    measured = calibration.measured
    write_error(f"{output}: {calibration.name} for {calibration.model}, fitted on {measured['rows']:,.0f} rows")
    for name, title in (("ece", "ECE"), ("brier", "Brier score")):
        after = measured.get(f"{name}_held_out")
        words = "too few rows to measure the gain" if after is None else f"{after:.3f} after, on held-out rows"
        before = f"{measured[name]:.3f} before, " if name in measured else ""
        write_error(f"{title}: {before}{words}")
    if calibration.threshold is not None:
        write_error(f"threshold: {calibration.threshold:.3f}, where balanced accuracy is highest")
    write_error(f"a cascade asks the next model below a confidence of {measured['confident_from']:.3f}")
    if "brier" in measured and measured.get("brier_held_out", 0.0) >= measured["brier"]:
        write_error("no gain on held-out rows: label more rows, or do not use this calibration")


def _ask(input: str, output: str, judging: Judging) -> None:
    """Verify the remaining rows; ends the command if that stops early."""
    from vouching.cli.check import CLAIMS, check_job
    from vouching.judging.calibration import VARIABLE
    from vouching.methods.calibrate import refuse_too_few_labels

    refuse_too_few_labels(input)
    checker = judging.checker()
    if checker.decoding is not None and checker.decoding["calibrator"] is not None:
        raise InputError(
            f"{VARIABLE} already contains a calibration for {judging.model}: unset {VARIABLE}, or move that file"
        )
    summary = show_rows(check_job((input, output, True), judging), "start again: finished verdicts are kept")
    write_summary(summary, CLAIMS.words(summary))
    if summary.stopped is not None:
        raise typer.Exit(Exit.INCOMPLETE)
