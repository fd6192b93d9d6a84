"""Streamed answers: passed through with the verdict at the end, or held until they are checked.

Server-sent events are read by the parser of httpx2 and written anew, so that nothing passes which only some readers
see. Where a policy blocks, an event that cannot be read, or that has a text where the standard has none, ends a
held stream: the verdict is "unverified". A stream that breaks off, or reports an error, ends with the verdict
"unverified"; what is still held then passes or is blocked by the policy for unverified answers. In a held stream no
event overtakes the text before it. Not supported: in a held stream of chat completions each
sentence is checked on its own, so "it" may not be understood, and has no logprobs; in a held stream of responses
everything from the first text on is held. The thoughts of a model ("reasoning_content") are not checked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from vouching.models.base import spoken
from vouching.serve.events import data_of, event_with, events_of, payload_of
from vouching.serve.proxy_guard import Decision, Guard, worst
from vouching.serve.proxy_messages import Asked, members, object_of, objects, texts_of_item
from vouching.text.sentences import sentence_spans

_COMPLETED = ("response.completed", "response.incomplete")
_FAILED = ("response.failed", "error")
_PLAIN = ("index", "delta", "finish_reason", "logprobs")
"""Fields that every choice has."""
_SILENT = {"role", "tool_calls", "function_call", "reasoning", "reasoning_content", "reasoning_details"}
"""Fields of a delta, besides its text, that the reader does not see."""
_AROUND = {
    "id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier", "error",
    "obfuscation", "prompt_filter_results", "provider",
}  # fmt: skip
"""Fields of a chunk."""


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
            index = _index(choice)
            self.choices[index] = self.choices.get(index, False) or choice.get("finish_reason") is not None
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
    said: defaultdict[object, str] = defaultdict(str)
    first: dict[str, Any] = {}
    ending = _Ending()
    async for event in events_of(chunks):
        if payload_of(event) == b"[DONE]":
            ending.last = event
            break
        data = data_of(event) or {}
        first = first or (data if "choices" in data else {})
        for choice in objects(data.get("choices")):
            said[_index(choice)] += _said(object_of(choice.get("delta")).get("content"))
        for key, part, name in _places(data):
            said[key] = said[key] + part[name] if name == "delta" else part[name]
        ending.look(data)
        yield event
    texts = [text for text in said.values() if text.strip()]
    problem = ending.problem
    # The text is out already, so nothing is done to it.
    if problem:
        decisions = [Decision("unverified", "none", text, None, problem) for text in texts or [""]]
    else:
        decisions = [replace(await guard.decide(text, asked), action="none", text=text) for text in texts]
    yield verdict_event(annotation(decisions), first if chat else None)
    if ending.last:
        yield ending.last


def _index(choice: dict[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _said(content: Any) -> str:
    """The text of a delta's content, which a few servers send in parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in objects(content) if part.get("type") == "text")


def _normalise(choice: dict[str, Any]) -> None:
    """Put the text of a choice where a delta has it, wherever it is."""
    message, text = choice.pop("message", None), choice.pop("text", None)
    delta = {**object_of(message), **object_of(choice.get("delta"))}
    said = [delta.get("content"), delta.pop("refusal", None), text, message if isinstance(message, str) else None]
    said = [one for one in said if one]
    if len(said) > 1 or (said and not isinstance(delta.get("content"), list)):
        delta["content"] = "".join(map(_said, said))
    choice["delta"] = delta


def _strange_chunk(data: dict[str, Any]) -> str:
    """What an event has that cannot be checked; empty if nothing."""
    if not data:
        return "an event that is not a JSON object"
    if unknown := sorted(data.keys() - _AROUND):
        return f"an event with the field {unknown[0]!r}"
    for choice in objects(data.get("choices")):
        delta = object_of(choice.get("delta"))
        for name, value in delta.items():
            if name not in _SILENT and value and not (name == "content" and isinstance(value, str | list)):
                return f"a delta with the field {name!r}"
        for part in members(delta.get("content")) if isinstance(delta.get("content"), list) else ():
            if object_of(part).get("type") not in ("text", "thinking", "reasoning"):
                return "a part of a text that is not of the type text"
        for name, value in choice.items():
            if name not in _PLAIN and _has_text(value):
                return f"a choice with the field {name!r}"
    return ""


def _has_text(value: Any) -> bool:
    """Whether a value has a text of several words, which a client may show."""
    within = [*object_of(value).values(), *members(value)]
    return any(map(_has_text, within)) or (isinstance(value, str) and " " in value.strip())


class HeldChat:
    """Holds each sentence of streamed chat completions until it is checked; what came after it waits for it."""

    def __init__(self, guard: Guard, asked: Asked) -> None:
        self._guard, self._asked = guard, asked
        self._held: defaultdict[int, str] = defaultdict(str)
        self._came: Counter[int] = Counter()
        self._gone: Counter[int] = Counter()
        self._waiting: list[tuple[Counter[int], bytes]] = []
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
                _normalise(choice)
            if self._guard.settings.blocks and (strange := _strange_chunk(data)):
                ending.strange = strange
                break
            ending.look(data)
            if "choices" in data:
                self._first = self._first or data
                async for made in self._of_chunk(data):
                    yield made
            else:
                self._waiting.append((self._came.copy(), event))
            for made in self._due():
                yield made
        problem = ending.problem
        if problem and not any(self._held.values()):
            self._decisions.append(Decision("unverified", "none", "", None, problem))
        for index in [*self._held]:
            async for made in self._release(index, whole=True, problem=problem):
                yield made
        for made in self._due():
            yield made
        yield verdict_event(annotation(self._decisions), self._first)
        if ending.last:
            yield ending.last

    async def _of_chunk(self, data: dict[str, Any]) -> AsyncIterator[bytes]:
        """The sentences that a chunk completes; what else it has waits for the text before it."""
        rest: list[dict[str, Any]] = []
        choices = objects(data["choices"])
        for choice in choices:
            index, finished = _index(choice), choice.get("finish_reason") is not None
            delta = self._without_text(index, choice)
            async for made in self._release(index, whole=finished):
                yield made
            if index in self._blocked and finished:
                choice["finish_reason"] = "content_filter"
            if delta or finished or any(choice[name] is not None for name in choice if name not in _PLAIN):
                rest.append({**choice, "delta": delta})
        if rest or not choices or data.get("usage"):
            after = {_index(choice) for choice in choices} or {*self._came}
            waits = Counter({index: self._came[index] for index in after})
            self._waiting.append((waits, event_with({**data, "choices": rest})))

    def _without_text(self, index: int, choice: dict[str, Any]) -> dict[str, Any]:
        """The delta of a choice without its text, which is held."""
        delta = object_of(choice.get("delta"))
        text = _said(delta.get("content"))
        if text or isinstance(delta.get("content"), str):
            others = [part for part in members(delta.pop("content")) if object_of(part).get("type") != "text"]
            delta |= {"content": others} if others else {}
            choice.pop("logprobs", None)
            self._held[index] += text
            self._came[index] += len(text)
        return delta

    def _due(self) -> list[bytes]:
        """The events before which no text is held any more."""
        due = [event for after, event in self._waiting if after <= self._gone]
        self._waiting = [(after, event) for after, event in self._waiting if not after <= self._gone]
        return due

    async def _release(self, index: int, whole: bool, problem: str = "") -> AsyncIterator[bytes]:
        """The sentences that are complete, checked; with a ``problem`` the rest is not complete, so not verified."""
        held = self._held[index]
        spans = sentence_spans(spoken(held))  # a thought that has not ended is held
        cut = len(held) if whole else (spans[-1][0] if len(spans) > 1 else 0)
        ready, self._held[index] = held[:cut], held[cut:]
        self._gone[index] += len(ready)
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

    def _delta(self, index: int, text: str) -> bytes:
        kept = {key: self._first[key] for key in ("id", "object", "created", "model") if key in self._first}
        return event_with({**kept, "choices": [{"index": index, "delta": {"content": text}, "finish_reason": None}]})


_Key: TypeAlias = tuple[object, object]
"""Place of a text in a response: the index of its item, and of its part."""


async def held_responses(chunks: AsyncIterator[bytes], guard: Guard, asked: Asked) -> AsyncIterator[bytes]:
    """A stream of the Responses API, held from its first text on and changed where the decision changes a text."""
    held: list[bytes] = []
    texts: dict[_Key, str] = {}
    ending = _Ending()
    async for event in events_of(chunks):
        payload = payload_of(event)
        if payload == b"[DONE]":
            ending.last = event
            break
        data = data_of(event) or {}
        if guard.settings.blocks and not str(data.get("type", "")).startswith(("response.", "error")):
            ending.strange = "an event that is not one of a response"
            break
        ending.look(data)
        for key, part, name in _places(data):
            texts[key] = texts.get(key, "") + part[name] if name == "delta" else part[name]
        if held or any(map(str.strip, texts.values())):
            held.append(event)
        else:
            yield event
    problem = ending.problem
    decisions: list[Decision] = []
    new: dict[_Key, str] = {}
    for key, text in texts.items():
        if text.strip():
            decision = guard.undecided(text, problem) if problem else await guard.decide(text, asked)
            decisions.append(decision)
            new |= {key: decision.text} if decision.action != "none" else {}
    if problem and not decisions:
        decisions.append(Decision("unverified", "none", "", None, problem))
    written: set[_Key] = set()
    for event in held:
        if made := _with_texts(event, new, written):
            yield made
    yield verdict_event(annotation(decisions), None)
    if ending.last:
        yield ending.last


def _places(data: dict[str, Any]) -> Iterator[tuple[_Key, dict[str, Any], str]]:
    """Where an event of the Responses API has text: the place in the response, and the object with the field."""
    at = (data.get("output_index"), data.get("content_index"))
    kind = str(data.get("type"))
    name = {
        "response.output_text.delta": "delta", "response.output_text.done": "text",
        "response.refusal.delta": "delta", "response.refusal.done": "refusal",
    }.get(kind)  # fmt: skip
    found = [(at, data, name)] if name else []
    found += [(at, object_of(data.get("part")), one) for one in ("text", "refusal")]
    items = [(data.get("output_index"), data.get("item"))]
    items += [*enumerate(members(object_of(data.get("response")).get("output")))]
    for number, item in items:
        found += [((number, place), part, one) for place, part, one in texts_of_item(object_of(item))]
    for key, part, field_name in found:
        text = part.get(field_name)
        known = not str(part.get("type")).startswith(("reasoning", "summary"))
        if known and isinstance(text, str) and (field_name == "delta" or text.strip()):
            yield key, part, field_name


def _with_texts(event: bytes, new: dict[_Key, str], written: set[_Key]) -> bytes | None:
    """An event with changed texts; None for one that is dropped, since the first delta has the whole text."""
    data = data_of(event) if new else None
    if data is None:
        return event
    if data.get("type") == "response.output_text.annotation.added":
        return None if (data.get("output_index"), data.get("content_index")) in new else event
    changed = [(key, part, name) for key, part, name in _places(data) if key in new]
    for key, part, name in changed:
        if name == "delta":
            if key in written:
                return None
            written.add(key)
        part[name] = new[key]
        part.update({listed: [] for listed in ("annotations", "logprobs") if listed in part})
    return event_with(data, str(data.get("type", ""))) if changed else event
