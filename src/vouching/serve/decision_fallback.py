"""The decision model that answers a client's questions which are not about a claim, within the time of a request."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from vouching.errors import ConfigError, ModelAnswerError
from vouching.models.base import Completion, Message, Sampling
from vouching.models.decision_shapes import Json, answers_of, probabilities
from vouching.models.json_fields import json_object, read_json
from vouching.models.running import all_of
from vouching.serve.decision_forms import answer_of
from vouching.serve.work import too_late
from vouching.types import Usage, total_usage


@dataclass(frozen=True, slots=True)
class FallbackAnswers:
    """What the fallback says of some questions."""

    model: str
    """What answered, as its server names it; else the name of the fallback."""
    answers: dict[str, Any]
    """By the name of the question: an answer in the form of System One, or why there is none."""
    usage: Usage
    """The cost of all requests."""


class Fallback:
    """The decision model of ``serve.decisions_fallback``.

    Args:
        name: as in ``vouching.models.decision_shapes.FORM``.
        seconds: for all replies that one request of a client requires.

    Raises ConfigError for a malformed name, or without the key of a provider.
    """

    def __init__(self, name: str, seconds: float) -> None:
        from vouching.models.decisions import DecisionName
        from vouching.models.open import open_model

        self._most = DecisionName.parse(name).provider.most
        self._model, self._seconds = open_model(name), seconds

    async def answers(self, state: Any, questions: dict[str, Json]) -> FallbackAnswers:
        """An answer to each question, or why there is none, in as many requests as the provider's limit requires.

        Raises ModelAnswerError for a reply without answers, and where the settings of the fallback are wrong;
        ModelDeadlineError after the seconds; and as models do.
        """
        asked = [*questions.items()]
        parts = [dict(asked[start : start + self._most]) for start in range(0, len(asked), self._most)]
        try:
            async with asyncio.timeout(self._seconds):
                read = await all_of(self._ask(state, part) for part in parts)
        except TimeoutError:
            raise too_late(self._seconds) from None
        answers = {name: answer for _, _, found in read for name, answer in found.items()}
        return FallbackAnswers(read[0][0], answers, total_usage([said for _, said, _ in read]))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._model.aclose()

    async def _ask(self, state: Any, questions: dict[str, Json]) -> tuple[str, Completion, dict[str, Any]]:
        """One request: what answered, the reply, and what it says of each question."""
        request = Message("user", json.dumps({"state": state, "questions": questions}, ensure_ascii=False))
        try:
            [said] = await self._model.generate([request], Sampling())
            reply = json_object(read_json(said.text))
            given, answers = answers_of(reply), dict[str, Any]()
        except (ConfigError, ValueError) as error:
            raise ModelAnswerError(f"{self._model.name}, which answers other questions, failed: {error}") from None
        by = model if isinstance(model := reply.get("model"), str) and model else self._model.name
        for name, question in questions.items():
            try:
                answer = answer_of(question, probabilities(question, given.get(name)))
                answers[name] = {**answer, "x_vouch_answered_by": by}
            except ValueError as error:
                answers[name] = f"{self._model.name}, question {name}: {error}"
        return by, said, answers
