"""Reads the pages that a web engine finds, and returns their passages that match the query instead of snippets.

Offsets are those in the extracted text of a page, not in its HTML. The engine's snippet is used if a page
cannot be fetched, or its text cannot be extracted in time or has no word of the query. Not supported: pages that need
JavaScript, and images of text.
"""

from __future__ import annotations

import asyncio
import codecs
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO

from vouching.errors import FetchError, InputError
from vouching.models.running import PerLoop, in_thread
from vouching.search.base import SearchEngine
from vouching.search.documents import html_text, need, pdf_text
from vouching.search.fetch import Fetcher, Page
from vouching.search.passages import cut_passages
from vouching.search.terms import query_terms, terms
from vouching.text.encoding import decode_text
from vouching.types import EngineKind, Passage, Span

MAX_PDF_PAGES = 200
"""Pages of a PDF that are read."""
_AT_ONCE = 4
"""Pages whose text is extracted at once."""
_NO_CHARSETS = {"punycode", "idna", "unicode-escape", "raw-unicode-escape"}
"""Codecs of Python that no page uses; the time of the first is quadratic in the length of a page."""


class Pages:
    """Reads the pages that an engine finds; ``seconds`` limits the time to extract the text of a page."""

    def __init__(self, engine: SearchEngine, fetcher: Fetcher | None = None, seconds: float = 30.0) -> None:
        for module in ("trafilatura", "pypdf"):
            need(module)
        self.name = engine.name
        self.kind: EngineKind = engine.kind
        self._engine = engine
        self._fetcher = fetcher or Fetcher()
        self._seconds = seconds
        self._slots = PerLoop(lambda: asyncio.Semaphore(_AT_ONCE))

    async def search(self, query: str, limit: int) -> list[Passage]:
        """At most ``limit`` passages of the pages found, best first; the score is the share of the query they cover.

        Raises SearchError if the engine inside failed.
        """
        found = await self._engine.search(query, limit)
        pages = await asyncio.gather(*(self._passages(passage) for passage in found))
        return chosen(query, list(zip(found, pages, strict=True)), limit)

    async def aclose(self) -> None:
        """Close the engine inside."""
        await self._engine.aclose()

    async def _passages(self, found: Passage) -> list[Passage]:
        """All passages of a page; none if it cannot be read."""
        try:
            page = await self._fetcher.fetch(found.url)
            # Extracting the text of a long page takes seconds, in which others can be fetched.
            async with self._slots.get(), asyncio.timeout(self._seconds):
                return await in_thread(lambda: page_passages(page, found))
        except (FetchError, InputError, TimeoutError):
            return []


def page_passages(page: Page, found: Passage) -> list[Passage]:
    """The passages of a page, with the title and origin of ``found``. Raises InputError if it cannot be read."""
    text = page_text(page)
    return [
        replace(found, span=Span(text[start:end], start, end, page.url), url=page.url)
        for start, end in cut_passages(text)
    ]


def page_text(page: Page) -> str:
    """The main text of a page, without menus. Raises InputError if it cannot be read."""
    if page.content_type == "application/pdf":
        return pdf_text(BytesIO(page.body), page.url, MAX_PDF_PAGES)[1]
    if page.content_type == "text/plain":
        return _decoded(page) or decode_text(page.body, page.url)[0]
    return html_text(_decoded(page) or page.body, page.url)[1]


def chosen(query: str, pages: Sequence[tuple[Passage, Sequence[Passage]]], limit: int) -> list[Passage]:
    """The passages that cover most of a query, with more weight for rare words; best first, at most ``limit``.

    The score is the share of the query's words in a passage; a word in n of all N passages is weighted by
    ln(1 + (N - n + .5) / (n + .5)). Ties stay in the engine's order.

    Args:
        query: the query.
        pages: the engine's snippet of each page, in its order, and the passages of the page.
        limit: maximal number of passages.
    """
    sought = {*query_terms(query)}
    candidates: list[tuple[Passage, set[str]]] = []
    for shown, passages in pages:
        bearing = [(passage, has) for passage in passages if (has := sought & {*terms(passage.span.text)})]
        candidates += bearing or [(shown, sought & {*terms(shown.span.text)})]
    number = Counter(word for _, has in candidates for word in has)
    total = len(candidates)
    weight = {word: math.log1p((total - number[word] + 0.5) / (number[word] + 0.5)) for word in sought}
    # Exact sums: the order of a set differs by process, and must decide no tie.
    whole = math.fsum(weight.values()) or 1.0
    scored = [replace(passage, score=math.fsum(weight[word] for word in has) / whole) for passage, has in candidates]
    return sorted(scored, key=lambda passage: -passage.score)[:limit]


def _decoded(page: Page) -> str | None:
    """The body in the encoding that the server names; None if it names none, or an unknown or wrong one."""
    try:
        known = page.charset and codecs.lookup(page.charset).name not in _NO_CHARSETS
        return page.body.decode(page.charset) if known else None
    except (LookupError, UnicodeError):
        return None
