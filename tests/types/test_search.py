"""What a search leaves behind."""

from __future__ import annotations

from vouching.types import Passage, SearchResult, SearchTurn, Span, Trajectory


def test_passages_of_several_turns_come_once_in_the_order_of_first_occurrence() -> None:
    first, other = (Passage(Span(text, 0, 1, text), 1.0) for text in "ab")
    again = Passage(Span("a", 0, 1, "a"), 9.0)
    turns = tuple(SearchTurn("", "all", "q", SearchResult("q", found, ())) for found in ((first, other), (again,)))
    assert Trajectory("q", (), turns, "turns", "m").passages == (first, other)
