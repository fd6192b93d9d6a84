"""A document as sources: a PDF by its pages, a web page, Word file or Markdown by its headings.

The id of a source names the place, "report.pdf#page=3" (RFC 8118) or "notes.md#Towers", and stays in the evidence;
offsets are those in the extracted text of that page or section. A sentence that runs over a page break belongs to the
page on which it begins. Tables of web pages and Word files become Markdown. Not supported: scanned pages, the columns
of tables in PDFs, footnotes, comments and text boxes of Word files, nested headings.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import PurePath

from vouching.errors import FetchError, InputError
from vouching.search.documents import docx_text, html_headings, html_text, pdf_pages
from vouching.search.fetch import Fetcher, Page
from vouching.text.encoding import decode_text
from vouching.types import Source

EXTRACTED = {
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".md", ".markdown"), "markdown"),
    ".pdf": "pdf",
    ".docx": "docx",
}
"""Kinds of documents by their ending; others are read as plain text."""
_TYPES = {"application/pdf": "pdf", "text/plain": "text", "text/markdown": "markdown"}
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
_SENTENCE_END = re.compile(r"[.!?:][\"'”’)\]]*\s*\Z")
_FIRST_END = re.compile(r"[.!?][\"'”’)\]]*(?=\s|\Z)")
_MAX_CARRIED = 400
"""Characters at the top of a page that may end a sentence of the page before."""
_MAX_HEADING = 60


def kind_of(name: str, raw: bytes) -> str | None:
    """What kind of document a file is, by its first bytes and its ending; None for plain text.

    >>> kind_of("report", b"%PDF-1.7 ..."), kind_of("Notes.MD", b"# Mill"), kind_of("notes.txt", b"# Mill")
    ('pdf', 'markdown', None)
    """
    return "pdf" if raw.startswith(b"%PDF-") else EXTRACTED.get(PurePath(name).suffix.lower())


def document_sources(raw: bytes, kind: str, name: str, url: str = "") -> list[Source]:
    r"""The sources in a document, in order; each is named by ``name`` and its place.

    Raises:
        InputError: it is broken, encrypted or has no text.
        MissingExtraError: the package that reads it is not installed.

    >>> [source.id for source in document_sources(b"A mill.\n# Site\nOslo.\n# Age\nOld.", "markdown", "mill.md")]
    ['mill.md', 'mill.md#Site', 'mill.md#Age']
    """
    if kind == "pdf":
        title, pages = pdf_pages(BytesIO(raw), name)
        whole = enumerate(_whole_sentences(pages), 1)
        return [Source(text, f"{name}#page={number}", title, url) for number, text in whole if text.strip()]
    if kind == "html":
        title, text = html_text(raw, name)
        starts = _lines_of(text, html_headings(raw))
    else:
        title, text = docx_text(BytesIO(raw), name) if kind == "docx" else ("", decode_text(raw, name)[0])
        starts = _marked(text) if kind in ("docx", "markdown") else []
    if not text.strip():
        raise InputError(f"{name} is empty: pass a document with text")
    return [
        Source(text[start:end], f"{name}#{heading}" if heading else name, title, url)
        for start, end, heading in _sections(text, starts)
    ]


def url_sources(url: str) -> list[Source]:
    """The sources in a web page, PDF or text on the web; each is named by its address and its place.

    Raises:
        InputError: it cannot be fetched or read.
    """
    try:
        page = asyncio.run(Fetcher().fetch(url))
    except FetchError as error:
        raise InputError(f"--source {url} cannot be fetched: {error}") from None
    return document_sources(page.body, _page_kind(page), url, page.url)


def _page_kind(page: Page) -> str:
    markdown = page.url.lower().endswith((".md", ".markdown"))
    return "markdown" if markdown and page.content_type == "text/plain" else _TYPES.get(page.content_type, "html")


def _whole_sentences(pages: Sequence[str]) -> list[str]:
    """The pages, with the end of a sentence that runs over a break on the page of its beginning."""
    kept = [*pages]
    for number in range(len(kept) - 1):
        here, after = kept[number].rstrip(), kept[number + 1].lstrip()
        found = _FIRST_END.search(after[:_MAX_CARRIED])
        if here and found and after[0].islower() and not _SENTENCE_END.search(here):
            kept[number], kept[number + 1] = f"{here}\n{after[: found.end()]}", after[found.end() :].lstrip()
    return kept


def _marked(text: str) -> list[tuple[int, str]]:
    """Where the headings of a Markdown text are; lines of code are none, and an open fence begins none."""
    fences = [(found.start(), found[1]) for found in _FENCE.finditer(text)]
    last = {mark: start for start, mark in fences}
    code: list[tuple[int, int]] = []
    opened: tuple[int, str] | None = None
    for start, mark in fences:
        if opened is None:
            opened = (start, mark) if last[mark] > start else None
        elif mark == opened[1]:
            code.append((opened[0], start))
            opened = None
    begins = [start for start, _ in code]

    def is_code(place: int) -> bool:
        at = bisect_right(begins, place) - 1
        return at >= 0 and place < code[at][1]

    return [(found.start(), found.group(1)) for found in _HEADING.finditer(text) if not is_code(found.start())]


def _lines_of(text: str, headings: Sequence[str]) -> list[tuple[int, str]]:
    """Where the headings of a web page are in its text, in which each is a line."""
    starts: list[tuple[int, str]] = []
    place = 0
    for heading in headings:
        found = re.compile(rf"^{re.escape(heading)}$", re.MULTILINE).search(text, place)
        if found:
            starts.append((found.start(), heading))
            place = found.end()
    return starts


def _sections(text: str, starts: Sequence[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """The stretches of a text from heading to heading, with the heading; a single heading makes no sections."""
    if len(starts) < 2:
        yield 0, len(text), ""
        return
    cuts = [*((start, " ".join(heading.split())[:_MAX_HEADING]) for start, heading in starts), (len(text), "")]
    if text[: cuts[0][0]].strip():
        yield 0, cuts[0][0], ""
    for (start, heading), (end, _) in pairwise(cuts):
        yield start, end, heading
