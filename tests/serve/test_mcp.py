"""The MCP server, asked by the SDK's own client: in this process, over stdio and over streamable HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

pytest.importorskip("mcp", reason="the extra serve is not installed")

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from typer.testing import CliRunner

from tests.cli.chat_server import chat_server
from vouching.cli.app import app_for
from vouching.errors import ConfigError
from vouching.serve.mcp_server import build_mcp
from vouching.serve.mcp_tools import McpConfig
from vouching.types import Verdict
from vouching.types.serial import from_json

RULES = McpConfig("embedded:rules")
BRIDGE = {"doc_id": "bridge.txt", "text": "The bridge opened to traffic in 1973. It has three towers."}
COMMAND = ("-c", "import sys; sys.argv[0] = 'vouch'; from vouching.cli.app import main; sys.exit(main())", "mcp")
CALLS: dict[str, dict[str, Any]] = {
    "verify_claim": {"claim": "The bridge opened in 1937.", "sources": [BRIDGE]},
    "verify_response": {"response": "It opened in 1937. It has three towers.", "sources": [BRIDGE], "repair": "mark"},
    "verify_conversation": {
        "messages": [
            {"role": "tool", "tool_call_id": "call_1", "name": "search", "content": BRIDGE["text"]},
            {"role": "assistant", "content": "The bridge opened to traffic in 1973."},
            {"role": "user", "content": "And its towers?"},
            {"role": "assistant", "content": "It has 2 towers."},
        ]
    },
    "check_instructions": {"instruction": "Use no commas.", "response": "So it is."},
    "audit_numbers": {"response": "The bridge has 2 towers.", "sources": [BRIDGE]},
    "check_context": {"question": "When did the bridge open?", "sources": [BRIDGE], "answer": "In 1973."},
    "find_evidence": {"claim": "The bridge opened in 1937.", "sources": ["It rained.", BRIDGE]},
}
"""One call of each tool."""
SLOW: tuple[str, dict[str, Any]] = (
    "verify_response",
    {"response": "The bridge cost 5 million. " * 499, "sources": ["The bridge cost 6. " * 50_000]},
)
"""A call within the limits that takes minutes."""
ENDS_SECONDS = 15.0
"""A process that is stopped ends in this time, also on a busy machine."""


def called(server: Any, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """The results of calls in one session."""

    async def session() -> list[Any]:
        async with Client(server) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(session())


def test_what_the_tools_judge_is_kept_in_a_ledger_if_one_is_named(tmp_path: Path) -> None:
    from vouching.ledger import open_ledger

    target = str(tmp_path / "verdicts.db")
    called(build_mcp(McpConfig("embedded:rules", ledger=target)), *CALLS.items())
    with open_ledger(target) as ledger:
        kinds = sorted(row.kind for row in ledger.rows())
        assert ledger.verify().intact
    assert kinds == [
        "audit",
        "check",
        "check-response",
        "check-response",
        "check-response",
        "context",
        "follow",
    ]  # passages of find_evidence are no verdict


def test_every_tool_publishes_a_schema_that_its_result_has() -> None:
    async def session() -> list[tuple[Any, Any]]:
        async with Client(build_mcp(RULES)) as client:
            tools = (await client.list_tools()).tools
            return [(tool, await client.call_tool(tool.name, CALLS[tool.name])) for tool in tools]

    found = asyncio.run(session())
    assert {tool.name for tool, _ in found} == {*CALLS}
    for tool, result in found:
        assert not result.is_error, result.content
        assert tool.output_schema["type"] == "object"
        jsonschema.validate(result.structured_content, tool.output_schema)
        assert tool.annotations.read_only_hint is True
        assert tool.description


def test_the_verdict_is_the_record_of_the_library() -> None:
    [result] = called(build_mcp(RULES), ("verify_claim", CALLS["verify_claim"]))
    finding = result.structured_content["finding"]
    verdict = from_json(Verdict, json.dumps(finding))
    assert (verdict.label, verdict.error_type) == ("Not Attributable", "temporal_shift")
    assert verdict.revised_claim == "The bridge opened in 1973."
    source_span = verdict.evidence_alignment[-1].source_span
    assert source_span is not None
    assert source_span.source_id == "bridge.txt"
    assert BRIDGE["text"][source_span.start : source_span.end] == source_span.text
    assert "Change 1937 to 1973." in result.content[0].text


def test_a_response_is_checked_and_repaired_and_its_numbers_are_audited() -> None:
    whole, audit = called(build_mcp(RULES), *((name, CALLS[name]) for name in ("verify_response", "audit_numbers")))
    assert whole.structured_content["passed"] is False
    assert [finding["label"] for finding in whole.structured_content["findings"]] == [
        "Not Attributable",
        "Attributable",
    ]
    assert whole.structured_content["revised_response"] == "It opened in 1973. It has three towers."
    [pair] = audit.structured_content["findings"]
    assert (pair["kind"], pair["outcome"], pair["found"]) == ("pair", "different", ["three"])


def test_an_answer_with_citations_is_checked_with_them_as_an_object_and_as_json() -> None:
    cited = {"type": "char_location", "document_index": 0, "cited_text": "It opened in 1973."}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "It has ten towers.", "citations": [cited]}]}
    given = [{"response": one, "sources": [BRIDGE]} for one in (answer, json.dumps(answer), answer["content"])]
    for result in called(build_mcp(RULES), *(("verify_response", one) for one in given)):
        assert not result.is_error, result.content
        assert [one["outcome"] for one in result.structured_content["citations"]] == ["not_in_source"]


def test_the_passage_that_speaks_about_the_claim_comes_first_with_its_place() -> None:
    [result] = called(build_mcp(RULES), ("find_evidence", CALLS["find_evidence"]))
    first, second = result.structured_content["passages"]
    assert (first["source_id"], first["relation"], first["label"]) == ("bridge.txt", "contradicted", "Not Attributable")
    assert BRIDGE["text"][first["start"] : first["end"]] == first["text"]
    assert second["relation"] == "not_found"
    assert result.structured_content["searched"] == 2


def test_a_call_that_cannot_be_used_is_an_error_that_says_what_to_do() -> None:
    short = McpConfig("embedded:rules", max_characters=20)
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("verify_claim", {"claim": "It opened."}),
        ("verify_claim", {"claim": "...", "sources": ["a"]}),
        ("find_evidence", {"claim": "It opened.", "sources": ["a"], "limit": 0}),
        ("verify_claim", {"claim": "It opened.", "sources": [{"txt": "a"}]}),
    )
    expected = (
        "no source was given",
        "at least one word or number",
        "limit must be between 1 and 50, got 0",
        "text is missing",
    )
    for result, words in zip(called(build_mcp(RULES), *calls), expected, strict=True):
        assert result.is_error
        assert words in result.content[0].text
        assert result.structured_content is None
    [long] = called(build_mcp(short), ("verify_claim", CALLS["verify_claim"]))
    assert "this server accepts 20 per call" in long.content[0].text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"claim": 5, "sources": ["a"]}, "claim: must be a valid string, got 5; see the input schema of verify_claim"),
        ({"sources": ["a"]}, "claim is missing: see the input schema of verify_claim for the fields"),
        ({"claim": "It opened.", "sources": 5}, "sources: must be a valid list, got 5; see the input schema"),
        (
            {"claim": "It opened.", "sources": ["a", 5]},
            "sources.1.str: must be a valid string, got 5; see the input schema",
        ),
        ({"claim": "It opened.", "sorces": ["a"]}, "unknown argument 'sorces'; did you mean 'sources'?"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_in_words(arguments: dict[str, Any], words: str) -> None:
    [result] = called(build_mcp(RULES), ("verify_claim", arguments))
    assert result.is_error
    assert result.content[0].text.startswith(words)
    assert "pydantic" not in result.content[0].text


def test_the_length_of_a_call_is_limited_also_where_sources_are_searched_for(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(BRIDGE["text"], encoding="utf-8")
    built = CliRunner().invoke(
        app_for("index"), ["index", "build", str(tmp_path / "index"), str(tmp_path / "notes.txt")]
    )
    assert built.exit_code == 0, built.output
    searching = build_mcp(McpConfig("embedded:rules", search=(f"index:{tmp_path / 'index'}",), max_characters=40))
    long, source = "The bridge opened in 1973. " * 2, "It opened in 1973."
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("verify_claim", {"claim": long}),
        ("verify_response", {"response": long}),
        ("verify_response", {"response": "It opened.", "question": long}),
        ("find_evidence", {"claim": long}),
        ("audit_numbers", {"response": "It opened.", "sources": [source], "question": long}),
        ("check_instructions", {"instruction": "Use no commas.", "response": long}),
    )
    for result in called(searching, *calls):
        assert result.is_error
        assert "this server accepts 40 per call" in result.content[0].text


def test_a_judge_that_fails_is_unverified_and_one_out_of_reach_is_an_error() -> None:
    with chat_server(lambda prompt: "who knows") as name:
        [result] = called(build_mcp(McpConfig(name)), ("verify_claim", CALLS["verify_claim"]))
    assert result.structured_content["label"] == "Unverified"
    assert result.structured_content["finding"]["reason"] == "unparsable"
    with chat_server(lambda prompt: 503) as name:
        [result] = called(build_mcp(McpConfig(name)), ("verify_claim", CALLS["verify_claim"]))
    assert result.is_error
    assert "503" in result.content[0].text


def test_wrong_settings_are_refused_before_the_server_starts() -> None:
    with pytest.raises(ConfigError, match=r"threshold must be in \[0, 1\]"):
        McpConfig(threshold=2.0)
    with pytest.raises(ConfigError, match="unknown search engine"):
        build_mcp(McpConfig(search=("bravo",)))


def test_without_sources_an_index_is_searched(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "bridge.txt").write_text(BRIDGE["text"], encoding="utf-8")
    built = CliRunner().invoke(app_for("index"), ["index", "build", str(tmp_path / "index"), str(notes)])
    assert built.exit_code == 0, built.output
    server = build_mcp(McpConfig("embedded:rules", search=(f"index:{tmp_path / 'index'}",)))
    claim, found = called(
        server,
        ("verify_claim", {"claim": "The bridge opened in 1973."}),
        ("find_evidence", {"claim": "When did the bridge open? In 1973."}),
    )
    assert claim.structured_content["label"] == "Attributable"
    assert found.structured_content["passages"][0]["source_id"].endswith("bridge.txt")


def test_over_stdio_the_real_command_answers() -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=[*COMMAND, "--model", "embedded:rules"], env={**os.environ}
    )

    async def session() -> Any:
        async with Client(stdio_client(parameters)) as client:
            return await client.call_tool("verify_claim", CALLS["verify_claim"])

    assert asyncio.run(session()).structured_content["label"] == "Not Attributable"


def test_over_stdio_a_line_with_a_lone_surrogate_ends_neither_the_server_nor_the_next_call() -> None:
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    call = {
        "jsonrpc": "2.0",
        "method": "tools/call",
        "params": {"name": "verify_claim", "arguments": {"claim": "It opened \ud800.", "sources": ["It opened."]}},
    }
    good = json.dumps({**call, "id": 3}).replace("\\ud800", "today")
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json.dumps({**call, "id": 2}),
        good,
    ]
    command = [sys.executable, *COMMAND, "--model", "embedded:rules"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdin
        assert started.stdout
        started.stdin.write("\n".join([*lines, ""]))
        started.stdin.flush()
        answered = [json.loads(started.stdout.readline()) for _ in range(2)]
        started.stdin.close()
        assert started.wait(60) == 0
    assert [one["id"] for one in answered] == [1, 3]  # the SDK drops the line that it cannot read
    assert "label" in answered[1]["result"]["structuredContent"]


def test_a_call_that_takes_too_long_is_ended_and_the_next_is_answered() -> None:
    slow, after = called(build_mcp(replace(RULES, timeout_seconds=20.0)), SLOW, ("verify_claim", CALLS["verify_claim"]))
    assert slow.is_error
    assert "the request was not answered within 20 s: send fewer or shorter texts" in slow.content[0].text
    assert after.structured_content["label"] == "Not Attributable"


def test_more_claims_than_the_server_accepts_are_refused_before_any_is_judged() -> None:
    few, many = "It opened in 1973. ", [{"role": "assistant", "content": "It opened. It closed."}] * 2
    calls = ("verify_response", {"response": few * 4, "sources": [BRIDGE]}), ("verify_conversation", {"messages": many})
    for result in called(build_mcp(replace(RULES, max_claims=3)), *calls):
        assert result.is_error
        assert "the call has more than 3 claims, which is what this server accepts: split it" in result.content[0].text


@pytest.mark.parametrize("stop", ["end of input", "SIGTERM"])
def test_over_stdio_the_process_ends_soon_in_the_middle_of_a_call(stop: str) -> None:
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    name, arguments = SLOW
    lines = [
        {"id": 1, "method": "initialize", "params": opening},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}},
    ]
    command = [sys.executable, *COMMAND, "--model", "embedded:rules"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdin
        assert started.stdout
        for line in lines:
            started.stdin.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n")
            started.stdin.flush()
        started.stdout.readline()
        time.sleep(2)  # the call has begun
        if stop == "SIGTERM":
            started.terminate()
        else:
            started.stdin.close()
        try:
            assert started.wait(ENDS_SECONDS) == (-signal.SIGTERM if stop == "SIGTERM" else 0)
        finally:
            started.kill()


def test_over_http_the_process_ends_soon_in_the_middle_of_calls() -> None:
    async def ask(url: str) -> None:
        async with Client(url) as client:
            await client.call_tool(*SLOW)

    async def all_of(url: str, started: subprocess.Popen[str]) -> int:
        calls = [asyncio.ensure_future(ask(url)) for _ in range(3)]
        await asyncio.sleep(5)
        started.terminate()
        status = await asyncio.to_thread(started.wait, ENDS_SECONDS)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return status

    with over_http() as (url, started):
        assert asyncio.run(all_of(url, started)) == 0


@pytest.fixture(scope="module")
def http() -> Iterator[str]:
    """The address of the real command over HTTP, at a free port."""
    with over_http() as (url, _):
        yield url


@contextmanager
def over_http() -> Generator[tuple[str, subprocess.Popen[str]]]:
    """The real command over HTTP, at a free port."""
    started = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "127.0.0.1:0", "--model", "embedded:rules"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stderr is not None
    try:
        line = started.stderr.readline()
        found = re.search(r"MCP at (\S+)", line)
        assert found, line
        yield found[1], started
    finally:
        started.terminate()
        try:
            started.wait(20)
        finally:
            started.kill()
            started.stderr.close()


def test_over_http_the_real_command_answers_many_clients_at_once(http: str) -> None:
    @asynccontextmanager
    async def connected(url: str) -> AsyncGenerator[Client]:
        async with Client(url) as client:
            yield client

    async def ask(url: str, tool: str) -> Any:
        async with connected(url) as client:
            return await client.call_tool(tool, CALLS[tool])

    async def all_of() -> list[Any]:
        return await asyncio.gather(*(ask(http, tool) for tool in CALLS))

    results = asyncio.run(all_of())
    assert [result.is_error for result in results] == [False] * len(CALLS)


def test_over_http_a_lone_surrogate_is_an_error_of_its_call(http: str) -> None:
    import httpx2

    raw = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "verify_claim", "arguments": '
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    answered = httpx2.post(http, content=raw + b'{"claim": "\\ud800", "sources": ["a"]}}}', headers=headers, timeout=60)
    assert (answered.status_code, answered.json()["error"]["code"]) == (400, -32700)  # a parse error of JSON-RPC


def test_a_page_of_another_site_cannot_reach_the_server(http: str) -> None:
    import httpx2

    asked: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepted = {"accept": "application/json, text/event-stream"}
    for foreign in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
        answered = httpx2.post(http, json=asked, headers={**accepted, **foreign})
        assert answered.status_code in (403, 421), answered.text
