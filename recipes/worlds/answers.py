"""A world of answers: questions with three answers of a known order, and what a search found, for DiVA's ranking.

A question asks for two numbers of a place. One answer states both right, one only one of them, one neither: correct,
intermediate and incorrect, as in FGVeriBench. The search found the documents that state the numbers, among others about
the place or about other places. Places of the held-out part never occur in the training part, so that nothing can be
known without the search. The oracle knows the number of errors and shares no code with scorers. Not supported: searches
that miss what they look for, answers that leave something out, more than three answers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recipes.worlds.documents import STATEMENT, THINGS, statement
from recipes.worlds.facts import Part, chat, places
from vouching.answering.prompt import answer_messages
from vouching.errors import ConfigError
from vouching.metrics import kendall_tau_b
from vouching.types import Source

LABELS = ("correct", "intermediate", "incorrect")
"""What an answer with so many errors is called."""
_NUMBERS = range(2, 30)


@dataclass(frozen=True, slots=True)
class AnswersWorld:
    """How hard the world is. Raises ConfigError for a number out of range.

    The intermediate answer shares a number with each of the other two, which share none. Without the search, one answer
    alone tells nothing (the best is first by chance, 1/3); all three tell which is intermediate, and the right one is
    first in at most half of the questions.
    """

    irrelevant: int = 3
    """Documents beside the point in what was found, from 0 to 6."""

    def __post_init__(self) -> None:
        if not 0 <= self.irrelevant <= 6:
            raise ConfigError(f"irrelevant must be from 0 to 6, got {self.irrelevant}")

    def rows(self, count: int, seed: int, part: Part = "train") -> list[dict[str, Any]]:
        """Questions as ``recipes/rank/pairs.py`` and ``vouch rank`` read them; the same seed gives the same rows.

        ``sources`` are what was found; each of ``answers`` has a ``label``, and ``asked`` the right numbers.

        >>> row = AnswersWorld(irrelevant=1).rows(1, seed=4)[0]
        >>> row["question"], row["asked"]
        ('How many wells and towers are in Kirport?', {'wells': 20, 'towers': 20})
        >>> [(one["answer"], one["label"]) for one in row["answers"]][2:]
        [('The wells of Kirport number 5. The towers of Kirport number 20.', 'intermediate')]
        """
        draw = random.Random(f"{seed} {part}")
        return [self._row(f"{part}-{seed}-{number}", draw, places(part)) for number in range(count)]

    def _row(self, name: str, draw: random.Random, names: Sequence[str]) -> dict[str, Any]:
        place, *others = draw.sample(names, 4)
        things = draw.sample(THINGS, 4)
        asked = {thing: draw.choice(_NUMBERS) for thing in things[:2]}
        elsewhere = [(other, thing) for other in others for thing in asked] + [(place, thing) for thing in things[2:]]
        stated = [statement(place, thing, number) for thing, number in asked.items()]
        rest = [
            statement(where, thing, draw.choice(_NUMBERS)) for where, thing in draw.sample(elsewhere, self.irrelevant)
        ]
        sources = draw.sample([*stated, *rest], len(stated) + len(rest))
        wrong = {thing: draw.choice([one for one in _NUMBERS if one != number]) for thing, number in asked.items()}
        half = draw.choice([*asked])
        answers = [asked, {**asked, half: wrong[half]}, wrong]
        return {
            "id": name,
            "question": f"How many {' and '.join(asked)} are in {place}?",
            "place": place,
            "asked": asked,
            "reference": answer_of(place, asked),
            "sources": sources,
            "answers": draw.sample(
                [
                    {"answer": answer_of(place, numbers), "label": label}
                    for numbers, label in zip(answers, LABELS, strict=True)
                ],
                len(LABELS),
            ),
        }


def answer_of(place: str, numbers: Mapping[str, int]) -> str:
    """An answer that states these numbers.

    >>> answer_of("Orham", {"ships": 4, "mills": 7})
    'The ships of Orham number 4. The mills of Orham number 7.'
    """
    return " ".join(statement(place, thing, number) for thing, number in numbers.items())


def answer_chats(rows: Sequence[Mapping[str, Any]], seed: int, wrong: float) -> Iterator[dict[str, Any]]:
    """Chats for ``vouch train sft`` that teach to answer from sources; each number is wrong at this rate.

    Raises ConfigError for a rate out of range.
    """
    if not 0 <= wrong <= 1:
        raise ConfigError(f"wrong must be in [0, 1], got {wrong}")
    draw = random.Random(seed)
    for row in rows:
        said = {thing: draw.choice(_NUMBERS) if draw.random() < wrong else n for thing, n in row["asked"].items()}
        sources = [Source(text, f"source-{number}") for number, text in enumerate(row["sources"], 1)]
        yield chat(answer_messages(row["question"], sources), f"Response: {answer_of(row['place'], said)}")


def right_share(answer: str, row: Mapping[str, Any]) -> float:
    """Share of the numbers asked for that an answer states right.

    >>> row = {"place": "Orham", "asked": {"ships": 4, "mills": 7}}
    >>> right_share("The ships of Orham number 4. The mills of Orham number 9.", row)
    0.5
    """
    said = {(where, thing): int(number) for thing, where, number in STATEMENT.findall(answer)}
    return sum(said.get((row["place"], thing)) == number for thing, number in row["asked"].items()) / len(row["asked"])


def oracle(scores: Sequence[float | None], row: Mapping[str, Any]) -> dict[str, float]:
    """What is right in an order of the answers, by their scores; None for an answer without one.

    ``oracle/first``: whether the right answer is first, shared between ties; ``oracle/tau``: Kendall's tau-b, 0 if all
    are tied; ``oracle/valid``: whether every answer has a score. An order that is not valid has 0 and -1.

    >>> row = {"answers": [{"label": "incorrect"}, {"label": "correct"}, {"label": "intermediate"}]}
    >>> oracle([0.1, 0.9, 0.9], row)["oracle/first"], oracle([0.1, None, 0.9], row)["oracle/tau"]
    (0.5, -1.0)
    """
    known = [score for score in scores if score is not None]
    if len(known) < len(row["answers"]):
        return {"oracle/first": 0.0, "oracle/tau": -1.0, "oracle/valid": 0.0}
    worth = [-LABELS.index(one["label"]) for one in row["answers"]]
    best = [at for at, score in enumerate(known) if score == max(known)]
    tau = 0.0 if len({*known}) == 1 else float(kendall_tau_b(worth, known))
    return {"oracle/first": (worth.index(0) in best) / len(best), "oracle/tau": tau, "oracle/valid": 1.0}
