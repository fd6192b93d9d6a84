"""Small files that hold far more than they seem to, and texts that repeat: refused, or read in even time."""

from __future__ import annotations

import asyncio
import io
import time
import zipfile
from collections.abc import Callable

import pytest

pytest.importorskip("docx", reason="the extra search is not installed")
pytest.importorskip("pypdf", reason="the extra search is not installed")

import docx
import pypdf

from vouching.errors import FetchError, InputError
from vouching.models.json_fields import read_json
from vouching.search import documents
from vouching.search.compress import read_reply
from vouching.search.documents import docx_text, pdf_text
from vouching.search.fetch import Fetcher, checked_url
from vouching.search.sections import document_sources


def word_file(blocks: str, parts: int = 0) -> io.BytesIO:
    """A Word file with these blocks before its only text, and further parts."""
    empty, made = io.BytesIO(), io.BytesIO()
    docx.Document().save(empty)
    with zipfile.ZipFile(empty) as given, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as written:
        for part in given.infolist():
            raw = given.read(part)
            if part.filename == "word/document.xml":
                raw = raw.replace(b"<w:sectPr", f"{blocks}<w:p><w:r><w:t>End.</w:t></w:r></w:p><w:sectPr".encode(), 1)
            written.writestr(part.filename, raw)
        for number in range(parts):
            written.writestr(f"word/{number}.bin", b"")
    made.seek(0)
    return made


CELL = '<w:tc><w:tcPr><w:gridSpan w:val="60000"/></w:tcPr><w:p><w:r><w:t>A</w:t></w:r></w:p></w:tc>'


def table(*cells: str) -> str:
    """A table with a cell in each row."""
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(f'<w:tr>{cell}</w:tr>' for cell in cells)}</w:tbl>"


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (lambda: word_file("<w:p/>" * 60_000), "60,001 paragraphs and cells"),
        (lambda: word_file(table(CELL)), "paragraphs and cells"),
        (lambda: word_file(table(CELL, CELL.replace('"6', '"-6'))), "paragraphs and cells"),
        (lambda: word_file("", parts=10_001), "parts, but"),
        (lambda: word_file("<w:p/>" + " " * 100_000_000), "bytes once it is unpacked"),
    ],
)
def test_a_small_word_file_that_holds_too_much_is_refused_before_it_is_read(
    file: Callable[[], io.BytesIO], words: str
) -> None:
    bomb = file()
    assert len(bomb.getvalue()) < 2_000_000
    with pytest.raises(InputError, match=words):
        docx_text(bomb, "a.docx")


def test_thousands_of_paragraphs_with_text_are_read() -> None:
    title, text = docx_text(word_file("<w:p><w:r><w:t>It opened.</w:t></w:r></w:p>" * 3_000), "a.docx")
    assert (title, text.count("It opened."), text[-4:]) == ("", 3_000, "End.")


def test_a_cell_that_is_merged_over_thousands_of_rows_is_read_in_each_of_them() -> None:
    cell = "<w:tc><w:tcPr><w:vMerge{}/></w:tcPr><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    rows = [cell.format(' w:val="restart"', "Oslo"), *[cell.format("", "hidden")] * 2_000]
    _, text = docx_text(word_file(table(*rows)), "a.docx")
    assert (text.count("Oslo"), text.count("hidden")) == (2_001, 0)


@pytest.mark.parametrize("declared", [True, False])
def test_a_pdf_of_too_many_pages_is_refused(declared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_PAGES", 5)
    writer = pypdf.PdfWriter()
    for _ in range(6):
        writer.add_blank_page(100, 100)
    made = io.BytesIO()
    writer.write(made)
    raw = made.getvalue() if declared else made.getvalue().replace(b"/Count 6", b"/Count 1")
    with pytest.raises(InputError, match="6 pages, but a document may have 5"):
        pdf_text(io.BytesIO(raw), "a.pdf")


def seconds(work: Callable[[str], object], text: str) -> float:
    """Least processor time of three."""
    found: list[float] = []
    for _ in range(3):
        started = time.process_time()
        work(text)
        found.append(time.process_time() - started)
    return min(found)


def _row(text: str) -> None:
    with pytest.raises(ValueError, match="occurs twice"):
        read_json(text)


READERS: dict[str, tuple[Callable[[str], object], Callable[[int], str]]] = {
    "fences": (lambda text: document_sources(text.encode(), "markdown", "a.md"), lambda n: "# A\n" + "```\n# B\n" * n),
    "open fences": (
        lambda text: document_sources(text.encode(), "markdown", "a.md"),
        lambda n: "# A\n" + "```a\n~~~ b\n" * n,
    ),
    "keys": (_row, lambda n: "{" + ",".join(f'"{key}":1' for key in [*range(n), n - 1]) + "}"),
    "newlines": (read_reply, lambda n: "\n" * n + "Final Verdict: Correct"),
}


@pytest.mark.parametrize("name", READERS)
def test_the_time_of_a_reader_grows_evenly_with_its_text(name: str) -> None:
    read, text = READERS[name]
    read(text(10))
    short, long = seconds(read, text(1_000)), seconds(read, text(8_000))
    # Even growth takes eight times as long, quadratic growth 64 times.
    assert long < 24 * max(short, 0.002)


@pytest.mark.parametrize("url", ["http://xn--a/", "http://xn--a.example/"])
def test_a_name_that_is_no_punycode_is_an_error_of_the_fetch(url: str) -> None:
    with pytest.raises(FetchError, match="cannot be resolved"):
        asyncio.run(Fetcher().fetch(url))


@pytest.mark.parametrize("url", ["http://[::1", "http://a:b/"])
def test_an_address_that_cannot_be_read_is_an_error_of_the_fetch(url: str) -> None:
    with pytest.raises(FetchError, match="not a valid address"):
        checked_url(url)
