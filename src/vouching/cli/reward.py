"""``vouch reward METHOD``: replies that a policy wrote, scored from files as training scores them.

Left out: worker processes; one core scores some ten thousand replies a second.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from vouching.cli.row_progress import show_rows, tell_rows
from vouching.cli.streams import Exit, usage_errors
from vouching.errors import InputError
from vouching.methods.structured.reward_weights import Calibration, Split, Variant, structured_weights
from vouching.rows import LookIn, RowJob
from vouching.rows.journal import Settings
from vouching.rows.read import Fields, Row
from vouching.rows.run import BatchSummary, Seen
from vouching.rows.worker import Work, WorkFactory
from vouching.version import __version__

if TYPE_CHECKING:
    from vouching.types import Reward

app = typer.Typer()

_COLUMNS = ("response",)
_Rules = Literal[Variant, "binary"]
_InputPath = Annotated[str, typer.Option("--input", metavar="ROWS", help="Rows with response and gold; - is stdin.")]
_OutputPath = Annotated[str, typer.Option("--output", metavar="REWARDS", help="A .jsonl file; - prints the lines.")]
_VariantName = Annotated[
    _Rules,
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
    work = StructuredWork(variant, split, calibration)
    settings = {
        "command": "reward structured",
        "variant": variant,
        "split": split,
        "calibration": calibration,
        "vouching": __version__,
    }
    with usage_errors():
        work()  # a wrong setting shows before any file is made
        summary = score_rows((input, output), work, _look, settings, _COLUMNS, resume)
    unread = summary.counts["unreadable"]
    raise typer.Exit(told(summary, f", {unread:,} with a reply that is no record" if unread else ""))


def score_rows(
    files: tuple[str, str], work: WorkFactory, look: LookIn, settings: Settings, columns: Sequence[str], resume: bool
) -> BatchSummary:
    """Write a line for each row: input and output, work, and what makes the lines. Raises InputError and typer.Exit."""
    return show_rows(RowJob(*files, work, look, settings, columns, resume))


@dataclass(frozen=True, slots=True)
class StructuredWork:
    """Makes the function from a row to its line.

    >>> score = StructuredWork("paper", "70/30", "on")()
    >>> score(Row(1, "line 1", {"id": "a", "response": "no JSON", "gold": "Attributable"}))[:72]
    '{"id": "a", "gold": "Attributable", "predicted": null, "total": 0.0, "pa'
    """

    variant: _Rules
    """The rules, or "binary"."""
    split: Split
    """Share of process and outcome."""
    calibration: Calibration
    """Which calibration term."""

    def __call__(self) -> Work:
        """The function. Raises InputError for a split or calibration term with the binary reward, which has none."""
        from vouching.methods.structured.reward import binary_reward, structured_reward

        if self.variant == "binary" and (self.split, self.calibration) != ("70/30", "on"):
            raise InputError("the binary reward has neither split nor calibration term: leave out both options")
        weights, variant = structured_weights(self.split, self.calibration), self.variant

        def score(fields: Fields) -> Reward:
            reply, gold = fields["response"], fields["gold"]
            if variant == "binary":
                return binary_reward(reply, gold)
            claim, source = _texts(fields) if variant == "grounded" else (None, None)
            return structured_reward(reply, gold, claim=claim, source=source, variant=variant, weights=weights)

        return partial(_line, score)


def _texts(fields: Fields) -> tuple[str, list[str]]:
    """The claim and the sources of a row. Raises InputError if one of them is missing or no text."""
    from vouching.inputs import as_sources, check_text, row_sources

    if "claim" not in fields:
        raise InputError(f'the row has the keys {[*fields]}, wanted "claim"')
    return check_text(fields["claim"], "the claim"), [source.text for source in as_sources(row_sources(fields))]


def _line(score: Callable[[Fields], Reward], row: Row) -> str:
    """The line of a row: its reward, or what is wrong with it."""
    from vouching.methods.structured.reward_reply import label_of, read_record

    try:
        if row.fields is None:
            raise InputError(str(row.problem))
        fields = row.fields
        for key in ("response", "gold"):
            if not isinstance(fields.get(key), str):
                raise InputError(f'the row has the keys {[*fields]}, wanted "{key}", a text')
        reward: Reward = score(fields)
    except InputError as error:
        return json.dumps({"id": row.name, "total": None, "parts": {}, "problem": f"{row.place}: {error}"})
    record = read_record(fields["response"])
    return json.dumps(
        {
            "id": row.name,
            **group_of(fields),
            "gold": fields["gold"],
            "predicted": label_of(record) if record is not None else None,
            "total": reward.total,
            "parts": dict(reward.parts),
        }
    )


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
