"""``vouch bench run ifeval --responses FILE``: how far responses follow their instructions, at IFEval's four levels.

Left out: two such runs compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vouching.cli.streams import Exit, draw, progress, usage_errors, write_error
from vouching.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console


def run_ifeval_command(names: list[str], responses: str | None, out: Path) -> Exit:
    """Check the responses, write the folder and print the figures."""
    from vouching.bench.catalog import data_folder
    from vouching.bench.ifeval import NAME, run_ifeval

    with usage_errors():
        if names != [NAME]:
            raise InputError(f"got {' '.join(names)}, but {NAME} has responses of its own: run it alone")
        if responses is None:
            raise InputError(f"{NAME} judges responses that are there: add --responses FILE, rows of prompt, response")
        try:
            with progress("Checking"):
                results = run_ifeval(data_folder(), responses, out)
        except OSError as error:
            write_error(f"cannot write to {out}: {error.strerror or error}; name another folder")
            return Exit.INCOMPLETE
    draw(lambda console: _paint(console, results, out))
    answered, prompts = results["data"]["answered"], results["data"]["prompts"]
    if answered < prompts:
        write_error(f"prompts without a response: {prompts - answered:,} of {prompts:,}; the figures leave them out")
        return Exit.INCOMPLETE
    return Exit.OK


def _paint(console: Console, results: dict[str, Any], out: Path) -> None:
    from rich.table import Column, Table

    from vouching.bench.report import interval_words

    plain: dict[str, Any] = {"box": None, "pad_edge": False, "padding": (0, 2, 0, 0)}
    levels = Table("level", "followed [95 %]", **plain)
    for name, figure in results["levels"].items():
        levels.add_row(name, interval_words(figure))
    rules = Table("rule", *(Column(name, justify="right") for name in ("required", "strict", "loose")), **plain)
    for name, counts in results["rules"].items():
        rules.add_row(name, *(str(counts[key]) for key in ("required", "strict", "loose")))
    console.print(levels, "", rules, sep="\n")
    console.print(f"\nAll figures: {out / 'results.json'}; row by row: {out / 'rows'}")
