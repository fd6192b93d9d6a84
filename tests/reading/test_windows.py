"""Which passages of the sources are read with a claim."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from vouching.reading.windows import Passages

RULES = """# Pool

Open daily. Towels cost 2 euros.

# Sauna

Open at weekends only. Bring your own towel.

# Gym

| Course | Day | Fee |
|--------|-----|-----|
| Yoga | Monday | 8 |
| Boxing | Friday | 12 |

Shoes with clean soles are required in the gym at all times.
"""


def words(texts: Sequence[str]) -> list[int]:
    """Words as tokens."""
    return [len(text.split()) for text in texts]


def test_a_text_that_fits_is_read_whole_and_once_for_all_claims() -> None:
    passages = Passages([RULES], words)
    [(window, numbers)] = passages.windows(["Yoga is on Monday.", "Towels are free."], budget=500, own=100)
    assert (window.whole, numbers) == (True, [0, 1])
    assert "Yoga" in window.text
    assert "Towels" in window.text


def test_a_passage_comes_with_its_heading_and_a_row_with_the_head_of_its_table() -> None:
    [(window, _)] = Passages([RULES], words).windows(["Boxing costs 12."], budget=24, own=24)
    for line in ("# Gym", "| Course | Day | Fee |", "| Boxing | Friday | 12 |"):
        assert line in window.text
    assert "Towels" not in window.text


def test_claims_share_a_window_where_one_stretch_has_their_passages() -> None:
    passages = Passages([RULES], words)
    apart = passages.windows(["Towels cost 2 euros.", "Boxing is on Friday."], budget=24, own=16)
    assert [numbers for _, numbers in apart] == [[0], [1]]
    together = passages.windows(["Towels cost 2 euros.", "The sauna opens at weekends."], budget=24, own=16)
    assert [numbers for _, numbers in together] == [[0, 1]]


def test_the_window_of_a_claim_does_not_depend_on_the_other_claims() -> None:
    claims = ["Towels cost 2 euros.", "Boxing is on Friday.", "Yoga costs 8.", "Bring your own towel to the sauna."]
    passages = Passages([RULES], words)
    together = {n: window for window, numbers in passages.windows(claims, 24, 16) for n in numbers}
    for number, claim in enumerate(claims):
        [(window, _)] = passages.windows([claim], 24, 16)
        assert window == together[number]


def test_a_claim_with_two_facts_brings_both_places_into_one_window() -> None:
    claim = "Towels cost 2 euros at the pool, and boxing is on Friday."
    [(window, _)] = Passages([RULES], words).windows([claim], budget=40, own=40)
    assert "Towels cost 2 euros." in window.text
    assert "Boxing" in window.text


def test_without_a_shared_word_the_beginning_is_read() -> None:
    [(window, _)] = Passages([RULES], words).windows(["Xylophones hum."], budget=10, own=10)
    assert window.text.startswith("# Pool")


@given(
    st.lists(st.text(max_size=200), max_size=3),
    st.lists(st.text(max_size=60), min_size=1, max_size=4),
    st.integers(4, 40),
)
def test_every_claim_has_one_window_and_every_piece_its_place(
    sources: list[str], claims: list[str], budget: int
) -> None:
    windows = Passages(sources, words).windows(claims, budget, budget)
    assert sorted(number for _, numbers in windows for number in numbers) == list(range(len(claims)))
    for window, _ in windows:
        for piece in window.pieces:
            length = piece.end - piece.start
            assert window.text[piece.at : piece.at + length] == sources[piece.source][piece.start : piece.end]
            if length:
                assert window.place(piece.at, piece.at + 1) == (piece.source, piece.start, piece.start + 1)


def test_passages_that_grew_are_those_of_all_sources() -> None:
    sources = [
        "# Fees\n\nEntry costs 5 euros. It is free on Mondays.",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "It closes at 6.",
    ]
    claims = ["The entry is free on Mondays.", "b is 2", "It closes at 6."]
    grown = Passages(sources[1:], words, Passages(sources[:1], words))
    assert grown.windows(claims, 12, 8) == Passages(sources, words).windows(claims, 12, 8)
