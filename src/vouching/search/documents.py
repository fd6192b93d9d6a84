"""Reads files as documents: text, Markdown, HTML, PDF, Word, and each row of JSONL, CSV or Parquet.

A document's id is the path as given, of a row "path#id"; its url is the absolute path. Texts are not changed, so
offsets refer to the file; those of HTML, PDF and Word refer to the extracted text, with a form feed between pages.
Files that cannot be read are reported and skipped. Not supported: scanned pages, pages that need JavaScript, the
structure of tables in PDFs, other office documents, archives, JSON lists, and addresses on the web.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

from vouching.errors import InputError, needed
from vouching.rows.read import FORMATS, Row, RowReader, open_rows
from vouching.text.encoding import decode_text
from vouching.types import Source
from vouching.types.visible import shown_json, shown_keys

PAGE_BREAK = "\f"
"""Separates the pages of a PDF, as in the output of pdftotext."""


def html_text(raw: bytes | str, name: str) -> tuple[str, str]:
    """Title and main text of a web page; bytes are decoded as the page declares. ``name`` is shown in messages.

    Raises InputError if it has no text or is too broken to be read.

    >>> html_text("<html><title>Mill</title><body><p>The mill is in Oslo.</p></body></html>", "mill.html")
    ('Mill', 'The mill is in Oslo.')
    """
    page = _web_page(raw, name)
    if page is None or not page.text:
        raise InputError(f"{name} has no text other than menus")
    return " ".join((page.title or "").split()), page.text


def html_headings(raw: bytes | str) -> list[str]:
    """The headings of a web page, in order, each a line of its :func:`html_text`."""
    page = _web_page(raw, "the page")
    heads: Any = () if page is None else page.body.iter("head")
    return [text for head in heads if (text := "".join(head.itertext()).strip())]


def _web_page(raw: bytes | str, name: str) -> Any:
    extract = need("trafilatura").bare_extraction
    try:
        return extract(raw, include_comments=False, with_metadata=True)
    except Exception as error:  # parsers raise any error on broken files
        raise InputError(f"{name} is too damaged to be read ({type(error).__name__}: {error})") from error


def pdf_text(file: IO[bytes], name: str, max_pages: int | None = None) -> tuple[str, str]:
    """Title and text of at most ``max_pages`` of a PDF, with a form feed between pages; ``name`` is shown in messages.

    Raises InputError if it is not a PDF, is broken or encrypted, or has no text (scanned pages).
    """
    title, pages = pdf_pages(file, name, max_pages)
    return title, PAGE_BREAK.join(pages)


def pdf_pages(file: IO[bytes], name: str, max_pages: int | None = None) -> tuple[str, list[str]]:
    """Title and pages of a PDF, as :func:`pdf_text` joins them. Raises as that, and for one of over 5,000 pages."""
    reader = need("pypdf").PdfReader
    try:
        document: Any = reader(file)
        _few(int(document.trailer["/Root"]["/Pages"]["/Count"]), "pages", MAX_PAGES, name)
        _few(len(document.pages), "pages", MAX_PAGES, name)
        pages: list[str] = [page.extract_text() for page in document.pages[:max_pages]]
        title = " ".join(str((document.metadata and document.metadata.title) or "").split())
    except InputError:
        raise
    except Exception as error:  # parsers raise any error on broken files
        raise InputError(f"{name} cannot be read as a PDF ({type(error).__name__}: {error})") from error
    if not any(page.strip() for page in pages):
        raise InputError(
            f"{name} has no text, perhaps because its pages were scanned: run OCR on it first, e.g. with ocrmypdf"
        )
    return title, pages


def docx_text(file: IO[bytes], name: str) -> tuple[str, str]:
    """Title and text of a Word file: a line per paragraph, headings with "# ", tables in Markdown.

    Raises InputError if it is broken, encrypted or has no text, or if what it unpacks to is far larger than a book.
    """
    opened = need("docx").Document
    try:
        with ZipFile(file) as parts:
            sizes = [part.file_size for part in parts.infolist()]
        _few(len(sizes), "parts", MAX_PARTS, name)
        _few(sum(sizes), "bytes once it is unpacked", MAX_UNPACKED, name)
        file.seek(0)
        document: Any = opened(file)
        body = document.element.body
        _few(
            int(body.xpath("count(.//w:p) + count(.//w:tc) + sum(.//w:gridSpan/@w:val[. > 0])")),
            "paragraphs and cells",
            MAX_BLOCKS,
            name,
        )
        styles: dict[str | None, str] = {}
        text = "\n\n".join(filter(str.strip, (_block_text(one, styles) for one in document.iter_inner_content())))
        title = " ".join((document.core_properties.title or "").split())
    except InputError:
        raise
    except Exception as error:  # parsers raise any error on broken files
        raise InputError(f"{name} cannot be read as a Word file ({type(error).__name__}: {error})") from error
    if not text.strip():
        raise InputError(f"{name} has no text: pass a Word file with paragraphs or tables")
    return title, text


def _few(number: int, what: str, limit: int, name: str) -> None:
    """Raises InputError if there are more than ``limit``."""
    if number > limit:
        raise InputError(f"{name} has {number:,} {what}, but a document may have {limit:,}: split it")


def _block_text(block: Any, styles: dict[str | None, str]) -> str:
    """A paragraph or a table of a Word file; ``styles`` keeps the names of the styles that were looked up."""
    if hasattr(block, "rows"):
        rows = [*_table_rows(block)]
        lines = [f"| {' | '.join(cells)} |" for cells in rows]
        return "\n".join([*lines[:1], f"|{'---|' * len(rows[0])}", *lines[1:]]) if rows else ""
    text: str = block.text
    if not text.strip():
        return ""
    key: str | None = block._p.style
    if key not in styles:
        styles[key] = (block.style and block.style.name) or ""
    style = styles[key]
    level = style.removeprefix("Heading ")
    hashes = "#" * int(level) if style.startswith("Heading ") and level.isdigit() else "#" if style == "Title" else ""
    return f"{hashes[:6]} {text}".strip()


def _table_rows(table: Any) -> Iterator[list[str]]:
    """The texts of each row; a merged cell is in each of its rows and columns.

    ``row.cells`` of python-docx looks for the first row of a merged cell anew in each row, from row to row.
    """
    above: dict[int, str] = {}
    for row in table.rows:
        texts: dict[int, str] = {}
        column: int = row.grid_cols_before
        for cell in row._tr.tc_lst:
            text = above.get(column) if cell.vMerge == "continue" else None
            if text is None:
                text = " ".join(" ".join(part.text for part in cell.p_lst).split()).replace("|", "/")
            texts |= dict.fromkeys(range(column, column + cell.grid_span), text)
            column += cell.grid_span
        above = texts
        yield [*texts.values()]


def need(module: str) -> Any:
    """Import a package that extracts text. Its log messages are only shown if the application configures logging."""
    logging.getLogger(module).addHandler(logging.NullHandler())
    return needed(module, "search", "reading web pages, PDFs and Word files")


TEXTS = (".txt", ".text", ".md", ".markdown", ".rst")
"""Extensions of files that are read as they are; so are files with other extensions that are named explicitly."""
WEB_PAGES = (".html", ".htm", ".xhtml")
PDF = ".pdf"
DOCX = ".docx"
MAX_PAGES, MAX_PARTS, MAX_BLOCKS, MAX_UNPACKED = 5_000, 10_000, 50_000, 100_000_000
"""Of a document: pages of a PDF; parts, paragraphs and cells, and unpacked bytes of a Word file. A file of a few
kilobytes may hold far more, and each takes time and memory to read."""
MAX_BYTES = 200_000_000
"""Maximal size of a file that is read as a whole; files of rows have no limit."""
_ROWS_TRIED = 100
USUAL: Mapping[str, tuple[str, ...]] = {
    "text": tuple("text content contents page_content body passage paragraph paragraph_text document".split()),
    "title": ("title", "name", "headline"),
    "id": ("id", "_id", "docid", "doc_id", "pid"),
    "url": ("url", "link", "source_url", "path"),
}
"""Common names of the fields of rows."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or row that could not be read."""

    place: str
    """The file, with the line or row if it has any."""
    problem: str
    """The reason, and what to do."""

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}"


@dataclass(frozen=True, slots=True)
class RowFields:
    """Names of the fields of rows; None for the first common name that a file has."""

    text: str | None = None
    """Required in every row."""
    title: str | None = None
    id: str | None = None
    """Rows without an id are numbered."""
    url: str | None = None
    """The default is the path of the file."""


class DocumentReader:
    r"""The documents of files and folders, once, in order of their paths.

    Args:
        paths: files, and folders, whose hidden files and files of other types are ignored.
        fields: the names of the fields of rows.

    Raises:
        InputError: a path does not exist, or a file of rows lacks the text field or a field that was named.
        MissingExtraError: a package that one of the files needs is not installed.
    """

    def __init__(self, paths: Sequence[str | Path], fields: RowFields | None = None) -> None:
        self.ignored: Counter[str] = Counter()
        """Number of ignored files in folders, by extension."""
        given = (Path(os.path.normpath(path)) for path in paths)
        self._files = [*dict.fromkeys(file for path in given for file in self._expanded(path))]
        self._fields = {file: _fields_of(file, fields or RowFields()) for file in self._files if _kind(file) == "rows"}
        for kind, module in (("web page", "trafilatura"), (PDF, "pypdf"), (DOCX, "docx")):
            if any(_kind(file) == kind for file in self._files):
                need(module)
        self._sizes = [file.stat().st_size for file in self._files]
        self._finished = 0
        self._rows: RowReader | None = None
        self._current = 0

    @property
    def row_files(self) -> tuple[str, ...]:
        """The files of rows, as in the ids of their documents."""
        return tuple(file.as_posix() for file in self._fields)

    def share(self) -> float:
        """The share that has been read, from 0 to 1."""
        part = (self._rows.share() or 0.0) if self._rows else 0.0
        return (self._finished + part * self._current) / max(1, sum(self._sizes))

    def __iter__(self) -> Iterator[Source | Skipped]:
        """The documents, and the files and rows that could not be read."""
        for file, size in zip(self._files, self._sizes, strict=True):
            self._current = size
            try:
                if file in self._fields:
                    yield from self._row_documents(file)
                else:
                    yield _document(file, size)
            except InputError as error:
                yield Skipped(file.as_posix(), str(error))
            self._finished += size

    def _row_documents(self, file: Path) -> Iterator[Source | Skipped]:
        with open_rows(str(file)) as rows:
            self._rows = rows
            try:
                yield from (_row_document(file, row, self._fields[file]) for row in rows)
            finally:
                self._rows = None

    def _expanded(self, path: Path) -> Iterator[Path]:
        """The file itself, or the readable files of a folder."""
        if path.is_file():
            yield path
            return
        if not path.is_dir():
            raise InputError(f"{path} does not exist: pass existing files or folders")
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if name.startswith("."):
                    continue
                if _kind(Path(name)) == "other":
                    self.ignored[Path(name).suffix.lower() or "no extension"] += 1
                elif (Path(folder) / name).is_file():
                    yield Path(folder) / name


def _kind(file: Path) -> str:
    name = file.name.lower()
    if name.endswith(FORMATS):
        return "rows"
    ending = file.suffix.lower()
    return {**dict.fromkeys(TEXTS, "text"), **dict.fromkeys(WEB_PAGES, "web page"), PDF: PDF, DOCX: DOCX}.get(
        ending, "other"
    )


def _document(file: Path, size: int) -> Source | Skipped:
    """The document in a file that is read as a whole."""
    name, kind = file.as_posix(), _kind(file)
    if size > MAX_BYTES:
        return Skipped(
            name,
            f"the file has {size / 1e6:,.0f} MB, but a document may have at most {MAX_BYTES / 1e6:,.0f} MB: split it, "
            "or convert it to rows of JSONL, which may have any size",
        )
    try:
        if kind in (PDF, DOCX):
            with file.open("rb") as opened:
                title, text = (pdf_text if kind == PDF else docx_text)(opened, "the file")
        elif kind == "web page":
            title, text = html_text(file.read_bytes(), "the file")
        else:
            text, _ = decode_text(file.read_bytes(), "the file")
            title = _heading(text)
    except OSError as error:
        return Skipped(name, f"the file cannot be read: {error.strerror or error}")
    return Source(text, name, title, str(file.resolve())) if text.strip() else Skipped(name, "the file is empty")


def _heading(text: str) -> str:
    """The heading at the start of a Markdown text; empty if there is none."""
    line = text.lstrip().partition("\n")[0].strip()
    return line.removeprefix("# ").strip() if line.startswith("# ") else ""


def _fields_of(file: Path, asked: RowFields) -> RowFields:
    """The names of a file's fields, from its first valid row."""
    with open_rows(str(file)) as rows:
        keys = next((row.fields.keys() for row in islice(rows, _ROWS_TRIED) if row.fields is not None), None)
    if keys is None:
        return asked
    found: dict[str, str | None] = {}
    for field, usual in USUAL.items():
        named: str | None = getattr(asked, field)
        if named is not None and named not in keys:
            raise InputError(f'{file} has no field "{named}" for the {field}; {shown_keys(keys)}')
        found[field] = named or next((name for name in usual if name in keys), None)
    if found["text"] is None:
        raise InputError(
            f"{file} has none of the usual text fields ({', '.join(USUAL['text'])}); {shown_keys(keys)}: pass the name "
            "of its text field with --text-field"
        )
    return RowFields(**found)


def _row_document(file: Path, row: Row, fields: RowFields) -> Source | Skipped:
    place = f"{file.as_posix()}, {row.place}"
    if row.fields is None:
        return Skipped(place, row.problem or "the row cannot be read")
    text: Any = row.fields.get(fields.text or "text")
    if not isinstance(text, str) or not text.strip():
        got = "no text" if text in (None, "") or isinstance(text, str) else f"{shown_json(text)} instead of text"
        return Skipped(place, f'the row has {got} under "{fields.text}"')
    title, name, url = (row.fields.get(key) if key else None for key in (fields.title, fields.id, fields.url))
    return Source(
        text,
        f"{file.as_posix()}#{row.number if name in (None, '') else name}",
        "" if title is None else str(title),
        str(file.resolve()) if url in (None, "") else str(url),
    )
