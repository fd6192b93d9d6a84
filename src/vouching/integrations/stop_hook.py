"""A hook for agents that are about to stop: their last answer against what their tools returned.

Claude Code calls a hook of the event Stop with a record on standard input and its transcript in a file; exit status 2
keeps the agent working, with the text of standard error as its reason. Other harnesses can pass the messages of an
OpenAI chat, or a response with sources. An agent is stopped once per answer: if it was already sent back by a hook
(``stop_hook_active``), it may stop, so that no loop arises. Not supported: sources that are only in the agent's mind;
an answer without any tool result or source is let through, with a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from vouching.checker import Checker
from vouching.errors import InputError
from vouching.inputs import SourceLike, as_sources, row_sources
from vouching.rows.conversations import read_turns
from vouching.rows.shapes import as_row
from vouching.text.json_values import parse_json
from vouching.types import Report, Source
from vouching.types.visible import shown_keys


@dataclass(frozen=True, slots=True)
class Stopping:
    """An answer that an agent is about to end with."""

    answer: str
    """The text; empty if there is none."""
    sources: tuple[Source, ...]
    """What its tools returned, and what was given."""
    again: bool = False
    """Whether a hook has already sent it back."""


@dataclass(frozen=True, slots=True)
class StopDecision:
    """Whether the agent may stop."""

    blocks: bool
    """True if it must go on."""
    words: str
    """Why, for the agent; a note if it may stop; "" if there is nothing to say."""
    report: Report | None = None
    """The findings, if the answer was checked."""


def read_stop(record: str, given: Sequence[SourceLike] = ()) -> Stopping:
    """The answer and the sources of a hook's record.

    Args:
        record: the JSON of standard input.
        given: further sources.

    Raises InputError if it is not such a record or its transcript cannot be read.

    >>> import json
    >>> record = {"messages": [{"role": "tool", "content": "It opened in 1973."},
    ...     {"role": "assistant", "content": "In 1937."}]}
    >>> stopping = read_stop(json.dumps(record))
    >>> stopping.answer, stopping.sources[0].text
    ('In 1937.', 'It opened in 1973.')
    """
    try:
        value: Any = parse_json(record)
    except ValueError as error:
        raise InputError(f"the record on standard input is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError("the record on standard input must be a JSON object")
    fields = cast("dict[str, Any]", value)
    again = fields.get("stop_hook_active") is True
    if "transcript_path" in fields:
        answer, found = _of_transcript(Path(str(fields["transcript_path"])).expanduser())
        last = fields.get("last_assistant_message")
        answer = last if isinstance(last, str) and last.strip() else answer
    else:
        row = as_row(fields)
        if not isinstance(row.get("response"), str):
            raise InputError(
                f'the record needs "transcript_path", "messages" or "response" with "sources"; {shown_keys(fields)}'
            )
        answer, found = row["response"], [*as_sources(row_sources(row, needed=False) or [""])]
    texts = [one for one in (*given, *found) if not isinstance(one, Source) or one.text.strip()]
    return Stopping(answer, as_sources(texts) if texts else (), again)


def _of_transcript(path: Path) -> tuple[str, list[Source]]:
    """The last answer of a transcript and the results of its tools; without those of the agent's subtasks."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the transcript {path} cannot be read: {error}") from None
    answer, known = "", tuple[Any, ...]()
    for turn in read_turns([*_messages(lines)], ("documents", "tool")):
        answer, known = turn.answer or answer, turn.sources
    return answer, [*as_sources(known or [""])]


def _messages(lines: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The messages of a transcript, a JSON object per line; a line that is being written is skipped."""
    for line in lines:
        try:
            entry: Any = parse_json(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and not cast("dict[str, Any]", entry).get("isSidechain"):
            message = cast("dict[str, Any]", entry).get("message")
            if isinstance(message, dict):
                yield cast("dict[str, Any]", message)


def decide_stop(stopping: Stopping, checker: Checker, block_unverified: bool = False) -> StopDecision:
    """Whether an agent may stop with its answer.

    Args:
        stopping: the answer and the sources.
        checker: judges the claims.
        block_unverified: whether a claim that could not be judged keeps it from stopping.

    >>> decide_stop(Stopping("It opened in 1937.", (Source("It opened in 1973."),)), Checker("embedded:rules")).blocks
    True
    """
    if stopping.again:
        return StopDecision(False, "the answer was sent back once and is not checked again")
    if not stopping.answer.strip():
        return StopDecision(False, "")
    if not stopping.sources:
        return StopDecision(False, "nothing to check against: no tool returned a text, and no source was given")
    report = checker.check_response(stopping.answer, stopping.sources)
    wrong = [finding for finding in report.findings if finding.passed is False]
    unknown = [finding for finding in report.findings if finding.passed is None]
    if wrong or (unknown and block_unverified):
        head = "Your answer states what its sources do not support. Correct or remove these claims, then finish:"
        shown = [*wrong, *unknown] if block_unverified else wrong
        return StopDecision(True, "\n\n".join([head, *map(str, shown)]), report)
    note = f"{len(unknown)} claims could not be verified" if unknown else ""
    return StopDecision(False, note, report)
