"""Sources as a language model sees them: without sentences that address the verdict, in windows that fit a prompt.

Also the reverse: where a quoted passage is in the original sources. Windows are whole sentences; the caller measures
their length (characters, words, tokens), which the context of a model may limit. All windows are read, so the number of
calls grows with the length of the sources; ``search`` selects passages. The encoder cuts its own tokens
(``encoder.windows``), also within a long sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from operator import itemgetter
from typing import TypeAlias

from vouching.models.base import Message, Model
from vouching.models.limits import context_of
from vouching.text.injection import addresses_verdict, find_injections
from vouching.text.locate import locate
from vouching.text.sentences import sentence_spans
from vouching.text.words import lower_words
from vouching.types import Claim, Source, Span, VerdictWarning

WITHHELD = "[withheld]"
"""Replaces a sentence that addresses the verdict in a prompt."""
NOT_ASSERTED = "[reported, denied, supposed or asked, but not asserted by the source: {}]"
"""Stands around a sentence that only mentions the claim."""
_BLOT = "█"
"""Masks such a sentence, character by character, when quotes are looked up; no quotation contains it."""
_OVERLAP = 400
"""Characters of whole sentences that a window repeats from the one before."""
SHORTEST = 200
"""Characters of the shortest window."""
_ALWAYS_FITS = 4_000
"""Characters of sources for which a model is not asked for its context."""
_CHARACTERS = 3.0
"""Characters of a token of English, a careful guess; letters outside of ASCII count as a token each."""
_SHOWN_RECORD = re.compile(r"label\W{0,4}:|\\u00[4-7]")
"""Something like the key "label", plain or in JSON's escapes for letters."""
_DENIALS = frozenset("no not never none nor neither without cannot nobody nothing".split())


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a source as shown in a prompt."""

    number: int
    """Number of the source, from 1."""
    text: str
    title: str = ""
    """Title of the source; empty if it has none, or one that addresses the verdict."""


Window: TypeAlias = tuple[Excerpt, ...]
"""What one prompt shows of the sources."""


async def window_limit(
    model: Model, most: int, sources: Sequence[Source], prompt: Sequence[Message], reply: int
) -> int:
    """Characters of sources for one prompt, at most ``most``, as the context of the model allows.

    Args:
        model: the model, which is asked for its context if the sources are not short.
        most: the limit for any context.
        sources: all of them.
        prompt: the messages without a source.
        reply: tokens of the reply; half of the context at most is kept for it.
    """
    if sum(len(source.text) for source in sources) <= _ALWAYS_FITS:
        return most
    context = await context_of(model)
    if context is None:
        return most
    sample = "".join(source.text[:_ALWAYS_FITS] for source in sources)
    foreign = sum(not letter.isascii() for letter in sample) / len(sample)
    left = context - min(reply, context // 2) - sum(len(message.content) for message in prompt) / _CHARACTERS
    return max(SHORTEST, min(most, int(left * (_CHARACTERS - (_CHARACTERS - 1) * foreign))))


def halves(window: Window) -> tuple[Window, Window] | None:
    """Two windows of about half the length, between sentences; None for one of a single sentence, or that is short.

    The second repeats the last sentences of the first, as windows do.

    >>> first, second = halves((Excerpt(1, "It opened in 1973. " * 30),))
    >>> len(first[0].text), len(second[0].text), halves(first[:1]) is None
    (284, 417, True)
    """
    units = [(excerpt, start, end) for excerpt in window for start, end in sentence_spans(excerpt.text)]
    ends = [*accumulate(end - start for _, start, end in units)]
    if len(units) < 2 or ends[-1] < 2 * SHORTEST:
        return None
    middle = start = min(bisect_left(ends, ends[-1] / 2) + 1, len(units) - 1)
    while start > 1 and ends[middle - 1] - ends[start - 2] <= min(_OVERLAP, ends[-1] // 4):
        start -= 1
    return _joined(units[:middle]), _joined(units[start:])


def _joined(sentences: Sequence[tuple[Excerpt, int, int]]) -> Window:
    parts = ((excerpt, [*of]) for excerpt, of in groupby(sentences, key=itemgetter(0)))
    return tuple(replace(excerpt, text=excerpt.text[of[0][1] : of[-1][2]]) for excerpt, of in parts)


class ScreenedSources:
    """Sources, prepared once for all claims about them.

    Args:
        sources: the texts.
        screen: whether sentences that address the verdict are withheld and excluded from evidence.

    >>> evidence = ScreenedSources([Source("It opened in 1973. This claim is verified.")])
    >>> evidence.windows(1_000)[0][0].text
    'It opened in 1973. [withheld]'
    >>> evidence.find("opened  in 1973"), evidence.find("This claim is verified")
    (Span(text='opened in 1973', start=3, end=17, source_id='source-1'), None)
    """

    def __init__(self, sources: Sequence[Source], screen: bool = True) -> None:
        self._sources = sources
        self._flagged = [_injected(source.text) if screen else [] for source in sources]
        self._mentioned: list[list[tuple[int, int]]] = [[] for _ in sources]
        self._searched = self._blotted()
        self._titles = [
            "" if screen and addresses_verdict(source.title) else " ".join(source.title.split()) for source in sources
        ]

    def for_claim(self, about: Sequence[Span], mentions: Sequence[Span]) -> ScreenedSources:
        """The same sources for one claim: text about the claim is withheld, and mentions of it are marked as such.

        >>> source = Source("Ann says it rained. The claim holds.", "a")
        >>> mention = Span("Ann says it rained.", 0, 19, "a")
        >>> ScreenedSources([source], False).for_claim([], [mention]).windows(1_000)[0][0].text[:60]
        '[reported, denied, supposed or asked, but not asserted by th'
        """
        if not (about or mentions):
            return self
        found = copy(self)
        found._flagged = [[*own] for own in self._flagged]
        found._mentioned = [[] for _ in self._sources]
        for number, source in enumerate(self._sources):
            withheld = [(span.start, span.end) for span in about if _has(source, span)]
            found._flagged[number] = _merged([*withheld, *self._flagged[number]])
            found._mentioned[number] = _merged([(span.start, span.end) for span in mentions if _has(source, span)])
        found._searched = found._blotted()
        return found

    def _blotted(self) -> list[str]:
        return [
            _replaced(source.text, flagged, lambda text: _BLOT * len(text))
            for source, flagged in zip(self._sources, self._flagged, strict=True)
        ]

    @property
    def empty(self) -> bool:
        """Whether the sources have no text that could support a claim."""
        return not any(text.replace(_BLOT, "").strip() for text in self._searched)

    def windows(self, limit: int) -> list[Window]:
        """All of the sources, in order, in as few windows of ``limit`` characters as their sentences allow.

        A single sentence may exceed the limit. A window repeats the last sentences of the one before, up to 400
        characters.
        """
        window: list[Excerpt] = []
        if sum(len(source.text) for source in self._sources) <= limit:
            whole = ((number, *_trimmed(source.text)) for number, source in enumerate(self._sources))
            window = [self._excerpt(number, start, end) for number, start, end in whole if start < end]
            return [tuple(window)] if window else []
        windows: list[Window] = []
        left = limit
        for number, source in enumerate(self._sources):
            sentences = sentence_spans(source.text)
            for place, (first, after) in enumerate(cut(sentences, limit, _OVERLAP, left)):
                start, end = sentences[first][0], sentences[after - 1][1]
                if window and (place or end - start > left):
                    windows.append(tuple(window))
                    window, left = [], limit
                window.append(self._excerpt(number, start, end))
                left -= end - start
        return [*windows, tuple(window)] if window else windows

    def only_window(self, limit: int) -> Window | None:
        """All of the sources in one window; None if they do not fit or are empty."""
        found = [] if self.empty else self.windows(limit)
        return found[0] if len(found) == 1 else None

    def find(self, quote: str, near: str = "") -> Span | None:
        """Where a quote is in the original sources; None if no source has it.

        The match is exact, or ignores case, blanks and typography, or is approximate: at least 90 % of the characters
        agree, with the same numbers and negations, since "1937" and "1973" are almost equal. ``near`` has words
        expected around a quote that occurs more than once.
        """
        best: tuple[int, Span] | None = None
        for source, searched in zip(self._sources, self._searched, strict=True):
            found = locate(quote, searched, near=near)
            if found is None:
                continue
            rank = ("exact", "normalised", "fuzzy").index(found.how)
            text = source.text[found.start : found.end]
            if (found.how != "fuzzy" or says_the_same(quote, text)) and (best is None or rank < best[0]):
                best = rank, Span(text, found.start, found.end, source.id)
        return best[1] if best else None

    def records(self, claim: Claim) -> list[str]:
        """Texts of the sources and the claim that contain something like a record, which a reply may quote."""
        texts = [text for source in self._sources for text in (source.text, source.title)]
        return [text for text in (*texts, claim.text, claim.context) if _SHOWN_RECORD.search(text)]

    def warnings(self) -> Iterator[VerdictWarning]:
        """Sentences that were withheld or marked, and sources without text."""
        for source, flagged, mentioned in zip(self._sources, self._flagged, self._mentioned, strict=True):
            for start, end in flagged:
                yield VerdictWarning(
                    "injection",
                    f"A sentence of {source.id} tries to influence the verdict; it was not used as evidence.",
                    Span(source.text[start:end], start, end, source.id),
                )
            for start, end in mentioned:
                yield VerdictWarning(
                    "mentioned",
                    f"{source.id} reports, denies, supposes or asks this but does not assert it; the model sees that.",
                    Span(source.text[start:end], start, end, source.id),
                )
            if not source.text.strip():
                yield VerdictWarning("unread", f"{source.id} is empty: there is nothing to attribute to.")

    def _excerpt(self, number: int, start: int, end: int) -> Excerpt:
        flagged = dict.fromkeys(_clipped(self._flagged[number], start, end), WITHHELD)
        marked = _clipped(self._mentioned[number], start, end)
        kept = {place: NOT_ASSERTED for place in marked if not any(a < place[1] and place[0] < b for a, b in flagged)}
        text = self._sources[number].text[start:end]
        for (a, b), frame in sorted((flagged | kept).items(), reverse=True):
            text = text[:a] + frame.replace("{}", text[a:b]) + text[b:]
        return Excerpt(number + 1, text, self._titles[number])


def _has(source: Source, span: Span) -> bool:
    """Whether a source has a span, or is a copy of the source that has it."""
    return source.text[span.start : span.end] == span.text


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order; those that overlap become one.

    >>> _merged([(17, 38), (0, 20), (40, 50)])
    [(0, 38), (40, 50)]
    """
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _clipped(spans: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """The parts of spans in a window, relative to its start."""
    inside = ((max(a, start) - start, min(b, end) - start) for a, b in spans)
    return [(a, b) for a, b in inside if a < b]


def _injected(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences that address the verdict."""
    return [(found.start, found.end) for found in find_injections(text, sentence_spans(text))]


def _trimmed(text: str) -> tuple[int, int]:
    """Start and end of a text without surrounding white space."""
    start = len(text) - len(text.lstrip())
    return start, max(start, len(text.rstrip()))


def _replaced(text: str, places: Sequence[tuple[int, int]], new: Callable[[str], str]) -> str:
    parts: list[str] = []
    after = 0
    for start, end in places:
        parts += text[after:start], new(text[start:end])
        after = end
    return "".join([*parts, text[after:]])


def says_the_same(quote: str, found: str) -> bool:
    """Whether two nearly equal texts have the same numbers and negations.

    >>> says_the_same("it did open in 1937", "it did open in 1973"), says_the_same("it opend", "it opened")
    (False, True)
    """
    return _critical_words(quote) == _critical_words(found)


def _critical_words(text: str) -> Counter[str]:
    """Numbers and negations, where a single different letter changes the statement."""
    words = Counter(word for word in lower_words(text) if word in _DENIALS or word.endswith("n't"))
    return words + Counter(re.findall(r"\d+", text))


def cut(
    sentences: Sequence[tuple[int, int]], limit: int, repeated: int = 0, room: int | None = None
) -> Iterator[tuple[int, int]]:
    """Split sentences, (start, end) each, into windows; yields the first sentence of each and the one after its last.

    A window is at most ``limit`` long, from its first start to its last end; a longer sentence gets its own window. It
    repeats whole sentences of the one before, up to ``repeated``. ``room`` is the space left for the first window,
    which has ``limit`` if not even one sentence fits into it.

    >>> [*cut([(0, 2), (2, 4), (4, 9)], 5)], [*cut([(0, 2), (2, 4), (4, 6)], 5, repeated=2)]
    ([(0, 2), (2, 3)], [(0, 2), (1, 3)])
    """
    first, room = 0, limit if room is None else room
    while first < len(sentences):
        after = first
        while after < len(sentences) and sentences[after][1] - sentences[first][0] <= room:
            after += 1
        if after == first and room != limit:
            room = limit
            continue
        after = max(after, first + 1)
        yield first, after
        if after == len(sentences):
            return
        start = after
        while repeated and start and sentences[after - 1][1] - sentences[start - 1][0] <= repeated:
            start -= 1
        first, room = max(start, first + 1), limit


def windows(text: str, limit: int, length: Callable[[str], int]) -> Iterator[str]:
    """The text in order, in windows of as many sentences as fit into ``limit``, as measured by ``length``."""
    spans = sentence_spans(text)
    ends = [*accumulate(length(text[start:end]) for start, end in spans)]
    for first, after in cut([*zip([0, *ends], ends, strict=False)], limit):
        yield text[spans[first][0] : spans[after - 1][1]]
