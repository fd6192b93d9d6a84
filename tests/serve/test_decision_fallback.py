"""The fallback of the decision routes, and requests in a wrong form: limits, time, and one answer for each fault."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

import httpx2

from tests.models.decision_server import responding
from tests.models.fault_server import FOREVER, Answer, Request, of_json
from tests.serve.served import policy, served
from tests.serve.test_decisions import SECONDS, SOURCE, TRUE, fallback, noul, systemone, with_fallback
from vouching.serve.decision_fallback import Fallback

SPAM: dict[str, Any] = {"type": "noul", "instructions": "Is this spam?"}


def test_many_questions_go_to_the_fallback_in_requests_of_its_providers_size() -> None:
    sizes: list[int] = []

    def script(request: Request) -> Answer:
        sizes.append(len(request.body["questions"]))
        return responding("systemone", {"Is 7 spam": 0.2})(request)

    questions = {f"q{number}": {"type": "noul", "instructions": f"Is {number} spam?"} for number in range(150)}
    with fallback(script) as address, with_fallback(address) as (url, _):
        reply = systemone(url, questions).json()
    assert sorted(sizes) == [22, 64, 64]
    assert list(reply["answers"]) == list(questions)
    assert [name for name, one in reply["answers"].items() if one["noul"] == 0.2] == ["q7"]
    assert reply["usage"] == {"input_tokens": 300, "output_tokens": 150}


def test_a_fallback_that_does_not_answer_in_time_is_an_error_of_time() -> None:
    slow = of_json({}, delay=FOREVER)
    with (
        fallback([slow]) as address,
        served(policy(timeout_seconds=0.5, decisions_fallback=f"decision:{address}#kev;shape=systemone")) as (url, _),
    ):
        started = time.monotonic()
        reply = systemone(url, {"q": SPAM})
        assert reply.status_code == 504
        assert "within 0.5 s" in reply.json()["error"]["message"]
        assert time.monotonic() - started < 30


@pytest.mark.parametrize("model", [None, 5, ""])
def test_a_reply_that_names_no_model_is_the_fallbacks(model: Any) -> None:
    def script(request: Request) -> Answer:
        return of_json({"model": model, "answers": {"q": {"type": "noul", "noul": 0.2}}})

    with fallback(script) as address, with_fallback(address) as (url, _):
        assert systemone(url, {"q": SPAM}).json()["model"] == f"decision:{address}#kev;shape=systemone"


def test_the_fallback_is_closed_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []

    close = Fallback.aclose

    async def counting(self: Fallback) -> None:
        closed.append(1)
        await close(self)

    monkeypatch.setattr(Fallback, "aclose", counting)
    with fallback(responding("systemone")) as address, with_fallback(address) as (url, _):
        systemone(url, {"q": SPAM})
        assert not closed
    assert closed == [1]


def decisions(url: str, **body: Any) -> httpx2.Response:
    question = {"type": "predicate", "name": "c", "instructions": f"Claim: {TRUE}"}
    given = {"model": "vouch", "input": SOURCE, "questions": [question], **body}
    return httpx2.post(f"{url}/v1/decisions", json=given, timeout=SECONDS)


def test_a_wrong_request_is_refused_with_its_fault() -> None:
    with served(policy(timeout_seconds=SECONDS)) as (url, _):
        assert systemone(url, {"c": noul(TRUE)}, model="m" * 101).status_code == 422
        assert decisions(url, model="m" * 101).status_code == 422
        contents: list[Any] = [5, True, ["a"], [5], [None], [[]], [{"type": "input_text", "text": 5}]]
        for content in contents:
            reply = decisions(url, input=[{"role": "user", "content": content}])
            assert (reply.status_code, bool(reply.json()["error"]["message"])) == (422, True), content


def test_choices_of_one_name_refuse_only_their_own_question() -> None:
    twice = [{"value": True}, {"value": "true"}, {"value": False}]
    questions = [
        {"type": "choice", "name": "r", "instructions": f"Claim: {TRUE}", "choices": twice},
        {"type": "predicate", "name": "c", "instructions": f"Claim: {TRUE}"},
    ]
    with served(policy(timeout_seconds=SECONDS)) as (url, _):
        first, second = decisions(url, questions=questions).json()["answers"]
    assert (first["type"], first["name"]) == ("refusal", "r")
    assert "two of one name" in first["x_vouch_reason"]
    assert second["probability"] > 0.5


def test_a_claim_after_many_empty_lines_is_found_soon() -> None:
    asked = {"type": "noul", "instructions": "\n" * 20_000 + f"Claim: {TRUE}"}
    with served(policy(timeout_seconds=SECONDS)) as (url, _):
        systemone(url, {"c": noul(TRUE)})
        started = time.monotonic()
        reply = systemone(url, {str(number): asked for number in range(10)})
        assert time.monotonic() - started < 20
    assert reply.status_code in (200, 422), json.dumps(reply.json())[:300]
