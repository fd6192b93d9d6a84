"""What the encoders find: the features of the one score, and counterparts for words that the rules cannot find.

The encoder reads the premise of a claim (``premise.py``), and the claim with its numbers and dates in the source's
words where the rules find them equal ("30 %" and "one-third", "3 May 1937" and "May 3, 1937"). Not supported:
counterparts for values and names, which are compared exactly or not at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from vouching.embedded.features import Segment
from vouching.embedded.premise import premise_for
from vouching.embedded.scene import Comparison
from vouching.embedded.scoring import ScoreModel, load_score_model, score_model_of
from vouching.encoder.reading import SoftReading, TokenMatch, features_of
from vouching.errors import ConfigError, WeightsError
from vouching.reading.evidence import SourceIndex
from vouching.reading.parsed import ParsedSentence
from vouching.types import Source, Span
from vouching.types.spans import ERROR_TYPES

if TYPE_CHECKING:
    from vouching.embedded.compared import Compared
    from vouching.embedded.phrasing import Edit
    from vouching.encoder.encoder import Encoder
    from vouching.reading.asked import Reader, Reading, TokenReading


@dataclass(frozen=True, slots=True)
class Reworded:
    """A claim in the source's words, with a mapping back to its own."""

    claim: str
    text: str
    """What the encoder reads."""
    places: tuple[tuple[int, int, int, int], ...]
    """Replaced stretches, in order: start and end in the claim, start and end in the text."""

    def back(self, reading: SoftReading) -> SoftReading:
        """Map a reading of the text to the claim; a token of a replaced value maps to the whole value."""
        if not self.places:
            return reading
        moved = (replace(match, claim_span=self._span(match.claim_span)) for match in reading.matches)
        matches = (match for match in moved if match.claim_span.text)  # words that were put in have no place
        is_whole = reading.claim_read >= len(self.text)
        read = len(self.claim) if is_whole else self._offsets(reading.claim_read, reading.claim_read)[1]
        return replace(reading, matches=tuple(matches), claim_read=read)

    def _span(self, span: Span) -> Span:
        start, end = self._offsets(span.start, span.end)
        return Span(self.claim[start:end], start, end)

    def _offsets(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the claim that corresponds to ``start..end`` of the text."""
        shift = 0
        for first, last, new_first, new_last in self.places:
            if end <= new_first:
                break
            if start < new_last:
                return first, last
            shift = last - new_last
        return start + shift, end + shift


def reword(compared: Compared) -> Reworded:
    """The claim as the encoders read it: a field as a phrase, and what equals the source's in the source's words."""
    claim = compared.claim.text
    parts: list[str] = []
    places: list[tuple[int, int, int, int]] = []
    done = length = 0
    for start, end, found in sorted([*_equal_values(compared), *compared.phrases]):
        if start < done:
            continue
        parts += [claim[done:start], found]
        length += start - done + len(found)
        places.append((start, end, length - len(found), length))
        done = end
    return Reworded(claim, "".join([*parts, claim[done:]]), tuple(places))


def _equal_values(compared: Compared) -> Iterator[Edit]:
    """Start and end of each value that the source has in other words, and those words."""
    claim, index = compared.claim.text, compared.index
    for segment in compared.segments:
        for comparison in segment.comparisons:
            part = comparison.part
            if part.kind not in ("quantity", "date") or comparison.outcome != "equal" or comparison.sentence is None:
                continue
            start, end = segment.reading.offset + part.value_start, segment.reading.offset + part.value_end
            found = index.read(comparison.sentence).text[comparison.value_start : comparison.value_end]
            if found.strip() and found.lower() != claim[start:end].lower():
                yield start, end, found


COMBINED, EXPORT = "combined.json", "run/export"
"""Where a folder has the combined model and the encoder it was fitted on."""
_EXPORT_OF_RUN = "export"
"""The same in the folder of a run of ``recipes/encoder``, beside what ``recipes/reader/fit.py`` writes."""
_REFUTING = frozenset({"quantity_differs", "date_differs", "opposite", "negated"})
"""Kinds of difference that make a claim contradicted whatever the encoders read."""
_PLACES = 3
"""Decimal places of what the large encoder finds; the claims beside a claim and the CPU change later ones."""
_SUPPORTED = 0.5
"""Mean support of its tokens from which a part counts as paraphrased."""
_ALIKE = 0.41
"""Minimum similarity of a counterpart: nearly all synonyms reach it, and words that are merely near mostly do not."""
_LONGEST_COUNTERPART = 80
"""In characters; of matches further apart, only the best is shown."""


class SoftReader:
    """An encoder with the score model that weighs its features, and the differences that the rules find.

    Raises WeightsError if the model was fitted on another encoder.
    """

    def __init__(self, encoder: Encoder, model: ScoreModel, name: str = "embedded") -> None:
        _check_digest(model, encoder.weights.digest)
        self._encoder = encoder
        self.model, self.name = model, name

    def read(self, compared: Compared) -> SoftReading:
        """See :func:`read_softly`."""
        return read_softly(self._encoder, compared)

    def read_all(self, compared: Sequence[Compared], threshold: float = 0.0) -> list[SoftReading]:
        """Read claims about the same sources, of which those with a score of ``threshold`` or more pass."""
        return [self.read(one) for one in compared]


class LargeSoftReader(SoftReader):
    """A reader of texts beside the encoder of pairs: the score weighs both.

    Raises WeightsError if the model was fitted on another reader or encoder.
    """

    def __init__(self, reader: Reader, encoder: Encoder, model: ScoreModel, name: str = "embedded") -> None:
        _check_digest(model, f"{reader.digest}+{encoder.weights.digest}")
        self._reader, self._encoder = reader, encoder
        self.model, self.name = model, name

    def read_all(self, compared: Sequence[Compared], threshold: float = 0.0) -> list[SoftReading]:
        """The readings of the encoder, with the relation that the reader of texts finds, and its features.

        A claim about long sources needs a text of its own, and that is not read where its verdict is known: a refuted
        claim stays below ``threshold`` whatever is read. There the encoder of pairs stands for both.
        """
        found = super().read_all(compared)
        asked = [number for number, one in enumerate(compared) if not self._is_refuted(one, threshold)]
        if compared and self._reader.fits(compared[0].index.evidence):
            asked = [*range(len(compared))]
        large = read_large(self._reader, [compared[number] for number in asked]) if asked else []
        read = dict(zip(asked, large, strict=True))
        return [_joined(small, read.get(number, small)) for number, small in enumerate(found)]

    def _is_refuted(self, compared: Compared, threshold: float) -> bool:
        """Whether the comparators alone decide label, relation and error type."""
        return self.model.ceiling(_REFUTING.intersection(compared.kinds)) < threshold


@dataclass(frozen=True, slots=True)
class JoinedReading(SoftReading):
    """A claim as both encoders read it: relation and support of tokens are the large one's, matches the small one's."""

    features: Mapping[str, float]
    """Of both; those of the large encoder begin with ``large_``."""
    read: tuple[TokenMatch, ...]
    """The tokens as the large encoder read them."""

    @property
    def tokens(self) -> tuple[TokenMatch, ...]:
        """Those of the large encoder."""
        return self.read


def _joined(small: SoftReading, large: SoftReading) -> JoinedReading:
    return JoinedReading(
        relation=large.relation,
        error_type=small.error_type,
        matches=small.matches,
        sentence_similarity=small.sentence_similarity,
        windows_read=small.windows_read,
        windows=small.windows,
        unread=small.unread,
        claim_read=small.claim_read,
        features={**features_of(small), **{f"large_{k}": round(v, _PLACES) for k, v in features_of(large).items()}},
        read=large.matches,
    )


def _check_digest(model: ScoreModel, digest: str) -> None:
    if model.encoder != digest:
        raise WeightsError(
            f"the combined model was fitted on encoder {model.encoder}, got encoder {digest}: "
            "use both from the same version of vouching"
        )


def read_softly(encoder: Encoder, compared: Compared) -> SoftReading:
    """Read a claim with the premise that the rules found for it; see :mod:`vouching.embedded.premise`.

    Numbers and dates that the rules find equal are read in the source's words.
    """
    index, reworded = compared.index, reword(compared)
    premise = premise_for(compared.segments, index)
    reading = encoder.read(reworded.text, encoder.encode([Source(premise.text)]))
    matches = [
        replace(match, source_span=premise.span(match.source_span.start, match.source_span.end, index))
        for match in reading.matches
    ]
    return reworded.back(replace(reading, matches=tuple(matches)))


def read_large(reader: Reader, compared: Sequence[Compared]) -> list[SoftReading]:
    """Read claims about the same sources, with the passages that the reader itself chooses.

    Numbers and dates that the rules find equal are read in the source's words.
    """
    from vouching.reading.asked import Asked

    index, reworded = compared[0].index, [reword(one) for one in compared]
    readings = reader.read(index.evidence, [Asked(one.text) for one in reworded])
    return [one.back(_soft(one.text, reading, index)) for one, reading in zip(reworded, readings, strict=True)]


def _soft(claim: str, reading: Reading, index: SourceIndex) -> SoftReading:
    matches = tuple(
        TokenMatch(Span(claim[t.start : t.end], t.start, t.end), _in_source(t, index), t.similarity, t.support)
        for t in reading.tokens
        if t.source >= 0
    )
    mean = sum(match.similarity for match in matches) / max(1, len(matches))
    return SoftReading(
        reading.relation, dict.fromkeys(ERROR_TYPES, 1 / len(ERROR_TYPES)), matches, mean, 1, 1, (), reading.claim_read
    )


def _in_source(token: TokenReading, index: SourceIndex) -> Span:
    text = index.plain[token.source].text[token.source_start : token.source_end]
    return Span(text, token.source_start, token.source_end, index.sources[token.source].id)


@cache
def load_soft_reader(name: str = "embedded") -> SoftReader:
    """What a shipped verifier reads with, loaded once: both encoders for "embedded", the small one otherwise."""
    from vouching.encoder.encoder import load_encoder

    if name == "embedded:small":
        return SoftReader(load_encoder(), load_score_model("small"), name)
    from vouching.reading.reader import LargeReader
    from vouching.reading.text_encoder import load_text_encoder

    return LargeSoftReader(LargeReader(load_text_encoder()), load_encoder(), load_score_model("combined"), name)


def open_soft_reader(folder: Path) -> SoftReader:
    """The encoder and the combined model of a folder: a round of ``recipes/evolve``, a run of an encoder or a reader.

    Raises ConfigError without a combined model, WeightsError if a file is missing, altered or of another version.
    """
    from vouching.encoder.encoder import load_encoder
    from vouching.reading.reader import LargeReader
    from vouching.reading.text_encoder import MANIFEST, TextEncoder

    try:
        raw = (folder / COMBINED).read_bytes()
    except OSError as error:
        raise ConfigError(
            f"cannot read {folder / COMBINED} ({error.strerror}): expected embedded, embedded:rules, or "
            "embedded:FOLDER with a student of vouch evolve, such as embedded:runs/weakness/round-2/student, or with a "
            f"run of recipes/encoder for which recipes/reader/fit.py has written {COMBINED}"
        ) from error
    export = folder / (EXPORT if (folder / EXPORT).is_dir() else _EXPORT_OF_RUN)
    model, name = score_model_of(raw), f"embedded:{folder}"
    if (export / MANIFEST).is_file():
        return LargeSoftReader(LargeReader(TextEncoder(export)), load_encoder(), model, name)
    return SoftReader(load_encoder(export), model, name)


WEIGHED = ("quantity_differs", "date_differs", "entity_differs", "opposite", "negated", "unhedged", "overstated")
"""Kinds of decisive difference that the score weighs: what the sources say otherwise, not what they do not have."""


def combined_features(kinds: Collection[str], reading: SoftReading) -> Mapping[str, float]:
    """Inputs of the score: the encoders' features, and for each weighed kind of difference 1 if it was found."""
    encoded = reading.features if isinstance(reading, JoinedReading) else features_of(reading)
    return {**encoded, **{kind: float(kind in kinds) for kind in WEIGHED}}


def with_counterparts(segment: Segment, reading: SoftReading, index: SourceIndex) -> Segment:
    """The segment with a counterpart for each absent predicate that the encoder supports."""
    comparisons = tuple(_counterpart(segment, comparison, reading, index) for comparison in segment.comparisons)
    return replace(segment, comparisons=comparisons)


def _counterpart(segment: Segment, comparison: Comparison, soft: SoftReading, index: SourceIndex) -> Comparison:
    part = comparison.part
    if comparison.outcome != "absent" or part.kind != "predicate":
        return comparison
    start, end = segment.reading.offset + part.start, segment.reading.offset + part.end
    matches = [m for m in soft.matches if start <= m.claim_span.start and m.claim_span.end <= end]
    if not matches or sum(m.support for m in matches) / len(matches) < _SUPPORTED:
        return comparison
    best = max(matches, key=lambda m: m.similarity)
    if best.similarity < _ALIKE:
        return comparison
    source = next((i for i, s in enumerate(index.sources) if s.id == best.source_span.source_id), None)
    sentence = None if source is None else index.at(source, best.source_span.start)
    if sentence is None:
        return comparison
    stretch = index.sentences[sentence]
    reading = index.read(sentence)
    place = reading.word_at(best.source_span.start - stretch.start)
    if place is None or not _can_stand_for_a_word(reading, place):
        return comparison
    first, last = _phrase(best, matches, stretch.start, stretch.end)
    words = [w for w in reading.words if w.start < last and w.end > first]
    return Comparison(part, "paraphrased", sentence, words[0].start, words[-1].end)


def _can_stand_for_a_word(reading: ParsedSentence, place: int) -> bool:
    """Whether a word of a source may be shown as a counterpart: not a number, date, name or function word."""
    word = reading.words[place]
    taken = [*reading.quantities, *reading.dates, *reading.entities]
    return word.is_content and not any(span.start < word.end and word.start < span.end for span in taken)


def _phrase(best: TokenMatch, matches: Sequence[TokenMatch], start: int, end: int) -> tuple[int, int]:
    """The stretch of a sentence (``start..end`` in its source) from the first to the last match, in its own offsets."""
    found = (m.source_span for m in matches if m.source_span.source_id == best.source_span.source_id)
    spans = [span for span in found if start <= span.start and span.end <= end]
    first, last = min(s.start for s in spans), max(s.end for s in spans)
    if last - first > _LONGEST_COUNTERPART:
        first, last = best.source_span.start, best.source_span.end
    return first - start, last - start
