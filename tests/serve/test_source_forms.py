"""Documents and claims in the forms of peers, over HTTP: contexts, and doc_id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

import httpx2

from tests.serve.served import policy, served
from vouching.rows.shapes import SOURCE_KEYS

TEXT = "The bridge opened to traffic in 1973. It has three towers."
CLAIMS = ["The bridge opened in 1973.", "The bridge opened in 1937."]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(policy()) as (address, _):
        yield address


def post(url: str, path: str, body: Any) -> Any:
    return httpx2.post(f"{url}/v1/{path}", json=body).json()


@pytest.mark.parametrize("name", SOURCE_KEYS)
@pytest.mark.parametrize("value", [TEXT, [TEXT], {"doc_id": "a", "text": TEXT}, [{"doc_id": "a", "text": TEXT}]])
def test_documents_are_taken_under_every_name_and_in_every_form(url: str, name: str, value: Any) -> None:
    verdict = post(url, "check", {"claim": CLAIMS[1], name: value})
    assert verdict["label"] == "Not Attributable"
    [source] = {one["source_span"]["source_id"] for one in verdict["evidence_alignment"] if one["source_span"]}
    assert source == ("a" if "doc_id" in str(value) else "source-1")


def test_two_names_at_once_are_refused(url: str) -> None:
    refused = post(url, "check-response", {"response": "It opened.", "sources": [TEXT], "contexts": [TEXT]})
    assert refused["status"] in (400, 422)
    assert "contexts" in refused["detail"]
