"""Questions whose answers need several paragraphs: HotpotQA, MuSiQue and 2WikiMultiHopQA, each with its paragraphs.

A question comes with the paragraphs that hold its answer and with distractors. All paragraphs together are a corpus for
search. Files are in ``multihop`` below the data folder, in any of their three layouts. Not supported: supporting
sentences, reasoning steps, kinds of questions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

from vouching.bench.rows import Fault, Record, Split, converted, list_of, text_of
from vouching.errors import InputError, cause_of
from vouching.methods.discriminative.marking import AnswerLabel, Candidate, RankQuestion
from vouching.types import Source
from vouching.types.visible import shown_json, shown_keys

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
"""The file of each split, without its ending; one is named after another set."""


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


def multihop_rows(folder: Path, name: MultihopSet, split: Split) -> Iterator[MultihopRow | Fault]:
    """The questions of a split, and faults in place of unusable ones. Raises InputError if the split is missing."""
    if (name, split) not in FILES:
        parts = ", ".join(part for one, part in FILES if one == name)
        raise InputError(f"{name} has no {split} split with paragraphs; available splits: {parts or 'none'}")
    path = folder / "multihop" / f"{FILES[name, split]}.jsonl.gz"
    if not path.exists():
        raise InputError(f"missing file {path}: save the authors' rows of {name} there, one per line with paragraphs")
    yield from converted(path, lambda record, _: [multihop_row(record)])


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
