"""Bytes become text without loss, or an error says what they are."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vouching.errors import InputError
from vouching.text.encoding import decode_text, looks_like_html

MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}
PRINTABLE = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff"))


@given(PRINTABLE)
def test_utf8_is_decoded_unchanged_without_a_warning(text: str) -> None:
    raw = text.encode()
    assume(not text.startswith(("%PDF-", "{\\rtf", "GIF8")))
    assert decode_text(raw, "a.txt") == (text, None)


@pytest.mark.parametrize("encoding", MARKS)
@given(text=PRINTABLE)
def test_a_byte_order_mark_decides_the_encoding_and_is_removed(encoding: str, text: str) -> None:
    # A NUL at the start would turn the mark of UTF-16-LE into that of UTF-32-LE; PRINTABLE has no NUL.
    assert decode_text(MARKS[encoding] + text.encode(encoding), "a.txt") == (text, None)


@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_are_decoded_without_loss_or_refused(raw: bytes) -> None:
    try:
        text, warning = decode_text(raw, "a.bin")
    except InputError:
        return
    if warning is None:
        mark = next((mark for mark in MARKS.values() if raw.startswith(mark)), b"")
        assert mark or text.encode() == raw
    else:
        assert text.encode("cp1252" if "cp1252" in warning else "latin-1") == raw


def test_line_ends_and_inner_byte_order_marks_stay() -> None:
    assert decode_text("a\r\nb\rc\ufeffd".encode(), "a.txt")[0] == "a\r\nb\rc\ufeffd"


def test_windows_quotes_are_read_as_cp1252_with_a_warning_that_names_it() -> None:
    text, warning = decode_text(b"\x93quoted\x94", "a.txt")  # 0x93 and 0x94 are curly quotes in cp1252 only.
    assert text == "\u201cquoted\u201d"
    assert warning is not None
    assert "cp1252" in warning
    assert "a.txt" in warning


def test_bytes_undefined_in_cp1252_fall_back_to_latin1() -> None:
    text, warning = decode_text(b"caf\xe9 and more words \x81", "a.txt")  # 0x81 is undefined in cp1252.
    assert text == "caf\u00e9 and more words \x81"
    assert warning is not None
    assert "Latin-1" in warning


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"%PDF-1.7\n...", "PDF; extract its text first, e.g. with pdftotext"),
        (b"PK\x03\x04rest", "ZIP"),
        (b"\x89PNG\r\n\x1a\nrest", "PNG"),
        (b"\x1f\x8b\x08rest", "gzip"),
        (b"text\x00text", "NUL byte at offset 4"),
        (b"\x01\x02text", "2 of its 6 characters"),
        (codecs.BOM_UTF16_LE + b"abc", "UTF-16-LE"),
    ],
)
def test_binary_content_is_refused_by_name(raw: bytes, word: str) -> None:
    with pytest.raises(InputError, match=word):
        decode_text(raw, "a.txt")


def test_control_characters_are_tolerated_up_to_five_per_cent() -> None:
    # 5 of 100 characters is the limit itself; 6 of 100 is over it.
    assert decode_text(b"\x07" * 5 + b"a" * 95, "a.txt")[1] is None
    with pytest.raises(InputError, match="control characters"):
        decode_text(b"\x07" * 6 + b"a" * 94, "a.txt")


def test_an_empty_file_is_empty_text() -> None:
    assert decode_text(b"", "a.txt") == ("", None)


@pytest.mark.parametrize(
    "text",
    [
        "<!DOCTYPE html>\n<html lang='en'>",
        "<?xml version='1.0'?>\n<!DOCTYPE html>",
        "<p>One.</p>\n<p>Two.</p>\n<div class='x'>Three.</div>",
    ],
)
def test_pages_and_tagged_text_look_like_html(text: str) -> None:
    assert looks_like_html(text)


@pytest.mark.parametrize(
    "text",
    ["", "Plain text.", "x < y and y > z", "The <br> tag breaks a line.", "List<String> names; Map<K, V> m;"],
)
def test_text_with_a_few_angle_brackets_does_not_look_like_html(text: str) -> None:
    assert not looks_like_html(text)
