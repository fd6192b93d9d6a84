"""Parts of a claim that a source excludes in a sentence of its own.

"The plan covers dental and hearing" is wrong of "The plan covers dental. Hearing is excluded": the second sentence
denies the claim of one item. A clause excludes what it names if it denies, or tells what is missing, and the sentence
has no content but words of the claim and of inclusion, so that it cannot be about another case. It must be near the
sentence that has the rest of the claim. Not supported: sentences with numbers or conditions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from vouching.embedded.scene import Comparison
from vouching.reading.evidence import SourceIndex
from vouching.reading.parsed import ParsedSentence
from vouching.text.words import Word, stem

_LEAVES_OUT = re.compile(
    r"\b(?:except(?: for)?|excluding|excludes?|but not|apart from|other than)\s+(?P<after>[^.;:()]+)"
    r"|(?:[.;:]|\A)(?P<before>[^.;:,()]+?)\s+(?:is|are|was|were)\s+(?:\w+\s+)?(?:excluded|unavailable|missing|prohibited|"
    r"forbidden|banned|left\s+out|ruled out)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not|never|no|none|nor|neither|without|cannot|except|exclud\w+|unavailable|only|lacks?|but)\b|n['’]t\b", re.I
)
_OTHER_CASE = re.compile(
    r"\d|\?|\b(?:if|unless|until|when|while|before|after|during|yet|still|longer|other|than)\b", re.I
)
_INCLUSION = frozenset(
    map(
        stem,
        str.split("""included includes include covered available allowed permitted offered provided sold accepted part
            excluded excludes unavailable missing prohibited forbidden banned ruled left contained eligible"""),
    )
)
_NEAR = 2
"""Sentences between the one with the rest of the claim and the one that excludes a part of it."""


def with_exclusions(
    reading: ParsedSentence, comparisons: Sequence[Comparison], index: SourceIndex
) -> tuple[Comparison, ...]:
    """The comparisons of a claim; a part that a source excludes is "negated"."""
    homes = {one.sentence for one in comparisons if one.sentence is not None}
    if not homes or _DENIES.search(reading.text):
        return tuple(comparisons)
    claimed = {reading.words[at].stem for at in reading.content()}
    denied: dict[str, tuple[int, Word]] = {}
    for home in homes:
        denied |= _denied(claimed, home, index)
    return tuple(_as_excluded(one, reading, denied) for one in comparisons)


def _denied(claimed: set[str], home: int, index: SourceIndex) -> dict[str, tuple[int, Word]]:
    """The words of a claim that sentences near one with a part of it exclude: each with its sentence and place."""
    found: dict[str, tuple[int, Word]] = {}
    said = _content(index.read(home))
    for position in range(max(0, home - _NEAR), min(len(index.sentences), home + _NEAR + 1)):
        sentence = index.read(position)
        if index.sentences[position].source != index.sentences[home].source or _OTHER_CASE.search(sentence.text):
            continue
        left_out = _LEAVES_OUT.search(sentence.text)
        start, end = left_out.span("after" if left_out["after"] else "before") if left_out else (0, len(sentence.text))
        words = {word.stem: word for at in sentence.content(start, end) if (word := sentence.words[at])}
        if position == home:
            named = {*words} if left_out and left_out["after"] else set[str]()
        else:
            is_denial = left_out or len(sentence.negations) == 1
            named = {*words} - said if is_denial and not {*_content(sentence)} - _INCLUSION - claimed else set[str]()
        named -= _INCLUSION
        if named and named <= claimed:
            found |= {name: (position, words[name]) for name in named}
    return found


def _content(sentence: ParsedSentence) -> set[str]:
    return {sentence.words[at].stem for at in sentence.content()}


def _as_excluded(one: Comparison, reading: ParsedSentence, denied: Mapping[str, tuple[int, Word]]) -> Comparison:
    """A part of which a source excludes a word."""
    content = (reading.words[at].stem for at in reading.content(one.part.start, one.part.end))
    place = next((denied[word] for word in content if word in denied), None)
    if place is None or one.outcome not in ("equal", "elsewhere"):
        return one
    (sentence, word) = place
    start, end = word.start, word.end
    return replace(one, outcome="negated", sentence=sentence, start=start, end=end, value_start=start, value_end=end)
