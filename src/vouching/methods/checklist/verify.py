"""A response verified item by item: J votes of a language model on each question of a checklist (Soft-RLVR, 2.3).

The checklist is given, or made from the instruction. An item that names a rule is decided by it, exactly and once; the
others are put to the model, all at the same time. A reply that is no answer is asked for once more; then it is no vote
for yes. Where more than half of the votes on an item are no answers, or the model refuses, the judge has failed and the
item is Unverified. Holistic verification (Eq. 3), one question about the whole response, stands beside it with the
same votes, so that both can be measured on the same completions. Departures from the paper: own prompts, with "unclear"
as a third answer and, on request, a reason and the words that decide. Left out: a response cut to fit a prompt, and
sentences of a response withheld because they address the judge; here they are what is judged.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vouching.errors import ConfigError, InputError, ModelError
from vouching.judging.votes import Aggregate, check_aggregate, judgment, vote_share
from vouching.methods.base import failed
from vouching.methods.checklist.lint import Fault, encoder_nearness
from vouching.methods.checklist.make import ChecklistMaker
from vouching.methods.checklist.prompt import ask_again, item_messages, prompt_digest, whole_messages
from vouching.methods.checklist.reply import ItemAnswer, read_answer
from vouching.methods.rules.verify import item_result
from vouching.models.base import Completion, Message, Model, Sampling
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


@dataclass(slots=True)
class _Case:
    """One response under judgment, and what was spent on it."""

    instruction: str
    response: str
    sources: Sequence[Source]
    said: list[Completion] = field(default_factory=list[Completion])


class ChecklistVerifier:
    """Verifies whole responses against the instruction they answer.

    Args:
        model: what votes.
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
        model: Model,
        config: ChecklistConfig | None = None,
        items: Sequence[ChecklistItem] | None = None,
        maker: ChecklistMaker | None = None,
    ) -> None:
        if items is not None and not items:
            raise ConfigError("the checklist has no items: give at least one, or none at all to have it made")
        self.model = model
        self.config = config or ChecklistConfig()
        self._items = None if items is None else tuple(items)
        self._maker = maker or ChecklistMaker(model, self.config.seed or 0)

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
            raise InputError("a checklist judges a response by its instruction: pass it as the question (--question)")
        if not response.strip():
            raise InputError("the response is empty: got no text, wanted an answer to judge")
        if items is not None and not items:
            raise InputError("the checklist has no items: give at least one, or none at all to have it made")
        started = time.perf_counter()
        case = _Case(question, response, sources)
        warnings: tuple[VerdictWarning, ...] = ()
        if self.config.holistic:
            findings = [await self._whole(case)]
        else:
            chosen, faults = await self._chosen(items, case)
            warnings = tuple(VerdictWarning("checklist", _sentence(str(fault))) for fault in faults if chosen)
            findings = await all_of(self._item(item, number, case) for number, item in enumerate(chosen, 1))
            if not chosen:
                why = "; ".join(map(str, faults))
                findings = [Unverified(Claim(question, id="checklist"), "unparsable", f"no checklist was made: {why}")]
        return _report(case, findings, self.config, warnings, started)

    async def aclose(self) -> None:
        """Let go of the model."""
        await self.model.aclose()
        await self._maker.aclose()

    async def _chosen(
        self, items: Sequence[ChecklistItem] | None, case: _Case
    ) -> tuple[Sequence[ChecklistItem], tuple[Fault, ...]]:
        """The items for a response, and what is wrong with them if they had to be made; none if they could not be."""
        given = items or self._items
        if given is not None:
            return given, ()
        made = await self._maker.make(case.instruction)
        case.said += made.said
        return made.checklist.items if made.checklist else (), made.faults

    async def _whole(self, case: _Case) -> ItemResult | Unverified:
        form = "reason" if self.config.reasons else "word"
        messages = whole_messages(case.instruction, case.response, form, case.sources)
        return await self._voted(messages, WHOLE, 1, case)

    async def _item(self, item: ChecklistItem, number: int, case: _Case) -> ItemResult | Unverified:
        if item.rule is not None:
            return item_result(item, case.response)
        form = "reason" if self.config.reasons else "word"
        messages = item_messages(case.instruction, case.response, item.text, form, case.sources)
        return await self._voted(messages, item.text, number, case)

    async def _voted(
        self, messages: tuple[Message, ...], question: str, number: int, case: _Case
    ) -> ItemResult | Unverified:
        """The outcome of J votes on one question."""
        config, claim = self.config, Claim(question, id=f"item-{number}")
        sampling = Sampling(
            max_tokens=config.max_tokens,
            temperature=config.temperature if config.votes > 1 else 0.0,
            n=config.votes,
            seed=config.seed,
        )
        try:
            completions = await self._generate(messages, sampling, case)
            answers = await all_of(self._answer(said, messages, sampling, case) for said in completions)
        except ModelError as error:
            return failed(error, claim)
        unusable = sum(answer is None for answer in answers)
        if 2 * unusable > len(answers):
            cut = any(said.finish_reason == "length" for said in completions)
            more = ": allow more by max_tokens (--max-tokens)" if cut else ", nor are those to a second question"
            message = f"{unusable} of {len(answers)} replies are neither yes, no nor unclear{more}"
            return Unverified(claim, "truncated" if cut else "unparsable", message)
        return self._result(question, answers, case.response)

    async def _answer(
        self, said: Completion, messages: tuple[Message, ...], sampling: Sampling, case: _Case
    ) -> ItemAnswer | None:
        """What a completion answers; one that is no answer is asked for once more."""
        whole = said.finish_reason != "length"
        found = read_answer(said.text) if whole else None
        if found is not None or not whole:
            return found
        [second] = await self._generate((*messages, *ask_again(said.text)), replace(sampling, n=1), case)
        return read_answer(second.text) if second.finish_reason != "length" else None

    async def _generate(self, messages: Sequence[Message], sampling: Sampling, case: _Case) -> list[Completion]:
        completions = await self.model.generate(messages, sampling)
        case.said += completions
        return completions

    def _result(self, question: str, answers: Sequence[ItemAnswer | None], response: str) -> ItemResult:
        config = self.config
        votes = tuple(None if answer is None else answer.vote for answer in answers)
        passed = judgment(votes, config.threshold, config.aggregate) >= config.threshold
        # Who was outvoted explains nothing; where nobody said no, the unclear ones do.
        side = [True] if passed else [False, None]
        speaking = [one for vote in side for one in answers if one is not None and one.vote is vote]
        spans = [span for one in speaking if (span := _found(one.quote, response)) is not None]
        reason = next((one.reason for one in speaking if one.reason), "")
        return ItemResult(question, votes, vote_share(votes), passed, reason, spans[0] if spans else None)


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
    case: _Case,
    findings: Sequence[ItemResult | Unverified],
    config: ChecklistConfig,
    warnings: tuple[VerdictWarning, ...],
    started: float,
) -> Report:
    return Report(
        response=case.response,
        sources=tuple(case.sources),
        findings=tuple(findings),
        question=case.instruction,
        totals=Totals(unverified=sum(isinstance(one, Unverified) for one in findings)),
        score=soft_share(findings, config),
        warnings=warnings,
        usage=replace(total_usage(case.said), seconds=time.perf_counter() - started),
    )


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}{'' if words.endswith(('.', '?', '!')) else '.'}"


def _found(quote: str, response: str) -> Span | None:
    """Where the response has the words that a judge quotes; None if it does not have them."""
    found = locate(quote, response) if quote else None
    return Span(response[found.start : found.end], found.start, found.end) if found else None
