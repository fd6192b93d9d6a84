"""Questions whose answers need several paragraphs: HotpotQA, MuSiQue and 2WikiMultiHopQA, each with its paragraphs.

A question comes with the paragraphs that hold its answer and with distractors, in any of the three layouts. Not
supported: supporting sentences, reasoning steps, kinds of questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from vouching.bench.rows import Record, list_of, text_of
from vouching.errors import InputError, cause_of
from vouching.types import Source


@dataclass(frozen=True, slots=True)
class MultihopRow:
    """A question with its paragraphs."""

    id: str
    """Unique in its set."""
    question: str
    answers: tuple[str, ...]
    """The right answer, then its variants."""
    passages: tuple[Source, ...]
    """Its paragraphs in the order of the file, without duplicates; a text has the same id in all sets."""
    supporting: frozenset[str]
    """Ids of the supporting paragraphs, at least one."""

    @property
    def answer(self) -> str:
        """The right answer."""
        return self.answers[0]


def multihop_row(record: Record) -> MultihopRow:
    """A record of any of the three layouts as a question. Raises InputError.

    >>> row = multihop_row({"_id": "7", "question": "Who built it?", "answer": "Ada", "supporting_facts": [["Mill", 0]],
    ...     "context": [["Mill", ["It stands.", " Ada built it."]], ["Oslo", ["Oslo is a city."]]]})
    >>> [(p.title, p.text, p.id in row.supporting) for p in row.passages]
    [('Mill', 'It stands. Ada built it.', True), ('Oslo', 'Oslo is a city.', False)]
    """
    try:
        paragraphs, answers = [*_paragraphs(record)], _answers(record)
    except InputError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"the paragraphs or answers of the row have an unknown layout: {cause_of(error)}") from error
    if not paragraphs:
        raise InputError("the row has no paragraphs")
    if not answers:
        raise InputError("the row has no answer")
    supporting = frozenset(source.id for source, supports in paragraphs if supports)
    if not supporting:
        raise InputError("no paragraph of the row is marked as supporting")
    return MultihopRow(
        id=text_of(record, "_id" if "_id" in record else "id"),
        question=" ".join(text_of(record, "question").split()),
        answers=answers,
        passages=tuple({source.id: source for source, _ in paragraphs}.values()),
        supporting=supporting,
    )


def _paragraphs(record: Record) -> Iterator[tuple[Source, bool]]:
    """The paragraphs of a question and whether the answer rests on them."""
    if "context" in record:
        facts = cast("list[list[Any]]", list_of(record, "supporting_facts"))
        titles = {str(title) for title, _ in facts}
        pairs = [(str(title), " ".join(sentences)) for title, sentences in list_of(record, "context")]
        missing = titles.difference(title for title, _ in pairs)
        if missing:
            raise InputError(f"the supporting paragraph {min(missing)!r} is not among the row's paragraphs")
        yield from ((_source(title, text), title in titles) for title, text in pairs if text.strip())
        return
    for key in ("paragraphs", "contexts"):
        for paragraph in list_of(record, key) if key in record else ():
            supports = paragraph["is_supporting"] is True
            yield _source(text_of(paragraph, "title"), text_of(paragraph, "paragraph_text")), supports


def _source(title: str, text: str) -> Source:
    title, text = (" ".join(words.split()) for words in (title, text))
    return Source(text, hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:16], title)


def _answers(record: Record) -> tuple[str, ...]:
    if "answers" in record:
        return tuple(str(span) for answer in list_of(record, "answers") for span in answer["spans"])
    return (text_of(record, "answer"), *map(str, record.get("answer_aliases") or ()))
