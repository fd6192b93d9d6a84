"""Files of all kinds become documents; what cannot be read is reported."""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pypdf import PdfReader, PdfWriter

from vouching.errors import InputError
from vouching.search.documents import MAX_BYTES, DocumentReader, RowFields, Skipped
from vouching.types import Source


def pdf_of(*pages: str, title: str = "") -> bytes:
    """A PDF whose pages each show a line of text."""
    streams = [f"BT /F1 12 Tf 72 720 Td ({page}) Tj ET" for page in pages]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, stream in enumerate(streams):
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    body, places = "%PDF-1.4\n", []
    for number, written in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{written}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF"
    writer = PdfWriter(BytesIO(f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()))
    writer = PdfWriter(
        clone_from=PdfReader(BytesIO(f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()))
    )
    writer.add_metadata({"/Title": title})
    written_bytes = BytesIO()
    writer.write(written_bytes)
    return written_bytes.getvalue()


def read(*paths: Path, fields: RowFields | None = None) -> tuple[list[Source], list[str]]:
    """The documents of files, and what was skipped."""
    found = [*DocumentReader(paths, fields)]
    return [one for one in found if isinstance(one, Source)], [str(one) for one in found if isinstance(one, Skipped)]


def test_a_text_file_is_a_document_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "mill.txt"
    path.write_bytes("\ufeffThe mill\r\nstands.  ".encode())
    [document], skipped = read(path)
    assert (document.text, document.title, skipped) == ("The mill\r\nstands.  ", "", [])
    assert document.id == path.as_posix()
    assert document.url == str(path)


def test_a_relative_path_is_the_id_and_the_whole_path_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "mill.txt").write_text("The mill.")
    monkeypatch.chdir(tmp_path)
    for given in (Path("docs"), Path("./docs/../docs/mill.txt")):
        [document], _ = read(given)
        assert (document.id, document.url) == ("docs/mill.txt", str(tmp_path / "docs" / "mill.txt"))


def test_the_first_heading_of_markdown_is_its_title(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("\n# The *mill* \n\nIt stands.")
    (tmp_path / "b.md").write_text("It stands.\n# Not at the top")
    documents, _ = read(tmp_path)
    assert [document.title for document in documents] == ["The *mill*", ""]


def test_a_web_page_gives_its_title_and_its_text_without_menus(tmp_path: Path) -> None:
    page = """<html><head><meta charset="utf-8"><title>The
        mill</title><script>var x = 1</script></head><body><nav><a href="/">Home</a></nav><article>
        <p>Ada built the mill &amp; the café in 1873, when the town had no other.</p>
        <p>It stands in Oslo, on the river, and has two wheels.</p></article></body></html>"""
    (tmp_path / "mill.html").write_text(page, encoding="utf-8")
    [document], skipped = read(tmp_path)
    assert (document.title, skipped) == ("The mill", [])
    assert "Ada built the mill & the café in 1873" in document.text
    assert "var x" not in document.text


def test_a_web_page_that_is_too_broken_is_reported(tmp_path: Path) -> None:
    (tmp_path / "torn.html").write_text("<math><meta charset=utf-7><table>")
    documents, [skipped] = read(tmp_path)
    assert documents == []
    assert "too damaged to be read" in skipped


def test_the_pages_of_a_pdf_end_with_form_feeds(tmp_path: Path) -> None:
    (tmp_path / "mill.pdf").write_bytes(pdf_of("Ada built the mill.", "It stands in Oslo.", title="The mill"))
    [document], _ = read(tmp_path)
    assert (document.title, document.text) == ("The mill", "Ada built the mill.\fIt stands in Oslo.")


def test_pdfs_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    locked = PdfWriter(clone_from=PdfReader(BytesIO(pdf_of("Ada built the mill."))))
    locked.encrypt("secret")
    locked.write(tmp_path / "locked.pdf")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "scanned.pdf").write_bytes(pdf_of(""))
    documents, skipped = read(tmp_path)
    assert documents == []
    broken, locked_too, scanned = skipped
    assert "broken.pdf: the file cannot be read as a PDF (Pdf" in broken
    assert "locked.pdf: the file cannot be read as a PDF (" in locked_too
    assert "scanned.pdf: the file has no text, perhaps because its pages were scanned" in scanned


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".csv", ".tsv", ".parquet"])
def test_rows_become_documents_in_every_format(tmp_path: Path, ending: str) -> None:
    rows = [{"_id": "m", "title": "Mill", "contents": "It stands."}, {"_id": None, "title": None, "contents": "Two."}]
    path = tmp_path / f"rows{ending}"
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if ending == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif ending in (".csv", ".tsv"):  # DPR's passages of Wikipedia, psgs_w100.tsv, have tabs
        path.write_text(
            "_id,title,contents\nm,Mill,It stands.\n,,Two.\n".replace(",", "," if ending == ".csv" else "\t")
        )
    else:
        path.write_bytes(gzip.compress(lines) if ending.endswith("gz") else lines)
    documents, skipped = read(path)
    assert skipped == []
    assert [(d.id, d.title, d.text) for d in documents] == [
        (f"{path.as_posix()}#m", "Mill", "It stands."),
        (f"{path.as_posix()}#2", "", "Two."),
    ]
    assert documents[0].url == str(path)


def test_fields_of_rows_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "no", "abstract": "It stands.", "head": 1873, "doi": 7, "link": "https://a.org/7"}\n')
    [document], _ = read(path, fields=RowFields(text="abstract", title="head", id="doi"))
    assert (document.id, document.title, document.text) == (f"{path.as_posix()}#7", "1873", "It stands.")
    assert document.url == "https://a.org/7"


def test_rows_without_a_field_for_the_text_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('no JSON\n{"a": 1, "b": 2}\n')
    with pytest.raises(
        InputError,
        match=r"none of the usual text fields \(text, content, .*\); its keys are a, b: pass .* --text-field",
    ):
        DocumentReader([path])
    with pytest.raises(InputError, match=r'has no field "c" for the title; its keys are a, b'):
        DocumentReader([path], RowFields(text="a", title="c"))


def test_rows_that_cannot_be_used_are_reported_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "It stands."}\n{"text": 7}\n{"text": " "}\n{}\nno JSON\n')
    documents, skipped = read(path)
    assert [document.id for document in documents] == [f"{path.as_posix()}#1"]
    assert [problem.partition("rows.jsonl, ")[2] for problem in skipped] == [
        'line 2: the row has 7 instead of text under "text"',
        'line 3: the row has no text under "text"',
        'line 4: the row has no text under "text"',
        "line 5: invalid JSON: Expecting value at character 1",
    ]


def test_a_folder_is_read_in_order_without_hidden_files_and_other_kinds(tmp_path: Path) -> None:
    for name in ("b.txt", "a/c.md", ".git/d.txt", "a/.e.txt", "f.png", "g", "h.PNG"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("The mill.")
    reader = DocumentReader([tmp_path, tmp_path / "b.txt"])
    documents = [one for one in reader if isinstance(one, Source)]
    assert [Path(document.id).relative_to(tmp_path).as_posix() for document in documents] == ["b.txt", "a/c.md"]
    assert reader.ignored == {".png": 2, "no extension": 1}
    assert reader.share() == 1.0


def test_a_file_that_is_named_itself_is_read_whatever_its_extension(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("The mill.")
    assert len(read(tmp_path / "README")[0]) == 1


def test_files_without_text_are_reported(tmp_path: Path) -> None:
    (tmp_path / "binary.txt").write_bytes(b"\x00\x01\x02")
    (tmp_path / "empty.txt").write_bytes(b" \n")
    (tmp_path / "picture.txt").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "menu.html").write_bytes(b"<html></html>")
    documents, skipped = read(tmp_path)
    assert documents == []
    assert [problem.partition(": ")[2][:46] for problem in skipped] == [
        "the file has a NUL byte at offset 0, so it is ",
        "the file is empty",
        "the file has no text other than menus",
        "the file looks like a PNG image; run OCR on it",
    ]


def test_a_file_of_a_gigabyte_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("wb") as file:
        file.truncate(1_000_000_000)
    _, [problem] = read(path)
    assert f"the file has 1,000 MB, but a document may have at most {MAX_BYTES // 1_000_000} MB: split it" in problem


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        DocumentReader([tmp_path / "nowhere"])
