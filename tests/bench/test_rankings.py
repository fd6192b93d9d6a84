"""Sets of answers to be ranked: how their rows are read, which are refused, and that the published ones are sound."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.bench.ranking_samples import question_row, write_biographies, write_fgveribench
from tests.bench.samples import write_rows
from vouching.bench.catalog import DATA_SETS
from vouching.bench.rankings import PARTS, RankingRow
from vouching.bench.rows import Fault
from vouching.bench.run import validate

DATA = Path(os.environ.get("VOUCH_DATA", "no such folder"))
needs_data = pytest.mark.skipif(not (DATA / "fgveribench").is_dir(), reason="VOUCH_DATA has no fgveribench")


def read(folder: Path, name: str = "fgveribench") -> list[RankingRow]:
    rows = [*DATA_SETS[name].rows(folder, "test")]
    assert not any(isinstance(row, Fault) for row in rows)
    return [row for row in rows if isinstance(row, RankingRow)]


def faults(folder: Path, name: str = "fgveribench") -> list[str]:
    return [str(fault) for fault in validate(DATA_SETS[name], folder, "test")]


def test_each_file_is_a_part_and_irrelevant_counts_as_intermediate(tmp_path: Path) -> None:
    rows = read(write_fgveribench(tmp_path))
    assert [row.part for row in rows] == [part for part in PARTS for _ in range(2)]
    # The second question's answers stand as refusal, wrong year, right year; its refusal is called irrelevant.
    assert rows[1].labels == ("intermediate", "incorrect", "correct")
    assert rows[1].worth == (2.0, 1.0, 3.0)
    assert faults(tmp_path) == []


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"ranking": [1, 1, 2]}, "the ranking must contain each number from 1 to 3 once"),
        ({"ranking": [1, 2]}, "the ranking must contain each number from 1 to 3 once"),
        ({"ranking": [3, 2, 1]}, "contradicts the labels"),
        ({"answers": question_row(0)["answers"][:2]}, "expected answers labelled correct, intermediate and incorrect"),
        ({"answers": [{"text": "x", "label": "wrong"}] * 3}, "unknown label 'wrong'"),
        ({"answers": ["1937"]}, "an answer must be an object with its text"),
        ({"question": None}, '"question" is null: expected a string'),
    ],
)
def test_a_row_that_is_not_as_it_should_be_is_told_with_its_place(
    changed: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    write_fgveribench(tmp_path)
    write_rows(tmp_path / "fgveribench" / "nq.jsonl.gz", [question_row(3), {**question_row(0), **changed}])
    [fault] = faults(tmp_path)
    assert fault.startswith("nq.jsonl.gz, line 2: ")
    assert problem in fault


def test_an_id_that_occurs_twice_is_told(tmp_path: Path) -> None:
    write_fgveribench(tmp_path)
    write_rows(tmp_path / "fgveribench" / "nq.jsonl.gz", [question_row(0)] * 2)
    assert faults(tmp_path) == ["row nq-0: 2 rows have this id, expected one"]


def test_biographies_come_with_the_facts_that_are_about_their_subject(tmp_path: Path) -> None:
    [ada] = read(write_biographies(tmp_path), "fgveribench_long")  # an answer on Bob is empty, so he is left out
    assert ada.question == "Tell me a bio of Ada."
    assert ada.worth == (1.0, 2.0)
    assert ada.facts == (("Ada was a queen.",), ("Ada built a mill.", "Ada sang."))
    assert faults(tmp_path, "fgveribench_long") == []


def test_a_ranking_that_contradicts_the_shares_of_facts_is_told(tmp_path: Path) -> None:
    path = write_biographies(tmp_path) / "fgveribench" / "factscore.jsonl.gz"
    answers = [
        {"answer": "Ada sang.", "factuality_score": 1.0},
        {"answer": "Ada was a queen.", "factuality_score": 0.2},
    ]
    write_rows(path, [{"question": "Who was Ada?", "answers": answers, "verify_result": [2, 1]}])
    assert "the ranking [2, 1] contradicts the factuality scores [1.0, 0.2]" in faults(tmp_path, "fgveribench_long")[0]


def test_answers_of_ones_own_need_a_reference_and_no_ranking(tmp_path: Path) -> None:
    row = {"id": "a", "question": "When?", "reference": ["1973"], "answers": ["1937", "1973"]}
    write_rows(tmp_path / "best_of_n" / "mine.jsonl", [row, {**row, "id": "b", "answers": ["1937"]}])
    assert faults(tmp_path, "best_of_n") == [
        "mine.jsonl, line 2: expected at least two answers to choose from, got one"
    ]


@needs_data
def test_fgveribench_is_sound_and_as_large_as_published() -> None:
    # DiVA, Table 1; 615 of the 1,679 rows have an irrelevant answer in place of an intermediate one.
    sizes = {"nq": 203, "triviaqa": 372, "popqa": 365, "hotpotqa": 287, "musique": 154, "2wiki": 298}
    assert Counter(row.part for row in read(DATA)) == sizes
    assert faults(DATA) == []


@needs_data
def test_the_biographies_are_sound_and_one_of_160_is_left_out() -> None:
    rows = read(DATA, "fgveribench_long")
    assert len(rows) == 159
    # Of the 477 biographies 25 state nothing about their subject that people could label; most of them abstain.
    assert sum(bool(facts) for row in rows for facts in row.facts) == 452
    assert faults(DATA, "fgveribench_long") == []
