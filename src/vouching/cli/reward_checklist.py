"""``vouch reward checklist``: votes on the items of a checklist, counted from files as training counts them.

Left out: the verifier's own reward, a comparison of two values; ``vouching.methods.checklist.reward`` has it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any, cast

import typer

from vouching.cli.reward import group_of, score_rows, told
from vouching.cli.streams import usage_errors
from vouching.errors import InputError
from vouching.judging.votes import Aggregate, Votes, as_votes, judgment, vote_share
from vouching.methods.checklist.reward import (
    PAPER,
    ChecklistRules,
    check_votes,
    generator_reward,
    partition,
    replay_label,
    soft_score,
)
from vouching.rows.read import Fields, Row
from vouching.rows.run import Seen
from vouching.rows.worker import Work
from vouching.version import __version__

app = typer.Typer()

_Input = Annotated[str, typer.Option("--input", metavar="ROWS", help="Rows with votes; - is stdin.")]
_Output = Annotated[str, typer.Option("--output", metavar="REWARDS", help="A .jsonl file; - prints the lines.")]
_Tau = Annotated[float, typer.Option("--tau", metavar="T", help="Share of yes from which an item passes.")]
_TauMinus = Annotated[
    float, typer.Option("--tau-minus", metavar="T", help="Share of yes up to which an item goes to replay as a no.")
]
_Aggregate = Annotated[Aggregate, typer.Option("--aggregate", help="How the votes on an item become a judgment.")]
_Beta = Annotated[
    float, typer.Option("--beta", metavar="B", help="What the share of items passed counts if not all pass.")
]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Finish an output that was cut short.")]

_EPILOG = """
**Example**

vouch reward checklist --input votes.jsonl --output rewards.jsonl --tau 0.75 --aggregate threshold --beta 0.5

**Exit status**: 0 done; 2 the command line, the input or the output cannot be used; 3 some rows could not be used, or
the output takes no more.
"""


@app.command("checklist", epilog=_EPILOG)
def checklist_command(
    input: _Input,
    output: _Output,
    tau: _Tau = PAPER.tau,
    tau_minus: _TauMinus = PAPER.tau_minus,
    aggregate: _Aggregate = PAPER.aggregate,
    beta: _Beta = PAPER.beta,
    resume: _Resume = False,
) -> None:
    """Count votes on the items of a checklist: the generator's reward of Soft-RLVR and Soft-SVeRL, part by part.

    A row has votes, a list for each item of 1 (yes), 0 (no) and null (unclear), or is a report of vouch check. Each
    line has id, total and parts. A row whose judge failed has no total, and a problem.
    """
    with usage_errors():
        rules = ChecklistRules(tau, tau_minus, beta, aggregate)
        settings = {"command": "reward checklist", **asdict(rules), "vouching": __version__}
        summary = score_rows((input, output), partial(_work, rules), _look, settings, ("votes", "findings"), resume)
    strict = summary.counts["strict"]
    raise typer.Exit(told(summary, f", {strict:,} with every item passed"))


def _work(rules: ChecklistRules) -> Work:
    return partial(_line, rules)


def _line(rules: ChecklistRules, row: Row) -> str:
    """The line of a row: its reward, or why there is none."""
    name = row.name
    try:
        if row.fields is None:
            raise InputError(str(row.problem))
        if row.fields.get("kind") == "unverified":
            claim = cast("Mapping[str, Any]", row.fields.get("claim") or {})
            name = str(claim.get("id") or name)
            raise InputError(f"it was not judged: {row.fields.get('message')}")
        return json.dumps({"id": row.name, **group_of(row.fields), **reward_record(row.fields, rules)})
    except InputError as error:
        return json.dumps({"id": name, "total": None, "parts": {}, "problem": f"{row.place}: {error}"})


def reward_record(fields: Fields, rules: ChecklistRules = PAPER) -> dict[str, Any]:
    """Total and parts of a row: everything that Algorithm 1 makes of the votes on one response.

    Args:
        fields: ``votes``, or the ``findings`` of a report; and, if it was judged as a whole too, ``holistic``.
        rules: how votes are counted.

    Raises:
        InputError: no such field, votes that are none, or a judge that failed.

    >>> record = reward_record({"votes": [[1, 1], [1, None], [0, 0]]})
    >>> record["parts"]["p"], record["parts"]["S"], record["parts"]["replay"]
    ([1.0, 0.5, 0.0], [0, 1], [1, None, 0])
    """
    votes = check_votes(_votes_of(fields))
    shares = [vote_share(one) for one in votes]
    score = soft_score([judgment(one, rules.tau, rules.aggregate) for one in votes])
    labels = [replay_label(share, rules) for share in shares]
    reward = generator_reward(score, rules.beta)
    parts: dict[str, Any] = {
        "p": shares,
        "s": score,
        "strict": float(score == 1),
        "generator": reward,
        "S": [*partition(shares, score)],
        "replay": [None if label is None else int(label) for label in labels],
    }
    if fields.get("holistic") is not None:
        given: Any = fields["holistic"]
        whole = as_votes(cast("object", given if isinstance(given, list) else [given]), "the whole")
        parts["holistic"] = judgment(whole, rules.tau, rules.aggregate)
    return {"total": reward, "parts": parts}


def _votes_of(fields: Fields) -> list[Votes]:
    given: Any = fields.get("votes")
    if given is None and isinstance(fields.get("findings"), list):
        findings = cast("list[Mapping[str, Any] | None]", fields["findings"])
        given = [finding.get("votes") if isinstance(finding, Mapping) else finding for finding in findings]
    if not isinstance(given, list):
        raise InputError(f'the row has the keys {[*fields]}, wanted "votes", a list of votes for each item')
    return [as_votes(one, f"item {k}") for k, one in enumerate(cast("list[Any]", given))]


def _look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a line."""
    if record["total"] is None:
        return Seen(record["id"], problem=f"{input_name}, {record['problem']}")
    return Seen(record["id"], counts={"strict": int(record["parts"]["strict"])})
