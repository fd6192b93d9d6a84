"""OpenSearch over real sockets: what it is sent, and what becomes of its answers and failures."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.models.fault_server import FOREVER, Answer, FaultServer, Request, of_json
from tests.search.corpora import TOWNS, ids
from vouching.errors import ConfigError, SearchError
from vouching.search.open import open_engine
from vouching.search.opensearch import KEY, PASSWORD, USER, OpenSearch
from vouching.search.options import SearchOptions
from vouching.search.terms import query_terms, terms
from vouching.types import Passage, Span

SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
Script = Sequence[Answer] | Callable[[Request], Answer]


def hits(*sources: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An answer of the search API with these documents (docs.opensearch.org, "Search")."""
    found = [
        {"_index": "notes", "_id": str(number), "_score": 2.0 / number, "_source": source}
        for number, source in enumerate(sources, 1)
    ]
    total = {"value": len(found), "relation": "eq"}
    return {
        "took": 3,
        "timed_out": False,
        "_shards": SHARDS,
        "hits": {"total": total, "max_score": 2.0 if found else None, "hits": found},
        **more,
    }


def ask(
    script: Script, query: str = "Who built mills?", fields: str = "", **settings: Any
) -> tuple[list[Passage] | SearchError, FaultServer]:
    """What the engine finds or raises, and the server that it asked."""

    async def main() -> tuple[list[Passage] | SearchError, FaultServer]:
        async with FaultServer(script) as server:
            engine = OpenSearch(f"http://127.0.0.1:{server.port}/notes{fields}", **settings)
            try:
                found: list[Passage] | SearchError = await engine.search(query, 3)
            except SearchError as error:
                found = error
            await engine.aclose()
            return found, server

    return asyncio.run(main())


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (KEY, USER, PASSWORD):
        monkeypatch.delenv(variable, raising=False)


def searched(request: Request) -> Answer:
    """Answers as a server with the towns would: documents that share words with the query, best first."""
    if request.path != "/notes/_search":
        return of_json(
            {"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}, status=404
        )
    match = request.body["query"]["multi_match"]
    wanted = {*query_terms(match["query"])}
    sources = [{"text": town.text, "title": town.title, "url": town.url} for town in TOWNS]
    shared = [len(wanted & {*terms(source["text"])}) for source in sources]
    order = sorted((number for number, count in enumerate(shared) if count), key=lambda number: -shared[number])
    return of_json(hits(*(sources[number] for number in order[: request.body["size"]])))


def test_documents_come_in_its_order_with_its_scores() -> None:
    found, server = ask(searched, "Who built mills in Oslo?")
    assert isinstance(found, list)
    assert [(p.title, p.score) for p in found] == [("The mill", 2.0), ("Oslo", 1.0)]
    assert found[0].span == Span(TOWNS[0].text, 0, len(TOWNS[0].text), "1")
    assert found[0].origin == f"opensearch:http://127.0.0.1:{server.port}/notes"


def test_it_is_sent_what_its_documentation_asks_for() -> None:
    _, server = ask([of_json(hits())])
    [request] = server.requests
    assert request.path == "/notes/_search"
    assert request.body == {
        "size": 3,
        "_source": ["text", "title", "url"],
        "query": {"multi_match": {"query": "Who built mills?", "fields": ["text", "title^2"], "type": "most_fields"}},
    }
    assert "authorization" not in request.headers


def test_other_fields_are_named_in_the_address() -> None:
    source = {"body": {"en": "Ada built the mill."}, "name": "Mills", "key": 7, "link": "http://mills.example"}
    found, server = ask([of_json(hits(source))], fields="?text=body.en&title=name&id=key&url=link")
    assert server.requests[0].body["query"]["multi_match"]["fields"] == ["body.en", "name^2"]
    assert isinstance(found, list)
    [passage] = found
    assert passage.span == Span("Ada built the mill.", 0, 19, "7")
    assert (passage.title, passage.url) == ("Mills", "http://mills.example")


def test_of_a_long_document_the_passage_with_most_words_of_the_query_is_returned() -> None:
    text = "The sea was calm that day. " * 60 + "Ada built the mill in 1873. " + "Nobody saw it. " * 100
    found, _ = ask([of_json(hits({"text": text}))], "Who built the mill?")
    assert isinstance(found, list)
    [passage] = found
    assert "Ada built the mill" in passage.span.text
    assert text[passage.span.start : passage.span.end] == passage.span.text
    assert 0 < passage.span.start < passage.span.end < len(text)


def test_the_texts_of_a_list_are_joined() -> None:
    found, _ = ask([of_json(hits({"body": {"en": ["Ada built the mill.", 7]}}))], fields="?text=body.en")
    assert isinstance(found, list)
    assert found[0].span.text == "Ada built the mill.\n7"


def test_a_document_without_text_is_skipped_and_a_query_without_words_not_sent() -> None:
    found, _ = ask([of_json(hits({"title": "Mill"}, {"text": "A mill."}, {"text": "?!"}))])
    assert isinstance(found, list)
    assert ids(found) == ["2"]
    empty: list[dict[str, Any]] = [{"text": "?!"}, {"text": ""}, {"text": []}, {"text": None}]
    for source in empty:
        assert ask([of_json(hits(source, {"title": "Mill"}))])[0] == []
    found, server = ask([of_json(hits())], "?!")
    assert (found, server.requests) == ([], [])


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            {"title": "Mill", "body": {"en": "A mill.", "no": "Ei mølle."}, "tags": []},
            "document '1' has the fields title, body.en, body.no, tags; choose",
        ),
        ({}, "document '1' has no fields; choose"),
    ],
)
def test_documents_without_the_field_of_the_text_are_an_error_that_names_their_fields(
    source: dict[str, Any], said: str
) -> None:
    def whole(request: Request) -> Answer:
        if "ids" in request.body["query"]:
            assert request.body == {"size": 1, "query": {"ids": {"values": ["1"]}}}
            return of_json(hits(source))
        return of_json(hits({key: source[key] for key in source.keys() & {*request.body["_source"]}}))

    found, server = ask(whole)
    assert isinstance(found, SearchError)
    name = f"opensearch:http://127.0.0.1:{server.port}/notes"
    assert str(found).startswith(f"the documents that {name} found have no field 'text': ")
    assert str(found).endswith(f"{said} the field of the text with {name}?text=NAME")


def test_a_key_or_a_password_goes_into_the_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(USER, "reader")
    with pytest.raises(ConfigError, match="set both, or neither"):
        OpenSearch("http://localhost:9200/notes")
    monkeypatch.setenv(PASSWORD, "pass:word")
    header = ask([of_json(hits())])[1].requests[0].headers["authorization"]
    assert base64.b64decode(header.removeprefix("Basic ")) == b"reader:pass:word"
    monkeypatch.setenv(KEY, "os_secret\n")
    assert ask([of_json(hits())])[1].requests[0].headers["authorization"] == "ApiKey os_secret"


def test_busy_servers_are_asked_again() -> None:
    busy = of_json({"error": {"type": "es_rejected_execution_exception"}, "status": 429}, status=429)
    found, server = ask([busy, of_json(hits({"text": "A mill."}))])
    assert isinstance(found, list)
    assert (ids(found), len(server.requests)) == (["1"], 2)


@pytest.mark.parametrize(
    ("answer", "said", "requests"),
    [
        (
            of_json({"error": {"reason": "no such index [notes]"}, "status": 404}, status=404),
            "no such index.*check the",
            1,
        ),
        (Answer(401, b"Unauthorized"), f"returned 401.*either {KEY} or both {USER} and {PASSWORD}", 1),
        (of_json({"error": {"reason": "bad field"}, "status": 400}, status=400), "returned 400.*bad field", 1),
        (of_json({"cluster_name": "x"}), 'no "hits"; its keys are cluster_name', 1),
        (of_json(hits(timed_out=True)), "the search is incomplete .shards failed: .*, timed out: yes", 1),
        (
            of_json(hits(_shards={"total": 1, "failed": 1})),
            "the search is incomplete .shards failed: 1, timed out: no",
            1,
        ),
        (Answer(200, b"<html>", {"content-type": "text/html"}), "text/html", 1),
        (Answer(503, b""), "returned 503", 3),
        (Answer(delay=FOREVER), "did not answer within 2 seconds", 1),
    ],
)
def test_failures_are_errors_of_the_search(answer: Answer, said: str, requests: int) -> None:
    found, server = ask([answer], seconds=2.0 if answer.delay else 60.0)
    assert isinstance(found, SearchError)
    assert found.args
    with pytest.raises(SearchError, match=rf"(?s)OpenSearch at http.*{said}"):
        raise found
    assert len(server.requests) == requests


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("localhost:9200/notes", "must look like"),
        ("http://localhost:9200", "expected the address of one index"),
        ("http://localhost:9200/a/b", "expected the address of one index"),
        ("http://u:p@localhost:9200/notes", "must not contain a password"),
        ("http://localhost:9200/notes?texts=body", "expected field names in the form text=NAME"),
        ("http://localhost:9200/notes?text", "expected field names in the form"),
        ("http://localhost:9200/notes?text=", "expected field names in the form"),
    ],
)
def test_a_wrong_address_is_refused(address: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        open_engine(f"opensearch:{address}")


def test_it_is_named_where_an_index_is() -> None:
    [engine] = SearchOptions.read(["opensearch:http://localhost:9200/notes?text=body"], None).engines()
    assert (engine.name, engine.kind) == ("opensearch:http://localhost:9200/notes", "local")
