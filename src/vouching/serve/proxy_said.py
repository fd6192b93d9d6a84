"""What the events of a stream say: their texts by place, with citations, in chat completions, responses and messages.

The blocks of a message of Anthropic are stretches of one text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from vouching.serve.events import data_of, event_with
from vouching.serve.proxy_messages import Given, cited, members, object_of, objects, texts_of_item

Key: TypeAlias = tuple[object, object]
"""Place of a text: the index of a choice, and ""; the index of an item of a response, and of its part; or MESSAGE."""
MESSAGE: Key = ("message", "")
"""The place of the text of a message of Anthropic."""
PLAIN = ("index", "delta", "finish_reason", "logprobs")
"""Fields that every choice has."""
MOST_CHOICES = 500
"""Choices that an answer may have to be checked."""


class Heard:
    """What a stream has said so far."""

    def __init__(self) -> None:
        self.texts: dict[Key, str] = {}
        """The texts by place, in order."""
        self.items: list[Any] = []
        """The items of a response, which may be what tools of the server found."""
        self.id: Any = None
        """What the server calls its answer."""
        self.contradiction = ""
        """What is wrong with a stream that says a text once more, and otherwise: a client shows either."""
        self._cited: defaultdict[Key, list[dict[str, Any]]] = defaultdict(list)
        self._blocks: defaultdict[object, dict[str, Any]] = defaultdict(lambda: {"type": "text", "text": ""})

    @property
    def begun(self) -> bool:
        """Whether there is a text, or a citation of a message, which may come before its text."""
        return bool(self._blocks) or any(map(str.strip, self.texts.values()))

    def hear(self, data: dict[str, Any]) -> None:
        """Read an event."""
        self.id = self.id or next((one["id"] for one in _wholes(data) if one.get("id")), None)
        for choice in objects(data.get("choices")):
            key, delta = (index_of(choice), ""), object_of(choice.get("delta"))
            self.texts[key] = self.texts.get(key, "") + said_in(delta.get("content"))
            self._cited[key] += objects(delta.get("annotations"))
        for key, part, name in places(data):
            adds = name == "delta" or key == MESSAGE
            before = self.texts.get(key, "")
            if not adds and before.strip() and before.strip() != part[name].strip():
                self.contradiction = "a text that differs from what was sent of it before"
            self.texts[key] = before + part[name] if adds else part[name]
            self._cited[key] = objects(part.get("annotations")) or self._cited[key]
            if key == MESSAGE:
                self._blocks[_index(data, "index")]["text"] += part[name]
        if data.get("type") == "response.output_text.annotation.added":
            self._cited[_at(data)] += objects([data.get("annotation")])
        if citation := object_of(object_of(data.get("delta")).get("citation")):
            self._blocks[_index(data, "index")].setdefault("citations", []).append(citation)
        self.items = members(object_of(data.get("response")).get("output")) or self.items

    def given(self) -> dict[Key, Given]:
        """The texts that are not blank, with their citations."""
        found = {
            key: cited(text, {"annotations": self._cited[key]}) for key, text in self.texts.items() if text.strip()
        }
        if MESSAGE in found and any("citations" in block for block in self._blocks.values()):
            found[MESSAGE] = [*self._blocks.values()]
        return found


def _wholes(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Where an event has the answer as a whole: itself, the response of its first events, the message of its first."""
    yield from (data if "choices" in data else {}, object_of(data.get("response")), object_of(data.get("message")))


def index_of(choice: Mapping[str, Any]) -> int:
    """The index of a choice; 0 if it has none."""
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def said_in(content: Any) -> str:
    """The text of a delta's content, which a few servers send in parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in objects(content) if part.get("type") == "text")


def normalise(choice: dict[str, Any]) -> None:
    """Put the text of a choice where a delta has it, wherever it is."""
    message, text = choice.pop("message", None), choice.pop("text", None)
    delta = {**object_of(message), **object_of(choice.get("delta"))}
    said = [delta.get("content"), delta.pop("refusal", None), text, message if isinstance(message, str) else None]
    said = [one for one in said if one]
    if len(said) > 1 or (said and not isinstance(delta.get("content"), list)):
        delta["content"] = "".join(map(said_in, said))
    choice["delta"] = delta


def _index(data: Mapping[str, Any], name: str) -> object:
    """The index that an event has; of any other JSON its text, which can be a key."""
    return index if isinstance(index := data.get(name), int) else str(index)


def _at(data: Mapping[str, Any]) -> Key:
    return _index(data, "output_index"), _index(data, "content_index")


def places(data: dict[str, Any]) -> Iterator[tuple[Key, dict[str, Any], str]]:
    """Where an event of a response or a message has text: the place, and the object with the field."""
    at = _at(data)
    kind = str(data.get("type"))
    if kind.startswith("content_block"):
        part = object_of(data.get("delta", data.get("content_block")))
        if isinstance(part.get("text"), str) and part["text"]:
            yield MESSAGE, part, "text"
        return
    name = {
        "response.output_text.delta": "delta",
        "response.output_text.done": "text",
        "response.refusal.delta": "delta",
        "response.refusal.done": "refusal",
    }.get(kind)
    found = [(at, data, name)] if name else []
    found += [(at, object_of(data.get("part")), one) for one in ("text", "refusal")]
    items: list[tuple[object, Any]] = [(at[0], data.get("item"))]
    items += [*enumerate(members(object_of(data.get("response")).get("output")))]
    for number, item in items:
        found += [((number, place), part, one) for place, part, one in texts_of_item(object_of(item))]
    for key, part, field_name in found:
        text = part.get(field_name)
        known = part.get("type") not in ("reasoning_text", "summary_text")
        if known and isinstance(text, str) and (field_name == "delta" or text.strip()):
            yield key, part, field_name


def with_texts(event: bytes, new: Mapping[Key, str], written: set[Key]) -> bytes | None:
    """An event with changed texts; None for one that is dropped, since the first delta has the whole text.

    Args:
        event: one of a response or a message.
        new: the changed texts by place.
        written: the places whose new text an earlier event had; grows.
    """
    data = data_of(event) if new else None
    if data is None:
        return event
    if data.get("type") == "response.output_text.annotation.added":
        return None if _at(data) in new else event
    if MESSAGE in new and object_of(data.get("delta")).get("citation"):
        return None
    changed = [(key, part, name) for key, part, name in places(data) if key in new]
    for key, part, name in changed:
        if name == "delta" or key == MESSAGE:
            if key in written:
                return None
            written.add(key)
        part[name] = new[key]
        part.update({listed: [] for listed in ("annotations", "logprobs") if listed in part})
    return event_with(data, str(data.get("type", ""))) if changed else event
