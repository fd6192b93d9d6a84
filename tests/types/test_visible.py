from __future__ import annotations

import unicodedata
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.types.visible import shown_json, shown_keys, shown_names, visible, visible_line

ANY = st.text(st.characters(codec=None) | st.sampled_from("\x00\x1b\x7f\x9b\u061c\u202e\u2028\ud800\U000e0041\r\n\t"))


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\x1b", "\u241b"),  # controls below a blank have pictures from U+2400 on: 0x2400 + 0x1b
        ("\r", "\u240d"),
        ("\x7f", "\u2421"),
        ("\x9b", "<U+009B>"),  # one character that opens an escape sequence
        ("\u202e", "<U+202E>"),
        ("\u2066", "<U+2066>"),
        ("\ud800", "<U+D800>"),
        ("\U000e0041", "<U+E0041>"),
    ],
)
def test_characters_that_move_reverse_or_hide_are_written_out(hidden: str, shown: str) -> None:
    assert visible(f"a{hidden}b") == f"a{shown}b"


def test_lines_and_tabs_stay_and_a_windows_line_end_is_a_line_end() -> None:
    assert visible("a\tb\r\nc") == "a\tb\nc"


def test_letters_of_every_script_stay() -> None:
    text = "Ünïcödé שלום مرحبا 日本 👩"
    assert visible(text) == text


@given(ANY)
def test_no_terminal_control_is_left(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert {c for c in shown if unicodedata.category(c) == "Cc"} <= {"\n", "\t"}
    assert visible(shown) == shown


@given(ANY)
def test_a_visible_line_is_one_line(text: str) -> None:
    assert len(visible_line(text).splitlines()) <= 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"a", "bytes"),
        (Path("a"), "PosixPath"),
        ({"a": b"b"}, '{"a": "<bytes>"}'),
        ({(1, 2): 3}, "dict"),
        (Decimal("12.50"), "12.5"),
        (Decimal(3), "3"),
        ([10**5000], "list"),
        ("a" * 100, f"'{'a' * 59}...'"),
        (["a" * 100], f'["{"a" * 58}...'),
    ],
)
def test_a_refused_value_is_shown_as_json_or_by_its_type(value: object, shown: str) -> None:
    assert shown_json(value) == shown


@pytest.mark.parametrize("name", ["", " claim", "claim ", "a,b", "a\nb", "a\x1bb", "a  b", "a\u202eb", "\xa0a"])
def test_a_name_that_would_be_misread_is_quoted(name: str) -> None:
    assert shown_names(["id", name]) == f"id, {name!r}"
    assert shown_keys([name]) == f"its keys are {name!r}"


def test_of_many_keys_the_first_are_listed() -> None:
    shown = shown_keys(range(3000))
    assert shown.startswith("its keys are 0, 1, 2, ")
    assert shown.endswith(", 28, 29, and 2,970 more")
