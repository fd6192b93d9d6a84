"""What the scorer is trained on: pairs of answers to one question, and the questions that pairs are made for.

    {"id": "q7/1", "set": "2wiki/train", "group": "q7", "question": "When did it open?",
     "better": {"answer": "In 1973.", "label": "correct", "facts": ["It opened in 1973."], "reasoning": ""},
     "worse": {"answer": "In 1937.", "label": "incorrect", "facts": [...], "reasoning": ""}, "history": "..."}

Not supported: pairs of equally good answers, which a margin cannot rank; questions without a known answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from recipes.rank.marking import AnswerLabel
from vouching.errors import InputError
from vouching.methods.discriminative.input import ScorerInput, Shown, compressed_text, scorer_input
from vouching.rows.read import read_as
from vouching.train.run_folder import digest_of_lines
from vouching.types import Compression
from vouching.types.visible import shown_json

WORTH: Mapping[AnswerLabel, int] = {"correct": 2, "intermediate": 1, "irrelevant": 1, "incorrect": 0}
"""Rank of each label; an irrelevant answer counts as intermediate."""


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """An answer, its label, and the evidence found for it."""

    answer: str
    label: AnswerLabel
    """How it compares with the reference."""
    facts: tuple[str, ...] = ()
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class RankPair:
    """Two answers to one question."""

    id: str
    set: str
    """The set that the question is from."""
    group: str
    """Name of the question."""
    question: str
    better: RatedAnswer
    """The answer to score higher."""
    worse: RatedAnswer
    history: str = ""
    """The whole search, as text."""

    def read(self, side: Literal["better", "worse"], shown: Shown) -> ScorerInput:
        r"""What the scorer reads for one of the two.

        >>> right, wrong = RatedAnswer("1973", "correct", ("It opened in 1973.",)), RatedAnswer("1937", "incorrect")
        >>> RankPair("1", "", "q", "When?", right, wrong).read("better", "compressed").text
        'Question: When?\nAnswer: 1973\nUseful facts: It opened in 1973.'
        """
        return input_of(self.question, self.better if side == "better" else self.worse, self.history, shown)


@dataclass(frozen=True, slots=True)
class RatedQuestion:
    """A question with all answers of its pairs, each once."""

    set: str
    """Where it is from."""
    group: str
    """Its name."""
    question: str
    """Its text."""
    answers: tuple[RatedAnswer, ...]
    """At least two, not all equally good."""
    history: str = ""
    """The whole search, as text."""

    @property
    def worth(self) -> list[int]:
        """The rank of each answer, see ``WORTH``."""
        return [WORTH[answer.label] for answer in self.answers]


def input_of(question: str, rated: RatedAnswer, history: str, shown: Shown) -> ScorerInput:
    """What the scorer reads for an answer."""
    if shown == "none":
        return scorer_input(question, rated.answer)
    if shown == "full":
        return scorer_input(question, rated.answer, history)
    evidence = Compression(rated.facts, rated.reasoning, "none")
    return scorer_input(question, rated.answer, compressed_text(evidence, shown == "compressed"))


def read_pairs(paths: Sequence[Path]) -> list[RankPair]:
    """The pairs of files, in order. Raises InputError, naming the file or row, also for rows without a pair."""
    return [pair for path in paths for pair in read_as(str(path), pair_of)]


def pair_of(record: Mapping[str, Any], name: str) -> RankPair:
    """One record as a pair.

    Raises:
        InputError: a field is missing or is no text, or the better answer is not better.

    >>> pair_of({"question": "When?", "better": {"answer": "1973"}, "worse": {"answer": "1937"}}, "row-1").worse.label
    'incorrect'
    """
    question = _text(record, "question")
    better, worse = _rated(record, "better", "correct"), _rated(record, "worse", "incorrect")
    if WORTH[better.label] <= WORTH[worse.label]:
        raise InputError(f'the label of "better" ({better.label}) must be better than that of "worse" ({worse.label})')
    return RankPair(
        id=name,
        set=_text(record, "set", ""),
        group=_text(record, "group", "") or question,
        question=question,
        better=better,
        worse=worse,
        history=_text(record, "history", ""),
    )


def questions_of(pairs: Iterable[RankPair]) -> list[RatedQuestion]:
    """The questions of the pairs, each with the answers of its pairs.

    >>> right, late, wrong = (RatedAnswer(text, "incorrect") for text in ("1973", "1974", "1937"))
    >>> right = RatedAnswer("1973", "correct")
    >>> both = [RankPair(str(i), "", "q", "When?", right, other) for i, other in enumerate((late, wrong))]
    >>> [answer.answer for answer in questions_of(both)[0].answers]
    ['1973', '1974', '1937']
    """
    by_group: dict[str, list[RankPair]] = {}
    for pair in pairs:
        by_group.setdefault(f"{pair.set}\0{pair.group}\0{pair.question}", []).append(pair)
    return [
        RatedQuestion(
            group[0].set,
            group[0].group,
            group[0].question,
            tuple({side.answer: side for pair in group for side in (pair.better, pair.worse)}.values()),
            group[0].history,
        )
        for group in by_group.values()
    ]


def hold_out(pairs: Sequence[RankPair], share: float, seed: int) -> tuple[list[RankPair], list[RankPair]]:
    """Split pairs into training and held-out ones, by question.

    The split of a question depends only on its text and the seed, not on other pairs, sets or evidence.
    """
    train: list[RankPair] = []
    held: list[RankPair] = []
    for pair in pairs:
        digest = hashlib.sha256(f"{seed}\0{pair.question}".encode("utf-8", "surrogatepass")).digest()
        (held if int.from_bytes(digest[:8], "big") < share * 2**64 else train).append(pair)
    return train, held


def digest_of(pairs: Iterable[RankPair]) -> str:
    """SHA-256 of pairs as a set, with their evidence."""
    return digest_of_lines(json.dumps(asdict(pair)) for pair in pairs)


def _rated(record: Mapping[str, Any], side: str, label: AnswerLabel) -> RatedAnswer:
    found = record.get(side)
    if not isinstance(found, dict):
        raise InputError(f'"{side}" must be an object with "answer", "label" and "facts", got {shown_json(found, 40)}')
    fields = cast("dict[str, Any]", found)
    said = fields.get("label", label)
    if said not in get_args(AnswerLabel):
        raise InputError(
            f'unknown label {shown_json(said, 40)} of "{side}"; expected one of {", ".join(get_args(AnswerLabel))}'
        )
    facts: Any = fields.get("facts") or []
    if not isinstance(facts, list) or not all(isinstance(fact, str) for fact in cast("list[Any]", facts)):
        raise InputError(f'"facts" of "{side}" must be a list of strings, got {shown_json(cast("object", facts), 40)}')
    return RatedAnswer(_text(fields, "answer"), said, tuple(cast("list[str]", facts)), _text(fields, "reasoning", ""))


def _text(record: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = record.get(key, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        expected = "a string" if default is not None else "a non-empty string"
        raise InputError(f'"{key}" must be {expected}, got {shown_json(value, 40)}')
    return value
