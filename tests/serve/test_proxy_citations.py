"""Answers with citations through the guard proxy: each citation is checked, in whole answers and in streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import openai
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from tests.serve.test_proxy_streams import ASKED, made, sent, verdict
from tests.serve.upstream import Upstream, proxy_before, upstream_server
from vouching.serve.events import data_of
from vouching.serve.proxy_streams import held_responses, stream_after

DOCUMENTS = [
    {"doc_id": "bridge.txt", "text": "The bridge opened in 1973. It has two towers."},
    {"doc_id": "toll.txt", "text": "The toll is 4 euros.", "url": "https://toll.org/"},
]
TEXT = "The bridge opened in 1973. The toll is 4 euros."
ANNOTATIONS = [
    {"type": "file_citation", "file_id": "f1", "filename": "bridge.txt", "index": 25},
    {
        "type": "container_file_citation",
        "container_id": "c",
        "file_id": "f1",
        "filename": "bridge.txt",
        "start_index": 27,
        "end_index": 47,
    },
    {"type": "url_citation", "url": "https://toll.org", "title": "Toll", "start_index": 27, "end_index": 47},
]
PATIENCE = 300.0
"""Seconds for a check: on a busy machine, the process of the first one takes long to start."""
OUTCOMES = ["supports", "other_source", "supports"]
"""The second annotation cites the bridge for the toll, which only toll.txt has."""


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with upstream_server() as server:
        yield server


def message(text: str = TEXT, annotations: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": ANNOTATIONS if annotations is None else annotations}
    return {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}


def response(*items: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "tiny",
        "status": "completed",
        "output": [*items],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }


def outcomes(vouch: dict[str, Any]) -> list[list[str]]:
    return [[citation["outcome"] for citation in answer["citations"]] for answer in vouch["answers"]]


def test_the_annotations_of_a_response_and_of_a_chat_completion_are_checked(upstream: Upstream) -> None:
    cited = [{"type": "url_citation", "url_citation": {key: ANNOTATIONS[2][key] for key in ANNOTATIONS[2]}}]
    said = {"role": "assistant", "content": TEXT, "annotations": cited}
    chat = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "tiny",
        "choices": [{"index": 0, "message": said, "finish_reason": "stop"}],
    }
    with proxy_before(upstream.url, check_seconds=PATIENCE) as url:
        client = openai.OpenAI(base_url=url, api_key="k", max_retries=0)
        upstream.status, upstream.raw = 200, json.dumps(response(message())).encode()
        answer: Any = client.responses.create(model="tiny", input="Hm?", extra_body={"documents": DOCUMENTS})
        assert outcomes(answer.vouch) == [OUTCOMES]
        assert answer.output[0].content[0].annotations[0].filename == "bridge.txt"
        upstream.raw = json.dumps(chat).encode()
        answer = client.chat.completions.create(
            model="tiny", messages=[{"role": "user", "content": "Hm?"}], extra_body={"documents": DOCUMENTS}
        )
        assert outcomes(answer.vouch) == [["supports"]]


def test_what_a_file_search_of_the_server_found_is_a_document_of_the_answer(upstream: Upstream) -> None:
    found = {
        "type": "file_search_call",
        "id": "fs",
        "status": "completed",
        "queries": ["toll"],
        "results": [
            {"file_id": f"f{n}", "filename": one["doc_id"], "text": one["text"], "score": 0.9}
            for n, one in enumerate(DOCUMENTS)
        ],
    }
    upstream.raw = json.dumps(response(found, message(annotations=ANNOTATIONS[:2]))).encode()
    cases: list[tuple[tuple[str, ...], str, list[list[str]]]] = [
        (("tool",), "bridge.txt, toll.txt", [OUTCOMES[:2]]),
        (("system",), "none", [[]]),
    ]
    for documents, named, expected in cases:
        with proxy_before(upstream.url, check_seconds=PATIENCE, documents=documents) as url:
            answered = httpx2.post(f"{url}/responses", json={"model": "tiny", "input": "Hm?"}, timeout=60)
        assert answered.headers["x-vouch-documents"] == named
        assert outcomes(answered.json()["vouch"]) == expected


def block(text: str, **citation: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, "citations": [citation] if citation else None}


def quoted(number: int, text: str) -> dict[str, Any]:
    return {
        "type": "char_location",
        "document_index": number,
        "document_title": None,
        "cited_text": text,
        "start_char_index": 0,
        "end_char_index": len(text),
        "file_id": None,
    }


BLOCKS = [
    block("The bridge opened in 1973", **quoted(0, "The bridge opened in 1973.")),
    block(". "),
    block("The toll is 5 euros.", **quoted(1, "The toll is 4 euros.")),
]
REQUEST = {
    "model": "tiny",
    "max_tokens": 9,
    "system": "The café is open. It has 3 tables.",
    "messages": [
        {
            "role": "user",
            "content": [
                *(
                    {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": one["text"]},
                        "citations": {"enabled": True},
                    }
                    for one in DOCUMENTS
                ),
                {"type": "text", "text": "When did it open?"},
            ],
        }
    ],
}


@pytest.mark.parametrize(
    ("action", "text", "stop"),
    [
        ("annotate", "The bridge opened in 1973. The toll is 5 euros.", "end_turn"),
        ("repair", "The bridge opened in 1973. The toll is 4 euros.", "end_turn"),
        ("block", "No.", "refusal"),
    ],
)
def test_the_blocks_of_a_message_are_one_text_and_number_the_documents(
    upstream: Upstream, action: Any, text: str, stop: str
) -> None:
    thought = {"type": "thinking", "thinking": "Is it 5 euros?", "signature": "s"}
    body = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "tiny",
        "content": [thought, *BLOCKS],
        "stop_reason": "end_turn",
    }
    upstream.raw = json.dumps(body).encode()
    with proxy_before(upstream.url, check_seconds=PATIENCE, action=action, blocked_text="No.") as url:
        answered = httpx2.post(f"{url}/messages", json=REQUEST, timeout=60).json()
    assert outcomes(answered["vouch"]) == [["supports", "no_source"]]
    assert "".join(one.get("text", "") for one in answered["content"]) == text
    assert (answered["content"][0], answered["stop_reason"]) == (thought, stop)


def test_without_documents_the_cited_texts_of_a_message_are_checked_against(upstream: Upstream) -> None:
    cited = {"type": "web_search_result_location", "url": "https://toll.org", "title": "T", "encrypted_index": "e"}
    blocks = [block("The toll is 5 euros.", **cited, cited_text="The toll is 4 euros.")]
    upstream.raw = json.dumps({"type": "message", "role": "assistant", "content": blocks}).encode()
    with proxy_before(upstream.url, check_seconds=PATIENCE) as url:
        asked = {"model": "tiny", "messages": [{"role": "user", "content": "What is the toll?"}]}
        answered = httpx2.post(f"{url}/messages", json=asked, timeout=60).json()
    assert (answered["vouch"]["outcome"], outcomes(answered["vouch"])) == ("failed", [["no_source"]])


RESPONSE_EVENTS = [
    sent({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": TEXT}),
    *(
        sent(
            {"type": "response.output_text.annotation.added", "output_index": 0, "content_index": 0, "annotation": one}
        )
        for one in (
            {"type": "file_citation", "file_id": "f", "filename": "source-1", "index": 25},
            {"type": "file_citation", "file_id": "f", "filename": "fare.txt", "index": 46},
        )
    ),
    sent({"type": "response.completed", "response": response()}),
]


@pytest.mark.parametrize("make", [stream_after, held_responses])
def test_the_annotations_of_a_streamed_response_are_checked(make: Any) -> None:
    more = {"chat": False} if make is stream_after else {}
    events = made(lambda chunks, guard: make(chunks, guard, ASKED, **more), RESPONSE_EVENTS, check_seconds=PATIENCE)
    assert outcomes(verdict(events)) == [["supports", "unknown_source"]]


MESSAGE_EVENTS = [
    sent({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "content": []}}),
    *(
        sent(event)
        for number, text in enumerate(["The bridge opened", " in 1937."])
        for event in (
            {"type": "content_block_start", "index": number, "content_block": {"type": "text", "text": ""}},
            {
                "type": "content_block_delta",
                "index": number,
                "delta": {"type": "citations_delta", "citation": quoted(0, "The bridge opened in 1973.")},
            },
            {"type": "content_block_delta", "index": number, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": number},
        )
    ),
    sent({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}}),
    sent({"type": "message_stop"}),
]


@pytest.mark.parametrize(
    ("settings", "text", "stop", "citations"),
    [
        ({}, "The bridge opened in 1937.", "end_turn", 2),
        ({"stream": "held", "action": "repair"}, "The bridge opened in 1973.", "end_turn", 0),
        ({"stream": "held", "action": "block"}, "No.", "refusal", 0),
    ],
)
def test_a_streamed_message_is_one_text_and_its_last_delta_has_the_verdict(
    settings: dict[str, Any], text: str, stop: str, citations: int
) -> None:
    if settings:
        events = made(
            lambda chunks, guard: held_responses(chunks, guard, ASKED),
            MESSAGE_EVENTS,
            check_seconds=PATIENCE,
            **settings,
        )
    else:
        events = made(
            lambda chunks, guard: stream_after(chunks, guard, ASKED, False), MESSAGE_EVENTS, check_seconds=PATIENCE
        )
    data = [data_of(event) or {} for event in events]
    assert "".join(one.get("delta", {}).get("text", "") for one in data) == text
    assert sum("citation" in one.get("delta", {}) for one in data) == citations
    assert [one["type"] for one in data[-2:]] == ["message_delta", "message_stop"]
    assert data[-2]["delta"]["stop_reason"] == stop
    assert outcomes(data[-2]["vouch"]) == [["supports", "no_source"]]  # its first block only says that it opened


def test_a_streamed_message_that_breaks_off_is_not_verified() -> None:
    events = made(lambda chunks, guard: stream_after(chunks, guard, ASKED, False), MESSAGE_EVENTS[:-3])
    assert verdict(events)["outcome"] == "unverified"
