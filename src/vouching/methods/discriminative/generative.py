"""Answers ranked by a language model: DiVA's generative baselines (section 3.3), in our words or in prompts D.3 to D.5.

The model ranks all answers from memory or after a search, or gives each one points after a search. The search is shown
as a record and not as a conversation, since one model may search and another rank; before the printed prompts, which
speak of a preceding conversation, it is a message of its own. The last verdict in a
reply counts. A ranking must name each answer once; "=" between answers makes them tied. An invalid reply is reported
and not asked for again; DiVA's authors drop such rows. Not supported: shuffling the answers against position bias; rank
them in both orders and compare.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from vouching.embedded.verify import EmbeddedVerifier
from vouching.errors import ConfigError
from vouching.judging.ask import ReplyError, Unread, ask
from vouching.judging.delimiters import delimited, delimiter_prompt
from vouching.judging.schemas import Schema, json_fields, one_of, record, short_text, token_limit
from vouching.judging.windows import window_limit
from vouching.methods.discriminative.input import Find, gather, search_warnings, sources_of, statement
from vouching.methods.discriminative.rank import check_asked, explained, placed, usage_since
from vouching.methods.discriminative.scorer import Closable
from vouching.models.base import Completion, Message, Model, Sampling, spoken
from vouching.models.json_fields import json_object
from vouching.models.limits import most_tokens
from vouching.models.running import all_of
from vouching.prompts import Wording, check_wording, load_prompt
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
_ANSWER = re.compile(r"(?:answer)?\s*#?(\d{1,9})", re.IGNORECASE)
_POINTS = re.compile(r"(\d+(?:\.\d+)?)(?:\s*/\s*10)?\.?")


def read_places(reply: str, count: int) -> list[int]:
    """The place of each of ``count`` answers, 1 is best, in the order shown. Raises ReplyError for an invalid verdict.

    >>> read_places("Paris is right. <verdict>Answer 2 > Answer 3 > Answer 1</verdict>", 3)
    [3, 1, 2]
    >>> read_places("<verdict>Answer2 = Answer1 > Answer3</verdict>", 3)
    [1, 1, 3]
    """
    verdict = verdict_of(reply)
    places: dict[int, int] = {}
    for tied in verdict.split(">"):
        place = len(places) + 1
        for named in tied.split("="):
            found = _ANSWER.fullmatch(named.strip(" \t\r\n*.`'\""))
            if found is None:
                raise ReplyError(f"{named.strip()[:60]!r} is not the name of an answer")
            number = int(found[1])
            if number in places:
                raise ReplyError(f"answer {number} is named twice")
            places[number] = place
    if missing := sorted({*range(1, count + 1)} - {*places}):
        raise ReplyError(f"answer {missing[0]} is not named")
    if unknown := sorted({*places} - {*range(1, count + 1)}):
        raise ReplyError(f"answer {unknown[0]} is named, but there are only {count} answers")
    return [places[number] for number in range(1, count + 1)]


def read_points(reply: str) -> float:
    """The points of an answer, from 1 to 10. Raises ReplyError for an invalid verdict."""
    verdict = verdict_of(reply)
    found = _POINTS.fullmatch(verdict.strip(" \t\r\n*`'\""))
    if found is None or not 1 <= float(found[1]) <= 10:
        raise ReplyError(f"{verdict.strip()[:60]!r} is not a number from 1 to 10")
    return float(found[1])


def places_schema(count: int) -> Schema:
    """The JSON Schema of a ranking: the place of each answer; equal places are a tie."""
    places = {f"answer {number}": one_of(*range(1, count + 1)) for number in range(1, count + 1)}
    return record(explanation=short_text(_EXPLANATION), places=record(**places))


def points_schema() -> Schema:
    """The JSON Schema of an answer's points."""
    return record(explanation=short_text(_EXPLANATION), points=one_of(*range(1, 11)))


def mark_schema(*marks: str) -> Schema:
    """The JSON Schema of a mark of an answer."""
    return record(explanation=short_text(_EXPLANATION), mark=one_of(*marks))


def worded(reply: str) -> str:
    """A reply in JSON in the form that the prompt asks for; any other as it is.

    >>> worded('{"explanation": "Right.", "places": {"answer 1": 2, "answer 2": 1, "answer 3": 2}}')
    'Right. <verdict>answer 2 > answer 1 = answer 3</verdict>'
    """
    found = json_fields(reply)
    verdict = found.get("points", found.get("mark"))
    places = json_object(found.get("places"))
    if places and all(isinstance(place, int | str) for place in places.values()):
        tied: dict[str, list[str]] = {}
        for name, place in places.items():
            tied.setdefault(f"{place:>9}", []).append(name)
        verdict = " > ".join(" = ".join(names) for _, names in sorted(tied.items()))
    return reply if verdict is None else f"{found.get('explanation', '')} <verdict>{verdict}</verdict>"


def explanation_of(reply: str) -> str:
    """The text before the verdict."""
    text = spoken(reply)
    found = [*_VERDICT.finditer(text)]
    return (text[: found[-1].start()] if found else text).strip()


def is_cut(reply: str) -> bool:
    """Whether the last verdict of a reply has no closing tag, so that it may be incomplete.

    >>> is_cut("Right. <verdict>1"), is_cut("Right. <verdict>10</verdict>")
    (True, False)
    """
    found = [*_VERDICT.finditer(spoken(reply))]
    return bool(found) and not found[-1][0].lower().endswith("</verdict>")


def verdict_of(reply: str) -> str:
    """The content of the last verdict of a reply, thoughts excluded. Raises ReplyError if there is none."""
    found = [*_VERDICT.finditer(spoken(reply))]
    if not found:
        raise ReplyError("<verdict> is missing")
    return found[-1][1]


_EXPLANATION = 1_000
"""Characters of an explanation, where a server enforces the schema."""
PROMPTS: dict[RankMode, str] = {"generative": "rank", "agentic": "agentic", "points": "points"}
"""The prompt of each mode; other modes use a scorer."""
_PACKAGE = __package__ or ""
R = TypeVar("R")


@dataclass(slots=True)
class _Judged:
    """The scores of the answers that have one, and why the others have none."""

    scores: dict[int, float] = field(default_factory=dict[int, float])
    reasoning: dict[int, str] = field(default_factory=dict[int, str])
    unverified: list[Unverified] = field(default_factory=list[Unverified])
    explanation: str = ""
    invalid: str | None = None
    spent: list[Completion] = field(default_factory=list[Completion])


class GenerativeRanker:
    """Ranks by the replies of a language model.

    Args:
        model: what ranks.
        mode: "generative" (from memory), "agentic" (after a search) or "points" (1 to 10 for each, after a search).
        find: searches; None if sources come with every call.
        aligner: locates the parts of an answer in the evidence; None for the rules.
        max_tokens: maximum length of a reply; None: what the longest that its schema allows takes.
        limit: maximum characters of the search in a prompt, or what fits into the context of the model; the rest is
            omitted, with a warning.
        owned: closed together with it.
        wording: our prompts, or the paper's.

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
        max_tokens: int | None = None,
        limit: int = 24_000,
        owned: Sequence[Closable] = (),
        wording: Wording = "ours",
    ) -> None:
        check_wording(wording)
        if mode not in PROMPTS:
            raise ConfigError(f"mode {mode} requires a scorer, got the language model {model.name}")
        self.model = model
        self.mode: RankMode = mode
        self.scale: Scale = "points" if mode == "points" else "places"
        self._find = find
        self._aligner = aligner or EmbeddedVerifier()
        self._wording: Wording = wording
        self._prompt = load_prompt(_PACKAGE, f"prompts/{'paper_' * (wording == 'paper')}{PROMPTS[mode]}")
        self._max_tokens = max_tokens
        self._limit = limit
        self._owned = owned
        self.calibrator: str | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the prompt."""
        return hashlib.sha256(f"{self._prompt.text}\0{delimiter_prompt().text}".encode()).hexdigest()

    async def rank(self, question: str, answers: Sequence[str], sources: Sequence[Source] = ()) -> Ranking:
        """The answers, best first; see :meth:`~vouching.methods.discriminative.rank.Ranker.rank`."""
        started = time.perf_counter()
        check_asked(question, answers)
        searched = None if self.mode == "generative" else await gather(question, answers, sources, self._find)
        history, warnings = await self._history(question, answers, searched)
        claims = [statement(question, answer, number) for number, answer in enumerate(answers, 1)]
        ask = self._points if self.mode == "points" else self._places
        judged = await ask(question, answers, claims, history)
        found = sources_of(searched)
        ranked = [
            await explained(
                RankedAnswer(
                    n, answers[n - 1], 1, judged.scores[n], claims[n - 1], reasoning=judged.reasoning.get(n, "")
                ),
                found,
                self._aligner,
            )
            for n in sorted(judged.scores)
        ]
        return Ranking(
            question=question,
            answers=placed(ranked),
            unverified=tuple(judged.unverified),
            mode=self.mode,
            scale=self.scale,
            trajectory=searched,
            invalid=judged.invalid,
            explanation=judged.explanation,
            warnings=(*(search_warnings(searched) if searched else ()), *warnings),
            provenance=Provenance(self.model.name, __version__, prompt_hash=self.digest),
            usage=usage_since(started, searched, *judged.spent),
        )

    async def aclose(self) -> None:
        """Close the model and everything owned."""
        await all_of(one.aclose() for one in (self.model, *self._owned))

    async def _history(
        self, question: str, answers: Sequence[str], searched: Trajectory | None
    ) -> tuple[str, list[VerdictWarning]]:
        """The search as shown in a prompt: whole lines up to the limit, or as the context of the model allows."""
        if searched is None:
            return "", []
        whole, asked = history_text(searched), _named(answers)
        if self.mode == "points":
            asked = {"answer": max(answers, key=len)}
        prompt = self._messages(question, asked, "")
        limit = await window_limit(
            self.model, self._limit, [Source(whole)], prompt, most_tokens(self._max_tokens) or 1024
        )
        shown = history_text(searched, limit)
        if shown == whole:
            return whole, []
        message = f"The model was shown {len(shown):,} of {len(whole):,} characters of the search."
        return shown, [VerdictWarning("truncated", message)]

    async def _places(self, question: str, answers: Sequence[str], claims: Sequence[Claim], history: str) -> _Judged:
        judged = _Judged()
        read = partial(read_places, count=len(answers))
        places, judged.explanation = await self._ask(question, _named(answers), history, read, judged)
        if isinstance(places, Unread):
            if places.reason != "backend":
                judged.invalid = f"the reply contains no usable ranking: {places.fault}"
            judged.unverified = [_unverified(places, claim) for claim in claims]
        else:  # the score of an answer is the number of answers below it
            judged.scores = {number: float(sum(p > place for p in places)) for number, place in enumerate(places, 1)}
        return judged

    async def _points(self, question: str, answers: Sequence[str], claims: Sequence[Claim], history: str) -> _Judged:
        judged = _Judged()
        found = await all_of(self._ask(question, {"answer": one}, history, read_points, judged) for one in answers)
        for number, (claim, (points, explanation)) in enumerate(zip(claims, found, strict=True), 1):
            judged.reasoning[number] = explanation
            if isinstance(points, Unread):
                judged.unverified.append(_unverified(points, claim))
            else:
                judged.scores[number] = points
        return judged

    async def _ask(
        self, question: str, answers: dict[str, str], history: str, read: Callable[[str], R], judged: _Judged
    ) -> tuple[R | Unread, str]:
        """The result for one or several answers, and the explanation before the verdict."""
        messages = self._messages(question, answers, history)
        spent: list[Completion] = []
        schema = points_schema() if self.mode == "points" else places_schema(len(answers))
        enforced = schema if self._wording == "ours" else None
        sampling = Sampling(token_limit(self._max_tokens, schema), json_schema=enforced)
        [found] = await ask(self.model, messages, sampling, lambda replies: read(_whole(replies[-1])), spent=spent)
        judged.spent += spent
        return found, explanation_of(worded(spent[0].text)) if spent else ""

    def _messages(self, question: str, answers: dict[str, str], history: str) -> tuple[Message, ...]:
        if self._wording == "ours":
            texts = {"question": question, **answers, **({"record of the search": history} if history else {})}
            return Message("system", self._prompt.text.strip()), Message("user", delimited(texts))
        block = "\n".join(
            text if name == "answer" else f"{name.capitalize().replace(' ', '')}: {text}"
            for name, text in answers.items()
        )
        asked = Message("user", self._prompt.fill(question=question, answers_block=block).strip())
        return (Message("user", history), asked) if history else (asked,)


def _named(answers: Sequence[str]) -> dict[str, str]:
    return {f"answer {n}": text for n, text in enumerate(answers, 1)}


def _whole(reply: Completion) -> str:
    """The text of a reply. Raises ReplyError if it was cut off within its verdict."""
    if reply.finish_reason == "length" and is_cut(reply.text):
        raise ReplyError("<verdict> is not closed")
    return worded(reply.text)


def _unverified(unread: Unread, claim: Claim) -> Unverified:
    if unread.reason == "truncated":
        return unread.unverified(
            claim, "the reply was cut off before its verdict ({}): raise max_tokens (--max-tokens)"
        )
    return unread.unverified(claim, "the reply has no usable verdict: {}")
