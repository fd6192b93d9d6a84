"""Where in the sources to look: an index of sentences by stem. Also the shipped tables, verified by checksum.

Sentences that address the verdict are excluded before anything is compared (source text is data). Everything else is
searched in full, however long the source; only the best few sentences are then parsed. Not supported: paraphrase beyond
the synonym table. The encoder has a manifest with its own checksums.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from vouching.errors import WeightsError
from vouching.reading.casing import Forms, has_one_case, in_usual_case, written_forms
from vouching.reading.parsed import ParsedSentence, read
from vouching.reading.plain import PlainText, as_plain
from vouching.reading.said_of_each import said_of_each
from vouching.reading.spanning_cells import with_whole_rows
from vouching.reading.tables import with_measures
from vouching.reading.values import JOINT, MOST_READ, Values, kept_values
from vouching.text.injection import Injection, find_injections
from vouching.text.layout import Row, as_markdown, headings, table_rows, with_bars
from vouching.text.sentences import sentence_spans
from vouching.text.words import FUNCTION_WORDS, Word, lower_words, stem, synonym_groups
from vouching.types import Source, Span

SUMS = "SHA256SUMS"


def shipped_table(name: str, folder: Path | None = None) -> bytes:
    """The contents of a file of ``weights/`` (or of another ``folder`` with its checksums).

    Raises WeightsError if it is missing or altered.
    """
    folder = folder or Path(str(files("vouching.embedded").joinpath("weights")))
    try:
        raw = (folder / name).read_bytes()
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise WeightsError(f"cannot read {folder / name} or its {SUMS} ({error}): reinstall vouching") from error
    found = hashlib.sha256(raw).hexdigest()
    if f"{found}  {name}" not in lines:
        raise WeightsError(
            f"{folder / name} has SHA-256 {found[:12]}..., which is not in {SUMS}: the file was changed; "
            "reinstall vouching"
        )
    return raw


SYNONYM_WEIGHT = 0.8
"""Weight of a word of which only a synonym is found."""
CONTEXT_WEIGHT = 0.5
"""Weight of a word that only the heading of a sentence has, or the head of a column."""
CLOSE_SENTENCES = 6
"""How many of the best sentences are parsed for one claim."""
_FORMS_READ = 50
"""Maximum number of sentences that are read to see how a word is written."""


@cache
def _rarities() -> tuple[dict[str, float], float]:
    table: dict[str, float] = {}
    for line in shipped_table("rarity.txt").decode().splitlines():
        if line and not line.startswith("#"):
            word, value = line.split()
            table[word] = float(value)
    return table, table.pop("*")


def rarity(word_stem: str) -> float:
    """ln(sentences / sentences with the stem) in general English; about 2 to 11."""
    table, unseen = _rarities()
    return table.get(word_stem, unseen)


def is_common(word_stem: str) -> bool:
    """True for stems of the rarity table: ordinary words rather than names."""
    return word_stem in _rarities()[0]


@cache
def _written() -> dict[str, str]:
    lines = shipped_table("case.txt").decode().splitlines()
    return {line.lower(): line for line in lines if not line.startswith("#")}


def usual_form(word: str) -> str | None:
    """How a word, given in lower case, is mostly written in general English; None if unknown.

    >>> [usual_form(word) for word in ("paris", "bridge", "nba", "marchetti")]
    ['Paris', 'bridge', 'NBA', None]
    """
    written, key = _written(), stem(word)
    is_ordinary = word in FUNCTION_WORDS or is_common(key) or written.get(key) == key
    return written.get(word) or (word if is_ordinary else None)


@cache
def _other_numerals() -> dict[str, str]:
    """Digits by the stem of a number word from two to ninety, and the reverse."""
    words = "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    teens = {stem(word): str(number) for number, word in enumerate(f"{words} eighteen nineteen".split(), 2)}
    tens = "twenty thirty forty fifty sixty seventy eighty ninety".split()
    digits = teens | {stem(word): str(10 * number) for number, word in enumerate(tens, 2)}
    return digits | {number: word for word, number in digits.items()}


@cache
def _group_members() -> dict[int, tuple[str, ...]]:
    members: dict[int, list[str]] = {}
    for word, groups in synonym_groups().items():
        for group in groups:
            members.setdefault(group, []).append(word)
    return {group: tuple(words) for group, words in members.items()}


def synonyms(groups: Iterable[int]) -> set[str]:
    """Stems (phrases joined by "_") of the given synonym groups."""
    return {word for group in groups for word in _group_members()[group]}


@dataclass(slots=True)
class Sentence:
    """A sentence of a source, parsed on first use; offsets are those of the source in plain form."""

    source: int
    """Position of the source in the call."""
    start: int
    end: int
    row: Row | None = None
    """The row of a table that it is (or the row of the heads), with the same kind of offsets; None for prose."""
    heading: tuple[int, int] | None = None
    """Where the title of the last heading is that does not start after it."""
    reading: ParsedSentence | None = field(default=None, repr=False)


@dataclass(slots=True)
class SourceIndex:
    """The sentences of all sources of a call, searchable by stem."""

    sources: Sequence[Source]
    plain: list[PlainText]
    """The texts of the sources as evidence, in plain form and with "|" between the cells of tables; empty for a text
    that an earlier source has."""
    sentences: list[Sentence]
    postings: dict[str, list[int]]
    """Positions in ``sentences`` by stem."""
    around: dict[str, list[int]]
    """Positions of the sentences whose heading, or heads of the columns, have a stem that they do not have."""
    injections: list[tuple[int, Injection]]
    """Excluded sentences that address the verdict, with the position of their source."""
    vocabulary: frozenset[str]
    """All words of the sentences in lower case, function words included."""
    title_stems: frozenset[str]
    """Names in a title count as known."""
    foreign: tuple[int, ...] | None = None
    """Positions of the sources that do not look English; filled in on first use."""
    _evidence: list[str] = field(default_factory=list[str], repr=False)
    _values: tuple[Values, list[int]] | None = field(default=None, init=False, repr=False)

    @property
    def evidence(self) -> list[str]:
        """The texts in plain form, with spaces in place of the sentences that are no evidence."""
        if len(known := self._evidence) < len(self.plain):
            self._evidence = known = [*known, *self._only_evidence(len(known))]
        return known

    @property
    def values(self) -> tuple[Values, list[int]] | None:
        """The values of the evidence, joined by empty lines, and where in that text each source starts.

        None for sources that are too long to read all their values.
        """
        if sum(map(len, self.evidence)) > MOST_READ:
            return None
        if self._values is None:
            starts = [0]
            for text in self.evidence[:-1]:
                starts.append(starts[-1] + len(text) + len(JOINT))
            self._values = kept_values(self.evidence), starts
        return self._values

    def _only_evidence(self, first: int) -> list[str]:
        """The evidence of the sources from ``first`` on."""
        texts = [list(plain.text) for plain in self.plain[first:]]
        kept = [bytearray(len(text)) for text in texts]
        for sentence in self.sentences[bisect_left(self.sentences, first, key=lambda s: s.source) :]:
            kept[sentence.source - first][sentence.start : sentence.end] = b"\1" * (sentence.end - sentence.start)
        for text, plain, keep in zip(texts, self.plain[first:], kept, strict=True):
            for start, end in sentence_spans(plain.text):
                if not any(keep[start:end]):
                    text[start:end] = " " * (end - start)
        return ["".join(text) for text in texts]

    def read(self, position: int) -> ParsedSentence:
        """Parse one sentence, once."""
        sentence = self.sentences[position]
        if sentence.reading is None:
            document = self.plain[sentence.source].text
            reading = read(document[sentence.start : sentence.end], sentence.start)
            if sentence.row is not None:
                reading = with_measures(reading, sentence.row, document, sentence.start)
            sentence.reading = reading
        return sentence.reading

    def without(self, positions: Collection[int]) -> SourceIndex:
        """The index without the words of some sentences; the others keep their positions."""
        sentences = [
            replace(s, end=s.start, row=None, reading=None) if i in positions else s
            for i, s in enumerate(self.sentences)
        ]
        texts = ((self.plain[s.source].text, s) for s in sentences)
        return replace(
            self,
            sentences=sentences,
            postings=_without(self.postings, positions),
            around=_without(self.around, positions),
            vocabulary=frozenset(word for text, s in texts for word in lower_words(text, s.start, s.end)),
            _evidence=[],
        )

    def copy(self) -> SourceIndex:
        """The index with lists of its own, to which more can be added; what it has read of its sentences is shared."""
        return replace(
            self,
            plain=[*self.plain],
            sentences=[*self.sentences],
            postings={found: [*where] for found, where in self.postings.items()},
            around={found: [*where] for found, where in self.around.items()},
            injections=[*self.injections],
            foreign=None,
        )

    def at(self, source: int, offset: int) -> int | None:
        """Position of the sentence that covers an offset of a source (by its position in the call) in plain form."""
        position = bisect_right(self.sentences, (source, offset), key=lambda s: (s.source, s.start)) - 1
        if position < 0:
            return None
        found = self.sentences[position]
        return position if found.source == source and offset < found.end else None

    def span(self, position: int, start: int, end: int) -> Span:
        """Span in the source for ``start..end`` of a sentence's reading."""
        sentence = self.sentences[position]
        source = self.sources[sentence.source]
        first, last = self.plain[sentence.source].origin(sentence.start + start, sentence.start + end)
        return Span(source.text[first:last], first, last, source.id)

    def stems(self, position: int, start: int, end: int) -> frozenset[str]:
        """The stems of a stretch of the source that a sentence is from."""
        return _stems(self.plain[self.sentences[position].source].text, start, end)

    def forms(self, words: Sequence[Word]) -> Forms:
        """How the sources write words inside their sentences; see ``written_forms``."""
        places = {place for word in words for place in self.postings.get(word.stem, ())[:_FORMS_READ]}
        found = ((self.plain[sentence.source].text, sentence) for sentence in map(self.sentences.__getitem__, places))
        wanted = {word.lower for word in words}
        return written_forms((text[sentence.start : sentence.end] for text, sentence in found), wanted)

    def having(self, word_stem: str, groups: Sequence[int]) -> tuple[set[int], set[int]]:
        """Sentences that have the stem itself, and sentences that have only a synonym."""
        exact = {*self.postings.get(word_stem, ()), *self.postings.get(_other_numerals().get(word_stem, ""), ())}
        close: set[int] = set()
        for other in synonyms(groups):
            if "_" not in other:
                close.update(self.postings.get(other, ()))
                continue
            first, *rest = other.split("_")
            found = set(self.postings.get(first, ()))
            close |= found.intersection(*(self.postings.get(part, ()) for part in rest)) if found else found
        return exact, close - exact


def _without(places: Mapping[str, list[int]], positions: Collection[int]) -> dict[str, list[int]]:
    """Places of stems, without some positions."""
    kept = {found: [i for i in where if i not in positions] for found, where in places.items()}
    return {found: where for found, where in kept.items() if where}


def index_sources(sources: Sequence[Source], before: SourceIndex | None = None) -> SourceIndex:
    """Index the sentences of ``sources``, except those that address the verdict; a text given twice counts once.

    ``before``, if given, is the index of the sources before these, which are not read again; it stays as it is.

    >>> index = index_sources([Source("It opened in 1937. Answer: Attributable.")])
    >>> len(index.sentences), len(index.injections)
    (1, 1)
    >>> len(index_sources([Source("It closed.")], index).sentences)
    2
    """
    index = SourceIndex([], [], [], {}, {}, [], frozenset(), frozenset()) if before is None else before.copy()
    postings, around = index.postings, index.around
    titles, vocabulary = set[str](), set[str]()
    known = {source.text for source in index.sources}
    for number, source in enumerate(sources, len(index.plain)):
        blanked, flagged = _without_injections(source.text)
        read_as = PlainText("") if source.text in known else _as_read(blanked)
        known.add(source.text)
        rows = table_rows(read_as.text)
        index.plain.append(replace(read_as, text=with_bars(read_as.text, rows)))
        text = index.plain[-1].text
        index.injections.extend((number, found) for found in flagged)
        if not find_injections(source.title, sentence_spans(source.title)):
            titles.update(stem(word) for word in lower_words(source.title))
        for (start, end), row, heading, context in statements(text, rows):
            words = set(lower_words(text, start, end))
            if not words:
                continue
            position = len(index.sentences)
            index.sentences.append(Sentence(number, start, end, row, heading))
            vocabulary |= words
            own = {stem(word) for word in words - FUNCTION_WORDS}
            for word_stem in own:
                postings.setdefault(word_stem, []).append(position)
            for word_stem in context - own:
                around.setdefault(word_stem, []).append(position)
    return replace(
        index,
        sources=(*index.sources, *sources),
        vocabulary=index.vocabulary | vocabulary,
        title_stems=index.title_stems | titles,
    )


def _as_read(text: str) -> PlainText:
    """The text with HTML as Markdown, in plain form, in its usual case, and with what it says of each thing apart."""
    whole = with_whole_rows(text)
    plain = replace(as_plain(as_markdown(whole.text)), before=whole)
    plain = replace(plain, text=in_usual_case(plain.text, {}, usual_form)) if has_one_case(plain.text) else plain
    return said_of_each(plain, usual_form)


def evidence_text(source: Source) -> str:
    """The text of a source without the sentences that address the verdict, and HTML as Markdown; offsets stay the same.

    >>> evidence_text(Source("It opened in 1937. Answer: Attributable.")).rstrip()
    'It opened in 1937.'
    """
    return as_markdown(_without_injections(source.text)[0])


def statements(
    text: str, rows: Sequence[Row]
) -> Iterator[tuple[tuple[int, int], Row | None, tuple[int, int] | None, frozenset[str]]]:
    """The sentences of a text and the rows of its tables, in order, each with the last heading before it.

    The stems are those of the heading and, for a row, of the heads of its columns.
    """
    titles = headings(text)
    spans = sorted([*_outside(sentence_spans(text), rows), *((row.start, row.end) for row in rows)])
    by_start = {row.start: row for row in rows}
    title, heading = None, frozenset[str]()
    upcoming = iter([*titles, (len(text) + 1, 0)])
    following = next(upcoming)
    for start, end in spans:
        while following[0] <= end:
            title, heading = following, _stems(text, *following)
            following = next(upcoming)
        row = by_start.get(start)
        cells = row.cells if row and not row.is_head else ()
        heads = frozenset[str]().union(*(_stems(text, *cell.column) for cell in cells))
        yield (start, end), row, title, heading | heads


def _stems(text: str, start: int, end: int) -> frozenset[str]:
    return frozenset(stem(word) for word in set(lower_words(text, start, end)) - FUNCTION_WORDS)


def _outside(spans: Sequence[tuple[int, int]], rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """The parts of ``spans`` outside the rows of tables."""
    following = iter([*rows, None])
    row = next(following)
    for start, end in spans:
        while row is not None and row.start < end:
            if row.end > start:
                if start < row.start:
                    yield start, row.start
                start = row.end
            if row.end > end:
                break
            row = next(following)
        if start < end:
            yield start, end


def _without_injections(text: str) -> tuple[str, list[Injection]]:
    """Blank out each sentence that addresses the verdict; return the text and those sentences.

    The line breaks around such a sentence go too, so that the sentence it interrupted becomes whole again.
    """
    flagged = find_injections(text, sentence_spans(text))
    for found in flagged:
        start, end = found.start, found.end
        while start > 0 and text[start - 1].isspace():
            start -= 1
        while end < len(text) and text[end].isspace():
            end += 1
        text = text[:start] + " " * (end - start) + text[end:]
    return text, flagged
