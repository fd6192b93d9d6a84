"""``vouch reward METHOD``: score rows of a file as training scores them.

The options of ``reward`` are the parameters of the function ``reward_row`` of each method in
``vouching.methods.METHODS``.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any

import typer

from vouching.cli.keeping import Keeping, LedgerTarget
from vouching.cli.options import HOW, OUTPUT, panel
from vouching.cli.spread import EngineName, Jobs, RayAddress, ShardOf, Spread
from vouching.cli.streams import Exit, usage_errors, write_summary
from vouching.errors import InputError
from vouching.judging.matching import Match
from vouching.judging.votes import Aggregate
from vouching.methods import METHODS
from vouching.methods.blinded.reward import Scale
from vouching.methods.rewards import lines_of, reward_job
from vouching.methods.structured.reward_weights import Calibration, Rules, Split
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
        "variant": variant,
        "split": split,
        "calibration": calibration,
        "diagnosis_floor": diagnosis_floor,
        "tau": tau,
        "tau_minus": tau_minus,
        "aggregate": aggregate,
        "beta": beta,
        "match": match,
        "scale": scale,
        "min_questions": min_questions,
        "min_numbers": min_numbers,
        "intervention_cost": intervention_cost,
        "revision_cost": revision_cost,
    }
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
