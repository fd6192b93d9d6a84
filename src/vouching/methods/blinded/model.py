"""A language model in both roles of a blinded audit: it proposes from the response, and it answers from the documents.

The two never share a conversation. A list with too few questions, and answers that leave questions out, are asked for
once more. Long documents are read window by window; values of different windows stand side by side. Departures from
the paper: J checkers are samples of one model, as there, but one answers greedily. Left out: a second language model
as judge of equality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from vouching.errors import ConfigError, ModelError
from vouching.judging.matching import same_answer
from vouching.judging.values import find_values
from vouching.judging.windows import ScreenedSources, Window
from vouching.methods.blinded.prompt import ask_again, ask_for_more, check_messages, propose_messages
from vouching.methods.blinded.reply import read_answers, read_pairs, says_none
from vouching.methods.blinded.roles import Answered, Proposal, Samples, Scope, values_of
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.running import all_of
from vouching.text.locate import locate
from vouching.types import Checked, Pair, Question, Source, Span

TEMPERATURE = 0.6
"""Of the sampling with several checkers (App. B)."""
_WINDOW = 60_000
"""Characters of documents in one prompt."""


@dataclass(frozen=True, slots=True)
class ModelProposer:
    """Lets a language model ask about a response.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> proposer = ModelProposer(ScriptedModel(["- Question: How long is the bridge? [Answer: 5 km]"]))
    >>> [pair] = asyncio.run(proposer.propose("The bridge is 5 km long.", "numbers", 3)).pairs
    >>> pair.answer, pair.span.start
    ('5 km', 14)
    """

    model: Model
    """What asks."""
    max_tokens: int = 2_048
    """Length of the list, in tokens."""
    seed: int | None = None
    """Of the sampling."""

    async def propose(self, response: str, scope: Scope, least: int) -> Proposal:
        """Questions about the response; see :class:`~vouching.methods.blinded.roles.Proposer`.

        Raises:
            ModelError: the model gave no usable answer.
        """
        messages = propose_messages(response, scope, least)
        numbers = [value.text for value in values_of(response, scope)]
        said = [await self._said(messages)]
        pairs = read_pairs(said[0].text)
        if len(pairs) < min(least, len(numbers)) or not (pairs or says_none(said[0].text)):
            missing = [text for text in numbers if not any(same_answer(text, pair.answer) for pair in pairs)]
            said.append(await self._said((*messages, *ask_for_more(said[0].text, missing or ["what is stated"]))))
            pairs = max(pairs, read_pairs(said[1].text), key=len)
        cut_off = any(one.finish_reason == "length" for one in said)
        asked = bool(pairs) or (says_none(said[-1].text) and not numbers)
        failure = None if asked else "the reply holds no question with an answer, nor does a second one"
        return Proposal(_placed(pairs, response), tuple(said), failure, cut_off)

    async def aclose(self) -> None:
        """Let go of the model."""
        await self.model.aclose()

    async def _said(self, messages: Sequence[Message]) -> Completion:
        [said] = await self.model.generate(messages, Sampling(self.max_tokens, seed=self.seed))
        return said


@dataclass(frozen=True, slots=True)
class ModelChecker:
    """Lets a language model answer questions from documents, ``votes`` times each.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> checker = ModelChecker(ScriptedModel(['1. Evidence: "It is 6 km long." [Answer: 6 km]']))
    >>> answered = asyncio.run(checker.answer([[Question("How long is it?")]], [Source("It is 6 km long.")]))
    >>> answered.samples[0][0].answers, answered.samples[0][0].places[0].start
    (('6 km',), 6)
    """

    model: Model
    """What answers."""
    votes: int = 1
    """J: how many answers to each question."""
    max_tokens: int = 2_048
    """Length of a reply, in tokens."""
    seed: int | None = None
    """Of the sampling."""
    most_at_once: int = 20
    """How many questions go into one prompt."""

    def __post_init__(self) -> None:
        if self.votes < 1:
            raise ConfigError(f"votes must be at least 1, got {self.votes}")

    async def answer(self, batches: Sequence[Sequence[Question]], sources: Sequence[Source]) -> Answered:
        """The answers to each question; see :class:`~vouching.methods.blinded.roles.BlindChecker`.

        Raises:
            ModelError: the model is out of reach, and the same call may succeed later.
        """
        evidence = ScreenedSources(sources)
        windows, said = evidence.windows(_WINDOW), list[Completion]()
        answered = await all_of(self._batch(batch, windows, evidence, said) for batch in batches)
        cut_off = any(one.finish_reason == "length" for one in said)
        return Answered(tuple(chain.from_iterable(answered)), tuple(said), cut_off)

    async def aclose(self) -> None:
        """Let go of the model."""
        await self.model.aclose()

    async def _batch(
        self, batch: Sequence[Question], windows: Sequence[Window], evidence: ScreenedSources, said: list[Completion]
    ) -> list[Samples | ModelError]:
        try:
            read = await all_of(self._window(batch, window, said) for window in windows)
        except ModelError as error:
            if error.can_retry:
                raise
            return [error] * len(batch)
        if not read:  # the documents are empty
            return [(Checked(),) * self.votes] * len(batch)
        found: list[Samples | ModelError] = []
        for number in range(len(batch)):
            samples = [[window[vote][number] for window in read] for vote in range(self.votes)]
            found.append(tuple(_joined(parts, evidence) for parts in samples))
        return found

    async def _window(
        self, batch: Sequence[Question], window: Window, said: list[Completion]
    ) -> list[list[Checked | None]]:
        """What each checker finds in one window, question by question."""
        messages = check_messages(batch, window)
        temperature = TEMPERATURE if self.votes > 1 else 0.0
        sampling = Sampling(self.max_tokens, temperature, n=self.votes, seed=self.seed)
        replies = await self.model.generate(messages, sampling)
        said += replies
        return await all_of(self._read(reply, batch, messages, sampling, said) for reply in replies)

    async def _read(
        self,
        reply: Completion,
        batch: Sequence[Question],
        messages: tuple[Message, ...],
        sampling: Sampling,
        said: list[Completion],
    ) -> list[Checked | None]:
        """The answers of a reply; those that it leaves out are asked for once more."""
        found = read_answers(reply.text, len(batch))
        missing = [number for number, one in enumerate(found, 1) if one is None]
        if not missing:
            return found
        again = (*messages, *ask_again(reply.text, missing))
        [second] = await self.model.generate(again, replace(sampling, n=1))
        said.append(second)
        late = read_answers(second.text, len(batch))
        return [one or other for one, other in zip(found, late, strict=True)]


def _placed(pairs: Sequence[Pair], response: str) -> tuple[Pair, ...]:
    """The pairs with the places of their answers, each value of the response given to one of them, in order."""
    values = list(find_values(response))
    placed: list[Pair] = []
    for pair in pairs:
        value = next((one for one in values if same_answer(one.text, pair.answer)), None)
        if value is not None:
            values.remove(value)
            placed.append(replace(pair, span=Span(value.text, value.start, value.end)))
            continue
        found = locate(pair.answer, response)
        span = Span(response[found.start : found.end], found.start, found.end) if found else None
        placed.append(replace(pair, span=span))
    return tuple(placed)


def _joined(parts: Sequence[Checked | None], evidence: ScreenedSources) -> Checked | None:
    """What one checker found in all windows, with its places; None if it could be read in none."""
    read = [part for part in parts if part is not None]
    if not read:
        return None
    answers: list[str] = []
    places: list[Span] = []
    for part in read:
        for answer in part.answers:
            if any(same_answer(answer, other) for other in answers):
                continue
            answers.append(answer)
            place = _place(answer, part.evidence, evidence)
            places += [place] if place else []
    # Places stand for the answers one by one; where one is unknown, none is told.
    shown = tuple(places) if len(places) == len(answers) else ()
    return Checked(tuple(answers), shown, " … ".join(part.evidence for part in read if part.evidence))


def _place(answer: str, quote: str, evidence: ScreenedSources) -> Span | None:
    """Where the documents have an answer: inside the quoted words, or these as a whole."""
    whole = evidence.find(quote) if quote else None
    if whole is None:
        return evidence.find(answer)
    inside = locate(answer, whole.text)
    if inside is None:
        return whole
    start, end = whole.start + inside.start, whole.start + inside.end
    return Span(whole.text[inside.start : inside.end], start, end, whole.source_id)


__all__ = ["TEMPERATURE", "ModelChecker", "ModelProposer"]
