"""Cutting a text at its marks, and around them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vouching.report.documents import Mark, pieces_of, shown_length

TEXTS = st.text(max_size=60)
MARKS = st.lists(
    st.builds(
        Mark, st.integers(-3, 70), st.integers(-3, 70), st.sampled_from(["match", "mismatch"]), st.integers(0, 4)
    ),
    max_size=8,
)
REACH = st.none() | st.integers(0, 12)


@given(TEXTS, MARKS, REACH)
def test_pieces_and_gaps_together_are_the_text(text: str, marks: list[Mark], reach: int | None) -> None:
    at = 0
    for piece in pieces_of(text, marks, reach):
        assert piece.start == at
        assert bool(piece.text) != bool(piece.hidden)
        assert text[at : at + len(piece.text)] == piece.text
        at += len(piece.text) + piece.hidden
    assert at == len(text)


@given(TEXTS, MARKS, REACH)
def test_every_character_carries_exactly_the_marks_that_cover_it(
    text: str, marks: list[Mark], reach: int | None
) -> None:
    valid = [mark for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    pieces = pieces_of(text, marks, reach)
    for piece in pieces:
        for at in range(piece.start, piece.start + len(piece.text)):
            assert list(piece.marks) == [mark for mark in valid if mark.start <= at < mark.end]
    kept = {at for piece in pieces for at in range(piece.start, piece.start + len(piece.text))}
    assert all(at in kept for mark in valid for at in range(mark.start, mark.end))
    assert len(kept) == shown_length(len(text), valid, reach)


def test_characters_beyond_the_reach_of_every_mark_are_counted_not_shown() -> None:
    # 100 characters, a mark at 40..44, a reach of 10: 30..54 stay, 30 before and 46 behind are hidden.
    pieces = pieces_of("x" * 100, [Mark(40, 44, "match")], reach=10)
    assert [(piece.start, len(piece.text), piece.hidden) for piece in pieces] == [
        (0, 0, 30),
        (30, 10, 0),
        (40, 4, 0),
        (44, 10, 0),
        (54, 0, 46),
    ]
