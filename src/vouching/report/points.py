"""What reports show of a verdict, whatever they are drawn with: points, figures in words, edits word by word.

Not supported: moved words, which show as a deletion and an insertion.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

from vouching.types import NOT_FOUND, Alignment, PairResult, RankedAnswer, ReasoningStep, Report, Span, Status, Verdict

EditKind = Literal["same", "old", "new"]

_WORDS = re.compile(r"\w+(?:[.,'’-]\w+)*|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Edit:
    """A part of a text that stays or changes."""

    kind: EditKind
    """same (in both texts), old (only in the first) or new (only in the second)."""
    text: str


def word_edits(old: str, new: str) -> list[Edit]:
    """The edits from ``old`` to ``new``, word by word: "same" and "old" make up ``old``, "same" and "new" ``new``."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    edits: list[Edit] = []
    for action, i, j, k, m in SequenceMatcher(None, before, after).get_opcodes():
        if action == "equal":
            edits.append(Edit("same", "".join(before[i:j])))
        else:
            edits += [Edit("old", "".join(before[i:j])), Edit("new", "".join(after[k:m]))]
    return _without_lone_blanks([edit for edit in edits if edit.text])


def _without_lone_blanks(edits: list[Edit]) -> list[Edit]:
    """Merge neighbouring changes: a space between them that is in both texts does not separate edits."""

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
    """``text`` between two marks, with its outer blanks outside the marks, where they cannot disable a mark."""
    bare = text.strip()
    if not bare:
        return text
    lead, trail = text.split(bare, 1)
    return f"{lead}{before}{bare}{after}{trail}"


_SEVERAL = 2
_MAX_REVIEWED = 5
MAX_QUOTATION = 1_000
"""Maximum characters of a quotation in a table or a warning."""
_NO_CLAIM = "the response makes no claim"
_NOTHING = {
    "unchecked": "no rule was found in the instruction",
    "unasked": "the response contains nothing to ask about",
}


@dataclass(frozen=True, slots=True)
class Point:
    """A part of the claim, its counterpart in the sources, and the reason for the outcome."""

    status: Status
    claimed: str
    """The words of the claim."""
    found: str
    """The words of the source; may be empty."""
    span: Span | None
    """Where ``found`` is in the sources; None if unknown."""
    reason: str
    """The explanation of the reasoning step; empty if it would only repeat the quotation."""
    absent: bool = False
    """Whether to state that the sources do not have it."""

    @property
    def place(self) -> str:
        """Source and offsets of ``found``, e.g. "source.txt:21-25"; empty if unknown."""
        return place_of(self.span)


def points_of(verdict: Verdict | RankedAnswer) -> list[Point]:
    """The alignment, each entry with the reasoning step about the same words, then the other steps."""
    steps = list(verdict.reasoning_chain)
    points: list[Point] = []
    for entry in verdict.evidence_alignment:
        step = next((step for step in steps if step.claim_part == entry.claim_span.text), None)
        if step:
            steps.remove(step)
        points.append(_point(entry, step))
    return points + [_lone_step(step) for step in steps]


def pair_points(pair: PairResult) -> list[Point]:
    """The response's answer, compared with each value of the documents."""
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
    # What is supported in part is present in some way; the explanation says how.
    return Point(status, step.claim_part, found, None, step.explanation, not found and step.judgment == "not_supported")


def _quoted(step: ReasoningStep | None) -> str:
    return step.source_evidence if step and step.source_evidence != NOT_FOUND else ""


def place_of(span: Span | None) -> str:
    """Source and offsets of a span, as "source.txt:21-25"; empty without a span."""
    return f"{span.source_id or 'text'}:{span.start}-{span.end}" if span else ""


def confidence_words(confidence: float) -> str:
    """A confidence in words and in percent, e.g. "high confidence (94%)"."""
    steps = ((0.95, "very high"), (0.85, "high"), (0.7, "fair"), (0.5, "low"))
    word = next((f"{word} confidence" for least, word in steps if confidence >= least), "confidence below 50%")
    return f"{word} ({percent(confidence)})"


def percent(share: float) -> str:
    """A share in percent, e.g. "91%"."""
    # Nothing is certain: a share below 1 is not rounded to 100%.
    return ">99%" if 0.995 <= share < 1 else f"{100 * share:.0f}%"


def relation_words(verdict: Verdict) -> str:
    """What the sources say about the claim, in a sentence or two."""
    if verdict.relation == "supported" and not verdict.attributable:
        return f"Only partly supported: the {score_words(verdict, ' is below the')}."
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
        return f"The sources support the claim{but}. That does not make it true."
    if verdict.relation == "conflicting":
        return "The sources disagree: one place supports the claim, another contradicts it."
    if verdict.relation == "contradicted":
        if wrong:
            return "A source says otherwise."
        return "As a whole, a source contradicts the claim, although no single part shows this."
    return "No source supports the claim."


def _parts(number: int, one: str = "does", more: str = "do") -> str:
    return f"1 part {one}" if number == 1 else f"{number} parts {more}"


def score_words(verdict: Verdict, between: str = ",") -> str:
    """Score and threshold, with enough digits to distinguish them."""
    score, threshold, digits = verdict.score, verdict.threshold, 2
    while digits < 6 and score != threshold and round(score, digits) == round(threshold, digits):
        digits += 1
    return f"score {score:.{digits}f}{between} threshold {threshold:.{digits}f}"


def made_by_words(verdict: Verdict) -> str:
    """What produced the verdict, and how many of its quotations are in the texts if some are not."""
    grounded = "" if verdict.grounded == 1.0 else f"; {percent(verdict.grounded)} of the quotations found in the texts"
    return f"{verdict.provenance.model}, vouching {verdict.provenance.version}{grounded}"


def totals_words(report: Report) -> str:
    """The counts of outcomes, or why there is nothing to check."""
    if not report.findings:
        what = next((_NOTHING[warning.kind] for warning in report.warnings if warning.kind in _NOTHING), _NO_CLAIM)
        return f"Nothing to check: {what}."
    return report.counts


def error_counts_words(report: Report) -> str:
    """The error types with their counts, most frequent first; empty if there are none."""
    return ", ".join(f"{kind.replace('_', ' ')} {number}" for kind, number in report.totals.by_error_type)


def unchanged_words(report: Report) -> str:
    """What to say of a repair that changed nothing."""
    return "no change was made" if report.unrepaired else "nothing to change"


def review_words(report: Report) -> str:
    """Which of several claims to look at first, and why; empty if there is none."""
    if len(report.findings) < _SEVERAL:
        return ""
    shown = [f"{number} ({why})" for number, why in report.review_first[:_MAX_REVIEWED]]
    more = len(report.review_first) - len(shown)
    return f"Look first at {', '.join(shown)}{f' and {more} more' if more else ''}" if shown else ""


def non_claims_words(report: Report) -> str:
    """The passages without a claim, counted by reason; empty if there are none."""
    reasons = Counter(non_claim.reason for non_claim in report.non_claims)
    if not reasons:
        return ""
    counted = ", ".join(f"{number} {reason}" if number > 1 else reason for reason, number in reasons.most_common())
    number = len(report.non_claims)
    missed = [f'"{said.topic.text}"' for said in report.abstained if said.in_sources and said.topic]
    wrong = f"; it abstains, but the sources have {', '.join(missed)}" if missed else ""
    return f"{number} passage{'s' if number != 1 else ''} without a claim ({counted}){wrong}"
