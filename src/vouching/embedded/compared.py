"""A claim compared with its sources by the rules alone: what it states, what they say, and what they only mention."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile

from vouching.embedded.denials import denied_clause, denies_in_part
from vouching.embedded.diagnosis import decisive, is_verbatim
from vouching.embedded.features import Segment, comparisons_of, measure
from vouching.embedded.phrasing import ANSWERED, Edit, phrases
from vouching.embedded.voice import Mentioned, compare_in_own_voice
from vouching.reading.casing import has_one_case, in_usual_case
from vouching.reading.evidence import SourceIndex, usual_form
from vouching.reading.language import foreign_sources, looks_english
from vouching.reading.plain import PlainText, as_plain
from vouching.reading.said_of_each import said_of_each
from vouching.text.framing import ADDED, field_labels, statement_of
from vouching.text.quantities import find_quantities
from vouching.text.words import find_words

RULES = "rules-2"
"""The version of what the rules find in a claim and its sources. Rewards that depend on it name it; raise it with the
digest of ``tests/embedded/test_rules_version.py``."""
_NEGATION = re.compile(r"\b(?:not|never|no|cannot|nobody|none)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True)
class Compared:
    """A claim compared with its sources by the rules; independent of the encoder."""

    claim: PlainText
    """What it states, as the rules and the encoder read it."""
    index: SourceIndex
    """The sources without the sentences that only mention the claim."""
    whole: SourceIndex
    """The sources."""
    segments: list[Segment]
    """One per sentence of the claim."""
    framed: str
    """The claim with its frames and the words added in brackets, in plain form."""
    mentioned: Sequence[Mentioned]
    """Sentences of the sources that only mention it."""
    denies: bool = False
    """Whether the claim denies what was compared ("It is a myth that ...")."""
    mixed: bool = False
    """Whether a part of the claim denies something, and the rest asserts something."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not self.segments or not self.index.sentences

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of decisive difference."""
        return tuple(decisive(comparisons_of(self.segments)))

    @cached_property
    def verbatim(self) -> bool:
        """Whether a source has it word for word."""
        return is_verbatim(self.segments, self.index)

    @cached_property
    def is_english(self) -> bool:
        """Whether the claim and all sources look English."""
        return looks_english(self.claim.text) and not foreign_sources(self.index)

    @cached_property
    def phrases(self) -> tuple[Edit, ...]:
        """What turns a field of a structured answer into a phrase, with the labels that no source has."""
        return phrases(self.framed, replace(self.claim, before=None))

    def with_edit(self, revised: str) -> str | None:
        """``framed`` with the edit that makes the claim ``revised``; None if it changes an addition in brackets."""
        stated = self.claim.text
        first = _alike_from_the_start(stated, revised)
        kept = _alike_from_the_start(stated[first:][::-1], revised[first:][::-1])
        start, end = replace(self.claim, before=None).origin(first, len(stated) - kept)
        if any(start < hidden.end() and hidden.start() < max(end, start + 1) for hidden in ADDED.finditer(self.framed)):
            return None
        return self.framed[:start] + revised[first : len(revised) - kept] + self.framed[end:]

    @cached_property
    def features(self) -> Mapping[str, float]:
        """Features for the rules' score model."""
        return measure(self.segments, self.index)


def denies_clause(compared: Compared, denied: Mentioned) -> bool:
    """Whether a claim has a negation that the clause which a source denies does not have."""
    clause = compared.whole.read(denied.sentence).text[denied.mention.start : denied.mention.end]
    return len(_NEGATION.findall(compared.claim.text)) % 2 > len(_NEGATION.findall(clause)) % 2


_GENERIC = frozenset("name number count value amount kind type detail details item total".split())
"""Labels that do not say what their value is."""
_AMBIGUOUS = ("currency", "ratio", "count", "")
"""Dimensions of amounts that many things have: such an amount does not say what it is of."""


def _without_labels(text: str, read: str, segments: Sequence[Segment]) -> str:
    """``text`` with blanks for the words of its labels that no source has: a label is the answer's own word.

    Some word must say what the value is: another one of its label, or the value itself, as "20 mg" says that it is a
    dose.
    """
    words = [
        (segment.reading.words[word.position].lower, word) for segment in segments for word in segment.focus.lookups
    ]
    missing = {lower for lower, word in words if not (word.exact or word.close or word.around)}
    found = {lower for lower, _ in words} - missing
    for start, end, value in field_labels(read):
        label = [word for word in find_words(read) if start <= word.start < end]
        known = any(word.lower in found or word.lower in _GENERIC for word in label)
        amounts = find_quantities(value)
        says_unit = any(
            one.dimension not in _AMBIGUOUS or re.fullmatch(r"\s+[a-z]{3,}", value[one.end :]) for one in amounts
        )
        specific = says_unit or (len(value.split()) > 1 and not any(character.isdigit() for character in value))
        for word in label if known or specific or not value else ():
            if word.lower in missing:
                text = text[: word.start] + " " * (word.end - word.start) + text[word.end :]
    return text


def _alike_from_the_start(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


_MAY_DENY = re.compile(
    r"\b(?:not|never|no|none|nor|neither|without|cannot|un\w+|except|exclud\w+|lacks?|but|only|off|free|disabled|"
    r"forbidden|prohibited|banned|refus\w+)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What may deny a key in a source."""


def _answered_no(segments: list[Segment], index: SourceIndex) -> tuple[list[Segment], bool]:
    """The key of a field whose answer is "no", and whether a source denies it.

    A source that has the key and denies nothing contradicts the field.
    """
    found = comparisons_of(segments)
    if any(one.outcome == "negated" for one in found):
        return segments, True
    homes = {one.sentence for one in found if one.sentence is not None}
    affirmed = all(one.outcome == "equal" for one in found) and not any(
        _MAY_DENY.search(index.read(at).text) for at in homes
    )
    if not (homes and affirmed):
        return segments, False
    negated = [
        replace(one, comparisons=tuple(replace(c, outcome="negated") for c in one.comparisons)) for one in segments
    ]
    return negated, False


def compare(claim: str, index: SourceIndex) -> Compared:
    """Compare what a claim states with the sources of an index; a frame that a source has word for word is compared."""
    plain = said_of_each(as_plain(claim), usual_form)
    read = plain.text
    if has_one_case(read):
        read = in_usual_case(read, index.forms(find_words(read)), usual_form)
    whole = replace(plain, text=read)
    text = statement_of(read)
    if answered := ANSWERED.fullmatch(read):
        text = text[: answered.start("answer")].ljust(len(text))
    clause = denied_clause(text)
    if clause:
        text = " " * clause[0] + text[slice(*clause)] + " " * (len(text) - clause[1])
    statement = replace(as_plain(text), before=whole)
    segments, own, mentioned = compare_in_own_voice(statement.text, index)
    unknown = _without_labels(text, read, segments)
    if unknown != text:
        statement = replace(as_plain(unknown), before=whole)
        segments, own, mentioned = compare_in_own_voice(statement.text, index)
    denies = clause is not None
    if answered and answered["denies"]:
        segments, denies = _answered_no(segments, own)
    stated = Compared(statement, own, index, segments, read, mentioned, denies, denies_in_part(read))
    if clause or statement.text == read or stated.verbatim:
        return stated
    segments, own, mentioned = compare_in_own_voice(read, index)
    framed = Compared(PlainText(read, before=whole), own, index, segments, read, mentioned)
    return framed if framed.segments and framed.verbatim else stated
