"""Check a reply against the texts, and merge several answers into one.

Every quote is located or marked as invented, and only located quotes count. A part that rests on an invented quote
becomes ``not_found``; a reply with no real quotes is not a verdict, nor is one whose confidence denies its own label.
Other contradictions within a reply are warnings, since its label may still be right. Not supported: judging the
reasons.

Votes: the majority label wins; the score is the share of votes for Attributable (self-consistency, Wang et al. 2023),
and the record is the best grounded, then the most confident, of the majority. A tie is undecided. Windows: support in
one is support; otherwise a contradiction in one is a contradiction. Not supported: claims that need sentences from two
windows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import TypeAlias, get_args

from rapidfuzz import fuzz

from vouching.judging.ask import ReplyError
from vouching.judging.votes import voted_share
from vouching.judging.windows import ScreenedSources, says_the_same
from vouching.methods.structured.reply import LabelReply, Reply, ReplyEntry, ReplyStep
from vouching.text.locate import locate_all
from vouching.types import (
    NOT_FOUND,
    Alignment,
    Claim,
    ErrorType,
    Label,
    ReasoningStep,
    Relation,
    Span,
    Unverified,
    VerdictWarning,
)

MIN_CONFIDENCE = 0.51
"""The confidence in its own label that a model is credited with for 0.5, so that the score is on the label's side."""
_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True)
class LocatedReply:
    """The content of one reply, with its quotes located."""

    label: Label
    """The model's own label."""
    stated: float
    """Its stated confidence in it, in [0, 1]."""
    by_token: float | None = None
    """P(Attributable) by the probabilities of the tokens that begin the label; None if the server reports none."""
    alignment: tuple[Alignment, ...] = ()
    """Without entries about words that the claim does not have."""
    chain: tuple[ReasoningStep, ...] = ()
    error_type: ErrorType | None = None
    """None for Attributable, as are ``fix`` and ``revised``."""
    fix: str | None = None
    revised: str | None = None
    """The corrected claim, not yet judged."""
    grounded: float = 1.0
    """Share of its quotes that occur in the claim and the sources."""
    warnings: tuple[VerdictWarning, ...] = ()
    """Invented quotes and contradictions."""

    @property
    def probability(self) -> float:
        """P(Attributable) by the tokens of the label, or as stated: the confidence, or its complement."""
        if self.by_token is not None:
            return self.by_token
        sure = max(self.stated, MIN_CONFIDENCE)
        return sure if self.label == "Attributable" else 1 - sure

    @property
    def supports(self) -> bool:
        """Whether it says Attributable: by the tokens of the label where these decide, else by the label."""
        return self.label == "Attributable" if self.by_token is None else self.by_token >= 0.5

    @property
    def relation(self) -> Relation:
        """How the sources relate to a claim that is Not Attributable; not_found for a label alone."""
        return "contradicted" if any(entry.status == "mismatch" for entry in self.alignment) else "not_found"


def read_label(reply: LabelReply, alternatives: Sequence[Mapping[str, float]] = ()) -> LocatedReply:
    """A reply of label and confidence alone, without quotes. Raises ReplyError if they contradict each other.

    ``alternatives`` are the likeliest texts of each token of the reply, as in ``Completion``.
    """
    _refuse_denied(reply.label, reply.confidence)
    return LocatedReply(reply.label, reply.confidence, label_by_token(reply.label, alternatives))


_LABEL = re.compile(r'"label"\s*:\s*"')


def label_by_token(label: Label, alternatives: Sequence[Mapping[str, float]]) -> float | None:
    """P(Attributable), of the two labels, by the likeliest texts of the token that begins the label.

    A model that prefers one label throughout still finds it likelier for some claims than for others; what it states
    as its confidence says little of that. A label that none of the texts begins counts as the least likely of them,
    than which it cannot be likelier. None if the alternatives do not have this label, or say nothing about the other.

    Args:
        label: that of the reply.
        alternatives: the natural logarithms of the probabilities of each token's likeliest texts, that of the reply
            first, as in ``Completion``.

    >>> begun = {"Not": -0.2231435513142097, "At": -2.302585092994046, "Attrib": -2.302585092994046}  # .8, .1 and .1
    >>> round(label_by_token("Not Attributable", [{'{"label": "': 0.0}, begun]), 6)
    0.2
    """
    tokens = [next(iter(step)) for step in alternatives]
    found = [*_LABEL.finditer("".join(tokens))]
    if len(found) != 1:
        return None
    start = 0
    for token, step in zip(tokens, alternatives, strict=True):
        if start + len(token) > found[0].end():
            before = token[: max(0, found[0].end() - start)]
            begun = {text[len(before) :]: exp(value) for text, value in step.items() if text.startswith(before)}
            return _share(label, begun, min(map(exp, step.values()))) if _begins(label, token[len(before) :]) else None
        start += len(token)
    return None


def _share(label: Label, begun: Mapping[str, float], least: float) -> float | None:
    """P(Attributable) by the probabilities of texts that may begin a label; ``least`` is the lowest that is listed."""
    mass = {one: sum(value for text, value in begun.items() if _begins(one, text)) for one in get_args(Label)}
    other = next(one for one in mass if one != label)
    mass[other] = mass[other] or (least if least < mass[label] else 0.0)
    return mass["Attributable"] / sum(mass.values()) if mass[other] else None


def _begins(label: str, text: str) -> bool:
    """Whether a text can be the begin of a label, which models spell in several ways."""
    text = text.replace("_", " ").replace("-", " ").lower()
    return bool(text) and (label.lower().startswith(text) or text.startswith(label.lower()))


def read_reply(reply: Reply, claim: Claim, evidence: ScreenedSources) -> LocatedReply | Unverified:
    """Check a whole record against claim and sources.

    Returns:
        The reading, or Unverified(reason="ungrounded") if no entry is about words of the claim, if sources are quoted
        and no quote is real, or if the label is Attributable without a real quote.

    Raises ReplyError if label and confidence contradict each other.
    """
    _refuse_denied(reply.label, reply.confidence)
    quotes = _Quotes(claim, evidence)
    alignment = tuple(quotes.align(reply.evidence_alignment))
    chain = tuple(map(quotes.step, reply.reasoning_chain))
    attributable = reply.label == "Attributable"
    if not alignment:
        return Unverified(claim, "ungrounded", "the reply quotes no words of the claim: it may be about another claim")
    if not quotes.real and (quotes.quoted or attributable):
        got = f"none of its {quotes.quoted} quotes is in a source" if quotes.quoted else "it quotes no source"
        return Unverified(claim, "ungrounded", f"the reply says {reply.label}, but {got}: the label is unsupported")
    return LocatedReply(
        label=reply.label,
        stated=reply.confidence,
        alignment=alignment,
        chain=chain,
        error_type=None if attributable else reply.error_type,
        fix=None if attributable else reply.fix_suggestion,
        revised=None if attributable else reply.revised_claim,
        grounded=quotes.grounded,
        warnings=(*quotes.warnings, *_contradictions(reply)),
    )


class _Quotes:
    """Looks up and counts the quotes of one reply."""

    def __init__(self, claim: Claim, evidence: ScreenedSources) -> None:
        self.claim = claim
        self.evidence = evidence
        self.quoted = 0
        self.real = 0
        self.warnings: list[VerdictWarning] = []
        self._parts = 0
        self._real_parts = 0

    @property
    def grounded(self) -> float:
        return (self.real + self._real_parts) / max(1, self.quoted + self._parts)

    def align(self, entries: Sequence[ReplyEntry]) -> Iterator[Alignment]:
        places = locate_all([entry.claim_span for entry in entries], self.claim.text)
        for entry, place in zip(entries, places, strict=True):
            self._parts += 1
            words = self.claim.text[place.start : place.end] if place else ""
            if place is None or (place.how == "fuzzy" and not says_the_same(entry.claim_span, words)):
                self._invented(entry.claim_span, "is not in the claim")
                continue
            self._real_parts += 1
            span = Span(words, place.start, place.end)
            source = self._source_span(entry.source_span)
            lost = source is None and _is_quote(entry.source_span)
            yield Alignment(span, source, "not_found" if lost else entry.status)

    def step(self, step: ReplyStep) -> ReasoningStep:
        span = self._source_span(step.source_evidence)
        words = span.text if span else NOT_FOUND
        return ReasoningStep(step.claim_part, words, step.judgment, step.explanation)

    def _source_span(self, quote: str | None) -> Span | None:
        if quote is None or not _is_quote(quote):
            return None
        self.quoted += 1
        span = self.evidence.find(quote, near=self.claim.text)
        if span is None:
            self._invented(quote, "is not in any source")
        else:
            self.real += 1
        return span

    def _invented(self, quote: str, where: str) -> None:
        shown = quote if len(quote) <= _LONGEST_SHOWN else f"{quote[:_LONGEST_SHOWN]}..."
        warning = VerdictWarning("ungrounded", f'The reply quotes "{shown}", which {where}.')
        if warning not in self.warnings:
            self.warnings.append(warning)


def _is_quote(written: str | None) -> bool:
    return written is not None and any(c.isalnum() for c in written) and written.strip().upper() not in _NO_QUOTE


_NO_QUOTE = (NOT_FOUND, "NOT FOUND", "NONE", "NULL", "N/A")


def _contradictions(reply: Reply) -> Iterator[VerdictWarning]:
    """Inconsistencies within a reply."""
    failed = [e for e in reply.evidence_alignment if e.status != "match"]
    doubted = [s for s in reply.reasoning_chain if s.judgment != "supported"]
    if reply.label == "Attributable":
        if failed or doubted:
            yield _inconsistent(
                f"the label is Attributable, but parts of the claim do not match ({len(failed)}) or steps are not "
                f"supported ({len(doubted)})"
            )
        if reply.error_type is not None:
            yield _inconsistent(f"the label is Attributable, but the reply names the error {reply.error_type}")
        if reply.fix_suggestion is not None:
            yield _inconsistent("the label is Attributable, but the reply suggests a fix")
    else:
        if not failed and not doubted:
            yield _inconsistent("the label is Not Attributable, but every part matches and every step is supported")
        if reply.error_type is None:
            yield _inconsistent("the label is Not Attributable, but the reply names no error")
        if reply.error_type == "fabrication" and any(e.status == "mismatch" for e in reply.evidence_alignment):
            yield _inconsistent("the reply names the error fabrication, but finds a part that a source contradicts")


def _refuse_denied(label: Label, stated: float) -> None:
    """Raise ReplyError if the probability that the label is right, which is what is asked for, is below one half."""
    if stated < 0.5:
        raise ReplyError(
            f"the label is {label}, but the confidence {stated:g} says that this label is probably wrong: expected the "
            "probability that the label is right"
        )


def _inconsistent(what: str) -> VerdictWarning:
    return VerdictWarning("inconsistency", f"The reply contradicts itself: {what}.")


@dataclass(frozen=True, slots=True)
class VoteResult:
    """The result of one or more answers, before calibration."""

    reading: LocatedReply
    """The record that represents them."""
    score: float
    """P(Attributable) of the one reply, or the share of votes for it."""


VoteOutcome: TypeAlias = VoteResult | Unverified


def majority_vote(claim: Claim, votes: Sequence[LocatedReply | Unverified]) -> VoteOutcome:
    """The result of one or more answers to a question; failed ones do not vote.

    Returns the majority's best record; Unverified with the first failure's reason if more than half failed, and with
    "undecided" for a tie.

    >>> yes, no = LocatedReply("Attributable", 0.9), LocatedReply("Not Attributable", 0.8)
    >>> majority_vote(Claim("x"), [no, yes, yes]).score, majority_vote(Claim("x"), [yes]).score
    (0.6666666666666666, 0.9)
    >>> majority_vote(Claim("x"), [yes, no]).reason
    'undecided'
    """
    valid = [vote for vote in votes if isinstance(vote, LocatedReply)]
    failed = [vote for vote in votes if isinstance(vote, Unverified)]
    if 2 * len(failed) > len(votes) or not valid:
        if len(votes) == 1:
            return failed[0]
        return replace(failed[0], message=f"{len(failed)} of {len(votes)} votes failed; the first: {failed[0].message}")
    if len(votes) == 1:
        return VoteResult(valid[0], valid[0].probability)
    share = voted_share(vote.label == "Attributable" for vote in valid) or 0.0
    if share == 0.5:
        message = f"{len(valid)} votes are split evenly between both labels: use an odd number, or decide by hand"
        return Unverified(claim, "undecided", message)
    winners = [vote for vote in valid if (vote.label == "Attributable") == (share > 0.5)]
    best = max(winners, key=lambda vote: (vote.grounded, vote.stated))
    stated = sum(vote.stated for vote in winners) / len(winners)
    return VoteResult(replace(best, stated=stated, by_token=None), share)


def merge(windows: Sequence[VoteOutcome]) -> VoteOutcome:
    """The result of the windows of long sources, in the order of the text.

    Returns:
        The result with the highest score if one supports the claim, else the contradiction with the lowest, else the
        other result with the highest. Unverified if a window failed and no other one supports the claim.
    """
    read = [result for result in windows if isinstance(result, VoteResult)]
    failed = [result for result in windows if isinstance(result, Unverified)]
    supporting = [result for result in read if result.reading.supports]
    if failed and not supporting:
        if len(windows) == 1:
            return failed[0]
        what = f"{len(failed)} of {len(windows)} windows of the sources could not be read; the first: "
        return replace(failed[0], message=what + failed[0].message)
    against = [result for result in read if result.reading.relation == "contradicted"]
    if supporting:
        best = max(supporting, key=lambda result: result.score)
        return _with_notes(best, len(failed), len([result for result in against if result not in supporting]))
    return min(against, key=lambda r: r.score) if against else max(read, key=lambda r: r.score)


def _with_notes(best: VoteResult, unread: int, against: int) -> VoteResult:
    notes: list[VerdictWarning] = []
    if unread:
        windows = f"{unread} further window{'s' * (unread != 1)}"
        notes.append(VerdictWarning("unread", f"{windows} of the sources could not be read."))
    if against:
        windows = "1 other window contradicts" if against == 1 else f"{against} other windows contradict"
        notes.append(VerdictWarning("conflict", f"{windows} the claim."))
    return replace(best, reading=replace(best.reading, warnings=(*best.reading.warnings, *notes)))


MIN_SIMILARITY = 90.0
"""Similarity of a span and the best stretch of the text, from 0 to 100."""
MAX_SIMILAR = 500
"""Characters of a span; longer ones must occur literally, to bound the time per reply."""


def occurs(span: str, texts: Sequence[str]) -> bool:
    """Whether one of the folded ``texts`` contains a span, up to case, white space and small differences."""
    sought = folded(span)
    if not sought:
        return False
    if any(sought in text for text in texts):
        return True
    # partial_ratio looks for the shorter in the longer, but only the text may contain the span.
    return len(sought) <= MAX_SIMILAR and any(
        len(sought) <= len(text) and fuzz.partial_ratio(sought, text, score_cutoff=MIN_SIMILARITY) > 0 for text in texts
    )


def folded(text: str) -> str:
    """A text without differences of case and white space."""
    return " ".join(text.casefold().split())
