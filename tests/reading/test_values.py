"""What of a text can be computed with, and what it is about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vouching.reading.values import JOINT, kept_values, read_values, values_in

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


def test_values_of_several_texts_lie_in_the_joined_text_and_keep_apart() -> None:
    texts = [TABLE, "", "It has 3 lanes and 2 towers.", TABLE]
    begun, together = kept_values(texts[:3]), kept_values(texts)
    assert together.text == JOINT.join(texts)
    assert all(together.text[value.start : value.end] in value.written for value in together.all)
    assert together.all[: len(begun.all)] == begun.all
    # The values of a text are in groups and columns of their own.
    assert [one.head for one in together.columns] == 2 * [one.head for one in read_values(TABLE).columns]
    assert all({v.column for v in one.values} == {number} for number, one in enumerate(together.columns))
    half = len(read_values(TABLE).all)
    assert not {v.group for v in together.all[:half]} & {v.group for v in together.all[half:]}
    assert (together.seen["lan"], together.seen["team"]) == (1, 2)
