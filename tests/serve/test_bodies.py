"""Requests in a wrong form: the first fault is named, however many there are, and none takes long."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from pydantic import BaseModel, ValidationError

from tests.serve.served import policy
from vouching.serve import bodies, decision_forms

MANY = 2_000
WRONG: list[Any] = [1] * MANY
UNKNOWN = {f"k{number}": 1 for number in range(MANY)}
FLOODS: dict[str, tuple[type[BaseModel], dict[str, Any]]] = {
    "claims": (bodies.CheckBody, {"claim": WRONG}),
    "sources": (bodies.CheckBody, {"claim": "a", "sources": WRONG}),
    "unknown fields": (bodies.CheckBody, {"claim": "a", **UNKNOWN}),
    "unknown fields of a source": (bodies.CheckBody, {"claim": "a", "sources": [UNKNOWN]}),
    "unknown fields of sources": (bodies.CheckBody, {"claim": "a", "sources": [{"a": 1}] * MANY}),
    "response": (bodies.ResponseBody, {"response": WRONG}),
    "checklist": (bodies.FollowBody, {"instruction": "a", "response": "a", "checklist": WRONG}),
    "answers": (bodies.RankBody, {"question": "a", "answers": WRONG}),
    "rows": (bodies.RewardBody, {"rows": WRONG, "query": WRONG, "prompts": WRONG, "labels": WRONG}),
    "filters": (bodies.FilteredBody, UNKNOWN),
    "questions": (decision_forms.SystemOneBody, {"model": "a", "state": "a", "questions": UNKNOWN}),
    "criteria": (
        decision_forms.SystemOneBody,
        {"model": "a", "state": "a", "questions": {"a": {"type": "noul", "criteria": UNKNOWN}}},
    ),
    "options": (
        decision_forms.SystemOneBody,
        {"model": "a", "state": "a", "questions": {"a": {"type": "choice", "criteria": UNKNOWN}}},
    ),
    "levels": (
        decision_forms.SystemOneBody,
        {"model": "a", "state": "a", "questions": {"a": {"type": "score", "criteria": WRONG}}},
    ),
    "decisions": (decision_forms.DecisionsBody, {"model": "a", "input": WRONG, "questions": WRONG}),
    "choices": (
        decision_forms.DecisionsBody,
        {"model": "a", "input": "a", "questions": [{"type": "choice", "instructions": WRONG, "choices": WRONG}]},
    ),
}


@pytest.mark.parametrize("name", FLOODS)
def test_thousands_of_faults_make_few_reports(name: str) -> None:
    form, given = FLOODS[name]
    with pytest.raises(ValidationError) as raised:
        form.model_validate(given)
    # At most one for each of four fields, with two forms each, and three of the value of a criterion.
    assert raised.value.error_count() <= 8


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"sources": 5}, 'sources.0: must be a text, or an object with "text" or "digest", got 5;'),
        ({"sources": ["a", 1, 1]}, 'sources.1: must be a text, or an object with "text" or "digest", got 1;'),
        ({"sources": [{"txt": "a"}]}, "unknown field sources.0.GivenSource.txt:"),
        ({"sources": "a", **UNKNOWN}, f"the body: must have at most 100 fields, has {MANY + 2:,}, got"),
        ({"claim": ["a", 5]}, "claim.list[str].1: must be a valid string, got 5;"),
    ],
)
def test_the_first_fault_is_named_with_what_was_got_and_wanted(fields: dict[str, Any], words: str) -> None:
    from fastapi.testclient import TestClient

    from vouching.serve.app import build_app

    with TestClient(build_app(policy()), base_url="http://127.0.0.1:8400") as client:
        answer = client.post("/v1/check", json={"claim": "a", **fields})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(words)


@pytest.mark.parametrize("path", ["/v1/check", "/v1/audit", "/v1/stream"])
def test_too_many_sources_are_refused_before_any_is_looked_at(path: str) -> None:
    from fastapi.testclient import TestClient

    from vouching.serve.app import build_app

    with TestClient(build_app(policy({"sources": 2})), base_url="http://127.0.0.1:8400") as client:
        answer = client.post(path, json={"docs": WRONG})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("the request has more than 2 sources, which is what this server accepts")


def test_a_key_that_occurs_twice_is_refused() -> None:
    from fastapi.testclient import TestClient

    from vouching.serve.app import build_app

    twice = '{"claim": "It opened in 1937.", "sources": ["It opened in 1973."], "sources": ["It opened in 1937."]}'
    with TestClient(build_app(policy()), base_url="http://127.0.0.1:8400") as client:
        answer = client.post("/v1/check", content=twice, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["detail"] == 'the body is not valid JSON: the key "sources" occurs twice in one object'
