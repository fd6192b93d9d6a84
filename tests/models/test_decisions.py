"""Decision models on servers: what is sent in each form, which form a server knows, and what failures mean."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from tests.models.decision_server import responding
from tests.models.fault_server import Answer, FaultServer, Request, of_json
from vouching.errors import ConfigError, ModelContextError, ModelRefusedError, ModelUnavailableError
from vouching.models.base import Message, Sampling
from vouching.models.connections import error_of_status, retry_after
from vouching.models.decision_shapes import SHAPES, probabilities
from vouching.models.decisions import PROVIDERS, DecisionModel, DecisionName
from vouching.models.limits import TimeLimits, context_of
from vouching.models.open import open_model
from vouching.models.wrappers import Wrapper

QUESTIONS: dict[str, Any] = {
    "c1": {"type": "noul", "instructions": {"claim": "It opened."}, "criteria": {"true": "It did.", "false": "No."}},
    "r1": {"type": "choice", "instructions": "Which?", "criteria": {"a": "first", "b": None}},
    "s1": {"type": "score", "instructions": None, "criteria": ["low", "high"]},
}
ASKED = {"state": {"sources": [{"text": "It opened in 1973."}]}, "questions": QUESTIONS}
ONE: dict[str, Any] = {"state": "It opened.", "questions": {"c1": {"type": "noul", "instructions": "Did it?"}}}


def ask(model: DecisionModel, asked: dict[str, Any] = ONE) -> dict[str, Any]:
    async def once() -> str:
        try:
            [said] = await model.generate([Message("user", json.dumps(asked))], Sampling())
        finally:
            await model.aclose()
        return said.text

    return json.loads(asyncio.run(once()))


def against(script: Any, suffix: str = "", times: int = 1) -> tuple[list[Request], list[dict[str, Any]]]:
    """The requests that a server got for the same question, and the replies."""

    async def main() -> tuple[list[Request], list[dict[str, Any]]]:
        async with FaultServer(script) as server:
            model = DecisionModel(f"decision:{server.url}#kev{suffix}", "secret", TimeLimits())
            replies: list[dict[str, Any]] = []
            for _ in range(times):
                [said] = await model.generate([Message("user", json.dumps(ONE))], Sampling())
                replies.append(json.loads(said.text))
            await model.aclose()
            return server.requests, replies

    return asyncio.run(main())


def test_system_one_is_sent_as_it_is() -> None:
    assert SHAPES["systemone"].ask("m", ASKED) == {"model": "m", **ASKED}


def test_openai_gets_a_list_with_the_criteria_of_a_predicate_in_its_instructions() -> None:
    body = SHAPES["openai"].ask("m", ASKED)
    assert body["input"] == json.dumps(ASKED["state"])
    first, second, third = body["questions"]
    told = json.loads(first.pop("instructions"))
    assert told == {"question": {"claim": "It opened."}, "true": "It did.", "false": "No."}
    assert first == {"type": "predicate", "name": "c1"}
    assert second["choices"] == [{"value": "a", "description": "first"}, {"value": "b"}]
    assert third["levels"] == [{"label": "low"}, {"label": "high"}]


def test_gemini_gets_texts_only() -> None:
    body = SHAPES["gemini"].ask("gemini-decision-1", ASKED)
    assert (body["model"], body["input"]) == ("models/gemini-decision-1", json.dumps(ASKED["state"]))
    assert body["questions"]["c1"]["criteria"] == {"true_description": "It did.", "false_description": "No."}
    assert body["questions"]["r1"]["criteria"] == {"a": "first", "b": "b"}
    assert all(isinstance(one["instructions"], str) for one in body["questions"].values())


def test_the_official_types_of_openai_accept_the_body() -> None:
    types = pytest.importorskip("openai.types.decision_create_params")
    from pydantic import TypeAdapter

    TypeAdapter(types.DecisionCreateParams).validate_python(SHAPES["openai"].ask("m", ASKED))


def test_a_blocked_input_of_gemini_is_a_refusal_of_each_question() -> None:
    reply = SHAPES["gemini"].read({"prompt_feedback": {"block_reason": "SAFETY"}}, ONE)
    with pytest.raises(ValueError, match="refused"):
        probabilities(ONE["questions"]["c1"], reply["answers"]["c1"])


def test_cloudflares_envelope_is_opened() -> None:
    reply = {"model": "clef", "answers": {"c1": {"type": "noul", "noul": 0.5}}}
    assert SHAPES["systemone"].read({"result": reply, "success": True, "errors": []}, ONE) == reply


def test_the_key_and_fields_are_sent_to_the_route_of_the_form() -> None:
    [request], [reply] = against(responding("openai"), ";shape=openai")
    assert (request.path, request.headers["authorization"]) == ("/v1/decisions", "Bearer secret")
    assert request.body["model"] == "kev"
    assert reply["answers"] == {"c1": {"type": "noul", "noul": 0.9}}


def test_a_form_that_a_server_does_not_know_is_tried_once() -> None:
    def script(request: Request) -> Answer:
        return (
            of_json({"detail": "no"}, status=404)
            if "questions" in request.body and "state" in request.body
            else (responding("openai")(request))
        )

    requests, replies = against(script, times=2)
    assert [request.path for request in requests] == ["/v1/systemone", "/v1/decisions", "/v1/decisions"]
    assert replies[0] == replies[1]


@pytest.mark.parametrize(
    ("statuses", "error", "match", "asked"),
    [
        ((404, 405), ConfigError, "404 Not Found", 2),
        ((404, 400), ModelRefusedError, "400 Bad Request", 2),
        ((400, 404), ModelRefusedError, "400 Bad Request", 2),
        ((422, 501), ModelRefusedError, "422", 2),
        ((404, 401), ConfigError, "401 Unauthorized", 2),
        ((400, 413), ModelContextError, "413", 2),
        ((401, 400), ConfigError, "401", 1),
        ((402, 400), ConfigError, "402", 1),
        ((403, 400), ConfigError, "403", 1),
        ((501, 400), ConfigError, "501", 1),
        ((301, 400), ConfigError, "has moved", 1),
        ((413, 400), ModelContextError, "413", 1),
    ],
)
def test_another_form_is_tried_only_if_the_status_may_mean_it_and_the_route_that_exists_has_the_last_word(
    statuses: tuple[int, int], error: type[Exception], match: str, asked: int
) -> None:
    served: list[Request] = []

    def script(request: Request) -> Answer:
        served.append(request)
        return of_json({"detail": "no"}, status=statuses[len(served) - 1])

    with pytest.raises(error, match=match):
        against(script)
    assert len(served) == asked


def test_a_form_is_kept_only_after_a_reply_in_it() -> None:
    told: list[Request] = []

    def script(request: Request) -> Answer:
        told.append(request)
        if "state" in request.body:  # at first, something in between answers
            return of_json({"note": "starting"}) if len(told) == 1 else of_json({}, status=404)
        return responding("openai")(request)

    requests, replies = against(script, times=3)
    paths = [request.path.rpartition("/")[2] for request in requests]
    assert paths == ["systemone", "systemone", "decisions", "decisions"]
    assert replies[0] == {"note": "starting"}
    assert replies[1] == replies[2]


@pytest.mark.parametrize("status", [401, 404])
def test_the_key_that_is_passed_beats_the_environment_and_advice_names_its_variable(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> tuple[list[Request], ConfigError]:
        async with FaultServer([of_json({"detail": "key"}, status=status)]) as server:
            monkeypatch.setitem(PROVIDERS, "typesafe", replace(PROVIDERS["typesafe"], address=server.url))
            model = open_model("decision:typesafe#jev", api_key="passed")
            with pytest.raises(ConfigError) as caught:
                await model.generate([Message("user", json.dumps(ONE))], Sampling())
            await model.aclose()
            return server.requests, caught.value

    monkeypatch.setenv("TYPESAFE_API_KEY", "of the environment")
    monkeypatch.setenv("VOUCH_API_KEY", "of another server")
    [request], error = asyncio.run(main())
    assert request.headers["authorization"] == "Bearer passed"
    assert "TYPESAFE_API_KEY" in str(error)
    assert "VOUCH_API_KEY" not in str(error)


def test_a_provider_without_its_key_says_so_before_it_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="requires a key, and none is set: set TYPESAFE_API_KEY"):
        open_model("decision:typesafe#jev")


def test_the_key_of_one_server_is_not_sent_to_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOUCH_API_KEY", "of another server")
    monkeypatch.setenv("TYPESAFE_API_KEY", "its own")
    model = open_model("decision:typesafe#jev")
    while isinstance(model, Wrapper):
        model = model.model
    assert isinstance(model, DecisionModel)
    assert model._server.headers == {"authorization": "Bearer its own"}  # pyright: ignore[reportPrivateUsage]


def test_null_in_the_fields_for_every_request_removes_a_field(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> Request:
        async with FaultServer(responding("systemone")) as server:
            model = open_model(f"decision:{server.url}#kev;shape=systemone")
            await model.generate([Message("user", json.dumps(ONE))], Sampling())
            await model.aclose()
            return server.requests[0]

    monkeypatch.setenv("VOUCH_EXTRA", '{"model": null, "seed": 1}')
    assert asyncio.run(main()).body == {**ONE, "seed": 1}


def test_a_server_that_says_its_context_is_asked_once() -> None:
    async def main() -> tuple[list[str], list[int | None]]:
        async with FaultServer([of_json({"default_generation_settings": {"n_ctx": 8192}})]) as server:
            model = DecisionModel(f"decision:{server.url}/systemone#kev", None, TimeLimits())
            found = [await context_of(model), await context_of(model)]
            await model.aclose()
            return [request.path for request in server.requests], found

    assert asyncio.run(main()) == (["/props"], [8192, 8192])


def test_an_address_that_is_a_route_is_used_as_it_is() -> None:
    model = DecisionModel("decision:https://host/v1/decisions#m;shape=systemone", None, TimeLimits())
    cloudflare = DecisionModel("decision:https://host/accounts/1/ai/run/@cf/clef#clef", None, TimeLimits())
    root = DecisionModel("decision:http://host:11434#kev", None, TimeLimits())
    urls = [one._url("systemone") for one in (model, cloudflare, root)]  # pyright: ignore[reportPrivateUsage]
    assert urls == [
        "https://host/v1/decisions",
        "https://host/accounts/1/ai/run/@cf/clef",
        "http://host:11434/v1/systemone",
    ]


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_known_provider_opens_by_its_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PROVIDERS[name].key, "abc")
    assert open_model(f"decision:{name}#m").name == f"decision:{name}#m"
    assert DecisionName.parse(f"decision:{name}#m").shapes == (PROVIDERS[name].shape,)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("decision:http://host", "names no decision model"),
        ("decision:#m", "names no decision model"),
        ("decision:host:8000#m", "did you mean 'decision:http://host:8000#m'"),
        ("decision:openai#m;shape=xml", "expected shape=auto"),
        ("decision:openai#m;temperature=1", "expected shape="),
    ],
)
def test_a_wrong_name_says_what_is_expected(name: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        open_model(name)


def test_waits_of_milliseconds_are_read_and_what_cannot_succeed_is_not_retried() -> None:
    busy = error_of_status(httpx2.Response(529, headers={"retry-after-ms": "1500"}), b"", "host")
    assert isinstance(busy, ModelUnavailableError)
    assert busy.retry_after == 1.5
    assert retry_after({"retry-after-ms": "9" * 400}) is None
    assert isinstance(error_of_status(httpx2.Response(501), b"no logprobs", "host"), ConfigError)
    assert isinstance(error_of_status(httpx2.Response(413), b"", "host"), ModelContextError)


def test_a_sum_that_is_off_by_exactly_two_hundredths_is_a_distribution() -> None:
    # As floats, .68 + .34 - 1 is a little more than .02.
    question = {"type": "choice", "criteria": {"a": None, "b": None}}
    assert probabilities(question, {"type": "choice", "probabilities": {"a": 0.68, "b": 0.34}}) == {
        "a": 0.68,
        "b": 0.34,
    }
    with pytest.raises(ValueError, match=r"add up to 1, got 1\.021"):
        probabilities(question, {"type": "choice", "probabilities": {"a": 0.68, "b": 0.341}})
