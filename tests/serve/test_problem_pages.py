"""A browser that meets an error gets a page that says what to do; a program gets a problem object."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

from starlette.testclient import TestClient

from tests.serve.served import policy
from vouching.serve.app import build_app
from vouching.serve.keys import KeyFile

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    target = str(tmp_path_factory.mktemp("pages") / "verdicts.db")
    with TestClient(build_app(policy(ledger=target)), "http://127.0.0.1") as client:
        yield client


@pytest.mark.parametrize(
    ("path", "status", "words", "back"),
    [
        ("/history/99", 404, "The ledger has no entry 99: search for it in the history", "/history"),
        ("/history/9" + "9" * 30, 404, "The ledger has no entry", "/history"),
        ("/history/<b>x", 404, "&lt;b&gt;x", "/history"),
        ("/history?since=soon", 422, "soon", "/"),
        ("/history?limit=many", 422, "Limit", "/"),
        ("/nothing/here", 404, "There is no such path", "/"),
    ],
)
def test_an_error_is_a_page_with_what_to_do(client: TestClient, path: str, status: int, words: str, back: str) -> None:
    answer = client.get(path, headers=BROWSER)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert words in answer.text
    assert f'<a class="chip" href="{back}">' in answer.text
    assert 'aria-label="Pages"' in answer.text  # the links to the other pages
    assert answer.headers["x-frame-options"] == "DENY"
    plain = client.get(path)
    assert (plain.status_code, plain.headers["content-type"]) == (status, "application/problem+json")


def test_paths_of_the_api_answer_browsers_with_problem_objects_too(client: TestClient) -> None:
    for path in ("/v1/verdicts/99", "/v1/nothing"):
        assert client.get(path, headers=BROWSER).headers["content-type"] == "application/problem+json"


def test_what_the_gate_refuses_is_a_page_too(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    secret, _ = keys.add("Ada", ["read"], requests_per_minute=1)
    served = build_app(policy(keys=str(keys.path), ledger=str(tmp_path / "verdicts.db")))
    with TestClient(served, "http://127.0.0.1") as client:
        headers = {**BROWSER, "authorization": f"Bearer {secret}"}
        assert client.get("/history", headers=headers).status_code == 200
        answer = client.get("/history", headers=headers)
        assert (answer.status_code, "text/html" in answer.headers["content-type"]) == (429, True)
        assert int(answer.headers["retry-after"]) >= 1
        assert "Load the page again in" in answer.text
        stranger = client.get("/history/99", headers=BROWSER)
        assert (stranger.status_code, "Sign in" in stranger.text) == (401, True)
