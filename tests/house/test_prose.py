"""The hints about prose find what they are for."""

from __future__ import annotations

from tests.house.prose import home_made, instead, sentences, too_long


def test_a_home_made_word_is_found_in_a_docstring_a_message_and_a_comment() -> None:
    source = (
        '"""Rows that are left out are counted."""\nraise ValueError(f"rows: got {x}, wanted {y} or more")  # nobody\n'
    )
    assert [word for _, text in sentences(source) for _, word in home_made(text)] == ["left out", "wanted", "nobody"]
    assert not [*home_made("A profitable deviation. The standard deviation of mending-free text.")]
    assert not [*sentences('re.compile("nobody says nothing at all here")\nmode = "wanted"\n')]
    assert instead("wanted") == "expected"


def test_long_prose_is_found_and_long_tables_and_code_are_not() -> None:
    words = "word " * 30
    assert [number for number, _ in too_long(f"{words}\n| {words}|\n```\n{words}\n```\n- {words}\n")] == [1, 6]
    assert not [*too_long("- https://example.org/" + "a" * 100)]
