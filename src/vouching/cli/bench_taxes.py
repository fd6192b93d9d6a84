"""``vouch bench run taxcalcbench --responses FILE``: how right answers to returns are, line by line and whole.

Left out: two such runs compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vouching.cli.streams import Exit, draw, progress, usage_errors, write_error
from vouching.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console


def run_taxes_command(names: list[str], responses: str | None, out: Path) -> Exit:
    """Score the answers, write the folder and print the figures."""
    from vouching.bench.catalog import data_folder
    from vouching.bench.taxcalcbench import NAME
    from vouching.bench.taxcalcbench_run import run_taxes

    with usage_errors():
        if names != [NAME]:
            raise InputError(f"got {' '.join(names)}, but {NAME} has responses of its own: run it alone")
        if responses is None:
            raise InputError(f"{NAME} scores answers that are there: add --responses FILE, rows of id, response")
        try:
            with progress("Scoring"):
                results = run_taxes(data_folder(), responses, out)
        except OSError as error:
            write_error(f"cannot write to {out}: {error.strerror or error}; name another folder")
            return Exit.INCOMPLETE
    draw(lambda console: _paint(console, results, out))
    data = results["data"]
    if data["answered"] < data["cases"] or data["unreadable"]:
        write_error(
            f"cases without an answer: {data['cases'] - data['answered']:,} of {data['cases']:,}; cases that cannot be "
            f"read: {data['unreadable']:,}; the figures leave them out"
        )
        return Exit.INCOMPLETE
    return Exit.OK


def _paint(console: Console, results: dict[str, Any], out: Path) -> None:
    from rich.table import Column, Table

    attempts = results["data"]["attempts"]
    headings = ("cases", "returns", "within $5", "lines", "within $5", f"pass^{attempts}")
    columns = (Column(name, justify="right") for name in headings)
    table = Table("part", *columns, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for part, score in results["scores"].items():
        strict, lenient = score["strict"], score["lenient"]
        figures = (strict["returns"], lenient["returns"], strict["lines"], lenient["lines"], strict["pass_power"])
        table.add_row(part, str(score["cases"]), *(f"{figure:.3f}" for figure in figures))
    console.print(table)
    console.print("Returns: all nineteen lines right, pass@1. Train and test are the split of the DPA-GRPO paper.")
    console.print(f"\nAll figures: {out / 'results.json'}; case by case: {out / 'rows'}")
