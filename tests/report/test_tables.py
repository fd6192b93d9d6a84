"""Tables of a source are drawn as tables, and marks in them keep their places."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.report.test_page import named, page_of
from vouching.report import Entry
from vouching.report.documents import Mark, Piece, pieces_of
from vouching.report.tables import Table, blocks_of
from vouching.types import Alignment, Claim, Source, Span, Verdict

TEXT = "Rooms:\n| Room | Seats |\n| --- | ---: |\n| A | 20 |\n| B | 30 |\nThat is all."


def test_a_table_is_drawn_with_its_head_and_the_text_around_it() -> None:
    before, table, after = blocks_of([Piece(0, TEXT)])
    assert isinstance(table, Table)
    assert not isinstance(before, Table)
    assert not isinstance(after, Table)
    assert (before[0].text, after[0].text) == ("Rooms:\n", "That is all.")
    assert [[cell[0].text for cell in row] for row in (table.head, *table.rows)] == [
        ["Room", "Seats"],
        ["A", "20"],
        ["B", "30"],
    ]


def test_a_mark_in_a_cell_is_marked_there_and_keeps_its_offset() -> None:
    at = TEXT.index("30")
    pieces = pieces_of(TEXT, [Mark(at, at + 2, "match", 1)])
    table = next(block for block in blocks_of(pieces) if isinstance(block, Table))
    [marked] = [piece for row in table.rows for cell in row for piece in cell if piece.marks]
    assert (marked.text, marked.start) == ("30", at)


def test_an_empty_cell_stays_a_cell_and_lines_without_bars_are_no_table() -> None:
    [table] = blocks_of([Piece(0, "| A | | 1 |\n| B | 2 | |\n")])
    assert isinstance(table, Table)
    assert [len(row) for row in table.rows] == [3, 3]
    [plain] = blocks_of([Piece(0, "a | b\nc | d\n| one line |")])
    assert not isinstance(plain, Table)


@given(st.lists(st.text(st.sampled_from("ab |-:\n"), max_size=12), max_size=6))
def test_no_word_of_a_text_is_lost_or_moved(parts: list[str]) -> None:
    pieces, at = [], 0
    for part in parts:
        pieces.append(Piece(at, part))
        at += len(part)
    text = "".join(parts)
    shown = [
        piece
        for block in blocks_of(pieces)
        for cell in (
            (*block.head, *(cell for row in block.rows for cell in row)) if isinstance(block, Table) else (block,)
        )
        for piece in cell
    ]
    assert all(text[piece.start : piece.start + len(piece.text)] == piece.text for piece in shown)
    assert "".join(piece.text for piece in shown).replace(" ", "").count("a") == text.count("a")
    assert "".join(piece.text for piece in shown).count("b") == text.count("b")


def test_the_page_draws_the_table_of_a_source(tmp_path: Path) -> None:
    source, at = Source(TEXT, "rooms.md"), TEXT.index("30")
    claim = Claim("Room B has 30 seats.")
    whole = Alignment(Span("30", 11, 13), Span("30", at, at + 2, "rooms.md"), "match")
    page = page_of(tmp_path, Entry(Verdict(claim, "Attributable", 0.9, 0.9, 0.5, "supported", (whole,)), (source,)))
    [table] = named(page, "table", "drawn")
    assert " ".join(table.text.split()) == "RoomSeatsA20B30"
    assert [mark.text for mark in named(page, "mark") if "id" in mark.attributes] == ["30"]
