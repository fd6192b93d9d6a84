"""``vouch reward blinded``: answers of blind checkers, counted from files as training counts them.

Left out: asking the checkers; ``vouch check --method blinded`` does that, and its reports are rows here.
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
from vouching.judging.matching import Match
from vouching.methods.blinded.reward import PAPER, AskedPair, BlindedRules, Scale, blinded_reward, report_reward
from vouching.rows.read import Fields, Row
from vouching.rows.run import Seen
from vouching.rows.worker import Work
from vouching.types import Report, Reward, Unverified
from vouching.types.serial import from_json
from vouching.version import __version__

app = typer.Typer()

_Input = Annotated[str, typer.Option("--input", metavar="ROWS", help="Rows with pairs and num_numbers; - is stdin.")]
_Output = Annotated[str, typer.Option("--output", metavar="REWARDS", help="A .jsonl file; - prints the lines.")]
_Match = Annotated[
    Match, typer.Option("--match", help="How answers are compared: with units, or as the released code does.")
]
_Scale = Annotated[
    Scale, typer.Option("--scale", help="All or nothing on either scale, or the paper's or the released error rate.")
]
_MinQuestions = Annotated[
    int,
    typer.Option(
        "--min-questions", metavar="K", min=0, help="Questions due, if there are as many numbers; 0 for none."
    ),
]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Finish an output that was cut short.")]

_EPILOG = """
**Example**

vouch reward blinded --input audits.jsonl --output rewards.jsonl --match units --scale -1/0 --min-questions 3

**Exit status**: 0 done; 2 the command line, the input or the output cannot be used; 3 some rows could not be used, or
the output takes no more.
"""


@app.command("blinded", epilog=_EPILOG)
def blinded_command(
    input: _Input,
    output: _Output,
    match: _Match = PAPER.match,
    scale: _Scale = PAPER.scale,
    min_questions: _MinQuestions = PAPER.min_questions,
    resume: _Resume = False,
) -> None:
    """Count the answers of blind checkers: MARCH's zero-tolerance reward or its error rate, part by part.

    A row has num_numbers and pairs, each with question, answer and checked: one answer per checker, null for "cannot
    answer"; or it is a report of vouch check --method blinded. Each line has id, total and parts.
    """
    with usage_errors():
        rules = BlindedRules(scale, match, min_questions)
        settings = {"command": "reward blinded", **asdict(rules), "vouching": __version__}
        work = partial(_work, rules)
        summary = score_rows((input, output), work, _look, settings, ("pairs", "findings"), resume)
    raise typer.Exit(told(summary, f", {summary.counts['clean']:,} without a fault"))


def _work(rules: BlindedRules) -> Work:
    return partial(_line, rules)


def _line(rules: BlindedRules, row: Row) -> str:
    """The line of a row: its reward, or why there is none."""
    try:
        if row.fields is None:
            raise InputError(str(row.problem))
        if row.fields.get("kind") == "unverified":  # vouch check could not use the row
            raise InputError(f"its audit failed: {row.fields.get('message')}")
        reward = row_reward(row.fields, rules)
        return json.dumps({"id": row.name, **group_of(row.fields), "total": reward.total, "parts": dict(reward.parts)})
    except InputError as error:
        return json.dumps({"id": row.name, "total": None, "parts": {}, "problem": f"{row.place}: {error}"})


def row_reward(fields: Fields, rules: BlindedRules = PAPER) -> Reward:
    """The reward of a row.

    Args:
        fields: ``pairs`` and ``num_numbers``, or those of a report.
        rules: scale, comparison and k.

    Raises:
        InputError: a field is missing or of another kind, or a judge failed, which is no reward.

    >>> pairs = [{"question": "How many towers?", "answer": "2", "checked": ["two", None, "2"]}]
    >>> row_reward({"pairs": pairs, "num_numbers": 1}).total
    0.0
    """
    if fields.get("pairs") is None and fields.get("kind") == "report":
        outcome = report_reward(from_json(Report, json.dumps(fields)), rules)
    else:
        pairs, numbers = fields.get("pairs"), fields.get("num_numbers")
        if not isinstance(pairs, list):
            raise InputError(f'the row has the keys {[*fields]}, wanted "pairs", a list of questions with answers')
        if not isinstance(numbers, int) or isinstance(numbers, bool):
            raise InputError(f'its "num_numbers" is {numbers!r:.60}, wanted the count of numbers in the response')
        read = [_pair(one, number) for number, one in enumerate(cast("list[Any]", pairs), 1)]
        outcome = blinded_reward(read, numbers, rules)
    if isinstance(outcome, Unverified):
        raise InputError(f"its judge failed ({outcome.reason}: {outcome.message}): a failure is no reward")
    return outcome


def _pair(given: Any, number: int) -> AskedPair:
    if not isinstance(given, Mapping):
        raise InputError(f"question {number} is {given!r:.60}, wanted question, answer and checked")
    pair = cast("Mapping[str, Any]", given)
    for key in ("question", "answer"):
        if not isinstance(pair.get(key), str):
            raise InputError(f'question {number} has the keys {[*pair]}, wanted "{key}", a text')
    checked: Any = pair.get("checked")
    if not isinstance(checked, list) or not all(
        one is None or isinstance(one, str) for one in cast("list[Any]", checked)
    ):
        raise InputError(f'question {number} has {checked!r:.60} as "checked", wanted a list of texts and nulls')
    return AskedPair(pair["question"], pair["answer"], tuple(cast("list[str | None]", checked)))


def _look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a line."""
    if record["total"] is None:
        return Seen(record["id"], problem=f"{input_name}, {record['problem']}")
    parts = record["parts"]
    return Seen(record["id"], counts={"clean": int(parts["questions"] == parts["matches"] and not parts["missing"])})
