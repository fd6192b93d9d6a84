"""The numbers of the dashboard and of /metrics: audits of blocking, and the drift alarm."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from starlette.testclient import TestClient

from tests.review.kept import keep, review_sample
from tests.serve.served import policy
from vouching.ledger import Ledger, open_ledger
from vouching.ledger.filters import as_time
from vouching.ledger.tables import REVIEW_ITEMS
from vouching.review import ReviewQueue
from vouching.review.audits import ENOUGH
from vouching.serve.app import build_app
from vouching.serve.policy import JudgeSettings, Policy, ServeSettings
from vouching.serve.proxy_settings import ProxySettings

LOCAL = "http://127.0.0.1"


def drifted(target: str) -> None:
    """A ledger with 40 Attributable verdicts of two weeks ago, and 40 others of today."""
    with open_ledger(target) as ledger:
        keep(ledger, [0.9] * 40)
        changed(ledger, {"at": as_time(datetime.now(UTC) - timedelta(days=14))})
        keep(ledger, [0.1] * 40)


def changed(ledger: Ledger, values: dict[str, str]) -> None:
    """Change what the queue knows of its verdicts: rows of the ledger cannot be changed, their copies in it can."""
    ReviewQueue(ledger).refresh()
    with ledger.store.write() as connection:
        connection.execute(REVIEW_ITEMS.update().values(values))


def test_metrics_have_the_drift_alarm_and_the_shares_behind_it(tmp_path: Path) -> None:
    target = str(tmp_path / "verdicts.db")
    drifted(target)
    with TestClient(build_app(policy(ledger=target)), LOCAL) as client:
        text = client.get("/metrics").text
    assert "vouch_drift_alarm 1.0" in text
    assert 'vouch_drift_not_attributable{period="reference"} 0.0' in text
    assert 'vouch_drift_not_attributable{period="newest"} 1.0' in text
    assert "vouch_blocking_unaudited{" not in text  # this server's policy blocks nobody


def test_without_a_ledger_or_enough_rows_the_alarm_is_not_known(tmp_path: Path) -> None:
    for ledger in ("", str(tmp_path / "verdicts.db")):
        with TestClient(build_app(policy(ledger=ledger)), LOCAL) as client:
            assert "vouch_drift_alarm NaN" in client.get("/metrics").text


def test_a_policy_that_blocks_is_named_on_the_dashboard_until_it_is_audited(tmp_path: Path) -> None:
    target = str(tmp_path / "verdicts.db")
    blocking = Policy(
        ServeSettings(ledger=target),
        judges={"default": JudgeSettings("embedded:rules")},
        proxy=ProxySettings("http://localhost:1", action="block", caller="shop"),
    )
    with TestClient(build_app(blocking), LOCAL) as client:
        shown = client.get("/dashboard").text
        assert "Not audited" in shown
        assert f"0 of {ENOUGH} sampled reviews of different Attributable claims" in shown
        assert 'vouch_blocking_unaudited{caller="shop"} 1.0' in client.get("/metrics").text
        with open_ledger(target) as ledger:
            ids = keep(ledger, [0.9] * ENOUGH, "serve", "shop")
            keep(ledger, [0.9], "serve", "app")
            changed(ledger, {"model": "embedded:rules"})
            review_sample(ReviewQueue(ledger), dict.fromkeys(ids, "Attributable"))
        shown = client.get("/dashboard").text
        assert "Not audited" not in shown
        assert "✓ Audited." in shown
        [audit] = [one for one in client.get("/v1/dashboard").json()["audits"] if one["caller"] == "shop"]
        assert (audit["distinct"], audit["warning"]) == (ENOUGH, None)
        assert "Not audited" not in client.get("/dashboard", params={"caller": "app"}).text  # another caller
