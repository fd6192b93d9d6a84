"""Writes the cases of TaxCalcBench as tasks with their right values, to train the assurance game on.

python recipes/taxes/convert.py taxcalcbench/ty24/test_data --part train --output train.jsonl
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.taxes.taxcalcbench import LINES, TaxCase, read_case, split_cases
from vouching.cli.streams import Exit
from vouching.errors import InputError, VouchError
from vouching.rows import write_lines

Part: TypeAlias = Literal["train", "test", "all"]
"""A part of the cases, as DPA-GRPO splits them."""


def tax_rows(folder: Path, part: Part = "all") -> Iterator[dict[str, Any]]:
    """The cases of TaxCalcBench as tasks with their right values. Raises InputError for an invalid case.

    DPA-GRPO trains on the part "train" (80 %) and reports on the part "test".
    """
    cases = sorted(path.parent for path in folder.glob("*/output.xml"))
    if not cases:
        raise InputError(
            f"{folder} has no NAME/input.json and NAME/output.xml: pass the folder of TaxCalcBench's cases"
        )
    chosen = split_cases([case.name for case in cases])[part == "test"]
    yield from (tax_row(read_case(case)) for case in cases if part == "all" or case.name in chosen)


def tax_row(case: TaxCase) -> dict[str, Any]:
    """A case as a task of nineteen lines; its rules are words, since the set has none that can be computed."""
    units = [
        {
            "id": line.id,
            "type": "amount",
            "description": line.description,
            "rules": ["form"],
            "depends_on": [*line.depends_on],
        }
        for line in LINES
    ]
    rules = [{"id": "form", "text": "The line follows the instructions of Form 1040 for 2024, in whole dollars."}]
    task = {
        "task": case.name,
        "description": "Form 1040 of 2024, line by line.",
        "data": dict(case.record),
        "rules": rules,
        "units": units,
    }
    return {"id": case.name, "task": task, "gold": {line.id: int(case.expected[line.id]) for line in LINES}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tasks; 0, or 2 for a folder or a file that cannot be used."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder of TaxCalcBench's cases")
    parser.add_argument("--part", choices=("train", "test", "all"), default="all", help="part, split as in DPA-GRPO")
    parser.add_argument("--output", type=Path, required=True, metavar="PATH", help="file for the tasks: .jsonl")
    given = parser.parse_args(arguments)
    try:
        write_lines(given.output, tax_rows(given.folder, given.part))
    except VouchError as error:
        print(error, file=sys.stderr)
        return Exit.USAGE
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
