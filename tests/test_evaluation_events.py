"""The event of a result, as a provider of OpenTelemetry receives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from vouching import Checker, check_context
from vouching.evaluation_events import emit_evaluation, evaluation_attributes, of_response
from vouching.types import Claim, Unverified

logs = pytest.importorskip("opentelemetry._logs", reason="opentelemetry-api is not installed")


class _Provider(logs.LoggerProvider):  # type: ignore[misc, name-defined]
    """Gives itself as every logger, and keeps what is emitted."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.traces: list[int] = []
        """The trace of the span that was current at each event."""

    def get_logger(self, *_: Any, **__: Any) -> Any:
        return self

    def emit(self, *_: Any, event_name: str = "", attributes: Any = None, **__: Any) -> None:
        from opentelemetry.trace import get_current_span

        self.events.append((event_name, dict(attributes)))
        self.traces.append(get_current_span().get_span_context().trace_id)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Provider]:
    from vouching import evaluation_events

    provider = _Provider()
    monkeypatch.setattr(logs, "get_logger", provider.get_logger)
    evaluation_events._logger.cache_clear()
    yield provider
    evaluation_events._logger.cache_clear()


@pytest.fixture
def events(provider: _Provider) -> list[tuple[str, dict[str, Any]]]:
    return provider.events


def test_each_result_is_one_event_without_texts(events: list[tuple[str, dict[str, Any]]]) -> None:
    checker = Checker("embedded:rules")
    checker.check(["It opened in 1937.", "It has two towers."], "Opened in 1973, it has two towers.")
    checker.check_response("It opened in 1937. It has two towers.", "Opened in 1973, it has two towers.")
    assert {name for name, _ in events} == {"gen_ai.evaluation.result"}
    wrong, right, whole = [attributes for _, attributes in events]
    assert wrong["gen_ai.evaluation.score.label"] == "fail"
    assert wrong["gen_ai.evaluation.score.value"] < 0.5
    assert wrong["gen_ai.evaluation.explanation"] == "temporal shift"
    assert right["gen_ai.evaluation.score.label"] == "pass"
    assert "gen_ai.evaluation.explanation" not in right
    assert whole["gen_ai.evaluation.explanation"] == "2 claims: 1 attributable, 1 not attributable; 1 temporal shift"
    assert "1937" not in repr(events)


def test_an_instruction_passed_on_within_the_checker_is_one_event(events: list[tuple[str, dict[str, Any]]]) -> None:
    checker = Checker(method="rules")
    checker.check_response("So it is.", question="Use no commas.")
    checker.check_instruction("Use no commas.", "Well, so it is.")
    found = [(a["gen_ai.evaluation.name"], a["gen_ai.evaluation.score.label"]) for _, a in events]
    assert found == [("instruction_following", "pass"), ("instruction_following", "fail")]


def test_a_judge_that_failed_has_an_error_and_no_score() -> None:
    found = evaluation_attributes("check", Unverified(Claim("It rained."), "backend", "no answer"))
    assert found == {
        "gen_ai.evaluation.name": "attributable",
        "gen_ai.evaluation.score.label": "unverified",
        "error.type": "backend",
    }


def test_an_answer_of_an_api_is_named_by_its_id(events: list[tuple[str, dict[str, Any]]]) -> None:
    message = {"id": "msg_1", "role": "assistant", "content": [{"type": "text", "text": "It opened in 1937."}]}
    checker = Checker("embedded:rules")
    checker.check_response(message, "Opened in 1973.")
    checker.check_response("It opened in 1937.", "Opened in 1973.")
    assert [found.get("gen_ai.response.id") for _, found in events] == ["msg_1", None]


def test_a_response_without_an_id_of_its_own_has_the_one_around_it(events: list[tuple[str, dict[str, Any]]]) -> None:
    failed = Unverified(Claim("It rained."), "backend", "no answer")
    with of_response("resp_1"), of_response(None):
        emit_evaluation("check", failed)
    emit_evaluation("check", failed)
    assert [found.get("gen_ai.response.id") for _, found in events] == ["resp_1", None]


_TRACE = "0af7651916cd43dd8448eb211c80319c"
_HEADERS = {"traceparent": f"00-{_TRACE}-b7ad6b7169203331-01"}


def test_a_server_emits_on_the_span_of_its_request_what_its_process_judged(provider: _Provider) -> None:
    pytest.importorskip("fastapi", reason="the extra serve is not installed")
    from starlette.testclient import TestClient

    from tests.serve.served import BRIDGE, policy
    from vouching.serve.app import build_app

    with TestClient(build_app(policy()), "http://127.0.0.1") as client:
        body = {"claim": "It opened in 1937.", "sources": [BRIDGE]}
        assert client.post("/v1/check", json=body, headers=_HEADERS).status_code == 200
    [(_, found)] = provider.events
    assert (found["gen_ai.evaluation.score.label"], provider.traces) == ("fail", [int(_TRACE, 16)])


@pytest.mark.parametrize(("path", "id"), [("chat/completions", "c"), ("responses", "r")])
@pytest.mark.parametrize("stream", [None, "after", "held"])
def test_the_proxy_emits_on_the_callers_trace_with_the_id_of_the_answer(
    provider: _Provider, path: str, id: str, stream: Any
) -> None:
    pytest.importorskip("fastapi", reason="the extra serve is not installed")
    import httpx2

    from tests.serve.upstream import proxy_before, upstream_server

    said = [{"role": "user", "content": "When?"}]
    body = {"messages": said, "input": said, "documents": ["It opened in 1973."], "stream": stream is not None}
    settings = {} if stream is None else {"stream": stream}
    with upstream_server() as upstream, proxy_before(upstream.url, **settings) as url:
        assert httpx2.post(f"{url}/{path}", json=body, headers=_HEADERS, timeout=60).status_code == 200
    [(_, found)] = provider.events
    assert (found["gen_ai.response.id"], found["gen_ai.evaluation.score.label"]) == (id, "fail")
    assert provider.traces == [int(_TRACE, 16)]


def test_a_context_is_an_event_with_what_is_relevant(events: list[tuple[str, dict[str, Any]]]) -> None:
    check_context("When did the Elbe Bridge open?", ["The Elbe Bridge opened in 1973.", "It rains."], "It rains.")
    [(_, found)] = events
    assert (found["gen_ai.evaluation.name"], found["gen_ai.evaluation.score.label"]) == ("context_sufficiency", "pass")
    assert found["gen_ai.evaluation.score.value"] > 0.5
    assert found["gen_ai.evaluation.explanation"] == "1 of 2 sources relevant; addresses the question: no"


def test_a_task_is_an_event_too(events: list[tuple[str, dict[str, Any]]]) -> None:
    task = {
        "task": "t",
        "data": {"paid": [40, 2]},
        "rules": [{"id": "R", "text": "Add.", "value": "sum(data.paid)"}],
        "units": [{"id": "total", "type": "amount", "rules": ["R"]}],
    }
    Checker(method="assurance").check_task(task, {"values": {"total": 41}})
    [(_, found)] = events
    assert found["gen_ai.evaluation.name"] == "assurance"
    assert found["gen_ai.evaluation.explanation"] == "1 unit: 1 challenged, 0 unverified"
