"""The cases of TaxCalcBench as tasks, whole and in the parts of the paper."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import get_args

from recipes.taxes.convert import Part, main, tax_rows
from vouching.methods.assurance.task import read_work

RETURN = b"<Return><ReturnData><IRS1040><WagesAmt>50000</WagesAmt><TaxAmt>4016</TaxAmt></IRS1040></ReturnData></Return>"


def test_cases_of_taxcalcbench_become_tasks_with_gold_that_training_reads(tmp_path: Path) -> None:
    case = tmp_path / "cases/single-w2"
    case.mkdir(parents=True)
    (case / "input.json").write_text('{"input": {"return_data": {"w2": [{"wages": 50000}]}}}', encoding="utf-8")
    (case / "output.xml").write_bytes(RETURN)
    path = tmp_path / "rows.jsonl"
    assert main([str(tmp_path / "cases"), "--output", str(path)]) == 0
    row = json.loads(path.read_text("utf-8"))
    assert (row["gold"]["1a"], row["gold"]["16"], row["gold"]["37"]) == (50000, 4016, 0)
    [work] = read_work([str(path)])
    assert len(work["task"]["units"]) == 19


def test_the_parts_of_taxcalcbench_are_those_of_the_paper(tmp_path: Path) -> None:
    names = [f"case-{number}" for number in range(5)]
    for name in names:
        case = tmp_path / "cases" / name
        case.mkdir(parents=True)
        (case / "input.json").write_text('{"input": {"return_data": {"w2": [{"wages": 50000}]}}}', encoding="utf-8")
        (case / "output.xml").write_bytes(RETURN)
    split = {part: [row["id"] for row in tax_rows(tmp_path / "cases", part)] for part in get_args(Part)}
    # The authors' split: names sorted, shuffled by Random(42), 80 % of them to train on.
    order = sorted(names)
    random.Random(42).shuffle(order)
    assert ({*split["train"]}, split["test"], split["all"]) == ({*order[:4]}, order[4:], names)
