"""``vouch diagnose``: what rewards say about themselves, and what every diagnosis shares.

Left out: reading a file that does not fit into memory; a diagnosis compares all rows of a group.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer

from vouching.cli.files import STDIN
from vouching.cli.row_progress import MOST_NAMED
from vouching.cli.streams import Exit, draw, progress, usage_errors, write_error, write_result
from vouching.errors import InputError
from vouching.methods.structured.reward_weights import Equal, Variant, equal_by_label
from vouching.rows.read import Row, open_rows

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.methods.structured.diagnostics import ScoredReply
    from vouching.report.reward_diagnosis import Table
    from vouching.types import Label

app = typer.Typer()

MOST_OF_A_NUMBER = 40
"""Letters of a cell that stands to the right, as numbers do."""
_COLUMNS = ("total",)
_File = Annotated[str, typer.Argument(help="Rewards, as vouch reward writes them, each with its group; - is stdin.")]
_VariantName = Annotated[
    Variant, typer.Option("--variant", help="The rules whose exact ranges to show beside the rows.")
]
_EqualName = Annotated[
    Equal | None,
    typer.Option("--equal", help="First give the part diagnosis one range, or mean, under both gold labels."),
]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON in place of tables.")]
_Report = Annotated[Path | None, typer.Option("--report", metavar="PATH", help="Also write a page with charts.")]

_EPILOG = """
**Example**

vouch diagnose rewards rewards.jsonl --report rewards.html

**Exit status**: 0 done; 2 the command line or the file cannot be used; 3 some rows could not be used.
"""


@app.callback(invoke_without_command=True)
def diagnose(context: typer.Context) -> None:
    """Find out what is wrong with rewards or with a verifier, and how much."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("rewards", epilog=_EPILOG)
def rewards_command(
    file: _File,
    variant: _VariantName = "paper",
    equal: _EqualName = None,
    as_json: _Json = False,
    report: _Report = None,
) -> None:
    """Tell how much the rewards differ inside groups, which part makes them differ, and which label they favour.

    Rows have id, group, total and parts; gold and predicted labels are used if they are there.
    """
    from vouching.methods.structured.diagnostics import diagnose as diagnosed
    from vouching.report.reward_diagnosis import tables_of

    with usage_errors():
        if report is not None:
            from vouching.report.skeleton import page_target

            page_target(report)
        with progress("Reading"):
            rows, broken = _read(file)
            rows = _equal(rows, equal) if equal else rows
            diagnosis = diagnosed(rows, variant)
        if report is not None:
            from vouching.report.reward_diagnosis import write_diagnosis

            write_diagnosis(report, "standard input" if file == STDIN else Path(file).name, diagnosis, rows)
    if as_json:
        write_result(json.dumps(defined(asdict(diagnosis)), indent=2 if sys.stdout.isatty() else None) + "\n")
    else:
        draw_tables(tables_of(diagnosis))
    end_with(broken)


def draw_tables(tables: Iterable[Table]) -> None:
    """Print tables with their headings."""

    def paint(console: Console) -> None:
        from rich.table import Table

        for table in tables:
            console.print(table.heading, style="bold")
            drawn = Table(box=None, show_header=any(table.head))
            for number, name in enumerate(table.head):
                words = number == 0 or any(len(row[number]) > MOST_OF_A_NUMBER for row in table.rows)
                drawn.add_column(name, justify="left" if words else "right", overflow="fold")
            for row in table.rows:
                drawn.add_row(*row)
            console.print(drawn)
            console.print()

    draw(paint)


def end_with(broken: int) -> NoReturn:
    """End a command that left out so many rows."""
    if broken:
        write_error(f"{broken:,} row{'s' * (broken != 1)} cannot be used and {'are' if broken != 1 else 'is'} left out")
    raise typer.Exit(Exit.INCOMPLETE if broken else Exit.OK)


def _read(file: str) -> tuple[list[ScoredReply], int]:
    """The rows, and how many cannot be used; the first of these are named."""
    rows: list[ScoredReply] = []
    broken = 0
    with open_rows(file, _COLUMNS) as reader:
        for row in reader:
            try:
                rows.append(_reply(row))
            except InputError as error:
                broken += 1
                if broken <= MOST_NAMED:
                    write_error(f"{reader.name}, {row.place}: {error}")
    return rows, broken


def _equal(rows: list[ScoredReply], by: Equal) -> list[ScoredReply]:
    """The rows with their diagnosis on one scale. Raises InputError for rows without a gold label or that part."""
    golds: list[Label] = [row.gold for row in rows if row.gold is not None]
    if len(golds) < len(rows):
        raise InputError(
            f"{len(rows) - len(golds):,} rows have no gold label, wanted one to put the diagnosis on a scale"
        )
    made = equal_by_label([row.reward for row in rows], golds, by)
    return [replace(row, reward=reward) for row, reward in zip(rows, made, strict=True)]


def _reply(row: Row) -> ScoredReply:
    """A row as a rewarded reply. Raises InputError if it is none."""
    from vouching.methods.structured.diagnostics import ScoredReply
    from vouching.types import Reward

    if row.fields is None:
        raise InputError(str(row.problem))
    fields = row.fields
    total, given = _number(fields.get("total")), fields.get("parts")
    if "total" not in fields:
        raise InputError(f'the row has the keys {[*fields]}, wanted "total": make rewards with vouch reward')
    if total is None:
        raise InputError(f"its total is {fields.get('total')!r}, wanted a number")
    if given is not None and not isinstance(given, dict):
        raise InputError(f"its parts are {given!r:.80}, wanted numbers by name")
    parts: dict[str, float] = {}
    for name, value in cast("dict[str, Any]", given or {}).items():
        if isinstance(value, list):
            continue  # a number for each item, such as the votes behind a checklist's reward, is no part of a sum
        part = _number(value)
        if part is None:
            raise InputError(f"its part {name!r} is {value!r:.80}, wanted a number")
        parts[name] = part
    if fields.get("group") is None:
        raise InputError(f'the row has the keys {[*fields]}, wanted "group", the same for all replies to one prompt')
    for key in ("gold", "predicted"):
        if fields.get(key) not in (None, "Attributable", "Not Attributable"):
            raise InputError(f"its {key} is {fields[key]!r}, wanted Attributable or Not Attributable")
    reward = Reward(total, parts)
    return ScoredReply(row.name, str(fields["group"]), reward, fields.get("gold"), fields.get("predicted"))


def _number(value: object) -> float | None:
    """A finite number as it is, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def defined(value: Any) -> Any:
    """The same with null for what is undefined or without end, which JSON has no number for.

    >>> defined({"deviation": float("nan"), "groups": (3, float("inf"))})
    {'deviation': None, 'groups': [3, None]}
    """
    if isinstance(value, dict):
        return {key: defined(member) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [defined(member) for member in cast("list[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
