"""How each part of a claim is explained: its place in the sources, and the reason for its outcome in one sentence.

A reason never shows the same words on both sides: a value is shown with its bound, a word with its preposition. A pair
that does not share a meaning is not shown: a word beside a number, a name beside the first word of a sentence, years
beside days that go with other words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import isclose

from vouching.embedded.counterparts import compare_values, mentions_like
from vouching.embedded.diagnosis import is_anothers
from vouching.embedded.features import Segment
from vouching.embedded.parts import Value
from vouching.embedded.scene import Comparison, Outcome, Scene, nearest_before
from vouching.encoder.reading import SoftReading, TokenMatch
from vouching.reading.evidence import SourceIndex
from vouching.reading.parsed import ParsedSentence
from vouching.reading.plain import PlainText
from vouching.text.bounds import read_hedge
from vouching.text.clauses import split_clauses
from vouching.text.mentions import DateMention, Quantity
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


def presentable(segment: Segment, index: SourceIndex) -> Segment:
    """A sentence of a claim without the counterparts that a reader would not accept as such."""
    scene = Scene(segment.reading, index, segment.focus)
    kept = tuple(
        found if found.sentence is None or _is_pair(scene, found, found.sentence) else _alone(found)
        for found in segment.comparisons
    )
    return replace(segment, comparisons=kept)


def _alone(found: Comparison) -> Comparison:
    outcome = "paraphrased" if found.status == "match" else "absent"
    return Comparison(found.part, outcome)


_SAME_ROOT = 4
"""First letters that two forms of one word share."""
_WORDS_FOR_ONE = 2
"""Words that one word of a source may stand for."""
_MAY = frozenset({"can", "could", "may", "might"})
"""Words for one possibility, which are no opposites."""
_FAR = 10
"""How many times one duration is another that is hardly meant instead of it."""


def _is_pair(scene: Scene, found: Comparison, sentence: int) -> bool:
    """Whether a part of a claim and its counterpart may be shown side by side."""
    part, source = found.part, scene.index.read(sentence)
    ours = scene.claim.text[part.value_start : part.value_end]
    theirs = source.text[found.value_start : found.value_end]
    if found.outcome in ("differs", "replaced", "paraphrased") and part.kind == "predicate" and theirs:
        named = [ours[:1].isupper(), theirs[:1].isupper()]
        opens = [part.value_start == 0, found.value_start == 0]
        known = any(one.start == found.value_start and one.certain for one in source.entities)
        numbers = [any(character.isdigit() for character in words) for words in (ours, theirs)]
        if numbers[0] != numbers[1]:
            return False
        if found.outcome == "paraphrased":
            return ours.lower()[:_SAME_ROOT] == theirs.lower()[:_SAME_ROOT]
        return named[0] == named[1] and not (named[0] and any(opens) and not known and numbers == [False, False])
    if found.outcome == "opposite" and {ours.lower(), theirs.lower()} <= _MAY:
        return False
    if found.outcome == "paraphrased":
        return len(ours.split()) <= _WORDS_FOR_ONE or " " in source.text[found.start : found.end]
    if found.outcome == "differs" and part.kind == "entity" and theirs[:1].isupper():
        return found.value_start > 0 or any(one.start == 0 and one.certain for one in source.entities)
    rival = next((date for date in source.dates if date.start == found.value_start), None)
    if found.outcome == "differs" and isinstance(part.value, DateMention) and rival and part.value.unit != rival.unit:
        one, other = sorted((part.value.days or 0.0, rival.days or 0.0))
        beside = scene.same_meaning(
            nearest_before(scene.claim, part.value_start), source, nearest_before(source, rival.start)
        )
        return beside or other < _FAR * one
    return True


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
    same = False
    if kind in ("differs", "equal") and part.kind in _VALUES and comparison.sentence is not None and found:
        source = index.read(comparison.sentence)
        value = _with_bound(segment.reading.text, part.value_start, part.value_end)
        found = _with_bound(source.text, comparison.value_start, comparison.value_end)
        same = _are_one_value(part.value, source, comparison.value_start)
    if kind in ("opposite", "reordered") and comparison.sentence is not None:
        source = index.read(comparison.sentence).text
        value = _with_preposition(segment.reading.text, part.value_start, part.value_end)
        found = _with_preposition(source, comparison.value_start, comparison.value_end)
    alike = found.lower() == value.lower() or (kind == "differs" and part.kind in _VALUES and same)
    if found and alike and kind in ("differs", "opposite", "replaced"):
        kind = "misplaced"
    elif kind == "negated" and comparison.sentence is not None:
        found = _clause_around(index.read(comparison.sentence).text, comparison.value_start)
    elif is_anothers(segment, comparison, index):
        kind, value = "anothers", segment.reading.text[part.value_start : part.value_end]
    elif comparison.computed:
        kind, found = "computed", comparison.computed
    elif kind == "equal":
        quoted = evidence.lower() == claimed.lower() and found.lower() == value.lower()
        kind = "quoted" if quoted else ("agrees" if same else "fits") if part.kind in _VALUES else kind
    elif kind == "paraphrased" and comparison.sentence is None:
        kind = "reworded"
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


def _are_one_value(value: Value | None, source: ParsedSentence, start: int) -> bool:
    """Whether a value and the one of a source at ``start`` are the same, not only one that the other allows."""
    rival = next((mention for mention in mentions_like(source, value) if mention.start == start), None)
    if compare_values(value, rival) not in ("equal", "close", "compatible"):
        return False
    if isinstance(value, Quantity) and isinstance(rival, Quantity):
        pairs = ((value.low, rival.low), (value.base_low, rival.base_low))
        return value.bound == rival.bound and any(isclose(*pair, rel_tol=_ALIKE_NUMBERS) for pair in pairs)
    if isinstance(value, DateMention) and isinstance(rival, DateMention) and value.days and rival.days:
        return value.bound == rival.bound and isclose(value.days, rival.days, rel_tol=_ALIKE_NUMBERS)
    return True


_ALIKE_NUMBERS = 0.05


def _clause_around(text: str, start: int) -> str:
    """The clause of a sentence that has the offset; cut after some words, with dots, if it is long."""
    clause = next((one for one in split_clauses(text) if one.start <= start < one.end), None)
    words = (text[clause.start : clause.end] if clause else text).rstrip(" .")
    if len(words) <= _LONGEST_CLAUSE:
        return words
    at = start - (clause.start if clause else 0)
    first = max(0, words.rfind(" ", 0, max(0, at - _LONGEST_CLAUSE // 2)) + 1)
    last = words.find(" ", min(len(words), at + _LONGEST_CLAUSE // 2))
    return f"{'... ' if first else ''}{words[first : last if last > 0 else len(words)]}{' ...' if last > 0 else ''}"


_LONGEST_CLAUSE = 90
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
    "fits": ("supported", '"{value}" fits "{found}".'),
    "computed": ("supported", "It follows from the source: {found}."),
    "equal": ("supported", '"{claimed}" corresponds to "{evidence}".'),
    "implied": ("supported", '"{value}" claims no more than the source.'),
    "paraphrased": ("supported", '"{claimed}" is not in the source; closest in meaning is "{evidence}".'),
    "reworded": ("supported", 'The source has "{claimed}" only in other words.'),
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
    "negated": ("not_supported", 'One denies what the other says: the source has "{found}".'),
    "replaced": ("not_supported", 'Where the claim has "{value}", the source has "{found}".'),
    "stronger": ("not_supported", '"{value}" is stronger than the source\'s "{found}".'),
    "overstated": ("not_supported", 'The source has neither "{value}" nor anything as strong.'),
    "absent": ("not_supported", 'Nothing in the source corresponds to "{claimed}".'),
}
"""The conclusion of each outcome, and its reason."""
