"""The event of a result, as a provider of OpenTelemetry receives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from vouching import Checker
from vouching.evaluation_events import evaluation_attributes
from vouching.types import Claim, Unverified

logs = pytest.importorskip("opentelemetry._logs", reason="opentelemetry-api is not installed")


class _Provider(logs.LoggerProvider):  # type: ignore[misc, name-defined]
    """Gives itself as every logger, and keeps what is emitted."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def get_logger(self, *_: Any, **__: Any) -> Any:
        return self

    def emit(self, *_: Any, event_name: str = "", attributes: Any = None, **__: Any) -> None:
        self.events.append((event_name, dict(attributes)))


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    from vouching import evaluation_events

    provider = _Provider()
    monkeypatch.setattr(logs, "get_logger", provider.get_logger)
    evaluation_events._logger.cache_clear()
    yield provider.events
    evaluation_events._logger.cache_clear()


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
    found = evaluation_attributes("check", Unverified(Claim("It rained."), "backend", "no answer"), "resp-1")
    assert found == {
        "gen_ai.evaluation.name": "attributable",
        "gen_ai.evaluation.score.label": "unverified",
        "error.type": "backend",
        "gen_ai.response.id": "resp-1",
    }


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
