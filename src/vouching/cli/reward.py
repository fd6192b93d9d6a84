"""``vouch reward METHOD``: score rows of a file as training scores them; ``vouch calibrate``: calibrate scores.

The options of ``reward`` are the parameters of the function ``reward_row`` of each method in
``vouching.methods.METHODS``. Not supported: calibrating the embedded verifier, which is calibrated
already, or rows whose sources are searched for, as a calibration is for one kind of evidence.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vouching.cli.judge import Judging
from vouching.cli.keeping import Keeping, LedgerTarget
from vouching.cli.options import HOW, OUTPUT, MaxTokens, Seed, Votes, panel
from vouching.cli.spread import EngineName, Jobs, RayAddress, ShardOf, Spread
from vouching.cli.streams import Exit, show_rows, usage_errors, write_error, write_summary
from vouching.errors import InputError
from vouching.judging.matching import Match
from vouching.judging.votes import Aggregate
from vouching.methods import METHODS
from vouching.methods.blinded.reward import Scale
from vouching.methods.rewards import lines_of, reward_job
from vouching.methods.structured.reward_weights import Calibration, Rules, Split
from vouching.rows import json_output
from vouching.types.visible import hint

app = typer.Typer()

_NAMES = [name for name, method in METHODS.items() if method.reward_row is not None]
_STRUCTURED, _CHECKLIST, _BLINDED, _ASSURANCE = (
    f"For {n}" for n in ("structured", "checklist", "blinded", "assurance")
)

_Method = Annotated[str, typer.Argument(metavar="METHOD", help=f"The method: {', '.join(_NAMES)}.")]
_Input = Annotated[
    str,
    panel(
        HOW,
        "--input",
        metavar="ROWS",
        help="File or folder of rows to score: replies, votes, audits, rankings or units (see docs/rewards.md); - is "
        "standard input.",
    ),
]
_Output = Annotated[
    str,
    panel(
        OUTPUT,
        "--output",
        metavar="REWARDS",
        help="File for the rewards: .jsonl; - prints them. For a folder of rows: a folder; .parquet makes Parquet.",
    ),
]
_Resume = Annotated[bool, panel(OUTPUT, "--resume", metavar="", help="Resume an interrupted run.")]
_Variant = Annotated[
    Rules | None,
    panel(
        _STRUCTURED,
        "--variant",
        help="Reward variant: grounded requires claim and source, binary scores only the label, binary-format label "
        "and format; default: paper.",
    ),
]
_Split = Annotated[
    Split | None, panel(_STRUCTURED, "--split", help="Weights of process and outcome in the reward; default: 70/30.")
]
_Calibration = Annotated[
    Calibration | None,
    panel(
        _STRUCTURED,
        "--calibration",
        help="Confidence term: on, off, symmetric (equal gain and loss), or the brier score; default: on.",
    ),
]
_DiagnosisFloor = Annotated[
    float | None,
    panel(
        _STRUCTURED,
        "--diagnosis-floor",
        metavar="R",
        help="Diagnosis score of a false alarm, from 0 to 1; default: 0.3.",
    ),
]
_Tau = Annotated[
    float | None,
    panel(_CHECKLIST, "--tau", metavar="T", help="Minimum share of yes votes for an item to pass; default: 0.75."),
]
_TauMinus = Annotated[
    float | None,
    panel(
        _CHECKLIST,
        "--tau-minus",
        metavar="T",
        help="Maximum share of yes votes at which an item is replayed with the label no; default: 0.375.",
    ),
]
_Aggregate = Annotated[
    Aggregate | None,
    panel(_CHECKLIST, "--aggregate", help="How to combine the votes on an item; default: threshold."),
]
_Beta = Annotated[
    float | None,
    panel(
        _CHECKLIST, "--beta", metavar="B", help="Weight of the share of passed items if some items fail; default: 0.5."
    ),
]
_Match = Annotated[
    Match | None,
    panel(
        _BLINDED,
        "--match",
        help="Compare answers with their units, or as the code published with the method does; default: units.",
    ),
]
_Scale = Annotated[
    Scale | None,
    panel(
        _BLINDED, "--scale", help="Scale of the reward: all or nothing (-1/0 or 0/1), or an error rate; default: -1/0."
    ),
]
_MinQuestions = Annotated[
    int | None,
    panel(
        _BLINDED,
        "--min-questions",
        metavar="K",
        min=0,
        help="Minimum number of questions, if there are enough numbers to ask about; default: 3.",
    ),
]
_MinNumbers = Annotated[
    int | None,
    panel(_BLINDED, "--min-numbers", metavar="N", min=0, help="Minimum count of numbers in a response; default: 0."),
]
_InterventionCost = Annotated[
    float | None,
    panel(_ASSURANCE, "--intervention-cost", metavar="C", help="Cost of a case for the verifier; default: 0."),
]
_RevisionCost = Annotated[
    float | None,
    panel(_ASSURANCE, "--revision-cost", metavar="C", help="Cost of a revision for the generator; default: 0."),
]

_EPILOG = """
**Examples**

vouch reward structured --input replies.jsonl --output rewards.jsonl --variant grounded

vouch reward checklist --input votes.jsonl --output rewards.jsonl --tau 0.75 --beta 0.5

vouch reward blinded --input audits.jsonl --output rewards.jsonl --scale -1/0 --min-questions 3

vouch reward discriminative --input rankings.jsonl --output rewards.jsonl

vouch reward assurance --input units.jsonl --output rewards.jsonl --intervention-cost 0.05 --revision-cost 0.05

**Exit status**: 0 done; 2 invalid command line, input or output; 3 some rows could not be used, or the output could not
be written.
"""


@app.command("reward", epilog=_EPILOG)
def reward_command(
    method: _Method,
    input: _Input,
    output: _Output,
    variant: _Variant = None,
    split: _Split = None,
    calibration: _Calibration = None,
    diagnosis_floor: _DiagnosisFloor = None,
    tau: _Tau = None,
    tau_minus: _TauMinus = None,
    aggregate: _Aggregate = None,
    beta: _Beta = None,
    match: _Match = None,
    scale: _Scale = None,
    min_questions: _MinQuestions = None,
    min_numbers: _MinNumbers = None,
    intervention_cost: _InterventionCost = None,
    revision_cost: _RevisionCost = None,
    resume: _Resume = False,
    jobs: Jobs = 1,
    shard: ShardOf = None,
    engine: EngineName = "local",
    ray_address: RayAddress = None,
    ledger: LedgerTarget = None,
) -> None:
    """Score rows as training scores them: replies, votes, audits or decision units, part by part.

    Each line has id, total, parts and, if the row has one, the group. For discriminative, which reads the output of
    vouch rank, a line has a total and parts for each answer; for assurance, the case and the reward of each action. The
    line of a row that cannot be used or judged has a problem instead of a total. An unreadable reply scores 0.
    """
    given = {
        "variant": variant, "split": split, "calibration": calibration,
        "diagnosis_floor": diagnosis_floor, "tau": tau, "tau_minus": tau_minus, "aggregate": aggregate, "beta": beta,
        "match": match, "scale": scale, "min_questions": min_questions, "min_numbers": min_numbers,
        "intervention_cost": intervention_cost, "revision_cost": revision_cost,
    }  # fmt: skip
    with usage_errors():
        job = reward_job(method, (input, output, resume), _settings_of(method, given))
        summary = Spread(shard, engine, ray_address, jobs).rows(Keeping("reward", ledger).job(job))
    write_summary(summary, lines_of(method).summary(summary.counts))
    raise typer.Exit(Exit.OK if summary.complete else Exit.INCOMPLETE)


def _settings_of(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a method's reward: given values, else defaults. Raises InputError for what does not apply."""
    if method not in _NAMES:
        meant = hint(get_close_matches(method, _NAMES, n=1))
        raise InputError(f"unknown reward method {method!r}; expected one of {', '.join(_NAMES)}{meant}")
    parameters = inspect.signature(METHODS[method].load("reward_row")).parameters
    own = {name: one.default for name, one in parameters.items() if name in given}
    for name in (name for name, value in given.items() if value is not None and name not in own):
        has = ", ".join(map(_option, own)) or "none"
        raise InputError(f"{_option(name)} cannot be used with {method}; its options are: {has}")
    return {name: default if given[name] is None else given[name] for name, default in own.items()}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


_Labelled = Annotated[
    str, typer.Option("--input", metavar="ROWS", help="At least 20 rows with claim, source and label.")
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
        help="Calibration curve: one parameter (temperature, for language models), a line (platt, for scorers), or any "
        "rising curve (isotonic, for a few hundred rows or more)."
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

export VOUCH_CALIBRATION=calibrations    # a file or a folder; applied by model name from now on

**Exit status**: 0 done; 2 invalid command line or file; 3 the model could not be reached (run the command again;
finished verdicts are kept next to the output).
"""


@app.command("calibrate", epilog=_CALIBRATE_EPILOG)
def calibrate_command(
    input: _Labelled,
    output: _CalibrationFile,
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
    command again to resume an interrupted run.
    """
    from vouching.judging.calibration import calibrate, load_calibration
    from vouching.methods.calibrate import calibrated_scorer, labelled_verdicts, scores_beside
    from vouching.methods.discriminative.open import is_scorer
    from vouching.methods.embedded.verify import is_embedded

    with usage_errors():
        json_output(output, load_calibration, "calibration")
        if model is not None and "," in model:
            raise InputError(f"--model {model} is a cascade: calibrate each of its models separately")
        if verdicts is None and model is not None and (is_scorer(model) or is_embedded(model)):
            run = partial(show_rows, again=f"start again: finished scores are kept in {scores_beside(output)}")
            curve = kind or ("temperature" if is_embedded(model) else "platt")
            calibration = calibrated_scorer(model, (input, output), curve, run, write_error)
            if calibration is None:
                raise typer.Exit(Exit.INCOMPLETE)
        else:
            if verdicts is None:
                if model is None:
                    raise InputError("missing --model or --verdicts: pass a language model or finished verdicts")
                verdicts = str(output.with_suffix(".verdicts.jsonl"))
                settings = {"votes": votes, "seed": seed, "max_tokens": max_tokens}
                _ask(input, verdicts, Judging(model, method, settings=settings))
            found, missing = labelled_verdicts(input, verdicts)
            if missing:
                write_error(f"skipped {missing:,} rows without a label or a verdict")
            if not found:
                raise InputError(f"{verdicts} contains no verdict on a labelled row; its lines give the reasons")
            calibration = calibrate(found, kind or "temperature")
        try:
            calibration.save(output)
        except OSError as error:
            raise InputError(f"{output} cannot be written: {error.strerror or error}") from None
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
