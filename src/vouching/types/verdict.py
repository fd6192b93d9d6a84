"""The verdict: one claim, judged against its sources, with everything needed to check the judgement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from vouching.types.spans import Claim, ErrorType, Judgment, Label, Relation, Span, Status

VERDICT_VERSION = "1.0"
"""Version of the verdict's JSON. Changes within 1.x only add fields."""

WarningKind = Literal[
    "injection", "conflict", "inconsistency", "truncated", "unread", "language", "question", "search", "engine",
    "encoding", "ungrounded", "uncalibrated", "unchecked", "checklist", "unasked",
]  # fmt: skip
UnverifiedReason = Literal[
    "backend", "unparsable", "truncated", "ungrounded", "undecided", "refused", "input", "no_evidence", "unasked"
]


@dataclass(frozen=True, slots=True)
class Alignment:
    """One part of the claim set beside its place in a source."""

    claim_span: Span
    """The part, with offsets in ``Claim.text``."""
    source_span: Span | None
    """Its counterpart, with offsets in the source it names; None if nothing corresponds (SEVA's NOT_FOUND)."""
    status: Status
    """match, mismatch (the source says otherwise) or not_found (the source does not say)."""


@dataclass(frozen=True, slots=True)
class ReasoningStep:
    """One step of the argument: what was looked at and what follows."""

    claim_part: str
    """The words of the claim under examination."""
    source_evidence: str
    """The words of the source it was held against, or "NOT_FOUND"."""
    judgment: Judgment
    """What this step concludes."""
    explanation: str
    """Why, in a sentence."""


@dataclass(frozen=True, slots=True)
class VerdictWarning:
    """Something a reader should know before trusting the verdict."""

    kind: WarningKind
    """What sort of thing."""
    message: str
    """What happened and what it means, in a sentence."""
    span: Span | None = None
    """The text it is about, where there is one."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What produced the verdict, enough to produce it again."""

    model: str
    """Engine, e.g. "embedded:rules" or "http://host/v1#name"."""
    version: str
    """Version of vouching."""
    calibrator: str | None = None
    """What maps raw scores to probabilities: a name and a short hash; None if the score is uncalibrated."""
    prompt_hash: str | None = None
    """SHA-256 of the prompt template; None where no prompt is used."""
    seed: int | None = None
    """Sampling seed; None where nothing is sampled."""
    votes: int = 1
    """How many answers were asked for; the majority of them gave the label."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the verdict cost."""

    seconds: float = 0.0
    """Wall-clock seconds spent on this claim."""
    prompt_tokens: int = 0
    """Tokens sent to a language model."""
    completion_tokens: int = 0
    """Tokens received from a language model."""
    calls: int = 0
    """Calls made to a language model."""


class Costing(Protocol):
    """Something that cost something: a verdict, a completion of a language model."""

    @property
    def usage(self) -> Usage:
        """What it cost."""
        ...


def total_usage(things: Iterable[Costing]) -> Usage:
    """What several things cost together.

    >>> failed = Unverified(Claim("x"), "refused", "No.", usage=Usage(seconds=0.5, prompt_tokens=9, calls=1))
    >>> total_usage([failed, failed])
    Usage(seconds=1.0, prompt_tokens=18, completion_tokens=0, calls=2)
    """
    used = [thing.usage for thing in things]
    return Usage(
        seconds=sum(one.seconds for one in used),
        prompt_tokens=sum(one.prompt_tokens for one in used),
        completion_tokens=sum(one.completion_tokens for one in used),
        calls=sum(one.calls for one in used),
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """One claim judged against its sources (SEVA section 2.2: alignment, chain, label, confidence, error, fix).

    "Attributable" says that the given sources support the claim, not that the claim is true.

    Raises:
        ValueError: a probability outside [0, 1], or a label that does not follow from score and threshold.

    >>> from vouching import check
    >>> verdict = check("The bridge opened in 1937.", "The bridge opened in 1973.")
    >>> verdict.label, verdict.error_type, verdict.revised_claim
    ('Not Attributable', 'temporal_shift', 'The bridge opened in 1973.')
    >>> [(entry.claim_span.text, entry.status) for entry in verdict.evidence_alignment]
    [('bridge', 'match'), ('opened in 1937', 'mismatch')]
    """

    claim: Claim
    """What was checked."""
    label: Label
    """Attributable if and only if ``score >= threshold``."""
    score: float
    """Calibrated probability that the claim is Attributable, in [0, 1]; where it is none, a warning says so."""
    confidence: float
    """Calibrated probability that ``label`` is right, in [0, 1]: ``score`` for Attributable, else ``1 - score``. The
    threshold chooses the label and leaves the probability as it is; with one away from .5 it can fall below .5."""
    threshold: float
    """Score from which the claim counts as Attributable."""
    relation: Relation
    """supported, contradicted (a source says otherwise) or not_found (no source says so)."""
    evidence_alignment: tuple[Alignment, ...] = ()
    """The parts of the claim beside their places in the sources, in the claim's order."""
    reasoning_chain: tuple[ReasoningStep, ...] = ()
    """The argument, step by step."""
    error_type: ErrorType | None = None
    """What is wrong; None for an Attributable claim."""
    fix_suggestion: str | None = None
    """The edit that would make the claim Attributable; None if none was found. Only one with a ``revised_claim`` has
    passed a second check; the embedded verifier gives no others."""
    revised_claim: str | None = None
    """The claim with the edit applied. It came out Attributable when the same verifier read it again."""
    grounded: float = 1.0
    """Share of the quoted spans that occur in the claim and the sources, in [0, 1]."""
    stated_confidence: float | None = None
    """Confidence a language model stated about itself (SEVA's gamma); None for engines that state none."""
    warnings: tuple[VerdictWarning, ...] = ()
    """Injected instructions, unread text, language, and so on."""
    provenance: Provenance = field(default_factory=lambda: Provenance(model="unknown", version="unknown"))
    """What produced the verdict."""
    usage: Usage = field(default_factory=Usage)
    """What it cost."""
    kind: Literal["verdict"] = "verdict"
    """Tells the findings of a report apart in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    def __post_init__(self) -> None:
        for name in ("score", "confidence", "threshold", "grounded"):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"{name} must lie in [0, 1], got {value!r}")
        if self.stated_confidence is not None and not 0.0 <= self.stated_confidence <= 1.0:
            raise ValueError(f"stated_confidence must be None or lie in [0, 1], got {self.stated_confidence!r}")
        if (self.label == "Attributable") != (self.score >= self.threshold):
            raise ValueError(
                f"label must be Attributable exactly when score >= threshold, got {self.label!r} "
                f"with score {self.score} and threshold {self.threshold}"
            )
        if self.label == "Attributable" and self.error_type is not None:
            raise ValueError(f"an Attributable verdict has no error type, got {self.error_type!r}")

    @property
    def attributable(self) -> bool:
        """True if the sources support the claim."""
        return self.label == "Attributable"

    def __str__(self) -> str:
        from vouching.types.display import verdict_text

        return verdict_text(self)

    def _repr_html_(self) -> str:
        from vouching.types.display import verdict_html

        return verdict_html(self)


@dataclass(frozen=True, slots=True)
class Unverified:
    """The judge failed on this claim. It is not a label, not a 0 and not a reward.

    >>> from vouching import check_many
    >>> [outcome] = check_many([{"claim": "It opened in 1973."}])
    >>> outcome.kind, outcome.reason
    ('unverified', 'input')
    """

    claim: Claim
    """What could not be checked."""
    reason: UnverifiedReason
    """What sort of failure."""
    message: str
    """What was got, what was wanted, what to do."""
    warnings: tuple[VerdictWarning, ...] = ()
    """What else was noticed."""
    usage: Usage = field(default_factory=Usage)
    """What the attempt cost."""
    kind: Literal["unverified"] = "unverified"
    """Tells the findings of a report apart in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    def __str__(self) -> str:
        from vouching.types.display import unverified_text

        return unverified_text(self)

    def _repr_html_(self) -> str:
        from vouching.types.display import unverified_html

        return unverified_html(self)
