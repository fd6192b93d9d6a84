"""The HTTP API over real connections: its records are the command line's, its errors the library's."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import jsonschema
import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

import httpx2
from pydantic import BaseModel, ValidationError

import vouching
from tests.cli.chat_server import chat_server
from tests.serve.served import BRIDGE, policy, served
from vouching import AsyncClient, Client, Report, Verdict
from vouching.client.requests import check_answer
from vouching.errors import ConfigError, InputError, ModelUnavailableError, ServerUnavailableError, VouchError
from vouching.serve import bodies
from vouching.serve.policy import JudgeSettings, Policy
from vouching.types import Usage
from vouching.types.serial import json_schema

ANSWER = "It opened in 1937. It has three towers. Is that all?"
TASK = {
    "task": "t",
    "data": {"paid": [40, 2]},
    "rules": [{"id": "R", "text": "The total is the sum.", "value": "sum(data.paid)"}],
    "units": [{"id": "total", "type": "amount", "rules": ["R"]}],
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(policy(ledger=str(tmp_path_factory.mktemp("ledger") / "verdicts.db"))) as (address, _):
        yield address


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Client]:
    with Client(url) as opened:
        yield opened


def untimed(report: Any) -> Any:
    """A record without the time it took."""
    if isinstance(report, Report):
        return replace(
            report,
            usage=Usage(),
            findings=tuple(map(untimed, report.findings)),
            unrepaired=tuple(map(untimed, report.unrepaired)),
        )
    return replace(report, usage=Usage())


def test_a_claim_gets_the_same_verdict_as_in_this_process(client: Client) -> None:
    claim = "The bridge opened in 1937."
    assert untimed(client.check(claim, BRIDGE)) == untimed(vouching.check(claim, BRIDGE, model="embedded:rules"))


def test_a_list_of_claims_is_answered_by_a_list_in_order(client: Client) -> None:
    claims = ["It has three towers.", "It opened in 1937."]
    here = vouching.check(claims, BRIDGE, model="embedded:rules")
    assert [untimed(one) for one in client.check(claims, BRIDGE)] == [untimed(one) for one in here]


def test_a_response_gets_the_same_report_and_repair_as_in_this_process(client: Client) -> None:
    here = vouching.check_response(ANSWER, BRIDGE, "When?", repair_rest="mark", model="embedded:rules")
    there = client.check_response(ANSWER, BRIDGE, "When?", repair_rest="mark")
    assert untimed(there) == untimed(here)
    assert there.revised_response == "It opened in 1973. It has three towers. Is that all?"


def test_findings_arrive_one_by_one_before_the_report(client: Client) -> None:
    *findings, report = client.stream_response(ANSWER, BRIDGE)
    assert isinstance(report, Report)
    assert tuple(untimed(one) for one in findings) == untimed(report).findings
    assert len(findings) == 2


def test_sentences_are_checked_once_each_while_a_response_is_written(url: str) -> None:
    async def parts() -> AsyncIterator[str]:
        for part in ("It ope", "ned in 19", "37. It has", " three towers. Is", " that all?"):
            yield part

    async def labels() -> list[tuple[str, str]]:
        async with AsyncClient(url) as client:
            return [(one.claim.text, one.label) async for one in client.check_written(parts(), BRIDGE)]

    assert asyncio.run(labels()) == [
        ("It opened in 1937.", "Not Attributable"),
        ("It has three towers.", "Attributable"),
    ]


MESSAGES = [
    {"role": "user", "content": "When did the bridge open?"},
    {"role": "tool", "tool_call_id": "call_1", "name": "search", "content": BRIDGE["text"]},
    {"role": "assistant", "content": "The bridge opened in 1937."},
]


def kept(url: str, kind: str) -> int:
    """How many rows of a kind the ledger has."""
    return len(httpx2.get(f"{url}/v1/verdicts", params={"kind": kind}).json()["rows"])


def test_a_conversation_has_the_reports_of_the_library_and_each_answer_a_row_in_the_ledger(
    client: Client, url: str
) -> None:
    before = kept(url, "check-response")
    here = vouching.check_trace(MESSAGES, model="embedded:rules")
    for there in (client.check_trace(MESSAGES), client.check_trace("\n".join(map(json.dumps, MESSAGES)))):
        assert [untimed(report) for report in there] == [untimed(report) for report in here]
    [before_evidence] = client.check_trace([{"role": "assistant", "content": "It has three towers."}])
    assert [finding.kind for finding in (*here[0].findings, *before_evidence.findings)] == ["verdict", "unverified"]
    assert kept(url, "check-response") == before + 3
    with pytest.raises(InputError, match="has no answer of a model"):
        client.check_trace([{"role": "user", "content": "When?"}])


def test_every_other_method_answers_as_its_command_does(client: Client) -> None:
    assert client.follow("Use no commas.", "So it is.").score == 1.0
    audited = client.audit("The bridge has 2 towers.", BRIDGE)
    assert [pair.outcome for pair in audited.findings] == ["different"]
    ranking = client.rank("When did it open?", ["1937", "1973"], BRIDGE)
    assert [answer.text for answer in ranking.answers] == ["1973", "1937"]
    assert client.challenge(TASK, {"values": {"total": 41}}).units[0].correction == "42"


@pytest.mark.parametrize("question", ["When did it open?", "Why?"])
def test_a_context_is_judged_and_kept_as_here_by_both_clients(client: Client, url: str, question: str) -> None:
    async def asked() -> Any:
        async with AsyncClient(url) as other:
            return await other.check_context(question, [BRIDGE], "In 1973.")

    before, here = kept(url, "context"), vouching.check_context(question, [BRIDGE], "In 1973.")
    for there in (client.check_context(question, [BRIDGE], "In 1973."), asyncio.run(asked())):
        assert replace(there, usage=here.usage) == here
    assert kept(url, "context") == before + 2


def test_records_match_the_published_schemas(url: str) -> None:
    bodies: dict[str, tuple[str, dict[str, Any]]] = {
        "/v1/check": ("verdict", {"claim": "It opened in 1937.", "sources": [BRIDGE]}),
        "/v1/check-response": ("report", {"response": ANSWER, "sources": [BRIDGE]}),
        "/v1/audit": ("report", {"response": "It has 2 towers.", "sources": [BRIDGE]}),
        "/v1/follow": ("report", {"instruction": "Use no commas.", "response": "So it is."}),
        "/v1/rank": ("ranking", {"question": "When?", "answers": ["1937"], "sources": [BRIDGE]}),
        "/v1/context": ("context", {"question": "When did it open?", "sources": [BRIDGE], "answer": "In 1973."}),
        "/v1/challenge": ("assurance", {"task": TASK, "proposal": {"values": {"total": 41}}}),
    }
    described = httpx2.get(f"{url}/openapi.json").json()["paths"]
    for path, (record, body) in bodies.items():
        answer = httpx2.post(url + path, json=body)
        assert answer.status_code == 200, answer.text
        jsonschema.validate(answer.json(), json_schema(record))
        assert "examples" in str(described[path]["post"]) or "$ref" in str(described[path]["post"]["requestBody"])


def test_every_example_of_the_description_is_accepted(url: str) -> None:
    described = httpx2.get(f"{url}/openapi.json").json()
    for path, routes in described["paths"].items():
        for route in routes.values():
            if "requestBody" not in route:
                continue
            [name] = [route["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]]
            [example] = described["components"]["schemas"][name]["examples"]
            answer = httpx2.post(url + path.replace("{method}", "structured").replace("{id}", "1.0"), json=example)
            assert answer.status_code < 300, (path, answer.text)


@pytest.mark.parametrize(
    ("claim", "sources"), [("", BRIDGE), ("It rained.", []), ("?!", BRIDGE), ("a" * 50_001, BRIDGE)]
)
def test_unusable_input_is_the_same_error_as_in_this_process(client: Client, claim: str, sources: Any) -> None:
    with pytest.raises(InputError) as here:
        vouching.check(claim, sources)
    with pytest.raises(InputError) as there:
        client.check(claim, sources)
    assert str(there.value) == str(here.value)


def test_a_judge_that_the_policy_lacks_is_an_error_that_names_those_it_has(url: str) -> None:
    with Client(url, judge="http://169.254.169.254") as client, pytest.raises(ConfigError, match="has: default"):
        client.check("It rained.", BRIDGE)


def test_an_unknown_field_is_named_in_a_problem_object(url: str) -> None:
    answer = httpx2.post(f"{url}/v1/check", json={"claim": "a", "sources": ["b"], "treshold": 0.1})
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["detail"].startswith("unknown field treshold")


def test_a_source_is_uploaded_once_and_named_by_its_digest(client: Client) -> None:
    kept = client.upload(BRIDGE)
    verdict = client.check("The bridge opened in 1937.", kept)
    assert isinstance(verdict, Verdict)
    assert untimed(verdict) == untimed(vouching.check("The bridge opened in 1937.", BRIDGE, model="embedded:rules"))
    with pytest.raises(InputError, match="upload it again"):
        client.check("It rained.", replace(kept, digest="0" * 64))


@pytest.mark.parametrize("body", [b"<html>", b"[" * 100_000, b"\xff", b'{"error": 1, "error": 2}'])
def test_an_error_in_other_words_than_vouchs_is_an_error_of_vouch(body: bytes) -> None:
    with pytest.raises(VouchError, match="the server answered 500, and not as Vouch does: check the address"):
        check_answer(500, body)


FOREIGN: dict[str, tuple[bytes, dict[str, str]]] = {
    "a page": (b"<html>", {}),
    "brackets": (b"[" * 100_000, {}),
    "a list": (b"[[]]", {}),
    "a number of 5,000 digits": (b'{"label": ' + b"9" * 5_000 + b"}", {}),
    "an endless score": (b'{"label": "Attributable", "score": NaN}', {}),
    "bytes that are not UTF-8": (b"\xff", {}),
    "broken gzip": (b"no gzip", {"content-encoding": "gzip"}),
}


@contextmanager
def answering(body: bytes, headers: dict[str, str]) -> Generator[str]:
    """The address of a server that answers one request, with status 200."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            for field, value in {"content-length": str(len(body)), **headers}.items():
                self.send_header(field, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.mark.parametrize("name", FOREIGN)
def test_an_answer_in_other_words_than_vouchs_is_an_error_of_vouch_too(name: str) -> None:
    with answering(*FOREIGN[name]) as address, Client(address, timeout=30) as client, pytest.raises(VouchError):
        client.check("It rained.", BRIDGE)


FOREIGN_STREAMS = {
    "a page": "<html>",
    "nothing": "",
    "another event": "event: ping\ndata: {}\n\n",
    "an event without a name": "data: [DONE]\n\n",
    **{
        f"{name} with {data[:10]}": f"event: {name}\ndata: {data}\n\n"
        for name in ("finding", "problem", "end")
        for data in ("[1]", "[]", "1", "{}", "<html>", "[" * 100_000, '{"checked": "1"}')
    },
}


@pytest.mark.parametrize("name", FOREIGN_STREAMS)
def test_a_stream_in_other_words_than_vouchs_is_an_error_of_vouch(name: str) -> None:
    body = FOREIGN_STREAMS[name].encode()
    with answering(body, {}) as address, Client(address, timeout=30) as client, pytest.raises(VouchError):
        list(client.stream_response(ANSWER, BRIDGE))

    async def written() -> None:
        async def parts() -> AsyncIterator[str]:
            yield ANSWER.rstrip("?")

        with answering(body, {}) as address:
            async with AsyncClient(address, timeout=30) as client:
                _ = [one async for one in client.check_written(parts(), BRIDGE)]

    with pytest.raises(VouchError):
        asyncio.run(written())


@pytest.mark.parametrize("after", ["²", "9" * 400, "-1", "nan", "soon"])
def test_a_time_to_wait_that_is_no_number_is_left_out(after: str) -> None:
    with pytest.raises(ServerUnavailableError) as raised:
        check_answer(503, b"", after)
    assert raised.value.retry_after is None


def test_a_server_out_of_reach_can_be_asked_again_later() -> None:
    with Client("http://127.0.0.1:9") as client, pytest.raises(ServerUnavailableError) as error:
        client.check("It rained.", BRIDGE)
    assert error.value.can_retry


@pytest.mark.parametrize(("said", "expected"), [("who knows", "unparsable"), (503, ModelUnavailableError)])
def test_a_language_model_that_fails_gives_no_label(said: str | int, expected: Any) -> None:
    """An unreadable reply is Unverified, one of each claim; a model out of reach is the error of the library."""
    with chat_server(lambda prompt: said) as name:
        judges = {"default": JudgeSettings(name)}
        with served(Policy(judges=judges)) as (url, _), Client(url) as client:
            if isinstance(expected, str):
                single, report = client.check("It opened in 1937.", BRIDGE), client.check_response(ANSWER, BRIDGE)
                listed = client.check(["It opened in 1937.", "It has towers."], BRIDGE)
                assert [one.reason for one in (single, *listed, *report.findings)] == [expected] * 5
            else:
                with pytest.raises(expected) as error:
                    client.check("It opened in 1937.", BRIDGE)
                assert error.value.can_retry


def test_health_and_numbers_need_no_body(url: str) -> None:
    assert httpx2.get(f"{url}/healthz").json()["status"] == "ok"
    assert httpx2.get(f"{url}/readyz").status_code == 200
    assert 'vouch_requests_total{route="/healthz",status="200"}' in httpx2.get(f"{url}/metrics").text


def test_a_body_without_its_type_is_told_to_name_it(url: str) -> None:
    answer = httpx2.post(f"{url}/v1/check", content=json.dumps({"claim": "It rained.", "sources": ["It did."]}))
    assert answer.status_code == 422
    assert "Content-Type: application/json" in answer.json()["detail"]


def test_text_in_the_body_that_is_no_json_is_a_problem(url: str) -> None:
    for raw in (b"{", b"[" * 100_000, b'{"claim": "\xff"}', b"", json.dumps({"claim": "\ud800"}).encode()):
        answer = httpx2.post(f"{url}/v1/check", content=raw, headers={"content-type": "application/json"})
        assert 400 <= answer.status_code < 500, (raw[:20], answer.text)
        assert answer.json()["error"] == "InputError"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (bodies.StreamBody, {"response": "a", "question": "\ud800"}),
        (bodies.ChallengeBody, {"task": {"data": {"\ud800": 1}}, "proposal": {}}),
        (bodies.RewardBody, {"rows": [{"response": "\ud800"}]}),
        (bodies.FilteredBody, {"stream": "\ud800"}),
        (bodies.SourceBody, {"text": "\ud800"}),
    ],
)
def test_a_text_that_cannot_be_stored_is_refused_at_the_door(body: type[BaseModel], fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=r"a text of the request contains a lone surrogate, U\+D800"):
        body.model_validate(fields)


DEEP: Any = json.loads("[" * 150 + "]" * 150)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("check-response", {"response": {"type": "text", "text": "It opened.", "annotations": DEEP}}),
        ("reward/structured", {"rows": [{"response": DEEP, "gold": "Attributable"}]}),
        ("challenge", {"task": {**TASK, "data": {"paid": DEEP}}, "proposal": {"values": {"total": 41}}}),
        ("check-trace", {"messages": [{"role": "assistant", "content": "It opened.", "x": DEEP}]}),
        ("systemone", {"model": "vouch", "state": {"sources": DEEP}, "questions": {"c": {"type": "noul"}}}),
    ],
)
def test_what_is_nested_too_deeply_is_refused_at_the_door_and_the_ledger_can_be_listed(
    url: str, path: str, fields: dict[str, Any]
) -> None:
    answer = httpx2.post(f"{url}/v1/{path}", json=fields, timeout=60)
    assert (answer.status_code, "nested more than" in answer.text) == (422, True), answer.text
    assert httpx2.get(f"{url}/v1/verdicts").status_code == 200
