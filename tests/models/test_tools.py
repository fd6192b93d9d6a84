"""Calls of tools: what a server is sent and what is understood, what is kept of them, what models here write."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.models.fault_server import FaultServer, of_json
from vouching.errors import ModelRefusedError
from vouching.models import Cached, Completion, Message, Recording, Replay, Sampling, ScriptedModel, Tool, ToolCall
from vouching.models.http import HttpModel
from vouching.models.record import request_key
from vouching.models.tools import read_tool_calls
from vouching.types import Usage

LOOK = Tool("look", "Looks it up.", {"type": "object", "properties": {"query": {"type": "string"}}})
SAMPLING = Sampling(tools=(LOOK,))
CALL = ToolCall("c1", "look", '{"query": "bridge"}')
TALK = (
    Message("user", "When did it open?"),
    Message("assistant", "I look.", tool_calls=(CALL,)),
    Message("tool", "It opened in 1973.", tool_call_id="c1"),
)


def ask_server(message: dict[str, Any], endpoint: Any = "chat") -> tuple[Completion, dict[str, Any]]:
    async def main() -> tuple[Completion, dict[str, Any]]:
        async with FaultServer([of_json({"choices": [{"message": message, "finish_reason": "tool_calls"}]})]) as server:
            model = HttpModel(server.url, "m", endpoint=endpoint)
            [said] = await model.generate(TALK, SAMPLING)
            await model.aclose()
            return said, server.requests[0].body

    return asyncio.run(main())


def test_a_server_is_sent_tools_calls_and_answers_and_its_call_is_read() -> None:
    called = {"id": "c2", "type": "function", "function": {"name": "look", "arguments": '{"query": "date"}'}}
    said, body = ask_server({"content": None, "tool_calls": [called]})
    assert said.tool_calls == (ToolCall("c2", "look", '{"query": "date"}'),)
    assert (said.text, said.finish_reason) == ("", "stop")
    assert body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "look",
                "description": "Looks it up.",
                "parameters": LOOK.parameters,
            },
        }
    ]
    assert body["messages"] == [
        {"role": "user", "content": "When did it open?"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"query": "bridge"}'}},
            ],
        },
        {"role": "tool", "content": "It opened in 1973.", "tool_call_id": "c1"},
    ]


@pytest.mark.parametrize(
    ("called", "read"),
    [
        ({"function": {"name": "look", "arguments": {"query": "é"}}}, ToolCall("call-1", "look", '{"query": "é"}')),
        ({"id": "x", "function": {"arguments": "{"}}, ToolCall("x", "", "{")),
        ({"id": "x", "function": {"name": "look", "arguments": "\ud83d"}}, ToolCall("x", "look", "\ufffd")),
        ("look", ToolCall("call-1", "", "null")),
    ],
    ids=["object, no id", "no name", "half a character", "no object"],
)
def test_an_odd_call_of_a_server_is_kept_as_it_can_be(called: Any, read: ToolCall) -> None:
    assert ask_server({"content": "", "tool_calls": [called]})[0].tool_calls == (read,)


def test_tool_calls_that_are_no_list_are_none() -> None:
    assert ask_server({"content": "Yes.", "tool_calls": None})[0].tool_calls == ()


def test_a_model_that_goes_on_with_a_text_refuses_tools() -> None:
    with pytest.raises(ModelRefusedError, match="does not support tools"):
        ask_server({}, endpoint="text")


def test_a_request_without_tools_has_the_key_that_it_always_had() -> None:
    """Known answers outlive a new field: this is SHA-256 of the fields that there were before tools."""
    import hashlib

    fields = {
        "max_tokens": 1024,
        "temperature": 0.0,
        "top_p": 1.0,
        "n": 1,
        "seed": None,
        "stop": [],
        "json_schema": None,
        "logprobs": False,
        "extra": {},
    }
    request = {"model": "m", "messages": [{"role": "user", "content": "Is it?"}], "sampling": fields}
    text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    assert request_key("m", [Message("user", "Is it?")], Sampling()) == hashlib.sha256(text.encode()).hexdigest()


def test_calls_and_answers_tell_requests_apart() -> None:
    other = (TALK[0], Message("assistant", "I look."), TALK[2])
    assert request_key("m", TALK, SAMPLING) != request_key("m", other, SAMPLING)
    assert request_key("m", TALK, SAMPLING) != request_key("m", TALK, Sampling())


def test_a_cache_and_a_recording_keep_calls(tmp_path: Path) -> None:
    script = ScriptedModel([Completion("I look.", "stop", Usage(), tool_calls=(CALL,))])

    async def main() -> list[Completion]:
        model = Cached(Recording(script, tmp_path / "calls.jsonl"), tmp_path / "answers.sqlite")
        said = [(await model.generate(TALK, SAMPLING))[0] for _ in range(2)]
        await model.aclose()
        return [*said, (await Replay(tmp_path / "calls.jsonl").generate(TALK, SAMPLING))[0]]

    said = asyncio.run(main())
    assert [one.tool_calls for one in said] == [(CALL,)] * 3
    assert said[0].usage.completion_tokens == 4  # I, look., {"query": and "bridge"}
    assert len(script.asked) == 1


@pytest.mark.parametrize(
    ("text", "left", "calls"),
    [
        ("No call.", "No call.", []),
        (
            'A <tool_call>{"name": "look", "arguments": {"query": "b"}}</tool_call> c',
            "A  c",
            [("look", '{"query": "b"}')],
        ),
        ('<tool_call>{"name": "look", "arguments": {}}', "", [("look", "{}")]),
        ('<tool_call>{"name": "look"}</tool_call>', "", [("", '{"name": "look"}')]),
        ("<tool_call>[1]</tool_call><tool_call></tool_call>", "", [("", "[1]"), ("", "")]),
        ("<tool_call>" + "[" * 100_000, "", [("", "[" * 100_000)]),
    ],
    ids=["none", "between words", "cut off", "no arguments", "no objects", "deep"],
)
def test_calls_in_a_text_are_read_and_taken_out(text: str, left: str, calls: list[tuple[str, str]]) -> None:
    said, found = read_tool_calls(text)
    assert said == left
    assert [(call.name, call.arguments) for call in found] == calls
