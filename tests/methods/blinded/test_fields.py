"""Records inside a text: JSON, JSON lines, Markdown tables, separated values; and texts that are none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.blinded.fields import find_fields, name_words, unescaped


def named(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(field.name, text[field.start : field.end]) for field in find_fields(text)]


def test_values_of_json_have_their_names_from_the_outside_in() -> None:
    text = '{"a": {"b": [1, {"c": "x"}]}, "d": null}'
    assert named(text) == [(("a", "b"), "1"), (("a", "b", "c"), "x"), (("d",), "null")]


def test_objects_of_a_list_are_records_of_their_own() -> None:
    fields = find_fields('{"reviews": [{"stars": 5, "by": "Ann"}, {"stars": 2, "by": "Bo"}]}')
    first, second = fields[0].record, fields[2].record
    assert [field.record for field in fields] == [first, first, second, second] != [first] * 4


def test_lines_of_json_are_read_one_by_one() -> None:
    assert named('{"a": 1}\n{"a": 2}\n') == [(("a",), "1"), (("a",), "2")]


def test_cells_of_a_markdown_table_are_named_by_its_head() -> None:
    text = "Sales:\n\n| Year | Sales |\n|---|--:|\n| 2019 | $5m |\n\nThe end."
    assert named(text) == [(("Year",), "2019"), (("Sales",), "$5m")]


def test_lines_with_as_many_commas_are_a_table() -> None:
    assert named("Name,Year,City\nAnn,2019,Oslo\nBo,2020,Rome")[:4] == [
        (("Name",), "Ann"),
        (("Year",), "2019"),
        (("City",), "Oslo"),
        (("Name",), "Bo"),
    ]


@pytest.mark.parametrize("text", ["", "It opened in 1973, they say.", "[1] A note", '{"a": 1', "One, two\nthree, four"])
def test_other_texts_hold_no_records(text: str) -> None:
    assert find_fields(text) == []


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_every_value_of_any_json_stands_where_it_is_said_to(value: object) -> None:
    text = json.dumps(value, indent=1)
    if not isinstance(value, (dict, list)):
        assert find_fields(text) == []
        return
    found = [text[field.start : field.end] for field in find_fields(text)]
    assert found == [
        json.dumps(one).strip('"') if not isinstance(one, str) else json.dumps(one)[1:-1] for one in leaves(value)
    ]


def leaves(value: object) -> list[object]:
    """The values of JSON that hold no others, in order."""
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [value]


@given(st.text())
def test_any_text_can_be_searched_for_records(text: str) -> None:
    assert all(0 <= field.start <= field.end <= len(text) for field in find_fields(text))


@given(st.text())
def test_a_string_without_its_escapes_keeps_its_length(text: str) -> None:
    escaped = json.dumps(text)[1:-1]
    assert len(unescaped(escaped)) == len(escaped)


def test_keys_become_words() -> None:
    assert [name_words(key) for key in ("BusinessParking", "review_info", "Sales (m)")] == [
        "business parking",
        "review info",
        "sales m",
    ]
