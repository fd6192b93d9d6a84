from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.types.visible import visible, visible_line

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
