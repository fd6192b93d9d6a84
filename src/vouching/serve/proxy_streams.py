"""Streamed answers: passed through with the verdict at the end, or held until they are checked.

Server-sent events are read by the parser of httpx2 and written anew, so that nothing passes which only some readers
see. Where a policy blocks, an event that cannot be read, or that has a text where the standard has none, ends a
held stream: the verdict is "unverified". A stream that breaks off, or reports an error, ends with the verdict
"unverified"; what is still held then passes or is blocked by the policy for unverified answers. In a held stream no
event overtakes the text before it. Not supported: in a held stream of chat completions each sentence is checked on
its own, so "it" may not be understood, has no logprobs, and its citations are not checked; in a held stream of
responses or messages everything from the first text on is held. The thoughts of a model ("reasoning_content") are not
checked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

from vouching.models.base import spoken
from vouching.serve.events import data_of, event_with, events_of, payload_of
from vouching.serve.proxy_guard import Decision, Guard, worst
from vouching.serve.proxy_messages import Asked, members, object_of, objects, parsed_object
from vouching.serve.proxy_said import (
    MOST_CHOICES,
    PLAIN,
    Heard,
    Key,
    index_of,
    normalise,
    said_in,
    with_texts,
)
from vouching.serve.proxy_unread import strange_chunk, strange_event
from vouching.text.sentences import sentence_spans

_COMPLETED = ("response.completed", "response.incomplete", "message_stop")
_FAILED = ("response.failed", "error")
MOST_HELD, MOST_WAITING = 2_000_000, 20_000
"""Characters and events of a chat completion that are held at the same time; a stream with more is not verified."""
_LONG, _CLOSING_MARK = 2_000, 30
"""Characters: a text from which sentences are looked for less often, and the end that may close a thought."""


def verdict_event(record: dict[str, Any], model: dict[str, Any] | None) -> bytes:
    """The verdict as an event: a chunk without choices for chat completions, else an event of its own."""
    if model is None:
        return event_with({"type": "vouch.verdict", "vouch": record}, "vouch.verdict")
    kept = {key: model[key] for key in ("id", "created", "model") if key in model}
    return event_with({**kept, "object": "chat.completion.chunk", "choices": [], "vouch": record})


def annotation(decisions: list[Decision]) -> dict[str, Any]:
    """The record of all decisions on an answer."""
    actions = [decision.action for decision in decisions if decision.action != "none"]
    records = [decision.record() for decision in decisions]
    found: dict[str, Any] = {
        "outcome": worst(decisions),
        "action": actions[0] if actions else "none",
        "answers": records,
    }
    warnings = [*dict.fromkeys(decision.warning for decision in decisions if decision.warning)]
    return found | ({"warnings": warnings} if warnings else {})


@dataclass
class _Ending:
    """How far a stream has come."""

    last: bytes = b""
    """Its event [DONE], as it came; not every server sends one."""
    completed: bool = False
    """Whether a response was completed."""
    failed: bool = False
    """Whether the server reported an error."""
    strange: str = ""
    """Why an event was refused; empty if none was."""
    choices: dict[int, bool] = field(default_factory=dict[int, bool])
    """For each choice that has begun whether it has finished."""

    def look(self, data: dict[str, Any]) -> None:
        """Read an event."""
        for choice in objects(data.get("choices")):
            index = index_of(choice)
            self.choices[index] = self.choices.get(index, False) or choice.get("finish_reason") is not None
        if len(self.choices) > MOST_CHOICES:
            self.strange = f"more than {MOST_CHOICES} choices"
        self.completed = self.completed or data.get("type") in _COMPLETED
        self.failed = self.failed or bool(data.get("error")) or data.get("type") in _FAILED

    @property
    def problem(self) -> str:
        """Why the text is not complete; empty if it is."""
        if self.strange:
            return f"the upstream server sent {self.strange}"
        if self.failed:
            return "the upstream server reported an error"
        if self.last or self.completed or (self.choices and all(self.choices.values())):
            return ""
        return "the stream of the upstream server broke off"


async def stream_after(chunks: AsyncIterator[bytes], guard: Guard, asked: Asked, chat: bool) -> AsyncIterator[bytes]:
    """Pass a stream on, and add the verdict before its end."""
    heard, ending = Heard(), _Ending()
    first: dict[str, Any] = {}
    closing: list[bytes] = []
    async for event in events_of(chunks):
        if payload_of(event) == b"[DONE]":
            ending.last = event
            break
        data = data_of(event) or {}
        first = first or (data if "choices" in data else {})
        ending.look(data)
        if ending.strange:
            break
        heard.hear(data)
        if closing or data.get("type") == "message_delta":
            closing.append(event)
        else:
            yield event
    given, problem = heard.given(), ending.problem
    # The text is out already, so nothing is done to it.
    if problem:
        texts = [heard.texts[key] for key in given] or [""]
        decisions = [Decision("unverified", "none", text, None, problem) for text in texts]
    else:
        asked = guard.with_found(asked, heard.items, [*given.values()], heard.id)
        found = [(await guard.decide(one, asked), heard.texts[key]) for key, one in given.items()]
        decisions = [replace(decision, action="none", text=text) for decision, text in found]
    for event in _closed(closing, annotation(decisions), first if chat else None):
        yield event
    if ending.last:
        yield ending.last


def _closed(closing: list[bytes], record: dict[str, Any], model: dict[str, Any] | None = None) -> list[bytes]:
    """The last events of a stream with the verdict: in the one with the reason to stop of a message, or of its own."""
    if not closing:
        return [verdict_event(record, model)]
    return [event_with({**(data_of(closing[0]) or {}), "vouch": record}, "message_delta"), *closing[1:]]


class HeldChat:
    """Holds each sentence of streamed chat completions until it is checked; what came after it waits for it."""

    def __init__(self, guard: Guard, asked: Asked) -> None:
        self._guard, self._asked = guard, asked
        self._held: defaultdict[int, str] = defaultdict(str)
        self._came: Counter[int] = Counter()
        self._gone: Counter[int] = Counter()
        self._waiting: list[tuple[Counter[int], bytes]] = []
        self._looked = 0
        """Of those that wait, the first ones that were not due, and are not before more is gone."""
        self._next_look: Counter[int] = Counter()
        """Length of the text held at which sentences are looked for again."""
        self._decisions: list[Decision] = []
        self._first: dict[str, Any] = {}
        self._blocked: set[int] = set()

    async def stream(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The checked stream."""
        ending = _Ending()
        async for event in events_of(chunks):
            payload = payload_of(event)
            if payload == b"[DONE]":
                ending.last = event
                break
            data = data_of(event) or {}
            for choice in objects(data.get("choices")):
                normalise(choice)
            if self._guard.settings.blocks and (strange := strange_chunk(data)):
                ending.strange = strange
                break
            ending.look(data)
            if ending.strange:
                break
            if "choices" in data:
                if not self._first:
                    self._first, self._asked = data, replace(self._asked, response_id=data.get("id"))
                async for made in self._of_chunk(data):
                    yield made
            else:
                self._waiting.append((self._came.copy(), event))
            for made in self._due():
                yield made
            if len(self._waiting) > MOST_WAITING or sum(map(len, self._held.values())) > MOST_HELD:
                ending.strange = "more text before the end of a sentence than can be held"
                break
        problem = ending.problem
        if problem and not any(text for index, text in self._held.items() if index not in self._blocked):
            self._decisions.append(Decision("unverified", "none", "", None, problem))
        for index in [*self._held]:
            async for made in self._release(index, whole=True, problem=problem):
                yield made
        for made in self._due():
            yield made
        for index in sorted(self._blocked):
            if not ending.choices[index]:  # its end did not come
                yield self._delta(index, "", "content_filter")
        yield verdict_event(annotation(self._decisions), self._first)
        if ending.last:
            yield ending.last

    async def _of_chunk(self, data: dict[str, Any]) -> AsyncIterator[bytes]:
        """The sentences that a chunk completes; what else it has waits for the text before it."""
        rest: list[dict[str, Any]] = []
        choices = objects(data["choices"])
        for choice in choices:
            index, finished = index_of(choice), choice.get("finish_reason") is not None
            came = self._came[index]
            delta = self._without_text(index, choice)
            if finished or self._came[index] > came:
                async for made in self._release(index, whole=finished):
                    yield made
            if index in self._blocked and finished:
                choice["finish_reason"] = "content_filter"
            if delta or finished or any(choice[name] is not None for name in choice if name not in PLAIN):
                rest.append({**choice, "delta": delta})
        if rest or not choices or data.get("usage"):
            after = {index_of(choice) for choice in choices} or {*self._came}
            waits = Counter({index: self._came[index] for index in after})
            self._waiting.append((waits, event_with({**data, "choices": rest})))

    def _without_text(self, index: int, choice: dict[str, Any]) -> dict[str, Any]:
        """The delta of a choice without its text, which is held."""
        delta = object_of(choice.get("delta"))
        text = said_in(delta.get("content"))
        if text or isinstance(delta.get("content"), str):
            others = [part for part in members(delta.pop("content")) if object_of(part).get("type") != "text"]
            delta |= {"content": others} if others else {}
            choice.pop("logprobs", None)
            self._held[index] += text
            self._came[index] += len(text)
        return delta

    def _due(self) -> list[bytes]:
        """The events before which no text is held any more."""
        new = self._waiting[self._looked :]
        self._waiting[self._looked :] = [(after, event) for after, event in new if not after <= self._gone]
        self._looked = len(self._waiting)
        return [event for after, event in new if after <= self._gone]

    async def _release(self, index: int, whole: bool, problem: str = "") -> AsyncIterator[bytes]:
        """The sentences that are complete, checked; with a ``problem`` the rest is not complete, so not verified."""
        held = self._held[index]
        if not whole and len(held) < self._next_look[index] and "</" not in held[-_CLOSING_MARK:]:
            return
        spans = sentence_spans(spoken(held))  # a thought that has not ended is held
        cut = len(held) if whole else (spans[-1][0] if len(spans) > 1 else 0)
        ready, self._held[index] = held[:cut], held[cut:]
        self._gone[index] += len(ready)
        self._looked = 0 if ready else self._looked
        left = len(self._held[index])
        self._next_look[index] = left + left // 10 if left > _LONG else 0  # or each chunk reads a long thought anew
        if index in self._blocked or not ready:
            return
        if not ready.strip():
            yield self._delta(index, ready)
            return
        decision = self._guard.undecided(ready, problem) if problem else await self._guard.decide(ready, self._asked)
        self._decisions.append(decision)
        if decision.blocked:
            self._blocked.add(index)
            yield self._delta(index, decision.text)
            return
        tail = ready[len(ready.rstrip()) :]
        yield self._delta(index, decision.text if decision.text.endswith(tail) else decision.text.rstrip() + tail)

    def _delta(self, index: int, text: str, finish: str | None = None) -> bytes:
        kept = {key: self._first[key] for key in ("id", "object", "created", "model") if key in self._first}
        return event_with({**kept, "choices": [{"index": index, "delta": {"content": text}, "finish_reason": finish}]})


async def held_responses(chunks: AsyncIterator[bytes], guard: Guard, asked: Asked) -> AsyncIterator[bytes]:
    """A stream of responses or messages, held from its first text on and changed where the decision changes a text."""
    held: list[bytes] = []
    heard, ending = Heard(), _Ending()
    async for event in events_of(chunks):
        if payload_of(event) == b"[DONE]":
            ending.last = event
            break
        data = parsed_object(payload_of(event), guard.settings.blocks) or {}
        if guard.settings.blocks and (strange := strange_event(data)):
            ending.strange = strange
            break
        ending.look(data)
        heard.hear(data)
        if guard.settings.blocks and heard.contradiction:
            ending.strange = heard.contradiction
            held.append(event)
            break
        if held or data.get("type") == "message_delta" or heard.begun:
            held.append(event)
        else:
            yield event
    given, problem = heard.given(), ending.problem
    asked = guard.with_found(asked, heard.items, [*given.values()], heard.id)
    decisions: list[Decision] = []
    new: dict[Key, str] = {}
    for key, one in given.items():
        decision = guard.undecided(heard.texts[key], problem) if problem else await guard.decide(one, asked)
        decisions.append(decision)
        new |= {key: decision.text} if decision.action != "none" else {}
    if problem and not decisions:
        decisions.append(Decision("unverified", "none", "", None, problem))
    written: set[Key] = set()
    made = [one for event in held if (one := with_texts(event, new, written))]
    ends = next((at for at, one in enumerate(made) if (data_of(one) or {}).get("type") == "message_delta"), len(made))
    for event in [*made[:ends], *_closed(_refused(made[ends:], decisions), annotation(decisions))]:
        yield event
    if ending.last:
        yield ending.last


def _refused(closing: list[bytes], decisions: list[Decision]) -> list[bytes]:
    """The last events of a message, which stops by a refusal if its text was blocked."""
    data = data_of(closing[0]) if closing and any(decision.blocked for decision in decisions) else None
    if data is None:
        return closing
    return [event_with({**data, "delta": {**object_of(data.get("delta")), "stop_reason": "refusal"}}), *closing[1:]]
