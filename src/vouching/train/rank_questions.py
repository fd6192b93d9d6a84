"""The questions that pairs of answers are made for, and the rows they come from.

Left out: questions without a known right answer; nothing could be said about their answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from vouching.bench.multihop import multihop_row
from vouching.errors import InputError
from vouching.train.rank_rows import AnswerLabel
from vouching.types import Source


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer to a question."""

    answer: str
    """Its text."""
    by: str
    """What gave it: "reference", "passages", "perturb:date_shift", or a model's name."""
    label: AnswerLabel | None = None
    """How it stands to the reference; None where nobody said yet."""


@dataclass(frozen=True, slots=True)
class RankQuestion:
    """A question that answers are wanted for."""

    id: str
    """Its name."""
    question: str
    """Its text."""
    references: tuple[str, ...]
    """The right answer and, after it, other ways to put it."""
    set: str = ""
    """Where it is from."""
    sources: tuple[Source, ...] = ()
    """Paragraphs to take wrong answers from; those that its answer rests on first."""
    explanation: str = ""
    """A long answer that shows the way to the right one; empty if there is none."""
    candidates: tuple[Candidate, ...] = ()
    """Answers that came with it."""


def question_of(record: Mapping[str, Any], name: str, place: str) -> RankQuestion:
    """A row as a question: ``question`` and ``reference``, or a row of HotpotQA, MuSiQue or 2WikiMultiHopQA.

    Args:
        record: its fields; ``answer`` does for ``reference``. ``answers`` may hold texts, or objects with ``answer``
            and ``label``; ``aliases`` other ways to put the reference; ``sources`` texts, or objects with ``text`` and
            ``title``.
        name: its id.
        place: the set it is from.

    Raises:
        InputError: a field is missing or of the wrong kind.

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
        raise InputError(
            f'the row has the keys {[*record]}, wanted "question" and "reference" (two texts, neither of them empty)'
        )
    aliases, answers, sources = (_list(record, key) for key in ("aliases", "answers", "sources"))
    return RankQuestion(
        id=name, question=question.strip(), references=(reference.strip(), *map(str, aliases)), set=place,
        sources=tuple(_source(source, i) for i, source in enumerate(sources, 1)),
        candidates=tuple(_candidate(answer) for answer in answers),
    )  # fmt: skip


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    value: Any = record.get(key) or []
    if not isinstance(value, list):
        raise InputError(f"{key} is {value!r:.40}, wanted a list")
    return cast("list[Any]", value)


def _candidate(answer: Any) -> Candidate:
    if isinstance(answer, str) and answer.strip():
        return Candidate(answer.strip(), "row")
    fields = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    text, label = fields.get("answer"), fields.get("label")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"an answer is {answer!r:.40}, wanted a text, or an object with answer and label")
    if label is not None and label not in get_args(AnswerLabel):
        raise InputError(f"the label of an answer is {label!r:.40}, wanted one of {', '.join(get_args(AnswerLabel))}")
    return Candidate(text.strip(), str(fields.get("by", "row")), label)


def _source(source: Any, number: int) -> Source:
    fields = cast("dict[str, Any]", source) if isinstance(source, dict) else {"text": source}
    text, title = fields.get("text"), fields.get("title", "")
    if not isinstance(text, str) or not text.strip() or not isinstance(title, str):
        raise InputError(f"a source is {source!r:.40}, wanted a text, or an object with text and title")
    return Source(text, f"source-{number}", title)
