"""``/metrics`` says whether the caller whose answers are blocked is audited."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from starlette.testclient import TestClient

from tests.review.kept import keep, review_sample
from tests.serve.served import policy
from vouching.ledger import open_ledger
from vouching.ledger.tables import REVIEW_ITEMS
from vouching.review import ReviewQueue
from vouching.review.audits import ENOUGH
from vouching.serve.app import build_app
from vouching.serve.policy import JudgeSettings, Policy, ServeSettings
from vouching.serve.proxy_settings import ProxySettings


def metrics_of(served: Policy) -> str:
    with TestClient(build_app(served), "http://127.0.0.1") as client:
        return client.get("/metrics").text


def test_metrics_say_until_the_audit_that_a_policy_blocks_without_one(tmp_path: Path) -> None:
    target = str(tmp_path / "verdicts.db")
    blocking = Policy(
        ServeSettings(ledger=target),
        judges={"default": JudgeSettings("embedded:rules")},
        proxy=ProxySettings("http://localhost:1", action="block", caller="shop"),
    )
    assert 'vouch_blocking_unaudited{caller="shop"} 1.0' in metrics_of(blocking)
    with open_ledger(target) as ledger:
        ids = keep(ledger, [0.9] * ENOUGH, "serve", "shop")
        ReviewQueue(ledger).refresh()
        with ledger.store.write() as connection:  # rows cannot be changed, their copies in the queue can
            connection.execute(REVIEW_ITEMS.update().values({"model": "embedded:rules"}))
        review_sample(ReviewQueue(ledger), dict.fromkeys(ids, "Attributable"))
    assert 'vouch_blocking_unaudited{caller="shop"} 0.0' in metrics_of(blocking)


def test_metrics_of_a_policy_that_does_not_block_have_no_audit(tmp_path: Path) -> None:
    assert "vouch_blocking_unaudited{" not in metrics_of(policy(ledger=str(tmp_path / "verdicts.db")))
