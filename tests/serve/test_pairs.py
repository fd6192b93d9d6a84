"""Documents and claims in the forms of peers, over HTTP: pairs with window scores, contexts, and doc_id."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")

import httpx2

import vouching
from tests.cli.chat_server import chat_server
from tests.serve.served import policy, served
from vouching import AsyncClient, Client
from vouching.errors import InputError
from vouching.rows.shapes import SOURCE_KEYS
from vouching.serve.policy import JudgeSettings, Policy

TEXT = "The bridge opened to traffic in 1973. It has three towers."
LONG = " ".join(["It rained all day and nobody came."] * 30 + [TEXT] + ["The sun shone on the hills."] * 30)
DOCS = [{"doc_id": "long.txt", "text": LONG}, {"doc_id": "bridge.txt", "text": TEXT}]
CLAIMS = ["The bridge opened in 1973.", "The bridge opened in 1937."]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(policy()) as (address, _):
        yield address


def post(url: str, path: str, body: Any) -> Any:
    return httpx2.post(f"{url}/v1/{path}", json=body).json()


def test_pairs_have_labels_scores_and_window_scores_as_in_this_process(url: str) -> None:
    here = vouching.score_pairs(DOCS, CLAIMS, model="embedded:rules", max_words=64)
    sent = post(url, "pairs", {"docs": DOCS, "claims": CLAIMS, "max_words": 64})
    assert [pair["label"] for pair in sent] == [1, 0]
    assert [pair["score"] for pair in sent] == [pair.score for pair in here]
    assert [tuple(pair["window_scores"]) for pair in sent] == [pair.window_scores for pair in here]
    assert len(here[0].window_scores) > 3
    assert {window["span"]["source_id"] for window in sent[0]["windows"]} == {"long.txt"}


def test_the_clients_return_the_pairs_of_the_library(url: str) -> None:
    async def there() -> Any:
        async with AsyncClient(url) as client:
            return await client.score_pairs(DOCS, CLAIMS, 64)

    here = vouching.score_pairs(DOCS, CLAIMS, model="embedded:rules", max_words=64)
    with Client(url) as client:
        for pairs in (client.score_pairs(DOCS, CLAIMS, 64), asyncio.run(there())):
            assert [pair.window_scores for pair in pairs] == [pair.window_scores for pair in here]
            assert pairs[0].best is not None
            assert TEXT[:20] in pairs[0].best.span.text
        with pytest.raises(InputError, match="same length, one document per claim: got 2 and 1"):
            client.score_pairs(DOCS, CLAIMS[:1])
    unequal = post(url, "pairs", {"docs": DOCS, "claims": CLAIMS[:1]})
    assert (unequal["status"], unequal["error"]) == (422, "InputError")


def test_a_pair_whose_judge_failed_has_neither_label_nor_score() -> None:
    with chat_server(lambda prompt: "who knows") as name:
        given = Policy(judges={"default": JudgeSettings(name)})
        with served(given) as (address, _):
            [pair] = post(address, "pairs", {"docs": [TEXT], "claims": CLAIMS[:1]})
    assert (pair["label"], pair["score"], pair["window_scores"]) == (None, None, [None])


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
