"""What of a text can be computed with, and what it is about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vouching.reading.values import read_values, values_in

TABLE = """# Prices

| Plan | Price (€) | Seats | Storage (GB) |
|------|-----------|-------|--------------|
| Basic | 10 | 2 | 50 |
| Team | 49 | 10 | 500 |

The trial lasts 2 weeks and ends at 17:00.
- no card needed
- one project
"""


def test_a_cell_has_the_unit_of_its_head_and_the_words_of_its_row() -> None:
    values = read_values(TABLE)
    prices = values.columns[0]
    assert prices.head == "Price (€)"
    assert [(v.label, v.kind, v.low) for v in prices.values] == [
        ("Basic", "currency EUR", 10.0),
        ("Team", "currency EUR", 49.0),
    ]
    assert "team" in prices.values[1].topic
    storage = values.columns[2].values
    assert [(v.kind, v.low) for v in storage] == [("data", 50e9), ("data", 500e9)]  # gigabytes in bytes


def test_every_value_lies_where_its_offsets_say() -> None:
    for value in read_values(TABLE).all:
        assert TABLE[value.start : value.end] in value.written


def test_lists_and_tables_are_counted_below_their_titles() -> None:
    lists = read_values(TABLE).lists
    assert [(entry.title, len(entry.items)) for entry in lists] == [
        ("The trial lasts 2 weeks and ends at 17:00.", 2),
        ("Plan", 2),
    ]


def test_codes_and_years_are_no_amounts() -> None:
    assert [value.kind for value in values_in("Version 2.4.1 of the X200 came out in 2019.")] == ["year"]


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error_and_within_its_bounds(text: str) -> None:
    for value in read_values(text).all:
        assert 0 <= value.start < value.end <= len(text)
