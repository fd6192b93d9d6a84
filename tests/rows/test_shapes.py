"""Rows that other tools wrote are read as rows of ours; see tests/data/formats for the versions that wrote them."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.checker import Checker
from vouching.errors import InputError
from vouching.inputs import as_sources, labelled_row
from vouching.rows import Row, open_rows
from vouching.rows.shapes import SHAPES, as_row, shape_of
from vouching.types import Report, Unverified

FORMATS = Path(__file__).parents[1] / "data" / "formats"
QUESTION = "When did the bridge open?"
ANSWER = "The bridge opened in 1973. It has 3 towers."
TEXTS = ["The bridge opened to traffic in 1973.", "The bridge has two towers."]
FILES = {
    "ragas.jsonl": "ragas",
    "ragas.csv": "ragas",
    "ragas.parquet": "ragas",
    "ragas_old.jsonl": "ragas (before 0.2)",
    "deepeval.json": "DeepEval",
    "deepeval.csv": "DeepEval",
    "deepeval_run.json": "DeepEval",
    "trulens.json": "TruLens",
    "trulens.csv": "TruLens",
    "promptfoo.json": "promptfoo",
    "promptfoo.jsonl": "promptfoo",
    "openai.jsonl": "OpenAI chat",
    "openai_evals.jsonl": "OpenAI Evals, rows",
    "openai_evals.json": "OpenAI Evals, results",
    "lettucedetect.json": "LettuceDetect",
    "minicheck.jsonl": "MiniCheck / LLM-AggreFact",
}


def rows(name: str) -> list[dict[str, Any]]:
    with open_rows(str(FORMATS / name)) as reader:
        return [row.fields or {} for row in reader]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_a_tool_is_recognised_and_every_row_can_be_checked(name: str) -> None:
    found = rows(name)
    assert found
    for fields in found:
        shape = shape_of(fields)
        assert shape is not None
        assert shape.name == FILES[name]
        judged = Checker("embedded:rules").check_row(fields)
        assert not isinstance(judged, Unverified)


@pytest.mark.parametrize("name", sorted({*FILES} - {"minicheck.jsonl", "lettucedetect.json"}))
def test_answer_question_and_passages_arrive_unchanged(name: str) -> None:
    for fields in rows(name):
        row = as_row(fields, strict=True)
        assert (row["question"], row["response"]) == (QUESTION, ANSWER)
        assert "\n".join(source.text for source in as_sources(row["sources"])) == "\n".join(TEXTS)


def test_every_shape_has_a_file() -> None:
    assert {*FILES.values()} == {shape.name for shape in SHAPES}


def test_a_wrong_number_of_a_ragas_sample_is_found() -> None:
    [row] = rows("ragas.csv")
    report = Checker("embedded:rules").check_row(row)
    assert isinstance(report, Report)
    assert [getattr(finding, "label", None) for finding in report.findings] == ["Attributable", "Not Attributable"]


def test_minicheck_labels_become_ours_also_where_claims_are_labelled() -> None:
    assert [as_row(row)["label"] for row in rows("minicheck.jsonl")] == ["Attributable", "Not Attributable"]
    [first, second] = [labelled_row(Row(1, "line 1", row)) for row in rows("minicheck.jsonl")]
    assert (first.gold, second.gold) == ("Attributable", "Not Attributable")
    # CSV has numbers as text, Parquet sometimes as floats
    for written in ("0", 0.0, False):
        assert as_row({"doc": "d", "claim": "c", "label": written})["label"] == "Not Attributable"
    with pytest.raises(InputError, match=r'"label" must be Attributable .* got 2'):
        as_row({"doc": "d", "claim": "c", "label": 2})


def test_the_spans_of_lettucedetect_mark_the_answer() -> None:
    old, new = [as_row(row) for row in rows("lettucedetect.json")]  # without and with the context by itself
    for row in (old, new):
        [span] = row["spans"]
        assert row["response"][span["start"] : span["end"]] == "It has 3 towers."
        assert row["label"] == "Not Attributable"
    assert old["source"] == f"User request: {QUESTION}\n\n{new['source']}"
    assert (new["source"], new["question"]) == ("\n".join(TEXTS), QUESTION)
    assert as_row({"prompt": "p", "answer": "a", "labels": []})["label"] == "Attributable"


@pytest.mark.parametrize("name", [*json.loads((FORMATS / "documents.json").read_text())])
def test_documents_of_other_libraries_are_sources_as_json_and_as_objects(name: str) -> None:
    document = json.loads((FORMATS / "documents.json").read_text())[name]
    objects = json.loads(json.dumps(document), object_hook=lambda one: SimpleNamespace(**one))
    for key in ("metadata", "meta"):
        for one in (objects, getattr(objects, "node", None)):
            if hasattr(one, key):
                setattr(one, key, vars(getattr(one, key)))
    for given_document in (document, objects):
        [source] = as_sources([given_document])
        assert (source.text, source.id) == (TEXTS[0], "bridge.pdf#page=3")


def test_a_document_without_a_file_keeps_its_own_id_and_title() -> None:
    [source] = as_sources({"content": "It rained.", "meta": {"title": "Weather"}, "id": "d7"})
    assert (source.id, source.title) == ("d7", "Weather")


def test_an_unknown_row_says_what_it_has_and_what_the_nearest_format_needs() -> None:
    with pytest.raises(
        InputError, match=r"the row has user_input and response; the nearest is ragas, which also needs"
    ):
        as_row({"user_input": "When?", "response": "In 1973."}, strict=True)
    with pytest.raises(InputError, match="the row has no fields; the nearest is vouching"):
        as_row({}, strict=True)


_PARTS = st.recursive(
    st.none() | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["role", "content", "text", "rets"]), inner),
    max_leaves=8,
)
_FIELDS = "claim response answer question messages calls context doc vars labels".split()


@given(st.dictionaries(st.sampled_from(_FIELDS), _PARTS))
def test_any_row_is_converted_or_refused_with_a_reason(fields: dict[str, Any]) -> None:
    row: dict[str, Any] = {"claim": "refused"}
    with suppress(InputError):
        row = as_row(dict(fields), strict=True)
    assert {"claim", "response"} & {*row}


def test_a_row_of_ours_is_never_taken_for_another_tool_s() -> None:
    ours = {"claim": "c", "sources": ["s"], "doc": "another text", "label": "Attributable"}
    assert as_row(ours) is ours


def test_json_files_hold_a_list_a_container_or_one_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    row = {"claim": "c", "source": "s"}
    for value, count in (([row, row], 2), ({"data": [row]}, 1), (row, 1), ([row, 3], 2)):
        path.write_text(json.dumps(value), encoding="utf-8")
        with open_rows(str(path)) as reader:
            found = [*reader]
        assert len(found) == count
    assert found[1].problem == "got a number, expected an object"
    path.write_text('{"a": 1}\n{"a": 2}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"rows with a line for each go to a file that ends in \.jsonl"):
        list(open_rows(str(path)))
    path.write_text("3", encoding="utf-8")
    with pytest.raises(InputError, match="has a number, expected a list of objects, or an object"):
        list(open_rows(str(path)))
