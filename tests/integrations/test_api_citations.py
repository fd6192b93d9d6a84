"""Answers with citations as objects of the vendors' clients: checked, written back, and read by the client again.

The blocks have the types, the order and the fields of the vendors' published examples, with texts of their own.
"""

from __future__ import annotations

from typing import Any

import pytest

from vouching import Checker, with_verdicts

CHECKER = Checker("embedded:rules")
SOURCES = [
    {"text": "The grass is yellow. The sky has 2 suns.", "id": "weather.txt", "title": "Weather"},
    {"text": "The survey counted 1,204 frogs in June.", "id": "frogs.pdf"},
    {"text": "Ada Moor was born on 3 April 1916 in Tarnby.", "id": "moor", "url": "https://people.org/wiki/Ada_Moor"},
]
BIRTH = "Ada Moor was born on 3 April 1916 in Tarnby."
FROGS = "The survey counted 1,204 frogs in June."


def written_back(given: Any) -> tuple[Any, list[str]]:
    """The answer with its verdicts, and the outcomes of its citations."""
    report = CHECKER.check_response(given, SOURCES)
    return with_verdicts(given, report), [citation.outcome for citation in report.citations]


def annotation(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


def file_at(index: int, name: str = "frogs.pdf") -> dict[str, Any]:
    return annotation("file_citation", index=index, file_id="file-2dt", filename=name)


FILE_SEARCH = [
    {"id": "fs_1", "type": "file_search_call", "status": "completed", "queries": ["frogs"], "results": None},
    {
        "id": "msg_1",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [
            {
                "type": "output_text",
                "text": f"{FROGS} The grass is yellow.",
                "annotations": [file_at(38), file_at(59), file_at(59, "weather.txt")],
            }
        ],
    },
]
WEB_SEARCH = [
    {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "Ada Moor", "queries": ["Ada Moor"]},
    },
    {
        "id": "msg_2",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [
            {
                "type": "output_text",
                "text": BIRTH,
                "annotations": [
                    annotation(
                        "url_citation",
                        start_index=0,
                        end_index=43,
                        url="https://people.org/wiki/Ada_Moor",
                        title="Ada Moor",
                    )
                ],
            }
        ],
    },
]
CONTAINER = [
    {
        "id": "msg_3",
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [
            {
                "type": "output_text",
                "text": f"{FROGS} The table is at sandbox:/mnt/data/frogs.csv.",
                "annotations": [
                    annotation(
                        "container_file_citation",
                        container_id="cntr_1",
                        file_id="cfile_1",
                        filename="frogs.pdf",
                        start_index=0,
                        end_index=39,
                    ),
                    annotation("file_path", file_id="cfile_2", index=61),
                ],
            }
        ],
    },
]


@pytest.mark.parametrize(
    ("output", "outcomes"),
    [
        (FILE_SEARCH, ["supports", "other_source", "supports"]),
        (WEB_SEARCH, ["supports"]),
        (CONTAINER, ["supports"]),  # the path of a file that the model made cites nothing
    ],
    ids=["file_citation", "url_citation", "container_file_citation"],
)
def test_a_response_of_openai_keeps_its_annotations(output: list[dict[str, Any]], outcomes: list[str]) -> None:
    responses = pytest.importorskip("openai.types.responses", reason="the package openai is not installed")
    plain = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1.0,
        "model": "tiny",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    given = responses.Response.model_validate(plain)
    written, found = written_back(given)
    assert found == outcomes
    again = responses.Response.model_validate(written)
    assert again.output_text == given.output_text
    [kept] = [part.annotations for item in again.output if item.type == "message" for part in item.content]
    cited = [one for one in kept if one.type != "file_path"]
    assert [one.vouch["outcome"] for one in cited] == outcomes
    assert [type(one) for one in kept] == [type(one) for one in given.output[-1].content[0].annotations]


def test_a_chat_completion_of_openai_keeps_its_annotations() -> None:
    chat = pytest.importorskip("openai.types.chat", reason="the package openai is not installed")
    cited = {"start_index": 0, "end_index": 43, "url": "https://people.org/wiki/Ada_Moor", "title": "Ada Moor"}
    plain = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "content": BIRTH,
                    "refusal": None,
                    "annotations": [annotation("url_citation", url_citation=cited)],
                },
            }
        ],
    }
    written, outcomes = written_back(chat.ChatCompletion.model_validate(plain))
    again = chat.ChatCompletion.model_validate(written)
    [kept] = again.choices[0].message.annotations
    assert (outcomes, kept.vouch["outcome"], kept.url_citation.title) == (["supports"], "supports", "Ada Moor")


def said(text: str, *citations: dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": text, "citations": [*citations] or None}


def document(kind: str, quoted: str, number: int, **place: int) -> dict[str, Any]:
    return annotation(
        kind, cited_text=quoted, document_index=number, document_title="A document", file_id=None, **place
    )


def searched(quoted: str, source: str, number: int) -> dict[str, Any]:
    return annotation(
        "search_result_location",
        cited_text=quoted,
        source=source,
        title="A result",
        search_result_index=number,
        start_block_index=0,
        end_block_index=1,
    )


DOCUMENTS = [
    said("According to the document, "),
    said(
        "the grass is yellow",
        document("char_location", "The grass is yellow.", 0, start_char_index=0, end_char_index=20),
    ),
    said(" and "),
    said(
        "the sky has 3 suns",
        document("char_location", "The sky has 2 suns.", 0, start_char_index=21, end_char_index=40),
    ),
    said(". Also, "),
    said(
        "the survey counted 1,204 frogs in June",
        document("page_location", FROGS, 1, start_page_number=5, end_page_number=6),
        document("content_block_location", "Four frogs.", 1, start_block_index=0, end_block_index=1),
    ),
    said("."),
]
RESULTS = [
    said("The survey counted 1,204 frogs in June.", searched(FROGS, "frogs.pdf", 1)),
    said(" The sky has 2 suns.", searched(FROGS, "frogs.pdf", 1)),
]
WEB = [
    said("I'll search for it."),
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Ada Moor"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": [
            {
                "type": "web_search_result",
                "url": "https://people.org/wiki/Ada_Moor",
                "title": "Ada Moor",
                "encrypted_content": "Eq",
                "page_age": "April 30, 2025",
            }
        ],
    },
    said(
        BIRTH,
        annotation(
            "web_search_result_location",
            cited_text=BIRTH,
            url="https://people.org/wiki/Ada_Moor",
            title="Ada Moor",
            encrypted_index="Eo",
        ),
    ),
]


@pytest.mark.parametrize(
    ("content", "outcomes"),
    [
        (DOCUMENTS, ["supports", "no_source", "supports", "not_in_source"]),
        (RESULTS, ["supports", "other_source"]),
        (WEB, ["supports"]),
    ],
    ids=["documents", "search results", "web search"],
)
def test_a_message_of_anthropic_keeps_its_citations(content: list[dict[str, Any]], outcomes: list[str]) -> None:
    types = pytest.importorskip("anthropic.types", reason="the package anthropic is not installed")
    plain = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "tiny",
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    given = types.Message.model_validate(plain)
    written, found = written_back(given)
    assert found == outcomes
    again = types.Message.model_validate(written)
    kept = [one for block in again.content if block.type == "text" for one in block.citations or []]
    assert [one.vouch["outcome"] for one in kept] == outcomes
    before = [one for block in given.content if block.type == "text" for one in block.citations or []]
    assert [type(one) for one in kept] == [type(one) for one in before]
