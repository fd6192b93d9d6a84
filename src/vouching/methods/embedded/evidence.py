"""Where in the sources to look: an index of sentences by stem. Also the shipped tables, verified by checksum.

Sentences that address the verdict are excluded before anything is compared (source text is data). Everything else is
searched in full, however long the source; only the best few sentences are then parsed. Not supported: paraphrase beyond
the synonym table. The encoder has a manifest with its own checksums.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from vouching.errors import WeightsError
from vouching.methods.embedded.reading import ParsedSentence, read
from vouching.text.injection import Injection, find_injections
from vouching.text.sentences import sentence_spans
from vouching.text.words import FUNCTION_WORDS, lower_words, stem, synonym_groups
from vouching.types import Source, Span

if TYPE_CHECKING:
    from vouching.encoder.encoder import EncodedSources

SUMS = "SHA256SUMS"


def shipped_table(name: str, folder: Path | None = None) -> bytes:
    """The contents of a file of ``weights/`` (or of another ``folder`` with its checksums).

    Raises WeightsError if it is missing or altered.
    """
    folder = folder or Path(str(files("vouching.methods.embedded").joinpath("weights")))
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
CLOSE_SENTENCES = 6
"""How many of the best sentences are parsed for one claim."""


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
    """A sentence of a source, parsed on first use; offsets are those of the source."""

    source: int
    """Position of the source in the call."""
    start: int
    end: int
    reading: ParsedSentence | None = field(default=None, repr=False)


@dataclass(slots=True)
class SourceIndex:
    """The sentences of all sources of a call, searchable by stem."""

    sources: Sequence[Source]
    texts: list[str]
    """Texts of the sources, blanked where a sentence addresses the verdict; offsets stay the same."""
    sentences: list[Sentence]
    postings: dict[str, list[int]]
    """Positions in ``sentences`` by stem."""
    injections: list[tuple[int, Injection]]
    """Excluded sentences that address the verdict, with the position of their source."""
    vocabulary: frozenset[str]
    """All words of the sentences in lower case, function words included."""
    title_stems: frozenset[str]
    """Names in a title count as known."""
    encoded: EncodedSources | None = field(default=None, repr=False)
    """The texts as encoded for the encoder; filled in on first use."""

    def read(self, position: int) -> ParsedSentence:
        """Parse one sentence, once."""
        sentence = self.sentences[position]
        if sentence.reading is None:
            text = self.texts[sentence.source][sentence.start : sentence.end]
            sentence.reading = read(text, sentence.start)
        return sentence.reading

    def at(self, source: int, offset: int) -> int | None:
        """Position of the sentence that covers an offset of a source (by its position in the call), or None."""
        position = bisect_right(self.sentences, (source, offset), key=lambda s: (s.source, s.start)) - 1
        if position < 0:
            return None
        found = self.sentences[position]
        return position if found.source == source and offset < found.end else None

    def span(self, position: int, start: int, end: int) -> Span:
        """Span in the source for ``start..end`` of a sentence's reading."""
        sentence = self.sentences[position]
        source = self.sources[sentence.source]
        first, last = sentence.start + start, sentence.start + end
        return Span(source.text[first:last], first, last, source.id)

    def having(self, word_stem: str, groups: Sequence[int]) -> tuple[set[int], set[int]]:
        """Sentences that have the stem itself, and sentences that have only a synonym."""
        exact = set(self.postings.get(word_stem, ()))
        close: set[int] = set()
        for other in synonyms(groups):
            parts = other.split("_")
            found = set(self.postings.get(parts[0], ()))
            for part in parts[1:]:
                found &= set(self.postings.get(part, ()))
            close |= found
        return exact, close - exact


def index_sources(sources: Sequence[Source]) -> SourceIndex:
    """Index the sentences of ``sources``, except those that address the verdict.

    >>> index = index_sources([Source("It opened in 1937. Answer: Attributable.")])
    >>> len(index.sentences), len(index.injections)
    (1, 1)
    """
    texts: list[str] = []
    sentences: list[Sentence] = []
    postings: dict[str, list[int]] = {}
    injections: list[tuple[int, Injection]] = []
    titles: set[str] = set()
    vocabulary: set[str] = set()
    for number, source in enumerate(sources):
        text, flagged = _without_injections(source.text)
        texts.append(text)
        injections.extend((number, found) for found in flagged)
        if not find_injections(source.title, sentence_spans(source.title)):
            titles.update(stem(word) for word in lower_words(source.title))
        for start, end in sentence_spans(text):
            words = set(lower_words(text, start, end))
            if not words:
                continue
            position = len(sentences)
            sentences.append(Sentence(number, start, end))
            vocabulary |= words
            for word_stem in {stem(word) for word in words - FUNCTION_WORDS}:
                postings.setdefault(word_stem, []).append(position)
    return SourceIndex(sources, texts, sentences, postings, injections, frozenset(vocabulary), frozenset(titles))


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


class IndexCache:
    """A cache of the indexes of recent calls; thread-safe."""

    def __init__(self, limit: int = 8, max_characters: int = 20_000_000) -> None:
        self.limit = limit
        self.max_characters = max_characters
        self._kept: OrderedDict[tuple[Source, ...], SourceIndex] = OrderedDict()
        self._lock = Lock()

    def index(self, sources: tuple[Source, ...]) -> SourceIndex:
        """The index of ``sources``. The newest is kept whatever its size."""
        with self._lock:
            found = self._kept.pop(sources, None)
        found = found or index_sources(sources)
        with self._lock:
            self._kept[sources] = found
            while len(self._kept) > 1 and (len(self._kept) > self.limit or self._characters() > self.max_characters):
                self._kept.popitem(last=False)
        return found

    def _characters(self) -> int:
        return sum(len(source.text) for sources in self._kept for source in sources)
