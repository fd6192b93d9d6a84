"""``vouch reward METHOD``: replies that a policy wrote, scored from files as training scores them.

Left out: worker processes; one core scores some ten thousand replies a second.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, cast

import typer

from vouching.cli.row_progress import show_rows, tell_rows
from vouching.cli.streams import Exit, usage_errors
from vouching.errors import InputError
from vouching.methods.structured.reward_weights import Calibration, Rules, Split, rules_of
from vouching.rows import LookIn, RowJob
from vouching.rows.journal import Settings
from vouching.rows.read import Fields, Row
from vouching.rows.run import BatchSummary, Seen
from vouching.rows.worker import Work, WorkFactory
from vouching.version import __version__

app = typer.Typer()

_COLUMNS = ("response",)
_InputPath = Annotated[str, typer.Option("--input", metavar="ROWS", help="Rows with response and gold; - is stdin.")]
_OutputPath = Annotated[str, typer.Option("--output", metavar="REWARDS", help="A .jsonl file; - prints the lines.")]
_VariantName = Annotated[
    Rules,
    typer.Option("--variant", help="The rules; grounded needs claim and source, binary looks at the label alone."),
]
_SplitName = Annotated[Split, typer.Option("--split", help="Shares of process and outcome in the reward.")]
_CalibrationName = Annotated[
    Calibration,
    typer.Option(
        "--calibration", help="The term for stated confidence: on, off, or symmetric, which loses as much as it wins."
    ),
]
_Resume = Annotated[bool, typer.Option("--resume", metavar="", help="Finish an output that was cut short.")]

_EPILOG = """
**Example**

vouch reward structured --input replies.jsonl --output rewards.jsonl --variant grounded

**Exit status**: 0 done; 2 the command line, the input or the output cannot be used; 3 some rows could not be used, or
the output takes no more.
"""


@app.callback(invoke_without_command=True)
def reward(context: typer.Context) -> None:
    """Score replies as training scores them."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("structured", epilog=_EPILOG)
def structured_command(
    input: _InputPath,
    output: _OutputPath,
    variant: _VariantName = "paper",
    split: _SplitName = "70/30",
    calibration: _CalibrationName = "on",
    resume: _Resume = False,
) -> None:
    """Score a verifier's written records: SEVA's process reward, part by part.

    Each line has id, group, gold, the predicted label, total and parts. A row that cannot be used has no total, and a
    problem. What a policy wrote is never a problem: a reply that cannot be read earns 0.
    """
    rules = {"variant": variant, "split": split, "calibration": calibration}
    settings = {"command": "reward structured", **rules, "vouching": __version__}
    with usage_errors():
        rules_of(variant, split, calibration)  # a wrong setting shows before any file is made
        summary = score_rows((input, output), partial(_work, rules), _look, settings, _COLUMNS, resume)
    unread = summary.counts["unreadable"]
    raise typer.Exit(told(summary, f", {unread:,} with a reply that is no record" if unread else ""))


def score_rows(
    files: tuple[str, str], work: WorkFactory, look: LookIn, settings: Settings, columns: Sequence[str], resume: bool
) -> BatchSummary:
    """Write a line for each row: input and output, work, and what makes the lines. Raises InputError and typer.Exit."""
    return show_rows(RowJob(*files, work, look, settings, columns, resume))


def _work(rules: Mapping[str, str]) -> Work:
    return partial(_line, rules)


def _line(rules: Mapping[str, Any], row: Row) -> str:
    """The line of a row: its reward, or what is wrong with it."""
    from vouching.methods.structured.reward import reward_of_row

    try:
        if row.fields is None:
            raise InputError(str(row.problem))
        reward = reward_of_row(row.fields, **rules)
    except InputError as error:
        return json.dumps({"id": row.name, "total": None, "parts": {}, "problem": f"{row.place}: {error}"})
    return json.dumps({"id": row.name, **group_of(row.fields), **reward})


def group_of(fields: Fields) -> dict[str, Any]:
    """The row's group, to be kept: replies to one prompt. Of a report of ``vouch check`` it is the question.

    >>> group_of({"group": "g", "votes": []}), group_of({"kind": "report", "question": "When?"}), group_of({})
    ({'group': 'g'}, {'group': 'When?'}, {})
    """
    group = fields.get("group")
    if group is None and fields.get("kind") == "report":
        group = fields.get("question") or None
    return {} if group is None else {"group": group}


def _look(input_name: str, record: dict[str, Any]) -> Seen:
    """What a batch needs to know about a line."""
    if record["total"] is None:
        return Seen(record["id"], problem=f"{input_name}, {record['problem']}")
    parts = cast("dict[str, float]", record["parts"])
    return Seen(record["id"], counts={"unreadable": 1} if parts.get("format") == 0 else {})


def told(summary: BatchSummary, more: str = "") -> Exit:
    """Say on standard error what became of the rows, and how the command ends."""
    tell_rows(summary, more)
    return Exit.OK if summary.complete else Exit.INCOMPLETE
