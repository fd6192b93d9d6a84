"""A response verified item by item: J votes of a language model on each question of a checklist (Soft-RLVR, 2.3).

The checklist is given, or made from the instruction. An item that names a rule is decided by it, exactly and once; the
others are put to whoever votes, all at the same time: a language model, or a policy that judges itself in a game. A
model's reply that is no answer is asked for once more; then it is no vote for yes. Where more than half of the votes on
an item are no answers, or the model refuses, the judge has failed and the item is Unverified. Holistic verification
(Eq. 3), one question about the whole response, stands beside it with the same votes, so that both can be measured on
the same completions. Departures from the paper: own prompts, with "unclear" as a third answer and, on request, a reason
and the words that decide. Left out: a response cut to fit a prompt, and sentences of a response withheld because they
address the judge; here they are what is judged.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from vouching.errors import ConfigError, InputError
from vouching.judging.ask import Replies, ReplyError, Unread, ask
from vouching.judging.votes import Aggregate, check_aggregate, judgment, vote_share
from vouching.methods.checklist.lint import encoder_nearness
from vouching.methods.checklist.make import ChecklistMaker
from vouching.methods.checklist.prompt import ask_again, item_messages, prompt_digest, whole_messages
from vouching.methods.checklist.reply import ItemAnswer, read_answer
from vouching.methods.rules.verify import item_result
from vouching.models.base import Completion, Model, Sampling
from vouching.models.running import all_of
from vouching.text.locate import locate
from vouching.types import (
    ChecklistItem,
    Claim,
    ItemResult,
    Report,
    Source,
    Span,
    Totals,
    Unverified,
    VerdictWarning,
    total_usage,
)

WHOLE = "Does the response fulfil the whole instruction?"
"""The one item of holistic verification, as a report names it."""
_BLANK = "The response is blank."


@dataclass(frozen=True, slots=True)
class ChecklistConfig:
    """How items are put to the model. Raises ConfigError for a value out of range."""

    threshold: float = 0.5
    """tau: what the votes on an item must come to for it to pass, in (0, 1]."""
    votes: int = 1
    """J: answers to each question, at least 1."""
    aggregate: Aggregate = "threshold"
    """How votes become a judgment."""
    temperature: float = 0.7
    """Of the sampling with several votes; a single answer is greedy."""
    seed: int | None = None
    """Of the sampling."""
    max_tokens: int = 1024
    """Length of a reply, in tokens; a model that thinks needs more."""
    reasons: bool = False
    """Whether a reason and the words that decide are asked for; longer replies, and other ones."""
    holistic: bool = False
    """Whether :meth:`ChecklistVerifier.verify` asks one question about the whole instead of going item by item."""

    def __post_init__(self) -> None:
        check_aggregate(self.threshold, self.aggregate)
        for name in ("votes", "max_tokens"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class Put:
    """A question put about a response."""

    instruction: str
    """What the response answers."""
    response: str
    """What is judged."""
    question: str | None = None
    """The item; None asks about the whole."""
    sources: tuple[Source, ...] = ()
    """Texts that came with the instruction."""


@dataclass(frozen=True, slots=True)
class Voted:
    """What came back."""

    answers: tuple[ItemAnswer | None, ...] = ()
    """J; None for one that is no answer."""
    said: tuple[Completion, ...] = ()
    """What a language model wrote, for its cost."""
    failure: Unread | None = None
    """Why there is no judgment, where a judge failed."""


@runtime_checkable
class Voter(Protocol):
    """Answers questions about responses, J times each."""

    async def vote(self, put: Sequence[Put]) -> list[Voted]:
        """The answers to each question; all of a call are under way at the same time."""
        ...

    async def aclose(self) -> None:
        """Let go of the model."""
        ...


@dataclass(frozen=True, slots=True)
class ModelVoter:
    """A language model that votes; where more than half of its replies to a question are no answers, it has failed."""

    model: Model
    """What votes."""
    config: ChecklistConfig
    """How it is asked."""

    async def vote(self, put: Sequence[Put]) -> list[Voted]:
        """The answers to each question.

        Raises:
            ModelError: the model is out of reach, and the same call may succeed later.
        """
        return await all_of(map(self._voted, put))

    async def aclose(self) -> None:
        """Let go of the model."""
        await self.model.aclose()

    async def _voted(self, put: Put) -> Voted:
        config, form = self.config, "reason" if self.config.reasons else "word"
        asked = (
            whole_messages(put.instruction, put.response, form, put.sources)
            if put.question is None
            else item_messages(put.instruction, put.response, put.question, form, put.sources)
        )
        temperature = config.temperature if config.votes > 1 else 0.0
        sampling = Sampling(config.max_tokens, temperature, n=config.votes, seed=config.seed)
        said: list[Completion] = []
        found = await ask(self.model, asked, sampling, _read, lambda _: ask_again(), said)
        unread = [one for one in found if isinstance(one, Unread)]
        failure = next((one for one in unread if one.reason == "backend"), None)
        if failure is None and 2 * len(unread) > len(found):
            cut = any(one.reason == "truncated" and len(one.replies) == 1 for one in unread)
            more = ": allow more by max_tokens (--max-tokens)" if cut else ", nor are those to a second question"
            message = f"{len(unread)} of {len(found)} replies are neither yes, no nor unclear{more}"
            failure = Unread("truncated" if cut else "unparsable", message)
        answers = tuple(None if isinstance(one, Unread) else one for one in found)
        return Voted(answers, tuple(said), failure)


class ChecklistVerifier:
    """Verifies whole responses against the instruction they answer.

    Args:
        model: a language model that votes, or whoever else does.
        config: how it is asked.
        items: the checklist for every response; None makes one from each instruction.
        maker: makes checklists; None lets the same model do it.

    Raises:
        ConfigError: items, but not a single one.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> items = [ChecklistItem("Is it a bridge?"), ChecklistItem("Is it in Japan?")]
    >>> verifier = ChecklistVerifier(ScriptedModel({"Is it a bridge": "yes", "in Japan?": "no"}), items=items)
    >>> report = asyncio.run(verifier.verify("Name a bridge in Japan.", "Tower Bridge."))
    >>> [finding.passed for finding in report.findings], report.score
    ([True, False], 0.5)
    """

    def __init__(
        self,
        model: Model | Voter,
        config: ChecklistConfig | None = None,
        items: Sequence[ChecklistItem] | None = None,
        maker: ChecklistMaker | None = None,
    ) -> None:
        if items is not None and not items:
            raise ConfigError("the checklist has no items: give at least one, or none at all to have it made")
        self.config = config or ChecklistConfig()
        self._items = None if items is None else tuple(items)
        self._voter: Voter = model if isinstance(model, Voter) else ModelVoter(model, self.config)
        self._maker = maker if maker or isinstance(model, Voter) else ChecklistMaker(model, self.config.seed or 0)

    @property
    def decoding(self) -> dict[str, str | float | None]:
        """How it asks: what the record of a run needs so that the same can be asked again."""
        config = self.config
        return {
            "method": "holistic" if config.holistic else "checklist",
            "votes": config.votes,
            "aggregate": config.aggregate,
            "temperature": config.temperature if config.votes > 1 else 0.0,
            "max_tokens": config.max_tokens,
            "seed": config.seed,
            "reasons": config.reasons,
            "prompt": prompt_digest("reason" if config.reasons else "word"),
        }

    async def verify(
        self,
        question: str | None,
        response: str,
        sources: Sequence[Source] = (),
        items: Sequence[ChecklistItem] | None = None,
    ) -> Report:
        """The report on a response: a finding for each item, in order.

        Args:
            question: the instruction, or the conversation, that it answers.
            response: what is judged, in any language.
            sources: texts that came with the instruction.
            items: the checklist for this response; None takes the verifier's own.

        Returns:
            ``score`` is the soft score, the mean judgment; None if the judge failed on an item. Faults of a checklist
            that was made are warnings. Without a checklist that can be used the one finding is an Unverified.

        Raises:
            InputError: no instruction, no response, or no items.
            ModelError: the model is out of reach, and the same call may succeed later.
            ConfigError: the model cannot be used at all.
        """
        if question is None or not question.strip():
            raise InputError("a checklist judges a response by its instruction: pass it (--instruction)")
        if not response.strip():
            raise InputError("the response is empty: got no text, wanted an answer to judge")
        if items is not None and not items:
            raise InputError("the checklist has no items: give at least one, or none at all to have it made")
        started = time.perf_counter()
        chosen, warnings, made = items or self._items, list[VerdictWarning](), list[Completion]()
        if not chosen and not self.config.holistic:
            if self._maker is None:
                raise InputError("there is no checklist, and nobody to make one: give at least one item")
            new = await self._maker.make(question)
            made += new.said
            if new.checklist is None:
                why = "; ".join(map(str, new.faults))
                failed = Unverified(Claim(question, id="checklist"), "unparsable", f"no checklist was made: {why}")
                report = _report(question, response, sources, [failed], self.config, made)
                return replace(report, usage=replace(report.usage, seconds=time.perf_counter() - started))
            chosen = new.checklist.items
            warnings = [VerdictWarning("checklist", _sentence(str(fault))) for fault in new.faults]
        [report] = await self.verify_all([(question, response, chosen or ())], sources)
        spent = total_usage([*made, report])
        return replace(report, warnings=tuple(warnings), usage=replace(spent, seconds=time.perf_counter() - started))

    async def verify_all(
        self, answers: Sequence[tuple[str, str, Sequence[ChecklistItem]]], sources: Sequence[Source] = ()
    ) -> list[Report]:
        """The reports on several responses, each with its instruction and its items; who votes is asked once for all.

        A response without a word passes nothing and is shown to nobody; it is data here, not wrong input.

        Raises:
            ModelError: as for :meth:`verify`.
        """
        put = [
            Put(instruction, response, item.text if item else None, tuple(sources))
            for instruction, response, items in answers
            for item in self._asked(response, items)
        ]
        voted = iter(await self._voter.vote(put))
        reports: list[Report] = []
        for instruction, response, items in answers:
            findings: list[ItemResult | Unverified] = []
            said: list[Completion] = []
            for number, item in enumerate((None,) if self.config.holistic else items, 1):
                if not response.strip():
                    findings.append(ItemResult(item.text if item else WHOLE, (False,), 0.0, False, _BLANK))
                elif item is not None and item.rule is not None:
                    findings.append(item_result(item, response))
                else:
                    found = next(voted)
                    said += found.said
                    findings.append(self._result(item.text if item else WHOLE, number, found, response))
            reports.append(_report(instruction, response, sources, findings, self.config, said))
        return reports

    async def aclose(self) -> None:
        """Let go of the models."""
        await self._voter.aclose()
        if self._maker is not None:
            await self._maker.aclose()

    def _asked(self, response: str, items: Sequence[ChecklistItem]) -> Sequence[ChecklistItem | None]:
        """What is put to who votes; None is the whole."""
        if not response.strip():
            return ()
        return (None,) if self.config.holistic else asked_items(items)

    def _result(self, question: str, number: int, found: Voted, response: str) -> ItemResult | Unverified:
        if found.failure is not None:
            return found.failure.unverified(Claim(question, id=f"item-{number}"))
        config, answers = self.config, found.answers
        votes = tuple(None if answer is None else answer.vote for answer in answers)
        passed = judgment(votes, config.threshold, config.aggregate) >= config.threshold
        # Who was outvoted explains nothing; where nobody said no, the unclear ones do.
        side = [True] if passed else [False, None]
        speaking = [one for vote in side for one in answers if one is not None and one.vote is vote]
        spans = [span for one in speaking if (span := _found(one.quote, response)) is not None]
        reason = next((one.reason for one in speaking if one.reason), "")
        return ItemResult(question, votes, vote_share(votes), passed, reason, spans[0] if spans else None)


def asked_items(items: Sequence[ChecklistItem]) -> tuple[ChecklistItem, ...]:
    """The items that are put to who votes: those that no rule decides.

    >>> asked_items([ChecklistItem("Is it red?"), ChecklistItem("No commas.", "punctuation:no_comma")])[0].text
    'Is it red?'
    """
    return tuple(item for item in items if item.rule is None)


def open_checklist(
    model: str | Model, config: ChecklistConfig | None = None, items: Sequence[ChecklistItem] | None = None
) -> ChecklistVerifier:
    """The verifier for a language model by its name, with the shipped encoder for the lint of lists that are made.

    Args:
        model: the model, or its name; see :func:`vouching.models.open.open_model`.
        config: how it is asked.
        items: the checklist for every response; None makes one from each instruction.

    Raises:
        ConfigError: a wrong name, or items, but not a single one.
    """
    if isinstance(model, str):
        from vouching.models.open import open_model

        if model.startswith("embedded"):
            raise ConfigError(
                f"items are put to a language model, got {model}: add --model, such as http://localhost:8000/v1#name, "
                "or take --method rules, which needs none"
            )
        model = open_model(model)
    maker = ChecklistMaker(model, (config.seed if config else None) or 0, nearness=encoder_nearness())
    return ChecklistVerifier(model, config, items, maker)


def soft_share(findings: Sequence[ItemResult | Unverified], config: ChecklistConfig) -> float | None:
    """The mean judgment of the findings (Eq. 5); None if the judge failed on one, or there is none.

    >>> results = [ItemResult("Is it red?", (True, None), 0.5, True), ItemResult("Is it big?", (False,), 0.0, False)]
    >>> soft_share(results, ChecklistConfig())
    0.5
    """
    judged = [one for one in findings if isinstance(one, ItemResult)]
    if len(judged) < len(findings) or not judged:
        return None
    return sum(judgment(one.votes, config.threshold, config.aggregate) for one in judged) / len(judged)


def _report(
    instruction: str,
    response: str,
    sources: Sequence[Source],
    findings: Sequence[ItemResult | Unverified],
    config: ChecklistConfig,
    said: Sequence[Completion],
) -> Report:
    return Report(
        response=response,
        sources=tuple(sources),
        findings=tuple(findings),
        question=instruction,
        totals=Totals(unverified=sum(isinstance(one, Unverified) for one in findings)),
        score=soft_share(findings, config),
        usage=total_usage(said),
    )


def _read(replies: Replies) -> ItemAnswer:
    """The answer in the last reply."""
    last = replies[-1]
    found = read_answer(last.text) if last.finish_reason != "length" else None
    if found is None:
        raise ReplyError("it is neither yes, no nor unclear")
    return found


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}{'' if words.endswith(('.', '?', '!')) else '.'}"


def _found(quote: str, response: str) -> Span | None:
    """Where the response has the words that a judge quotes; None if it does not have them."""
    found = locate(quote, response) if quote else None
    return Span(response[found.start : found.end], found.start, found.end) if found else None
