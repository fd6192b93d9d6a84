"""Who may act through a browser: cookies of sessions, requests from other pages, names of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

import httpx2

from tests.serve.served import BRIDGE, policy, served
from vouching.serve.keys import KeyFile
from vouching.serve.sessions import Sessions

CLAIM = {"claim": "The bridge opened in 1937.", "sources": [BRIDGE]}
EVIL = "https://evil.example"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, KeyFile]]:
    """A server with keys, and their file."""
    keys = KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")
    with served(policy(keys=str(keys.path), cors_origins=("https://friend.example",))) as (url, _):
        yield url, keys


@pytest.fixture(scope="module")
def unlocked() -> Iterator[str]:
    with served(policy()) as (url, _):
        yield url


def signed_in(url: str, secret: str, **headers: str) -> tuple[str, str]:
    """The cookie of a new session as a browser sends it back, and the header that set it."""
    answer = httpx2.post(f"{url}/v1/session", json={"key": secret}, headers={"origin": url, **headers})
    assert answer.status_code == 201
    [(name, value)] = SimpleCookie(answer.headers["set-cookie"]).items()
    return f"{name}={value.value}", answer.headers["set-cookie"]


def asked(url: str, **headers: str) -> int:
    """The status of a check with these headers."""
    return httpx2.post(f"{url}/v1/check", json=CLAIM, headers=headers).status_code


def test_the_cookie_is_closed_to_scripts_and_other_sites_and_secure_where_the_page_is(
    locked: tuple[str, KeyFile],
) -> None:
    url, keys = locked
    secret, _ = keys.add("reader")
    _, plain = signed_in(url, secret)
    assert plain.endswith("; Path=/; HttpOnly; SameSite=Strict; Max-Age=28800")  # 480 minutes
    host = url.removeprefix("http://")
    _, secure = signed_in(url, secret, origin=f"https://{host}")  # behind a proxy that ends TLS
    assert secure.startswith("__Host-vouch_session=")  # browsers take this name from this host alone
    assert secure.endswith("; Secure")
    assert plain.startswith("vouch_session=")
    assert secret not in plain + secure


def test_a_session_has_the_scopes_of_its_key_and_ends_with_it(locked: tuple[str, KeyFile]) -> None:
    url, keys = locked
    secret, key = keys.add("reader", ["check"])
    cookie, _ = signed_in(url, secret)
    assert asked(url, cookie=cookie, origin=url) == 200
    assert httpx2.get(f"{url}/v1/verdicts", headers={"cookie": cookie}).status_code == 403
    keys.revoke(key.id)
    assert asked(url, cookie=cookie, origin=url) == 401


def test_signing_out_ends_the_session_on_the_server_too(locked: tuple[str, KeyFile]) -> None:
    url, keys = locked
    cookie, _ = signed_in(url, keys.add("reader")[0])
    other, _ = signed_in(url, keys.add("another")[0])
    answer = httpx2.delete(f"{url}/v1/session", headers={"cookie": cookie, "origin": url})
    assert (answer.status_code, "Max-Age=0" in answer.headers["set-cookie"]) == (204, True)
    assert (asked(url, cookie=cookie, origin=url), asked(url, cookie=other, origin=url)) == (401, 200)


def test_a_request_with_two_session_cookies_is_refused(locked: tuple[str, KeyFile]) -> None:
    url, keys = locked
    secret, _ = keys.add("reader")
    cookie, _ = signed_in(url, secret, origin=f"https://{url.removeprefix('http://')}")
    assert asked(url, cookie=cookie, origin=url) == 200
    for other in ("vouch_session=tossed", cookie):
        for both in (f"{cookie}; {other}", f"{other}; {cookie}"):
            answer = httpx2.get(f"{url}/history", headers={"cookie": both})
            assert (answer.status_code, "2 session cookies" in answer.text) == (403, True)
            assert asked(url, cookie=both, origin=url) == 403


def test_pages_and_sign_ins_count_as_requests_of_the_key(locked: tuple[str, KeyFile]) -> None:
    url, keys = locked
    for path, status in (("/history", 404), ("/v1/session", 201)):  # it keeps no ledger
        secret, _ = keys.add("slow reader", ["read"], requests_per_minute=2)
        cookie, _ = signed_in(url, secret)  # the first of its two requests
        statuses = [
            httpx2.post(f"{url}{path}", json={"key": secret}, headers={"origin": url}).status_code
            if path == "/v1/session"
            else httpx2.get(url + path, headers={"cookie": cookie}).status_code
            for _ in range(2)
        ]
        assert statuses == [status, 429]
    assert httpx2.get(f"{url}/history").status_code == 401  # a stranger is still asked to sign in


def test_a_session_ends_after_its_time(tmp_path: Path) -> None:
    now = 1_000.0
    sessions = Sessions(tmp_path, minutes=2, now=lambda: now)
    token, session = sessions.open("", "Ada")
    now += 119
    assert sessions.find(token) == session
    now += 1  # 2 minutes are 120 seconds
    assert sessions.find(token) is None


def test_the_server_keeps_no_token(tmp_path: Path) -> None:
    token, _ = Sessions(tmp_path, minutes=2).open("", "Ada")
    kept = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(kept) == 1
    assert token not in f"{kept[0]} {kept[0].read_text(encoding='utf-8')}"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": EVIL}, 403),
        ({"origin": EVIL, "sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "null"}, 403),
        ({}, 403),  # no browser leaves both out; a program must use a key
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_a_session_acts_only_for_pages_of_its_own_server(
    locked: tuple[str, KeyFile], headers: dict[str, str], status: int
) -> None:
    url, keys = locked
    cookie, _ = signed_in(url, keys.add("reader")[0])
    assert asked(url, cookie=cookie, **headers) == status


def test_another_page_can_neither_sign_in_nor_use_a_server_without_keys(
    locked: tuple[str, KeyFile], unlocked: str
) -> None:
    url, keys = locked
    secret, _ = keys.add("reader")
    answer = httpx2.post(f"{url}/v1/session", json={"key": secret}, headers={"origin": EVIL})
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert (asked(unlocked, origin=EVIL), asked(unlocked, origin=unlocked), asked(unlocked)) == (403, 200, 200)


def test_an_origin_that_the_policy_names_may_call_with_a_key_and_not_with_a_session(
    locked: tuple[str, KeyFile],
) -> None:
    url, keys = locked
    secret, _ = keys.add("reader")
    friend = {"origin": "https://friend.example", "sec-fetch-site": "cross-site"}
    assert asked(url, authorization=f"Bearer {secret}", **friend) == 200
    cookie, _ = signed_in(url, secret)
    assert asked(url, cookie=cookie, **friend) == 403


def test_a_server_without_keys_answers_to_names_of_this_machine_only(unlocked: str) -> None:
    port = unlocked.rpartition(":")[2]
    found = {
        name: httpx2.get(f"{unlocked}/healthz", headers={"host": name}).status_code
        for name in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", f"rebound.example:{port}")
    }
    assert [*found.values()] == [200, 200, 200, 403]


def test_a_key_in_the_header_goes_before_a_session(locked: tuple[str, KeyFile]) -> None:
    url, keys = locked
    cookie, _ = signed_in(url, keys.add("reader", ["check"])[0])
    other, _ = keys.add("other", ["metrics"])
    assert asked(url, cookie=cookie, authorization=f"Bearer {other}", origin=url) == 403


def test_a_name_is_taken_where_there_are_no_keys_and_a_key_where_there_are(
    locked: tuple[str, KeyFile], unlocked: str
) -> None:
    def status(url: str, **body: str) -> int:
        return httpx2.post(f"{url}/v1/session", json=body).status_code

    assert (status(unlocked, name="Ada"), status(unlocked, name=" "), status(unlocked, key="vouch_1_2")) == (
        201,
        422,
        422,
    )
    assert (status(locked[0], name="Ada"), status(locked[0], key="vouch_1_2")) == (401, 401)
