"""Recordings of searches: the same answers and the same failures again, with nothing to connect to."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.models.fault_server import FaultServer, of_json
from tests.search.answers import SEARXNG as ANSWER
from vouching import Checker
from vouching.errors import ConfigError, InputError, SearchError
from vouching.search.base import SearchEngine, search_engines
from vouching.search.record import Recording, Replay
from vouching.search.web import WebEngine
from vouching.search.web_apis import APIS
from vouching.types import SearchResult, Usage

QUERIES = ("Bosphorus Bridge", "Ulm", "Bosphorus Bridge")
EMPTY = {**ANSWER, "results": [], "unresponsive_engines": []}


async def ask(*engines: SearchEngine) -> list[SearchResult]:
    found = [await search_engines(engines, query) for query in QUERIES]
    for engine in engines:
        await engine.aclose()
    return found


def test_a_replay_gives_the_same_results_with_no_server(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"

    async def record() -> tuple[list[SearchResult], str]:
        script = [of_json(ANSWER), of_json(EMPTY), of_json({"detail": "no"}, status=400)]
        async with FaultServer(script) as server, FaultServer([of_json({}, status=500)]) as down:
            up = WebEngine(APIS["searxng"], f"http://127.0.0.1:{server.port}")
            broken = WebEngine(APIS["tavily"], f"http://127.0.0.1:{down.port}", "secret-key")
            return await ask(Recording(up, path), Recording(broken, path)), broken.name

    results, name = asyncio.run(record())
    assert [result.asked[0].found for result in results] == [2, 0, 0]
    assert [bool(result.asked[0].error) for result in results] == [False, False, True]
    assert all(result.asked[1].error for result in results)
    assert asyncio.run(ask(Replay(path, "web:searxng"), Replay(path, name))) == results
    assert "secret-key" not in path.read_text(encoding="utf-8")


def test_a_check_with_a_replay_gives_the_same_verdict(tmp_path: Path) -> None:
    path, claim = tmp_path / "answers.jsonl", "The Bosphorus Bridge opened in 1937."

    async def record() -> Any:
        async with FaultServer([of_json(ANSWER)]) as server:
            engine = Recording(WebEngine(APIS["searxng"], f"http://127.0.0.1:{server.port}"), path)
            return await Checker("embedded:rules", search=[engine]).acheck_with_sources(claim)

    def timeless(found: Any) -> Any:
        [verdict], sources = found
        return replace(verdict, usage=Usage()), sources

    recorded = asyncio.run(record())
    again = Checker("embedded:rules", search=[Replay(path, "web:searxng")]).check_with_sources(claim)
    assert timeless(again) == timeless(recorded)
    assert timeless(again)[0].revised_claim == "The Bosphorus Bridge opened in 1973."


def test_the_last_answer_of_a_query_is_given_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"engine": "web:x", "query": "q", "most": 5, "error": "busy"}\n'
        '{"engine": "web:x", "query": "q", "most": 5, "passages": []}\n',
        encoding="utf-8",
    )
    replay = Replay(path, "web:x")
    with pytest.raises(SearchError, match="busy"):
        asyncio.run(replay.search("q", 5))
    assert [asyncio.run(replay.search("q", 5)) for _ in range(2)] == [[], []]


@pytest.mark.parametrize(("query", "limit", "name"), [("other", 5, "web:x"), ("q", 3, "web:x"), ("q", 5, "web:y")])
def test_a_search_that_was_not_recorded_is_a_wrong_setting(query: str, limit: int, name: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"engine": "web:x", "query": "q", "most": 5, "passages": []}\n', encoding="utf-8")
    with pytest.raises(
        ConfigError,
        match=rf"no answer from {name} for the query '{query}' with {limit} passages: record the search again",
    ):
        asyncio.run(Replay(path, name).search(query, limit))


@pytest.mark.parametrize(
    "text",
    [
        "{}\n",
        "[1]\n",
        '{"engine": "web:x", "query": "q", "mo',
        '{"engine": "web:x", "query": "q"}\n',
        '{"engine": "web:x", "query": "q", "most": 5, "passages": [{"span": {}}]}\n',
        '{"engine": "web:x", "query": ["q"], "most": 5, "passages": []}\n',
    ],
)
def test_a_file_that_is_not_a_recording_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="line 1 is not a recorded search"):
        Replay(path, "web:x")


def test_a_recording_is_continued_and_another_file_is_left_unchanged(tmp_path: Path) -> None:
    engine = WebEngine(APIS["searxng"], "http://localhost")
    path, notes = tmp_path / "answers.jsonl", tmp_path / "notes.txt"
    line = '{"engine": "web:x", "query": "q", "most": 5, "passages": []}\n'
    for text in ("", line):
        path.write_text(text, encoding="utf-8")
        asyncio.run(Recording(engine, path).aclose())
    notes.write_text("My notes.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"notes\.txt, line 1 is not a recorded search: record to a new file"):
        Recording(engine, notes)
    assert notes.read_text(encoding="utf-8") == "My notes.\n"


def test_files_that_cannot_be_opened_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        Recording(WebEngine(APIS["searxng"], "http://localhost"), tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        Replay(tmp_path / "none.jsonl", "web:x")
