"""Decision models as judges: one request about a text has all claims about it as questions.

A question is yes or no, or a choice of supported, contradicted and not found, which has to be an option since these
models always answer. Score, reason and relation are those of the window with the highest probability of support; a
failure in any window leaves the claim Unverified. Each claim is judged alone, and its id is not shown. What a server
finds too long is divided, between sentences of the sources or between questions, whichever are longer; a claim that
fits with no part of them is Unverified. Not supported: questions about images.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from vouching.judging.ask import ReplyError, Unread, ask
from vouching.judging.windows import ScreenedSources, Window, halves, window_limit
from vouching.methods.discriminative.input import Shown
from vouching.methods.discriminative.scorer import NO_EVIDENCE, Candidate, Reads, Scored, ScoreOutcome
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.decision_shapes import Json, answers_of, is_refusal, probabilities
from vouching.models.decisions import DecisionName
from vouching.models.json_fields import json_count, json_object, read_json
from vouching.models.running import all_of
from vouching.prompts import load_prompt
from vouching.text.json_values import parse_json
from vouching.types import Relation, Scale, Source, Unverified, Usage, VerdictWarning, total_usage

WINDOW = 90_000
"""Characters of the sources in one request: about 30,000 tokens."""
_SUPPORT = {"predicate": "true", "relation": "supported"}
_DENSEST = 8
"""Letters of a token on average, at most; text with more per token was not read whole."""
_MOVES = "latest"
"""The end of a name that means another model from time to time."""


@dataclass(frozen=True, slots=True)
class _Answered:
    """What one reply says of a claim."""

    options: dict[str, float]
    """Probability of each option."""
    by: str
    """The model that answered, as the server names it; empty if it does not."""
    cut: bool
    """Whether the server read less than it was sent."""


_Answers: TypeAlias = list[_Answered | Unread]
"""What is said of one claim by each window."""


class DecisionScorer:
    """A scorer on a decision model.

    Args:
        name: as on the command line, see :class:`vouching.models.decisions.DecisionName`.
        model: where it runs, with the wrappers that it needs.
        window: characters of the sources in one request, at most.

    Raises ConfigError for a malformed name.
    """

    scale: Scale = "unit"
    reads: Reads = "passages"
    shown: Shown | None = None
    one_request = True

    def __init__(self, name: str, model: Model, window: int = WINDOW) -> None:
        parts = DecisionName.parse(name)
        self.name, self._model, self._limit = name, model, window
        self._most, self._asked_for = parts.provider.most, parts.model
        self._prompt = load_prompt(f"{__package__}.prompts", f"decision_{parts.ask}")
        task, *options = self._prompt.text.strip().splitlines()
        self._task, self._criteria = task, dict(line.split(": ", 1) for line in options)
        self._support = _SUPPORT[parts.ask]

    def digest(self, shown: Shown, question: bool = True) -> str:
        """SHA-256 of the prompt, with the question of an answer or without."""
        return f"{self._prompt.digest}{' question' * question}"

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoreOutcome]:
        """The probability of each; Unverified without sources, or where the model gave no distribution.

        Raises ModelError if the model is out of reach, and the same call may succeed later.
        """
        together: dict[tuple[tuple[Source, ...], str], list[int]] = {}
        for place, one in enumerate(candidates):
            together.setdefault((one.sources, one.question), []).append(place)
        groups = [[candidates[place] for place in places] for places in together.values()]
        found = await all_of(self._score(group) for group in groups)
        order = [place for places in together.values() for place in places]
        outcomes = dict(zip(order, chain.from_iterable(found), strict=True))
        return [outcomes[place] for place in range(len(candidates))]

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()

    async def _score(self, group: Sequence[Candidate]) -> list[ScoreOutcome]:
        """Outcomes of claims about the same sources; the first has the cost of all."""
        evidence = ScreenedSources(group[0].sources)
        if evidence.empty:
            return [Unverified(one.claim, "no_evidence", NO_EVIDENCE) for one in group]
        spent: list[Completion] = []
        limit = await window_limit(self._model, self._limit, group[0].sources, [self._request((), group)], 0)
        read = await all_of(self._read(window, group, spent) for window in evidence.windows(limit))
        costs = [total_usage(spent), *(Usage() for _ in group[1:])]
        answers = ([*chain.from_iterable(of_one)] for of_one in zip(*read, strict=True))
        return [self._outcome(one, found, cost) for one, found, cost in zip(group, answers, costs, strict=True)]

    async def _read(self, window: Window, group: Sequence[Candidate], spent: list[Completion]) -> list[_Answers]:
        """What is said of each claim by one window, in as many requests as the server's limit on questions requires."""
        parts = [group[start : start + self._most] for start in range(0, len(group), self._most)]
        return [*chain.from_iterable(await all_of(self._ask(window, part, spent) for part in parts))]

    async def _ask(self, window: Window, group: Sequence[Candidate], spent: list[Completion]) -> list[_Answers]:
        """One request, or those for its parts if it does not fit; a claim without an answer is not asked again."""
        request = self._request(window, group)

        def read(replies: Sequence[Completion]) -> list[_Answered | Unread]:
            answers = read_answers(parse_json(request.content), replies[-1].text)
            return [replace(one, replies=replies) if isinstance(one, Unread) else one for one in answers]

        [found] = await ask(self._model, [request], Sampling(), read, spent=spent)
        if not isinstance(found, Unread):
            return [[one] for one in found]
        if not found.too_long:
            return [[found] for _ in group]
        mostly_sources = 2 * sum(len(excerpt.text) for excerpt in window) > len(request.content)
        parts = halves(window) if mostly_sources or len(group) == 1 else None
        if parts is None and len(group) > 1:
            middle = len(group) // 2
            return [one for half in (group[:middle], group[middle:]) for one in await self._ask(window, half, spent)]
        if parts is None:
            fault = f"{found.fault}; send a shorter claim, or choose a model with a longer context"
            return [[replace(found, fault=fault)]]
        answers = await self._ask(parts[0], group, spent)
        answered = [place for place, ones in enumerate(answers) if not any(isinstance(one, Unread) for one in ones)]
        more = await self._ask(parts[1], [group[place] for place in answered], spent) if answered else []
        for place, ones in zip(answered, more, strict=True):
            answers[place] += ones
        return answers

    def _request(self, window: Window, group: Sequence[Candidate]) -> Message:
        sources = [
            {"id": f"source-{one.number}", **({"title": one.title} if one.title else {}), "text": one.text}
            for one in window
        ]
        question = group[0].question.strip()
        kind = "noul" if "true" in self._criteria else "choice"
        questions = {
            f"c{number}": {
                "type": kind,
                "instructions": {"task": self._task, "claim": one.claim.text},
                "criteria": self._criteria,
            }
            for number, one in enumerate(group, 1)
        }
        state = {"sources": sources, **({"question": question} if question else {})}
        return Message("user", json.dumps({"state": state, "questions": questions}, ensure_ascii=False))

    def _outcome(self, one: Candidate, found: Sequence[_Answered | Unread], usage: Usage) -> ScoreOutcome:
        answers: list[_Answered] = []
        for answer in found:
            if isinstance(answer, Unread):
                return replace(answer.unverified(one.claim, f"{self.name}: {{}}"), usage=usage)
            answers.append(answer)
        best = max(answers, key=lambda answer: answer.options[self._support])
        against: Relation | None = None
        if "contradicted" in best.options:
            against = max(("contradicted", "not_found"), key=best.options.__getitem__)
        value = best.options[self._support]
        if against and value == 0.5:  # of three options, one half is not more likely than not
            value = math.nextafter(value, 0.0)
        reason = ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in best.options.items())
        return Scored(
            value,
            self._warnings(answers, best.by),
            usage=usage,
            reason=reason if against else "",
            relation=against,
            answered_by=best.by,
        )

    def _warnings(self, answers: Sequence[_Answered], by: str) -> tuple[VerdictWarning, ...]:
        notes: list[VerdictWarning] = []
        if any(answer.cut for answer in answers):
            message = "The server counted far fewer tokens than the request has: it may have cut it off."
            notes.append(VerdictWarning("truncated", message))
        if self._asked_for.endswith(_MOVES):
            now = f" ({by} today)" if by and by != self._asked_for else ""
            message = f"{self._asked_for} names another model from time to time{now}: name a version for equal scores."
            notes.append(VerdictWarning("unpinned", message))
        return tuple(notes)


def read_answers(asked: Json, text: str) -> list[_Answered | Unread]:
    """What a reply says of each question. Raises ReplyError for a reply without answers."""
    try:
        reply = json_object(read_json(text))
        answers = answers_of(reply)
    except ValueError as error:
        raise ReplyError(str(error)) from None
    by = reply.get("model") if isinstance(reply.get("model"), str) else ""
    tokens = json_count(json_object(reply.get("usage")).get("input_tokens"))
    sent = len("".join(json.dumps(asked, ensure_ascii=False).split()))
    found: list[_Answered | Unread] = []
    for name, question in asked["questions"].items():
        try:
            options = probabilities(question, answers.get(name))
            found.append(_Answered(options, str(by), tokens is not None and sent > _DENSEST * tokens))
        except ValueError as error:
            found.append(Unread("refused" if is_refusal(answers.get(name)) else "unparsable", str(error)))
    return found
