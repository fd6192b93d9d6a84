"""SEVA's verifier with any language model: claim and sources in, the whole record or Unverified out.

The model is asked for the record (SEVA section 2.2, App. K). An unreadable reply is asked for once more, with its
fault; if that fails too, the claim is Unverified, as it is if the reply was cut off, refuses, or has only invented
quotes. Departures: quotes are located, and only located ones count; an unusable reply is Unverified instead of Not
Attributable; ``revised_claim`` is asked for as well, and returned only if the same verifier finds it Attributable; the
score is the stated confidence converted to P(Attributable), or the share of votes, or, of a label alone, the
probability of the tokens that begin it, where the server reports it; it is calibrated if there is a calibration for the
model, the prompt and the kind of score. Not supported: streaming, and memory of earlier claims.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vouching.embedded.voice import spans_of_mentions
from vouching.errors import ConfigError, ModelContextError
from vouching.judging.ask import Read, Replies, Unread, ask, kept_reply
from vouching.judging.calibration import Calibration, by_token, find_calibration, fitting
from vouching.judging.schemas import token_limit
from vouching.judging.verifier import Outcome
from vouching.judging.windows import SHORTEST, ScreenedSources, Window, window_limit
from vouching.methods.structured.prompt import StructuredPrompt, Style, Wording, structured_prompt
from vouching.methods.structured.reading import (
    LocatedReply,
    VoteOutcome,
    VoteResult,
    majority_vote,
    merge,
    read_label,
    read_reply,
)
from vouching.methods.structured.reply import LabelReply, Reply, parse_reply, schema_for
from vouching.models.base import Completion, Model, Sampling
from vouching.models.limits import most_tokens
from vouching.models.running import all_of, in_thread
from vouching.reading.index_cache import IndexCache
from vouching.types import Claim, Provenance, Source, Unverified, Usage, Verdict, VerdictWarning, total_usage
from vouching.version import __version__

UNCALIBRATED = "The score is {}, not a calibrated probability: see vouch calibrate."
"""The warning of a verdict without a calibration; takes what the score is."""
_TOP = 20
"""Of how many texts of each token of a label a server is asked for the probability: as many as OpenAI's API gives."""
_REPLY: dict[Style, int] = {"structured": 1024, "label": 256}
"""Tokens of a context that are kept for a reply, unless there is a limit."""
_SHORT = 20_000
"""Characters of sources that are screened in a few milliseconds."""


@dataclass(frozen=True, slots=True)
class StructuredConfig:
    """How the structured verifier asks. Raises ConfigError for a value out of range."""

    threshold: float = 0.5
    """Score from which a claim is Attributable, in [0, 1]."""
    votes: int = 1
    """Answers per question; the majority decides, so odd numbers are best."""
    temperature: float = 0.7
    """With several votes; a single answer is greedy."""
    seed: int | None = None
    """Of the sampling and of the delimiters around the sources."""
    max_tokens: int | None = None
    """Maximum length of a reply, a longer one is cut off and not used; None: the longest that its schema allows."""
    window: int = 24_000
    """Maximum characters of source text in one prompt; longer sources, and those beyond the context of the model, are
    read in windows."""
    style: Style = "structured"
    """The whole record, or the label alone (the binary baseline)."""
    prompt: Wording = "ours"
    """The words that ask for it: ours, ours in few tokens (short), or the paper's."""
    screen: bool = True
    """Whether sentences that address the verdict or speak about the claim are withheld from the model, and those that
    only mention the claim are marked."""
    recheck: bool = True
    """Whether a revised claim is judged as well, with one more question."""

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f"threshold must be in [0, 1], got {self.threshold!r}")
        structured_prompt(self.style, self.prompt)
        for name, least in (("votes", 1), ("max_tokens", 1), ("window", SHORTEST)):
            given = getattr(self, name)
            if given is not None and given < least:
                raise ConfigError(f"{name} must be at least {least}, got {given}")


@dataclass(slots=True)
class _Case:
    """The sources of one call, and the completions for one claim."""

    evidence: ScreenedSources
    windows: list[Window]
    limit: int
    """Characters of the windows."""
    completions: list[Completion] = field(default_factory=list[Completion])


class StructuredVerifier:
    """Verifies claims with a language model.

    Args:
        model: the model.
        config: how it is asked.
        calibration: maps its scores to probabilities; applied only if it was made for this model, prompt and number of
            votes, otherwise the verdict has a warning.
        prompt: another prompt; None for the one that ``config`` names.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> reply = '{"evidence_alignment": [{"claim_span": "1937", "source_span": "1973", "status": "mismatch"}],'
    >>> reply += '"reasoning_chain": [{"claim_part": "1937", "source_evidence": "1973", "judgment": "not_supported",'
    >>> reply += '"explanation": "Another year."}], "label": "Not Attributable", "confidence": 0.9,'
    >>> reply += '"error_type": "temporal_shift", "fix_suggestion": "Change 1937 to 1973."}'
    >>> verifier = StructuredVerifier(ScriptedModel([reply]))
    >>> [verdict] = asyncio.run(verifier.verify([Claim("It opened in 1937.")], [Source("It opened in 1973.")]))
    >>> verdict.label, round(verdict.score, 2), verdict.evidence_alignment[0].source_span.start
    ('Not Attributable', 0.1, 13)
    """

    def __init__(
        self,
        model: Model,
        config: StructuredConfig | None = None,
        calibration: Calibration | None = None,
        prompt: StructuredPrompt | None = None,
    ) -> None:
        self.model = model
        self.config = config or StructuredConfig()
        self._prompt = prompt or structured_prompt(self.config.style, self.config.prompt)
        self._indexes = IndexCache()
        self._limit = self.config.window
        self._calibration = calibration

    @property
    def decoding(self) -> dict[str, str | float | None]:
        """The settings needed to ask the same again, for the record of a run."""
        config = self.config
        return {
            "method": config.style,
            "votes": config.votes,
            "temperature": config.temperature if config.votes > 1 else 0.0,
            "max_tokens": config.max_tokens,
            "seed": config.seed,
            "prompt": self._prompt.digest,
            "calibrator": self._calibration.name if self._calibration else None,
        }

    async def verify(self, claims: Sequence[Claim], sources: Sequence[Source]) -> list[Outcome]:
        """One outcome per claim, in order; questions are asked concurrently, as far as the model allows."""
        cases = await self._cases(claims, tuple(sources))
        return await all_of(self._judge(claim, case) for claim, case in zip(claims, cases, strict=True))

    async def _cases(self, claims: Sequence[Claim], sources: tuple[Source, ...]) -> list[_Case]:
        """The sources as shown for each claim; long ones are read in a thread, which keeps the event loop free."""
        longest = max(claims, key=lambda claim: len(claim.text), default=Claim(""))
        reply = most_tokens(self.config.max_tokens) or _REPLY[self.config.style]
        limit = await window_limit(self.model, self._limit, sources, self._prompt.messages(longest, ()), reply)
        if sum(len(source.text) for source in sources) > _SHORT:
            return await in_thread(lambda: self._shown(claims, sources, limit))
        return self._shown(claims, sources, limit)

    def _shown(self, claims: Sequence[Claim], sources: tuple[Source, ...], limit: int) -> list[_Case]:
        every = ScreenedSources(sources, self.config.screen)
        windows = _windows(every, limit)
        cases: list[_Case] = []
        for claim in claims:
            read = self.config.screen and windows
            own = every.for_claim(*spans_of_mentions(claim.text, sources, self._indexes)) if read else every
            cases.append(_Case(own, windows if own is every else _windows(own, limit), limit))
        return cases

    async def support(self, text: str, sources: Sequence[Source]) -> float | None:
        """None: not measured."""
        return None

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()

    async def _judge(self, claim: Claim, case: _Case) -> Outcome:
        started = time.perf_counter()
        outcome = await self._decide(claim, case)
        if isinstance(outcome, Unverified):
            return replace(outcome, warnings=tuple(case.evidence.warnings()), usage=_spent(case, started))
        verdict = self._verdict(claim, outcome, case)
        revised = outcome.reading.revised
        if revised and not verdict.attributable and self.config.recheck and revised != claim.text:
            again = await self._decide(replace(claim, text=revised), case)
            if isinstance(again, VoteResult) and self._score(again)[0] >= self.config.threshold:
                verdict = replace(verdict, revised_claim=revised)
        return replace(verdict, usage=_spent(case, started))

    async def _decide(self, claim: Claim, case: _Case) -> VoteOutcome:
        """The result of all windows, of half the length as long as they do not fit into the context of the model.

        Without any, nothing can be attributed, and the model is not asked.
        """
        if not case.windows:
            return VoteResult(LocatedReply("Not Attributable", 1.0), 0.0)
        while True:
            try:
                found = merge(await all_of(self._ask(claim, window, case) for window in case.windows))
            except ModelContextError as error:
                longest = max(sum(len(excerpt.text) for excerpt in window) for window in case.windows)
                case.limit = min(case.limit, longest) // 2
                if case.limit < SHORTEST:
                    return Unverified(claim, "backend", f"{error}; raise the model's context, or lower --max-tokens")
                case.windows = _windows(case.evidence, case.limit)
            else:
                self._limit = min(self._limit, case.limit)
                return found

    async def _ask(self, claim: Claim, window: Window, case: _Case) -> VoteOutcome:
        messages = self._prompt.messages(claim, window, self.config.seed)
        again = self._prompt.again
        votes = await ask(
            self.model,
            messages,
            self._sampling(claim),
            self._reader(claim, case),
            lambda fault: again.fill(fault=fault),
            case.completions,
        )
        if any(isinstance(vote, Unread) and vote.too_long for vote in votes):
            raise ModelContextError(next(vote.fault for vote in votes if isinstance(vote, Unread)))
        return majority_vote(
            claim, [self._unverified(vote, claim) if isinstance(vote, Unread) else vote for vote in votes]
        )

    def _sampling(self, claim: Claim) -> Sampling:
        config = self.config
        schema = schema_for(Reply if config.style == "structured" else LabelReply, claim.text)
        return Sampling(
            max_tokens=token_limit(config.max_tokens, schema),
            temperature=config.temperature if config.votes > 1 else 0.0,
            n=config.votes,
            seed=config.seed,
            json_schema=schema,
            top_logprobs=_TOP if config.style == "label" and config.votes == 1 else 0,
        )

    def _reader(self, claim: Claim, case: _Case) -> Read[LocatedReply | Unverified]:
        shown = case.evidence.records(claim)

        def read(replies: Replies) -> LocatedReply | Unverified:
            text, whole = replies[-1].text, replies[-1].finish_reason == "stop"
            if self.config.style == "label":
                return read_label(parse_reply(text, LabelReply, whole, shown), replies[-1].alternatives)
            found = read_reply(parse_reply(text, Reply, whole, shown), claim, case.evidence)
            return replace(found, reply=kept_reply(replies)) if isinstance(found, Unverified) else found

        return read

    def _unverified(self, vote: Unread, claim: Claim) -> Unverified:
        if vote.reason == "truncated":
            return vote.unverified(
                claim,
                f"the reply was cut off at {self._sampling(claim).max_tokens} tokens, before the record was complete: "
                "raise max_tokens (--max-tokens)",
            )
        if vote.reason == "refused":
            return vote.unverified(claim, "the model ended its reply without a record: {}")
        return vote.unverified(claim, "neither the reply nor a second one is a valid record: {}")

    def _score(self, voted: VoteResult) -> tuple[float, str | None, tuple[VerdictWarning, ...]]:
        """P(Attributable), the name of its calibrator, and warnings about it."""
        found, notes = fitting(self._calibration, self.model.name, self._asked(voted), self.config.votes)
        if found is not None:
            return found.calibrator(voted.score), found.name, ()
        stands_for = "the share of the votes" if self.config.votes > 1 else "the confidence that the model states"
        if voted.reading.by_token is not None:
            stands_for = "the probability of the label's first token"
        plain = VerdictWarning("uncalibrated", UNCALIBRATED.format(stands_for))
        return voted.score, None, notes or (plain,)

    def _asked(self, voted: VoteResult) -> str:
        """The prompt and, if it is not the usual one, the kind of score: a calibration is for one of them."""
        digest = self._prompt.digest
        return digest if voted.reading.by_token is None else by_token(digest)

    def _verdict(self, claim: Claim, voted: VoteResult, case: _Case) -> Verdict:
        reading, config = voted.reading, self.config
        score, calibrator, notes = self._score(voted) if case.windows else (0.0, None, ())
        attributable = score >= config.threshold
        own = reading.label == "Attributable"
        if attributable != own:
            message = f"The model's own label is {reading.label}; its score and the threshold say otherwise."
            notes = (*notes, VerdictWarning("inconsistency", message))
        return Verdict(
            claim=claim,
            label="Attributable" if attributable else "Not Attributable",
            score=score,
            confidence=score if attributable else 1.0 - score,
            threshold=config.threshold,
            relation="supported" if attributable else reading.relation,
            evidence_alignment=reading.alignment,
            reasoning_chain=reading.chain,
            error_type=None if attributable else reading.error_type,
            fix_suggestion=None if attributable else reading.fix,
            grounded=reading.grounded,
            stated_confidence=reading.stated if case.windows else None,
            warnings=(*case.evidence.warnings(), *reading.warnings, *notes),
            provenance=Provenance(
                self.model.name, __version__, calibrator, self._asked(voted), config.seed, config.votes
            ),
        )


def open_verifier(model: str | Model, config: StructuredConfig | None = None) -> StructuredVerifier:
    """The verifier for a language model or its name, with its calibration from ``VOUCH_CALIBRATION``."""
    if isinstance(model, str):
        from vouching.models.open import open_model

        model = open_model(model)
    return StructuredVerifier(model, config, find_calibration(model.name))


def _windows(evidence: ScreenedSources, limit: int) -> list[Window]:
    return [] if evidence.empty else evidence.windows(limit)


def _spent(case: _Case, started: float) -> Usage:
    return replace(total_usage(case.completions), seconds=time.perf_counter() - started)
