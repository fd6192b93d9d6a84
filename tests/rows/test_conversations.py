"""Conversations as clients write them: each answer is read with what was known when it was given."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import vouching
from tests.processor_time import ends_within
from vouching.errors import InputError
from vouching.rows.conversations import Origin, Turn, read_turns
from vouching.text.structures import json_lines
from vouching.types import Report

TRACES = Path(__file__).parents[1] / "data" / "traces"
NAMES = sorted(path.stem for path in TRACES.glob("*.json"))
SYSTEM = {"text": "The museum is closed on Mondays.", "id": "system"}
WEATHER = {
    "text": "city: Lyon.\nLyon temperature: 18.\nLyon wind speed: 12.\nLyon wind direction: north.",
    "id": "call_1 (get_weather)",
}
HOURS = {"text": "The museum opens at 9:30.", "id": "call_3 (get_hours)"}


def answered(messages: object, *origins: Origin) -> list[Turn]:
    return [turn for turn in (read_turns(messages, origins) if origins else read_turns(messages)) if turn.answer]


def placed(report: Report) -> list[tuple[str, set[str | None]]]:
    """For each claim its label, and the sources of its evidence."""
    return [
        (
            getattr(finding, "label", finding.kind),
            {part.source_span.source_id for part in getattr(finding, "evidence_alignment", ()) if part.source_span},
        )
        for finding in report.findings
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_messages_of_every_client_say_the_same(name: str) -> None:
    # What is said before a call (30 degrees), a thought (25) and what a failed tool says (11:00) are in every file.
    text = (TRACES / f"{name}.json").read_text(encoding="utf-8")
    first, second = answered(text)
    assert first == Turn("The temperature in Lyon is 18 degrees.", "How warm is it in Lyon?", (SYSTEM, WEATHER))
    assert second.question == "When does the museum open?"
    assert second.answer == "The museum opens at 9:30. It is closed on Mondays."
    assert second.sources == (SYSTEM, WEATHER, HOURS)
    assert answered(text.encode()) == answered(json.loads(text)) == [first, second]


def test_each_claim_names_the_result_that_supports_it() -> None:
    first, second = vouching.check_trace((TRACES / "anthropic.json").read_text(encoding="utf-8"))
    assert (first.id, second.id) == ("turn-1", "turn-2")
    assert placed(first) == [("Attributable", {"call_1 (get_weather)"})]
    assert placed(second) == [("Attributable", {"call_3 (get_hours)"}), ("Attributable", {"system"})]


def test_what_becomes_known_later_supports_nothing_before_it() -> None:
    said = {"role": "assistant", "content": "The bridge opened in 1973."}
    result = {"role": "tool", "tool_call_id": "c", "content": "The bridge opened in 1973."}
    before, after = vouching.check_trace([said, result, said], model="embedded:rules")
    assert placed(before) == [("Unverified", set())]
    assert getattr(before.findings[0], "reason", None) == "no_evidence"
    assert placed(after) == [("Attributable", {"c"})]


def test_a_user_and_an_earlier_answer_are_no_evidence_unless_the_caller_trusts_the_user() -> None:
    messages = [
        {"role": "user", "content": "The bridge opened in 1973, right?"},
        {"role": "assistant", "content": "It has two towers."},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "It has two towers."},
    ]
    assert [turn.sources for turn in answered(messages)] == [(), ()]
    assert [source["text"] for source in answered(messages, "user")[1].sources] == [
        "The bridge opened in 1973, right?",
        "And?",
    ]


@pytest.mark.parametrize(
    "result",
    [
        {"role": "tool", "content": '{"error": "The bridge is closed.", "code": 5}'},
        {"role": "tool", "content": '{"isError": true, "content": [{"type": "text", "text": "It is closed."}]}'},
        {"type": "mcp_call", "id": "m", "name": "look", "arguments": "{}", "error": "no", "output": "It is closed."},
        {
            "role": "user",
            "content": [
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s",
                    "content": {"type": "web_search_tool_result_error", "error_code": "down"},
                }
            ],
        },
        {"role": "tool", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
    ],
)
def test_errors_and_images_are_no_evidence(result: dict[str, Any]) -> None:
    [turn] = answered([result, {"role": "assistant", "content": "It is closed."}])
    assert turn.sources == ()


def test_tools_that_a_server_runs_and_documents_in_messages_are_sources() -> None:
    items = [
        {
            "type": "file_search_call",
            "id": "fs",
            "status": "completed",
            "queries": ["bridge"],
            "results": [{"filename": "bridge.pdf", "text": "The bridge opened in 1973 to all traffic.", "score": 0.9}],
        },
        {
            "role": "user",
            "content": [
                {"type": "document", "title": "towers.txt", "source": {"type": "text", "data": "It has two towers."}},
                {
                    "type": "search_result",
                    "source": "https://a.example",
                    "title": "Deck",
                    "content": [{"type": "text", "text": "The deck is steel."}],
                },
                {"type": "text", "text": "Tell me."},
            ],
        },
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is of steel."}]},
    ]
    [turn] = answered({"documents": [{"doc_id": "d", "data": {"text": "It is 90 m long."}}], "input": items})
    assert turn.question == "Tell me."
    assert [source["id"] for source in turn.sources] == [None, "bridge.pdf", "towers.txt", "https://a.example"]
    assert [source["text"] for source in turn.sources] == [
        "It is 90 m long.",
        "The bridge opened in 1973 to all traffic.",
        "It has two towers.",
        "The deck is steel.",
    ]


def test_json_is_read_as_values_with_the_keys_above_them() -> None:
    users = [{"id": 7, "name": "Ana Ré", "age": 30}, {"id": 8, "name": "Bo", "age": None}]
    assert json_lines(json.dumps({"users": users, "is_open": True, "tags": ["new", "old"]})) == (
        "users Ana Ré id: 7.\nusers name: Ana Ré.\nusers Ana Ré age: 30.\nusers Bo id: 8.\nusers name: Bo.\n"
        "is open: true.\ntags: new.\ntags: old."
    )
    assert [json_lines(text) for text in ("", "18", '"a"', "[]", '{"a": ', "It is {1}.")] == [None] * 6


@pytest.mark.parametrize("text", ["It is warm.", '{"role": "user"', '{"a": 1}\nb', b"\xff\xfe"])
def test_what_is_no_conversation_is_refused_in_words(text: str | bytes) -> None:
    with pytest.raises(InputError, match="a conversation must be messages as JSON or JSON lines, got"):
        list(read_turns(text))


def test_a_conversation_without_an_answer_or_too_deep_is_refused() -> None:
    with pytest.raises(InputError, match="the conversation has no answer of a model"):
        vouching.check_trace([{"role": "user", "content": "When?"}])
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(InputError, match="nested too deeply"):
        list(read_turns({"messages": deep}))
    with pytest.raises(InputError, match="nested too deeply"):
        list(read_turns("[" * 100_000))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "type", "content", "text", "output", "tool_calls", "id", "parts", "data", "input"]
            ),
            inner
            | st.sampled_from(["assistant", "tool", "user", "text", "tool_use", "document", "x_call", "x_output"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_JSON.filter(lambda value: not isinstance(value, str)))
def test_any_json_is_read_and_the_sources_only_grow(value: Any) -> None:
    turns = [*read_turns(value)]
    assert turns[-1].answer == ""
    for turn, following in pairwise(turns):
        assert turn.answer
        assert following.sources[: len(turn.sources)] == turn.sources


def test_thirty_turns_with_a_hundred_results_are_checked_in_seconds() -> None:
    messages: list[Any] = []
    for turn in range(30):
        messages.append({"role": "user", "content": f"How warm is it in the towns of region {turn}?"})
        for call in range(4 if turn < 10 else 3):  # 10 * 4 + 20 * 3 = 100 results
            rows = [{"town": f"Town{turn}x{call}x{row}", "temperature": turn + row, "sky": "clear"} for row in range(5)]
            messages.append({"role": "tool", "tool_call_id": f"call_{turn}_{call}", "content": json.dumps(rows)})
        messages.append({"role": "assistant", "content": f"The temperature in Town{turn}x0x1 is {turn + 1}. It is 99."})
    with ends_within():  # about 1 s; 5 s when each turn read all sources anew
        reports = vouching.check_trace(messages, model="embedded:rules")
    assert [len(report.sources) for report in reports] == [4 * n if n < 11 else 40 + 3 * (n - 10) for n in range(1, 31)]
