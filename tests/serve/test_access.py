"""Who may call what, how much one request may be, and what callers get that the server refuses."""

from __future__ import annotations

import json
import logging
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

import httpx2

from tests.house.source_tree import ROOT
from tests.serve.served import BRIDGE, policy, served
from vouching import Client
from vouching.errors import AccessError, ConfigError, InputError, ServerUnavailableError
from vouching.serve.app import build_app
from vouching.serve.gate import ROUTE_SCOPES, scope_of
from vouching.serve.keys import SCOPES, KeyFile
from vouching.serve.policy import Policy, ServeSettings, read_policy

CLAIM = {"claim": "The bridge opened in 1937.", "sources": [BRIDGE]}
ROUTES = {
    "/v1/check": CLAIM,
    "/v1/check-response": {"response": "It opened in 1937.", "sources": [BRIDGE]},
    "/v1/check-trace": {"messages": []},
    "/v1/stream": {"response": "It opened in 1937. It", "sources": [BRIDGE]},
    "/v1/audit": {"response": "It has 2 towers.", "sources": [BRIDGE]},
    "/v1/follow": {"instruction": "Use no commas.", "response": "So it is."},
    "/v1/rank": {"question": "When?", "answers": ["1937"], "sources": [BRIDGE]},
    "/v1/context": {"question": "When did it open?", "sources": [BRIDGE]},
    "/v1/challenge": {"task": {}, "proposal": {}},
    "/v1/systemone": {},
    "/v1/decisions": {},
    "/v1/models": None,
    "/v1/sources": {"text": "It opened in 1973."},
    "/v1/reward/structured": {"rows": []},
    "/v1/verdicts": None,
    "/v1/verdicts/1": None,
    "/v1/reviews": None,
    "/v1/queue": None,
    "/v1/queue/audit": None,
    "/v1/queue/next": {},
    "/v1/queue/undo": {},
    "/v1/queue/release": {},
    "/v1/queue/1/take": {},
    "/v1/queue/1/decide": {},
    "/v1/queue/1/skip": {},
    "/v1/queue/1/object": {},
    "/v1/page/read": {},
    "/v1/page/draw": {},
    "/metrics": None,
}
"""A request to every route that needs a key."""


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str], KeyFile]]:
    """A server with a key for each scope: its address, the secrets by scope, and the file."""
    keys = KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")
    secrets = {scope: keys.add(f"only {scope}", [scope])[0] for scope in SCOPES}
    with served(policy(keys=str(keys.path))) as (url, _):
        yield url, secrets, keys


def _place(url: str) -> tuple[str, int]:
    host, port = url.removeprefix("http://").split(":")
    return host, int(port)


WEB = httpx2.Client(timeout=60)
"""Keeps its connections: making a client takes longer than a request."""


def ask(url: str, path: str, secret: str | None) -> int:
    """The status of a request."""
    headers = {} if secret is None else {"authorization": f"Bearer {secret}"}
    body = ROUTES[path]
    sent = WEB.get(url + path, headers=headers) if body is None else WEB.post(url + path, json=body, headers=headers)
    return sent.status_code


def test_each_route_opens_to_its_own_scope_and_to_no_other(locked: tuple[str, dict[str, str], KeyFile]) -> None:
    url, secrets, _ = locked
    opened = {(path, scope) for path in ROUTES for scope in SCOPES if ask(url, path, secrets[scope]) not in (401, 403)}
    expected = {(path, ROUTE_SCOPES["/".join(path.split("/")[:3])]) for path in ROUTES}
    expected ^= {("/v1/queue/1/object", "review"), ("/v1/queue/1/object", "check")}  # callers object, too
    assert opened == expected
    assert {ask(url, path, None) for path in ROUTES} == {401}


def test_every_route_of_the_application_is_in_the_matrix(locked: tuple[str, dict[str, str], KeyFile]) -> None:
    described = httpx2.get(f"{locked[0]}/openapi.json").json()["paths"]
    asked = {path.replace("/structured", "/{method}").replace("/1", "/{id}") for path in ROUTES}
    assert {*described} - {"/healthz", "/readyz", "/v1/session"} == asked - {"/metrics"}


def documented() -> dict[tuple[str, str], str]:
    """The scope of each method and path in the table of docs/serve.md; a path without a method has the one before."""
    lines = (ROOT / "docs/serve.md").read_text(encoding="utf-8").partition("\n## Paths\n")[2].splitlines()
    found: dict[tuple[str, str], str] = {}
    for row in (line.split("|") for line in lines[: lines.index("", 3)] if line.startswith("| `")):
        methods, with_path = [""], True
        for words in (one.split() for one in re.findall(r"`([^`]+)`", row[1])):
            if not words[0].startswith("/"):
                methods, with_path = ([] if with_path else methods) + [words[0]], len(words) > 1
            if words[-1].startswith("/"):
                found |= {(method, words[-1]): row[3].strip() for method in methods}
    return found


def test_the_table_of_the_docs_has_every_route_with_its_scope() -> None:
    paths = {**build_app(policy()).openapi()["paths"], "/metrics": {"get": {}}}
    real = {(method.upper(), path): scope_of(path) or "none" for path, routes in paths.items() for method in routes}
    assert documented() == real


def test_wrong_keys_are_refused_without_saying_why_they_are_wrong(
    locked: tuple[str, dict[str, str], KeyFile],
) -> None:
    url, secrets, _ = locked
    good = secrets["check"]
    wrong = [
        "a",
        "vouch",
        good[:-1],
        good + "0",
        good.upper(),
        "vouch_00000000_" + "0" * 64,
        "é",
        good.replace("_", "-"),
    ]
    for secret in wrong:
        header = f"Bearer {secret}".encode()
        assert httpx2.post(f"{url}/v1/check", json=CLAIM, headers={"authorization": header}).status_code == 401
    with Client(url, key="vouch_1_2") as client, pytest.raises(AccessError, match="unknown"):
        client.check("It rained.", BRIDGE)


def test_a_revoked_key_is_refused_from_the_next_request_on(locked: tuple[str, dict[str, str], KeyFile]) -> None:
    url, _, keys = locked
    secret, key = keys.add("short", ["check"])
    assert ask(url, "/v1/check", secret) == 200
    keys.revoke(key.id)
    assert ask(url, "/v1/check", secret) == 401


@pytest.mark.parametrize(("first", "second"), [("review", "review"), ("review", "check"), ("check", "review")])
def test_a_reviewer_shares_its_name_with_no_other_valid_key(tmp_path: Path, first: str, second: str) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    _, key = keys.add("Ada", [first])
    with pytest.raises(InputError, match=f"{key.id} has the name 'Ada' too.*choose another name"):
        keys.add("Ada", [second])
    assert [*keys.keys] == [key.id]
    keys.add("Bob", [second])
    keys.revoke(key.id)
    assert keys.add("Ada", [second])[1].name == "Ada"  # a key is replaced: the same person goes on


def test_keys_that_do_not_review_may_share_a_name(tmp_path: Path) -> None:
    keys = KeyFile(tmp_path / "keys.json")
    assert len({keys.add("search team", ["check"])[1].id for _ in range(2)}) == 2  # to replace one without a pause


def test_the_file_of_keys_has_no_secret_and_only_its_owner_reads_it(
    locked: tuple[str, dict[str, str], KeyFile],
) -> None:
    _, secrets, keys = locked
    text = keys.path.read_text(encoding="utf-8")
    assert not [secret for secret in secrets.values() if secret in text or secret.rsplit("_", 1)[1] in text]
    assert keys.path.stat().st_mode & 0o077 == 0


def test_neither_secrets_nor_texts_are_logged(
    locked: tuple[str, dict[str, str], KeyFile], caplog: pytest.LogCaptureFixture
) -> None:
    url, secrets, _ = locked
    with caplog.at_level(logging.DEBUG):
        ask(url, "/v1/check", secrets["check"])
        httpx2.post(f"{url}/v1/check?key={secrets['check']}", json=CLAIM)
        httpx2.post(f"{url}/v1/check", json={"claim": 1}, headers={"authorization": f"Bearer {secrets['check']}"})
        own: list[str] = []
        deadline = time.monotonic() + 10
        while len(own) < 3 and time.monotonic() < deadline:  # a line is written after its answer was sent
            time.sleep(0.05)
            own = [one.getMessage() for one in caplog.records if one.name.startswith(("vouching", "uvicorn"))]
    assert len(own) >= 3
    assert not [line for line in own if "bridge" in line or any(secret in line for secret in secrets.values())]


def test_a_key_with_a_limit_is_told_when_to_come_back(locked: tuple[str, dict[str, str], KeyFile]) -> None:
    url, _, keys = locked
    secret, _ = keys.add("slow", ["check"], requests_per_minute=2)
    with Client(url, key=secret) as client:
        for _ in range(2):
            client.check("It opened in 1973.", BRIDGE)
        with pytest.raises(ServerUnavailableError, match="2 requests per minute") as error:
            client.check("It opened in 1973.", BRIDGE)
    # Two requests a minute are one in 30 s, and hardly any of that has passed.
    assert error.value.status == 429
    assert 20 < (error.value.retry_after or 0) <= 30


def test_only_this_machine_is_served_without_keys() -> None:
    with pytest.raises(ConfigError, match=r"serve.keys is empty"):
        Policy(ServeSettings(address="0.0.0.0:8400"))
    assert Policy(ServeSettings(address="0.0.0.0:8400", keys="keys.json")).serve.keys == "keys.json"


def test_the_policy_file_names_the_nearest_key(tmp_path: Path) -> None:
    path = tmp_path / "vouch.toml"
    for text, meant in (
        ("[serve]\nworker = 2", "serve.workers"),
        ("[judges.default]\ntreshold = 0.5", "judges.default.threshold"),
        ("[limit]\nclaims = 2", "limits"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=meant):
            read_policy(path)
    path.write_text('[serve]\nkeys = "keys.json"\n[judges.default]\nmodel = "embedded:rules"', encoding="utf-8")
    assert read_policy(path, ["limits.claims=7"]).limits.claims == 7
    assert read_policy(path).serve.keys == str(tmp_path / "keys.json")


def test_a_large_body_is_refused_before_it_is_read() -> None:
    with served(policy({"body_bytes": 1_000})) as (url, _), socket.create_connection(_place(url)) as link:
        link.sendall(b"POST /v1/check HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000000\r\n\r\n")
        assert b" 413 " in link.recv(4_096)  # a gigabyte was declared, and no byte of it sent


def test_too_many_or_too_long_texts_are_refused_with_the_limit() -> None:
    with served(policy({"claims": 10, "sources": 2, "characters": 500})) as (url, _), Client(url) as client:
        for message, call in (
            ("more than 10 claims", lambda: client.check([f"It has {n} towers." for n in range(11)], BRIDGE)),
            ("more than 10 claims", lambda: client.check_response("It has 3 towers. " * 11, "It has 3 towers.")),
            ("more than 2 sources", lambda: client.check("It rained.", ["a", "b", "c"])),
            ("this server accepts 500", lambda: client.check("It rained.", "It rained. " * 60)),
        ):
            with pytest.raises(InputError, match=message):
                call()


@pytest.mark.parametrize(("name", "text"), [("numbers", "1 2 3 4 5 6"), ("sentences", "A b.\nC d! E f? G.\n")])
def test_too_many_numbers_or_sentences_are_refused_with_the_limit(name: str, text: str) -> None:
    with served(policy({name: 5})) as (url, _):
        few = httpx2.post(f"{url}/v1/check", json={"claim": "It rained.", "sources": ["a"]}, timeout=60)
        many = httpx2.post(f"{url}/v1/check", json={"claim": "It rained.", "sources": [text]}, timeout=60)
    assert (few.status_code, many.status_code) == (200, 422)
    assert f"{name}, but this server accepts 5 per request" in many.json()["detail"]


def test_slow_headers_slow_bodies_and_long_headers_end() -> None:
    with served(policy({"body_seconds": 0.3, "header_seconds": 0.3})) as (url, _):
        place = _place(url)
        with socket.create_connection(place, timeout=5) as idle, socket.create_connection(place, timeout=5) as slow:
            slow.sendall(b"POST /v1/check HTTP/1.1\r\nhost: localhost\r\n")
            assert idle.recv(10) == b""
            assert slow.recv(10) == b""
        with socket.create_connection(place, timeout=5) as body:
            body.sendall(b"POST /v1/check HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")
            assert b" 408 " in body.recv(4_096)
        with socket.create_connection(place, timeout=5) as long:
            long.sendall(b"GET /healthz HTTP/1.1\r\nx: " + b"a" * 40_000 + b"\r\n\r\n")
            assert b" 400 " in long.recv(4_096)
        assert httpx2.get(f"{url}/healthz").status_code == 200


def test_headers_and_trailers_that_do_not_end_are_refused_before_they_fill_the_memory() -> None:
    post = b"POST /v1/check HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    post += b"transfer-encoding: chunked\r\n\r\n"
    with served(policy({})) as (url, _):
        for begun in (b"GET /healthz HTTP/1.1\r\nx: ", post + b"1\r\n{\r\n0\r\nx: "):
            with socket.create_connection(_place(url), timeout=5) as endless, pytest.raises(ConnectionError):
                endless.sendall(begun + b"a" * (64 << 20))
        # The lengths of chunks are not headers, however many there are.
        body = json.dumps({"claim": "It has three towers.", "sources": ["It has three towers."], "x": "a" * 40_000})
        chunks = "".join(f"1\r\n{letter}\r\n" for letter in body) + "0\r\n\r\n"
        with socket.create_connection(_place(url), timeout=5) as cut:
            cut.sendall(post + chunks.encode())
            assert cut.recv(65_536).startswith(b"HTTP/1.1 422 ")  # the body was read: it has an unknown field


def test_a_full_server_says_when_to_come_back_and_stays_healthy() -> None:
    """One place to judge and one to wait: of the requests beyond, some are refused, and health answers at once."""
    long = {"response": "The bridge has three towers. " * 300, "sources": [BRIDGE]}
    with served(policy({"claims": 1_000}, queue=1)) as (url, service):
        statuses: list[int] = []
        after: list[str] = []

        def post() -> None:
            answer = httpx2.post(f"{url}/v1/check-response", json=long, timeout=60)
            statuses.append(answer.status_code)
            after.extend(filter(None, [answer.headers.get("retry-after")]))

        threads = [threading.Thread(target=post) for _ in range(6)]
        for thread in threads:
            thread.start()
        while service.pool.taken < 2:
            time.sleep(0.005)
        assert httpx2.get(f"{url}/healthz", timeout=30).status_code == 200
        assert 200 not in statuses  # it did not wait for those that are judged
        for thread in threads:
            thread.join()
        assert set(statuses) == {200, 429}
        assert statuses.count(200) >= 2
        assert all(int(seconds) >= 1 for seconds in after)
        assert len(after) == statuses.count(429)
        assert service.pool.taken == 0


def test_work_that_takes_too_long_ends_with_its_time_and_its_place_is_free() -> None:
    with served(policy({"claims": 5_000}, timeout_seconds=0.4)) as (url, service):
        long = {"response": "The bridge has three towers. " * 4_000, "sources": [BRIDGE]}
        answer = httpx2.post(f"{url}/v1/check-response", json=long, timeout=60)
        assert (answer.status_code, answer.json()["error"]) == (504, "ModelDeadlineError")
        deadline = time.monotonic() + 20
        while service.pool.taken and time.monotonic() < deadline:
            time.sleep(0.02)
        assert service.pool.taken == 0


@pytest.mark.parametrize(
    "path", ["/v1/../../etc/passwd", "/v1/sources/..%2f..%2fkeys.json", "//etc/passwd", "/v1/check/"]
)
def test_paths_lead_to_no_file(locked: tuple[str, dict[str, str], KeyFile], path: str) -> None:
    url, secrets, _ = locked
    with socket.create_connection(_place(url), timeout=5) as link:
        fields = f"host: localhost\r\nauthorization: Bearer {secrets['check']}\r\nconnection: close"
        head = f"GET {path} HTTP/1.1\r\n{fields}\r\n\r\n"
        link.sendall(head.encode())
        received = b"".join(iter(lambda: link.recv(65_536), b""))
    status = int(received.split(b" ", 2)[1])
    assert status in (307, 404, 405)
    assert b"root:" not in received


def test_a_digest_that_is_a_path_names_no_file(locked: tuple[str, dict[str, str], KeyFile]) -> None:
    url, secrets, _ = locked
    body = {"claim": "It rained.", "sources": [{"digest": "../../../../etc/passwd"}]}
    answer = httpx2.post(f"{url}/v1/check", json=body, headers={"authorization": f"Bearer {secrets['check']}"})
    assert answer.status_code == 422
    assert json.loads(answer.text)["error"] == "InputError"


def test_pages_of_other_origins_may_not_call_unless_the_policy_names_them() -> None:
    origin = {"origin": "https://example.org", "access-control-request-method": "POST"}
    with served(policy()) as (url, _):
        assert "access-control-allow-origin" not in httpx2.options(f"{url}/v1/check", headers=origin).headers
    with served(policy(cors_origins=("https://example.org",))) as (url, _):
        allowed = httpx2.options(f"{url}/v1/check", headers=origin).headers
        assert allowed["access-control-allow-origin"] == "https://example.org"
