"""Assigning over HTTP: who may, to whom, and what the pages show of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from starlette.testclient import TestClient

from tests.review.kept import keep
from tests.serve.served import policy
from vouching.ledger import open_ledger
from vouching.review import ItemId
from vouching.serve.app import build_app
from vouching.serve.keys import KeyFile

SCOPES = {"Lea": ["review", "lead", "read"], "Ada": ["review"], "Bob": ["review"]}


class Desk:
    """A server with keys of a lead and two reviewers."""

    def __init__(self, client: TestClient, secrets: dict[str, str], ids: list[ItemId]) -> None:
        self.client, self.secrets, self.ids = client, secrets, ids

    def post(self, name: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"authorization": f"Bearer {self.secrets[name]}"}
        return self.client.post(f"/v1/queue/{path}", json=body or {}, headers=headers)

    def next(self, name: str) -> str | None:
        item = self.post(name, "next").json()["item"]
        return item and item["id"]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    keys = KeyFile(tmp_path / "keys.json")
    secrets = {name: keys.add(name, scopes)[0] for name, scopes in SCOPES.items()}
    target = str(tmp_path / "verdicts.db")
    with open_ledger(target) as ledger:
        ids = keep(ledger, [0.51, 0.6, 0.9])
    with TestClient(build_app(policy(ledger=target, keys=str(keys.path))), "http://127.0.0.1") as client:
        yield Desk(client, secrets, ids)


def test_a_lead_assigns_and_releases_and_others_do_not_get_it_meanwhile(desk: Desk) -> None:
    last = str(desk.ids[2])
    assert desk.post("Lea", "assign", {"reviewer": "Ada", "items": [last]}).json() == {"items": [last]}
    assert desk.next("Ada") == last
    assert desk.next("Bob") == str(desk.ids[0])
    assert desk.post("Bob", f"{last}/take").status_code == 409
    desk.post("Ada", "release")
    headers = {"authorization": f"Bearer {desk.secrets['Lea']}"}
    listed = desk.client.get("/v1/queue", params={"assignee": "Ada"}, headers=headers).json()["items"]
    assert [(line["id"], line["assignee"]) for line in listed] == [(last, "Ada")]
    assert desk.post("Lea", "assign", {"reviewer": None, "items": [last]}).json() == {"items": [last]}
    assert desk.post("Bob", f"{last}/take").status_code == 200
    audit = desk.client.get("/v1/queue/audit", params={"item": last}, headers=headers).json()
    assert [(one["reviewer"], one["action"], one["assignee"]) for one in audit] == [
        ("Lea", "assign", None), ("Lea", "assign", "Ada"),
    ]  # fmt: skip


def test_a_selection_is_assigned_by_its_order(desk: Desk) -> None:
    found = desk.post("Lea", "assign", {"reviewer": "Bob", "number": 2, "policy": "uncertain"}).json()["items"]
    assert found == [str(one) for one in desk.ids[:2]]
    assert (desk.next("Ada"), desk.next("Bob")) == (str(desk.ids[2]), str(desk.ids[0]))


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"reviewer": "Adah", "number": 1}, 422, "did you mean 'Ada'?"),
        ({"reviewer": "Ada"}, 422, "pass either items, a list of ids, or number"),
        ({"reviewer": None, "number": 1}, 422, "name the items to release"),
        ({"reviewer": "Ada", "items": ["x"]}, 422, "such as 17.2"),
        ({"reviewer": "Ada", "items": ["99"]}, 422, "no verdict 99.0"),
        ({"reviewer": "Ada", "number": 501}, 422, "less than or equal to 500"),
    ],
)
def test_what_cannot_be_assigned_is_refused_with_words(
    desk: Desk, body: dict[str, Any], status: int, words: str
) -> None:
    answer = desk.post("Lea", "assign", body)
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text


def test_only_a_lead_sees_the_form(desk: Desk) -> None:
    assert desk.post("Ada", "assign", {"reviewer": "Ada", "number": 1}).status_code == 403
    for name in ("Lea", "Ada"):
        page = desk.client.get("/review", headers={"authorization": f"Bearer {desk.secrets[name]}"}).text
        assert ('id="assign"' in page) == ('<option value="Bob">' in page) == (name == "Lea")
