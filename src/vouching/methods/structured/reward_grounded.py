"""The grounded rules of the structured reward (ours): what of a record occurs in the texts, and agrees with its label.

The paper's R_a, R_c and R_d check form only, so a record of invented words earns everything. Here

- a span counts only with a content word, and if it occurs in the claim or a source, up to case, blanks and one letter
  in ten; a sentence of a source that addresses the verdict is no evidence. An entry or step with another span is void;
- a match needs both spans; a mismatch needs words of the source that are not those of the claim; ``NOT_FOUND`` goes
  with the status ``not_found`` only, and is void where the aligner of the embedded verifier finds evidence;
- a quotation is from a sentence in which the aligner finds something about the claim, if there is one, and has at most
  200 characters or one sentence;
- entries that give several statuses to the same words of the claim are void, and so are steps with several judgments;
- the entries that stand must cover half of the content words of the claim, else R_a is scaled down;
- an explanation or fix must have a content word of the texts;
- alignment and chain count only where they agree with the label: for Attributable nothing is missing or denied, for
  Not Attributable something is;
- of a perturbed row (``vouch data perturb``), the type is right only if it is the known one, and the fix only if it has
  the words that were replaced, or names a word that was added.

Not supported: the truth of an explanation, or of a fix where the right one is not known; words that a different part of
the source has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import cast

from vouching.embedded.verify import EmbeddedVerifier
from vouching.methods.structured.reading import folded, occurs
from vouching.text.injection import find_injections
from vouching.text.sentences import sentence_spans
from vouching.text.words import find_words
from vouching.types import NOT_FOUND, Claim, ErrorType, Label, Source, Span

MAX_LOCATED = 64
"""Entries, or steps, whose spans are located; later ones are void, to bound the time per reply."""
MIN_COVERED = 0.5
"""Share of the content words of a claim that the entries must cover for the whole R_a."""
LONG_QUOTE = 200
"""Characters; a longer quotation must be a single sentence."""
MAX_FIX = 100
"""Characters by which a fix may be longer than the right claim: a copy of the source is no fix."""


@dataclass(frozen=True, slots=True)
class KnownError:
    """The error of a perturbed row."""

    error_type: ErrorType
    original: str
    """The claim before, which the source supports; empty if unknown."""


class Grounds:
    """A claim and its sources, as what a record is compared with.

    >>> grounds = Grounds("It has 12 towers.", ["It has 8 towers."])
    >>> entry = {"claim_span": "12 towers", "source_span": "8 towers", "status": "mismatch"}
    >>> grounds.entries([entry, {**entry, "status": "match", "source_span": "nine"}])[1] is None
    True
    >>> grounds.entries([{**entry, "source_span": "NOT_FOUND", "status": "not_found"}])  # the aligner finds "8 towers"
    [None]
    """

    def __init__(self, claim: str, sources: Sequence[str], known: KnownError | None = None) -> None:
        self._claim, self._sources, self._known = claim, tuple(sources), known
        self._here = (folded(claim),)
        self._there = tuple(folded(_without_injections(source)) for source in sources)

    def entries(self, written: object) -> list[object]:
        """The alignment, with None for each void entry. A value that is not a list becomes an empty one."""
        standing = [self._entry(one) if at < MAX_LOCATED else None for at, one in enumerate(_members(written))]
        return _without_contradictions(standing, "claim_span", "status")

    def steps(self, written: object) -> list[object]:
        """The chain, with None for each void step and without explanations that are not about the texts."""
        standing = [self._step(one) if at < MAX_LOCATED else None for at, one in enumerate(_members(written))]
        return _without_contradictions(standing, "claim_part", "judgment")

    def covered(self, entries: Sequence[object]) -> float:
        """The share of R_a that the covered part of the claim allows, in [0, 1]."""
        wanted = _content(self._claim)
        spans = [cast("str", entry.get("claim_span")) for entry in map(_record, entries) if entry.get("claim_span")]
        had = wanted.intersection(*[frozenset[str]().union(*map(_content, spans))]) if spans else frozenset[str]()
        return min(1.0, len(had) / len(wanted) / MIN_COVERED) if wanted else 1.0

    def names_error(self, named: object) -> bool:
        """Whether an error type is the known one; True if none is known."""
        return self._known is None or named == self._known.error_type

    def repairs(self, fix: object) -> bool:
        """Whether a fix is about the claim or its source, and restores a known change."""
        if not isinstance(fix, str):
            return False
        words, claim = _content(fix), _content(self._claim)
        if self._known is None or not self._known.original:
            return bool(words & (claim | self._words))
        original = _content(self._known.original)
        restored, added = original - claim, claim - original
        is_short = len(fix) <= len(self._known.original) + MAX_FIX
        return is_short and (restored <= words if restored else bool(words & (added or claim)))

    def _entry(self, written: object) -> object:
        record = _record(written)
        status, claim_span, source_span = (record.get(key) for key in ("status", "claim_span", "source_span"))
        if not record or not self._quotes(claim_span, self._here, empty=status != "match"):
            return None
        if source_span == NOT_FOUND:
            return None if status != "not_found" or self._is_found(claim_span) else written
        if not self._quotes(source_span, self._there, empty=status != "match") or not self._is_near(source_span):
            return None
        same = (
            isinstance(claim_span, str) and isinstance(source_span, str) and folded(claim_span) == folded(source_span)
        )
        return None if source_span and (status == "not_found" or (status == "mismatch" and same)) else written

    def _step(self, written: object) -> object:
        record = _record(written)
        part, evidence, explained = (record.get(key) for key in ("claim_part", "source_evidence", "explanation"))
        if not record or not self._quotes(part, self._here):
            return None
        if evidence == NOT_FOUND:
            if record.get("judgment") == "supported" or self._is_found(part):
                return None
        elif not self._quotes(evidence, self._there) or not self._is_near(evidence):
            return None
        about = isinstance(explained, str) and bool(_content(explained) & (_content(self._claim) | self._words))
        return record if about else {**record, "explanation": ""}

    @staticmethod
    def _quotes(span: object, texts: tuple[str, ...], empty: bool = False) -> bool:
        """Whether a span with a content word occurs; with ``empty``, also whether it is no text at all."""
        if not isinstance(span, str) or not span:
            return empty
        return bool(_content(span)) and occurs(span, texts)

    def _is_found(self, span: object) -> bool:
        """Whether the aligner finds evidence for at least half of the parts of the claim that a span touches."""
        if not isinstance(span, str):
            return False
        start = self._claim.casefold().find(span.casefold())
        first, last = (start, start + len(span)) if start >= 0 else (0, len(self._claim))
        aligned = _aligned(self._claim, self._sources)
        parts = [sentence is not None for begin, end, sentence in aligned if begin < last and end > first]
        return bool(parts) and 2 * sum(parts) >= len(parts)

    def _is_near(self, span: object) -> bool:
        """Whether a quotation is short, and from a sentence with evidence; True for what is no text."""
        if not isinstance(span, str) or not span:
            return True
        if len(span) > LONG_QUOTE and len(sentence_spans(span)) > 1:
            return False
        quoted, near = (folded(span),), self._near
        return not near or any(occurs(span, (sentence,)) or occurs(sentence, quoted) for sentence in near)

    @cached_property
    def _near(self) -> frozenset[str]:
        """The sentences in which the aligner finds a part of the claim."""
        found = (sentence for _, _, sentence in _aligned(self._claim, self._sources))
        return frozenset(sentence for sentence in found if sentence)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset[str]().union(*map(_content, self._there))


@lru_cache(maxsize=256)
def grounds_of(claim: str, sources: tuple[str, ...], known: KnownError | None = None) -> Grounds:
    """The grounds of a row, prepared once for all replies to it."""
    return Grounds(claim, sources, known)


def agrees(label: Label | None, entries: Sequence[object], steps: Sequence[object]) -> tuple[bool, bool]:
    """Whether the alignment, and the chain, lead to the label: all is found and supported, or something is not.

    >>> agrees("Attributable", [{"status": "mismatch"}], [{"judgment": "supported"}])
    (False, True)
    """
    if label is None:
        return False, False
    negative = label == "Not Attributable"
    failed = any(_record(entry).get("status") in ("mismatch", "not_found") for entry in entries)
    doubted = any(_record(step).get("judgment") in ("not_supported", "partially_supported") for step in steps)
    return failed == negative, doubted == negative


def _without_contradictions(standing: Sequence[object], part: str, said: str) -> list[object]:
    """The entries or steps, with None for those that another one about the same words contradicts."""
    meant: dict[object, set[object]] = {}
    keys = [folded(str(_record(one).get(part))) for one in standing]
    for key, one in zip(keys, standing, strict=True):
        if one is not None:
            meant.setdefault(key, set()).add(str(_record(one).get(said)))
    return [one if one is None or len(meant[key]) == 1 else None for key, one in zip(keys, standing, strict=True)]


def _record(written: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", written) if isinstance(written, dict) else {}


def _members(written: object) -> Sequence[object]:
    return cast("Sequence[object]", written) if isinstance(written, list | tuple) else ()


@lru_cache(maxsize=4_096)
def _content(text: str) -> frozenset[str]:
    """The stems of the content words."""
    return frozenset(word.stem for word in find_words(text) if word.is_content)


@lru_cache(maxsize=1_024)
def _without_injections(source: str) -> str:
    for found in reversed(find_injections(source, sentence_spans(source))):
        source = f"{source[: found.start]} {source[found.end :]}"
    return source


@cache
def _verifier() -> EmbeddedVerifier:
    return EmbeddedVerifier()


@lru_cache(maxsize=1_024)
def _aligned(claim: str, sources: tuple[str, ...]) -> tuple[tuple[int, int, str | None], ...]:
    """The parts of a claim by the aligner: their offsets, and the folded sentence that has evidence, or None."""
    given = {f"s{number}": source for number, source in enumerate(sources)}
    verdict = _verifier().judge(Claim(claim), [Source(text, id=name) for name, text in given.items()])
    sentences = {name: sentence_spans(text) for name, text in given.items()}

    def sentence_of(span: Span | None) -> str | None:
        if span is None:
            return None
        name = span.source_id or next(iter(given))
        ends = next(((a, b) for a, b in sentences[name] if a <= span.start < b), (span.start, span.end))
        return folded(given[name][slice(*ends)])

    parts = ((entry.claim_span, sentence_of(entry.source_span)) for entry in verdict.evidence_alignment)
    return tuple((span.start, span.end, sentence) for span, sentence in parts)
