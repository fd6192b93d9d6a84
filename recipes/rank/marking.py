"""Language models that answer, mark and compare: steps 1, 2 and 4 of how DiVA builds its pairs (section 3.2).

The judge sees the reference. It compares two answers in both orders and must agree with itself, so that position bias
decides nothing. A judge that fails leaves an answer unmarked or a pair unconfirmed, with the reason. Departures: the
paper asks once; the prompts are our own. Not supported: several judges.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, TypeVar, cast, get_args

from vouching.errors import ModelError
from vouching.judging.ask import ReplyError, Unread, ask
from vouching.judging.delimiters import delimited
from vouching.judging.schemas import Schema, token_limit
from vouching.methods.discriminative.generative import mark_schema, places_schema, read_places, verdict_of, worded
from vouching.models.base import Message, Model, Sampling, spoken
from vouching.models.limits import most_tokens
from vouching.models.running import all_of
from vouching.prompts import Prompt, load_prompt
from vouching.types import Source

_PACKAGE = "recipes.rank"
_ANSWER_TOKENS = 128
_ATTEMPTS = 2
"""Replies of a judge to one question; the first is greedy."""
_TEMPERATURE = 0.7
R = TypeVar("R")
AnswerLabel: TypeAlias = Literal["correct", "intermediate", "irrelevant", "incorrect"]
"""How an answer compares with the reference, in FGVeriBench's terms."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An answer to a question."""

    answer: str
    by: str
    """Its origin: "reference", "passages", "perturb:date_shift", or a model's name."""
    label: AnswerLabel | None = None
    """How it compares with the reference; None if not labelled yet."""


@dataclass(frozen=True, slots=True)
class RankQuestion:
    """A question to make answers for."""

    id: str
    question: str
    """Its text."""
    references: tuple[str, ...]
    """The right answer, then other wordings of it."""
    set: str = ""
    """Where it is from."""
    sources: tuple[Source, ...] = ()
    """Paragraphs to take wrong answers from; supporting ones first."""
    explanation: str = ""
    """An explanation that ends in the right answer, or empty."""
    candidates: tuple[Candidate, ...] = ()
    """Answers that came with it."""


async def answers_of(models: Sequence[Model], question: str, per_model: int, seed: int = 0) -> list[Candidate]:
    """Answers of several models, each text once, in the order of the models.

    Raises:
        ModelError: a model is out of reach, and the same call may succeed later; where it cannot, a model that gives
            no answer is passed over.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> models = [ScriptedModel(["In 1973.", "in 1973"], name="a"), ScriptedModel(["In 1937.", ""], name="b")]
    >>> [(one.answer, one.by) for one in asyncio.run(answers_of(models, "When did it open?", 2))]
    [('In 1973.', 'a'), ('In 1937.', 'b')]
    """
    messages = _messages(load_prompt(_PACKAGE, "prompts/rank_answer"), {"question": question})
    sampling = Sampling(most_tokens(None) or _ANSWER_TOKENS, temperature=1.0, n=per_model, seed=seed)
    found: dict[str, Candidate] = {}
    for model, said in zip(models, await all_of(_said(model, messages, sampling) for model in models), strict=True):
        for text in said:
            found.setdefault(text.lower().rstrip(". "), Candidate(text, model.name))
    return [one for key, one in found.items() if key]


class Judge:
    """Marks answers and compares them, by a reference.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> judge = Judge(ScriptedModel({"1937": "Another year. <verdict>incorrect</verdict>"}))
    >>> asyncio.run(judge.mark(RankQuestion("q", "When did it open?", ("1973",)), "In 1937."))
    ('incorrect', None)
    """

    def __init__(self, model: Model, seed: int = 0) -> None:
        self.model = model
        """What judges."""
        self._mark, self._prefer = (load_prompt(_PACKAGE, f"prompts/{name}") for name in ("rank_label", "rank_prefer"))
        self._seed = seed

    @property
    def digest(self) -> str:
        """SHA-256 of the prompts."""
        return hashlib.sha256(f"{self._mark.text}\0{self._prefer.text}".encode()).hexdigest()

    async def mark(self, asked: RankQuestion, answer: str) -> tuple[AnswerLabel, None] | tuple[None, str]:
        """How an answer stands to the reference, or why that is not known.

        Raises:
            ModelError: the model is out of reach, and the same call may succeed later.
        """
        messages = _messages(self._mark, {**_known(asked), "answer": answer})
        found = await self._asked(messages, _mark_of, mark_schema(*get_args(AnswerLabel)))
        return (None, f"the judge gave no mark: {found.advised}") if isinstance(found, Unread) else (found, None)

    async def confirm(self, asked: RankQuestion, better: str, worse: str) -> str | None:
        """None if the judge prefers ``better`` in both orders; else what speaks against it.

        Raises:
            ModelError: the model is out of reach, and the same call may succeed later.
        """
        faults = await all_of(
            self._prefers_first(asked, pair, first)
            for pair, first in (((better, worse), True), ((worse, better), False))
        )
        return next((fault for fault in faults if fault is not None), None)

    async def _prefers_first(self, asked: RankQuestion, pair: tuple[str, str], first: bool) -> str | None:
        """None if the judge prefers the first of two answers, or the second, as asked for."""
        messages = _messages(self._prefer, {**_known(asked), "answer 1": pair[0], "answer 2": pair[1]})
        places = await self._asked(messages, partial(read_places, count=2), places_schema(2))
        if isinstance(places, Unread):
            return f"the judge did not compare the answers: {places.advised}"
        if places[0] == places[1]:
            return "the judge prefers neither answer"
        return None if (places[0] < places[1]) == first else "the judge prefers the other answer"

    async def _asked(
        self, messages: Sequence[Message], read: Callable[[str], R], schema: Schema, attempt: int = 0
    ) -> R | Unread:
        """What a reply says; where it cannot be read, another one is drawn."""
        seed, temperature = self._seed + attempt, _TEMPERATURE * bool(attempt)
        sampling = Sampling(token_limit(None, schema), temperature, seed=seed, json_schema=schema)
        [found] = await ask(self.model, messages, sampling, lambda replies: read(worded(replies[-1].text)))
        last = not isinstance(found, Unread) or found.reason == "backend" or attempt + 1 == _ATTEMPTS
        return found if last else await self._asked(messages, read, schema, attempt + 1)


def _mark_of(reply: str) -> AnswerLabel:
    mark = verdict_of(reply).strip(" \t\r\n.*`'\"").lower()
    if mark not in get_args(AnswerLabel):
        raise ReplyError(f"{mark[:40]!r} is not a mark; expected one of {', '.join(get_args(AnswerLabel))}")
    return cast("AnswerLabel", mark)


def _known(asked: RankQuestion) -> dict[str, str]:
    return {
        "question": asked.question,
        "reference": " (or: ".join(asked.references) + ")" * (len(asked.references) > 1),
    }


async def _said(model: Model, messages: Sequence[Message], sampling: Sampling) -> list[str]:
    """The answers of one model; without truncated ones, and none if it fails permanently."""
    try:
        completions = await model.generate(messages, sampling)
    except ModelError as error:
        if error.can_retry:
            raise
        return []
    return [" ".join(spoken(one.text).split()) for one in completions if one.finish_reason != "length"]


def _messages(prompt: Prompt, texts: Mapping[str, str]) -> tuple[Message, Message]:
    """A prompt, then the delimited texts."""
    return Message("system", prompt.text.strip()), Message("user", delimited(texts))
