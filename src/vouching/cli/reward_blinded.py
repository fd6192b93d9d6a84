"""``vouch reward blinded``: answers of blind checkers, counted from files as training counts them.

Left out: asking the checkers; ``vouch check --method blinded`` does that, and its reports are rows here.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

import typer

from vouching.cli.reward import group_of, score_rows, told
from vouching.cli.streams import usage_errors
from vouching.errors import InputError
from vouching.judging.matching import Match
from vouching.methods.blinded.reward import PAPER, BlindedRules, Scale, reward_of_row
from vouching.rows.read import Row
from vouching.rows.run import Seen
from vouching.rows.worker import Work
from vouching.version import __version__

app = typer.Typer()

_Input = Annotated[str, typer.Option("--input", metavar="ROWS", help="Rows with response and pairs; - is stdin.")]
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
_MinNumbers = Annotated[
    int, typer.Option("--min-numbers", metavar="N", min=0, help="Numbers that a response must state; 0 for none.")
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
    min_numbers: _MinNumbers = PAPER.min_numbers,
    resume: _Resume = False,
) -> None:
    """Count the answers of blind checkers: MARCH's zero-tolerance reward or its error rate, part by part.

    A row has response and pairs, each with question, answer and checked: one answer per checker, null for "cannot
    answer"; or it is a report of vouch check --method blinded. Each line has id, total and parts.
    """
    with usage_errors():
        rules = BlindedRules(scale, match, min_questions, min_numbers)
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
        return json.dumps({"id": row.name, **group_of(row.fields), **reward_of_row(row.fields, **asdict(rules))})
    except InputError as error:
        return json.dumps({"id": row.name, "total": None, "parts": {}, "problem": f"{row.place}: {error}"})


def _look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a line."""
    if record["total"] is None:
        return Seen(record["id"], problem=f"{input_name}, {record['problem']}")
    parts = record["parts"]
    return Seen(record["id"], counts={"clean": int(parts["questions"] == parts["matches"] and not parts["missing"])})
