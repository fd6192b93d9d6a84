"""Audit a response blind: ask questions about its facts and answer them from the documents alone (MARCH, 2.2).

Proposer -> questions with the response's answers; checker -> answers from the documents alone; comparison -> the same,
different, not in the documents, contradictory documents. A question that contains its own answer is dropped and
counted; questions that would give each other's answers away go into separate prompts. Coverage is the share of the
response's numbers with a question. Without a language model the embedded pair plays both roles.

Departures: answers carry units; "not in the documents" is distinguished from another value; no role sees the question
that the response answers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from vouching.errors import ConfigError, InputError, NoLanguageModelError
from vouching.judging.ask import Unread, kept_reply
from vouching.judging.matching import Match, Ruling, leaks, rule
from vouching.judging.values import find_numbers, find_values
from vouching.judging.verifier import ClaimVerifier
from vouching.judging.windows import ScreenedSources
from vouching.methods.blinded.cloze import EmbeddedProposer
from vouching.methods.blinded.compare import compared
from vouching.methods.blinded.model import ModelChecker, ModelProposer
from vouching.methods.blinded.prompt import prompt_digest
from vouching.methods.blinded.roles import Asked, BlindChecker, Proposal, Proposer, Samples, Scope, values_of
from vouching.models.base import Model
from vouching.prompts import Wording, check_wording
from vouching.reading.language import looks_english
from vouching.types import (
    Claim,
    Finding,
    Pair,
    PairResult,
    Report,
    Source,
    Span,
    Totals,
    Unverified,
    VerdictWarning,
    total_usage,
)

_LEAKED = "the question contains its own answer, so it was not asked"


@dataclass(frozen=True, slots=True)
class BlindedConfig:
    """What is asked about and how answers are compared. Raises ConfigError for a value out of range."""

    scope: Scope = "numbers"
    """Numbers, including years, or also dates, names and other short answers; names need a language model."""
    match: Match = "units"
    """How answers are compared; "released" is the paper's code."""
    min_questions: int = 3
    """k: number of questions, or of numbers if there are fewer, below which a warning is given."""
    votes: int = 1
    """J: a language model's answers to each question; a tie is a mismatch."""
    seed: int | None = None
    max_tokens: int | None = None
    """Token limit of a language model's reply; None: what the longest reply that its schema allows takes."""
    wording: Wording = "ours"
    """Prompts of a language model: ours, or as MARCH prints them, which ask for bare numbers."""

    def __post_init__(self) -> None:
        check_wording(self.wording)
        if self.wording == "paper" and self.scope != "numbers":
            raise ConfigError(f"MARCH's prompts ask for numbers only: omit the wording, or the scope {self.scope}")
        for name, known in (("scope", get_args(Scope)), ("match", get_args(Match))):
            if getattr(self, name) not in known:
                raise ConfigError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("min_questions", "votes", "max_tokens"):
            if (given := getattr(self, name)) is not None and given < 1:
                raise ConfigError(f"{name} must be at least 1, got {given}")


class BlindedVerifier:
    """Audits whole responses.

    Args:
        proposer: asks; sees the response and no document.
        checker: answers; sees the documents and no response.
        config: what is asked about, and how answers are compared.
        judge: decides, with the scope "facts", whether a short answer follows from another in other words; None
            accepts equal words only.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> asks = ModelProposer(ScriptedModel(["- Question: How long is the bridge? [Answer: 5 km]"]))
    >>> answers = ModelChecker(ScriptedModel(['1. Evidence: "It is 6 km long." [Answer: 6 km]']))
    >>> verifier = BlindedVerifier(asks, answers)
    >>> report = asyncio.run(verifier.verify(None, "The bridge is 5 km long.", [Source("It is 6 km long.")]))
    >>> print(report)
    1 question: 1 different; 100 % of the numbers were asked about
    <BLANKLINE>
    ✗ Different: How long is the bridge?
      response: 5 km
      documents: 6 km (source-1, character 6)
      the documents give a different answer
    """

    def __init__(
        self,
        proposer: Proposer,
        checker: BlindChecker,
        config: BlindedConfig | None = None,
        judge: ClaimVerifier | None = None,
    ) -> None:
        self.proposer = proposer
        self.checker = checker
        self.config = config or BlindedConfig()
        self._judge = judge

    @property
    def decoding(self) -> dict[str, str | float | None]:
        """The settings that a rerun needs to ask the same questions."""
        config = self.config
        return {
            "method": "blinded",
            "scope": config.scope,
            "match": config.match,
            "min_questions": config.min_questions,
            "votes": config.votes,
            "seed": config.seed,
            "max_tokens": config.max_tokens,
            "prompt": prompt_digest(config.scope, config.wording) if isinstance(self.checker, ModelChecker) else None,
        }

    async def verify(self, question: str | None, response: str, sources: Sequence[Source]) -> Report:
        """The report on a response, with a finding for each question and for each number without one.

        ``question`` is kept in the report and shown to no role. ``coverage`` is the share of the response's numbers
        with a question, ``score`` the share of compared answers that are the same, None where there are none. Raises
        InputError without a response or documents, and ModelError if the model is unreachable for now.
        """
        if not response.strip():
            raise InputError("the response is empty: expected an answer to audit")
        if not sources:
            raise InputError("no source was given: pass at least one text to check against")
        started = time.perf_counter()
        [report] = await self.verify_all([(response, sources)])
        spent = replace(report.usage, seconds=time.perf_counter() - started)
        return replace(report, question=question, usage=spent)

    async def verify_all(self, answers: Sequence[tuple[str, Sequence[Source]]]) -> list[Report]:
        """Reports on several responses, each with its documents; each role is called once for all of them.

        A blank response, about which nothing is asked, is data here, not wrong input.
        """
        config = self.config
        due = [at for at, (response, _) in enumerate(answers) if _may_state(response, config.scope)]
        proposed = await self.proposer.propose([answers[at][0] for at in due], config.scope, config.min_questions)
        proposals = [Proposal(())] * len(answers)
        for at, proposal in zip(due, proposed, strict=True):
            proposals[at] = proposal
        batched = [
            disjoint_batches(
                [pair for pair in one.pairs if not leaks(pair.question.text, pair.answer)], self.checker.max_at_once
            )
            for one in proposals
        ]
        asked = [
            Asked(tuple(tuple(pair.question for pair in batch) for batch in batches), tuple(sources))
            for batches, (_, sources) in zip(batched, answers, strict=True)
        ]
        answered = await self.checker.answer(asked)
        reports: list[Report] = []
        for (response, sources), proposal, batches, found in zip(answers, proposals, batched, answered, strict=True):
            in_order = [pair for batch in batches for pair in batch]
            findings: list[Finding] = [_leaked(pair) for pair in proposal.pairs if pair not in in_order]
            for pair, samples in zip(in_order, found.samples, strict=True):
                finding = await self._finding(pair, samples, found.cut_off, response, sources)
                if isinstance(finding, Unverified) and finding.reply is None and len(batches) == 1:
                    finding = replace(finding, reply=kept_reply(found.completions))
                findings.append(finding)
            report = self._report(response, sources, findings, proposal)
            reports.append(replace(report, usage=total_usage((*proposal.completions, *found.completions))))
        return reports

    async def aclose(self) -> None:
        """Release the models."""
        await self.proposer.aclose()
        await self.checker.aclose()

    async def _finding(
        self, pair: Pair, samples: Samples | Unread, cut_off: bool, response: str, sources: Sequence[Source]
    ) -> PairResult | Unverified:
        claim = Claim(pair.question.text, span=pair.span)
        if isinstance(samples, Unread):
            return samples.unverified(claim)
        read = [one for one in samples if one is not None]
        if 2 * len(read) <= len(samples):
            lost = f"{len(samples) - len(read)} of {len(samples)} replies have no readable answer"
            more = ": raise max_tokens (--max-tokens)" if cut_off else ", even after a second request"
            return Unverified(claim, "truncated" if cut_off else "unparsable", lost + more)
        ruling = rule(pair.question.text, pair.answer, read, self.config.match)
        if ruling.outcome == "different" and await self._follows(pair, ruling):
            ruling = Ruling("same", ruling.found, "the documents state it in other words")
        return compared(pair, ruling, samples, response, sources, self.config.match)

    async def _follows(self, pair: Pair, ruling: Ruling) -> bool:
        """Whether an answer in words follows from that of the documents; answers with numbers never do."""
        numbers = find_values(pair.answer) or any(map(find_values, ruling.found))
        if self._judge is None or self.config.scope != "facts" or len(ruling.found) != 1 or numbers:
            return False
        asked = pair.question.text
        claim, source = Claim(f"{asked} {pair.answer}"), Source(f"{asked} {ruling.found[0]}")
        [outcome] = await self._judge.verify([claim], [source])
        return outcome.kind == "verdict" and outcome.attributable

    def _language(self, response: str) -> list[VerdictWarning]:
        """A warning where the embedded pair, which reads English, gets another language."""
        if not isinstance(self.proposer, EmbeddedProposer) or looks_english(response):
            return []
        return [VerdictWarning("language", "The response does not look English; its numbers may be misread or missed.")]

    def _report(self, response: str, sources: Sequence[Source], findings: list[Finding], proposal: Proposal) -> Report:
        numbers = [Span(value.text, value.start, value.end) for value in values_of(response, self.config.scope)]
        asked = [pair.span for pair in proposal.pairs if pair.span and not leaks(pair.question.text, pair.answer)]
        uncovered = [number for number in numbers if not _touches(number, asked)]
        leaked = [pair.span for pair in proposal.pairs if pair.span]
        if proposal.failure is not None:
            claim, reply = Claim(response, id="proposer"), kept_reply(proposal.completions)
            findings = [Unverified(claim, "unparsable", proposal.failure, reply=reply)]
        else:
            findings = [*findings, *(_unasked(number) for number in uncovered if not _touches(number, leaked))]
        findings.sort(key=_place_of)
        compared = [one for one in findings if isinstance(one, PairResult) and one.outcome != "leaked"]
        same = sum(one.attributable for one in compared)
        failed = any(isinstance(one, Unverified) and one.reason != "unasked" for one in findings)
        return Report(
            response=response,
            sources=tuple(sources),
            findings=tuple(findings),
            coverage=1.0 - len(uncovered) / len(numbers) if numbers else 1.0,
            totals=Totals(same, len(compared) - same, len(findings) - len(compared)),
            score=same / len(compared) if compared and not failed else None,
            warnings=(
                *ScreenedSources(sources).warnings(),
                *_notes(proposal, response, len(numbers), self.config),
                *self._language(response),
            ),
        )


def disjoint_batches(pairs: Sequence[Pair], limit: int) -> list[list[Pair]]:
    """Split the pairs into batches in which no question gives away another's answer."""
    batches: list[list[Pair]] = []
    for pair in pairs:
        for batch in batches:
            if len(batch) < limit and not any(_meet(pair, other) for other in batch):
                batch.append(pair)
                break
        else:
            batches.append([pair])
    return batches


def _meet(one: Pair, other: Pair) -> bool:
    """Whether the question of one gives away the answer of the other."""
    return leaks(other.question.text, one.answer) or leaks(one.question.text, other.answer)


def open_blinded(model: str | Model = "embedded", config: BlindedConfig | None = None) -> BlindedVerifier:
    """The auditor for a model by its name.

    Args:
        model: "embedded", which needs no language model and asks about numbers and dates, or a language model for both
            roles; see :func:`vouching.models.open.open_model`.
        config: None uses the scope "facts" for the embedded pair and "numbers" for a language model.

    Raises ConfigError for a wrong name, or a setting that the embedded pair does not support.

    >>> import asyncio
    >>> report = asyncio.run(open_blinded().verify(None, "It has 2 towers.", [Source("The bridge has three towers.")]))
    >>> [(finding.answer, finding.outcome, finding.found) for finding in report.findings]
    [('2', 'different', ('three',))]
    """
    from vouching.embedded.verify import MODELS, is_embedded, open_embedded

    embedded = is_embedded(model)
    config = config or BlindedConfig("facts" if embedded else "numbers")
    if embedded:
        if model not in MODELS:
            raise ConfigError(f"a blinded audit cannot use the weights of {model}: use embedded, or a language model")
        from vouching.methods.blinded.embedded import EmbeddedChecker

        asked = {"votes": config.votes != 1, "seed": config.seed is not None, "wording": config.wording != "ours"}
        if given := tuple(name for name, here in asked.items() if here):
            raise NoLanguageModelError(str(model), given)
        return BlindedVerifier(EmbeddedProposer(), EmbeddedChecker(), config)
    if isinstance(model, str):
        from vouching.models.open import open_model

        model = open_model(model)
    asks = ModelProposer(model, config.max_tokens, config.seed, config.wording)
    answers = ModelChecker(model, config.votes, config.max_tokens, config.seed, wording=config.wording)
    judge = open_embedded() if config.scope == "facts" else None
    return BlindedVerifier(asks, answers, config, judge)


def _leaked(pair: Pair) -> PairResult:
    return PairResult(pair.question.text, pair.answer, "leaked", reason=_LEAKED, span=pair.span)


def _may_state(response: str, scope: Scope) -> bool:
    """Whether there may be something to ask about; a model also reads digits of other scripts."""
    if not response.strip():
        return False
    return scope != "numbers" or bool(find_numbers(response)) or (_has_digits(response) and not find_values(response))


def _unasked(number: Span) -> Unverified:
    return Unverified(Claim(number.text, span=number), "unasked", "no question was asked about this number")


def _touches(number: Span, spans: Sequence[Span]) -> bool:
    return any(span.start < number.end and number.start < span.end for span in spans)


def _place_of(finding: Finding) -> int:
    """Offset of a finding in the response; at the end where unknown."""
    span = finding.span if isinstance(finding, PairResult) else None
    span = finding.claim.span if isinstance(finding, Unverified) else span
    return span.start if span else 1 << 62


def _has_digits(text: str) -> bool:
    return any(map(str.isnumeric, text))


def _notes(proposal: Proposal, response: str, numbers: int, config: BlindedConfig) -> list[VerdictWarning]:
    """Warnings about the questions as a whole."""
    asked = len(proposal.pairs)
    if proposal.failure is not None:
        return []
    if not asked and not numbers:
        dates = " or date" * (config.scope == "facts")
        if _has_digits(response) and not find_values(response):
            return [VerdictWarning("unasked", f"The response states no number{dates} that could be read.")]
        more = f"{dates}, and nothing else was asked about" if dates else ""
        return [VerdictWarning("unasked", f"The response states no number{more}.")]
    notes: list[VerdictWarning] = []
    expected = min(config.min_questions, numbers)
    if asked < expected:
        notes.append(VerdictWarning("unasked", f"Too few questions were asked: {asked}, expected at least {expected}."))
    if proposal.cut_off:
        notes.append(VerdictWarning("truncated", "The list of questions was cut off: raise max_tokens (--max-tokens)."))
    return notes
