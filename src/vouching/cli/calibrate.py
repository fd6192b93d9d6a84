"""``vouch calibrate``: fit what turns scores into probabilities, on rows with labels.

The verdicts of a language model, or a scorer's own numbers, are kept line by line beside the output, and a curve is
fitted through them. Not here: labelling rows, the embedded verifier, whose scores are calibrated where they are made,
and rows whose sources are searched for; a calibration is for one kind of evidence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vouching.cli.judge import Judging
from vouching.cli.options import MaxTokens, Seed, Votes
from vouching.cli.streams import Exit, show_rows, tell_rows, usage_errors, write_error
from vouching.errors import InputError
from vouching.inputs import gold_of, labelled_row
from vouching.rows import STDIN, Line, Row, RowJob, Waiting, json_output, looker, open_rows, waiting_work
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.judging.calibration import Calibration, LabelledScore, LabelledVerdict
    from vouching.methods.discriminative.scorer import ClaimScorer
    from vouching.metrics.calibrators import CalibratorKind

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
    from vouching.methods.discriminative.open import is_scorer

    with usage_errors():
        json_output(output, load_calibration, "calibration")
        if verdicts is None and model is not None and is_scorer(model):
            calibration = calibrated_scorer(model, input, output, kind or "platt")
        else:
            if verdicts is None:
                if model is None:
                    raise InputError("got neither --model nor --verdicts: name a language model, or finished verdicts")
                verdicts = str(output.with_suffix(".verdicts.jsonl"))
                settings = {"votes": votes, "seed": seed, "max_tokens": max_tokens}
                _ask(input, verdicts, Judging(model, method, settings=settings))
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


def _ask(input: str, output: str, judging: Judging) -> None:
    """Verify the rows, or what is left of them; ends the command if that stops early."""
    from vouching.cli.check import CLAIMS, check_job
    from vouching.judging.calibration import VARIABLE
    from vouching.methods.embedded.verify import is_embedded

    if is_embedded(judging.model):
        raise InputError(f"--model is {judging.model}, whose scores are calibrated already: name a language model")
    _refuse_too_few_labels(input)
    checker = judging.checker()
    if checker.decoding is not None and checker.decoding["calibrator"] is not None:
        raise InputError(f"{VARIABLE} has a calibration for {judging.model} already: unset it, or move that file away")
    summary = show_rows(check_job((input, output, True), judging), "start again: what was verified is kept")
    tell_rows(summary, CLAIMS.words(summary))
    if summary.stopped is not None:
        raise typer.Exit(Exit.INCOMPLETE)


def labelled_verdicts(rows_path: str, verdicts_path: str) -> Iterator[LabelledVerdict]:
    """The rows that have a label and a verdict, in order; how many have not is told.

    Raises:
        InputError: a file cannot be used, or the verdicts are not those of the rows.
    """
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


def calibrated_scorer(model: str, rows_path: str, output: Path, kind: CalibratorKind) -> Calibration:
    """Score the rows, or what is left of them, and fit a calibration.

    Args:
        model: name of the scorer.
        rows_path: rows with claim, source and label; all or none of them with a question.
        output: where the calibration will go; the numbers are kept beside it, in ``.scores.jsonl``.
        kind: which curve.

    Raises:
        InputError: a file or the rows cannot be used.
        ConfigError: a scorer of that name cannot be opened, or gives no numbers for claims.
        typer.Exit: the scoring stopped early.
    """
    from vouching.judging.calibration import calibrate_scores
    from vouching.methods.discriminative.open import open_claim_scorer

    scorer = open_claim_scorer(model)
    if scorer.scorer.scale == "share":
        raise InputError(f"{model} scores whole answers by a share of facts, which no label of a claim calibrates")
    scores = str(output.with_suffix(".scores.jsonl"))
    _score(scorer, rows_path, scores)
    found, asked = labelled_scores(scores)
    if len(asked) > 1:
        raise InputError(f"some rows of {rows_path} have a question and some have none: calibrate each kind by itself")
    return calibrate_scores(scorer.scorer.name, scorer.digest(question=True in asked), found, kind)


def score_work(scorer: ClaimScorer) -> Waiting:
    """The work of scoring rows, each giving a line with ``id, gold, group, question, score`` or ``problem``."""
    from vouching.methods.discriminative.scorer import Scored

    async def score(row: Row) -> Line:
        found = labelled_row(row)
        question = str((row.fields or {}).get("question") or "")
        [outcome] = await scorer.score([found.claim], found.sources, question)
        about = {"gold": found.gold, "group": found.group or found.sources[0].text, "question": bool(question)}
        if isinstance(outcome, Scored):
            return {"id": row.name, **about, "score": outcome.value}
        return {"id": row.name, **about, "score": None, "unverified": outcome.message}

    return Waiting(lambda: waiting_work(score, {"score": None}, ensure_ascii=True), scorer.aclose)


SEEN_SCORE = looker(lambda line: {} if line["score"] is not None else {"unverified": 1})
"""Tells what a run needs to know about a line."""


def labelled_scores(path: str) -> tuple[list[LabelledScore], set[bool]]:
    """The lines with a label and a number, and whether their rows had a question; how many have not is told."""
    from vouching.judging.calibration import LabelledScore

    found: list[LabelledScore] = []
    asked: set[bool] = set()
    missing = 0
    with open_rows(path) as lines:
        for line in lines:
            fields = line.fields or {}
            if fields.get("score") is None or fields.get("gold") is None:
                missing += 1
                continue
            found.append(LabelledScore(fields["gold"], fields["score"], fields["group"]))
            asked.add(fields["question"])
    if missing:
        write_error(f"{missing:,} rows without a label or a score are left out")
    return found, asked


def _score(scorer: ClaimScorer, rows_path: str, output: str) -> None:
    """Write a line for each row, or for those that are left; ends the command if that stops early."""
    settings = {
        "command": "calibrate", "model": scorer.scorer.name, "form": scorer.digest(), "vouching": __version__,
    }  # fmt: skip
    there = Path(output).exists()
    job = RowJob(rows_path, output, score_work(scorer), SEEN_SCORE, settings, ("claim",), resume=there)
    if show_rows(job, f"start again, what was scored is kept in {output}").stopped is not None:
        raise typer.Exit(Exit.INCOMPLETE)
