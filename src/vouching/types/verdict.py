"""The verdict: one claim, judged against its sources, with everything needed to check the judgement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from typing import Literal, Protocol

from vouching.types.notebook import framed, marked, notes, plain_body, shown
from vouching.types.spans import SIGNS, Claim, ErrorType, FindingStatus, Judgment, Label, Relation, Span, Status
from vouching.types.visible import percent, visible_line

VERDICT_VERSION = "1.1"
"""Version of the verdict's JSON. Changes within 1.x only add fields."""

ELSEWHERE = "occurs elsewhere in the sources"
"""Shown in place of a quotation for words that match, but not near the rest of the claim."""

WarningKind = Literal[
    "injection",
    "conflict",
    "inconsistency",
    "truncated",
    "unread",
    "language",
    "question",
    "search",
    "engine",
    "encoding",
    "ungrounded",
    "uncalibrated",
    "unchecked",
    "checklist",
    "unasked",
    "citation",
    "misattributed",
    "mentioned",
    "unpinned",
]
UnverifiedReason = Literal[
    "backend", "unparsable", "truncated", "ungrounded", "undecided", "refused", "input", "no_evidence", "unasked"
]

NOT_FOUND = "NOT_FOUND"
"""Written instead of a quotation where the sources have nothing that corresponds (SEVA)."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """One part of the claim with its counterpart in a source."""

    claim_span: Span
    """The part, with offsets in ``Claim.text``."""
    source_span: Span | None
    """Its counterpart, with offsets in the source it names; None if nothing corresponds (SEVA's NOT_FOUND)."""
    status: Status
    """match, mismatch (the source says otherwise) or not_found (the source does not say)."""


@dataclass(frozen=True, slots=True)
class ReasoningStep:
    """One step of the argument: evidence and conclusion."""

    claim_part: str
    """The examined words of the claim."""
    source_evidence: str
    """The words of the source that they were compared with, or "NOT_FOUND"."""
    judgment: Judgment
    """The conclusion."""
    explanation: str
    """Why, in a sentence."""


@dataclass(frozen=True, slots=True)
class VerdictWarning:
    """Something a reader should know before trusting the verdict."""

    kind: WarningKind
    """Kind of warning."""
    message: str
    """What happened and what it means, in a sentence."""
    span: Span | None = None
    """The text it is about, if any."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What produced the verdict, in enough detail to reproduce it."""

    model: str
    """Engine, e.g. "embedded:rules" or "http://host/v1#name"."""
    version: str
    """Version of vouching."""
    calibrator: str | None = None
    """Name and short hash of the map from raw scores to probabilities; None if uncalibrated."""
    prompt_hash: str | None = None
    """SHA-256 of the prompt template; None where no prompt is used."""
    seed: int | None = None
    """Sampling seed; None where nothing is sampled."""
    votes: int = 1
    """How many replies were asked for; the majority of them gave the label."""
    explained_by: str | None = None
    """Engine that wrote alignment, reasons, error type and fix, if another one than ``model``."""
    asked: tuple[str, ...] = ()
    """Models of a cascade that were asked before ``model`` and were undecided, in order."""
    answered_by: str | None = None
    """The version of ``model`` that answered, as its server names it; None where that is not known."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of a verdict."""

    seconds: float = 0.0
    """Wall-clock seconds spent on this claim."""
    prompt_tokens: int = 0
    """Tokens sent to a language model."""
    completion_tokens: int = 0
    """Tokens received from a language model."""
    calls: int = 0
    """Calls made to a language model."""
    cost: float = 0.0
    """Their price, as the server reports it or by VOUCH_PRICE; 0 where neither says."""


class Judged(Protocol):
    """Something that was judged, or should have been."""

    @property
    def passed(self) -> bool | None:
        """Whether it passed; None if unknown."""
        ...


def all_passed(findings: Iterable[Judged]) -> bool | None:
    """True if there is something and all of it passed; False if something did not; None if unknown.

    >>> all_passed([]), all_passed([Unverified(Claim("x"), "refused", "No.")])
    (None, None)
    """
    passed = [finding.passed for finding in findings]
    if False in passed:
        return False
    return None if None in passed or not passed else True


class Costing(Protocol):
    """Something with a cost: a verdict, a completion of a language model."""

    @property
    def usage(self) -> Usage:
        """What it cost."""
        ...


def total_usage(things: Iterable[Costing]) -> Usage:
    """Total cost of several things.

    >>> failed = Unverified(Claim("x"), "refused", "No.", usage=Usage(seconds=0.5, prompt_tokens=9, calls=1))
    >>> total_usage([failed, failed])
    Usage(seconds=1.0, prompt_tokens=18, completion_tokens=0, calls=2, cost=0.0)
    """
    used = [thing.usage for thing in things]
    return Usage(**{one.name: sum(getattr(usage, one.name) for usage in used) for one in fields(Usage)})


@dataclass(frozen=True, slots=True)
class Verdict:
    """One claim judged against its sources (SEVA section 2.2: alignment, chain, label, confidence, error, fix).

    "Attributable" means that the given sources support the claim, not that the claim is true. Raises ValueError for a
    probability outside [0, 1], or a label that does not follow from score and threshold.

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
    """Calibrated probability that the claim is Attributable, in [0, 1]; if uncalibrated, a warning says so."""
    confidence: float
    """Calibrated probability that ``label`` is right, in [0, 1]: ``score`` for Attributable, else ``1 - score``. It
    does not depend on the threshold, and can be below .5 if the threshold is not .5. Where the sources conflict, it is
    below .5 whatever the label: it is not known which of them is right."""
    threshold: float
    """Score from which the claim counts as Attributable."""
    relation: Relation
    """supported, contradicted (a source says otherwise), not_found (no source says so) or conflicting (one place
    supports the claim and another contradicts it)."""
    evidence_alignment: tuple[Alignment, ...] = ()
    """The parts of the claim with their counterparts in the sources, in the claim's order."""
    reasoning_chain: tuple[ReasoningStep, ...] = ()
    """The argument, step by step."""
    error_type: ErrorType | None = None
    """What is wrong; None for an Attributable claim, and where the sources conflict."""
    fix_suggestion: str | None = None
    """The edit that would make the claim Attributable, if found. Only one with a ``revised_claim`` has passed a
    second check; the embedded verifier gives no others."""
    revised_claim: str | None = None
    """The edited claim, which the same verifier judged Attributable."""
    grounded: float = 1.0
    """Share of the quoted spans that occur in the claim and the sources, in [0, 1]."""
    stated_confidence: float | None = None
    """A language model's stated confidence (SEVA's gamma); None for other engines."""
    warnings: tuple[VerdictWarning, ...] = ()
    """Injected instructions, unread text, language, and so on."""
    provenance: Provenance = field(default_factory=lambda: Provenance(model="unknown", version="unknown"))
    """What produced the verdict."""
    usage: Usage = field(default_factory=Usage)
    """What it cost."""
    kind: Literal["verdict"] = "verdict"
    """Distinguishes the findings of a report in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    def __post_init__(self) -> None:
        for name in ("score", "confidence", "threshold", "grounded"):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"{name} must be in [0, 1], got {value!r}")
        if self.stated_confidence is not None and not 0.0 <= self.stated_confidence <= 1.0:
            raise ValueError(f"stated_confidence must be None or in [0, 1], got {self.stated_confidence!r}")
        if (self.label == "Attributable") != (self.score >= self.threshold):
            raise ValueError(
                f"label must be Attributable exactly when score >= threshold, got {self.label!r} "
                f"with score {self.score} and threshold {self.threshold}"
            )
        if self.label == "Attributable" and self.error_type is not None:
            raise ValueError(f"an Attributable verdict must have no error type, got {self.error_type!r}")

    @property
    def attributable(self) -> bool:
        """True if the sources support the claim."""
        return self.label == "Attributable"

    @property
    def passed(self) -> bool:
        """The same, under the name shared by all findings."""
        return self.attributable

    @property
    def status(self) -> FindingStatus:
        """Good, contradicted, or not found."""
        return "match" if self.attributable else "not_found" if self.relation == "not_found" else "mismatch"

    @property
    def span(self) -> Span | None:
        """Where in the response the claim is, if known."""
        return self.claim.span

    @property
    def subject(self) -> str:
        """The claim."""
        return self.claim.text

    @property
    def fix_title(self) -> str:
        """Title of ``fix_suggestion``.

        "Fix" if the revised claim was judged again and passed, "Removal" if it is the claim without some of its words.

        >>> claim = Claim("It opened.")
        >>> Verdict(claim, "Not Attributable", 0.3, 0.7, 0.5, "not_found", fix_suggestion="Cut it.").fix_title
        'Suggestion, not checked'
        """
        if self.revised_claim is None:
            return "Suggestion, not checked"
        left = iter(re.findall(r"\w+", self.claim.text.lower()))
        return "Removal" if all(word in left for word in re.findall(r"\w+", self.revised_claim.lower())) else "Fix"

    @property
    def problem(self) -> str:
        """The error type in words, or that the sources disagree; "" if there is neither."""
        return "sources disagree" if self.relation == "conflicting" else (self.error_type or "").replace("_", " ")

    @property
    def headline(self) -> str:
        """Label, confidence and error type in one line.

        >>> Verdict(Claim("It opened in 1973."), "Attributable", 0.97, 0.97, 0.5, "supported").headline
        '✓ Attributable (97 % sure)'
        """
        sign = "✓" if self.attributable else "✗"
        kind = f" · {self.problem}" if self.problem else ""
        return f"{sign} {self.label} ({percent(self.confidence)} sure){kind}"

    def __str__(self) -> str:
        """A line for each part, safe to print in a terminal."""
        lines = [self.headline, f"  {visible_line(self.claim.text)}"]
        for entry in self.evidence_alignment:
            claimed, found = f'"{entry.claim_span.text}"', _found(entry, self.reasoning_chain)
            lines.append("  ".join(["", f"{SIGNS[entry.status]} {visible_line(claimed)}", *map(visible_line, found)]))
        if self.fix_suggestion:
            lines.append(f"  {self.fix_title}: {visible_line(self.fix_suggestion)}")
            lines += [f"  -> {visible_line(self.revised_claim)}"] if self.revised_claim is not None else []
        lines.extend(f"  ! {visible_line(warning.message)}" for warning in self.warnings)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return framed(self.notebook_body())

    def notebook_body(self) -> str:
        """HTML without its frame: the claim with marked parts, and a table of the reasons."""
        spans = [(entry.claim_span, entry.status) for entry in self.evidence_alignment]
        rows = "".join(
            f"<tr><td>{shown(step.claim_part)}</td><td>{_evidence(step)}</td>"
            f"<td>{escape(step.judgment.replace('_', ' '))}</td><td>{shown(step.explanation)}</td></tr>"
            for step in self.reasoning_chain
        )
        head = "<tr><th>Claim</th><th>Source</th><th>Judgment</th><th>Why</th></tr>"
        table = f"<table>{head}{rows}</table>" if rows else ""
        fix = ""
        if self.fix_suggestion:
            revised = "" if self.revised_claim is None else f" → <em>{shown(self.revised_claim)}</em>"
            fix = f"<div>{self.fix_title}: {shown(self.fix_suggestion)}{revised}</div>"
        return (
            f"<div class='finding {'supported' if self.attributable else 'unsupported'}'>"
            f"<div class='head'>{escape(self.headline)}</div>"
            f"<div class='claim'>{marked(self.claim.text, spans)}</div>{table}{fix}"
            f"{notes(warning.message for warning in self.warnings)}</div>"
        )


def _found(entry: Alignment, steps: Sequence[ReasoningStep]) -> list[str]:
    """The counterpart of a part in the sources; empty where a step supports it without a quotation."""
    if entry.source_span:
        return [f'"{entry.source_span.text}"']
    if entry.status != "match":
        return ["not in the sources"]
    # A qualifier that adds nothing is supported although no source has it: it does not occur elsewhere.
    supported = any(s.claim_part == entry.claim_span.text and s.judgment == "supported" for s in steps)
    return [] if supported else [ELSEWHERE]


def _evidence(step: ReasoningStep) -> str:
    if step.source_evidence != NOT_FOUND:
        return shown(step.source_evidence)
    return ELSEWHERE if step.judgment == "partially_supported" else "–"


@dataclass(frozen=True, slots=True)
class Unverified:
    """The judge failed on this claim. It is not a label, a 0 or a reward; the parts of a verdict are None or empty.

    >>> from vouching import check_many
    >>> [outcome] = check_many([{"claim": "It opened in 1973."}])
    >>> outcome.kind, outcome.reason, outcome.score
    ('unverified', 'input', None)
    """

    claim: Claim
    """What could not be checked."""
    reason: UnverifiedReason
    """Kind of failure."""
    message: str
    """What happened, what was expected, what to do."""
    warnings: tuple[VerdictWarning, ...] = ()
    """Other observations."""
    usage: Usage = field(default_factory=Usage)
    """Cost of the attempt."""
    verdict: Verdict | None = None
    """The verdict that was not sure enough, with its evidence, reasons and fix; None where there is none."""
    reply: str | None = None
    """What the model said last, where that could not be used, shortened in the middle to 1,000 characters."""
    kind: Literal["unverified"] = "unverified"
    """Distinguishes the findings of a report in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""
    attributable = score = confidence = threshold = relation = error_type = fix_suggestion = revised_claim = None
    stated_confidence = grounded = provenance = None
    evidence_alignment = reasoning_chain = ()

    @property
    def label(self) -> str:
        """Shown in place of a label."""
        return "Unverified"

    @property
    def passed(self) -> None:
        """None: unknown."""
        return None

    @property
    def status(self) -> FindingStatus:
        """Missing."""
        return "unverified"

    @property
    def span(self) -> Span | None:
        """Where in the response the claim is, if known."""
        return self.claim.span

    @property
    def subject(self) -> str:
        """What could not be checked."""
        return self.claim.text

    def __str__(self) -> str:
        title = f"? Unverified ({self.reason}): {visible_line(self.message)}"
        if self.verdict is not None:
            return "\n".join([title, *str(self.verdict).splitlines()[1:]])
        return f"{title}\n  {visible_line(self.claim.text)}" if self.claim.text else title

    def _repr_html_(self) -> str:
        return framed(plain_body(str(self)))
