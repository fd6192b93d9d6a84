"""How each part of a claim is explained: its place in the sources, and the reason for its outcome in one sentence.

A reason never shows the same words on both sides: a value is shown with its bound, a word with its preposition.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from vouching.embedded.diagnosis import is_anothers
from vouching.embedded.features import Segment
from vouching.embedded.scene import Comparison, Outcome
from vouching.encoder.reading import SoftReading, TokenMatch
from vouching.reading.evidence import SourceIndex
from vouching.reading.plain import PlainText
from vouching.text.bounds import read_hedge
from vouching.text.words import find_words
from vouching.types import NOT_FOUND, Alignment, Judgment, ReasoningStep, Span

_SOFTENED: dict[Outcome, Outcome] = {"replaced": "paraphrased", "overstated": "absent"}


def softened(segments: Sequence[Segment]) -> list[Segment]:
    """The sentences of a claim that is Attributable, without differences that did not count.

    Another word in a slot may be a paraphrase, and a qualifier that the source lacks may go without saying; of claims
    in which only these differ, as many are right as of others.
    """
    return [
        replace(
            segment,
            comparisons=tuple(
                replace(found, outcome=_SOFTENED.get(found.outcome, found.outcome)) for found in segment.comparisons
            ),
        )
        for segment in segments
    ]


def align(segment: Segment, index: SourceIndex) -> list[Alignment]:
    """The alignment of one sentence of a claim, with offsets in the claim and in the sources."""
    return [
        Alignment(_claim_span(segment, comparison), _source_span(comparison, index), comparison.status)
        for comparison in segment.comparisons
    ]


def explain(segment: Segment, alignment: Sequence[Alignment], index: SourceIndex) -> list[ReasoningStep]:
    """The reasoning steps of one sentence of a claim, given its alignment."""
    steps: list[ReasoningStep] = []
    for comparison, aligned in zip(segment.comparisons, alignment, strict=True):
        claimed = aligned.claim_span.text
        evidence = aligned.source_span.text if aligned.source_span else NOT_FOUND
        judgment, reason = _argue(segment, comparison, claimed, evidence, index)
        steps.append(ReasoningStep(claimed, evidence, judgment, reason))
    return steps


_DOUBTED, _ALIKE, _LONGEST = 0.6, 0.15, 60
"""Support below which a token can be the doubted one; how much more support its neighbours may have; characters."""


def doubt(read: PlainText, claim: str, soft: SoftReading | None) -> ReasoningStep:
    """Why a claim whose parts the sources all have is not supported: its least supported words, where they are known.

    Args:
        read: the claim as it was read.
        claim: the claim as it was written.
        soft: what the encoders found in it.
    """
    place = _doubted_words(read.text, soft.tokens if soft else ())
    if place is None:
        reason = "No single part decides: the source has the parts of the claim, but does not say them together."
        return ReasoningStep(claim, NOT_FOUND, "partially_supported", reason)
    start, end = read.origin(*place)
    words = claim[start:end]
    return ReasoningStep(words, NOT_FOUND, "not_supported", f'Of the claim, "{words}" has the least support.')


def _doubted_words(text: str, tokens: Sequence[TokenMatch]) -> tuple[int, int] | None:
    """The words around the least supported token that have hardly more support; None if no token has little."""
    worst = min(range(len(tokens)), key=lambda at: tokens[at].support, default=-1)
    if worst < 0 or tokens[worst].support >= _DOUBTED:
        return None
    limit = tokens[worst].support + _ALIKE
    first = last = worst
    while first and tokens[first - 1].support <= limit:
        first -= 1
    while last + 1 < len(tokens) and tokens[last + 1].support <= limit:
        last += 1
    start, end = tokens[first].claim_span.start, tokens[last].claim_span.end
    if end - start > _LONGEST:
        start, end = tokens[worst].claim_span.start, tokens[worst].claim_span.end
    words = [word for word in find_words(text) if word.start < end and start < word.end]
    content = [word for word in words if word.is_content] or words
    return (content[0].start, content[-1].end) if content else None


def _claim_span(segment: Segment, comparison: Comparison) -> Span:
    part, reading = comparison.part, segment.reading
    return Span(reading.text[part.start : part.end], reading.offset + part.start, reading.offset + part.end)


def _source_span(comparison: Comparison, index: SourceIndex) -> Span | None:
    if comparison.sentence is None or comparison.end == 0 or comparison.status == "not_found":
        return None
    return index.span(comparison.sentence, comparison.start, comparison.end)


def _argue(
    segment: Segment, comparison: Comparison, claimed: str, evidence: str, index: SourceIndex
) -> tuple[Judgment, str]:
    part = comparison.part
    value = segment.reading.text[part.value_start : part.value_end]
    found = ""
    if comparison.sentence is not None and comparison.value_end:
        found = index.read(comparison.sentence).text[comparison.value_start : comparison.value_end]
    kind: str = comparison.outcome
    if kind == "differs" and part.kind in _VALUES and comparison.sentence is not None:
        source = index.read(comparison.sentence).text
        value = _with_bound(segment.reading.text, part.value_start, part.value_end)
        found = _with_bound(source, comparison.value_start, comparison.value_end)
    if kind in ("opposite", "reordered") and comparison.sentence is not None:
        source = index.read(comparison.sentence).text
        value = _with_preposition(segment.reading.text, part.value_start, part.value_end)
        found = _with_preposition(source, comparison.value_start, comparison.value_end)
    if found and found.lower() == value.lower() and kind in ("differs", "opposite", "replaced"):
        kind = "misplaced"
    elif is_anothers(segment, comparison, index):
        kind, value = "anothers", segment.reading.text[part.value_start : part.value_end]
    elif comparison.computed:
        kind, found = "computed", comparison.computed
    elif kind == "equal":
        kind = "quoted" if evidence.lower() == claimed.lower() else "agrees" if part.kind in _VALUES else kind
    elif kind == "elsewhere" and part.kind == "qualifier":
        kind = "implied"
    elif kind == "overstated" and found:
        kind = "stronger"
    judgment, reason = _ARGUMENTS[kind]
    return judgment, reason.format(claimed=claimed, value=value, evidence=evidence, found=found)


def _with_bound(text: str, start: int, end: int) -> str:
    """A value with the words next to it that bound it ("more than 21")."""
    hedge = read_hedge(text, start, end)
    near = [span for span in hedge.words if span[1] >= start - 1 and span[0] <= end + 1]
    return text[min([start, *(first for first, _ in near)]) : max([end, *(last for _, last in near)])]


_PREPOSITION = re.compile(
    r"\b(?:before|after|above|below|over|under|for|against|with|without|inside|outside|within|on|off)\s+(?:\w+\s+)?\Z",
    re.I,
)


def _with_preposition(text: str, start: int, end: int) -> str:
    """Words with the preposition before them, if it may be what differs ("after step 5")."""
    before = _PREPOSITION.search(text, max(0, start - 24), start)
    return text[before.start() if before else start : end]


_VALUES = ("quantity", "date")
_ARGUMENTS: dict[str, tuple[Judgment, str]] = {
    "quoted": ("supported", 'The source says "{evidence}".'),
    "agrees": ("supported", '"{value}" and "{found}" agree.'),
    "computed": ("supported", "It follows from the source: {found}."),
    "equal": ("supported", '"{claimed}" corresponds to "{evidence}".'),
    "implied": ("supported", '"{value}" claims no more than the source.'),
    "paraphrased": ("supported", '"{claimed}" is not in the source; closest in meaning is "{evidence}".'),
    "elsewhere": (
        "partially_supported",
        '"{claimed}" occurs in the source, but not near the rest of the claim.',
    ),
    "unhedged": ("partially_supported", 'The source only says "{found}"; the claim asserts it.'),
    "differs": ("not_supported", "The claim says {value}, the source says {found}."),
    "anothers": ("not_supported", "The source says {found} here; it gives {value} to something else."),
    "misplaced": ("not_supported", 'The source says "{found}", but not of what the claim is about.'),
    "opposite": ("not_supported", '"{value}" is the opposite of "{found}".'),
    "reordered": (
        "not_supported",
        'The claim says "{value}", the source "{found}": the order of time is opposite.',
    ),
    "negated": (
        "not_supported",
        'The claim and the source disagree on whether "{found}" holds: one of them denies it.',
    ),
    "replaced": ("not_supported", 'Where the claim has "{value}", the source has "{found}".'),
    "stronger": ("not_supported", '"{value}" is stronger than the source\'s "{found}".'),
    "overstated": ("not_supported", 'The source has neither "{value}" nor anything as strong.'),
    "absent": ("not_supported", 'Nothing in the source corresponds to "{claimed}".'),
}
"""The conclusion of each outcome, and its reason."""
