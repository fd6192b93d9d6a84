"""What a server keeps in its ledger: every answered request, and nothing else; and how it is read and reviewed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("sqlalchemy", reason="the extra serve is not installed")

import httpx2

from tests.serve.served import BRIDGE, policy, served
from vouching import Client, VouchError
from vouching.errors import ConfigError
from vouching.ledger import open_ledger
from vouching.serve.keys import KeyFile


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A server with a ledger: its address, and the ledger's."""
    target = str(tmp_path / "verdicts.db")
    with served(policy(ledger=target)) as (url, _):
        yield url, target


def test_every_answer_of_many_clients_is_one_row_of_an_intact_chain(kept: tuple[str, str]) -> None:
    url, target = kept

    def ask(number: int) -> None:
        with Client(url) as client:
            for n in range(10):
                client.check(f"The bridge has {number * 10 + n} towers.", BRIDGE)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_ledger(target) as ledger:
        claims = {row.inputs["claim"] for row in ledger.rows() if row.inputs}
        assert claims == {f"The bridge has {number} towers." for number in range(60)}
        assert ledger.count() == 60
        assert ledger.verify().intact


def test_rows_have_inputs_record_caller_and_time(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    secret, key = keys.add("search team", ["check", "read"])
    target = str(tmp_path / "verdicts.db")
    with served(policy(ledger=target, keys=str(keys.path))) as (url, _), Client(url, key=secret) as client:
        verdict = client.check("The bridge opened in 1937.", BRIDGE)
        client.check_response("It opened in 1937.", BRIDGE)
        list(client.stream_response("It opened in 1973.", BRIDGE))
        headers = {"authorization": f"Bearer {secret}"}
        [streamed, report, row] = httpx2.get(f"{url}/v1/verdicts", headers=headers).json()["rows"]
    assert (row["caller"], row["label"], row["model"]) == (f"search team ({key.id})", verdict.label, "embedded:rules")
    assert row["inputs"]["sources"][0]["text"] == BRIDGE["text"]
    assert row["record"]["score"] == verdict.score
    assert row["timing"]["seconds"] > 0
    assert (report["kind"], report["label"], streamed["label"]) == ("check-response", "failed", "passed")
    assert secret not in Path(target).read_bytes().decode("latin-1")


def test_verdicts_are_found_by_filter_text_and_page(kept: tuple[str, str]) -> None:
    url, _ = kept
    with Client(url) as client:
        for number in range(5):
            client.check(f"It has {number} towers.", BRIDGE)
    first = httpx2.get(f"{url}/v1/verdicts", params={"limit": 2}).json()
    assert [row["inputs"]["claim"] for row in first["rows"]] == ["It has 4 towers.", "It has 3 towers."]
    second = httpx2.get(f"{url}/v1/verdicts", params={"limit": 3, "before": first["next"]}).json()
    assert (len(second["rows"]), second["next"]) == (3, None)
    assert len(httpx2.get(f"{url}/v1/verdicts", params={"label": "Attributable"}).json()["rows"]) == 1
    assert len(httpx2.get(f"{url}/v1/verdicts", params={"text": "2 TOWERS"}).json()["rows"]) == 1
    assert httpx2.get(f"{url}/v1/verdicts", params={"labels": "a"}).status_code == 422
    assert httpx2.get(f"{url}/v1/verdicts/99").status_code == 422


def test_a_review_is_a_row_about_the_row_that_it_corrects(kept: tuple[str, str]) -> None:
    url, target = kept
    with Client(url) as client:
        client.check("The bridge opened in 1937.", BRIDGE)
    made = httpx2.post(f"{url}/v1/reviews", json={"about": 1, "label": "Attributable", "note": "No."})
    assert (made.status_code, made.json()["about"]) == (201, 1)
    [found] = httpx2.get(f"{url}/v1/reviews", params={"about": 1}).json()["rows"]
    assert found["record"]["label"] == "Attributable"
    assert httpx2.post(f"{url}/v1/reviews", json={"about": 7}).status_code == 422
    with open_ledger(target) as ledger:
        assert ledger.verify().intact


def test_a_request_that_cannot_be_kept_gets_no_verdict(tmp_path: Path) -> None:
    target = tmp_path / "verdicts.db"
    with served(policy(ledger=str(target))) as (url, service), Client(url) as client:
        client.check("It opened in 1973.", BRIDGE)
        assert service.recorder is not None
        with service.recorder.ledger.store.write() as connection:
            connection.exec_driver_sql("ALTER TABLE ledger_rows RENAME TO moved")
        with pytest.raises(VouchError, match=r"nothing was answered.*no such table.*will fail again") as error:
            client.check("It opened in 1973.", BRIDGE)
        assert not error.value.can_retry
        with service.recorder.ledger.store.write() as connection:
            connection.exec_driver_sql("ALTER TABLE moved RENAME TO ledger_rows")
        client.check("It opened in 1973.", BRIDGE)
    with open_ledger(target) as ledger:
        assert ledger.count() == 2


def test_a_server_without_a_ledger_says_how_to_have_one() -> None:
    with served(policy()) as (url, _):
        answer = httpx2.get(f"{url}/v1/verdicts").json()
    assert (answer["error"], "--ledger" in answer["detail"]) == (ConfigError.__name__, True)


def test_a_restart_of_postgresql_under_load_loses_no_answered_row() -> None:
    """Requests during the restart get an error that can be retried; the rest is kept, once each."""
    from tests.ledger.server import NoPostgres, PostgresServer

    try:
        database = PostgresServer()
    except NoPostgres as reason:
        pytest.skip(str(reason))
    answered: list[str] = []
    failed: list[VouchError] = []
    try:
        target = database.database()
        with served(policy(ledger=target)) as (url, _):
            ended = threading.Event()

            def ask(number: int) -> None:
                n = 0
                while not ended.is_set():
                    n += 1
                    claim = f"The bridge has {1_000 * number + n} towers."
                    try:
                        with Client(url, timeout=30) as client:
                            client.check(claim, BRIDGE)
                    except VouchError as error:
                        failed.append(error)
                    else:
                        answered.append(claim)

            threads = [threading.Thread(target=ask, args=(number,)) for number in range(3)]
            for thread in threads:
                thread.start()
            _wait_until(lambda: len(answered) >= 10)
            database.stop()
            _wait_until(lambda: bool(failed))
            database.start()
            before = len(answered)
            _wait_until(lambda: len(answered) >= before + 10)
            ended.set()
            for thread in threads:
                thread.join()
        assert all(error.can_retry for error in failed)
        with open_ledger(target) as ledger:
            kept = [row.inputs["claim"] for row in ledger.rows() if row.inputs]
            assert ledger.verify().intact
        assert {*answered} <= {*kept}
        assert len(kept) == len({*kept})
    finally:
        database.remove()


def test_what_others_said_is_not_shown_before_ones_own_decision(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    asked = {name: keys.add(name, ["check", "read", "review"])[0] for name in ("Ada", "Bob")}
    asked["Eve"] = keys.add("Eve", ["read"])[0]
    headers = {name: {"authorization": f"Bearer {secret}"} for name, secret in asked.items()}
    settings = {"keys": str(keys.path), "ledger": str(tmp_path / "verdicts.db"), "reviewers": 2}
    with served(policy(**settings)) as (url, _), httpx2.Client(base_url=url) as web:

        def post(name: str, path: str, **body: str) -> httpx2.Response:
            return web.post(f"/v1/queue/{path}", json=body, headers=headers[name])

        def names(taken: httpx2.Response) -> list[str]:
            return [one["reviewer"] for one in taken.json()["item"]["reviews"]]

        def sees(name: str) -> bool:
            return "The mayor says so." in web.get("/history/1", headers=headers[name]).text

        claim = {"claim": "It opened in 1937.", "sources": [BRIDGE]}
        assert web.post("/v1/check", json=claim, headers=headers["Ada"]).status_code == 200
        post("Ada", "1.0/take")
        decided = post("Ada", "1.0/decide", label="Attributable", note="The mayor says so.").json()
        assert [one["reviewer"] for one in decided["reviews"]] == ["Ada"]
        assert names(post("Bob", "next")) == names(post("Bob", "1.0/take")) == []
        assert (sees("Ada"), sees("Bob"), sees("Eve")) == (True, False, True)  # Eve does not review
        assert "1 review of others" in web.get("/history/1", headers=headers["Bob"]).text
        decided = post("Bob", "1.0/decide", label="Not Attributable").json()
        assert {one["reviewer"] for one in decided["reviews"]} == {"Ada", "Bob"}
        assert sees("Bob")
        assert {*names(post("Bob", "1.0/take"))} == {"Ada", "Bob"}
        assert {*names(post("Bob", "undo"))} == {"Bob"}  # his decision is taken back: he decides anew, on his own
        assert not sees("Bob")


def test_a_caller_objects_to_its_own_verdict_and_to_no_other(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    secrets = {"team": keys.add("team")[0], "other": keys.add("other")[0], "Ada": keys.add("Ada", ["review"])[0]}
    headers = {name: {"authorization": f"Bearer {secret}"} for name, secret in secrets.items()}
    settings = {"keys": str(keys.path), "ledger": str(tmp_path / "verdicts.db")}
    with served(policy(**settings)) as (url, _), httpx2.Client(base_url=url) as web:
        claim = {"claim": "It opened in 1937.", "sources": [BRIDGE]}
        assert web.post("/v1/check", json=claim, headers=headers["team"]).status_code == 200

        def objects(name: str) -> int:
            return web.post("/v1/queue/1.0/object", json={"note": "It did."}, headers=headers[name]).status_code

        def disputed() -> int:
            return web.get("/v1/queue", headers=headers["Ada"]).json()["counts"]["disputed"]

        assert (objects("other"), disputed()) == (422, 0)
        assert (objects("team"), disputed()) == (204, 1)
        [entry] = web.get("/v1/queue/audit", headers=headers["Ada"]).json()
        assert (entry["reviewer"], entry["action"], entry["note"]) == ("team", "object", "It did.")


def _wait_until(reached: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.05)
