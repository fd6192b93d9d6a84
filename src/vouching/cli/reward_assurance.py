"""``vouch reward assurance``: what either action would have earned at each decision unit, and the advantage of a pair.

Left out: the reward of a generator's drafts, S_x, which needs no command.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

import typer

from vouching.cli.reward import score_rows, told
from vouching.cli.streams import usage_errors
from vouching.errors import InputError
from vouching.methods.assurance.reward import FREE, AssuranceCosts, reward_of_row
from vouching.rows.read import Row
from vouching.rows.run import Seen
from vouching.rows.worker import Work
from vouching.version import __version__

app = typer.Typer()

_Input = Annotated[
    str, typer.Option("--input", metavar="ROWS", help="Rows with S_x, y, a and S_z, or with replies; - is stdin.")
]
_Output = Annotated[str, typer.Option("--output", metavar="REWARDS", help="A .jsonl file; - prints the lines.")]
_Intervention = Annotated[
    float, typer.Option("--intervention-cost", metavar="C", help="Taken from the verifier's reward for a case.")
]
_Revision = Annotated[
    float, typer.Option("--revision-cost", metavar="C", help="Taken from the generator's reward for a revision.")
]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Finish an output that was cut short.")]

_EPILOG = """
**Example**

vouch reward assurance --input units.jsonl --output rewards.jsonl --intervention-cost 0.05 --revision-cost 0.05

**Exit status**: 0 done; 2 the command line, the input or the output cannot be used; 3 some rows could not be used, or
the output takes no more.
"""


@app.command("assurance", epilog=_EPILOG)
def assurance_command(
    input: _Input,
    output: _Output,
    intervention_cost: _Intervention = FREE.intervention,
    revision_cost: _Revision = FREE.revision,
    resume: _Resume = False,
) -> None:
    """Score challenges and answers to them: the paired counterfactual rewards of DPA-GRPO.

    A row has S_x and S_z (1 or 0: is the proposal, is the revision right), y (SAC or NS) and a (KEEP or REVISE; null
    after NS). Each line has id, the case of the paper's table, what either action of the verifier and of the generator
    would have earned, and its advantage over the pair; null where there was no such choice. Of a row with a response,
    its role (generator, verifier, approver), unit, gold, proposal and revision, the line has the total and its parts.
    """
    with usage_errors():
        costs = AssuranceCosts(intervention_cost, revision_cost)
        settings = {"command": "reward assurance", **asdict(costs), "vouching": __version__}
        summary = score_rows((input, output), partial(_work, costs), _look, settings, ("S_x", "response"), resume)
    good, repaired = summary.counts["1"], summary.counts["5a"]
    raise typer.Exit(told(summary, f", {good:,} right and accepted, {repaired:,} repaired"))


def _work(costs: AssuranceCosts) -> Work:
    return partial(_line, costs)


def _line(costs: AssuranceCosts, row: Row) -> str:
    """The line of a row: its rewards, or why there are none."""
    try:
        if row.fields is None:
            raise InputError(str(row.problem))
        return json.dumps({"id": row.name, **reward_of_row(row.fields, None, costs.intervention, costs.revision)})
    except InputError as error:
        return json.dumps(
            {"id": row.name, "case": None, "rewards": None, "advantages": None, "problem": f"{row.place}: {error}"}
        )


def _look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a line."""
    if "problem" in record:
        return Seen(record["id"], problem=f"{input_name}, {record['problem']}")
    return Seen(record["id"], counts={record["case"]: 1} if "case" in record else {})
