"""Reads the questions that answers are made for: rows of one's own, and those of multi-hop sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from recipes.rank.marking import AnswerLabel, Candidate, RankQuestion
from vouching.bench.multihop import multihop_row
from vouching.errors import InputError
from vouching.types import Source
from vouching.types.visible import shown_json, shown_keys


def question_of(record: Mapping[str, Any], name: str, place: str) -> RankQuestion:
    """A row as a question, either of its own or of HotpotQA, MuSiQue or 2WikiMultiHopQA. Raises InputError.

    Args:
        record: ``question`` and ``reference`` (or ``answer``); optionally ``answers`` (texts, or objects with
            ``answer`` and ``label``), ``aliases`` of the reference, and ``sources`` (texts, or objects with ``text``
            and ``title``).
        name: its id.
        place: the set it is from.

    >>> asked = question_of({"question": "When?", "reference": "1973", "answers": [{"answer": "1937"}]}, "q", "mine")
    >>> asked.candidates
    (Candidate(answer='1937', by='row', label=None),)
    """
    if {"context", "contexts", "paragraphs"} & record.keys():
        row = multihop_row(record)
        sources = sorted(row.passages, key=lambda source: source.id not in row.supporting)
        said = record.get("explanation")
        explanation = said if isinstance(said, str) else ""
        return RankQuestion(row.id, row.question, row.answers, place, tuple(sources), explanation)
    question, reference = record.get("question"), record.get("reference", record.get("answer"))
    if not isinstance(question, str) or not question.strip() or not isinstance(reference, str) or not reference.strip():
        keys = shown_keys(record)
        raise InputError(f'the row must have "question" and "reference", both non-empty strings; {keys}')
    aliases, answers, sources = (_list(record, key) for key in ("aliases", "answers", "sources"))
    return RankQuestion(
        id=name,
        question=question.strip(),
        references=(reference.strip(), *map(str, aliases)),
        set=place,
        sources=tuple(_given_source(source, i) for i, source in enumerate(sources, 1)),
        candidates=tuple(_candidate(answer) for answer in answers),
    )


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    value: Any = record.get(key) or []
    if not isinstance(value, list):
        raise InputError(f'"{key}" must be a list, got {shown_json(value)}')
    return cast("list[Any]", value)


def _candidate(answer: Any) -> Candidate:
    if isinstance(answer, str) and answer.strip():
        return Candidate(answer.strip(), "row")
    fields = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    text, label = fields.get("answer"), fields.get("label")
    if not isinstance(text, str) or not text.strip():
        got = shown_json(cast("object", answer))
        raise InputError(f'an answer must be a string, or an object with "answer" and "label", got {got}')
    if label is not None and label not in get_args(AnswerLabel):
        raise InputError(f"unknown label {shown_json(label)}; expected one of {', '.join(get_args(AnswerLabel))}")
    return Candidate(text.strip(), str(fields.get("by", "row")), label)


def _given_source(source: Any, number: int) -> Source:
    fields = cast("dict[str, Any]", source) if isinstance(source, dict) else {"text": source}
    text, title = fields.get("text"), fields.get("title", "")
    if not isinstance(text, str) or not text.strip() or not isinstance(title, str):
        got = shown_json(cast("object", source))
        raise InputError(f'a source must be a string, or an object with "text" and "title", got {got}')
    return Source(text, f"source-{number}", title)
