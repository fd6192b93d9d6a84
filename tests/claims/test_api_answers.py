"""Answers with citations in the documented fields of the APIs, in and out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vouching import Checker, InputError, Report, with_verdicts
from vouching.claims import read_answer

CHECKER = Checker("embedded:rules")
SOURCES = [
    {"text": "The bridge opened in 1973. The bridge has two towers.", "id": "bridge.txt", "title": "Bridge"},
    {"text": "The toll is 4 euros.", "id": "toll.txt"},
    {"text": "The bridge is 900 m long.", "id": "web", "url": "https://bridge.org/length"},
]
DOCUMENT = {"document_index": 0, "document_title": None, "file_id": None}


def block(text: str, **citation: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, "citations": [citation] if citation else None}


BLOCKS = [
    {"type": "thinking", "thinking": "Which year?", "signature": "s"},
    block(
        "The bridge opened in 1973.",
        **DOCUMENT,
        type="char_location",
        cited_text="The bridge opened in 1973.",
        start_char_index=0,
        end_char_index=26,
    ),
    block(
        " The bridge has two towers",
        **DOCUMENT,
        type="page_location",
        cited_text="The bridge has 3 towers.",
        start_page_number=1,
        end_page_number=2,
    ),
    block(" and "),
    block(
        "the toll is 4 euros",
        type="search_result_location",
        cited_text="The toll is 4 euros.",
        source="toll.txt",
        title="Toll",
        search_result_index=1,
        start_block_index=0,
        end_block_index=1,
    ),
    block("."),
    block(
        " The bridge is 900 m long.",
        type="web_search_result_location",
        cited_text="The bridge is 900 m long.",
        url="https://bridge.org/length?utm_source=x",
        title="L",
        encrypted_index="e",
    ),
    block(
        " The toll is 5 euros.",
        type="content_block_location",
        cited_text="The toll is 4 euros.",
        document_index=1,
        document_title=None,
        start_block_index=0,
        end_block_index=1,
    ),
    block(
        " The bridge is red.",
        type="web_search_result_location",
        cited_text="Red.",
        url="https://other.org",
        title="O",
        encrypted_index="e",
    ),
]
TEXT = (
    "The bridge is 900 m long ([bridge.org](https://bridge.org/length?utm_source=openai)). The toll is 4 euros. "
    "The toll is 4 euros."
)
ANNOTATIONS = [
    {"type": "url_citation", "start_index": 25, "end_index": 84, "url": "https://bridge.org/length", "title": "L"},
    {"type": "file_citation", "file_id": "file-1", "filename": "toll.txt", "index": 106},
    {
        "type": "container_file_citation",
        "container_id": "c",
        "file_id": "file-2",
        "filename": "bridge.txt",
        "start_index": 107,
        "end_index": 127,
    },
]
MESSAGE = {
    "type": "message",
    "role": "assistant",
    "content": [
        {"type": "output_text", "text": TEXT, "annotations": ANNOTATIONS},
    ],
}


ANSWERS: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"role": "assistant", "content": BLOCKS},
        ["supports", "not_in_source", "supports", "supports", "no_source", "unknown_source"],
    ),
    ({"output": [{"type": "reasoning", "summary": []}, MESSAGE]}, ["supports", "supports", "other_source"]),
    (
        {
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": TEXT,
                        "annotations": [{"type": "url_citation", "url_citation": ANNOTATIONS[0]}],
                    }
                }
            ]
        },
        ["supports"],
    ),
]


@pytest.mark.parametrize(("answer", "outcomes"), ANSWERS)
def test_each_citation_has_its_own_outcome_and_is_written_back(answer: dict[str, Any], outcomes: list[str]) -> None:
    before = json.dumps(answer)
    for given in (answer, before):
        report = CHECKER.check_response(given, SOURCES)
        assert [citation.outcome for citation in report.citations] == outcomes
        written = json.dumps(with_verdicts(given, report))
        assert [written.count(f'"outcome": "{one}"') for one in set(outcomes)] == [
            outcomes.count(one) for one in set(outcomes)
        ]
    assert json.dumps(answer) == before


@pytest.mark.parametrize(
    ("quoted", "outcome"),
    [
        ("The tol is 4 euros, paid at the gate.", "supports"),  # another spelling
        ("The toll is 14 euros, paid at the gate.", "not_in_source"),  # another number
    ],
)
def test_a_quotation_with_another_number_is_not_in_the_source(quoted: str, outcome: str) -> None:
    cited = {"type": "char_location", "cited_text": quoted, "document_index": 0}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "The toll is 4 euros.", "citations": [cited]}]}
    [found] = CHECKER.check_response(answer, ["The toll is 4 euros, paid at the gate."]).citations
    assert found.outcome == outcome


def test_a_citation_of_the_wrong_source_is_a_warning_at_the_claim() -> None:
    found = CHECKER.check_response(MESSAGE, SOURCES).findings[2]
    assert "misattributed" in [warning.kind for warning in found.warnings]


def test_no_source_supports_a_claim_that_fails_beside_the_other_sources() -> None:
    sources = [
        {"text": "The ferry Aurora sails from Molde at 07:40. It carries 86 cars.", "id": "aurora.txt"},
        {"text": "The ferry Borealis sails from Vestnes at 08:05. It carries 64 cars.", "id": "borealis.txt"},
    ]
    cited = {"type": "file_citation", "index": 27, "file_id": "f", "filename": "aurora.txt"}
    part = {"type": "output_text", "text": "The Aurora carries 96 cars.", "annotations": [cited]}
    report = Checker().check_response({"type": "message", "role": "assistant", "content": [part]}, sources)
    assert (report.findings[0].passed, [one.outcome for one in report.citations]) == (False, ["no_source"])


def test_rows_have_answers_with_citations_and_the_cited_texts_are_sources_where_there_are_none() -> None:
    row = {"response": {"role": "assistant", "content": BLOCKS[:2]}, "sources": SOURCES}
    judged = CHECKER.check_row(row)
    assert isinstance(judged, Report)
    assert judged.citations[0].outcome == "supports"
    report = CHECKER.check_response(BLOCKS[:2])
    assert [source.text for source in report.sources] == ["The bridge opened in 1973."]


RESULTS: list[dict[str, Any]] = [
    {"type": "mcp_tool_result", "tool_use_id": "m", "content": [{"type": "text", "text": "It is 5 km."}]},
    {"type": "code_execution_tool_result", "content": {"type": "view_result", "content": "It is 5 km."}},
    {"type": "function_call_output", "output": [{"type": "output_text", "text": "It is 5 km."}]},
    {"type": "compaction", "content": "It is 5 km."},
]


@pytest.mark.parametrize("block", RESULTS)
def test_what_a_tool_returned_is_not_read_as_the_answer(block: dict[str, Any]) -> None:
    said = {"type": "text", "text": "It is 6 km."}
    assert read_answer({"role": "assistant", "content": [block, said]}).text == "It is 6 km."
    assert (
        read_answer({"output": [block, {"type": "message", "role": "assistant", "content": [said]}]}).text
        == said["text"]
    )


def test_json_without_citations_is_an_answer_in_json() -> None:
    text = json.dumps({"content": "It opened.", "year": 1973})
    assert read_answer(text).text == text


NO_TEXT: list[object] = [None, 7, {}, {"content": [{"type": "image"}]}, [[[[[[[]]]]]]]]


@pytest.mark.parametrize("given", NO_TEXT)
def test_what_has_no_text_is_refused(given: object) -> None:
    with pytest.raises(InputError, match="must be a string, or an answer of the APIs"):
        read_answer(given)
