"""Answers ranked by a language model: DiVA's generative baselines (section 3.3, prompts D.3 to D.5), in own words.

It ranks all answers from what it knows, or after a search, or gives each one points after a search. The search is shown
as a record between fences, not as the conversation that it was: who searches and who ranks may be two models. A reply
without a usable verdict is no ranking, and is not asked for again. Left out: shuffling answers against the bias for the
first; rank them twice in both orders and compare.

The last verdict in a reply counts. A ranking must name each answer once; "=" between answers makes them level. Anything
else is no ranking, which is an outcome of its own: DiVA's authors drop such rows, Vouch reports them.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from vouching.errors import ConfigError
from vouching.judging.ask import ReplyError, Unread, ask
from vouching.judging.delimiters import delimited, delimiter_prompt
from vouching.methods.discriminative.input import Find, gather, search_warnings, sources_of, statement
from vouching.methods.discriminative.rank import check_asked, explained, placed, usage_since
from vouching.methods.discriminative.scorer import Closable
from vouching.methods.embedded.verify import EmbeddedVerifier
from vouching.models.base import Completion, Message, Model, Sampling, spoken
from vouching.models.running import all_of
from vouching.prompts import load_prompt
from vouching.search.history import history_text
from vouching.types import (
    Claim,
    Provenance,
    RankedAnswer,
    Ranking,
    RankMode,
    Scale,
    Source,
    Trajectory,
    Unverified,
    VerdictWarning,
)
from vouching.version import __version__

_VERDICT = re.compile(r"<verdict>(.*?)(?:</verdict>|\Z)", re.DOTALL | re.IGNORECASE)
_ANSWER = re.compile(r"(?:answer)?\s*#?(\d+)", re.IGNORECASE)
_POINTS = re.compile(r"(\d+(?:\.\d+)?)(?:\s*/\s*10)?\.?")


def read_places(reply: str, count: int) -> list[int]:
    """The place of each answer, 1 is best, in the order in which the answers were shown.

    Args:
        reply: what the model said.
        count: how many answers there are.

    Raises:
        ReplyError: no verdict, or one that does not name each answer once.

    >>> read_places("Paris is right. <verdict>Answer 2 > Answer 3 > Answer 1</verdict>", 3)
    [3, 1, 2]
    >>> read_places("<verdict>Answer2 = Answer1 > Answer3</verdict>", 3)
    [1, 1, 3]
    """
    verdict = verdict_of(reply)
    places: dict[int, int] = {}
    for level in verdict.split(">"):
        place = len(places) + 1
        for named in level.split("="):
            found = _ANSWER.fullmatch(named.strip(" \t\r\n*.`'\""))
            if found is None:
                raise ReplyError(f"{named.strip()[:60]!r} stands where an answer should be named")
            number = int(found[1])
            if number in places:
                raise ReplyError(f"answer {number} is named twice")
            places[number] = place
    if missing := sorted({*range(1, count + 1)} - {*places}):
        raise ReplyError(f"answer {missing[0]} is not named")
    if strangers := sorted({*places} - {*range(1, count + 1)}):
        raise ReplyError(f"answer {strangers[0]} is named, but there are {count}")
    return [places[number] for number in range(1, count + 1)]


def read_points(reply: str) -> float:
    """The points that an answer gets, from 1 to 10.

    Raises:
        ReplyError: no verdict, or one that is no number from 1 to 10.

    >>> read_points("Mostly right. <verdict> 7 </verdict>")
    7.0
    """
    verdict = verdict_of(reply)
    found = _POINTS.fullmatch(verdict.strip(" \t\r\n*`'\""))
    if found is None or not 1 <= float(found[1]) <= 10:
        raise ReplyError(f"{verdict.strip()[:60]!r} is no number from 1 to 10")
    return float(found[1])


def explanation_of(reply: str) -> str:
    """What a model says before its verdict.

    >>> explanation_of("Paris is right. <verdict>Answer 1</verdict>")
    'Paris is right.'
    """
    said = spoken(reply)
    found = [*_VERDICT.finditer(said)]
    return (said[: found[-1].start()] if found else said).strip()


def is_cut(reply: str) -> bool:
    """Whether the last verdict of a reply is not closed: of one that ended too early it may be half of what was meant.

    >>> is_cut("Right. <verdict>1"), is_cut("Right. <verdict>10</verdict>")
    (True, False)
    """
    found = [*_VERDICT.finditer(spoken(reply))]
    return bool(found) and not found[-1][0].lower().endswith("</verdict>")


def verdict_of(reply: str) -> str:
    """What the last verdict of a reply holds; one that was only thought is none. Raises ReplyError if there is none.

    >>> verdict_of("I doubt it. <verdict> incorrect </verdict>")
    ' incorrect '
    """
    found = [*_VERDICT.finditer(spoken(reply))]
    if not found:
        raise ReplyError("there is no <verdict> in it")
    return found[-1][1]


PROMPTS: dict[RankMode, str] = {"generative": "rank", "agentic": "agentic", "points": "points"}
"""Which prompt each mode has; modes that are not here ask a scorer."""
_PACKAGE = __package__ or ""
R = TypeVar("R")


@dataclass(slots=True)
class _Told:
    """What a model made of the answers: a score for each that has one, and why the others have none."""

    scores: dict[int, float] = field(default_factory=dict[int, float])
    reasoning: dict[int, str] = field(default_factory=dict[int, str])
    unverified: list[Unverified] = field(default_factory=list[Unverified])
    explanation: str = ""
    invalid: str | None = None
    said: list[Completion] = field(default_factory=list[Completion])


class GenerativeRanker:
    """Ranks by what a language model says.

    Args:
        model: what ranks.
        mode: "generative" (from memory), "agentic" (after a search) or "points" (1 to 10 for each, after a search).
        find: searches; None where sources come with every call.
        aligner: writes down where the parts of an answer stand in the evidence; None takes the rules.
        max_tokens: length of a reply, in tokens.
        limit: characters of the record of the search that a prompt shows; the rest is left out, with a warning.
        owned: what is closed with it.

    Raises:
        ConfigError: a mode that asks a scorer.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> ranker = GenerativeRanker(ScriptedModel(["It was 1973. <verdict>Answer 2 > Answer 1</verdict>"]), "generative")
    >>> ranking = asyncio.run(ranker.rank("When did it open?", ["In 1937.", "In 1973."]))
    >>> [answer.text for answer in ranking.answers], ranking.explanation
    (['In 1973.', 'In 1937.'], 'It was 1973.')
    """

    def __init__(
        self,
        model: Model,
        mode: RankMode,
        *,
        find: Find | None = None,
        aligner: EmbeddedVerifier | None = None,
        max_tokens: int = 1024,
        limit: int = 24_000,
        owned: Sequence[Closable] = (),
    ) -> None:
        if mode not in PROMPTS:
            raise ConfigError(f"mode {mode} asks a scorer, got the language model {model.name}")
        self.model = model
        self.mode: RankMode = mode
        """How it ranks."""
        self.scale: Scale = "points" if mode == "points" else "places"
        """What its scores are."""
        self._find = find
        self._aligner = aligner or EmbeddedVerifier()
        self._prompt = load_prompt(_PACKAGE, f"prompts/{PROMPTS[mode]}")
        self._sampling = Sampling(max_tokens=max_tokens)
        self._limit = limit
        self._owned = owned
        self.calibrator: str | None = None
        """None: places and points are not calibrated."""

    @property
    def digest(self) -> str:
        """SHA-256 of the prompt."""
        return hashlib.sha256(f"{self._prompt.text}\0{delimiter_prompt().text}".encode()).hexdigest()

    async def rank(self, question: str, answers: Sequence[str], sources: Sequence[Source] = ()) -> Ranking:
        """The answers, best first; see :meth:`~vouching.methods.discriminative.rank.Ranker.rank`."""
        started = time.perf_counter()
        check_asked(question, answers)
        searched = None if self.mode == "generative" else await gather(question, answers, sources, self._find)
        history, warnings = self._history(searched)
        claims = [statement(question, answer, number) for number, answer in enumerate(answers, 1)]
        ask = self._points if self.mode == "points" else self._places
        told = await ask(question, answers, claims, history)
        found = sources_of(searched)
        ranked = [
            await explained(
                RankedAnswer(n, answers[n - 1], 1, told.scores[n], claims[n - 1], reasoning=told.reasoning.get(n, "")),
                found,
                self._aligner,
            )
            for n in sorted(told.scores)
        ]
        return Ranking(
            question=question,
            answers=placed(ranked),
            unverified=tuple(told.unverified),
            mode=self.mode,
            scale=self.scale,
            trajectory=searched,
            invalid=told.invalid,
            explanation=told.explanation,
            warnings=(*(search_warnings(searched) if searched else ()), *warnings),
            provenance=Provenance(self.model.name, __version__, prompt_hash=self.digest),
            usage=usage_since(started, searched, *told.said),
        )

    async def aclose(self) -> None:
        """Let go of the model, and of what is owned."""
        await all_of(one.aclose() for one in (self.model, *self._owned))

    def _history(self, searched: Trajectory | None) -> tuple[str, list[VerdictWarning]]:
        """The record of the search as a prompt shows it, whole lines up to the limit."""
        if searched is None:
            return "", []
        whole, shown = history_text(searched), history_text(searched, self._limit)
        if shown == whole:
            return whole, []
        message = f"The model was shown {len(shown):,} of {len(whole):,} characters of the search."
        return shown, [VerdictWarning("truncated", message)]

    async def _places(self, question: str, answers: Sequence[str], claims: Sequence[Claim], history: str) -> _Told:
        told = _Told()
        named = {f"answer {n}": text for n, text in enumerate(answers, 1)}
        read = partial(read_places, count=len(answers))
        places, told.explanation = await self._ask(question, named, history, read, told)
        if isinstance(places, Unread):
            if places.reason != "backend":
                told.invalid = f"the reply ranks nothing: {places.fault}"
            told.unverified = [_unverified(places, claim) for claim in claims]
        else:  # The score of a place is the number of answers below it.
            told.scores = {number: float(sum(p > place for p in places)) for number, place in enumerate(places, 1)}
        return told

    async def _points(self, question: str, answers: Sequence[str], claims: Sequence[Claim], history: str) -> _Told:
        told = _Told()
        found = await all_of(self._ask(question, {"answer": one}, history, read_points, told) for one in answers)
        for number, (claim, (points, explanation)) in enumerate(zip(claims, found, strict=True), 1):
            told.reasoning[number] = explanation
            if isinstance(points, Unread):
                told.unverified.append(_unverified(points, claim))
            else:
                told.scores[number] = points
        return told

    async def _ask(
        self, question: str, answers: dict[str, str], history: str, read: Callable[[str], R], told: _Told
    ) -> tuple[R | Unread, str]:
        """What the model says about one or several answers, and what it says before its verdict."""
        texts = {"question": question, **answers, **({"record of the search": history} if history else {})}
        messages = Message("system", self._prompt.text.strip()), Message("user", delimited(texts))
        said: list[Completion] = []
        [found] = await ask(self.model, messages, self._sampling, lambda replies: read(_whole(replies[-1])), said=said)
        told.said += said
        return found, explanation_of(said[0].text) if said else ""


def _whole(said: Completion) -> str:
    """The reply. Raises ReplyError where it was cut off within its verdict."""
    if said.finish_reason == "length" and is_cut(said.text):
        raise ReplyError("the verdict is not closed")
    return said.text


def _unverified(unread: Unread, claim: Claim) -> Unverified:
    if unread.reason == "truncated":
        return unread.unverified(claim, "the reply was cut off before its verdict ({}): raise max_tokens")
    return unread.unverified(claim, "the reply has no usable verdict: {}")
