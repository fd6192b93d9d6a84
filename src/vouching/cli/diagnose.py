"""``vouch diagnose``: find problems in rewards.

Not supported: files that do not fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vouching.cli.streams import MAX_NAMED, Exit, draw, progress, usage_errors, write_error, write_json
from vouching.methods.structured.reward_scale import Equal
from vouching.rows import STDIN

if TYPE_CHECKING:
    from rich.console import Console

    from vouching.report.reward_diagnosis import Table

app = typer.Typer()

_MAX_NUMBER = 40
"""Maximum length of a right-aligned cell."""
_File = Annotated[
    str, typer.Argument(help="Rewards from vouch reward, for any method except assurance; - is standard input.")
]
_Equal = Annotated[
    Equal | None,
    typer.Option(
        "--equal",
        help='First rescale the "diagnosis" part of the reward to the same range, or mean, for both gold labels.',
    ),
]
_Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON instead of tables.")]
_Report = Annotated[
    Path | None,
    typer.Option("--report", metavar="PATH", help="Also write a page with charts: .html."),
]
_EPILOG = """
**Example**

vouch diagnose rewards rewards.jsonl --report rewards.html

**Exit status**: 0 done; 2 invalid command line or file; 3 some rows could not be used.
"""


@app.callback(invoke_without_command=True)
def diagnose(context: typer.Context) -> None:
    """Find problems in rewards and training runs, and measure them."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("rewards", epilog=_EPILOG)
def rewards_command(
    file: _File,
    equal: _Equal = None,
    as_json: _Json = False,
    report: _Report = None,
) -> None:
    """Show how much rewards differ within groups, which part makes them differ, and which label they favor.

    Rows have id, group, total and parts, or the totals of a ranking, which is one group; gold and predicted labels are
    used if present.
    """
    from vouching.methods.structured.diagnostics import diagnose as diagnosed
    from vouching.report.reward_diagnosis import equal_rewards, read_rewards, tables_of, write_diagnosis
    from vouching.report.skeleton import page_target

    with usage_errors():
        if report is not None:
            page_target(report)
        with progress("Reading"):
            rows, problems = read_rewards(file)
            report_problems(problems)
            rows = equal_rewards(rows, equal) if equal else rows
            diagnosis = diagnosed(rows)
        if report is not None:
            write_diagnosis(report, _title(file), diagnosis, rows)
    _print(asdict(diagnosis), tables_of(diagnosis), as_json)
    raise typer.Exit(end_of(problems))


def _title(file: str) -> str:
    return "standard input" if file == STDIN else Path(file).name


def report_problems(problems: Sequence[str]) -> None:
    """Report the first rows that cannot be used."""
    for problem in problems[:MAX_NAMED]:
        write_error(problem)


def _print(record: dict[str, Any], tables: Iterable[Table], as_json: bool) -> None:
    if as_json:
        write_json(record)
    else:
        draw_tables(tables)


def draw_tables(tables: Iterable[Table]) -> None:
    """Print tables with their headings."""

    def paint(console: Console) -> None:
        from rich.table import Table

        for table in tables:
            console.print(table.heading, style="bold")
            drawn = Table(box=None, show_header=any(table.head))
            for number, name in enumerate(table.head):
                words = number == 0 or any(len(row[number]) > _MAX_NUMBER for row in table.rows)
                drawn.add_column(name, justify="left" if words else "right", overflow="fold")
            for row in table.rows:
                drawn.add_row(*row)
            console.print(drawn)
            console.print()

    draw(paint)


def end_of(problems: Sequence[str]) -> Exit:
    """The exit status for rows that were excluded, after reporting how many."""
    if broken := len(problems):
        write_error(f"{broken:,} row{'s' * (broken != 1)} cannot be used and {'are' if broken != 1 else 'is'} excluded")
    return Exit.INCOMPLETE if problems else Exit.OK
