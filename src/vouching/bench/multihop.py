"""Questions whose answers need several paragraphs: HotpotQA, MuSiQue and 2WikiMultiHopQA, each with its paragraphs.

A question comes with the paragraphs that hold its answer and with others that mislead. All paragraphs together are a
corpus to search; the supporting ones say what must be found. Files are looked for in ``multihop`` below the data
folder, in the three layouts in which they are passed on. Left out: which sentence of a paragraph supports, the steps
of a question, and kinds of questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from vouching.bench.rows import Fault, Record, Split, converted, list_of, text_of
from vouching.errors import InputError
from vouching.types import Source

MultihopSet: TypeAlias = Literal["hotpotqa", "musique", "2wiki"]
FILES: dict[tuple[MultihopSet, Split], str] = {
    ("2wiki", "train"): "2wiki_train500",
    ("hotpotqa", "train"): "hotpotqa_train100",
    ("musique", "train"): "musique_train100",
    ("hotpotqa", "dev"): "hotpotqa_dev",
    ("2wiki", "test"): "wikihop_test200",
    ("hotpotqa", "test"): "hotpot_test200",
    ("musique", "test"): "musique_test200",
}
"""The file of each part of a set, without its ending; one of them is named after another set."""


@dataclass(frozen=True, slots=True)
class MultihopRow:
    """A question with its paragraphs."""

    id: str
    """Its id, unique in its set."""
    question: str
    """The question."""
    answers: tuple[str, ...]
    """The right answer and, after it, other ways to put it."""
    passages: tuple[Source, ...]
    """Its paragraphs in the order of the file, each once; blanks are single, and one text has one id in all sets."""
    supporting: frozenset[str]
    """Ids of the paragraphs that the answer rests on; at least one."""

    @property
    def answer(self) -> str:
        """The right answer, as the set puts it."""
        return self.answers[0]


def multihop_rows(folder: Path, name: MultihopSet, split: Split) -> Iterator[MultihopRow | Fault]:
    """The questions of one part of a set, and what is wrong with those that cannot be used.

    Args:
        folder: the folder with the data sets, see :func:`vouching.bench.catalog.data_folder`.
        name: which set.
        split: which part of it.

    Raises:
        InputError: the set has no such part, or its file is not there.
    """
    if (name, split) not in FILES:
        parts = ", ".join(part for one, part in FILES if one == name)
        raise InputError(f"{name} has no {split} split with paragraphs, it has {parts or 'none'}")
    path = folder / "multihop" / f"{FILES[name, split]}.jsonl.gz"
    if not path.exists():
        raise InputError(f"{name} is not here: wanted {path}, rows of the authors with their paragraphs, one a line")
    yield from converted(path, lambda record, _: [multihop_row(record)])


def multihop_row(record: Record) -> MultihopRow:
    """A record of any of the three layouts as a question.

    Raises:
        InputError: a field is missing, or a supporting paragraph is not among its paragraphs.

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
        raise InputError(f"its paragraphs or answers are laid out in a way that is not known ({error!r})") from error
    if not paragraphs:
        raise InputError("it has no paragraphs")
    if not answers:
        raise InputError("it has no answer")
    supporting = frozenset(source.id for source, supports in paragraphs if supports)
    if not supporting:
        raise InputError("none of its paragraphs is marked as supporting")
    return MultihopRow(
        id=text_of(record, "_id" if "_id" in record else "id"),
        question=" ".join(text_of(record, "question").split()),
        answers=answers,
        passages=tuple({source.id: source for source, _ in paragraphs}.values()),
        supporting=supporting,
    )


def corpus(rows: Iterable[MultihopRow]) -> list[Source]:
    """Every paragraph of the questions once, in the order of first sight."""
    return [*{source.id: source for row in rows for source in row.passages}.values()]


def recall(row: MultihopRow, found: Iterable[str]) -> float:
    """Share of a question's supporting paragraphs that are among those found, in [0, 1]."""
    return len(row.supporting.intersection(found)) / len(row.supporting)


def _paragraphs(record: Record) -> Iterator[tuple[Source, bool]]:
    """The paragraphs of a question and whether the answer rests on them."""
    if "context" in record:
        facts = cast("list[list[Any]]", list_of(record, "supporting_facts"))
        titles = {str(title) for title, _ in facts}
        pairs = [(str(title), " ".join(sentences)) for title, sentences in list_of(record, "context")]
        missing = titles.difference(title for title, _ in pairs)
        if missing:
            raise InputError(f"its supporting paragraph {min(missing)!r} is not among its paragraphs")
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
