"""Questions with several answers that people ranked, in the formats in which they are passed on.

FGVeriBench (DiVA, section 4) has three answers to a question: a correct one, an incorrect one, and one between them.
Its rows call some of these "irrelevant", which the paper does not mention; they count as intermediate. FActScore's
biographies are ranked by the share of their facts that people found supported. Best-of-N needs no ranking, only the
right answer. Left out: how an answer was made, beyond the name of its model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

from vouching.bench.rows import Fault, Record, Split, converted, list_of, records, text_of, texts_of
from vouching.errors import InputError

GENERAL, MULTI_HOP = ("nq", "triviaqa", "popqa"), ("hotpotqa", "musique", "2wiki")
PARTS = (*GENERAL, *MULTI_HOP)
"""The parts of FGVeriBench, which are its files, in the paper's order."""
LABELS = ("incorrect", "intermediate", "correct")
"""Labels of answers, worst first."""
_MERGED = {**{label: label for label in LABELS}, "irrelevant": "intermediate"}


@dataclass(frozen=True, slots=True)
class RankingRow:
    """A question with answers to be ranked."""

    id: str
    """Name of the row, unique in its set."""
    question: str
    """The question."""
    answers: tuple[str, ...]
    """What is to be ranked, at least two."""
    worth: tuple[float, ...] | None = None
    """Gold worth of each answer, higher is better; only the order counts. None where only ``references`` are known."""
    labels: tuple[str, ...] | None = None
    """Gold label of each answer, of ``LABELS``; None where the set has none."""
    references: tuple[str, ...] = ()
    """The right answer and other ways to put it; empty where the set has none."""
    facts: tuple[tuple[str, ...], ...] = ()
    """The facts that each answer states, as people took it apart; empty where nobody did."""
    part: str | None = None
    """Part of the set that is reported apart."""


Read: TypeAlias = Iterator[RankingRow | Fault]


def fgveribench(paths: Sequence[Path], split: Split) -> Read:
    """The rows of FGVeriBench; each file is a part, and named after it."""
    for path in paths:
        part = path.name.partition(".")[0]
        yield from converted(path, partial(fgveribench_row, part=part))


def fgveribench_row(record: Record, name: str, part: str | None = None) -> Iterator[RankingRow]:
    """A row of FGVeriBench, checked.

    Raises:
        InputError: a field is missing, the ranking is no permutation, there is not just one correct and one incorrect
            answer, or the ranking contradicts the labels.

    >>> answers = [{"text": "1937", "label": "incorrect"}, {"text": "1973", "label": "correct"},
    ...     {"text": "I do not know.", "label": "irrelevant"}]
    >>> record = {"question": "When?", "reference": "1973", "answers": answers, "ranking": [2, 3, 1]}
    >>> [row] = fgveribench_row(record, "q")
    >>> row.worth, row.labels
    ((1.0, 3.0, 2.0), ('incorrect', 'correct', 'intermediate'))
    """
    answers: list[Any] = list_of(record, "answers")
    given = [text_of(_fields(answer), "label") for answer in answers]
    if unknown := next((label for label in given if label not in _MERGED), None):
        raise InputError(f"an answer is labelled {unknown!r}, wanted one of {', '.join(_MERGED)}")
    labels = tuple(_MERGED[label] for label in given)
    if sorted(labels) != sorted(LABELS):
        raise InputError(f"its answers are {', '.join(labels)}; wanted one correct, one incorrect and one between them")
    worth = worth_of(list_of(record, "ranking"), len(answers))
    if [label for _, label in sorted(zip(worth, labels, strict=True))] != [*LABELS]:
        raise InputError(f"its ranking is {record['ranking']} of answers that are {', '.join(labels)}: they disagree")
    texts = tuple(text_of(_fields(answer), "text") for answer in answers)
    yield RankingRow(name, text_of(record, "question"), texts, worth, labels, texts_of(record, "reference"), part=part)


def worth_of(ranking: Sequence[object], count: int) -> tuple[float, ...]:
    """Worth of each answer by a ranking: numbers of answers from 1, best first. Raises InputError if it is none.

    >>> worth_of([3, 1, 2], 3)
    (2.0, 1.0, 3.0)
    """
    places = [number for number in ranking if isinstance(number, int)]
    if len(ranking) != count or sorted(places) != [*range(1, count + 1)]:
        raise InputError(f"its ranking is {[*ranking]}, wanted the numbers of its {count} answers, each once")
    return tuple(float(count - places.index(number)) for number in range(1, count + 1))


def biographies(paths: Sequence[Path], split: Split) -> Read:
    """The biographies of FActScore as DiVA ranks them, each with the facts that people took it apart into.

    A row with an empty answer is left out: nothing says how to rank it.
    """
    facts = {found: stated for path in paths[1:] for found, stated in _stated(path)}

    def convert(record: Record, name: str) -> Iterator[RankingRow]:
        answers = [_fields(answer) for answer in list_of(record, "answers")]
        if any(answer.get("answer") == "" for answer in answers):
            return
        texts = tuple(text_of(answer, "answer") for answer in answers)
        worth = worth_of(list_of(record, "verify_result"), len(texts))
        shares = [answer.get("factuality_score") for answer in answers]
        if not all(isinstance(share, int | float) for share in shares):
            raise InputError(f"the factuality scores of its answers are {shares}, wanted numbers")
        order = [sorted(range(len(texts)), key=values.__getitem__) for values in (worth, cast("list[float]", shares))]
        if order[0] != order[1]:
            raise InputError(f"its ranking is {record['verify_result']}, but the factuality scores are {shares}")
        question = text_of(record, "question").removeprefix("Question: ")
        yield RankingRow(question, question, texts, worth, facts=tuple(facts.get(text, ()) for text in texts))

    yield from converted(paths[0], convert)


def _stated(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Answers in a file of FActScore's labels, with the facts about their subject; none of those that say nothing."""
    for _, record in records(path):
        stated = (fact for part in record.get("annotations") or () for fact in part.get("human-atomic-facts") or ())
        relevant = tuple(fact["text"] for fact in stated if fact["label"] != "IR")
        if relevant:
            yield str(record["output"]), relevant


def samples(paths: Sequence[Path], split: Split) -> Read:
    """Questions with a reference and answers of yours, of which one is to be chosen."""
    for path in paths:
        yield from converted(path, sample_row)


def sample_row(record: Record, name: str) -> Iterator[RankingRow]:
    """A row with ``question``, ``reference`` (a text or several) and ``answers`` (texts). Raises InputError.

    >>> [row] = sample_row({"question": "When?", "reference": "1973", "answers": ["1937", "1973"]}, "q")
    >>> row.answers, row.references, row.worth
    (('1937', '1973'), ('1973',), None)
    """
    answers = texts_of(record, "answers")
    if len(answers) < 2:
        raise InputError("it has one answer, wanted at least two to choose from")
    yield RankingRow(name, text_of(record, "question"), answers, references=texts_of(record, "reference"))


def _fields(answer: object) -> Record:
    if not isinstance(answer, dict):
        raise InputError(f"an answer is {answer!r:.40}, wanted an object with its text")
    return cast("Record", answer)
