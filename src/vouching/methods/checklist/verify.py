"""Verify a response item by item: J votes of a language model on each question of a checklist (Soft-RLVR, 2.3).

The checklist is given, or made from the instruction. An item that names a rule is decided by it, exactly and once; the
others are voted on at the same time by a language model, or by a policy that judges itself in a game. A model is asked
again once after an unreadable reply; if that fails too, the vote counts as not yes. Where more than half of the replies
on an item are unreadable, or the model refuses, the judge has failed and the item is Unverified. Holistic verification
(Eq. 3) asks one question about the whole response with the same number of votes, so that both ways can be measured on
the same completions.

Departures: own prompts, with "unclear" as a third answer and, on request, a reason and the words that decide;
``wording="paper"`` asks as the paper prints it (App. A.3.1).

Not supported: shortening a response to fit a prompt, and withholding sentences that address the judge, which are part
of what is judged.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from vouching.errors import ConfigError, InputError
from vouching.judging.ask import Replies, ReplyError, Unread, ask
from vouching.judging.schemas import token_limit
from vouching.judging.votes import Aggregate, check_aggregate, judgment, vote_share
from vouching.methods.checklist.lint import encoder_similarity
from vouching.methods.checklist.make import ChecklistMaker
from vouching.methods.checklist.prompt import ask_again, item_messages, prompt_digest, whole_messages
from vouching.methods.checklist.reply import ItemAnswer, answer_schema, read_answer
from vouching.models.base import Completion, Model, Sampling
from vouching.models.running import all_of
from vouching.prompts import Wording, check_wording
from vouching.rules.verify import item_result
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
"""The question of holistic verification, as shown in a report."""
_BLANK = "The response is blank."


@dataclass(frozen=True, slots=True)
class ChecklistConfig:
    """How the model is asked. Raises ConfigError for a value out of range."""

    threshold: float = 0.5
    """tau: judgment from which an item passes, in (0, 1]."""
    votes: int = 1
    """J: answers to each question, at least 1."""
    aggregate: Aggregate = "threshold"
    temperature: float = 0.7
    """Of the sampling with several votes; a single answer is greedy."""
    seed: int | None = None
    max_tokens: int | None = None
    """Token limit of a reply and of a checklist; None: what the longest that its schema allows takes."""
    reasons: bool = False
    """Whether to ask for a reason and the words that decide; replies get longer and may differ."""
    holistic: bool = False
    """Whether :meth:`ChecklistVerifier.verify` asks one question about the whole response."""
    wording: Wording = "ours"
    """Prompt for an item and for making a checklist: ours, or as Soft-RLVR prints it."""

    def __post_init__(self) -> None:
        check_aggregate(self.threshold, self.aggregate)
        check_wording(self.wording)
        if self.wording == "paper" and (self.holistic or self.reasons):
            what = "the response as a whole" if self.holistic else "reasons"
            raise ConfigError(f"Soft-RLVR prints no prompt that asks for {what}: omit that setting, or the wording")
        for name in ("votes", "max_tokens"):
            if (given := getattr(self, name)) is not None and given < 1:
                raise ConfigError(f"{name} must be at least 1, got {given}")


@dataclass(frozen=True, slots=True)
class ItemQuestion:
    """A question about a response."""

    instruction: str
    response: str
    question: str | None = None
    """The item; None asks about the whole response."""
    sources: tuple[Source, ...] = ()
    """Texts that came with the instruction."""

    @property
    def shown(self) -> tuple[str | None, ...]:
        """The texts that the judge sees."""
        return (self.instruction, self.response, self.question, *(source.text for source in self.sources))


@dataclass(frozen=True, slots=True)
class Voted:
    """The answers to one question."""

    answers: tuple[ItemAnswer | None, ...] = ()
    """(J,) None for an unreadable answer."""
    completions: tuple[Completion, ...] = ()
    """A language model's replies, for their cost."""
    failure: Unread | None = None
    """Why there is no judgment, where the judge failed."""


@runtime_checkable
class Voter(Protocol):
    """Answers questions about responses, J times each."""

    async def vote(self, questions: Sequence[ItemQuestion]) -> list[Voted]:
        """The answers to each question, asked at the same time."""
        ...

    async def aclose(self) -> None:
        """Release the model."""
        ...


@dataclass(frozen=True, slots=True)
class ModelVoter:
    """A language model that votes; it has failed where more than half of its replies to a question are unreadable."""

    model: Model
    config: ChecklistConfig

    async def vote(self, questions: Sequence[ItemQuestion]) -> list[Voted]:
        """The answers to each question; equal ones are asked once. Raises ModelError if the model is unreachable."""
        different = {one.shown: one for one in questions}
        found = dict(zip(different, await all_of(map(self._voted, different.values())), strict=True))
        voted: list[Voted] = []
        for one in questions:
            voted.append(found[one.shown])
            found[one.shown] = replace(found[one.shown], completions=())  # their cost counts once
        return voted

    async def aclose(self) -> None:
        """Release the model."""
        await self.model.aclose()

    async def _voted(self, one: ItemQuestion) -> Voted:
        config, form = self.config, "reason" if self.config.reasons else "word"
        messages = (
            whole_messages(one.instruction, one.response, form, one.sources)
            if one.question is None
            else item_messages(one.instruction, one.response, one.question, form, one.sources, config.wording)
        )
        temperature = config.temperature if config.votes > 1 else 0.0
        schema = answer_schema(config.reasons)
        sampling = Sampling(
            token_limit(config.max_tokens, schema),
            temperature,
            n=config.votes,
            seed=config.seed,
            json_schema=schema if config.wording == "ours" else None,
        )
        completions: list[Completion] = []
        found = await ask(self.model, messages, sampling, _read, lambda _: ask_again(), completions)
        unread = [answer for answer in found if isinstance(answer, Unread)]
        failure = next((answer for answer in unread if answer.reason == "backend"), None)
        if failure is None and 2 * len(unread) > len(found):
            cut = any(answer.reason == "truncated" and len(answer.replies) == 1 for answer in unread)
            more = ": raise max_tokens (--max-tokens)" if cut else ", even after a second request"
            message = f"{len(unread)} of {len(found)} replies are neither yes, no nor unclear{more}"
            failure = Unread("truncated" if cut else "unparsable", message, unread[0].replies)
        answers = tuple(None if isinstance(answer, Unread) else answer for answer in found)
        return Voted(answers, tuple(completions), failure)


class ChecklistVerifier:
    """Verifies whole responses against the instruction they answer.

    Args:
        model: a language model, or another voter.
        config: how it is asked.
        items: the checklist for every response; None makes one from each instruction.
        maker: makes checklists; None uses the same model.

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
            raise ConfigError("the checklist has no items: pass at least one, or None to create a checklist")
        self.config = config or ChecklistConfig()
        self._items = None if items is None else tuple(items)
        self._voter: Voter = model if isinstance(model, Voter) else ModelVoter(model, self.config)
        self._maker = (
            maker
            if maker or isinstance(model, Voter)
            else ChecklistMaker(model, self.config.seed or 0, self.config.max_tokens, wording=self.config.wording)
        )

    @property
    def decoding(self) -> dict[str, str | float | None]:
        """The settings that a rerun needs to ask the same questions."""
        config = self.config
        return {
            "method": "holistic" if config.holistic else "checklist",
            "votes": config.votes,
            "aggregate": config.aggregate,
            "temperature": config.temperature if config.votes > 1 else 0.0,
            "max_tokens": config.max_tokens,
            "seed": config.seed,
            "reasons": config.reasons,
            "prompt": prompt_digest("reason" if config.reasons else "word", config.wording),
        }

    async def verify(
        self,
        question: str | None,
        response: str,
        sources: Sequence[Source] = (),
        items: Sequence[ChecklistItem] | None = None,
    ) -> Report:
        """The report on a response, with a finding for each item in order.

        ``question`` is the instruction or conversation, ``items`` the checklist; None takes the verifier's own. The
        score is the mean judgment, None if the judge failed on an item. Faults of a checklist that was made are
        warnings, and an item that is not a yes/no question is Unverified; without a checklist that can be judged, the
        only finding is an Unverified. Raises InputError for an empty argument, ModelError if the model is unreachable
        for now and ConfigError if it cannot be used at all.
        """
        if question is None or not question.strip():
            raise InputError("judging by a checklist requires the instruction of the response: pass it (--instruction)")
        if not response.strip():
            raise InputError("the response is empty: expected an answer to judge")
        if items is not None and not items:
            raise InputError("the checklist has no items: pass at least one, or None to create a checklist")
        started, rejected = time.perf_counter(), dict[int, str]()
        chosen, warnings, made = items or self._items, list[VerdictWarning](), list[Completion]()
        if not chosen and not self.config.holistic:
            if self._maker is None:
                raise InputError("there is no checklist and no model to create one: pass at least one item")
            new = await self._maker.make(question)
            made += new.completions
            failed = new.failure(question)
            if failed is not None:
                report = _report(question, response, sources, [failed], self.config, made)
                return replace(report, usage=replace(report.usage, seconds=time.perf_counter() - started))
            chosen = new.checklist.items if new.checklist else ()
            rejected = {number: str(fault) for number, fault in new.rejected.items()}
            warnings = [VerdictWarning("checklist", _sentence(str(fault))) for fault in new.faults]
        [report] = await self.verify_all([(question, response, chosen or ())], sources, rejected)
        spent = total_usage([*made, report])
        return replace(report, warnings=tuple(warnings), usage=replace(spent, seconds=time.perf_counter() - started))

    async def verify_all(
        self,
        answers: Sequence[tuple[str, str, Sequence[ChecklistItem]]],
        sources: Sequence[Source] = (),
        rejected: Mapping[int, str] = MappingProxyType({}),
    ) -> list[Report]:
        """Reports on several responses, each with its instruction and items; all questions are asked at the same time.

        A blank response is data here, not wrong input: it passes nothing and is not judged. Items with a number in
        ``rejected``, which says why, are not asked and are Unverified.
        """
        questions = [
            ItemQuestion(instruction, response, item.text if item else None, tuple(sources))
            for instruction, response, items in answers
            for item in self._questions(response, [i for n, i in enumerate(items, 1) if n not in rejected])
        ]
        voted = iter(await self._voter.vote(questions))
        reports: list[Report] = []
        for instruction, response, items in answers:
            findings: list[ItemResult | Unverified] = []
            completions: list[Completion] = []
            for number, item in enumerate((None,) if self.config.holistic else items, 1):
                if not response.strip():
                    findings.append(ItemResult(item.text if item else WHOLE, (False,), 0.0, False, _BLANK))
                elif item is not None and number in rejected:
                    claim = Claim(item.text, id=f"item-{number}")
                    findings.append(Unverified(claim, "unparsable", f"the item was not asked: {rejected[number]}"))
                elif item is not None and item.rule is not None:
                    findings.append(item_result(item, response))
                else:
                    found = next(voted)
                    completions += found.completions
                    findings.append(self._result(item.text if item else WHOLE, number, found, response))
            reports.append(_report(instruction, response, sources, findings, self.config, completions))
        return reports

    async def aclose(self) -> None:
        """Release the models."""
        await self._voter.aclose()
        if self._maker is not None:
            await self._maker.aclose()

    def _questions(self, response: str, items: Sequence[ChecklistItem]) -> Sequence[ChecklistItem | None]:
        """The items to ask about; None is the whole response."""
        if not response.strip():
            return ()
        return (None,) if self.config.holistic else voted_items(items)

    def _result(self, question: str, number: int, found: Voted, response: str) -> ItemResult | Unverified:
        if found.failure is not None:
            return found.failure.unverified(Claim(question, id=f"item-{number}"))
        config, answers = self.config, found.answers
        votes = tuple(None if answer is None else answer.vote for answer in answers)
        passed = judgment(votes, config.threshold, config.aggregate) >= config.threshold
        # Outvoted answers explain nothing; where there is no "no", the unclear ones explain.
        side = [True] if passed else [False, None]
        agreeing = [one for vote in side for one in answers if one is not None and one.vote is vote]
        spans = [span for one in agreeing if (span := _found(one.quote, response)) is not None]
        reason = next((one.reason for one in agreeing if one.reason), "")
        return ItemResult(question, votes, vote_share(votes), passed, reason, spans[0] if spans else None)


def voted_items(items: Sequence[ChecklistItem]) -> tuple[ChecklistItem, ...]:
    """The items that are voted on: those that no rule decides."""
    return tuple(item for item in items if item.rule is None)


def open_checklist(
    model: str | Model, config: ChecklistConfig | None = None, items: Sequence[ChecklistItem] | None = None
) -> ChecklistVerifier:
    """The verifier for a language model by its name, which lints the checklists it makes with the shipped encoder.

    Raises ConfigError for a wrong name or an empty checklist.
    """
    if isinstance(model, str):
        from vouching.models.open import open_model

        if model.startswith("embedded"):
            raise ConfigError(
                f"items are judged by a language model, got {model}: pass --model, such as "
                "http://localhost:8000/v1#name, or use --method rules, which does not require a model"
            )
        model = open_model(model)
    config = config or ChecklistConfig()
    maker = ChecklistMaker(
        model, config.seed or 0, config.max_tokens, similarity=encoder_similarity(), wording=config.wording
    )
    return ChecklistVerifier(model, config, items, maker)


def soft_share(findings: Sequence[ItemResult | Unverified], config: ChecklistConfig) -> float | None:
    """The mean judgment of the findings (Eq. 5); None if the judge failed on one, or there is none."""
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
    completions: Sequence[Completion],
) -> Report:
    return Report(
        response=response,
        sources=tuple(sources),
        findings=tuple(findings),
        question=instruction,
        totals=Totals(unverified=sum(isinstance(one, Unverified) for one in findings)),
        score=soft_share(findings, config),
        usage=total_usage(completions),
    )


def _read(replies: Replies) -> ItemAnswer:
    """The answer in the last reply. Raises ReplyError if there is none."""
    last = replies[-1]
    found = read_answer(last.text) if last.finish_reason != "length" else None
    if found is None:
        raise ReplyError("the reply is neither yes, no nor unclear")
    return found


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}{'' if words.endswith(('.', '?', '!')) else '.'}"


def _found(quote: str, response: str) -> Span | None:
    """The span of the response that a judge quotes; None if the response does not contain it."""
    found = locate(quote, response) if quote else None
    return Span(response[found.start : found.end], found.start, found.end) if found else None
