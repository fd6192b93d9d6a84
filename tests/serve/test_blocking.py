"""A policy that blocks warns until its caller was reviewed enough; what the proxy judged is there to be reviewed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from starlette.testclient import TestClient

from tests.review.kept import entry, review_sample
from tests.serve.upstream import upstream_server
from vouching.ledger import open_ledger
from vouching.review import ReviewQueue
from vouching.review.audits import ENOUGH
from vouching.serve.blocking import Blocking
from vouching.serve.policy import Policy, ServeSettings
from vouching.serve.proxy import build_proxy
from vouching.serve.proxy_settings import ProxySettings

ASKED: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "When did it open?"}],
    "documents": ["The bridge opened in 1973. It has two towers."],
}


def answer(policy: Policy) -> tuple[str, dict[str, Any]]:
    """The warning at the start, and the annotation of an answer that is wrong."""
    served = build_proxy(policy)
    with TestClient(served, base_url="http://127.0.0.1") as client:
        return served.state.warning, client.post("/v1/chat/completions", json=ASKED).json()["vouch"]


def test_blocking_warns_at_the_start_and_in_answers_until_the_caller_was_reviewed(tmp_path: Path) -> None:
    target = str(tmp_path / "ledger.db")
    with upstream_server() as upstream:
        settings = ProxySettings(upstream.url, action="block", caller="shop")
        policy = Policy(ServeSettings(ledger=target), proxy=settings)
        start, found = answer(policy)
        assert found["action"] == "blocked"
        assert found["warnings"] == [start]
        assert f"0 of {ENOUGH} sampled reviews of different Attributable claims, judged by embedded" in start
        with open_ledger(target) as ledger:
            queue = ReviewQueue(ledger)
            [line] = queue.lines()  # what was blocked can be reviewed
            assert (line.caller, line.label, line.model) == ("shop", "Not Attributable", "embedded")
            [source] = queue.get(line.id).sources
            assert source.text == ASKED["documents"][0]
            made = [entry(0.9, "serve", "shop", f"Claim {number}.") for number in range(ENOUGH)]
            made = [
                dataclasses.replace(one, record=one.record | {"provenance": _judged_by("embedded")}) for one in made
            ]
            ledger.append(made)
            review_sample(queue, {line.id: line.label for line in queue.lines(limit=10_000)})
        start, found = answer(policy)
        assert start == ""
        assert "warnings" not in found


def test_what_one_of_two_reviewers_decided_does_not_count_as_reviewed(tmp_path: Path) -> None:
    target = str(tmp_path / "ledger.db")
    with open_ledger(target) as ledger:
        made = [entry(0.9, "serve", "shop", f"Claim {number}.") for number in range(ENOUGH)]
        ledger.append(
            [dataclasses.replace(one, record={**one.record, "provenance": _judged_by("embedded")}) for one in made]
        )
        queue = ReviewQueue(ledger, reviewers=2)
        gold = {line.id: line.label for line in queue.lines(limit=10_000)}
        review_sample(queue, gold, reviewer="ann")
        settings = ProxySettings("http://localhost:1", action="block", caller="shop")
        policy = Policy(ServeSettings(ledger=target, reviewers=2), proxy=settings)
        assert f"0 of {ENOUGH} sampled reviews" in Blocking(policy).warning()
        review_sample(queue, gold, reviewer="bob")
        assert Blocking(policy).warning() == ""


def _judged_by(model: str) -> dict[str, Any]:
    return {"model": model, "version": "1"}


def test_without_a_ledger_blocking_says_so_and_annotating_says_nothing() -> None:
    with upstream_server() as upstream:
        start, found = answer(Policy(proxy=ProxySettings(upstream.url, unverified="block")))
        assert "no ledger is set" in start
        assert found["warnings"] == [start]
        start, found = answer(Policy(proxy=ProxySettings(upstream.url)))
        assert (start, "warnings" in found) == ("", False)


def test_an_answer_whose_report_cannot_be_kept_counts_as_not_verified(tmp_path: Path) -> None:
    target = tmp_path / "ledger.db"
    with upstream_server() as upstream:
        policy = Policy(ServeSettings(ledger=str(target)), proxy=ProxySettings(upstream.url, unverified="block"))
        served = build_proxy(policy)
        with open_ledger(str(target)) as ledger, ledger.store.write() as connection:
            connection.exec_driver_sql("DROP TABLE ledger_contents")
        with TestClient(served, base_url="http://127.0.0.1") as client:
            found = client.post("/v1/chat/completions", json=ASKED).json()["vouch"]
        assert (found["outcome"], found["action"]) == ("unverified", "blocked")
