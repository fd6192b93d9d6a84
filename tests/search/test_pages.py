"""Pages instead of snippets: fetched, taken apart, and the passages chosen that bear on the query."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.fault_server import Answer, FaultServer, Request, of_json
from vouching.search.fetch import Fetcher, Page
from vouching.search.pages import Pages, chosen, page_text
from vouching.search.web import WebEngine
from vouching.search.web_apis import APIS
from vouching.types import Passage, Span

pytest.importorskip("trafilatura", reason="needs the extra 'search'")
pytest.importorskip("pypdf", reason="needs the extra 'search'")

FILLER = "The weather was mild and the streets were quiet that day, as witnesses recall. " * 30
FACT = "The Bosphorus Bridge opened to traffic in 1973."
ARTICLE = f"""<!DOCTYPE html><html><head><title>Bridges</title><meta charset="utf-8"></head><body>
<nav><a href="/">Home</a> <a href="/login">Log in</a></nav>
<article><h1>Bridges</h1><p>{FILLER}</p>
<p>{FACT} It joins two continents – Europe and Asia.</p><p>{FILLER}</p></article>
<footer>All rights reserved.</footer><script>track()</script></body></html>"""


def pdf(*lines: str) -> bytes:
    """A PDF of one page for each line, as small as can be."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids: list[int] = []
    for line in lines:
        stream = zlib.compress(f"BT /F1 12 Tf 72 720 Td ({line}) Tj ET".encode())
        number = len(objects) + 1
        kids.append(number)
        font = "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {font} /Contents {number + 1} 0 R >>".encode())
        objects.append(f"<< /Length {len(stream)} /Filter /FlateDecode >> stream\n".encode() + stream + b"\nendstream")
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    objects[1] = f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} /MediaBox [0 0 612 792] >>".encode()
    made, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(made))
        made += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    tail = (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n"
    )
    return made + tail.encode() + f"startxref\n{len(made)}\n%%EOF".encode()


def search(
    pages: Mapping[str, Answer], query: str, limit: int = 3, seconds: float = 30.0
) -> tuple[list[Passage], list[str]]:
    """What is found on the pages of a server that is SearXNG as well, and the paths that were asked for."""

    async def main() -> tuple[list[Passage], list[str]]:
        def answer(request: Request) -> Answer:
            path = urlsplit(request.path).path
            if path != "/search":
                return pages[path]
            results = [
                {"url": f"http://127.0.0.1:{server.port}{name}", "title": f"Title of {name}", "content": f"See {name}."}
                for name in pages
            ]
            return of_json({"results": results})

        async with FaultServer(answer) as server:
            engine = Pages(
                WebEngine(APIS["searxng"], f"http://127.0.0.1:{server.port}"), Fetcher(["127.0.0.1/32"]), seconds
            )
            found = await engine.search(query, limit)
            await engine.aclose()
            return found, [urlsplit(request.path).path for request in server.requests]

    return asyncio.run(main())


def page(body: bytes | str, kind: str = "text/html; charset=utf-8") -> Answer:
    return Answer(body=body.encode() if isinstance(body, str) else body, headers={"content-type": kind})


def test_the_passage_that_bears_on_the_query_is_taken_from_the_page() -> None:
    [passage, *_], asked = search({"/bridges": page(ARTICLE)}, "When did the Bosphorus Bridge open?")
    assert asked == ["/search", "/bridges"]
    assert FACT in passage.span.text
    assert "Europe and Asia" in passage.span.text
    assert "Log in" not in passage.span.text
    assert passage.span.start > 0
    assert passage.span.source_id == passage.url
    assert passage.url.endswith("/bridges")
    assert (passage.title, passage.origin) == ("Title of /bridges", "web:searxng")


def test_offsets_are_those_in_the_text_of_the_page() -> None:
    whole = page_text(Page("http://a", "text/html", "utf-8", ARTICLE.encode()))
    found, _ = search({"/bridges": page(ARTICLE)}, "mild weather in quiet streets by the Bosphorus", limit=9)
    assert len(found) > 1
    assert all(whole[p.span.start : p.span.end] == p.span.text for p in found)


def test_a_page_that_cannot_be_read_leaves_the_snippet() -> None:
    pages = {
        "/gone": Answer(404),
        "/image": page(b"\x89PNG", "image/png"),
        "/menu": page("<nav>Home</nav>"),
        "/broken.pdf": page(b"%PDF-1.4 broken", "application/pdf"),
        "/binary": page(bytes(999), "text/plain"),
        "/torn": page("<math><meta charset=utf-7><table>"),  # trafilatura asserts what is not so
        "/away": Answer(302, headers={"location": "http://169.254.169.254/latest/meta-data"}),
        "/weather": page(f"<article><p>{FILLER}</p></article>"),
        "/bridges": page(ARTICLE),
    }
    found, _ = search(pages, "Bosphorus 1973", limit=9)
    assert FACT in found[0].span.text
    # The page about the weather has no word of the query, so its snippet is used instead as well.
    assert [p.span.text for p in found[1:]] == [f"See {name}." for name in [*pages][:-1]]
    assert all(p.score == 0 for p in found[1:])


def test_a_page_whose_text_takes_too_long_leaves_the_snippet() -> None:
    found, _ = search({"/bridges": page(ARTICLE)}, "Bosphorus 1973", seconds=1e-9)
    assert [p.span.text for p in found] == ["See /bridges."]


def test_pdf_and_plain_text_are_read_too() -> None:
    assert page_text(Page("http://a", "application/pdf", "", pdf("Page one.", FACT))) == f"Page one.\f{FACT}"
    assert page_text(Page("http://a", "text/plain", "latin-1", "Café".encode("latin-1"))) == "Café"
    assert page_text(Page("http://a", "text/plain", "", "Café".encode())) == "Café"
    # A charset that nobody knows, or a wrong one, is as good as none.
    for charset in ("klingon", "ascii"):
        assert page_text(Page("http://a", "text/plain", charset, "Café".encode())) == "Café"
    found, _ = search({"/facts.pdf": page(pdf("Page one.", FACT), "application/pdf")}, "Bosphorus 1973")
    assert FACT in found[0].span.text


@pytest.mark.parametrize("charset", ["punycode", "PunyCode", "idna", "unicode_escape", "raw-unicode-escape"])
def test_a_codec_that_is_no_charset_is_not_run_on_a_strangers_page(charset: str) -> None:
    # Punycode would read "Hello", an escape "é", and idna would refuse; punycode would take hours for a large page.
    text = r"Hello \u00e9-"
    assert page_text(Page("http://a", "text/plain", charset, text.encode())) == text


def test_letters_are_read_as_the_server_or_the_page_says() -> None:
    said = "Das Münster in Ulm ist 161,5 Meter hoch und damit der höchste Kirchturm der Welt, wie viele meinen."
    html = f"<html><head><meta charset='iso-8859-1'></head><body><article><p>{said}</p></article></body></html>"
    for charset in ("iso-8859-1", ""):
        assert said in page_text(Page("http://a", "text/html", charset, html.encode("latin-1")))


def piece(text: str, name: str = "http://a") -> Passage:
    return Passage(Span(text, 0, len(text), name), 1.0)


def test_rare_words_of_the_query_count_more_than_common_ones() -> None:
    passages = [piece("The bridge is long."), piece("A bridge here, a bridge there."), piece("Opened in 1973.")]
    best = chosen("bridge 1973", [(piece("Snippet."), passages)], limit=3)
    # Of three passages two have "bridge" and one "1973": weights ln(1 + 1.5/2.5) = .470 and ln(1 + 2.5/1.5) = .981.
    assert [p.span.text for p in best] == ["Opened in 1973.", "The bridge is long.", "A bridge here, a bridge there."]
    assert [round(p.score, 3) for p in best] == [0.676, 0.324, 0.324]


@given(st.lists(st.lists(st.text(max_size=30), max_size=4), max_size=4), st.text(max_size=30), st.integers(1, 5))
def test_chosen_passages_score_between_0_and_1_best_first(texts: list[list[str]], query: str, limit: int) -> None:
    pages = [(piece("Snippet."), [piece(text) for text in page]) for page in texts]
    best = chosen(query, pages, limit)
    assert len(best) <= limit
    scores = [p.score for p in best]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 + 1e-9 for score in scores)
