"""Streamed answers: passed through with the verdict at the end, or held until they are checked.

Server-sent events are read by their blank lines. A stream that breaks off ends with the verdict "unverified", without
its last event, so that a client sees that it is incomplete. Not supported: in a held stream of chat completions each
sentence is checked on its own, so "it" may not be understood; in a held stream of responses the whole answer is held.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any

from vouching.serve.proxy_guard import Decision, Guard, worst
from vouching.serve.proxy_messages import Asked, answers_of, object_of, objects, parsed_object
from vouching.text.sentences import sentence_spans

DONE = b"data: [DONE]\n\n"
_COMPLETED = ("response.completed", "response.incomplete")


async def events_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The events of a stream, each with its blank line."""
    buffer = b""
    async for chunk in chunks:
        buffer = (buffer + chunk).replace(b"\r\n", b"\n")
        *whole, buffer = buffer.split(b"\n\n")
        for event in whole:
            if event.strip():
                yield event + b"\n\n"
    if buffer.strip():
        yield buffer + b"\n\n"


def data_of(event: bytes) -> dict[str, Any] | None:
    """The JSON object of an event; None for another."""
    lines = [line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:")]
    return parsed_object(b"\n".join(lines))


def event_with(data: dict[str, Any], name: str = "") -> bytes:
    """An event with a JSON object."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def verdict_event(record: dict[str, Any], model: dict[str, Any] | None) -> bytes:
    """The verdict as an event: a chunk without choices for chat completions, an event of its own for responses."""
    if model is None:
        return event_with({"type": "vouch.verdict", "vouch": record}, "vouch.verdict")
    kept = {key: model[key] for key in ("id", "created", "model") if key in model}
    return event_with({**kept, "object": "chat.completion.chunk", "choices": [], "vouch": record})


def annotation(decisions: list[Decision]) -> dict[str, Any]:
    """The record of all decisions on an answer."""
    actions = [decision.action for decision in decisions if decision.action != "none"]
    records = [decision.record() for decision in decisions]
    found: dict[str, Any] = {
        "outcome": worst(decisions), "action": actions[0] if actions else "none", "answers": records,
    }  # fmt: skip
    warnings = [*dict.fromkeys(decision.warning for decision in decisions if decision.warning)]
    return found | ({"warnings": warnings} if warnings else {})


async def stream_after(chunks: AsyncIterator[bytes], guard: Guard, asked: Asked) -> AsyncIterator[bytes]:
    """Pass a stream on, and add the verdict before its end."""
    said: defaultdict[object, str] = defaultdict(str)
    first: dict[str, Any] | None = None
    ended = chat = done = False
    async for event in events_of(chunks):
        if event == DONE:
            ended = done = True
            break
        data = data_of(event) or {}
        chat = chat or "choices" in data
        first = first or (data if "choices" in data else None)
        for key, text in _deltas(data):
            said[key] += text
        yield event
        ended = ended or data.get("type") in _COMPLETED or _finished(data)
    texts = [text for text in said.values() if text.strip()]
    if ended:
        decisions = [await guard.decide(text, asked) for text in texts]
    else:
        decisions = [
            Decision("unverified", "none", text, None, "the stream of the upstream server broke off")
            for text in texts or [""]
        ]
    # The text is out already, so nothing was done to it.
    record = annotation(
        [Decision(one.outcome, "none", one.text, one.report, one.message, one.warning) for one in decisions]
    )
    yield verdict_event(record, first if chat else None)
    if done:
        yield DONE


def _finished(data: dict[str, Any]) -> bool:
    """Whether a chunk ends an answer: not every server sends a last event after it."""
    return any(choice.get("finish_reason") is not None for choice in objects(data.get("choices")))


def _deltas(data: dict[str, Any]) -> list[tuple[object, str]]:
    """The pieces of text in an event, each with what it belongs to."""
    found: list[tuple[object, str]] = []
    for choice in objects(data.get("choices")):
        delta = object_of(choice.get("delta"))
        if isinstance(delta.get("content"), str):
            found.append((choice.get("index", 0), delta["content"]))
    if data.get("type") == "response.output_text.delta" and isinstance(data.get("delta"), str):
        found.append(((data.get("output_index"), data.get("content_index")), data["delta"]))
    return found


class HeldChat:
    """Holds each sentence of streamed chat completions until it is checked."""

    def __init__(self, guard: Guard, asked: Asked) -> None:
        self._guard, self._asked = guard, asked
        self._held: defaultdict[int, str] = defaultdict(str)
        self._decisions: list[Decision] = []
        self._first: dict[str, Any] = {}
        self._blocked: set[int] = set()

    async def stream(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The checked stream."""
        ended = done = False
        async for event in events_of(chunks):
            if event == DONE:
                ended = done = True
                break
            data = data_of(event)
            if data is None or "choices" not in data:
                yield event
                continue
            self._first = self._first or data
            ended = ended or _finished(data)
            async for made in self._of_chunk(data):
                yield made
        if ended:
            for index in [*self._held]:
                async for made in self._release(index, whole=True):
                    yield made
        else:
            broken = "the stream of the upstream server broke off"
            self._decisions.append(Decision("unverified", "none", "", None, broken))
        yield verdict_event(annotation(self._decisions), self._first)
        if done:
            yield DONE

    async def _of_chunk(self, data: dict[str, Any]) -> AsyncIterator[bytes]:
        """The events for a chunk: checked sentences, then what else it has."""
        rest: list[dict[str, Any]] = []
        for choice in objects(data["choices"]):
            index = int(choice.get("index", 0))
            delta = object_of(choice.get("delta"))
            if isinstance(delta.get("content"), str):
                self._held[index] += delta.pop("content")
                choice.pop("logprobs", None)
            finished = choice.get("finish_reason") is not None
            async for made in self._release(index, whole=finished):
                yield made
            if index in self._blocked and finished:
                choice["finish_reason"] = "content_filter"
            if delta or finished:
                rest.append({**choice, "delta": delta})
        if rest or not data["choices"]:
            yield event_with({**data, "choices": rest})

    async def _release(self, index: int, whole: bool) -> AsyncIterator[bytes]:
        """The sentences that are complete, checked."""
        held = self._held[index]
        spans = sentence_spans(held)
        cut = len(held) if whole else (spans[-1][0] if len(spans) > 1 else 0)
        ready, self._held[index] = held[:cut], held[cut:]
        if index in self._blocked or not ready:
            return
        if not ready.strip():
            yield self._delta(index, ready)
            return
        decision = await self._guard.decide(ready, self._asked)
        self._decisions.append(decision)
        if decision.blocked:
            self._blocked.add(index)
            yield self._delta(index, decision.text)
            return
        tail = ready[len(ready.rstrip()) :]
        yield self._delta(index, decision.text if decision.text.endswith(tail) else decision.text.rstrip() + tail)

    def _delta(self, index: int, text: str) -> bytes:
        kept = {key: self._first[key] for key in ("id", "object", "created", "model") if key in self._first}
        return event_with({**kept, "choices": [{"index": index, "delta": {"content": text}, "finish_reason": None}]})


async def held_responses(chunks: AsyncIterator[bytes], guard: Guard, asked: Asked) -> AsyncIterator[bytes]:
    """A stream of the Responses API, held as a whole and changed where the decision changes a text."""
    events: list[bytes] = []
    final: dict[str, Any] | None = None
    async for event in events_of(chunks):
        events.append(event)
        data = data_of(event) or {}
        if data.get("type") in _COMPLETED:
            final = data
    if final is None:
        broken = Decision("unverified", "none", "", None, "the stream of the upstream server broke off")
        yield verdict_event(annotation([broken]), None)
        return
    texts = [text for text, _ in answers_of(object_of(final.get("response")))]
    decisions = [await guard.decide(text, asked) for text in texts]
    new = {text: one.text for text, one in zip(texts, decisions, strict=True) if one.action != "none"}
    replaced: set[object] = set()
    for event in events:
        data = data_of(event)
        if data is None or not new:
            yield event
            continue
        made = _with_texts(data, new, replaced)
        if made is not None:
            yield event_with(made, str(data.get("type", "")))
    yield verdict_event(annotation(decisions), None)


def _with_texts(data: dict[str, Any], new: dict[str, str], replaced: set[object]) -> dict[str, Any] | None:
    """An event with changed texts; None for one that is dropped, since the first delta has the whole text."""
    if data.get("type") == "response.output_text.delta":
        key = (data.get("output_index"), data.get("content_index"))
        if key in replaced:
            return None
        replaced.add(key)
        [whole] = [*new.values()] if len(new) == 1 else ["\n".join(new.values())]
        return {**data, "delta": whole}
    if data.get("text") in new:
        data["text"] = new[data["text"]]
    part = object_of(data.get("part"))
    if part.get("text") in new:
        part["text"] = new[part["text"]]
    for whole in ({"output": [data.get("item")]}, object_of(data.get("response"))):
        for text, replace in answers_of(whole):
            if text in new:
                replace(new[text], False)
    return data
