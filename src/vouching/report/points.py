"""What every report says about a verdict, whatever it is drawn with: points, numbers in words, the fix word by word.

Left out: moved words; in the difference of two texts they show as gone in one place and come in the other.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

from vouching.types import Alignment, PairResult, RankedAnswer, ReasoningStep, Report, Span, Status, Verdict

EditKind = Literal["same", "old", "new"]

_WORDS = re.compile(r"\w+(?:[.,'’-]\w+)*|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of text and what becomes of it."""

    kind: EditKind
    """same (in both texts), old (only in the first) or new (only in the second)."""
    text: str
    """The characters themselves."""


def word_edits(old: str, new: str) -> list[Edit]:
    """How ``old`` becomes ``new``. The texts of "same" and "old" make up ``old``, those of "same" and "new" ``new``.

    >>> [(edit.kind, edit.text) for edit in word_edits("It opened in 1937.", "It opened in 1973.")]
    [('same', 'It opened in '), ('old', '1937'), ('new', '1973'), ('same', '.')]
    """
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    edits: list[Edit] = []
    for action, i, j, k, m in SequenceMatcher(None, before, after).get_opcodes():
        if action == "equal":
            edits.append(Edit("same", "".join(before[i:j])))
        else:
            edits += [Edit("old", "".join(before[i:j])), Edit("new", "".join(after[k:m]))]
    return _without_lone_blanks([edit for edit in edits if edit.text])


def _without_lone_blanks(edits: list[Edit]) -> list[Edit]:
    """Neighbouring changes as one: a blank that only happens to stand in both is no reason to interrupt an edit."""

    def stays(number: int) -> bool:
        between = 0 < number < len(edits) - 1
        return edits[number].kind == "same" and not (between and edits[number].text.isspace())

    joined: list[Edit] = []
    for same, numbers in groupby(range(len(edits)), stays):
        run = [edits[number] for number in numbers]
        if same:
            joined += run
            continue
        joined.append(Edit("old", "".join(edit.text for edit in run if edit.kind != "new")))
        joined.append(Edit("new", "".join(edit.text for edit in run if edit.kind != "old")))
    return [edit for edit in joined if edit.text]


def around_blanks(text: str, before: str, after: str) -> str:
    """``text`` between two marks, its outer blanks left outside, where they cannot be mistaken or switch a mark off.

    >>> around_blanks("blue ", "[-", "-]")
    '[-blue-] '
    """
    bare = text.strip()
    if not bare:
        return text
    lead, trail = text.split(bare, 1)
    return f"{lead}{before}{bare}{after}{trail}"


NOT_FOUND = "NOT_FOUND"
"""What a reasoning step quotes where nothing in the sources corresponds."""
LONGEST_QUOTATION = 1_000
"""Characters that a quotation in a table or a warning may have."""
_NO_CLAIM = "the response makes no claim"
_NOTHING = {"unchecked": "no rule was found in the instruction", "unasked": "the response states nothing to ask about"}


@dataclass(frozen=True, slots=True)
class Point:
    """One part of the claim, what the sources have in its place, and why that is enough or not."""

    status: Status
    """How the two compare."""
    claimed: str
    """The words of the claim."""
    found: str
    """The words of the source; empty if there are none."""
    span: Span | None
    """Where in the sources ``found`` stands; None if unknown."""
    reason: str
    """The explanation of the reasoning step; empty if it would only repeat the quotation."""
    absent: bool = False
    """Whether to say that the sources do not have it."""

    @property
    def place(self) -> str:
        """Source and offsets of ``found``, e.g. "source.txt:21-25"; empty if unknown."""
        return place_of(self.span)


def points_of(verdict: Verdict | RankedAnswer) -> list[Point]:
    """The alignment, each entry with the reasoning step about the same words, then the other steps.

    >>> from vouching.types import Claim
    >>> claimed, found = Span("1937", 13, 17), Span("1973", 21, 25, "source.txt")
    >>> step = ReasoningStep("1937", "1973", "not_supported", "The claim says 1937, the source says 1973.")
    >>> verdict = Verdict(
    ...     Claim("It opened in 1937."), "Not Attributable", 0.1, 0.9, 0.5, "contradicted",
    ...     evidence_alignment=(Alignment(claimed, found, "mismatch"),), reasoning_chain=(step,),
    ... )
    >>> points_of(verdict)[0].place
    'source.txt:21-25'
    """
    steps = list(verdict.reasoning_chain)
    points: list[Point] = []
    for entry in verdict.evidence_alignment:
        step = next((step for step in steps if step.claim_part == entry.claim_span.text), None)
        if step:
            steps.remove(step)
        points.append(_point(entry, step))
    return points + [_lone_step(step) for step in steps]


def pair_points(pair: PairResult) -> list[Point]:
    """The response's answer beside each value of the documents.

    >>> pair_points(PairResult("Q", "1937", "different", ("1973",), (Span("1973", 21, 25, "a.txt"),)))[0].place
    'a.txt:21-25'
    """
    status: Status = "match" if pair.attributable else "mismatch" if pair.found else "not_found"
    if not pair.found:
        return [Point(status, pair.answer, "", None, "", absent=pair.outcome == "not_found")]
    places = [*pair.places, *[None] * len(pair.found)]
    return [Point(status, pair.answer, found, place, "") for found, place in zip(pair.found, places, strict=False)]


def _point(entry: Alignment, step: ReasoningStep | None) -> Point:
    claimed, span = entry.claim_span.text, entry.source_span
    found = span.text if span else _quoted(step)
    obvious = entry.status == "match" and found.casefold() == claimed.casefold()
    reason = step.explanation if step and not obvious else ""
    return Point(entry.status, claimed, found, span, reason, absent=not found and entry.status != "match")


def _lone_step(step: ReasoningStep) -> Point:
    found = _quoted(step)
    status: Status = "match" if step.judgment == "supported" else "mismatch" if found else "not_found"
    # What is supported in part is there in some way, which its explanation tells.
    return Point(status, step.claim_part, found, None, step.explanation, not found and step.judgment == "not_supported")


def _quoted(step: ReasoningStep | None) -> str:
    return step.source_evidence if step and step.source_evidence != NOT_FOUND else ""


def place_of(span: Span | None) -> str:
    """Source and offsets of a span, as "source.txt:21-25"; empty without a span.

    >>> place_of(Span("1973", 21, 25, "source.txt"))
    'source.txt:21-25'
    """
    return f"{span.source_id or 'text'}:{span.start}-{span.end}" if span else ""


def confidence_words(confidence: float) -> str:
    """A confidence in words and in percent.

    >>> confidence_words(0.94), confidence_words(0.4)
    ('high confidence (94%)', 'confidence below even (40%)')
    """
    steps = ((0.95, "very high"), (0.85, "high"), (0.7, "fair"), (0.5, "low"))
    word = next((f"{word} confidence" for least, word in steps if confidence >= least), "confidence below even")
    return f"{word} ({percent(confidence)})"


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.914), percent(0.999)
    ('91%', '>99%')
    """
    # Nothing is certain: a share that is not 1 is not rounded to 100%.
    return ">99%" if 0.995 <= share < 1 else f"{100 * share:.0f}%"


def relation_words(verdict: Verdict) -> str:
    """How the sources stand to the claim, in a sentence or two.

    >>> from vouching.types import Claim
    >>> relation_words(Verdict(Claim("It opened."), "Attributable", 0.97, 0.97, 0.5, "supported"))
    'The sources support it. That does not make it true.'
    >>> relation_words(Verdict(Claim("It opened."), "Not Attributable", 0.3, 0.7, 0.5, "contradicted"))
    'A source says otherwise, taken as a whole; no single part shows it.'
    """
    if verdict.relation == "supported" and not verdict.attributable:
        return f"Supported in part: the {score_words(verdict, ' is below the')}."
    question = next((warning.message for warning in verdict.warnings if warning.kind == "question"), None)
    if verdict.relation == "supported" and question:
        return question
    wrong, missing = (
        sum(entry.status == status for entry in verdict.evidence_alignment) for status in ("mismatch", "not_found")
    )
    if verdict.relation == "supported":
        parts = [f"{_parts(wrong)} not match"] if wrong else []
        parts += [f"{_parts(missing, 'was', 'were')} not found"] if missing else []
        but = f" as a whole; {' and '.join(parts)}" if parts else ""
        return f"The sources support it{but}. That does not make it true."
    if verdict.relation == "contradicted":
        return f"A source says otherwise{'' if wrong else ', taken as a whole; no single part shows it'}."
    return "No source says so."


def _parts(number: int, one: str = "does", more: str = "do") -> str:
    return f"1 part {one}" if number == 1 else f"{number} parts {more}"


def score_words(verdict: Verdict, between: str = ",") -> str:
    """Score and threshold, with as many digits as it takes to tell them apart.

    >>> from vouching.types import Claim
    >>> score_words(Verdict(Claim("It opened."), "Not Attributable", 0.4983, 0.5017, 0.5, "not_found"))
    'score 0.498, threshold 0.500'
    """
    score, threshold, digits = verdict.score, verdict.threshold, 2
    while digits < 6 and score != threshold and round(score, digits) == round(threshold, digits):
        digits += 1
    return f"score {score:.{digits}f}{between} threshold {threshold:.{digits}f}"


def origin_words(verdict: Verdict) -> str:
    """Score, threshold and what produced the verdict."""
    made_by = f"{verdict.provenance.model}, vouching {verdict.provenance.version}"
    grounded = "" if verdict.grounded == 1.0 else f", {percent(verdict.grounded)} of the quotations found in the texts"
    return f"{score_words(verdict)}{grounded}; {made_by}"


def totals_words(report: Report) -> str:
    """How many claims or items came out how."""
    if not report.findings:
        what = next((_NOTHING[warning.kind] for warning in report.warnings if warning.kind in _NOTHING), _NO_CLAIM)
        return f"Nothing to check: {what}."
    return report.counts


def error_counts_words(report: Report) -> str:
    """The error types with their counts, most frequent first; empty if there are none."""
    return ", ".join(f"{kind.replace('_', ' ')} {number}" for kind, number in report.totals.by_error_type)


def non_claims_words(report: Report) -> str:
    """How many passages state nothing to check, and why; empty if there are none."""
    reasons = Counter(non_claim.reason for non_claim in report.non_claims)
    if not reasons:
        return ""
    counted = ", ".join(f"{number} {reason}" if number > 1 else reason for reason, number in reasons.most_common())
    number = len(report.non_claims)
    return f"{number} passage{'s' if number != 1 else ''} without a claim ({counted})"
