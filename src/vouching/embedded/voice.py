"""What the sources say in their own voice about a claim, and which of their sentences only mention it.

A sentence that has the claim's words only where it reports, denies, supposes or asks something (``text.commitment``) is
no evidence for the claim, and neither is text about the claim (``text.about_claims``). Such sentences are excluded for
the claim in question. A claim that itself says who says so ("According to Ann, ...") has words outside of what is
mentioned, so that it keeps its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rapidfuzz.fuzz import partial_ratio_alignment

from vouching.embedded.about_claims import is_taken_back, speaks_about
from vouching.embedded.attitudes import Attitude
from vouching.embedded.commitment import Mention, find_mentions
from vouching.embedded.features import Segment, compare_claim
from vouching.embedded.scene import occurrences
from vouching.reading.evidence import SourceIndex
from vouching.reading.index_cache import IndexCache
from vouching.reading.language import looks_english
from vouching.text.layout import as_markdown
from vouching.text.sentences import sentence_spans
from vouching.text.words import find_words
from vouching.types import ErrorType, ReasoningStep, Source, Span, VerdictWarning

_INSIDE = 0.85
"""Share of the claim's words in a sentence, weighted by rarity, that a mention of it holds."""
_OUTSIDE = 0.5
"""Share of these words that may stand outside of it too."""
_UNDER = 0.4
"""Share of these words that must stand after the word that shows the mention."""
_ALIKE = 90
"""Similarity of a copy of the claim, in percent of its characters."""
_LONGEST = 1_000
"""Characters of a claim that a near copy is looked for; of a longer one only an exact copy."""
_AROUND = 2_000
"""Characters around a copy that are read."""
_ENOUGH: Mapping[Attitude, float] = {"denied": 0.6, "reported": 0.6, "supposed": 0.8, "asked": 0.85}
"""Share of the claim that a sentence must have to be excluded; below, it is only the context of others."""
_WHOLE = 0.8
"""Share of a claim that a mention of the whole claim has."""
_AFFIRMED = re.compile(
    r"\W*(?:A:|Answer:)?\W*(?:yes|yep|yeah|indeed|correct|right|absolutely|certainly|of course"
    r"|(?:it|he|she|they|there|we|i|you) (?:is|are|was|were|does|do|did|has|have|had|can|will|must|may)\s*[.!,:])",
    re.IGNORECASE,
)
"""Answers a question with yes."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_MAX_ROUNDS = 50
"""How often the next best sentences are looked at."""


@dataclass(frozen=True, slots=True)
class Mentioned:
    """A sentence of the sources that only mentions the claim."""

    sentence: int
    """Its position in the index."""
    mention: Mention
    coverage: float
    """Share of the claim's words, weighted by rarity, that it has."""


def compare_in_own_voice(text: str, index: SourceIndex) -> tuple[list[Segment], SourceIndex, list[Mentioned]]:
    """Compare a claim with what the sources assert; the index without the sentences that only mention it."""
    found: list[Mentioned] = []
    segments = compare_claim(text, index)
    for _ in range(_MAX_ROUNDS):
        new = [mentioned for segment in segments for mentioned in _mentioned(segment, index)]
        if not new:
            break
        found += (replace(m, sentence=same) for m in new for same in _repeated(m.sentence, index))
        index = index.without({mentioned.sentence for mentioned in found})
        segments = compare_claim(text, index)
    return segments, index, found


def _repeated(position: int, index: SourceIndex) -> Iterator[int]:
    """The positions of all sentences with the words of the one at ``position``."""
    text = index.read(position).text
    for at, sentence in enumerate(index.sentences):
        if at == position or (sentence.end - sentence.start == len(text) and index.read(at).text == text):
            yield at


def _mentioned(segment: Segment, index: SourceIndex) -> Iterator[Mentioned]:
    total = sum(word.weight for word in segment.focus.lookups) or 1.0
    for sentence in segment.focus.sentences:
        reading = index.read(sentence)
        mentions = find_mentions(reading.text)
        if any(m.attitude == "asked" for m in mentions) and _is_affirmed(index, sentence):
            continue
        places = [
            (word.weight, [reading.words[p].start for p in occurrences(word, reading)])
            for word in segment.focus.lookups
            if mentions and (sentence in word.exact or sentence in word.close)
        ]
        weight = sum(w for w, at in places if at)
        for mention in sorted(mentions, key=lambda m: _ORDER.index(m.attitude)):
            if weight >= _ENOUGH[mention.attitude] * total and _holds(mention, places, weight):
                place = index.sentences[sentence]
                if mention.attitude == "reported" and is_taken_back(index.plain[place.source].text, place.end):
                    mention = replace(mention, attitude="denied")
                yield Mentioned(sentence, mention, weight / total)
                break
        else:
            attitude = _status(segment, sentence, index)
            if attitude is None and _copied(segment, sentence, index):
                attitude = "about"
            if attitude is not None:
                yield Mentioned(sentence, Mention(0, len(reading.text), attitude), segment.focus.coverage([sentence]))


def _holds(mention: Mention, places: Sequence[tuple[float, list[int]]], weight: float) -> bool:
    """Whether a mention has nearly all of a claim's words in its sentence, few of which stand outside too."""
    if any(mention.cue[0] <= p < mention.cue[1] for _, at in places for p in at):
        return False  # The claim itself says that somebody says so.
    inside = sum(w for w, at in places if any(mention.start <= p < mention.end for p in at))
    outside = sum(w for w, at in places if any(not mention.start <= p < mention.end for p in at))
    under = sum(w for w, at in places if any(p >= mention.cue[1] for p in at))
    return inside >= _INSIDE * weight > 0 and outside <= _OUTSIDE * weight and under >= _UNDER * weight


_ORDER: tuple[Attitude, ...] = ("denied", "reported", "supposed", "asked")


def _is_affirmed(index: SourceIndex, sentence: int) -> bool:
    """Whether a sentence is a question, and the text after it says yes."""
    place = index.sentences[sentence]
    text = index.plain[place.source].text
    is_question = text[place.start : place.end].rstrip("\"')»” ").endswith("?")
    return is_question and _AFFIRMED.match(text, place.end) is not None


_STATUS = frozenset("status state outcome result decision progress stage".split())
_NOT_DONE = re.compile(
    r"\W*(?P<word>(?P<denied>rejected|declined|cancell?ed|withdrawn|failed|denied|refused|dropped|abandoned|expired|revoked)"
    r"|planned|pending|proposed|under review|in review|draft|to do|todo|not started|not yet|in progress|postponed"
    r"|deferred|tb[dca]|awaiting|on hold|upcoming|scheduled|requested|expected)\b",
    re.IGNORECASE,
)


def _status(segment: Segment, sentence: int, index: SourceIndex) -> Attitude | None:
    """What the status of a row says of the rest, if it is not done and the claim does not say so itself."""
    place = index.sentences[sentence]
    text = index.plain[place.source].text
    for cell in place.row.cells if place.row and not place.row.is_head else ():
        found = _NOT_DONE.match(text, cell.start, cell.end)
        if found and text[slice(*cell.column)].strip(" *:?").lower() in _STATUS:
            known = {word.stem for word in segment.reading.words}
            if known.isdisjoint(word.stem for word in find_words(found["word"]) if word.is_content):
                return "denied" if found["denied"] else "supposed"
    return None


def _copied(segment: Segment, sentence: int, index: SourceIndex) -> bool:
    """Whether a sentence holds a near copy of the claim and speaks about it."""
    place = index.sentences[sentence]
    plain, raw = index.plain[place.source], index.sources[place.source].text
    text, claim = plain.text[place.start : place.end], segment.reading.text.strip(" .")
    if len(text) < len(claim) or _is_affirmed(index, sentence):
        return False
    found = _copy_in(text.lower(), claim.lower())
    if found is None:
        return False
    start, end = plain.origin(place.start + found[0], place.start + found[1])
    first, cut = plain.origin(place.start, place.end)[0], max(0, start - _AROUND)
    around = as_markdown(raw[cut : end + _AROUND])
    return speaks_about(around, start - cut, end - cut, max(0, first - cut), looks_english)


def _copy_in(text: str, claim: str) -> tuple[int, int] | None:
    """Where a text has a near copy of a claim."""
    if len(claim) > _LONGEST:
        at = text.find(claim)
        return None if at < 0 else (at, at + len(claim))
    copy = partial_ratio_alignment(claim, text, score_cutoff=_ALIKE)
    return None if copy is None else (copy.dest_start, copy.dest_end)


def spans_of_mentions(claim: str, sources: tuple[Source, ...], cache: IndexCache) -> tuple[list[Span], list[Span]]:
    """The sentences of sources that speak about a claim, and those that only mention it.

    >>> from vouching.types import Source
    >>> about, mentions = spans_of_mentions("It rained.", (Source("Ann says that it rained.", "a"),), IndexCache())
    >>> about, mentions[0].text
    ([], 'Ann says that it rained.')
    """
    spans: tuple[list[Span], list[Span]] = ([], [])
    index = cache.of(sources)
    for start, end in sentence_spans(claim):
        for one in compare_in_own_voice(claim[start:end], index)[2]:
            place = index.sentences[one.sentence]
            whole = index.plain[place.source].text[place.start : place.end]
            spans[one.mention.attitude != "about"].append(index.span(one.sentence, 0, len(whole.rstrip())))
    return spans


def main_mention(mentioned: Sequence[Mentioned]) -> Mentioned | None:
    """The mention that has most of the claim, if that is nearly all of it; denials first."""
    whole = [m for m in mentioned if m.coverage >= _WHOLE]
    return min(whole, key=lambda m: (m.mention.attitude != "denied", -m.coverage), default=None)


def denies_too(clause: str, mentioned: Sequence[Mentioned], index: SourceIndex) -> Mentioned | None:
    """A sentence of the sources that denies the same statement, with all its numbers; None without one.

    Args:
        clause: the statement that a claim denies, or a claim with its denial.
        mentioned: the sentences that only mention it.
        index: the sources.
    """
    numbers = set(_NUMBER.findall(clause))
    for found in mentioned:
        text = index.read(found.sentence).text if found.coverage >= _WHOLE else ""
        reported = any(m.attitude == "reported" and m.start < found.mention.start for m in find_mentions(text))
        if found.mention.attitude == "denied" and text and numbers <= set(_NUMBER.findall(text)) and not reported:
            return found
    return None


def mention_place(mentioned: Mentioned, index: SourceIndex) -> Span:
    """Where a sentence mentions the claim."""
    place = index.sentences[mentioned.sentence]
    start, end = mentioned.mention.start, mentioned.mention.end
    words = index.plain[place.source].text[place.start + start : place.start + end]
    start += len(words) - len(words.lstrip())
    return index.span(mentioned.sentence, start, end)


def mention_warnings(mentioned: Sequence[Mentioned], index: SourceIndex) -> Iterator[VerdictWarning]:
    """Say which sentences were not used as evidence, and why."""
    for found in mentioned:
        span = mention_place(found, index)
        kind = "injection" if found.mention.attitude == "about" else "mentioned"
        yield VerdictWarning(kind, _reason(found, span), span)


def mention_step(claim: str, found: Mentioned, index: SourceIndex) -> ReasoningStep:
    """The conclusion that the source mentions the claim without asserting it."""
    span = mention_place(found, index)
    return ReasoningStep(claim, span.text, "not_supported", _reason(found, span))


def _reason(found: Mentioned, span: Span) -> str:
    return _MESSAGES[found.mention.attitude].format(source=span.source_id)


ERROR_OF_MENTION: Mapping[Attitude, ErrorType] = {
    "denied": "negation_flip",
    "reported": "scope_inflation",
    "supposed": "scope_inflation",
    "asked": "fabrication",
    "about": "fabrication",
}
"""What is wrong with a claim that asserts what the source only mentions."""
_MESSAGES: Mapping[Attitude, str] = {
    "denied": "{source} mentions this only to deny it.",
    "reported": "{source} reports that somebody says or believes this; it does not assert it itself.",
    "supposed": "{source} only supposes, plans or wishes this.",
    "asked": "{source} only asks this.",
    "about": "A passage of {source} speaks about the claim, or to its reader; it was not used as evidence.",
}
