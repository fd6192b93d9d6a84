"""Streams through the guard proxy, event by event: what is held is neither lost nor out of order."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from vouching.serve.blocking import Blocking
from vouching.serve.events import LARGEST_EVENT, data_of, events_of, kept_alive
from vouching.serve.policy import JudgeSettings, Policy
from vouching.serve.proxy_guard import Guard
from vouching.serve.proxy_messages import Asked
from vouching.serve.proxy_settings import ProxySettings
from vouching.serve.proxy_streams import HeldChat, held_responses, stream_after
from vouching.serve.work import Pool
from vouching.types import Source

ASKED = Asked("When did it open?", (Source("The bridge opened in 1973. It has two towers."),))
WRONG, RIGHT, TOWERS = "The bridge opened in 1937.", "The bridge opened in 1973.", "The bridge has two towers."
DONE = b"data: [DONE]\n\n"
POOL = Pool(threads=1, queue=4)
"""One for all tests: its process takes a second to start."""
Make = Callable[[AsyncIterator[bytes], Guard], AsyncIterator[bytes]]


@pytest.fixture(scope="module", autouse=True)
def closed() -> Iterator[None]:
    yield
    POOL.close()


def held_chat(chunks: AsyncIterator[bytes], guard: Guard) -> AsyncIterator[bytes]:
    return HeldChat(guard, ASKED).stream(chunks)


def held(chunks: AsyncIterator[bytes], guard: Guard) -> AsyncIterator[bytes]:
    return held_responses(chunks, guard, ASKED)


def after_chat(chunks: AsyncIterator[bytes], guard: Guard) -> AsyncIterator[bytes]:
    return stream_after(chunks, guard, ASKED, chat=True)


def after_responses(chunks: AsyncIterator[bytes], guard: Guard) -> AsyncIterator[bytes]:
    return stream_after(chunks, guard, ASKED, chat=False)


def made(make: Make, events: list[bytes], **settings: Any) -> list[bytes]:
    """The events that a caller gets."""
    policy = ProxySettings(blocked_text="No.", **settings)
    guard = Guard(policy, JudgeSettings("embedded:rules"), POOL, Blocking(Policy()))

    async def chunks() -> AsyncIterator[bytes]:
        for event in events:
            yield event

    async def collected() -> list[bytes]:
        return [event async for event in make(chunks(), guard)]

    return asyncio.run(collected())


def sent(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def chunk(text: str | None = None, index: int = 0, finish: str | None = None, **delta: Any) -> bytes:
    """A chunk of a chat completion."""
    delta |= {} if text is None else {"content": text}
    return sent({"id": "c", "model": "tiny", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]})


def said(events: list[bytes], index: int = 0) -> str:
    """The text of a choice."""
    choices = [choice for event in events for choice in (data_of(event) or {}).get("choices", ())]
    return "".join(one["delta"].get("content") or "" for one in choices if one["index"] == index)


def verdict(events: list[bytes]) -> dict[str, Any]:
    [found] = [data["vouch"] for event in events if "vouch" in (data := data_of(event) or {})]
    return found


@pytest.mark.parametrize("make", [held_chat, after_chat])
@pytest.mark.parametrize("last", [b"data:[DONE]\n\n", b"data: [DONE]\r\n\r\n", b"data: [DONE]"])
def test_the_last_event_is_understood_in_every_spelling(make: Make, last: bytes) -> None:
    events = made(make, [chunk(RIGHT), chunk(finish="stop"), last])
    assert verdict(events[-2:])["outcome"] == "passed"
    assert events[-1] == DONE


def other(choice: dict[str, Any]) -> bytes:
    """A chunk with a choice of another form."""
    return sent({"id": "c", "model": "tiny", "choices": [{"index": 0, **choice}]})


BAD = {"delta": {"content": WRONG}, "finish_reason": None}
FORMS = {
    "lines that end with CR": chunk(WRONG).replace(b"\n", b"\r"),
    "a byte order mark": b"\xef\xbb\xbf" + chunk(WRONG),
    "two data lines": chunk(WRONG).replace(b', "choices"', b',\ndata: "choices"'),
    "a data line without a blank": chunk(WRONG).replace(b"data: ", b"data:"),
    "message": other({"message": BAD["delta"]}),
    "a message that is a text": other({"message": WRONG}),
    "text": other({"text": WRONG}),
    "refusal": other({"delta": {"refusal": WRONG}}),
    "parts": other({"delta": {"content": [{"type": "text", "text": WRONG}]}}),
    "parts of another type": other({"delta": {"content": [{"type": "output_text", "text": WRONG}]}}),
    "a field of a delta": other({"delta": {"answer": WRONG}}),
    "the role of a delta": other({"delta": {"role": WRONG}}),
    "a field of a choice": other({"delta": {}, "answer": {"text": WRONG}}),
    "a field of an event": sent({"answer": WRONG}),
    "an event that is no JSON": b"data: " + WRONG.encode() + b"\n\n",
    "a list": sent([{"choices": [BAD]}]),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("form", FORMS)
def test_a_bad_text_passes_no_held_stream_of_a_policy_that_blocks_whatever_its_form(form: str) -> None:
    events = made(held_chat, [FORMS[form], chunk(finish="stop"), DONE], action="block", undocumented="block")
    shown = b"".join(event for event in events if "vouch" not in (data_of(event) or {}))  # the verdict quotes claims
    assert WRONG not in shown.decode()
    assert verdict(events)["outcome"] in ("failed", "unverified")


def test_a_chunk_with_a_text_beside_its_choices_passes_no_held_stream_of_a_policy_that_blocks() -> None:
    word = other({"delta": {}, "transcript": "1937."})
    for strange in (sent({"choices": [], "usage": {"x": WRONG}}), sent({"choices": [], "id": WRONG}), word):
        events = made(held_chat, [strange, chunk(finish="stop"), DONE], action="block", undocumented="block")
        assert "1937" not in b"".join(events).decode()
        assert verdict(events)["outcome"] == "unverified"


def test_a_chat_completion_with_thoughts_tools_filters_and_usage_passes_where_a_policy_blocks() -> None:
    call = {"index": 0, "id": "t", "type": "function", "function": {"name": "find", "arguments": '{"q": "a bridge"}'}}
    filtered = {"index": 0, "delta": {}, "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}
    chunks = [
        sent({"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}),
        chunk(role="assistant", reasoning_content="Let me look."),
        chunk(TOWERS),
        chunk(tool_calls=[call]),
        sent({"choices": [{**filtered, "stop_reason": None, "native_finish_reason": "stop"}]}),
        chunk(finish="tool_calls"),
        sent({"choices": [], "provider": "A Cloud", "service_tier": "default", "usage": {"details": {"tokens": 9}}}),
        DONE,
    ]
    events = made(held_chat, chunks, action="block", undocumented="block")
    assert verdict(events)["outcome"] == "passed"
    for words in (TOWERS, "Let me look.", "a bridge", "A Cloud", "prompt_filter_results"):
        assert words in b"".join(events).decode()


def read(chunks: Iterable[bytes]) -> list[bytes]:
    """The events of a stream."""

    async def collected() -> list[bytes]:
        async def sent() -> AsyncIterator[bytes]:
            for one in chunks:
                yield one

        return [event async for event in events_of(sent())]

    return asyncio.run(collected())


def test_line_ends_that_are_cut_in_two_end_one_line_each() -> None:
    raw = b"\xef\xbb\xbf: hello\r\ndata: 1\r\ndata: 2\r\n\r\nevent: a\rdata: \xc3\xa9\r\rid: 7\n\ndata: 4"
    whole = [b"data: 1\ndata: 2\n\n", "event: a\ndata: é\n\n".encode(), b"data: 4\n\n"]
    assert read([raw]) == read(bytes([byte]) for byte in raw) == whole


def test_a_stream_ends_at_an_event_that_is_too_large_before_it_fills_the_memory() -> None:
    left = iter([chunk(TOWERS), b"data: ", *[b"a" * 1_000_000] * 20])
    assert read(left) == [chunk(TOWERS)]
    assert len([*left]) == 20 - LARGEST_EVENT // 1_000_000  # the chunk that passes the limit is the last one read


def test_a_stream_without_events_gets_comments_until_its_reader_leaves() -> None:
    left: list[str] = []

    async def slow() -> AsyncGenerator[bytes]:
        try:
            yield DONE
            await asyncio.sleep(60)
        finally:
            left.append("left")

    async def collected() -> list[bytes]:
        alive = kept_alive(slow(), every=0.01)
        found = [await anext(alive) for _ in range(3)]
        await alive.aclose()
        return found

    assert asyncio.run(collected()) == [DONE, *[b": still checking\n\n"] * 2]
    assert left == ["left"]


def test_a_reader_that_leaves_again_and_again_ends_a_stream_that_needs_time_to_end() -> None:
    left: list[str] = []

    async def slow() -> AsyncGenerator[bytes]:
        try:
            yield DONE
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            left.append("left")

    async def read_on() -> None:
        async for _ in kept_alive(slow()):
            pass

    async def main() -> None:
        reading = asyncio.ensure_future(read_on())
        await asyncio.sleep(0.05)
        while not reading.done():  # as the server does it
            reading.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await reading

    asyncio.run(main())
    assert left == ["left"]


@pytest.mark.parametrize("make", [held_chat, after_chat])
def test_halves_of_a_character_in_two_events_are_one_character(make: Make) -> None:
    halves = [chunk("\ud83d"), chunk("\ude00 " + RIGHT), chunk(finish="stop"), DONE]
    assert verdict(made(make, halves))["outcome"] == "passed"


@pytest.mark.parametrize("make", [held_chat, after_chat])
def test_half_a_character_is_not_verified_instead_of_an_error(make: Make) -> None:
    assert verdict(made(make, [chunk("\ud83d " + RIGHT), chunk(finish="stop"), DONE]))["outcome"] == "unverified"


@pytest.mark.parametrize("make", [held_chat, after_chat])
def test_a_stream_with_more_choices_than_are_checked_is_not_verified(make: Make) -> None:
    many = [{"index": at, "delta": {"content": RIGHT}, "finish_reason": "stop"} for at in range(501)]
    found = verdict(made(make, [sent({"id": "c", "model": "tiny", "choices": many}), DONE], action="block"))
    assert found["outcome"] == "unverified"
    assert "more than 500 choices" in found["answers"][0]["message"]


def test_each_choice_is_held_by_itself() -> None:
    pieces = [
        (0, "The bridge has two"),
        (1, "The bridge op"),
        (0, " towers. The bridge op"),
        (1, "ened in 1937."),
        (0, "ened in 1973."),
    ]
    chunks = [*(chunk(text, index) for index, text in pieces), chunk(None, 1, "stop"), chunk(None, 0, "stop"), DONE]
    for action, one in (("repair", RIGHT), ("block", "No.")):
        events = made(held_chat, chunks, action=action)
        assert (said(events, 0), said(events, 1)) == (f"{TOWERS} {RIGHT}", one)
        assert [answer["outcome"] for answer in verdict(events)["answers"]] == ["passed", "failed", "passed"]
    assert b'"index": 1, "delta": {}, "finish_reason": "content_filter"' in b"".join(events)


@pytest.mark.parametrize("make", [held_chat, after_chat])
def test_a_stream_is_not_complete_before_every_choice_is(make: Make) -> None:
    events = made(make, [chunk(RIGHT), chunk("The bridge opened in 19", 1), chunk(None, 0, "stop")])
    assert "unverified" in [answer["outcome"] for answer in verdict(events)["answers"]]
    assert (said(events, 0), said(events, 1)) == (RIGHT, "The bridge opened in 19")


def test_nothing_overtakes_the_text_that_came_before_it() -> None:
    call = {"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chunks = [
        chunk(role="assistant"),
        chunk("The bridge opened"),
        b": hidden\n\n",
        sent({"note": 1}),
        chunk(" in 1937. The bridge"),
        chunk(" has two towers."),
        chunk(tool_calls=[call]),
        chunk(finish="tool_calls"),
        sent({"choices": [], "usage": {"total_tokens": 9}}),
        DONE,
    ]
    *events, last = made(held_chat, chunks, action="repair")
    shown = [event.decode() for event in events]
    places = [
        next(n for n, one in enumerate(shown) if words in one)
        for words in (
            "assistant",
            RIGHT,
            '"note"',
            TOWERS,
            '"tool_calls": [{',
            '"finish_reason": "tool_calls"',
            "total_tokens",
            "vouch",
        )
    ]
    assert places == [*range(8)]
    assert len(shown) == 8
    assert last == DONE


def test_what_a_chunk_says_beside_its_text_is_kept() -> None:
    parts = [{"type": "text", "text": RIGHT}, {"type": "thinking", "thinking": "..."}]
    noted = {"index": 0, "delta": {"content": "\n"}, "finish_reason": None, "content_filter_results": {"hate": 1}}
    chunks = [chunk(content=parts), sent({"choices": [noted], "usage": {"total": 1}}), chunk(finish="stop")]
    deltas = [json.loads(event[6:])["choices"] for event in made(held_chat, chunks)]
    assert [one.get("delta") for [one] in filter(None, deltas)] == [
        {"content": f"{RIGHT}\n"},
        {"content": [parts[1]]},
        {},
        {},
    ]
    whole = b"".join(made(held_chat, chunks))
    assert b'"hate": 1' in whole
    assert b'"total": 1' in whole


@pytest.mark.parametrize(("unverified", "text"), [("pass", f"{TOWERS} The bridge op"), ("block", f"{TOWERS} No.")])
@pytest.mark.parametrize("end", [[sent({"error": {"message": "out of memory"}}), DONE], []])
def test_text_that_is_held_when_a_stream_fails_passes_or_is_blocked(
    unverified: str, text: str, end: list[bytes]
) -> None:
    chunks = [chunk(TOWERS), chunk(" The bridge op"), *end]
    events = made(held_chat, chunks, unverified=unverified)
    assert said(events).strip() == text
    assert [answer["outcome"] for answer in verdict(events)["answers"]] == ["passed", "unverified"]
    assert [event for event in events if b"out of memory" in event or event == DONE] == end
    assert events.index(end[0]) > 1 if end else True  # after the text
    [*_, answer] = verdict(made(after_chat, chunks))["answers"]
    assert answer["outcome"] == "unverified"
    assert ("reported an error" if end else "broke off") in answer["message"]


@pytest.mark.parametrize("rest", [[], [chunk(" It is")]])
def test_a_stream_that_breaks_off_after_a_block_says_both(rest: list[bytes]) -> None:
    *_, end, _ = events = made(held_chat, [chunk(WRONG), chunk(f" {TOWERS} It"), *rest], action="block")
    assert said(events) == "No."
    assert b'"finish_reason": "content_filter"' in end
    assert [answer["outcome"] for answer in verdict(events)["answers"]] == ["failed", "unverified"]
    assert "broke off" in verdict(events)["answers"][-1]["message"]


def delta(text: str, item: int = 0, part: int = 0) -> bytes:
    return sent(
        {
            "type": "response.output_text.delta",
            "delta": text,
            "output_index": item,
            "content_index": part,
            "logprobs": [],
        }
    )


def message(*texts: str) -> dict[str, Any]:
    parts = [{"type": "output_text", "text": text, "annotations": [{"type": "url_citation"}]} for text in texts]
    return {"type": "message", "content": parts}


LATE = "The bridge opened in 1983."
CALL = {"type": "function_call", "name": "f", "arguments": "{}"}
PARTS = [
    sent({"type": "response.created", "response": {"output": []}}),
    sent(
        {
            "type": "response.content_part.added",
            "output_index": 0,
            "content_index": 0,
            "part": {"type": "output_text", "text": ""},
        }
    ),
    delta("The bridge opened", 0, 0),
    delta(" in 1937.", 0, 0),
    sent({"type": "response.output_text.annotation.added", "output_index": 0, "content_index": 0, "annotation": {}}),
    sent({"type": "response.output_text.done", "text": WRONG, "output_index": 0, "content_index": 0}),
    delta(TOWERS, 0, 1),
    sent({"type": "response.output_item.done", "output_index": 0, "item": message(WRONG, TOWERS)}),
    sent({"type": "response.output_item.done", "output_index": 1, "item": CALL}),
    sent({"type": "response.new_kind", "note": 1}),
    delta(LATE, 2, 0),
]
COMPLETED = sent(
    {"type": "response.completed", "response": {"error": None, "output": [message(WRONG, TOWERS), CALL, message(LATE)]}}
)


def texts_of(events: list[bytes]) -> dict[tuple[int, int], str]:
    """The text of each part, from its deltas."""
    found: dict[tuple[int, int], str] = {}
    for data in (data_of(event) or {} for event in events):
        if data.get("type") == "response.output_text.delta":
            key = (data["output_index"], data["content_index"])
            found[key] = found.get(key, "") + data["delta"]
    return found


def test_each_part_of_a_response_is_changed_where_it_stands() -> None:
    *events, note = made(held, [*PARTS, COMPLETED], action="repair")
    assert texts_of(events) == {(0, 0): RIGHT, (0, 1): TOWERS, (2, 0): RIGHT}
    final = data_of(events[-1])
    assert final is not None
    assert [[part["text"] for part in item.get("content", ())] for item in final["response"]["output"]] == [
        [RIGHT, TOWERS],
        [],
        [RIGHT],
    ]
    assert WRONG not in b"".join(events).decode()
    assert [answer["outcome"] for answer in verdict([note])["answers"]] == ["failed", "passed", "failed"]
    kinds = [(data_of(event) or {})["type"] for event in [*PARTS, COMPLETED]]
    # The second delta and the citation of the changed text are dropped; everything else comes in its order.
    assert [(data_of(event) or {})["type"] for event in events] == [*kinds[:3], *kinds[5:]]
    assert (PARTS[8], PARTS[9]) == (events[6], events[7])


ITEM: dict[str, Any] = {"type": "message", "content": [{"type": "text", "text": WRONG}]}
RESPONSES = {
    "a part of the type text": sent({"type": "response.output_item.done", "output_index": 0, "item": ITEM}),
    "a content that is a text": sent(
        {"type": "response.output_item.done", "output_index": 0, "item": {**ITEM, "content": WRONG}}
    ),
    "refusal": sent({"type": "response.refusal.delta", "delta": WRONG, "output_index": 0, "content_index": 0}),
    "refusal as a part": sent(
        {
            "type": "response.content_part.done",
            "output_index": 0,
            "content_index": 0,
            "part": {"type": "refusal", "refusal": WRONG},
        }
    ),
    "no type": sent({"delta": WRONG}),
    "no JSON": b"data: " + WRONG.encode() + b"\n\n",
    "lines that end with CR": delta(WRONG).replace(b"\n", b"\r"),
}


@pytest.mark.parametrize("form", RESPONSES)
def test_a_bad_text_passes_no_held_response_of_a_policy_that_blocks_whatever_its_form(form: str) -> None:
    done = sent({"type": "response.completed", "response": {"output": []}})
    events = made(held, [RESPONSES[form], done], action="block", undocumented="block")
    shown = b"".join(event for event in events if "vouch" not in (data_of(event) or {}))  # the verdict quotes claims
    assert WRONG not in shown.decode()
    assert verdict(events)["outcome"] in ("failed", "unverified")


AGAIN = {
    "the text": sent({"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": TOWERS}),
    "the part": sent(
        {
            "type": "response.content_part.done",
            "output_index": 0,
            "content_index": 0,
            "part": {"type": "output_text", "text": TOWERS},
        }
    ),
    "the response": sent({"type": "response.completed", "response": {"output": [message(TOWERS)]}}),
    "a refusal": sent({"type": "response.refusal.done", "output_index": 0, "content_index": 0, "refusal": TOWERS}),
}


@pytest.mark.parametrize("what", AGAIN)
def test_a_text_that_is_said_once_more_and_otherwise_hides_no_delta_where_a_policy_blocks(what: str) -> None:
    done = sent({"type": "response.completed", "response": {"output": []}})
    events = made(held, [delta(WRONG), AGAIN[what], done], action="block")
    assert "1937" not in b"".join(events).decode()
    assert verdict(events)["outcome"] == "unverified"


def block_event(kind: str, **fields: Any) -> bytes:
    """An event of a block of a message of Anthropic."""
    return sent({"type": f"content_block_{kind}", "index": 0, **fields})


UNREAD = {
    "the words of an audio": sent({"type": "response.output_audio_transcript.delta", "delta": WRONG}),
    "the words of an audio by another name": sent({"type": "response.audio.transcript.delta", "delta": WRONG}),
    "one word": sent({"type": "response.audio.transcript.delta", "delta": "1937."}),
    "the text of a whole response": sent({"type": "response.completed", "response": {"output_text": WRONG}}),
    "a field of a part": sent({"type": "response.content_part.done", "part": {"type": "audio", "transcript": WRONG}}),
    "an item of an unknown type": sent(
        {"type": "response.output_item.done", "item": {"type": "reasoning_x", "answer": WRONG}}
    ),
    "a key that comes twice": b'data: {"type": "response.x", "x": "' + WRONG.encode() + b'", "x": 1}\n\n',
    "choices": sent({"type": "response.x", "choices": [{"delta": {"content": WRONG}}]}),
    "a type that only begins as one of thoughts": sent({"type": "response.reasoning_answer.delta", "delta": WRONG}),
    "a delta of a block": block_event("delta", delta={"type": "text_delta", "content": WRONG}),
    "a field of a block": block_event("start", content_block={"type": "text", "text": "", "answer": [WRONG]}),
    "a message that begins with its text": sent(
        {"type": "message_start", "message": {"content": [{"type": "text", "text": WRONG}]}}
    ),
    "an end of a message": sent({"type": "message_delta", "delta": {"stop_reason": "end_turn", "text": WRONG}}),
}


@pytest.mark.parametrize("form", UNREAD)
def test_an_event_with_a_text_that_is_not_read_ends_a_held_response_of_a_policy_that_blocks(form: str) -> None:
    done = sent({"type": "response.completed", "response": {"output": []}})
    events = made(held, [UNREAD[form], done], action="block", undocumented="block")
    assert "1937" not in b"".join(events).decode()
    assert verdict(events)["outcome"] == "unverified"


WHOLE: dict[str, Any] = {
    "id": "r",
    "object": "response",
    "status": "completed",
    "instructions": "Answer in one line.",
    "metadata": {"team": "bridges of the north"},
    "model": "tiny",
    "text": {"format": {"type": "text"}, "verbosity": "medium"},
    "reasoning": {"effort": "medium", "summary": "auto"},
    "tools": [{"type": "function", "name": "find", "description": "Finds a bridge by name."}],
    "tool_choice": "auto",
    "truncation": "disabled",
    "service_tier": "default",
    "usage": {"input_tokens": 9, "output_tokens_details": {"reasoning_tokens": 2}},
}
THOUGHT = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Let me look."}]}
SEARCH = {
    "type": "file_search_call",
    "id": "fs",
    "queries": ["the bridge"],
    "results": [{"text": "It opened in 1973."}],
}
SAID = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "phase": "final_answer"}
SHOWN = {"type": "output_text", "text": TOWERS, "annotations": [], "logprobs": [{"token": "The"}]}
IN_PLACE = {"item_id": "m", "output_index": 2, "content_index": 0}
DOCUMENTED: list[dict[str, Any]] = [
    {"type": "response.created", "response": {**WHOLE, "status": "in_progress", "output": []}},
    {"type": "response.output_item.added", "output_index": 0, "item": {**THOUGHT, "summary": []}},
    {"type": "response.reasoning_summary_part.added", "part": {"type": "summary_text", "text": ""}},
    {"type": "response.reasoning_summary_text.delta", "delta": "Let me look.", "obfuscation": "x7Qp"},
    {"type": "response.reasoning_summary_text.done", "text": "Let me look."},
    {"type": "response.reasoning_text.delta", "delta": "Is it the bridge?"},
    {"type": "response.output_item.done", "output_index": 0, "item": THOUGHT},
    {"type": "response.file_search_call.searching", "output_index": 1, "item_id": "fs"},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"q": "a bridge"}'},
    {"type": "response.function_call_arguments.done", "output_index": 1, "arguments": '{"q": "a bridge"}'},
    {"type": "response.code_interpreter_call_code.delta", "output_index": 1, "delta": "print(1 + 1)"},
    {"type": "response.mcp_list_tools.in_progress", "output_index": 1, "item_id": "fs"},
    {"type": "response.output_item.done", "output_index": 1, "item": SEARCH},
    {"type": "response.output_item.added", "output_index": 2, "item": {**SAID, "content": []}},
    {"type": "response.content_part.added", **IN_PLACE, "part": {**SHOWN, "text": ""}},
    {"type": "response.output_text.delta", **IN_PLACE, "delta": TOWERS, "obfuscation": "x7Qp"},
    {"type": "response.output_text.done", **IN_PLACE, "text": TOWERS},
    {"type": "response.content_part.done", **IN_PLACE, "part": SHOWN},
    {"type": "response.output_item.done", "output_index": 2, "item": {**SAID, "content": [SHOWN]}},
    {"type": "response.completed", "response": {**WHOLE, "output": [THOUGHT, SEARCH, {**SAID, "content": [SHOWN]}]}},
]
FOUND = {"type": "web_search_result", "title": "The bridge", "url": "https://toll.org", "encrypted_content": "e"}
BLOCKS = [
    sent(
        {
            "type": "message_start",
            "message": {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": "tiny",
                "content": [],
                "usage": {"input_tokens": 9, "service_tier": "standard"},
            },
        }
    ),
    sent({"type": "ping"}),
    block_event("start", content_block={"type": "thinking", "thinking": "", "signature": ""}),
    block_event("delta", delta={"type": "thinking_delta", "thinking": "Let me look."}),
    block_event("delta", delta={"type": "signature_delta", "signature": "Eqo="}),
    block_event("stop"),
    block_event("start", content_block={"type": "server_tool_use", "id": "t", "name": "web_search", "input": {}}),
    block_event("delta", delta={"type": "input_json_delta", "partial_json": '{"query": "the bridge"}'}),
    block_event("start", content_block={"type": "web_search_tool_result", "tool_use_id": "t", "content": [FOUND]}),
    block_event("start", content_block={"type": "redacted_thinking", "data": "Eqo="}),
    block_event("start", content_block={"type": "text", "text": "", "citations": []}),
    block_event("delta", delta={"type": "text_delta", "text": TOWERS}),
    block_event("stop"),
]
STOPPED = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"tokens": 9}}


def test_responses_and_messages_with_thoughts_and_tools_pass_where_a_policy_blocks() -> None:
    whole = [sent(event) for event in DOCUMENTED]
    *events, note = made(held, whole, action="block", undocumented="block")
    assert (events, verdict([note])["outcome"]) == (whole, "passed")
    end = sent({"type": "message_stop"})
    *events, note, last = made(held, [*BLOCKS, sent(STOPPED), end], action="block", undocumented="block")
    assert (events, last, verdict([note])["outcome"]) == (BLOCKS, end, "passed")


def test_a_response_that_is_supported_passes_byte_by_byte() -> None:
    whole = [delta(TOWERS), sent({"type": "response.completed", "response": {"output": []}}), DONE]
    *events, note, last = made(held, whole, action="block")
    assert [*events, last] == whole
    assert verdict([note])["outcome"] == "passed"  # also without the text in the last event


@pytest.mark.parametrize(
    "last",
    [
        sent({"type": "response.failed", "response": {"error": {"code": "server_error"}, "output": []}}),
        sent({"type": "error", "message": "out of memory"}),
        None,
    ],
)
def test_a_response_that_fails_while_it_is_held_passes_or_is_blocked(last: bytes | None) -> None:
    given = [*PARTS, *([last] if last else [])]
    *events, note = made(held, given, action="repair")
    assert events == given
    assert verdict([note])["outcome"] == "unverified"
    *events, note = made(held, given, action="repair", unverified="block")
    assert set(texts_of(events).values()) == {"No."}
    assert verdict([note])["action"] == "blocked"
    assert [event for event in events if event in (PARTS[8], PARTS[9], last)] == [*PARTS[8:10], *given[11:]]
    *events, note = made(after_responses, given)
    assert events == given
    assert verdict([note])["outcome"] == "unverified"
