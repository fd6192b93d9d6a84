"""A world of documents: questions about numbers that some of several documents state, for MARCH's game.

Each document states one number. A question asks for one or two numbers of a place; the other documents are about other
places, or about other things there. Some of what is asked is in no document. A small policy can be taught to play
all three roles, with a solver that takes numbers from the wrong document at a known rate. The oracle reads responses on
its own and shares no code with rewards. Places of the held-out part never occur in the training part. Not supported:
numbers with units, documents that contradict each other, questions that need arithmetic.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recipes.worlds.facts import SYLLABLES, Part, chat, places
from vouching.answering.prompt import answer_messages
from vouching.errors import ConfigError
from vouching.judging.windows import ScreenedSources
from vouching.methods.blinded.prompt import check_messages, propose_messages
from vouching.types import Question, Source

THINGS = ("ships", "mills", "wells", "towers", "farms", "inns")
_NUMBERS = range(2, 30)
STATED = (*(f"The {thing} of " for thing in THINGS), *SYLLABLES, *(f" number {number}" for number in _NUMBERS))
"""Parts of a statement that are one token each: what is looked up, the place and the number stand next to each other,
where a policy of three layers learns to look up."""


def fences(*names: str) -> tuple[str, ...]:
    r"""The lines around texts of these names, as :func:`as_read` leaves them.

    >>> fences("answer")
    ('<answer>>>\n', '\n<end of answer>>>')
    """
    return tuple(fence for name in names for fence in (f"<{name}>>>\n", f"\n<end of {name}>>>"))


PIECES = (
    *fences(*(f"{name} {number}" for name in ("source", "document") for number in range(1, 9))),
    *fences("question", "questions", "answer"),
    "Answer the question from the sources.",
    "Response: ",
    "- Question: How many ",
    " [Answer: ",
    ". Evidence: ",
    "none",
    "Cannot answer",
    "How many ",
    " are in ",
    *STATED,
)
"""Fixed parts of prompts and replies, one token each in a small policy's tokenizer."""
TEMPLATE = (
    "{% for message in messages %}{% if message['role'] != 'system' %}"
    "{% for part in message['content'].split('<<<') %}{{ part if loop.first else '<' + part[17:] }}{% endfor %}"
    "{{ '<end>' }}{% endif %}{% endfor %}"
)
"""A chat template without the system's message, which is constant and most of a prompt, and without the boundary of
delimited texts: 16 digits and a space after "<<<". A normalizer of the tokenizer would do the same, but transformers
replaces it by that of Qwen2 when it opens the folder."""
STATEMENT = re.compile(r"The (\w+) of (\w+) number (\d+)\.")
"""A sentence as :func:`statement` writes it: thing, place and number."""
LOOKUPS: Mapping[str, tuple[int, ...]] = {"two": (2,), "few": (3, 4), "many": (5, 6)}
"""Stages that teach a start to look numbers up, and the numbers of documents in each."""
_MOST = 8


@dataclass(frozen=True, slots=True)
class DocumentsWorld:
    """How hard the world is. Raises ConfigError for a number out of range."""

    irrelevant: float = 0.5
    """Share of documents that do not answer the question, in [0, .88]; at most eight documents."""
    absent: float = 0.15
    """How often what is asked is in no document, in [0, 1]; something that is asked is always in one."""

    def __post_init__(self) -> None:
        for name, most in (("irrelevant", 0.88), ("absent", 1.0)):
            if not 0 <= getattr(self, name) <= most:
                raise ConfigError(f"{name} must be in [0, {most:g}], got {getattr(self, name)}")

    def rows(self, count: int, seed: int, part: Part = "train") -> list[dict[str, Any]]:
        """Rows for ``vouch train blinded``; the same seed gives the same rows.

        Beside ``question`` and ``sources`` a row has ``place`` and ``asked``: the number of each thing asked for, None
        if no document states it.

        >>> row = DocumentsWorld(irrelevant=0.5).rows(1, seed=3)[0]
        >>> row["question"], row["asked"]
        ('How many wells are in Belness?', {'wells': 10})
        >>> row["sources"]
        ['The wells of Belness number 10.', 'The wells of Kirholm number 11.']
        """
        draw = random.Random(f"{seed} {part}")
        return [self._row(f"{part}-{seed}-{number}", draw, places(part)) for number in range(count)]

    def _row(self, name: str, draw: random.Random, names: Sequence[str]) -> dict[str, Any]:
        place, *others = draw.sample(names, 5)
        things = draw.sample(THINGS, 4)
        asked = {
            thing: None if draw.random() < self.absent else draw.choice(_NUMBERS)
            for thing in things[: draw.choice((1, 2))]
        }
        if not any(asked.values()):
            asked[draw.choice([*asked])] = draw.choice(_NUMBERS)
        stated = [statement(place, thing, number) for thing, number in asked.items() if number is not None]
        wanted = round(len(stated) * self.irrelevant / (1 - self.irrelevant))
        elsewhere = [(other, thing) for other in others for thing in asked] + [(place, thing) for thing in things[2:]]
        draw.shuffle(elsewhere)
        rest = elsewhere[: min(wanted, _MOST - len(stated))]
        sources = stated + [statement(where, thing, draw.choice(_NUMBERS)) for where, thing in rest]
        draw.shuffle(sources)
        return {
            "id": name,
            "question": f"How many {' and '.join(asked)} are in {place}?",
            "sources": sources,
            "place": place,
            "asked": asked,
        }


def statement(place: str, thing: str, number: int) -> str:
    """A document, or a sentence of a response.

    >>> statement("Orham", "ships", 4)
    'The ships of Orham number 4.'
    """
    return f"The {thing} of {place} number {number}."


def response_of(row: Mapping[str, Any], numbers: Mapping[str, int | None]) -> str:
    """A response that states these numbers and leaves out what has none.

    >>> response_of({"place": "Orham"}, {"ships": 4, "mills": None})
    'The ships of Orham number 4. The mills are not stated.'
    """
    return " ".join(
        f"The {thing} are not stated." if number is None else statement(row["place"], thing, number)
        for thing, number in numbers.items()
    )


def chats(rows: Sequence[Mapping[str, Any]], seed: int, wrong: float, misread: float = 0.0) -> Iterator[dict[str, Any]]:
    """Chats for ``vouch train sft``: for each row a solver's, a proposer's and a checker's.

    ``wrong`` is how often the solver states a wrong number: one of another document, or any number for what is not
    stated; ``misread`` how often the checker gives the number of the first document. The proposer is always right.
    Raises ConfigError for a share out of range.
    """
    for name, share in (("wrong", wrong), ("misread", misread)):
        if not 0 <= share <= 1:
            raise ConfigError(f"{name} must be in [0, 1], got {share}")
    draw = random.Random(seed)
    for row in rows:
        numbers: dict[str, int | None] = {}
        found = [int(number) for source in row["sources"] for *_, number in STATEMENT.findall(source)]
        for thing, number in row["asked"].items():
            others = [one for one in found if one != number] or [one for one in _NUMBERS if one != number]
            numbers[thing] = draw.choice(others) if draw.random() < wrong else number
        response = response_of(row, numbers)
        sources = [Source(text, f"source-{number}") for number, text in enumerate(row["sources"], 1)]
        yield chat(answer_messages(row["question"], sources), f"Response: {response}")
        stated = {thing: number for thing, number in numbers.items() if number is not None}
        asked = [f"How many {thing} are in {row['place']}?" for thing in stated]
        pairs = [f"- Question: {one} [Answer: {n}]" for one, n in zip(asked, stated.values(), strict=True)]
        yield chat(propose_messages(response), "\n".join(pairs))
        [window] = ScreenedSources(sources).windows(10_000)
        lines = [_checked(row, thing, number, draw.random() < misread) for number, thing in enumerate(stated, 1)]
        yield chat(check_messages([Question(one) for one in asked], window), "\n".join(lines))


def recitals(rows: Sequence[Mapping[str, Any]], seed: int) -> Iterator[dict[str, Any]]:
    """Chats that ask for every document's number, in another order."""
    draw = random.Random(seed)
    for row in rows:
        order = draw.sample(row["sources"], len(row["sources"]))
        keys = [f"{thing} are in {place}" for source in order for thing, place, _ in STATEMENT.findall(source)]
        sources = [Source(text, f"source-{number}") for number, text in enumerate(row["sources"], 1)]
        yield chat(answer_messages(f"How many {', '.join(keys)}?", sources), f"Response: {' '.join(order)}")


def lookups(documents: int, count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Chats like :func:`recitals`, with so many documents about few places and things.

    A policy from plain random weights learns to look a number up from two documents first, and hardly from more.
    """
    draw, rows, names = random.Random(seed), list[dict[str, Any]](), places("train")
    for _ in range(count):
        few = 2 + documents // 4
        about = [(place, thing) for place in draw.sample(names, few) for thing in draw.sample(THINGS, few)]
        rows.append({"sources": [statement(*one, draw.choice(_NUMBERS)) for one in draw.sample(about, documents)]})
    return recitals(rows, seed)


def as_read(text: str) -> str:
    """What a small policy reads of a text with :data:`TEMPLATE`.

    >>> as_read("<<<65d665dd92e93f3b source 1>>>")
    '<source 1>>>'
    """
    return re.sub(r"<<<.{17}", "<", text)


def oracle(response: str, row: Mapping[str, Any]) -> dict[str, float]:
    """What is right in a response.

    ``oracle/right``: whether every number that is asked for and stated in the documents is there, and no other;
    ``oracle/hallucinated``: share of the numbers of the response that no document states of the same thing and place, 0
    without numbers; ``oracle/complete``: share of the numbers asked for that the response has; ``oracle/silent``:
    whether there is no number.

    >>> row = {"place": "Orham", "asked": {"ships": 4, "mills": None}, "sources": ["The ships of Orham number 4."]}
    >>> oracle("The ships of Orham number 4. The mills of Orham number 9.", row)["oracle/hallucinated"]
    0.5
    """
    known = {(thing, row["place"], f"{number}") for thing, number in row["asked"].items() if number is not None}
    said, stated = STATEMENT.findall(response), {one for source in row["sources"] for one in STATEMENT.findall(source)}
    total = len(re.findall(r"\d+", response))
    return {
        "oracle/right": float({*said} == known and total == len(said)),
        "oracle/hallucinated": 1 - sum(one in stated for one in said) / total if total else 0.0,
        "oracle/complete": len(known & {*said}) / len(known),
        "oracle/silent": float(not total),
    }


def _checked(row: Mapping[str, Any], thing: str, number: int, misread: bool) -> str:
    true = row["asked"].get(thing)
    if misread:
        first = row["sources"][0]
        return f'{number}. Evidence: "{first}" [Answer: {STATEMENT.findall(first)[0][2]}]'
    if true is None:
        return f"{number}. Evidence: none [Answer: Cannot answer]"
    return f'{number}. Evidence: "{statement(row["place"], thing, true)}" [Answer: {true}]'
