"""Questions with paragraphs, in the three layouts in which they are passed on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from recipes.bench.answer_task import AnswersTask
from recipes.bench.multihop import FILES, corpus, multihop_rows, recall
from recipes.bench.sets import ANSWERS
from tests.bench.samples import write_rows
from vouching.bench.multihop import MultihopRow, multihop_row
from vouching.bench.rows import Fault
from vouching.bench.run import validate
from vouching.errors import InputError

BY_SENTENCES = {
    "_id": "a",
    "question": "Who built  the mill of Oslo?",
    "answer": "Ada",
    "supporting_facts": [["Mill", 1], ["Oslo", 0], ["Mill", 0]],
    "context": [["Mill", ["The mill stands.", " Ada built it."]], ["Oslo", ["Oslo has a mill."]], ["Rome", ["Rome."]]],
}
BY_PARAGRAPHS = {
    "id": "b",
    "question": "Who built the mill?",
    "answer": "Ada",
    "answer_aliases": ["Ada L."],
    "paragraphs": [
        {"title": "Mill", "paragraph_text": "The mill stands.  Ada built it.", "is_supporting": True},
        {"title": "Rome", "paragraph_text": "Rome.", "is_supporting": False},
    ],
}
BY_CONTEXTS = {
    "id": "c",
    "question": "Who else?",
    "answers": [{"number": "", "spans": ["Ada", "Bob"]}],
    "contexts": BY_PARAGRAPHS["paragraphs"],
}


def test_a_paragraph_has_one_id_in_every_layout() -> None:
    rows = [multihop_row(record) for record in (BY_SENTENCES, BY_PARAGRAPHS, BY_CONTEXTS)]
    assert [source.text for source in corpus(rows)] == ["The mill stands. Ada built it.", "Oslo has a mill.", "Rome."]
    assert [len(row.supporting) for row in rows] == [2, 1, 1]
    assert rows[1].supporting == rows[2].supporting < rows[0].supporting


def test_answers_come_with_other_ways_to_put_them() -> None:
    rows = [multihop_row(record) for record in (BY_SENTENCES, BY_PARAGRAPHS, BY_CONTEXTS)]
    assert [row.answers for row in rows] == [("Ada",), ("Ada", "Ada L."), ("Ada", "Bob")]
    assert rows[0].question == "Who built the mill of Oslo?"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"context": []}, "the supporting paragraph 'Mill' is not among the row's paragraphs"),
        ({"context": [], "supporting_facts": []}, "the row has no paragraphs"),
        ({"supporting_facts": []}, "no paragraph of the row is marked as supporting"),
        ({"supporting_facts": ["Mill"]}, "the paragraphs or answers of the row have an unknown layout"),
        ({"answers": [{}]}, 'have an unknown layout: it lacks "spans"'),
        ({"answers": []}, "the row has no answer"),
        ({"question": " "}, '"question" must not be empty'),
    ],
)
def test_a_question_that_cannot_be_used_says_why(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        multihop_row(BY_SENTENCES | change)


def test_questions_that_cannot_be_used_are_faults_and_the_others_go_on(tmp_path: Path) -> None:
    rows = [BY_SENTENCES, {"id": "x", "answer": "Ada"}, BY_SENTENCES]
    write_rows(tmp_path / "multihop" / "2wiki_train500.jsonl.gz", rows)
    assert [str(fault) for fault in validate(ANSWERS["2wiki"], tmp_path, "train", AnswersTask)] == [
        "2wiki_train500.jsonl.gz, line 2: the row has no paragraphs",
        "row a: 2 rows have this id, expected one",
        "row a: another row has the same question",
    ]


def test_a_part_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="musique has no dev split with paragraphs; available splits: train, test"):
        [*multihop_rows(tmp_path, "musique", "dev")]
    with pytest.raises(InputError, match=r"missing file .*hotpotqa_dev\.jsonl\.gz: save the .* rows of hotpotqa there"):
        [*multihop_rows(tmp_path, "hotpotqa", "dev")]


def test_recall_counts_supporting_paragraphs_only() -> None:
    row = multihop_row(BY_SENTENCES)
    mill, oslo, rome = (source.id for source in row.passages)
    assert [recall(row, found) for found in ([], [rome], [mill, rome], [oslo, mill])] == [0, 0, 0.5, 1]


@pytest.mark.skipif(not os.environ.get("VOUCH_DATA"), reason="VOUCH_DATA does not name the folder of data sets")
def test_the_real_files_are_sound_but_for_the_36_questions_that_come_without_paragraphs() -> None:
    folder = Path(os.environ["VOUCH_DATA"])
    if not (folder / "multihop").is_dir():
        pytest.skip("multihop is not in VOUCH_DATA")
    faults = {(name, split): [*validate(ANSWERS[name], folder, split, AnswersTask)] for name, split in FILES}
    assert {part: len(found) for part, found in faults.items() if found} == {("2wiki", "test"): 36}
    assert {fault.problem for fault in faults["2wiki", "test"]} == {"the row has no paragraphs"}
    rows = [row for part in FILES for row in multihop_rows(folder, *part)]
    usable = [row for row in rows if isinstance(row, MultihopRow)]
    # 700 training questions, 500 of dev, 600 of test; every one but the 36 can be used.
    assert (len(rows), len([row for row in rows if isinstance(row, Fault)]), len(usable)) == (1800, 36, 1764)
    assert len(corpus(usable)) == 16_832
