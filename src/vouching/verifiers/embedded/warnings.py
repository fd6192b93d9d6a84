"""What a reader should know before trusting a verdict of the embedded verifier."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vouching.types import Span, VerdictWarning
from vouching.verifiers.embedded.diagnosis import error_of
from vouching.verifiers.embedded.evidence import SourceIndex
from vouching.verifiers.embedded.scene import Comparison

_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_ENGLISH = frozenset("the of and to a is was for on with as by at that from an are were it he she in".split())
_FOREIGN = frozenset(
    """der die das und ist wurde nicht ein eine mit von im den le la les des est une dans et du el los las una que es
    en il lo gli di che per della o os uma em não het een van niet och att som är de""".split()
)


def source_warnings(index: SourceIndex) -> Iterator[VerdictWarning]:
    """Sentences that were left out of evidence, and sources without text."""
    for number, found in index.injections:
        source = index.sources[number]
        span = Span(source.text[found.start : found.end], found.start, found.end, source.id)
        yield VerdictWarning(
            "injection", f"A sentence of {source.id} addresses the verdict; it was not used as evidence.", span
        )
    for source in index.sources:
        if not source.text.strip():
            yield VerdictWarning("unread", f"{source.id} is empty: there is nothing to attribute to.")


def conflict_warnings(comparisons: Sequence[Comparison], index: SourceIndex) -> Iterator[VerdictWarning]:
    """Places where one sentence supports the claim and another, in the same words, has another value."""
    for comparison in comparisons:
        if comparison.rival is not None:
            span = index.span(*comparison.rival)
            yield VerdictWarning(
                "conflict", f'The sources disagree: {span.source_id} also says "{span.text}" in the same place.', span
            )


def claim_warnings(claim: str, attributable: bool, comparisons: Sequence[Comparison]) -> Iterator[VerdictWarning]:
    """Language, questions, and verdicts that disagree with one of their own steps."""
    if not _looks_english(claim):
        yield VerdictWarning(
            "language", "The claim does not look English; only numbers, dates and equal words were compared."
        )
    if claim.rstrip().endswith(("?", "？", "؟")):
        yield VerdictWarning(
            "question", "The claim is a question; a question states nothing that a source could support."
        )
    doubts = [c for c in comparisons if error_of(c) not in (None, "fabrication")]
    if attributable and doubts:
        yield VerdictWarning(
            "inconsistency",
            f"As a whole the claim scored Attributable, but {len(doubts)} of its parts do not match: read the reasons.",
        )


def _looks_english(text: str) -> bool:
    """False for other scripts, and where small words of other languages outnumber those of English."""
    letters = _LETTERS.findall(text)
    if not letters:
        return True
    if len(_LATIN.findall(text)) < 0.7 * len(letters):
        return False
    words = [word.strip(".,;:!?\"'()") for word in text.split()]
    # Names have foreign words too ("La La Land", "Dean de Leon"): one alone, or in capitals inside, says nothing.
    foreign = {word.lower() for i, word in enumerate(words) if word.lower() in _FOREIGN and (i == 0 or word.islower())}
    return len(foreign) < 2 or len(foreign) <= sum(word.lower() in _ENGLISH for word in words)
