"""Readers of published formats, on samples of our own writing in ``data/``."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.bench.samples import SAMPLES, write_rows
from vouching.bench.catalog import DATA_SETS
from vouching.bench.rows import BenchRow, Fault, Split
from vouching.errors import InputError


def read(name: str, folder: Path = SAMPLES, split: Split = "test") -> tuple[list[BenchRow], list[str]]:
    """Rows and faults of a set."""
    found = [*DATA_SETS[name].rows(folder, split)]
    return [row for row in found if isinstance(row, BenchRow)], [str(one) for one in found if isinstance(one, Fault)]


def test_clearfacts_has_statements_with_one_or_more_documents() -> None:
    rows, faults = read("clearfacts")
    assert [(row.attributable, row.part) for row in rows] == [(True, "sample_a"), (False, "sample_b")]
    assert rows[0].sources == ("The bridge opened in 1973.", "It has two towers.")
    assert faults == ["clearfacts.jsonl, line 3: \"label\" must be one of 'S', 'NS', got 'AMBIG'"]


def test_ragtruth_joins_responses_with_what_they_were_made_from() -> None:
    rows, faults = read("ragtruth_published")
    assert [(row.id, row.part, row.attributable) for row in rows] == [
        ("1", "summary", False),
        ("2", "qa", True),
        ("3", "data2txt", True),
    ]
    assert all(row.is_response for row in rows)
    assert [rows[0].text[start:end] for start, end in rows[0].spans or ()] == ["1937"]
    assert rows[1].sources == ("passage 1:Add half a spoon of salt.\n\n",)
    assert rows[2].sources[0].startswith('{\n "name": "The Mill"')
    assert faults == [
        "response.jsonl, line 6: the source_id 99 is not in source_info.jsonl",
        'response.jsonl, line 7: "labels" has an invalid span, 0 to 99, in a text of 20 characters',
    ]


def test_ragtruth_keeps_to_the_split_and_to_good_responses() -> None:
    assert [row.id for row in read("ragtruth_published", split="train")[0]] == ["4"]
    assert "5" not in {row.id for row in read("ragtruth_published")[0]}


def test_fever_takes_the_named_sentences_page_by_page() -> None:
    rows, faults = read("fever")
    assert [(row.id, row.attributable) for row in rows] == [("11", True), ("12", False)]
    assert rows[0].sources == (
        "Old Bridge (Sampleton)\nThe Old Bridge ( opened 1973 ) crosses a river .\nIt is in Sampleton .",
        "Sampleton\nSampleton is a town .",
    )
    assert faults == [
        "paper_test.jsonl, line 4: the evidence cites the page 'Nowhere', which no page file contains",
        'paper_test.jsonl, line 5: "evidence" must contain sets of [annotation id, evidence id, page, sentence number]',
    ]


def fever_with(tmp_path: Path, evidence: object, page: str = "Beyonce\u0301") -> tuple[list[BenchRow], list[str]]:
    """What is read of one FEVER claim with this evidence; the page has its accent as a mark of its own (NFD)."""
    claim = {"id": 1, "label": "SUPPORTS", "claim": "Beyoncé sings.", "evidence": evidence}
    write_rows(tmp_path / "fever" / "paper_test.jsonl", [claim])
    write_rows(tmp_path / "fever" / "wiki-pages" / "wiki-001.jsonl", [{"id": page, "lines": "0\tShe sings .\n1\t"}])
    return read("fever", tmp_path)


def test_fever_finds_pages_whatever_their_normal_form(tmp_path: Path) -> None:
    rows, faults = fever_with(tmp_path, [[[1, 1, "Beyonc\u00e9", 0]]])
    assert faults == []
    assert rows[0].sources == ("Beyonc\u00e9\nShe sings .",)
    assert fever_with(tmp_path, [[[1, 1, "Beyonce\u0301", 0]]], page="Beyonc\u00e9")[1] == []


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ([5], '"evidence" must contain sets of [annotation id, evidence id, page, sentence number]'),
        ([[5]], '"evidence" must contain sets of [annotation id, evidence id, page, sentence number]'),
        ([[[1, 1, "Beyoncé", 7]]], "the evidence cites sentences that the page 'Beyoncé' does not contain: 7"),
        ([[[1, 1, "Beyoncé", 0], [1, 2, "Beyoncé", 1]]], "sentences that the page 'Beyoncé' does not contain: 1"),
    ],
)
def test_fever_evidence_that_leads_nowhere_is_a_fault(tmp_path: Path, evidence: object, said: str) -> None:
    rows, faults = fever_with(tmp_path, evidence)
    assert rows == []
    assert len(faults) == 1
    assert said in faults[0]


def test_fever_has_a_fault_and_no_end_where_a_named_page_is_empty(tmp_path: Path) -> None:
    claim = {"id": 1, "label": "SUPPORTS", "claim": "It is.", "evidence": [[[1, 1, "Void", 0]]]}
    write_rows(tmp_path / "fever" / "paper_test.jsonl", [claim])
    write_rows(tmp_path / "fever" / "wiki-pages" / "wiki-001.jsonl", [{"id": "Void", "text": "", "lines": ""}])
    assert read("fever", tmp_path)[1] == [
        "paper_test.jsonl, line 1: the evidence cites sentences that the page 'Void' does not contain: 0"
    ]


def test_halueval_gives_both_versions_of_each_pair() -> None:
    rows, faults = read("halueval")
    assert faults == []
    assert len(rows) == 6
    right, wrong = (row for row in rows if row.part == "qa")
    assert (right.text, right.attributable) == ("When did the bridge open? 1973", True)
    assert (wrong.text, wrong.attributable) == ("When did the bridge open? It opened in 1937.", False)
    assert right.pair == wrong.pair
    assert (right.preferred, wrong.preferred) == (True, False)


def test_anli_counts_only_entailment_as_attributable() -> None:
    rows, _ = read("anli")
    assert [(row.id, row.part, row.attributable) for row in rows] == [
        ("a-1", "R1", True),
        ("a-2", "R1", False),
        ("a-3", "R3", False),
    ]


def test_facts_grounding_judges_the_answers_that_lie_beside_it() -> None:
    rows, faults = read("facts_grounding")
    assert [(row.sources, row.attributable) for row in rows] == [
        (("The bridge opened in 1973.\nIt has two towers.",), None)
    ]
    assert faults == [
        "responses.jsonl, line 2: unknown id '9'; expected the number of a row of examples.csv, counted from 1"
    ]


def test_llm_aggrefact_is_read_from_parquet(tmp_path: Path) -> None:
    columns = {
        "dataset": ["sample_a", "sample_b"],
        "doc": ["The bridge opened in 1973."] * 2,
        "claim": ["It opened in 1973.", "It opened in 1937."],
        "label": [1, 0],
        "contamination_identifier": ["x", "x"],
    }
    for number in (0, 1):
        path = tmp_path / "llm_aggrefact" / f"test-0000{number}-of-00002.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(columns), path)
    rows, faults = read("llm_aggrefact", tmp_path)
    assert faults == []
    assert [(row.part, row.attributable) for row in rows] == [("sample_a", True), ("sample_b", False)] * 2
    assert len({row.id for row in rows}) == 4


def test_contextual_judge_bench_has_preferences_and_no_labels(tmp_path: Path) -> None:
    columns = {
        "question": ["When did it open?"],
        "context": ["The bridge opened in 1973."],
        "positive_response": ["It opened in 1973."],
        "negative_response": ["It opened in 1937."],
        "question_id": ["q-1"],
    }
    path = tmp_path / "contextual_judge_bench" / "faithfulness_qa-00000-of-00001.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table(columns), path)
    rows, faults = read("contextual_judge_bench", tmp_path)
    assert faults == []
    assert [(row.part, row.attributable, row.preferred) for row in rows] == [
        ("faithfulness_qa", None, True),
        ("faithfulness_qa", None, False),
    ]


PUBLISHED = (
    "anli",
    "clearfacts",
    "contextual_judge_bench",
    "facts_grounding",
    "fever",
    "halueval",
    "llm_aggrefact",
    "ragtruth_published",
)


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_set_that_is_not_here_says_how_to_get_it(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"{name} is missing: .* to get it, .*(huggingface|github|fever|zip)"):
        [*DATA_SETS[name].rows(tmp_path, "test")]
