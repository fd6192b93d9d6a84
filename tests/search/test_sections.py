"""Documents as sources: each page or section is named, and offsets lead back to its text."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import docx
import pytest

from tests.search.test_documents import pdf_of
from vouching import check
from vouching.cli.options import given_sources
from vouching.errors import InputError
from vouching.search.documents import DocumentReader
from vouching.search.sections import document_sources
from vouching.types import Source, Verdict

HTML = """<html><head><title>Arno Bridge</title></head><body><nav>menu</nav><article><h1>Arno Bridge</h1>
<p>The bridge opened in 1973 to traffic and is remembered by all visitors of the town for its height.</p>
<h2>Figures</h2><p>These are the figures of the bridges as the town gives them in its yearly report.</p>
<table><tr><th>Bridge</th><th>Length</th><th>Towers</th></tr><tr><td>Arno</td><td>1,280 m</td><td>2</td></tr>
<tr><td>Tiber</td><td>900 m</td><td>3</td></tr></table>
<h2>History</h2><p>It was closed in 1990 for repairs that took the better part of that year.</p></article></body>
</html>"""


def word() -> bytes:
    """The same as a Word file."""
    document = docx.Document()
    document.core_properties.title = "Arno Bridge"
    document.add_heading("Arno Bridge", 1)
    document.add_paragraph("The bridge opened in 1973.")
    document.add_heading("Figures", 2)
    table = document.add_table(rows=3, cols=3)
    cells = [("Bridge", "Length", "Towers"), ("Arno", "1,280 m", "2"), ("Tiber", "900 m", "3")]
    for row, texts in zip(table.rows, cells, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    document.add_heading("History", 2)
    document.add_paragraph("It was closed in 1990.")
    written = BytesIO()
    document.save(written)
    return written.getvalue()


@pytest.mark.parametrize(("name", "raw"), [("b.html", HTML.encode()), ("b.docx", word())])
def test_evidence_from_a_table_names_its_section_and_its_row_decides(tmp_path: Path, name: str, raw: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(raw)
    sources, warnings = given_sources([str(path)], [])
    assert not warnings
    assert [one.id for one in sources if isinstance(one, Source)][-2:] == [f"{name}#Figures", f"{name}#History"]
    right = check("The Tiber bridge has 3 towers.", sources, model="embedded:small")
    wrong = check("The Tiber bridge has 2 towers.", sources, model="embedded:small")
    assert isinstance(right, Verdict)
    assert isinstance(wrong, Verdict)
    assert (right.attributable, wrong.attributable) == (True, False)
    texts = {one.id: one.text for one in sources if isinstance(one, Source)}
    spans = [entry.source_span for entry in right.evidence_alignment if entry.source_span]
    assert {span.source_id for span in spans} == {f"{name}#Figures"}
    assert all(texts[str(span.source_id)][span.start : span.end] == span.text for span in spans)


def test_evidence_from_a_pdf_names_its_page(tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf_of("The bridge has two towers.", "The bridge opened in 1973.", title="Report"))
    sources, _ = given_sources([str(path)], [])
    verdict = check("The bridge opened in 1973.", sources)
    assert isinstance(verdict, Verdict)
    assert {entry.source_span.source_id for entry in verdict.evidence_alignment if entry.source_span} == {
        "report.pdf#page=2"
    }
    assert [one.title for one in sources if isinstance(one, Source)] == ["Report", "Report"]


def test_a_sentence_over_a_page_break_stays_whole_on_the_page_where_it_begins() -> None:
    first, second = document_sources(pdf_of("It is old. The bridge opened", "in 1973. It is long."), "pdf", "r.pdf")
    assert (first.text.split("\n"), second.text) == (["It is old. The bridge opened", "in 1973."], "It is long.")


def test_the_sections_of_a_markdown_file_are_its_text_without_loss() -> None:
    text = "Intro.\n\n# Towers\nTwo.\n\n```\n# no heading\n```\n\n## Age ##\nOld.\n"
    sources = document_sources(text.encode(), "markdown", "n.md")
    assert [one.id for one in sources] == ["n.md", "n.md#Towers", "n.md#Age"]
    assert "".join(one.text for one in sources) == text


@pytest.mark.parametrize("text", ["No heading.", "# Only one\nText."])
def test_a_file_without_sections_is_one_source(text: str) -> None:
    assert document_sources(text.encode(), "markdown", "n.md") == [Source(text, "n.md")]


def test_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    for raw, kind, fault in (
        (b"%PDF-1.4 broken", "pdf", "cannot be read as a PDF"),
        (b"PK broken", "docx", "cannot be read as a Word file"),
        (b" \n", "markdown", "is empty"),
    ):
        with pytest.raises(InputError, match=fault):
            document_sources(raw, kind, "x")
    with pytest.raises(InputError, match="only public addresses are fetched"):
        given_sources(["http://127.0.0.1:9/x.html"], [])


def test_the_index_reads_word_files_with_the_same_reader(tmp_path: Path) -> None:
    path = tmp_path / "b.docx"
    path.write_bytes(word())
    [document] = [*DocumentReader([path])]
    assert isinstance(document, Source)
    assert document.title == "Arno Bridge"
    assert "".join(one.text for one in document_sources(word(), "docx", "b.docx")) == document.text
