"""Models over HTTP, against a server on a real socket: what is asked, what is understood, what fails how."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

import vouching
from tests.models.fault_server import FOREVER, Answer, FaultServer, Request, of_json, says
from vouching.errors import (
    ConfigError,
    ModelAnswerError,
    ModelDeadlineError,
    ModelRefusedError,
    ModelUnavailableError,
    VouchError,
)
from vouching.models import Completion, Message, Sampling, total_usage
from vouching.models.connections import retry_after
from vouching.models.http import HttpModel
from vouching.models.open import open_model

ASK = (Message("system", "Be brief, in JSON."), Message("user", "Is it?"))
SCHEMA = {"type": "object", "properties": {"label": {"type": "string"}}}
REFUSED = of_json({"error": {"message": "unsupported"}}, status=400)


def ask(
    script: Sequence[Answer] | Callable[[Request], Answer], *samplings: Sampling, **settings: Any
) -> tuple[list[list[Completion]], FaultServer]:
    """What a model says to each sampling in turn, and the server."""

    async def main() -> tuple[list[list[Completion]], FaultServer]:
        async with FaultServer(script) as server:
            model = HttpModel(server.url, "m", **settings)
            said = [await model.generate(ASK, sampling) for sampling in samplings or (Sampling(),)]
            await model.aclose()
            return said, server

    return asyncio.run(main())


def test_a_question_is_sent_as_given_and_the_answer_comes_back_with_its_cost() -> None:
    sampling = Sampling(max_tokens=7, temperature=0.5, top_p=0.9, seed=3, stop=("\n",), extra={"min_p": 0.1})
    [[said]], server = ask([says("Yes.")], sampling)
    assert (said.text, said.finish_reason) == ("Yes.", "stop")
    assert (said.usage.prompt_tokens, said.usage.completion_tokens, said.usage.calls) == (10, 2, 1)
    assert said.usage.seconds > 0
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief, in JSON."}, {"role": "user", "content": "Is it?"}],
        "max_tokens": 7,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 3,
        "stop": ["\n"],
        "min_p": 0.1,
    }


def test_fields_that_say_nothing_are_not_sent_and_none_takes_a_field_out() -> None:
    _, server = ask([says("Yes.")], Sampling(extra={"max_tokens": None, "max_completion_tokens": 5}))
    assert server.requests[0].body.keys() == {"model", "messages", "temperature", "max_completion_tokens"}


def test_a_request_says_nothing_about_the_client_or_the_machine() -> None:
    headers = ask([says("Yes.")])[1].requests[0].headers
    assert not [name for name in headers if name.startswith("x-stainless")]
    assert headers["user-agent"].startswith("vouching/")


def test_a_key_is_sent_as_a_bearer_token_and_only_if_there_is_one() -> None:
    assert ask([says("Yes.")], api_key="secret")[1].requests[0].headers["authorization"] == "Bearer secret"
    assert "authorization" not in ask([says("Yes.")])[1].requests[0].headers


@pytest.mark.parametrize("key", ["a\nb", "k\u00e9y", "\ud83d", "a\x00"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(key: str) -> None:
    with pytest.raises(ConfigError, match="API key contains") as caught:
        HttpModel("http://host/v1", "m", api_key=key)
    assert key not in str(caught.value)
    assert ask([says("Yes.")], api_key=" secret\n")[1].requests[0].headers["authorization"] == "Bearer secret"


def test_a_text_endpoint_gets_the_texts_as_one() -> None:
    answer = {"choices": [{"text": "Yes.", "finish_reason": "length", "logprobs": {"token_logprobs": [-1, -0.5]}}]}
    [[said]], server = ask([of_json(answer)], Sampling(logprobs=True), endpoint="text")
    assert (said.text, said.finish_reason, said.logprobs) == ("Yes.", "length", (-1.0, -0.5))
    assert server.requests[0].path == "/v1/completions"
    assert server.requests[0].body["prompt"] == "Be brief, in JSON.\n\nIs it?"


def test_log_probabilities_of_a_chat_are_read() -> None:
    choice = {"message": {"content": "Yes."}, "finish_reason": "stop", "logprobs": {"content": [{"logprob": -0.25}]}}
    [[said]], server = ask([of_json({"choices": [choice]})], Sampling(logprobs=True))
    assert said.logprobs == (-0.25,)
    assert server.requests[0].body["logprobs"] is True


@pytest.mark.parametrize(
    ("told", "understood"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "other"), ("tool_calls", "stop"), (None, "other")],
)
def test_why_a_completion_ended_is_kept(told: Any, understood: str) -> None:
    [[said]], _ = ask([says("It is", finish=told)])
    assert said.finish_reason == understood


def test_texts_are_sent_in_utf_8_and_half_a_character_that_comes_back_is_replaced() -> None:
    broken = Answer(body=b'{"choices": [{"message": {"content": "caf\\u00e9 \\ud83d\\ude00 \\ud83d"}}]}')
    [[said]], server = ask([broken], Sampling(extra={"note": "na\u00efve"}))
    assert said.text == "caf\u00e9 \U0001f600 \ufffd"
    assert server.requests[0].body["note"] == "na\u00efve"
    assert server.requests[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("value", "kind", "reason"),
    [
        ("\ud83d", ModelRefusedError, "lone surrogates"),
        (float("nan"), ConfigError, "must be valid JSON"),
        ({1, 2}, ConfigError, "must be valid JSON"),
    ],
)
def test_what_cannot_be_sent_is_an_error_of_ours_before_it_is_sent(
    value: Any, kind: type[VouchError], reason: str
) -> None:
    with pytest.raises(kind, match=reason):
        ask([], Sampling(extra={"note": value}))


def test_an_answer_without_content_is_an_empty_text_and_a_refusal_is_one_that_ended_otherwise() -> None:
    empty = {"message": {"content": None}, "finish_reason": "length"}
    refusal = {"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}
    [said], _ = ask([of_json({"choices": [empty, refusal]})], Sampling(n=2))
    assert [(one.text, one.finish_reason) for one in said] == [("", "length"), ("I cannot.", "other")]


def test_a_server_that_ignores_n_is_asked_for_the_rest_with_other_seeds() -> None:
    [said], server = ask([says("a"), says("b"), says("c")], Sampling(n=3, seed=5))
    assert [one.text for one in said] == ["a", "b", "c"]
    assert [(request.body.get("n"), request.body["seed"]) for request in server.requests] == [(3, 5), (2, 6), (None, 7)]
    usage = total_usage(said)
    assert (usage.prompt_tokens, usage.completion_tokens, usage.calls) == (30, 6, 3)


def test_a_server_that_refuses_n_is_asked_one_at_a_time_from_then_on() -> None:
    def script(request: Request) -> Answer:
        return REFUSED if "n" in request.body else says("a")

    said, server = ask(script, Sampling(n=2), Sampling(n=2))
    assert [len(one) for one in said] == [2, 2]
    assert [request.body.get("n") for request in server.requests] == [2, None, None, None, None]


def test_more_completions_than_asked_for_are_cut() -> None:
    assert [one.text for one in ask([says("a", "b", "c")], Sampling(n=2))[0][0]] == ["a", "b"]


def formats(server: FaultServer) -> list[str | None]:
    return [request.body.get("response_format", {}).get("type") for request in server.requests]


def test_a_schema_is_sent_as_one() -> None:
    _, server = ask([says("{}")], Sampling(json_schema=SCHEMA))
    assert server.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
    }


def test_a_refused_schema_becomes_any_json_then_plain_and_the_server_is_remembered() -> None:
    script = [REFUSED, REFUSED, says("{}")]
    _, server = ask(script, Sampling(json_schema=SCHEMA), Sampling(json_schema=SCHEMA), Sampling())
    assert formats(server) == ["json_schema", "json_object", None, None, None]


def test_any_json_is_not_asked_for_where_the_prompt_does_not_speak_of_it() -> None:
    async def main() -> FaultServer:
        async with FaultServer([REFUSED, says("yes"), says("yes"), says("{}")]) as server:
            model, asked = HttpModel(server.url, "m"), Sampling(json_schema=SCHEMA)
            [await model.generate(messages, asked) for messages in (ASK[1:], ASK[1:], ASK)]
            return server

    assert formats(asyncio.run(main())) == ["json_schema", None, None, "json_object"]


def test_a_server_that_takes_any_json_is_remembered_as_that() -> None:
    script = [of_json({}, status=422), says("{}"), says("{}")]
    _, server = ask(script, Sampling(json_schema=SCHEMA), Sampling(json_schema=SCHEMA))
    assert formats(server) == ["json_schema", "json_object", "json_object"]


def test_a_request_that_is_refused_in_every_form_says_nothing_about_the_server() -> None:
    async def main() -> FaultServer:
        async with FaultServer([REFUSED, REFUSED, REFUSED, says("{}")]) as server:
            model = HttpModel(server.url, "m")
            with pytest.raises(ModelRefusedError, match="400 Bad Request: unsupported"):
                await model.generate(ASK, Sampling(json_schema=SCHEMA))
            await model.generate(ASK, Sampling(json_schema=SCHEMA))
            return server

    assert formats(asyncio.run(main())) == ["json_schema", "json_object", None, "json_schema"]


@pytest.mark.parametrize(
    ("status", "kind", "can_retry"),
    [
        *((status, ModelUnavailableError, True) for status in (408, 429, 500, 502, 503, 504)),
        *((status, ConfigError, False) for status in (301, 401, 403, 404)),
        *((status, ModelRefusedError, False) for status in (400, 413, 422)),
    ],
)
def test_a_status_decides_whether_a_retry_can_help(status: int, kind: type[VouchError], can_retry: bool) -> None:
    with pytest.raises(kind) as caught:
        ask([of_json({"error": {"message": "no such luck"}}, status=status, headers={"location": "/there"})])
    assert caught.value.can_retry is can_retry
    assert ("/there" if status == 301 else f"{status}") in str(caught.value)
    assert "no such luck" in str(caught.value) or status == 301


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(body=b"<html>Welcome</html>", headers={"content-type": "text/html"}), r"text/html.*<html>Welcome"),
        (Answer(body=b'{"choices": [{"mess', headers={"content-type": "application/json"}), "expected JSON"),
        (Answer(), "expected JSON: an empty body"),
        (Answer(body=b"\xff\xfe{}", headers={"content-type": "application/json"}), "expected JSON"),
        (of_json([]), r"expected a JSON object from .*, got \[\]"),
        (of_json({"usage": {}}), "has no choices"),
        (of_json({"choices": []}), "has no choices"),
        (of_json({"choices": "none"}), "has no choices"),
        (of_json({"error": {"message": "overloaded"}}), "overloaded"),
        (of_json({"choices": [{"message": {"content": 7}}]}), "has a choice without text"),
        (of_json({"choices": [None]}), "has a choice without text"),
        (Answer(body=b"[" * 200_000), "expected JSON"),
        (Answer(body=b'{"choices": [' + b"1" * 5_000 + b"]}"), "expected JSON"),
        (Answer(raw=b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "cannot be read"),
        (Answer(status=204), "expected JSON: an empty body"),
    ],
)
def test_an_answer_that_is_no_completion_is_an_error_that_shows_it(answer: Answer, reason: str) -> None:
    with pytest.raises(ModelAnswerError, match=reason) as caught:
        ask([answer])
    assert not caught.value.can_retry


def test_a_body_that_is_not_what_its_encoding_says_is_an_answer_that_cannot_be_read() -> None:
    with pytest.raises(ModelAnswerError, match="cannot be read"):
        ask([Answer(body=b"no gzip", headers={"content-encoding": "gzip"})])


@pytest.mark.parametrize("status", [400, 429, 500, 404])
def test_a_failure_with_a_body_of_any_depth_is_that_failure(status: int) -> None:
    with pytest.raises(VouchError, match=str(status)):
        ask([Answer(status=status, body=b"[" * 200_000)])


ODD: list[dict[str, Any]] = [
    {"finish_reason": ["stop"]},
    {"finish_reason": {}},
    {"logprobs": {"content": 7}},
    {"logprobs": []},
    {"logprobs": {"token_logprobs": ["x"]}},
    {"logprobs": {"content": [{"logprob": float("nan")}]}},
]


@pytest.mark.parametrize("odd", ODD)
def test_fields_of_the_wrong_type_beside_a_text_say_nothing(odd: dict[str, Any]) -> None:
    choice = {"message": {"content": "Yes."}, **odd}
    usage = {"prompt_tokens": -5, "completion_tokens": True}
    [[said]], _ = ask([of_json({"choices": [choice], "usage": usage})], Sampling(logprobs=True))
    assert (said.text, said.finish_reason, said.logprobs) == ("Yes.", "other", None)
    assert (said.usage.prompt_tokens, said.usage.completion_tokens) == (0, 0)


@pytest.mark.parametrize("sent", [0, 20])
def test_a_connection_that_closes_in_the_middle_of_a_body_can_be_tried_again(sent: int) -> None:
    with pytest.raises(ModelUnavailableError, match="closed connection without sending complete message body"):
        ask([says("Yes.", send=sent)])


def test_a_server_that_hangs_or_is_not_there_can_be_tried_again() -> None:
    with pytest.raises(ModelDeadlineError, match=r"did not answer within 0\.1\d* seconds: allow more"):
        ask([says("Yes.", delay=FOREVER)], timeout=0.1)

    async def nobody() -> None:
        async with FaultServer([]) as server:
            url = server.url
        await HttpModel(url, "m").generate(ASK, Sampling())

    with pytest.raises(
        ModelUnavailableError, match=r"cannot connect to 127\.0\.0\.1:\d+ \(Connection refused\)$"
    ) as raised:
        asyncio.run(nobody())
    assert raised.value.status is None


def test_the_reason_of_a_failed_connection_is_that_of_the_system() -> None:
    """In synchronous code, and in a handler of another error, the chain of causes begins with what is no reason."""
    with pytest.raises(ModelUnavailableError, match=r"cannot connect to 127\.0\.0\.1:9 \(Connection refused\)"):
        vouching.check("It rained.", "It rained.", model="http://127.0.0.1:9/v1#m")


def test_a_cancelled_call_closes_its_connection_and_the_next_call_gets_another() -> None:
    async def main() -> str:
        async with FaultServer([says("late", delay=FOREVER), says("Yes.")]) as server:
            model = HttpModel(server.url, "m")
            call = asyncio.ensure_future(model.generate(ASK, Sampling()))
            while not server.under_way:
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await asyncio.wait_for(server.hung_up.wait(), 10)
            return (await model.generate(ASK, Sampling()))[0].text

    assert asyncio.run(main()) == "Yes."


def test_a_model_lives_through_several_event_loops() -> None:
    models: list[HttpModel] = []

    async def once(port: int = 0) -> int:
        async with FaultServer([says("Yes.")], port) as server:
            models.append(models[0] if models else HttpModel(server.url, "m"))
            assert (await models[-1].generate(ASK, Sampling()))[0].text == "Yes."
            return server.port

    port = asyncio.run(once())
    asyncio.run(once(port))
    assert models[0] is models[1]


@pytest.mark.parametrize(
    ("wish", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("-3", 0.0), ("", None), ("soon", None), ("inf", None), ("nan", None)],
)
def test_a_wish_to_wait_is_understood_in_seconds(wish: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": wish}) == seconds


def test_a_wish_to_wait_is_understood_as_a_date() -> None:
    wait = retry_after({"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)})
    # A date has whole seconds, so up to one of the thirty is lost, and some of the next while the test runs.
    assert wait is not None
    assert 20 < wait <= 30


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host:8000",
        "ftp://host/v1",
        "http://",
        "http://host:99999/v1",
        "http://h/v1?a=b",
        "http://my host/v1",
        "http://..../v1",
        f"http://{'a' * 70}.org/v1",
    ],
)
def test_an_address_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(ConfigError, match="address of a model"):
        HttpModel(url, "m")


def test_two_endpoints_of_a_server_have_two_names_and_each_opens_itself_again() -> None:
    chat, text = HttpModel("http://host/v1", "m"), HttpModel("http://host/v1", "m", endpoint="text")
    assert (chat.name, text.name) == ("http://host/v1#m", "http://host/v1/completions#m")
    assert [open_model(name, cache="").name for name in (chat.name, text.name)] == [chat.name, text.name]


def test_an_address_with_a_password_is_refused_since_names_are_shown() -> None:
    with pytest.raises(ConfigError, match="VOUCH_API_KEY") as caught:
        HttpModel("http://ann:secret@host/v1", "m")
    assert "secret" not in str(caught.value)


def test_a_model_with_another_name_for_the_length_and_one_temperature_is_asked_as_it_wants_and_remembered() -> None:
    # what hosted models that think answer, one field at a time
    def script(request: Request) -> Answer:
        if "max_tokens" in request.body:
            told = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
            return of_json({"error": {"message": told}}, status=400)
        if "temperature" in request.body:
            told = "Unsupported value: 'temperature' does not support 0. Only the default (1) is supported."
            return of_json({"error": {"message": told}}, status=400)
        return says("{}")

    _, server = ask(script, Sampling(max_tokens=9, json_schema=SCHEMA), Sampling(max_tokens=9))
    assert len(server.requests) == 4
    for request in server.requests[2:]:
        assert request.body["max_completion_tokens"] == 9
        assert not {"max_tokens", "temperature"} & request.body.keys()
    assert formats(server)[2] == "json_schema"  # what it does take is not given up with the rest


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ("`logprobs` is not supported with this model", 400),
        ("Bad request", 400),
        ("You are not allowed to request logprobs from this model.", 403),  # OpenAI's models that think
        ("logprobs is not supported for models created with logits_all=False", 500),  # llama-cpp-python
    ],
)
def test_a_server_that_refuses_alternatives_of_tokens_is_asked_without_and_not_for_them_again(
    told: str, status: int
) -> None:
    def script(request: Request) -> Answer:
        return of_json({"error": {"message": told}}, status=status) if "logprobs" in request.body else says("{}")

    wanted = Sampling(json_schema=SCHEMA, top_logprobs=20)
    _, server = ask(script, wanted, wanted)
    assert [request.body.get("top_logprobs") for request in server.requests[-2:]] == [None, None]
    assert formats(server)[-2:] == ["json_schema", "json_schema"]


def test_a_server_that_gives_few_alternatives_of_a_token_is_asked_for_few() -> None:
    def script(request: Request) -> Answer:
        told = of_json({"error": {"message": "Range of top_logprobs should be [0, 5]"}}, status=400)
        return told if request.body.get("top_logprobs", 0) > 5 else says("{}")

    _, server = ask(script, *[Sampling(top_logprobs=number) for number in (20, 20, 3)], Sampling())
    assert [request.body.get("top_logprobs") for request in server.requests] == [20, 5, 5, 3, None]
    assert [request.body.get("logprobs") for request in server.requests] == [True, True, True, True, None]


def test_a_wrong_key_is_no_refusal_of_log_probabilities() -> None:
    told = of_json({"error": {"message": "this key may not use the model logprobs-1"}}, status=403)
    with pytest.raises(ConfigError, match="may not use"):
        ask([told], Sampling())
    with pytest.raises(ConfigError, match="may not use"):
        ask([told], Sampling(top_logprobs=20))


def test_a_server_that_refuses_the_newer_name_too_is_not_asked_for_ever() -> None:
    told = of_json({"error": {"message": "max_completion_tokens is too large"}}, status=400)
    with pytest.raises(ModelRefusedError, match="too large"):
        ask([told] * 9, Sampling())
