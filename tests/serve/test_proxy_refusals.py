"""What the guard proxy refuses before a request reaches the upstream server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from tests.serve.upstream import Upstream, proxy_before, upstream_server

ASKED: dict[str, Any] = {
    "messages": [{"role": "user", "content": "When did it open?"}],
    "documents": [{"doc_id": "bridge.txt", "text": "The bridge opened in 1973."}],
}
BODY = json.dumps(ASKED)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    with upstream_server() as server:
        yield server


@pytest.fixture(scope="module")
def blocking(upstream: Upstream) -> Iterator[str]:
    with proxy_before(upstream.url, action="block", undocumented="block", hosts=("proxy.example:8401",)) as url:
        yield url


def post(url: str, body: str | bytes, **headers: str) -> httpx2.Response:
    return httpx2.post(f"{url}/chat/completions", content=body, headers=headers, timeout=60)


LENIENT = {
    "a comma before the end": BODY[:-1] + ",}",
    "a comment": BODY + " // done",
    "single quotes": BODY.replace('"', "'"),
    "two objects": BODY + BODY,
    "brackets of a depth that few readers read": BODY[:-1] + ', "x": ' + "[" * 20_000 + "]" * 20_000 + "}",
    "a byte order mark": "\ufeff" + BODY,
    "UTF-16": BODY.encode("utf-16"),
    "bytes that are not UTF-8": BODY.encode().replace(b"When", b"\xff"),
    "a list": f"[{BODY}]",
    "NaN": BODY[:-1] + ', "temperature": NaN}',
    "no body": "",
}


@pytest.mark.parametrize("form", LENIENT)
def test_a_body_that_only_lenient_servers_read_is_refused_where_the_policy_blocks(
    blocking: str, upstream: Upstream, form: str
) -> None:
    before = len(upstream.asked)
    answered = post(blocking, LENIENT[form])
    assert answered.status_code == 400
    assert "must be a JSON object in UTF-8" in answered.json()["error"]["message"]
    assert len(upstream.asked) == before


def test_the_same_key_twice_is_refused_where_the_policy_blocks(blocking: str, upstream: Upstream) -> None:
    before = len(upstream.asked)
    assert post(blocking, BODY[:-1] + ', "documents": []}').status_code == 400  # readers differ in which one counts
    assert len(upstream.asked) == before


@pytest.mark.parametrize("name", ["rebound.example:8401", "localhost.rebound.example", "127.0.0.1.rebound.example"])
def test_a_page_whose_name_was_made_to_lead_here_does_not_reach_the_server(
    blocking: str, upstream: Upstream, name: str
) -> None:
    before = len(upstream.asked)
    answered = post(blocking, BODY, host=name)
    assert answered.status_code == 421
    assert "add that name to hosts" in answered.json()["error"]["message"]
    assert len(upstream.asked) == before


@pytest.mark.parametrize("name", ["localhost:8401", "127.0.0.1", "[::1]:8401", "proxy.example:8401"])
def test_names_of_this_machine_and_those_of_the_policy_are_served(blocking: str, upstream: Upstream, name: str) -> None:
    assert post(blocking, BODY, host=name).json()["vouch"]["action"] == "blocked"
    assert upstream.asked[-1][0] == "/v1/chat/completions"
