"""A sound set has no faults; each kind of damage is found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.bench.samples import claim_rows, data_folder
from vouching.bench.catalog import DATA_SETS
from vouching.bench.catalog import data_folder as named_folder
from vouching.bench.claims import ClaimsTask
from vouching.bench.rows import BenchRow, Split
from vouching.bench.run import validate


def faults(folder: Path, name: str, split: Split = "test") -> list[str]:
    return [str(fault) for fault in validate(DATA_SETS[name], folder, split)]


def test_a_sound_set_has_no_faults(tmp_path: Path) -> None:
    folder = data_folder(tmp_path, wice=claim_rows())
    assert faults(folder, "wice") == []
    assert faults(folder, "anli") == []
    assert faults(folder, "halueval") == []


def test_a_set_of_answers_alone_is_sound_by_the_share_judged_attributable(tmp_path: Path) -> None:
    folder = data_folder(tmp_path)
    # The sample's second line names no example; without it, nothing is wrong.
    answers = folder / "facts_grounding" / "responses.jsonl"
    answers.write_text(answers.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert faults(folder, "facts_grounding") == []


def test_a_row_without_a_label_and_an_id_that_occurs_twice_are_told_with_their_place(tmp_path: Path) -> None:
    first, second, *rest = claim_rows()
    folder = data_folder(tmp_path, wice=[{**first, "label": None}, {**second, "id": rest[0]["id"]}, *rest])
    assert faults(folder, "wice") == [
        "wice.jsonl.gz, line 1: \"label\" is null: expected one of 'Attributable', 'Not Attributable'",
        "row bridge-2: 2 rows have this id, expected one",
    ]


def test_a_set_whose_format_changed_has_a_fault_in_every_row(tmp_path: Path) -> None:
    renamed: list[dict[str, Any]] = [{"id": row["id"], "hypothesis": row["claim"]} for row in claim_rows(3)]
    told = faults(data_folder(tmp_path, wice=renamed), "wice")
    assert len(told) == 3
    assert told[0] == 'wice.jsonl.gz, line 1: the row has no "claim"; its keys are id, hypothesis'


def test_a_set_of_halves_of_pairs_cannot_be_measured() -> None:
    row = BenchRow("a", "It opened.", ("It opened.",), None, pair="p", preferred=True)
    assert [str(fault) for fault in ClaimsTask.validate(DATA_SETS["wice"], [row])] == [
        "the whole set: no metric is defined, because there are neither labels nor complete pairs"
    ]


@pytest.mark.skipif(not os.environ.get("VOUCH_DATA"), reason="VOUCH_DATA does not name a folder with the data sets")
@pytest.mark.parametrize("name", ["bump", "ragtruth", "seva_v3", "wice", "wice_spans"])
def test_the_real_test_sets_are_sound(name: str) -> None:
    assert faults(named_folder(), name) == []
