"""What the guard proxy refuses: requests before they reach the upstream server, and answers that it cannot check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from tests.serve.upstream import Upstream, proxy_before, upstream_server

ASKED: dict[str, Any] = {
    "messages": [{"role": "user", "content": "When did it open?"}],
    "documents": [{"doc_id": "bridge.txt", "text": "The bridge opened in 1973."}],
}
BODY = json.dumps(ASKED)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with upstream_server() as server:
        yield server


@pytest.fixture(scope="module")
def blocking(upstream: Upstream) -> Iterator[str]:
    with proxy_before(upstream.url, action="block", undocumented="block", hosts=("proxy.example:8401",)) as url:
        yield url


def post(url: str, body: str | bytes, **headers: str) -> httpx2.Response:
    return httpx2.post(f"{url}/chat/completions", content=body, headers=headers, timeout=60)


LENIENT = {
    "a comma before the end": BODY[:-1] + ",}",
    "a comment": BODY + " // done",
    "single quotes": BODY.replace('"', "'"),
    "two objects": BODY + BODY,
    "brackets of a depth that few readers read": BODY[:-1] + ', "x": ' + "[" * 20_000 + "]" * 20_000 + "}",
    "a byte order mark": "\ufeff" + BODY,
    "UTF-16": BODY.encode("utf-16"),
    "bytes that are not UTF-8": BODY.encode().replace(b"When", b"\xff"),
    "a list": f"[{BODY}]",
    "NaN": BODY[:-1] + ', "temperature": NaN}',
    "no body": "",
}


@pytest.mark.parametrize("form", LENIENT)
def test_a_body_that_only_lenient_servers_read_is_refused_where_the_policy_blocks(
    blocking: str, upstream: Upstream, form: str
) -> None:
    before = len(upstream.asked)
    answered = post(blocking, LENIENT[form])
    assert answered.status_code == 400
    assert "must be a JSON object in UTF-8" in answered.json()["error"]["message"]
    assert len(upstream.asked) == before


def test_the_same_key_twice_is_refused_where_the_policy_blocks(blocking: str, upstream: Upstream) -> None:
    before = len(upstream.asked)
    assert post(blocking, BODY[:-1] + ', "documents": []}').status_code == 400  # readers differ in which one counts
    assert len(upstream.asked) == before


@pytest.mark.parametrize("name", ["rebound.example:8401", "localhost.rebound.example", "127.0.0.1.rebound.example"])
def test_a_page_whose_name_was_made_to_lead_here_does_not_reach_the_server(
    blocking: str, upstream: Upstream, name: str
) -> None:
    before = len(upstream.asked)
    answered = post(blocking, BODY, host=name)
    assert answered.status_code == 421
    assert "add that name to hosts" in answered.json()["error"]["message"]
    assert len(upstream.asked) == before


@pytest.mark.parametrize("name", ["localhost:8401", "127.0.0.1", "[::1]:8401", "proxy.example:8401"])
def test_names_of_this_machine_and_those_of_the_policy_are_served(blocking: str, upstream: Upstream, name: str) -> None:
    assert post(blocking, BODY, host=name).json()["vouch"]["action"] == "blocked"
    assert upstream.asked[-1][0] == "/v1/chat/completions"


WRONG = "The bridge opened in 1937."


def answer(**message: Any) -> bytes:
    """A chat completion."""
    said = {"role": "assistant", "content": WRONG, **message}
    return json.dumps({"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}).encode()


@pytest.fixture
def answers(upstream: Upstream) -> Iterator[Upstream]:
    """The upstream server, which sends bodies of the test's choice."""
    yield upstream
    upstream.raw, upstream.status, upstream.kind = None, 200, "application/json"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, "Application/JSON; charset=utf-8"),
        (200, "application/vnd.api+json"),
        (201, "application/json"),
        (206, "application/json"),
    ],
)
def test_an_answer_of_any_success_and_any_type_of_json_is_checked(
    blocking: str, answers: Upstream, status: int, kind: str
) -> None:
    answers.raw, answers.status, answers.kind = answer(), status, kind
    got = post(blocking, BODY)
    assert (got.status_code, got.headers["x-vouch-action"]) == (status, "blocked")
    assert WRONG not in got.json()["choices"][0]["message"]["content"]


@pytest.mark.parametrize("kind", ["text/plain", "text/html", ""])
def test_an_answer_of_another_type_is_refused_where_the_policy_blocks_and_else_passes_unchecked(
    blocking: str, answers: Upstream, kind: str
) -> None:
    answers.raw, answers.kind = answer(), kind
    got = post(blocking, BODY)
    assert (got.status_code, got.json()["error"]["code"]) == (502, "upstream_error")
    assert "not application/json" in got.json()["error"]["message"]
    with proxy_before(answers.url) as annotating:
        got = post(annotating, BODY)
    assert (got.content, got.headers["x-vouch-outcome"]) == (answers.raw, "unchecked")


@pytest.mark.parametrize(
    "raw",
    [
        answer(content=None, audio={"id": "a", "data": "", "transcript": WRONG}),
        answer(content="It opened in 1973.", answer={"parts": [WRONG]}),
        json.dumps({"choices": [{"index": at, "text": "So."} for at in range(501)]}).encode(),
    ],
    ids=["audio", "unknown field", "501 choices"],
)
def test_an_answer_with_what_is_not_checked_is_refused_where_the_policy_blocks(
    blocking: str, answers: Upstream, raw: bytes
) -> None:
    answers.raw = raw
    got = post(blocking, BODY)
    assert (got.status_code, got.json()["error"]["code"]) == (502, "upstream_error")
    assert WRONG not in got.text


def test_an_answer_with_a_text_where_none_is_read_is_refused_where_the_policy_blocks(
    blocking: str, answers: Upstream
) -> None:
    part: dict[str, Any] = {"type": "output_audio", "transcript": WRONG}
    bodies: dict[str, Any] = {
        "no list": {"message": {"content": WRONG}},
        "choices by name": {"choices": {"0": {"message": {"content": WRONG}}}},
        "a delta": {"choices": [{"delta": {"content": WRONG}}]},
        "a message's text": {"choices": [{"message": {"text": WRONG}}]},
        "another script": {"choices": [{"message": {"audio": {"transcript": "这座桥于1937年开通。"}}}]},
        "a text within a text": {"choices": [{"message": {"content": [{"type": "text", "text": {"value": WRONG}}]}}]},
        "one word": {"choices": [{"message": {"audio": {"id": "a1", "transcript": "1937."}}}]},
        "beside the choices": {"choices": [{"message": {"content": "So."}}], "transcript": WRONG},
        "numbers of tokens": {"choices": [{"message": {"content": "So."}}], "usage": {"x": WRONG}},
        "a text beside a list": {"choices": [], "output": WRONG},
        "texts for choices": {"choices": [WRONG]},
        "a list of texts": {"choices": [{"message": {"content": [WRONG]}}]},
        "thoughts": {"choices": [{"message": {"type": "reasoning", "content": [{"type": "text", "text": WRONG}]}}]},
        "a part of a response": {"output": [{"type": "message", "content": [part]}]},
        "a response's text": {"output": [{"type": "message", "text": WRONG}]},
        "a response that is a text": {"output": WRONG},
        "a block of a message": {"content": [{"type": "text", "content": WRONG}]},
        "a message that is a text": {"type": "message", "content": WRONG},
        "a part for the parts of a message": {"choices": [{"message": {"content": {"type": "text", "text": WRONG}}}]},
        "the role of a message": {"choices": [{"message": {"role": WRONG, "content": "So."}}]},
        "the name of a field": {"choices": [{"message": {"content": "So.", "answer": {WRONG: True}}}]},
        "a refusal of a block": {"content": [{"type": "text", "text": "So.", "refusal": WRONG}]},
        "a list for a message": {"choices": [{"message": [{"role": "assistant", "content": WRONG}]}]},
        "a part for the parts of an item": {"output": [{"type": "message", "content": {"text": WRONG}}]},
    }
    for name, body in bodies.items():
        answers.raw = json.dumps(body).encode()
        assert post(blocking, BODY).status_code == 502, name


def test_an_item_whose_type_only_begins_as_one_of_thoughts_is_checked(blocking: str, answers: Upstream) -> None:
    item = {"type": "reasoning_x", "role": "assistant", "content": [{"type": "output_text", "text": WRONG}]}
    answers.raw = json.dumps({"output": [item]}).encode()
    got = post(blocking, BODY)
    assert (got.status_code, got.headers["x-vouch-action"]) == (200, "blocked")
    assert WRONG not in json.dumps(got.json()["output"])


def test_an_answer_with_a_key_that_comes_twice_is_refused_where_the_policy_blocks(
    blocking: str, answers: Upstream
) -> None:
    answers.raw = b'{"choices": [{"message": {"content": "' + WRONG.encode() + b'"}}], "choices": []}'
    got = post(blocking, BODY)  # readers differ in which one counts
    assert (got.status_code, got.json()["error"]["code"]) == (502, "upstream_error")


def test_thoughts_and_calls_of_tools_beside_a_text_do_not_refuse_it(blocking: str, answers: Upstream) -> None:
    thought = {"type": "thinking", "thinking": "Let me look."}
    call = {"type": "tool_use", "name": "find", "input": {"text": "the bridge of Lee"}}
    found = {"type": "file_search_call", "results": [{"text": "It opened in 1973."}]}
    said: dict[str, Any] = {"type": "message", "content": [{"type": "output_text", "text": WRONG, "annotations": []}]}
    bodies: list[dict[str, Any]] = [
        {"content": [thought, call, {"type": "text", "text": WRONG, "citations": None}]},
        {"instructions": "Answer in one line.", "output": [found, {"type": "reasoning", "summary": [thought]}, said]},
    ]
    for body in bodies:
        answers.raw = json.dumps(body).encode()
        got = post(blocking, BODY)
        assert (got.status_code, got.headers["x-vouch-action"]) == (200, "blocked")


def test_an_answer_that_never_ends_is_refused_before_it_fills_the_memory(
    blocking: str, answers: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vouching.serve.proxy.LARGEST_ANSWER", 10_000)
    answers.raw = answer(content=WRONG * 1_000)
    got = post(blocking, BODY)
    assert got.status_code == 502
    assert "more than 10,000 bytes" in got.json()["error"]["message"]


@pytest.mark.parametrize(
    "path",
    [
        "/Chat/Completions",
        "/chat/completions;a=b",
        "/chat;a=b/completions",
        "/chat/completions%20",
        "//chat/completions/",
        "/v1/chat/completions",
        "/openai/deployments/tiny/chat/completions",
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_no_spelling_of_a_path_that_a_lenient_server_reads_goes_unchecked(
    blocking: str, answers: Upstream, path: str, method: str
) -> None:
    answers.raw = answer()
    # Only POST is answered by the upstream server of these tests; what counts is that the request was read.
    got = httpx2.request(method, f"{blocking}{path}", content=BODY[:-1] + ",}", timeout=60)
    assert got.status_code == 400
    if method == "POST":
        got = httpx2.post(f"{blocking}{path}", content=BODY, timeout=60)
        assert got.headers["x-vouch-action"] == "blocked"


def test_a_question_with_half_a_character_is_not_verified_instead_of_an_error(blocking: str, answers: Upstream) -> None:
    answers.raw = answer()
    got = post(blocking, BODY.replace("When", "\\ud800"))
    assert (got.status_code, got.headers["x-vouch-outcome"]) == (200, "unverified")
    assert WRONG not in got.json()["choices"][0]["message"]["content"]
