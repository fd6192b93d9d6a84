"""What language models learn from, read from files: chats to imitate, labels to give, prompts to answer.

    {"messages": [{"role": "system", ...}, {"role": "user", ...}, {"role": "assistant", "content": "{...}"}]}   a chat
    {"claim": "...", "source": "...", "label": "Attributable"}                                                  a label
    {"prompt": [{"role": "system", ...}, {"role": "user", ...}], "gold": "Attributable", "claim": ..., "source": ...}
    {"prompt": "Name a bridge in Japan.", "checklist": ["Is a bridge named?", "Is it in Japan?"]}               a task
    {"x": "Name a bridge in Japan.", "y": "Tower Bridge.", "c": "Is it in Japan?", "l": 0}                 a gold item
    {"id": "q1", "question": "How long is the bridge?", "sources": ["The bridge is 6 km long."]}           a question

``vouch data annotate`` writes the first, with ``--prompts`` the third; ``vouch data checklist`` and ``vouch data gold``
tasks and gold items. Left out: leaving out bad rows silently; a row that cannot be used ends the reading, with its
place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

from vouching.errors import InputError
from vouching.inputs import as_claim, as_sources, check_text, row_sources
from vouching.judging.windows import ScreenedSources
from vouching.methods.blinded import game as blinded
from vouching.methods.checklist.game import task_of
from vouching.methods.checklist.replay import Labelled
from vouching.methods.structured.prompt import structured_prompt
from vouching.rows.read import read_as, told_apart

Message: TypeAlias = dict[str, str]
T = TypeVar("T")
_WINDOW = 24_000
"""Characters of sources in a prompt, as ``vouch data annotate`` has it."""
_LABELS = ("Attributable", "Not Attributable")


@dataclass(frozen=True, slots=True)
class Lesson:
    """A prompt and what shall be said to it."""

    id: str
    """Name of the row."""
    prompt: tuple[Message, ...]
    """Chat messages, the last one the user's."""
    completion: str
    """What the assistant shall say."""


def read_chats(paths: Sequence[str]) -> list[Lesson]:
    """The chats of files, in order. Raises InputError for a file, a row without ``messages``, or no row at all."""
    return _read(paths, chat_of, "messages")


def read_labels(paths: Sequence[str]) -> list[Lesson]:
    """Labelled claims as lessons of the binary stage. Raises InputError as :func:`read_chats`."""
    return _read(paths, label_lesson, "claim, source and label")


def also_learnt(learned: Sequence[object], scored: Sequence[object]) -> str:
    """Words on the rows to score that are learnt from too, whatever their ids; none if there are none.

    >>> also_learnt([{"id": "a", "prompt": "Hi"}, {"id": "b", "prompt": "Ho"}], [{"id": "c", "prompt": "Ho"}])
    ', 1 of which is learnt from too: its figures are no sign of what is new'
    """
    known = set(map(_unnamed, learned))
    count = sum(_unnamed(row) in known for row in scored)
    if not count:
        return ""
    are, their = ("is", "its") if count == 1 else ("are", "their")
    return f", {count:,} of which {are} learnt from too: {their} figures are no sign of what is new"


def _unnamed(row: object) -> str:
    if not isinstance(row, Mapping):
        return repr(row)
    fields = cast("Mapping[str, object]", row)
    return repr(sorted((key, value) for key, value in fields.items() if key != "id"))


def read_prompts(paths: Sequence[str]) -> list[dict[str, Any]]:
    """Rows with a prompt and a gold label, in order; those that name themselves twice are an error.

    Raises:
        InputError: a file or a row cannot be used, or there is no row.
    """
    return told_apart(_read(paths, prompt_row, "prompt and gold"))


def read_tasks(paths: Sequence[str]) -> list[dict[str, Any]]:
    """Rows with an instruction, as the checklist game plays them. Raises InputError as :func:`read_prompts`."""
    return told_apart(_read(paths, task_row, "prompt and checklist"))


def read_questions(paths: Sequence[str]) -> list[dict[str, Any]]:
    """Questions with documents, as the blinded game plays them. Raises InputError as :func:`read_prompts`."""
    return told_apart(_read(paths, question_row, "question and sources"))


def read_gold(paths: Sequence[str]) -> list[Labelled]:
    """Labelled items, in order. Raises InputError for a file, a row without x, y, c and l, or no row at all."""
    return _read(paths, gold_item, "x, y, c and l, as  vouch data gold  writes them")


def chat_of(fields: Mapping[str, Any], name: str) -> Lesson:
    """A row as a chat.

    >>> asked = {"role": "user", "content": "Is it so?"}
    >>> chat_of({"messages": [asked, {"role": "assistant", "content": "Yes."}]}, "row-1").completion
    'Yes.'
    """
    messages = _messages(fields, "messages")
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


def prompt_row(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A row with a prompt and a gold label, as the structured game plays it.

    >>> prompt_row({"prompt": [{"role": "user", "content": "Is it so?"}], "gold": "Attributable"}, "row-1")["id"]
    'row-1'
    """
    messages = _messages(fields, "prompt")
    if fields.get("gold") not in _LABELS:
        raise InputError(f'its gold is {fields.get("gold")!r}, wanted "Attributable" or "Not Attributable"')
    return {**fields, "id": name, "prompt": [*messages]}


def task_row(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A row whose instruction, checklist and rules can be read.

    >>> task_row({"prompt": "Name a bridge.", "checklist": ["Is a bridge named?"]}, "row-1")["id"]
    'row-1'
    """
    task_of(fields)
    return {**fields, "id": name}


def question_row(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A row whose question and documents can be read.

    >>> question_row({"question": "How long?", "source": "6 km."}, "row-1")["id"]
    'row-1'
    """
    blinded.read_row(fields)
    return {**fields, "id": name}


def gold_item(fields: Mapping[str, Any], name: str) -> Labelled:
    """A row as a labelled item.

    >>> gold_item({"x": "Name a bridge.", "y": "The Thames.", "c": "Is a bridge named?", "l": 0}, "row-1").l
    False
    """
    if missing := [key for key in "xycl" if key not in fields]:
        raise InputError(
            f"the row has the keys {[*fields]}, wanted x, y, c and l, as  vouch data gold  writes them; there is no "
            + ", ".join(missing)
        )
    x, y, c = (check_text(fields.get(key), f'"{key}"') for key in "xyc")
    if fields.get("l") not in (0, 1):
        raise InputError(f'"l" is {fields.get("l")!r}, wanted 1 or 0: leave out what nobody labelled')
    return Labelled(x, y, c, bool(fields["l"]))


def _read(paths: Sequence[str], made: Callable[[Mapping[str, Any], str], T], wanted: str) -> list[T]:
    """The rows of files; the first that cannot be used is an error with its place, and so is there being none."""
    rows = [row for path in paths for row in read_as(path, made)]
    if paths and not rows:
        raise InputError(f"{', '.join(paths)}: no rows; give some with {wanted}")
    return rows


def _messages(fields: Mapping[str, Any], key: str) -> tuple[Message, ...]:
    """Chat messages of a row, without what else they carry."""
    given: Any = fields.get(key)
    if key not in fields:
        raise InputError(f"the row has the keys {[*fields]}, wanted {key!r}")
    if not isinstance(given, list) or not given:
        raise InputError(f"its {key} are {given!r:.80}, wanted chat messages")
    messages: list[Message] = []
    for one in cast("list[Any]", given):
        said = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
        role, content = said.get("role"), said.get("content")
        if not isinstance(role, str) or not isinstance(content, str):
            raise InputError(f"one of its {key} is {one!r:.80}, wanted role and content as texts")
        messages.append({"role": role, "content": content})
    return tuple(messages)
