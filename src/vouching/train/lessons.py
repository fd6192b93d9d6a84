"""What a language model learns to say, read from files: chats to imitate, labels to give.

    {"messages": [{"role": "system", ...}, {"role": "user", ...}, {"role": "assistant", "content": "{...}"}]}   a chat
    {"claim": "...", "source": "...", "label": "Attributable"}                                                  a label

``vouch data annotate`` writes the first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vouching.errors import InputError
from vouching.inputs import as_claim, as_sources, row_sources
from vouching.judging.windows import ScreenedSources
from vouching.methods.read import ChatMessage, messages_of, read_files
from vouching.methods.structured.prompt import structured_prompt

_WINDOW = 24_000
"""Characters of sources in a prompt, as ``vouch data annotate`` has it."""
_LABELS = ("Attributable", "Not Attributable")


@dataclass(frozen=True, slots=True)
class Lesson:
    """A prompt and what shall be said to it."""

    id: str
    """Name of the row."""
    prompt: tuple[ChatMessage, ...]
    """Chat messages, the last one the user's."""
    completion: str
    """What the assistant shall say."""


def read_chats(paths: Sequence[str]) -> list[Lesson]:
    """The chats of files, in order. Raises InputError for a file, a row without ``messages``, or no row at all."""
    return read_files(paths, chat_of, "messages")


def read_labels(paths: Sequence[str]) -> list[Lesson]:
    """Labelled claims as lessons of the binary stage. Raises InputError as :func:`read_chats`."""
    return read_files(paths, label_lesson, "claim, source and label")


def chat_of(fields: Mapping[str, Any], name: str) -> Lesson:
    """A row as a chat.

    >>> asked = {"role": "user", "content": "Is it so?"}
    >>> chat_of({"messages": [asked, {"role": "assistant", "content": "Yes."}]}, "row-1").completion
    'Yes.'
    """
    messages = messages_of(fields, "messages")
    if len(messages) < 2 or messages[-1]["role"] != "assistant":
        raise InputError("its messages do not end with one of the assistant: give chats, as  vouch data annotate  does")
    return Lesson(name, messages[:-1], messages[-1]["content"])


def label_lesson(fields: Mapping[str, Any], name: str) -> Lesson:
    """A labelled claim as a lesson: the shipped prompt for label and confidence alone, and the label, held for certain.

    >>> label_lesson({"claim": "It rained.", "source": "It did.", "label": "Attributable"}, "row-1").completion
    '{"label": "Attributable", "confidence": 1.0}'
    """
    label = fields.get("label", fields.get("gold"))
    if label not in _LABELS:
        raise InputError(f'its label is {label!r}, wanted "Attributable" or "Not Attributable"')
    if "claim" not in fields:
        raise InputError(f'the row has the keys {[*fields]}, wanted "claim"')
    evidence = ScreenedSources(as_sources(row_sources(fields)))
    windows = [] if evidence.empty else evidence.windows(_WINDOW)
    if len(windows) != 1:
        raise InputError(f"its sources are empty or do not fit one prompt of {_WINDOW:,} characters")
    asked = structured_prompt("label").messages(as_claim(fields["claim"]), windows[0])
    prompt = tuple({"role": message.role, "content": message.content} for message in asked)
    return Lesson(name, prompt, json.dumps({"label": label, "confidence": 1.0}))
