"""Names to search for next: what a passage names, and how close it stands to the words of a question.

Pure functions over texts; ``steps`` asks. Left out: pronouns and descriptions; a lead is a name as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vouching.text.entities import find_entities
from vouching.text.sentences import sentence_spans
from vouching.text.words import find_words
from vouching.types import Passage

FAR = 0.6
"""Share of a passage's weight that any name in it gets; the rest depends on how near a word of the question stands."""
REACH = 12
"""Content words on either side of a name within which a word of the question is near."""
_BRACKET = re.compile(r"\s*\([^)]*\)\s*$")


@dataclass(frozen=True, slots=True)
class Question:
    """The words that are searched for."""

    text: str
    """As asked."""
    words: tuple[tuple[str, str], ...]
    """Its content words, as written and as stems, in order."""

    @property
    def stems(self) -> frozenset[str]:
        """The stems alone."""
        return frozenset(stem for _, stem in self.words)

    def beyond(self, known: frozenset[str]) -> tuple[str, ...]:
        """The words, as written, whose stems are not known yet.

        >>> read_question("Who directed the film Nosferatu?").beyond(frozenset(["nosferatu"]))
        ('directed', 'film')
        """
        return tuple(word for word, stem in self.words if stem not in known)


@dataclass(frozen=True, slots=True)
class Page:
    """A passage, read."""

    passage: Passage
    """As found."""
    words: frozenset[str]
    """Stems of the content words of title and text."""
    about: frozenset[str]
    """Stems of the title without what stands in brackets at its end."""


@dataclass(frozen=True, slots=True)
class Lead:
    """A name to search for."""

    name: str
    """As written."""
    stems: frozenset[str]
    """Stems of its content words; leads with the same are one."""
    weight: float
    """How much it promises; higher first."""
    open: tuple[str, ...]
    """Words that go with it into the query."""
    why: str
    """In a sentence."""
    origin: str = ""
    """The engine whose passage has the name; empty for a name from what is asked."""

    @property
    def query(self) -> str:
        """What to ask for."""
        return " ".join((self.name, *self.open))


def read_question(text: str) -> Question:
    """The content words of a question.

    >>> read_question("Who directed it?").words
    (('directed', 'direct'),)
    """
    found = {word.stem: text[word.start : word.end] for word in reversed(find_words(text)) if word.is_content}
    return Question(text, tuple((word, stem) for stem, word in reversed(found.items())))


def read_page(passage: Passage) -> Page:
    """A passage with its stems.

    >>> from vouching.types import Span
    >>> sorted(read_page(Passage(Span("A silent film.", 0, 14), 1.0, title="Nosferatu (1922)")).about)
    ['nosferatu']
    """
    about = stems(_BRACKET.sub("", passage.title))
    return Page(passage, stems(passage.title) | stems(passage.span.text), about)


def stems(text: str) -> frozenset[str]:
    """Stems of the content words.

    >>> sorted(stems("the director of it"))
    ['direct']
    """
    return frozenset(word.stem for word in find_words(text) if word.is_content)


def leads_from(page: Page, weight: float, question: Question) -> Iterator[Lead]:
    """Names in a passage that neither the question nor the passage's title has.

    Args:
        page: the passage.
        weight: what the passage itself is worth.
        question: its words draw weight to the names close to them, those of the title aside.

    >>> from vouching.types import Span
    >>> text = "Nosferatu is a silent film directed by Ada Byron and shot in Oslo."
    >>> page = read_page(Passage(Span(text, 0, len(text)), 1.0, title="Nosferatu"))
    >>> for lead in leads_from(page, 1.0, read_question("Where was the director of Nosferatu born?")):
    ...     print(lead.query, lead.weight)
    Ada Byron born 1.0
    Oslo born 0.7
    """
    text = page.passage.span.text
    sentences = sentence_spans(text)
    known, sought = question.stems, question.stems - page.about
    for entity in find_entities(text, [start for start, _ in sentences]):
        name = stems(entity.text)
        if not name or name <= known or name <= page.about:
            continue
        start, end = next((span for span in sentences if span[0] <= entity.start < span[1]), (0, len(text)))
        near, word = max(
            _nearness(text, start, entity.start, sought, before=True),
            _nearness(text, entity.end, end, sought, before=False),
        )
        where = f"close to {word!r}" if word else "where the words of the question are not near"
        title = f" of {page.passage.title!r}" if page.passage.title else ""
        yield Lead(
            entity.text,
            name,
            weight * (FAR + (1 - FAR) * near),
            question.beyond(page.words),
            f"{entity.text!r} stands in a passage{title}, {where}.",
            page.passage.origin,
        )


def _nearness(text: str, start: int, end: int, sought: frozenset[str], before: bool) -> tuple[float, str]:
    """1 for a sought word next to a name, 1/2 with one content word between, and so on; with the word, as written."""
    words = [word for word in find_words(text, start, max(start, end)) if word.is_content]
    for between, word in enumerate((words[::-1] if before else words)[:REACH]):
        if word.stem in sought:
            return 1 / (1 + between), text[word.start : word.end]
    return 0.0, ""
