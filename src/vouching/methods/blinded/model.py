"""A language model in both roles of a blinded audit: proposer from the response, checker from the documents.

The roles never share a conversation. A list with too few questions, and answers that omit questions, are asked for once
more. Long documents are read window by window; values from different windows are shown together.

Departures: J checkers are samples of one model, as in the paper, but a single checker answers greedily.

Not supported: a second language model as judge of equality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from vouching.errors import ConfigError
from vouching.judging.ask import Replies, ReplyError, Unread, ask, unrepeated
from vouching.judging.matching import same_answer
from vouching.judging.schemas import Schema, token_limit
from vouching.judging.windows import ScreenedSources, Window, window_limit
from vouching.methods.blinded.compare import placed, sourced
from vouching.methods.blinded.prompt import (
    ask_again,
    ask_for_more,
    check_messages,
    check_schema,
    propose_messages,
    propose_schema,
    read_answers,
    read_pairs,
    says_none,
)
from vouching.methods.blinded.roles import MAX_QUESTIONS, Answered, Asked, Proposal, Samples, Scope, values_of
from vouching.models.base import Completion, Model, Sampling
from vouching.models.running import all_of
from vouching.prompts import Wording
from vouching.types import Checked, Pair, Question, Source

TEMPERATURE = 0.6
"""Of the sampling with several checkers (App. B)."""
_REPLY = 2_048
"""Tokens that are kept for the answers in the context of the model."""
_WINDOW = 60_000
"""Characters of documents per prompt."""


@dataclass(frozen=True, slots=True)
class ModelProposer:
    """A language model that asks about a response.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> proposer = ModelProposer(ScriptedModel(["- Question: How long is the bridge? [Answer: 5 km]"]))
    >>> [proposal] = asyncio.run(proposer.propose(["The bridge is 5 km long."], "numbers", 3))
    >>> proposal.pairs[0].answer, proposal.pairs[0].span.start
    ('5 km', 14)
    """

    model: Model
    max_tokens: int | None = None
    seed: int | None = None
    wording: Wording = "ours"

    async def propose(self, responses: Sequence[str], scope: Scope, least: int) -> list[Proposal]:
        """Questions about each response. Raises ModelError if the model is unreachable for now."""
        return await all_of(self._proposal(response, scope, least) for response in responses)

    async def aclose(self) -> None:
        """Release the model."""
        await self.model.aclose()

    async def _proposal(self, response: str, scope: Scope, least: int) -> Proposal:
        numbers = [value.text for value in values_of(response, scope)]

        def best(replies: Replies) -> tuple[Pair, ...]:
            lists = ([*dict.fromkeys(read_pairs(one.text))] for one in replies)
            return max((placed(pairs, response) for pairs in lists), key=len, default=())

        def read(replies: Replies) -> tuple[Pair, ...]:
            unrepeated(read_pairs(replies[-1].text))
            pairs = best(replies)
            enough = len(pairs) >= min(least, len(numbers)) and (pairs or says_none(replies[-1].text))
            if len(replies) == 1 and not enough:
                missing = [text for text in numbers if not any(same_answer(text, pair.answer) for pair in pairs)]
                raise ReplyError(ask_for_more(missing or ["what is stated"]))
            return pairs

        completions: list[Completion] = []
        sampling = _sampling(propose_schema(), self.wording, self.max_tokens, seed=self.seed)
        messages = propose_messages(response, scope, least, self.wording)
        [found] = await ask(self.model, messages, sampling, read, str, completions)
        if isinstance(found, Unread) and found.reason == "backend":
            return Proposal((), tuple(completions), found.fault)
        pairs = best(found.replies) if isinstance(found, Unread) else found
        asked = bool(pairs) or (says_none(completions[-1].text) and not numbers)
        failure = None if asked else "the reply contains no question with an answer, even after a second request"
        cut_off = any(one.finish_reason == "length" for one in completions)
        return Proposal(pairs, tuple(completions), failure, cut_off)


@dataclass(frozen=True, slots=True)
class ModelChecker:
    """A language model that answers questions from documents, ``votes`` times each.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> checker = ModelChecker(ScriptedModel(['1. Evidence: "It is 6 km long." [Answer: 6 km]']))
    >>> asked = Asked(((Question("How long is it?"),),), (Source("It is 6 km long."),))
    >>> [answered] = asyncio.run(checker.answer([asked]))
    >>> answered.samples[0][0].answers, answered.samples[0][0].places[0].start
    (('6 km',), 6)
    """

    model: Model
    votes: int = 1
    """J: answers to each question."""
    max_tokens: int | None = None
    seed: int | None = None
    max_at_once: int = MAX_QUESTIONS
    """Questions per prompt."""
    wording: Wording = "ours"

    def __post_init__(self) -> None:
        if self.votes < 1:
            raise ConfigError(f"votes must be at least 1, got {self.votes}")

    async def answer(self, asked: Sequence[Asked]) -> list[Answered]:
        """The answers to the questions. Raises ModelError if the model is unreachable for now."""
        return await all_of(self._answered(one) for one in asked)

    async def aclose(self) -> None:
        """Release the model."""
        await self.model.aclose()

    async def _answered(self, asked: Asked) -> Answered:
        evidence, completions = ScreenedSources(asked.sources), list[Completion]()
        prompt = check_messages(next(iter(asked.batches), ()), (), self.wording)
        windows = evidence.windows(await window_limit(self.model, _WINDOW, asked.sources, prompt, _REPLY))
        found = await all_of(
            self._batch(batch, windows, evidence, asked.sources, completions) for batch in asked.batches
        )
        cut_off = any(one.finish_reason == "length" for one in completions)
        return Answered(tuple(chain.from_iterable(found)), tuple(completions), cut_off)

    async def _batch(
        self,
        batch: Sequence[Question],
        windows: Sequence[Window],
        evidence: ScreenedSources,
        sources: Sequence[Source],
        completions: list[Completion],
    ) -> list[Samples | Unread]:
        read = await all_of(self._window(batch, window, completions) for window in windows)
        if not read:  # the documents are empty
            return [(Checked(),) * self.votes] * len(batch)
        broken = next((one for one in read if isinstance(one, Unread)), None)
        if broken is not None:
            return [broken] * len(batch)
        found: list[Samples | Unread] = []
        for number in range(len(batch)):
            samples = [
                [window[vote][number] for window in read if not isinstance(window, Unread)]
                for vote in range(self.votes)
            ]
            found.append(tuple(sourced(parts, evidence, sources) for parts in samples))
        return found

    async def _window(
        self, batch: Sequence[Question], window: Window, completions: list[Completion]
    ) -> list[list[Checked | None]] | Unread:
        """Each checker's answers from one window, by question; omitted ones are asked for once more."""

        def joined(replies: Replies) -> list[Checked | None]:
            found = [read_answers(reply.text, len(batch)) for reply in replies]
            return [next((one for one in several if one), None) for several in zip(*found, strict=True)]

        def read(replies: Replies) -> list[Checked | None]:
            found = joined(replies)
            missing = [number for number, one in enumerate(found, 1) if one is None]
            if missing and len(replies) == 1:
                raise ReplyError(ask_again(missing))
            return found

        temperature = TEMPERATURE if self.votes > 1 else 0.0
        schema = check_schema(len(batch))
        sampling = _sampling(schema, self.wording, self.max_tokens, temperature, self.votes, self.seed)
        messages = check_messages(batch, window, self.wording)
        found = await ask(self.model, messages, sampling, read, str, completions)
        broken = next((one for one in found if isinstance(one, Unread) and one.reason == "backend"), None)
        return broken or [joined(one.replies) if isinstance(one, Unread) else one for one in found]


def _sampling(
    schema: Schema, wording: Wording, given: int | None, temperature: float = 0.0, n: int = 1, seed: int | None = None
) -> Sampling:
    """How a role is sampled; the paper's prompts are sent without a schema."""
    enforced = schema if wording == "ours" else None
    return Sampling(token_limit(given, schema), temperature, n=n, seed=seed, json_schema=enforced)
