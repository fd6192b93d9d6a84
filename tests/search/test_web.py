"""Engines of the web, asked over real sockets: what is sent, what is made of answers, and what of everything else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.fault_server import FOREVER, Answer, FaultServer, Request, of_json
from tests.search.answers import ANSWERS, BRIDGE, OTHER, SEARXNG, speaks_searxng
from vouching.errors import ConfigError, SearchError
from vouching.search.base import search_engines
from vouching.search.web import Ddgs, WebEngine
from vouching.search.web_apis import APIS, WebApi, plain_query
from vouching.types import Passage, Span

SEARXNG_API = APIS["searxng"]
KEY = "secret-key"
Script = Sequence[Answer] | Callable[[Request], Answer]


def ask(
    api: WebApi, script: Script, query: str = "Bosphorus Bridge 1973", limit: int = 5, **settings: Any
) -> tuple[list[Passage] | SearchError, FaultServer]:
    """What an engine on this machine finds or raises, and the server that it asked."""

    async def main() -> tuple[list[Passage] | SearchError, FaultServer]:
        async with FaultServer(script) as server:
            engine = WebEngine(api, f"http://127.0.0.1:{server.port}", KEY, **settings)
            try:
                found: list[Passage] | SearchError = await engine.search(query, limit)
            except SearchError as error:
                found = error
            await engine.aclose()
            return found, server

    return asyncio.run(main())


def params(request: Request) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(request.path).query).items()}


@pytest.mark.parametrize("name", ANSWERS)
def test_every_engine_finds_the_same_in_its_own_format(name: str) -> None:
    found, server = ask(APIS[name], [of_json(ANSWERS[name])])
    origin = f"web:{name}" if name == "searxng" else f"web:{name}=http://127.0.0.1:{server.port}"
    # Ranks 1 and 2 score 1/1 and 1/2; a snippet's offsets are those in itself.
    assert found == [
        Passage(Span(text, 0, len(text), url), score, title, url, origin)
        for score, (title, url, text) in ((1.0, BRIDGE), (0.5, OTHER))
    ]


@pytest.mark.parametrize("name", ANSWERS)
def test_no_more_passages_come_than_were_asked_for(name: str) -> None:
    found, _ = ask(APIS[name], [of_json(ANSWERS[name])], limit=1)
    assert [passage.title for passage in found] == [BRIDGE[0]]  # type: ignore[union-attr]


def test_each_engine_is_sent_what_its_documentation_asks_for() -> None:
    sent = {name: ask(api, [of_json(ANSWERS[name])])[1].requests[0] for name, api in APIS.items()}
    query = "Bosphorus Bridge 1973"
    assert {name: (urlsplit(request.path).path) for name, request in sent.items()} == {
        "searxng": "/search",
        "wikipedia": "/w/api.php",
        "brave": "/res/v1/web/search",
        "tavily": "/search",
        "serper": "/search",
    }
    assert params(sent["searxng"]) == {"q": query, "format": "json"}
    wikipedia = params(sent["wikipedia"])
    assert (wikipedia["generator"], wikipedia["gsrsearch"], wikipedia["gsrlimit"]) == ("search", query, "5")
    assert (wikipedia["prop"], wikipedia["exintro"], wikipedia["formatversion"]) == ("extracts|info", "1", "2")
    assert params(sent["brave"])["count"] == "5"
    assert sent["tavily"].body == {"query": query, "max_results": 5, "search_depth": "basic"}
    assert sent["serper"].body == {"q": query, "num": 5}
    assert all(request.headers["user-agent"].startswith("vouching/") for request in sent.values())


def test_a_key_goes_into_its_header_and_to_engines_that_need_none_goes_nothing() -> None:
    for name, header in (("brave", "x-subscription-token"), ("tavily", "authorization"), ("serper", "x-api-key")):
        request = ask(APIS[name], [of_json(ANSWERS[name])])[1].requests[0]
        assert request.headers[header].removeprefix("Bearer ") == KEY
        assert KEY not in request.path + str(request.body)
    for name in ("searxng", "wikipedia"):
        request = ask(APIS[name], [of_json(ANSWERS[name])])[1].requests[0]
        assert KEY not in str(request)


def test_a_key_follows_no_redirect() -> None:
    async def main() -> list[Request]:
        async with FaultServer([of_json(ANSWERS["brave"])]) as thief:
            away = Answer(302, headers={"location": f"http://127.0.0.1:{thief.port}/"})
            async with FaultServer([away]) as server:
                with pytest.raises(SearchError, match="has moved to"):
                    await WebEngine(APIS["brave"], f"http://127.0.0.1:{server.port}", KEY).search("bridge", 5)
            return thief.requests

    assert asyncio.run(main()) == []


@pytest.mark.parametrize("name", ["brave", "tavily", "serper"])
def test_a_missing_key_is_a_wrong_setting_that_names_the_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = f"{name.upper()}_API_KEY"
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ConfigError, match=rf"{name} requires a key: set the environment variable {variable}"):
        WebEngine(APIS[name])
    monkeypatch.setenv(variable, " from-the-environment\n")  # as copied
    assert WebEngine(APIS[name]).name == f"web:{name}"
    monkeypatch.setenv(variable, "two words\n")
    with pytest.raises(ConfigError, match=variable) as caught:
        WebEngine(APIS[name])
    assert "two words" not in str(caught.value)


@pytest.mark.parametrize("address", ["searx", "http://", "ftp://host", "http://host/?q=a", "http://u:p@host"])
def test_an_invalid_address_is_a_wrong_setting(address: str) -> None:
    with pytest.raises(ConfigError, match="the address of searxng must"):
        WebEngine(SEARXNG_API, address)


def test_an_instance_must_be_named_for_an_engine_without_a_public_server() -> None:
    with pytest.raises(ConfigError, match=r"searxng=http://localhost:8080"):
        WebEngine(SEARXNG_API)


def test_an_instance_of_searxng_is_understood() -> None:
    found, server = ask(SEARXNG_API, speaks_searxng)
    assert [passage.url for passage in found] == [BRIDGE[1], OTHER[1]]  # type: ignore[union-attr]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("name", "answer", "reason"),
    [
        ("searxng", Answer(403, b"Forbidden"), "403 Forbidden: Forbidden; check the address and whether the server"),
        (
            "searxng",
            of_json({"results": [], "unresponsive_engines": [["brave", "CAPTCHA"]]}),
            r"none of the engines of SearXNG answered: ..\"brave\", \"CAPTCHA\"",
        ),
        ("searxng", of_json({"message": "hi"}), 'has no list "results"; its keys are message'),
        ("searxng", of_json({"results": {"a": 1}}), 'has no list "results"'),
        ("searxng", of_json([1, 2]), r"expected a JSON object from searxng at .*, got \[1, 2\]"),
        ("searxng", Answer(200, b"<html>", {"content-type": "text/html"}), "200 with text/html, expected JSON: <html>"),
        ("wikipedia", of_json({"error": {"code": "too-long", "info": "Search request is too long."}}), "is too long"),
        ("wikipedia", of_json({"hello": 1}), "not from MediaWiki"),
        ("wikipedia", of_json({"query": {}}), 'has no list "pages"'),
        ("brave", of_json({"type": "ErrorResponse"}, status=422), "422 Unprocessable"),
        ("brave", of_json({"hello": 1}), 'not of the type "search"'),
        (
            "tavily",
            of_json({"detail": {"error": "Unauthorized: missing or invalid API key."}}, status=401),
            r"missing or invalid API key.*; check the address and TAVILY_API_KEY",
        ),
        ("tavily", of_json({"detail": {"error": "Query is too long."}}, status=400), "Query is too long"),
        ("serper", of_json({"message": "Unauthorized.", "statusCode": 403}, status=403), "check .* SERPER_API_KEY"),
        ("serper", of_json({"organic": []}), "not from Serper"),
    ],
)
def test_an_answer_that_holds_no_results_is_an_error_that_names_the_engine(
    name: str, answer: Answer, reason: str
) -> None:
    found, server = ask(APIS[name], [answer])
    assert isinstance(found, SearchError)
    with pytest.raises(SearchError, match=reason):
        raise found
    assert f"{name} at http://127.0.0.1" in str(found)
    assert KEY not in str(found)
    assert len(server.requests) == 1, "what fails for good is not tried again"


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("searxng", {"results": [], "unresponsive_engines": []}),
        ("wikipedia", {"batchcomplete": True}),
        ("brave", {"type": "search", "query": {"original": "q"}}),
        ("tavily", {"results": []}),
        ("serper", {"searchParameters": {"q": "q"}, "organic": []}),
    ],
)
def test_nothing_found_is_an_answer(name: str, answer: dict[str, Any]) -> None:
    assert ask(APIS[name], [of_json(answer)])[0] == []


def test_results_without_text_or_address_are_skipped() -> None:
    good = {"title": "Good", "url": "https://a.example", "content": "Text \ud800 here."}
    bad: list[Any] = [
        None,
        7,
        [],
        {},
        {**good, "content": ""},
        {**good, "content": None},
        {**good, "url": "javascript:alert(1)"},
        {"url": "https://b.example", "content": 3},
    ]
    found, _ = ask(SEARXNG_API, [of_json({"results": [*bad, good]})])
    assert isinstance(found, list)
    # What is half a character becomes the sign for that; the first usable result has rank 1.
    assert [(passage.span.text, passage.score) for passage in found] == [("Text \N{REPLACEMENT CHARACTER} here.", 1.0)]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_engine_is_asked_again_after_the_wait_that_it_asks_for(status: int) -> None:
    started = time.monotonic()
    found, server = ask(SEARXNG_API, [of_json({}, status=status, headers={"retry-after": "0.3"}), of_json(SEARXNG)])
    assert isinstance(found, list)
    assert len(server.requests) == 2
    assert time.monotonic() - started >= 0.3


def test_an_engine_that_stays_busy_or_wants_too_long_a_wait_is_an_error() -> None:
    found, server = ask(SEARXNG_API, [of_json({"error": "slow down"}, status=429, headers={"retry-after": "0"})])
    assert "429 Too Many Requests: slow down" in str(found)
    assert len(server.requests) == 3
    found, server = ask(SEARXNG_API, [of_json({}, status=429, headers={"retry-after": "3600"})])
    assert isinstance(found, SearchError)
    assert len(server.requests) == 1


def test_an_engine_that_hangs_is_given_up() -> None:
    found, _ = ask(SEARXNG_API, [of_json(SEARXNG, delay=FOREVER)], seconds=0.3)
    assert "did not answer within 0.3 seconds" in str(found)


def test_a_failing_engine_leaves_the_others_working_and_is_named() -> None:
    async def main() -> Any:
        async with FaultServer(speaks_searxng) as server:
            up = WebEngine(SEARXNG_API, f"http://127.0.0.1:{server.port}")
            down = WebEngine(APIS["tavily"], "http://127.0.0.1:9", KEY)  # port 9, "discard": nobody listens
            return await search_engines([down, up], "bridge", 5)

    result = asyncio.run(main())
    assert [passage.title for passage in result.passages] == [BRIDGE[0], OTHER[0]]
    assert [(asked.engine, asked.found) for asked in result.asked] == [
        ("web:tavily=http://127.0.0.1:9", 0),
        ("web:searxng", 2),
    ]
    assert (
        "no answer from tavily at http://127.0.0.1:9: cannot connect to 127.0.0.1:9 (Connection refused)"
        in result.asked[0].error
    )


def test_wikipedia_has_one_request_under_way_and_others_a_few() -> None:
    async def max_in_flight(api: WebApi) -> int:
        async with FaultServer([of_json(ANSWERS[api.name], delay=0.05)]) as server:
            engine = WebEngine(api, f"http://127.0.0.1:{server.port}")
            await asyncio.gather(*(engine.search(f"bridge {n}", 5) for n in range(8)))
            return server.max_in_flight

    assert asyncio.run(max_in_flight(APIS["wikipedia"])) == 1
    assert asyncio.run(max_in_flight(SEARXNG_API)) == 4


def test_an_engine_works_in_one_event_loop_after_the_other() -> None:
    async def once(port: int, engine: WebEngine) -> int:
        async with FaultServer(speaks_searxng, port):
            return len(await engine.search("bridge", 5))

    async def free_port() -> int:
        async with FaultServer([]) as server:
            return server.port

    port = asyncio.run(free_port())
    engine = WebEngine(SEARXNG_API, f"http://127.0.0.1:{port}")
    assert [asyncio.run(once(port, engine)) for _ in range(2)] == [2, 2]


def test_a_long_query_is_cut_after_a_word_where_the_engine_would_refuse_it() -> None:
    query = "bridge " * 200
    for name, limit in (("brave", 400), ("tavily", 400), ("wikipedia", 300)):
        _, server = ask(APIS[name], [of_json(ANSWERS[name])], query)
        request = server.requests[0]
        sent = request.body.get("query") or params(request).get("q") or params(request)["gsrsearch"]
        assert len(sent) <= limit
        assert {*sent.split()} == {"bridge"}
        assert name != "brave" or len(sent.split()) == 50


def test_a_query_without_a_word_is_not_sent() -> None:
    found, server = ask(SEARXNG_API, speaks_searxng, ' "!" ')
    assert (found, server.requests) == ([], [])


@given(st.text(max_size=200), st.integers(1, 50))
def test_a_query_holds_no_command_and_is_not_too_long(text: str, limit: int) -> None:
    plain = plain_query(text, limit)
    assert len(plain) <= limit
    assert '"' not in plain
    assert not any(word.startswith(("-", "!", ":", "+", "?", "~")) for word in plain.split())


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It rose from -5 to +7 degrees.", "It rose from 5 to 7 degrees."),
        ("At 10:30, well-off", "At 10:30, well-off"),
        ("intitle:bridge !g :de test", "intitle bridge g de test"),
        ("Ulm\n\tan der\u2003Donau", "Ulm an der Donau"),
    ],
)
def test_a_claim_keeps_its_words_as_a_query(text: str, plain: str) -> None:
    assert plain_query(text, 100) == plain


def test_the_keyless_search_reports_that_no_engine_can_be_reached() -> None:
    pytest.importorskip("ddgs", reason="needs the extra 'search'")
    engine = Ddgs(proxy="http://127.0.0.1:9", seconds=2)  # port 9, "discard": nobody listens
    with pytest.raises(SearchError, match="none of the engines of ddgs answered"):
        asyncio.run(engine.search("bridge", 5))
    assert asyncio.run(engine.search("!", 5)) == []
