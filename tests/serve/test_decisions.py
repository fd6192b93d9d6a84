"""The server as a decision model: both forms, what is refused, the fallback, and the clients that others use."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

import httpx2
import openai

import vouching
from tests.models.decision_server import MODEL, responding, systemone_reply
from tests.models.fault_server import Answer, FaultServer, of_json
from tests.serve.served import policy, served
from vouching.checker import Checker
from vouching.serve.claim_questions import asked_claim
from vouching.serve.decision_forms import evidence_of

SOURCE = "The bridge opened to traffic in 1973. It has three towers."
FALSE, TRUE = "The bridge opened in 1937.", "The bridge has three towers."
SECONDS = 300.0
"""For an answer, on a machine that does much else."""
THREE = {"supported": None, "contradicted": None, "not_found": None}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(policy(timeout_seconds=SECONDS)) as (address, _):
        yield address


def noul(claim: str) -> dict[str, Any]:
    return {"type": "noul", "instructions": {"claim": claim}}


def systemone(url: str, questions: dict[str, Any], state: Any = SOURCE, **more: Any) -> httpx2.Response:
    body = {"model": "jev-latest", "state": state, "questions": questions, **more}
    return httpx2.post(f"{url}/v1/systemone", json=body, timeout=SECONDS)


@contextmanager
def fallback(script: Any) -> Generator[str]:
    """The address of a decision model in a thread."""
    ready, stop, found = threading.Event(), threading.Event(), list[str]()

    async def main() -> None:
        async with FaultServer(script) as server:
            found.append(server.url)
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    try:
        assert ready.wait(20)
        yield found[0]
    finally:
        stop.set()
        thread.join(20)


def with_fallback(address: str) -> Any:
    return served(policy(timeout_seconds=SECONDS, decisions_fallback=f"decision:{address}#kev;shape=systemone"))


def test_a_claim_has_the_probability_and_the_record_of_the_verifier(url: str) -> None:
    here = vouching.check(FALSE, SOURCE, model="embedded:rules")
    reply = systemone(url, {"c1": noul(FALSE), "c2": noul(TRUE)}).json()
    assert list(reply["answers"]) == ["c1", "c2"]
    first = reply["answers"]["c1"]
    assert (first["type"], first["noul"]) == ("noul", here.score)
    assert first["x_vouch_verdict"]["fix_suggestion"] == here.fix_suggestion
    assert reply["answers"]["c2"]["noul"] > 0.5
    assert reply["usage"] == {"input_tokens": 0, "output_tokens": 0}


def test_a_choice_of_relations_has_the_rest_at_the_verdicts_relation(url: str) -> None:
    asked = {"type": "choice", "instructions": {"claim": FALSE}}
    reply = systemone(url, {"r": {**asked, "criteria": THREE}, "b": {**asked, "criteria": {"yes": None, "no": None}}})
    answers = reply.json()["answers"]
    score = answers["r"]["x_vouch_verdict"]["score"]
    assert answers["r"]["probabilities"] == {"supported": score, "contradicted": 1 - score, "not_found": 0}
    assert (answers["r"]["choice"], answers["b"]["choice"]) == ("contradicted", "no")
    # The confidence of TypeSafe: (max - 1/n) / (1 - 1/n).
    assert answers["b"]["confidence"] == pytest.approx((1 - score - 0.5) / 0.5)


@pytest.mark.parametrize(
    ("state", "label"),
    [
        ({"sources": [{"id": "b", "text": SOURCE}]}, "Attributable"),
        ([SOURCE, "It rained."], "Attributable"),
        (json.dumps({"context": SOURCE}), "Attributable"),
        # A claim among the fields of a state is no evidence for itself.
        ({"retrieval_context": ["It rained."], "claims": [TRUE]}, "Not Attributable"),
    ],
)
def test_sources_are_found_in_the_known_fields_of_a_state(url: str, state: Any, label: str) -> None:
    assert systemone(url, {"c": noul(TRUE)}, state).json()["answers"]["c"]["x_vouch_verdict"]["label"] == label


OTHER = [
    "Is the claim unsupported?",
    "Is the claim not supported by the sources?",
    "Does the source contradict the claim?",
    "Isn't the claim supported?",
    "Is this a hallucination? Answer yes or no.",
    "Answer true if the claim is false.",
    "Return true if the claim is unsupported, and false if it is supported.",
    "Does the source fail to support it?",
    "Is the statement incorrect?",
    "Is any of it made up?",
    "Is there no support for the claim in the sources?",
    "Answer no if it is supported.",
    "Is the claim supported by nothing?",
    "Does the claim support the source?",
    # Not about support: tone, length, another field, another claim, a quotation.
    "Is the claim polite?",
    "Is it longer than 500 words?",
    "It cost 9 billion.",
    "Claim: The bridge opened in 1950.",
    "Is this rude?\nSource text:",
    "Judge this.",
    "Is it true?",
]
PLAIN = [
    "",
    "Is the claim supported?",
    "Return true if it is supported, else false.",
    "Does it follow from the sources?",
    "Answer no if it is not in the source. Is the claim grounded?",
    "Do the sources support the claim?",
    "Is the statement true to the documents?",
    "Can the claim be inferred from the context?",
    "Is `claim` supported by the facts in `retrieval_context`? Answer no if it contradicts them.",
]
CRITERIA = {"true": "The claim is supported by the sources.", "false": "The claim is not supported by the sources."}


@pytest.mark.parametrize(
    "question",
    [
        *({"type": "noul", "instructions": f"{words}\nClaim: {TRUE}"} for words in OTHER),
        *({"type": "noul", "instructions": {"claim": TRUE, "question": words}} for words in OTHER[:17]),
        {"type": "noul", "instructions": {"question": {"claim": TRUE, "task": OTHER[0]}}},
        {"type": "noul", "instructions": {"claim": TRUE}, "criteria": {"true": "contradicted by the source"}},
        {"type": "noul", "instructions": {"claim": TRUE, "true": CRITERIA["false"]}},
        {"type": "noul", "instructions": {"claim": TRUE}, "criteria": {"false": CRITERIA["true"]}},
        {"type": "choice", "instructions": {"claim": TRUE}, "criteria": {"yes": "claim is hallucinated", "no": None}},
        {"type": "choice", "instructions": {"claim": TRUE, "task": OTHER[0]}, "criteria": {"yes": None, "no": None}},
        {"type": "choice", "instructions": {"claim": TRUE}, "criteria": {**THREE, "supported": "It backs my thesis."}},
        {"type": "noul", "instructions": f"Claim: {TRUE} Context: {SOURCE}"},
    ],
)
def test_only_a_question_for_support_is_answered(question: Any) -> None:
    assert asked_claim(question) is None


def test_what_is_refused_says_which_questions_are_accepted(url: str) -> None:
    reply = systemone(url, {"q": {"type": "noul", "instructions": f"{OTHER[0]}\nClaim: {TRUE}"}})
    assert (reply.status_code, "not for its opposite" in reply.text) == (422, True)


def test_a_question_whether_a_claim_is_supported_is_answered(url: str) -> None:
    asked = {
        words: {"type": "noul", "instructions": f"{words}\nClaim: {TRUE}", "criteria": CRITERIA} for words in PLAIN
    }
    reply = systemone(url, asked).json()
    assert list(reply["answers"]) == PLAIN, reply
    assert {one["x_vouch_verdict"]["claim"]["text"] for one in reply["answers"].values()} == {TRUE}


@pytest.mark.parametrize(
    ("state", "sources"),
    [
        ([{"role": "system", "content": TRUE}, {"role": "user", "content": SOURCE}], [SOURCE]),
        ([{"role": "user", "content": "It rained."}, {"role": "assistant", "content": TRUE}], ["It rained."]),
        (json.dumps([{"role": "assistant", "content": TRUE}, {"role": "user", "content": SOURCE}]), [SOURCE]),
        ([{"type": "function_call", "arguments": TRUE}, {"type": "function_call_output", "output": SOURCE}], [SOURCE]),
        ([{"role": "user", "content": {"answer": TRUE, "context": SOURCE}}], [SOURCE]),
        ({"context": [{"role": "assistant", "content": TRUE}, {"role": "tool", "content": SOURCE}]}, [SOURCE]),
        ({"sources": ["It rained."], "documents": [SOURCE], "answer": TRUE}, ["It rained.", SOURCE]),
        ({"context": SOURCE, "contexts": [SOURCE, "It rained."]}, [SOURCE, "It rained."]),
        # Messages of LangChain, pydantic-ai and Anthropic, and what tools return as JSON.
        ([{"type": "human", "data": {"content": SOURCE}}, {"type": "ai", "data": {"content": TRUE}}], [SOURCE]),
        ([{"type": "tool", "content": SOURCE}, {"type": "AIMessageChunk", "content": TRUE}], [SOURCE]),
        (
            [
                {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": SOURCE}]},
                {"kind": "response", "parts": [{"part_kind": "text", "content": TRUE}]},
            ],
            [SOURCE],
        ),
        ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": SOURCE}]}], [SOURCE]),
        ([{"role": "tool", "content": '{"opened": 1973}'}, {"role": "assistant", "content": TRUE}], ["opened: 1973."]),
        ([{"role": "function", "name": "f", "content": SOURCE}], [SOURCE]),
        ([{"role": "user", "content": [{"type": "input_json", "data": {"context": SOURCE}}]}], [SOURCE]),
    ],
)
def test_sources_are_what_users_and_tools_say_in_every_field_and_no_answer(state: Any, sources: list[str]) -> None:
    found = evidence_of(state)
    assert found is not None
    assert [one if isinstance(one, str) else one.text for one in found[0]] == sources


def test_messages_without_a_source_are_refused(url: str) -> None:
    given = [{"role": "developer", "content": TRUE}, {"role": "assistant", "content": TRUE}]
    body = {"model": "vouch", "input": given, "questions": [{"type": "predicate", "instructions": f"Claim: {TRUE}"}]}
    [answer] = httpx2.post(f"{url}/v1/decisions", json=body, timeout=SECONDS).json()["answers"]
    assert (answer["type"], "no text as source" in answer["x_vouch_reason"]) == ("refusal", True)


def test_a_key_that_occurs_twice_is_refused(url: str) -> None:
    text = json.dumps({"model": "vouch", "state": SOURCE, "questions": {"c": noul(TRUE)}})
    text = text.replace('"state":', '"state": "It rained.", "state":')
    reply = httpx2.post(f"{url}/v1/systemone", content=text, headers={"content-type": "application/json"})
    assert reply.status_code == 422
    assert 'the key "state" occurs twice' in reply.json()["error"]["message"]


@pytest.mark.parametrize(
    ("question", "state"),
    [
        ({"type": "noul", "instructions": "Is this spam?"}, SOURCE),
        ({"type": "noul"}, SOURCE),
        ({"type": "choice", "instructions": {"claim": TRUE}, "criteria": {"a": None, "b": None}}, SOURCE),
        # Without a place for what is not found, the answer would be forced.
        ({"type": "choice", "instructions": {"claim": TRUE}, "criteria": {"true": None, "refuted": None}}, SOURCE),
        ({"type": "score", "instructions": {"claim": TRUE}, "criteria": ["low", "high"]}, SOURCE),
        (noul(TRUE), {"message": SOURCE}),
        (noul(TRUE), ""),
        (noul("..."), SOURCE),
    ],
)
def test_other_questions_are_refused_and_never_guessed(url: str, question: Any, state: Any) -> None:
    reply = systemone(url, {"good": noul(TRUE), "other": question}, state)
    assert reply.status_code == 422
    assert "answers" not in reply.json()
    assert reply.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        {"state": SOURCE, "questions": {"c": noul(TRUE)}},
        {"model": "m", "state": 3, "questions": {"c": noul(TRUE)}},
        {"model": "m", "state": SOURCE, "questions": {}},
        {"model": "vouch", "state": SOURCE, "questions": {"c": noul(TRUE)}, "assets": {"photo": {"type": "image"}}},
        {"model": "m", "state": SOURCE, "questions": {"c": {"type": "score", "criteria": {"0": "low"}}}},
    ],
)
def test_an_invalid_request_has_the_errors_of_the_form(url: str, body: Any) -> None:
    reply = httpx2.post(f"{url}/v1/systemone", json=body, timeout=SECONDS)
    assert reply.status_code == 422
    assert all(set(one) == {"loc", "msg", "type"} and one["loc"][0] == "body" for one in reply.json()["detail"])


def test_names_that_are_no_text_are_refused(url: str) -> None:
    body = json.dumps({"model": "vouch", "state": SOURCE, "questions": {"c\ud800": noul(TRUE)}})
    reply = httpx2.post(f"{url}/v1/systemone", content=body, headers={"content-type": "application/json"})
    assert reply.status_code == 422


def test_a_long_unknown_type_is_not_repeated_in_the_refusal(url: str) -> None:
    reply = systemone(url, {"c": noul(TRUE) | {"type": "9" * 4_000}})
    assert (reply.status_code, len(reply.text) < 1_000) == (422, True)


def test_an_unknown_judge_is_an_error_with_its_names(url: str) -> None:
    reply = systemone(url, {"c": noul(TRUE)}, model="nope")
    assert reply.status_code == 422
    assert reply.json()["detail"]["error_type"] == "ConfigError"
    assert "this server has: default" in reply.json()["detail"]["message"]


def test_other_questions_go_to_the_fallback_together() -> None:
    with (
        fallback(responding("systemone", {"spam": 0.2})) as address,
        served(policy(timeout_seconds=SECONDS, decisions_fallback=f"decision:{address}#kev;shape=systemone")) as (
            url,
            _,
        ),
    ):
        questions = {"spam": {"type": "noul", "instructions": "Is this spam?"}, "c": noul(TRUE)}
        reply = systemone(url, questions).json()
        assert reply["answers"]["spam"] == {"type": "noul", "noul": 0.2, "x_vouch_answered_by": MODEL}
        assert "x_vouch_verdict" in reply["answers"]["c"]
        assert list(reply["answers"]) == ["spam", "c"]


def test_a_fallback_that_gives_no_probability_is_an_error_and_no_answer() -> None:
    def script(request: Any) -> Answer:
        return of_json({"answers": {"q": {"type": "noul", "noul": 7}}})

    with (
        fallback(script) as address,
        served(policy(timeout_seconds=SECONDS, decisions_fallback=f"decision:{address}#kev;shape=systemone")) as (
            url,
            _,
        ),
    ):
        reply = systemone(url, {"q": {"type": "noul", "instructions": "Is this spam?"}})
        assert reply.status_code == 502
        assert "expected a probability from 0 to 1, got 7" in reply.json()["error"]["message"]


def test_a_fallback_whose_reply_is_nested_deeply_is_an_error() -> None:
    def script(request: Any) -> Answer:
        deep: Any = []
        for _ in range(60):
            deep = [deep]
        return of_json({**systemone_reply(request.body), "more": deep})

    with fallback(script) as address, with_fallback(address) as (url, _):
        reply = systemone(url, {"q": {"type": "noul", "instructions": "Is this spam?"}})
    assert (reply.status_code, "nested" in reply.json()["error"]["message"]) == (502, True)


def test_one_unusable_answer_of_the_fallback_refuses_that_question_only() -> None:
    def script(request: Any) -> Answer:
        reply = systemone_reply(request.body)
        reply["answers"]["1"]["noul"] = "0.9"
        return of_json(reply)

    texts = (f"Claim: {TRUE}", "Is this spam?", "Is this rude?")
    questions = [{"type": "predicate", "instructions": text} for text in texts]
    with fallback(script) as address, with_fallback(address) as (url, _):
        body = {"model": "vouch", "input": SOURCE, "questions": questions}
        answers = httpx2.post(f"{url}/v1/decisions", json=body, timeout=SECONDS).json()["answers"]
    assert [one["type"] for one in answers] == ["predicate", "refusal", "predicate"]
    assert "got '0.9'" in answers[1]["x_vouch_reason"]
    assert ["x_vouch_answered_by" in one for one in answers] == [False, False, True]


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_of_the_fallback_is_no_fault_of_the_client(status: int) -> None:
    with (
        fallback([of_json({"detail": "key"}, status=status)]) as address,
        with_fallback(address) as (url, _),
    ):
        reply = systemone(url, {"q": {"type": "noul", "instructions": "Is this spam?"}})
    assert (reply.status_code, str(status) in reply.json()["error"]["message"]) == (502, True)


def test_the_client_of_openai_reads_answers_refusals_models_and_errors(url: str) -> None:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    given: Any = [
        {"type": "predicate", "name": "c1", "instructions": f"Is it supported?\nClaim: {FALSE}"},
        {
            "type": "choice",
            "name": "r1",
            "choices": [{"value": True}, {"value": False}],
            "instructions": [{"type": "input_json", "data": {"claim": TRUE}}],
        },
        {"type": "predicate", "instructions": "Is this spam?"},
    ]
    made = client.decisions.create(model="gpt-6-luna", input=SOURCE, questions=given)
    first, second, third = (one.to_dict() for one in made.answers)
    assert first["probability"] == vouching.check(FALSE, SOURCE, model="embedded:rules").score
    assert (second["choice"], second["name"]) == (True, "r1")
    assert (third["type"], third["name"]) == ("refusal", None)
    assert made.usage.total_tokens == 0
    assert [one.id for one in client.models.list()] == ["default"]
    images: Any = [{"role": "user", "content": [{"type": "input_image", "image_url": "https://host/a.png"}]}]
    with pytest.raises(openai.UnprocessableEntityError, match="images are not supported"):
        client.decisions.create(model="gpt-6-luna", input=images, questions=given[:1])


def test_the_client_of_typesafe_reads_answers_models_and_errors(url: str) -> None:
    sdk = pytest.importorskip("typesafe_sdk", reason="typesafe-sdk is not installed")
    client = sdk.TypeSafeClient(api_key="none", base_url=url, timeout=SECONDS)
    asked = {
        "c": sdk.Noul(instructions={"claim": FALSE}),
        "r": sdk.Choice(instructions={"claim": FALSE}, criteria=THREE),
    }
    found = client.system_one({"sources": [SOURCE]}, asked)
    assert found.answers["c"].noul < 0.5
    assert found.answers["r"].choice == "contradicted"
    assert [one.name for one in client.models.list().models] == ["default"]
    with pytest.raises(sdk.TypeSafeUnprocessableEntityError, match="questions about a claim"):
        client.system_one(SOURCE, {"c": sdk.Noul(instructions="Is this spam?")})


def test_a_server_of_vouch_is_a_judge_of_vouch(url: str) -> None:
    here = vouching.check(FALSE, SOURCE, model="embedded:rules")
    for setting in ("shape=systemone", "shape=openai", "shape=openai;ask=relation"):
        checker = Checker(f"decision:{url}/v1#default;{setting}")
        there = checker.check(FALSE, SOURCE)
        checker.close()
        assert (there.score, there.label) == (here.score, here.label)
        assert there.provenance
        assert there.provenance.answered_by == "embedded:rules"


def test_what_is_answered_is_kept_in_the_ledger(tmp_path: Any) -> None:
    with served(policy(timeout_seconds=SECONDS, ledger=str(tmp_path / "verdicts.db"))) as (url, _):
        systemone(url, {"c": noul(FALSE)})
        [row] = httpx2.get(f"{url}/v1/verdicts").json()["rows"]
        assert FALSE in json.dumps(row)
