"""Cells of HTML that span rows or columns stand in each of them; places are those of the text."""

from __future__ import annotations

import re

import pytest

from vouching.claims.decomposition import decompose
from vouching.embedded.verify import EmbeddedVerifier
from vouching.reading.spanning_cells import with_whole_rows
from vouching.types import Claim, Source

WARDS = (
    "<table><tr><th>Clinic</th><th>Ward</th><th>Beds</th></tr>"
    '<tr><td rowspan="2">Arden</td><td>North</td><td>24</td></tr>\n<tr><td>South</td><td>30</td></tr>\n'
    "<tr><td>Belmar</td><td>Single</td><td>18</td></tr></table>"
)


def cells(text: str) -> list[str]:
    """The cells of each row, joined by "|"."""
    rows = re.findall(r"<tr>(.*?)</tr>", with_whole_rows(text).text)
    return ["|".join(re.findall(r"<td[^>]*>([^<]*)</td>", row)) for row in rows]


@pytest.mark.parametrize(
    ("rows", "whole"),
    [
        # Spanned rows, also at the end of a row and two of them at once.
        ("<tr><td rowspan=2>a</td><td>b</td></tr><tr><td>c</td></tr>", ["a|b", "a|c"]),
        ("<tr><td>a</td><td rowspan='2'>b</td></tr><tr><td>c</td></tr><tr><td>d</td></tr>", ["a|b", "c|b", "d"]),
        ("<tr><td rowspan=3>a</td><td rowspan=2>b</td></tr><tr></tr><tr><td>c</td></tr>", ["a|b", "a|b", "a|c"]),
        # Spanned columns: a value is that of each, a label that opens its row is none.
        ("<tr><td>a</td><td colspan=2>b</td><td>c</td></tr>", ["a|b|b|c"]),
        ("<tr><td colspan=2>a</td><td>b</td></tr>", ["a||b"]),
        ("<tr><td rowspan=2 colspan=2>a</td><td>b</td></tr><tr><td>c</td></tr>", ["a||b", "a||c"]),
        # Another table starts anew.
        ("<tr><td rowspan=9>a</td></tr></table><table><tr><td>b</td></tr>", ["a", "b"]),
        ("<tr><td>a</td></tr>", ["a"]),
    ],
)
def test_a_cell_stands_in_each_row_and_column_that_it_spans(rows: str, whole: list[str]) -> None:
    assert cells(rows) == whole


def test_the_rows_of_an_answer_are_claims_with_what_spans_them_at_their_own_places() -> None:
    found = [(" ".join(claim.text.split()), claim.span) for claim in decompose(WARDS).claims]
    assert [text.strip("| ") for text, _ in found] == [
        "Arden | [Ward:] North | [Beds:] 24",
        "Arden | [Ward:] South | [Beds:] 30",
        "Belmar | [Ward:] Single | [Beds:] 18",
    ]
    assert all(span and span.text == WARDS[span.start : span.end] for _, span in found)
    places = [span.text for _, span in found if span]
    assert ["South" in place for place in places] == [False, True, False]
    assert ["North" in place for place in places] == [True, False, False]


@pytest.mark.parametrize(
    ("claim", "holds"),
    [("The South ward in Arden has 30 beds.", True), ("The South ward in Arden has 18 beds.", False)],
)
def test_the_rows_of_a_source_are_read_with_what_spans_them(claim: str, holds: bool) -> None:
    verdict = EmbeddedVerifier().judge(Claim(claim), [Source(WARDS)])
    assert verdict.attributable == holds
    spans = [entry.source_span for entry in verdict.evidence_alignment if entry.source_span]
    assert spans
    assert all(span.text == WARDS[span.start : span.end] for span in spans)


def test_a_text_of_nothing_but_spans_stays_as_it_is() -> None:
    text = "<tr><td rowspan=99>aaaaaaaaaaaaaaaaaaaa</td></tr>" + 99 * "<tr></tr>"
    assert with_whole_rows(text).text == text
