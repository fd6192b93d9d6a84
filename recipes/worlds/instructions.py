"""A world of instructions: write a few words under two to six constraints that a program can check.

A row is an instruction, its checklist (one question for each constraint) and what the oracle knows. A small policy can
be taught to respond and to judge with errors at known rates; those of judging are the p' and q' of Soft-RLVR. The
oracle reads responses on its own and shares no code with Vouch's rewards; outside judges and gold labels are the oracle
with errors at known rates. Instructions of the held-out part never occur in the training part. Not supported:
constraints on meaning, checklists that are wrong.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from recipes.worlds.facts import Part, chat
from vouching.errors import ConfigError
from vouching.methods.checklist.prompt import item_messages
from vouching.models.base import Message

Kind: TypeAlias = Literal["count", "first", "last", "has", "lacks"]
Constraint: TypeAlias = tuple[Kind, str]
"""A kind and the word it is about; the number of words as digits for "count"."""
WORDS = ("owl", "fox", "elk", "bee", "cat", "red", "blue", "sun", "star", "rain")
"""All words that a response may have."""
_SAID: Mapping[Kind, tuple[str, str]] = {
    "count": ("Write {} words.", "Is the number of words {}?"),
    "first": ("Begin with {}.", "Is the first word {}?"),
    "last": ("End with {}.", "Is the last word {}?"),
    "has": ("Use {}.", "Does it use {}?"),
    "lacks": ("Avoid {}.", "Does it avoid {}?"),
}
"""How an instruction states a constraint, and how its checklist asks for it. A question ends with what it is about: a
small policy learns to compare the last word that it reads, and not one before it."""
TEMPLATE = (
    r"{% for message in messages %}{% for part in message['content'].split('?\n<END OF QUESTION>')[0].split('>\n') %}"
    "{{ ('' if loop.first else '>') ~ ' ' ~ part.strip() }}{% endfor %}"
    "{% if message['role'] == 'assistant' %}{{ '<end>' }}{% endif %}{% endfor %}"
)
"""A chat template without what is constant at the end of a question about an item. Every text begins with a space, so
that a word is the same token wherever it stands."""
_LENGTHS = range(4, 8)


@dataclass(frozen=True, slots=True)
class InstructionsWorld:
    """How hard the world is. Raises ConfigError for a number out of range."""

    fewest: int = 2
    """Constraints of an instruction, from 2 to 6."""
    most: int = 6

    def __post_init__(self) -> None:
        if not 2 <= self.fewest <= self.most <= 6:
            raise ConfigError(f"constraints must be from 2 to 6, got {self.fewest} to {self.most}")

    def rows(self, count: int, seed: int, part: Part = "train") -> list[dict[str, Any]]:
        """Rows for ``vouch train checklist``; the same seed gives the same rows.

        Beside ``prompt`` and ``checklist`` a row has ``constraints``, in the order of its checklist, and the same as
        IFEval's rules (``instruction_id_list`` and ``kwargs``), so that every step logs how many are followed.

        >>> row = InstructionsWorld(2, 2).rows(1, seed=4)[0]
        >>> row["prompt"][0]["content"], row["checklist"]
        ('Use cat. Avoid fox.', ['Does it use cat?', 'Does it avoid fox?'])
        """
        draw = random.Random(f"{seed} {part}")
        found: list[dict[str, Any]] = []
        while len(found) < count:
            constraints = _constraints(draw.randint(self.fewest, self.most), draw)
            asked = " ".join(_SAID[kind][0].format(word) for kind, word in constraints)
            if (hashlib.sha256(asked.encode()).digest()[0] % 3 == 0) == (part == "held-out"):
                found.append(_row(f"{part}-{seed}-{len(found)}", asked, constraints))
        return found


def ruled(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with a rule that decides every second item of its checklist, but for numbers of words, which take two.

    >>> [*map(type, ruled(InstructionsWorld(2, 2).rows(1, seed=4)[0])["checklist"])]
    [<class 'dict'>, <class 'str'>]
    """
    items: list[Any] = []
    for number, (text, one) in enumerate(zip(row["checklist"], row["constraints"], strict=True)):
        rules = _rules(*one)
        decided = len(rules) == 1 and number % 2 == 0
        items.append({"text": text, "rule": rules[0][0], "arguments": rules[0][1]} if decided else text)
    return {**row, "checklist": items}


def follow(constraints: Sequence[Constraint], draw: random.Random, slips: float = 0.0) -> str:
    """A response that follows each constraint but those it slips on, each with this probability.

    >>> follow([("count", "3"), ("first", "owl"), ("lacks", "sun")], random.Random(1))
    'owl fox star'
    """
    kept = [one for one in constraints if draw.random() >= slips]
    slipped = [one for one in constraints if one not in kept]
    lengths = [int(word) for kind, word in kept if kind == "count"]
    avoided = {word for kind, word in kept if kind == "lacks"}
    others = [int(word) for kind, word in slipped if kind == "count"]
    length = lengths[0] if lengths else draw.choice([number for number in _LENGTHS if number not in others])
    absent = avoided | {word for kind, word in slipped if kind in ("has", "first", "last")}
    said = [draw.choice([word for word in WORDS if word not in absent]) for _ in range(length)]
    ends = {kind: word for kind, word in kept if kind in ("first", "last")}
    inside = [word for kind, word in kept if kind == "has"] + [word for kind, word in slipped if kind == "lacks"]
    free = list(range(int("first" in ends), length - int("last" in ends)))
    for place, word in zip(draw.sample(free, min(len(inside), len(free))), inside, strict=False):
        said[place] = word
    said[0], said[-1] = ends.get("first", said[0]), ends.get("last", said[-1])
    return " ".join(said)


def followed(constraint: Constraint, response: str) -> bool:
    """Whether a response follows a constraint; a blank one follows none.

    >>> followed(("last", "sun"), "owl sun"), followed(("lacks", "sun"), "")
    (True, False)
    """
    kind, word = constraint
    said = response.split()
    if not said:
        return False
    return {
        "count": str(len(said)) == word,
        "first": said[0] == word,
        "last": said[-1] == word,
        "has": word in said,
        "lacks": word not in said,
    }[kind]


def constraints_of(text: str) -> list[Constraint]:
    """The constraints that an instruction states, or the one that a question of a checklist asks about.

    Raises ConfigError for a text that the world does not write.

    >>> constraints_of("Write 4 words. Avoid sun."), constraints_of("Is the last word owl?")
    ([('count', '4'), ('lacks', 'sun')], [('last', 'owl')])
    """
    found: list[Constraint] = []
    for sentence in re.findall(r"[^.?]+[.?]", text):
        for kind, forms in _SAID.items():
            for form in forms:
                before, after = form.split("{}")
                word = sentence.strip().removeprefix(before).removesuffix(after)
                if f"{before}{word}{after}" == sentence.strip() and (word in WORDS or word.isdigit()):
                    found.append((kind, word))
    if not found:
        raise ConfigError(f"{text!r} is not of the world of instructions")
    return found


def oracle(response: str, row: Mapping[str, Any]) -> dict[str, float]:
    """What is right in a response.

    ``oracle/items``: share of constraints followed; ``oracle/all``: whether all are; ``oracle/plain``: whether the
    response has known words only, at most ten.

    >>> row = {"constraints": [["count", "2"], ["has", "owl"]]}
    >>> oracle("owl sun sun", row)
    {'oracle/items': 0.5, 'oracle/all': 0.0, 'oracle/plain': 1.0}
    """
    held = [followed((kind, word), response) for kind, word in row["constraints"]]
    said = response.split()
    return {
        "oracle/items": sum(held) / len(held),
        "oracle/all": float(all(held)),
        "oracle/plain": float(1 <= len(said) <= 10 and all(word in WORDS for word in said)),
    }


def labelled(
    rows: Sequence[Mapping[str, Any]], seed: int, slips: float = 0.4, odd: float = 0.2
) -> list[dict[str, Any]]:
    """Labelled items (x, y, c, l) as ``vouch data gold`` writes them, one of each row, with labels by the oracle.

    ``slips`` is how often a response breaks a constraint; the share ``odd`` of responses is random words, of which a
    policy that judges itself meets many.
    """
    draw = random.Random(seed)
    found: list[dict[str, Any]] = []
    for row in rows:
        constraints: list[Constraint] = [(kind, word) for kind, word in row["constraints"]]
        response = follow(constraints, draw, slips)
        if draw.random() < odd:
            response = " ".join(draw.choice(WORDS) for _ in range(draw.randint(1, 8)))
        at = draw.randrange(len(constraints))
        found.append(
            {
                "x": row["prompt"][0]["content"],
                "y": response,
                "c": row["checklist"][at],
                "l": int(followed(constraints[at], response)),
            }
        )
    return found


def chats(
    rows: Sequence[Mapping[str, Any]], seed: int, slips: float, missed: float = 0.0, passed: float = 0.0
) -> Iterator[dict[str, Any]]:
    """Chats for ``vouch train sft``: a response to each row, and a judgment in the paper's words (A.3.1).

    Args:
        rows: instructions.
        seed: of the draws.
        slips: how often a response breaks a constraint.
        missed: 1 - p', how often "no" is taught of an item that holds.
        passed: 1 - q', how often "yes" is taught of one that does not.

    Raises ConfigError for a rate out of range.
    """
    for name, rate in (("slips", slips), ("missed", missed), ("passed", passed)):
        if not 0 <= rate <= 1:
            raise ConfigError(f"{name} must be in [0, 1], got {rate}")
    draw = random.Random(seed)
    for row, item in zip(rows, labelled(rows, seed), strict=True):
        said = follow([(kind, word) for kind, word in row["constraints"]], draw, slips)
        yield {"messages": [*row["prompt"], {"role": "assistant", "content": said}]}
        holds = bool(item["l"])
        if draw.random() < (missed if holds else passed):
            holds = not holds
        yield chat(judging(item), "yes" if holds else "no")


def readings(rows: Sequence[Mapping[str, Any]], seed: int) -> Iterator[dict[str, Any]]:
    """Three chats for each row: repeat an instruction and a response; judge six words; judge a whole checklist.

    Replies of many look-ups teach a policy from random weights to copy and to compare. Mixed with single judgments, or
    followed by them at once, they hardly do. A judgment directly follows the word that it is about, as
    in :data:`TEMPLATE`.
    """
    draw = random.Random(seed)
    for row in rows:
        constraints: list[Constraint] = [(kind, word) for kind, word in row["constraints"]]
        asked, response = row["prompt"][0]["content"], follow(constraints, draw, slips=0.4)
        said = f"{asked} {response}"
        yield {"messages": [{"role": "user", "content": f"Repeat: {said}"}, {"role": "assistant", "content": said}]}
        words: list[Constraint] = [("has", word) for word in draw.sample(WORDS, 6)]
        for items in (words, constraints):
            questions = [_SAID[kind][1].format(word) for kind, word in items]
            held = ["yes" if followed(one, response) else "no" for one in items]
            judged = " ".join(f"{one[:-1]} {answer}" for one, answer in zip(questions, held, strict=True))
            yield chat(judging({"x": asked, "y": response, "c": " ".join(questions)}), judged)


def judging(item: Mapping[str, Any]) -> tuple[Message, ...]:
    """The messages that ask a policy about a labelled item, as in training with ``checklist.wording = "paper"``."""
    return item_messages(item["x"], item["y"], item["c"], wording="paper")


def question_parts() -> list[str]:
    r"""Parts of the question about an item that are constant.

    >>> len(question_parts()), question_parts()[0]
    (4, 'Here is an instruction given to an AI Assistant:\n<START OF INSTRUCTION>\n')
    """
    marks = ("<x>", "<y>", "<c>")
    [message] = item_messages(*marks, wording="paper")
    found, text = list[str](), message.content
    for mark in marks:
        part, text = text.split(mark)
        found.append(part)
    return [*found, text]


def as_read(text: str) -> str:
    r"""What a small policy reads of a text with :data:`TEMPLATE`.

    >>> as_read("<START OF QUESTION>\nDoes it use owl?\n<END OF QUESTION>")
    ' <START OF QUESTION> Does it use owl'
    """
    return ">".join(f" {part.strip()}" for part in text.split("?\n<END OF QUESTION>")[0].split(">\n"))


def _constant() -> list[str]:
    """Parts of the question about an item, as a small policy reads them."""
    [message] = item_messages("{}", "{}", "{}?", wording="paper")
    return as_read(message.content).split(" {}")[:3]


PIECES = (
    *_constant(),
    *(f" {word}" for word in (*WORDS, *_LENGTHS, "words", "Repeat:", "yes", "no")),
    *(f" {form.split(' {}')[0]}" for forms in _SAID.values() for form in forms),
)
"""What is one token each in a small policy's tokenizer."""


def _constraints(number: int, draw: random.Random) -> list[Constraint]:
    """Constraints that one response can follow together: at most two words inside, and one at either end."""
    words = draw.sample(WORDS, 6)
    pool: list[Constraint] = [
        ("count", str(draw.choice(_LENGTHS))),
        ("first", words[0]),
        ("last", words[1]),
        ("has", words[2]),
        ("has", words[3]),
        ("lacks", words[4]),
        ("lacks", words[5]),
    ]
    chosen = set(draw.sample(range(len(pool)), number))
    return [one for place, one in enumerate(pool) if place in chosen]


def _row(name: str, asked: str, constraints: Sequence[Constraint]) -> dict[str, Any]:
    rules = [rule for kind, word in constraints for rule in _rules(kind, word)]
    return {
        "id": name,
        "prompt": [{"role": "user", "content": asked}],
        "checklist": [_SAID[kind][1].format(word) for kind, word in constraints],
        "constraints": [list(one) for one in constraints],
        "instruction_id_list": [rule for rule, _ in rules],
        "kwargs": [settings for _, settings in rules],
    }


def _rules(kind: Kind, word: str) -> list[tuple[str, dict[str, Any]]]:
    """A constraint as IFEval's rules; an exact number of words takes two."""
    if kind == "count":
        number, name = int(word), "length_constraints:number_words"
        return [
            (name, {"num_words": number, "relation": "at least"}),
            (name, {"num_words": number + 1, "relation": "less than"}),
        ]
    if kind == "first":
        paragraph = {"num_paragraphs": 1, "nth_paragraph": 1, "first_word": word}
        return [("length_constraints:nth_paragraph_first_word", paragraph)]
    if kind == "last":
        return [("startend:end_checker", {"end_phrase": word})]
    if kind == "has":
        return [("keywords:existence", {"keywords": [word]})]
    return [("keywords:forbidden_words", {"forbidden_words": [word]})]
