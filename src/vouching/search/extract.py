"""The text of web pages and PDFs, without menus, and with the pages kept apart.

Left out: recognising scanned pages, scripts that write a page, and tables as tables.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import IO, Any

from vouching.errors import InputError, MissingExtraError

PAGE_BREAK = "\f"
"""What ends a page in the text of a PDF, as pdftotext writes it too."""


def html_text(raw: bytes | str, name: str) -> tuple[str, str]:
    """Title and main text of a web page; offsets count in this text, not in the HTML.

    Args:
        raw: the page; of bytes the encoding is told by the page itself.
        name: what it is called in messages.

    Raises:
        InputError: it has no text, or is too broken to be read.
        MissingExtraError: trafilatura is not installed.

    >>> html_text("<html><title>Mill</title><body><p>The mill stands in Oslo.</p></body></html>", "mill.html")
    ('Mill', 'The mill stands in Oslo.')
    """
    extract = need("trafilatura").bare_extraction
    try:
        page: Any = extract(raw, include_comments=False, with_metadata=True)
    except Exception as error:  # a parser of strangers' files fails in any way
        raise InputError(f"{name} is too broken to be read ({type(error).__name__}: {error})") from error
    if page is None or not page.text:
        raise InputError(f"{name} has no text that could be told from its menus")
    return " ".join((page.title or "").split()), page.text


def pdf_text(file: IO[bytes], name: str, most_pages: int | None = None) -> tuple[str, str]:
    """Title and text of a PDF, a form feed between its pages.

    Args:
        file: the open file.
        name: what it is called in messages.
        most_pages: how many pages are read; None for all.

    Raises:
        InputError: it is no PDF, broken, locked by a password, or has no text (pages that were scanned).
        MissingExtraError: pypdf is not installed.
    """
    reader = need("pypdf").PdfReader
    try:
        document: Any = reader(file)
        text = PAGE_BREAK.join(page.extract_text() for page in document.pages[:most_pages])
        title = " ".join(str((document.metadata and document.metadata.title) or "").split())
    except Exception as error:  # a parser of strangers' files fails in any way
        raise InputError(f"{name} is no PDF that can be read ({type(error).__name__}: {error})") from error
    if not text.strip():
        raise InputError(f"{name} has no text, as if its pages were scanned: recognise it first, e.g. with ocrmypdf")
    return title, text


def need(module: str) -> Any:
    """A module that reads pages. What it logs about broken ones reaches only those who collect logs.

    Raises:
        MissingExtraError: it is not installed.
    """
    logging.getLogger(module).addHandler(logging.NullHandler())
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError("search", "reading web pages and PDFs", module) from error
