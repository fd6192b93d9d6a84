"""``vouch reward METHOD``: rows from files, scored as training scores them.

One command for every method that has a reward: each is the function ``reward_row`` of ``vouching.methods.METHODS``,
whose parameters are the options. Not here: worker processes; one core scores some ten thousand replies a second.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

import typer

from vouching.cli.options import HOW, OUTPUT, panel
from vouching.cli.streams import Exit, show_rows, tell_rows, usage_errors
from vouching.errors import InputError
from vouching.judging.matching import Match
from vouching.judging.votes import Aggregate
from vouching.methods import METHODS
from vouching.methods.blinded.reward import Scale
from vouching.methods.rewards import lines_of, reward_job
from vouching.methods.structured.reward_weights import Calibration, Split, Variant

app = typer.Typer()

_NAMES = [name for name, method in METHODS.items() if method.reward_row is not None]
_STRUCTURED, _CHECKLIST, _BLINDED, _ASSURANCE = (f"Of {n}" for n in ("structured", "checklist", "blinded", "assurance"))

_Method = Annotated[str, typer.Argument(metavar="METHOD", help=f"Whose reward: {', '.join(_NAMES)}.")]
_Input = Annotated[
    str,
    panel(
        HOW,
        "--input",
        metavar="ROWS",
        help="What the method wrote: replies, votes, audits, rankings or units; see docs/rewards.md. - is stdin.",
    ),
]
_Output = Annotated[str, panel(OUTPUT, "--output", metavar="REWARDS", help="A .jsonl file; - prints the lines.")]
_Resume = Annotated[bool, panel(OUTPUT, "--resume", metavar="", help="Finish an output that was cut short.")]
_Variant = Annotated[
    Literal[Variant, "binary"] | None,
    panel(
        _STRUCTURED,
        "--variant",
        help="The rules; grounded needs claim and source, binary looks at the label alone. (paper)",
    ),
]
_Split = Annotated[
    Split | None, panel(_STRUCTURED, "--split", help="Shares of process and outcome in the reward. (70/30)")
]
_Calibration = Annotated[
    Calibration | None,
    panel(
        _STRUCTURED,
        "--calibration",
        help="The term for stated confidence: on, off, or symmetric, which loses as much as it wins. (on)",
    ),
]
_Tau = Annotated[
    float | None, panel(_CHECKLIST, "--tau", metavar="T", help="Share of yes from which an item passes. (0.75)")
]
_TauMinus = Annotated[
    float | None,
    panel(
        _CHECKLIST,
        "--tau-minus",
        metavar="T",
        help="Share of yes up to which an item goes to replay as a no. (0.375)",
    ),
]
_Aggregate = Annotated[
    Aggregate | None,
    panel(_CHECKLIST, "--aggregate", help="How the votes on an item become a judgment. (threshold)"),
]
_Beta = Annotated[
    float | None,
    panel(
        _CHECKLIST,
        "--beta",
        metavar="B",
        help="What the share of items passed counts if not all pass. (0.5)",
    ),
]
_Match = Annotated[
    Match | None,
    panel(_BLINDED, "--match", help="How answers are compared: with units, or as the released code does. (units)"),
]
_Scale = Annotated[
    Scale | None,
    panel(
        _BLINDED,
        "--scale",
        help="All or nothing on either scale, or the paper's or the released error rate. (-1/0)",
    ),
]
_MinQuestions = Annotated[
    int | None,
    panel(
        _BLINDED,
        "--min-questions",
        metavar="K",
        min=0,
        help="Questions due, if there are as many numbers; 0 for none. (3)",
    ),
]
_MinNumbers = Annotated[
    int | None,
    panel(_BLINDED, "--min-numbers", metavar="N", min=0, help="Numbers that a response must state; 0 for none. (0)"),
]
_InterventionCost = Annotated[
    float | None,
    panel(_ASSURANCE, "--intervention-cost", metavar="C", help="Taken from the verifier's reward for a case. (0)"),
]
_RevisionCost = Annotated[
    float | None,
    panel(_ASSURANCE, "--revision-cost", metavar="C", help="Taken from the generator's reward for a revision. (0)"),
]

_EPILOG = """
**Examples**

vouch reward structured --input replies.jsonl --output rewards.jsonl --variant grounded

vouch reward checklist --input votes.jsonl --output rewards.jsonl --tau 0.75 --beta 0.5

vouch reward blinded --input audits.jsonl --output rewards.jsonl --scale -1/0 --min-questions 3

vouch reward discriminative --input rankings.jsonl --output rewards.jsonl

vouch reward assurance --input units.jsonl --output rewards.jsonl --intervention-cost 0.05 --revision-cost 0.05

**Exit status**: 0 done; 2 the command line, the input or the output cannot be used; 3 some rows could not be used, or
the output takes no more.
"""


@app.command("reward", epilog=_EPILOG)
def reward_command(
    method: _Method,
    input: _Input,
    output: _Output,
    variant: _Variant = None,
    split: _Split = None,
    calibration: _Calibration = None,
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
) -> None:
    """Score rows as training scores them: replies, votes, audits or decision units, part by part.

    A line of structured, checklist and blinded has id, total, parts and the group of its row, if that has one; of
    discriminative, which reads what vouch rank wrote, a total and parts for each answer; of assurance the case, and
    what either action would have earned. A row that cannot be used, or whose judge failed, has no
    total, and a problem. What a policy wrote is never a problem: a reply that cannot be read earns 0.
    """
    given = {
        "variant": variant, "split": split, "calibration": calibration, "tau": tau, "tau_minus": tau_minus,
        "aggregate": aggregate, "beta": beta, "match": match, "scale": scale, "min_questions": min_questions,
        "min_numbers": min_numbers,
        "intervention_cost": intervention_cost, "revision_cost": revision_cost,
    }  # fmt: skip
    with usage_errors():
        job = reward_job(method, (input, output, resume), _settings_of(method, given))
        summary = show_rows(job)
    tell_rows(summary, lines_of(method).summary(summary.counts))
    raise typer.Exit(Exit.OK if summary.complete else Exit.INCOMPLETE)


def _settings_of(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a method's reward: what was given, and the method's own value for what was not.

    Raises:
        InputError: a method without rewards, or a setting that it does not have.
    """
    if method not in _NAMES:
        near = get_close_matches(method, _NAMES, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise InputError(f"got {method}, wanted a method that has a reward: {', '.join(_NAMES)}{meant}")
    parameters = inspect.signature(METHODS[method].load("reward_row")).parameters
    own = {name: one.default for name, one in parameters.items() if name in given}
    for name in (name for name, value in given.items() if value is not None and name not in own):
        has = ", ".join(map(_option, own))
        raise InputError(f"got {_option(name)} with {method}, whose options are {has}: leave it out")
    return {name: default if given[name] is None else given[name] for name, default in own.items()}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
