from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.errors import InputError
from vouching.inputs import LONGEST_CLAIM, MOST_NUMBERS, as_claim, as_sources, check_text, row_sources
from vouching.types import Claim, Passage, Source, Span


def test_a_claim_is_text_or_a_claim_and_keeps_its_words() -> None:
    assert as_claim(" It rains. ", 3) == Claim(" It rains. ", id="claim-3")
    claim = Claim("It rains.", id="mine")
    assert as_claim(claim) is claim


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("", "at least one word or number, got ''"),
        (" \n\t", "at least one word"),
        ("?!…", "at least one word"),
        ("\0", "at least one word"),
        ("👍", "at least one word"),
        (Claim(""), "at least one word"),
        (None, "the claim must be a string, got null"),
        (b"It rains.", "the claim must be a string, got "),
        (5, "must be a string, got 5"),
        (Claim(5), "must be a string, got 5"),  # type: ignore[arg-type]
        ("It \ud800 rains", r"U\+D800, at offset 3"),
        (Claim("It \udfff rains"), r"U\+DFFF, at offset 3"),
        (Claim("It rains.", id="\ud800"), "the id of the claim"),
        ("1 " * (MOST_NUMBERS + 1), "at most 500 numbers, got 501: split it into claims"),
        ("a" * (LONGEST_CLAIM + 1), "at most 50,000 characters, got 50,001: .*check_response"),
    ],
)
def test_what_is_no_claim_is_refused_with_the_reason(claim: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        as_claim(claim)


@pytest.mark.parametrize(
    "claim", ["א", "東京", "7", "a" * LONGEST_CLAIM, "1 " * MOST_NUMBERS, "<b>It</b> rains.", "It\0rains", "½"]
)
def test_unusual_text_is_still_a_claim(claim: str) -> None:
    assert as_claim(claim).text == claim


@pytest.mark.parametrize(
    ("given_", "sources"),
    [
        ("one", [Source("one", "source-1")]),
        ("", [Source("", "source-1")]),
        (["one", "two"], [Source("one", "source-1"), Source("two", "source-2")]),
        (("one",), [Source("one", "source-1")]),
        (iter(["one"]), [Source("one", "source-1")]),
        (Source("one", "a"), [Source("one", "a")]),
        ({"text": "one", "id": 7, "title": "T", "url": "U"}, [Source("one", "7", "T", "U")]),
        ({"page_content": "one", "title": None}, [Source("one", "source-1")]),
        (Passage(Span("one", 0, 3, "doc"), 0.5), [Source("one", "doc")]),
        (Passage(Span("one", 4, 7, "doc"), 0.5), [Source("one", "doc#char=4,7")]),
        ([{"content": "one"}, "two"], [Source("one", "source-1"), Source("two", "source-2")]),
    ],
)
def test_sources_come_in_many_shapes(given_: Any, sources: list[Source]) -> None:
    assert as_sources(given_) == tuple(sources)


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ([], "no source was given"),
        (None, 'source 1 must be a string, a Source, or an object with "text", got null'),
        (5, "source 1 must be a string, .*, got 5"),
        (b"one", "source 1 must be a string, .*, got "),
        (["one", None], "source 2 must be a string, .*, got null"),
        ([["one"]], r'source 1 must be a string, .*, got \["one"\]'),
        ({"body": "one"}, 'source 1 has no "text"; its keys are body '),
        ({1: "one", "b": 2}, "its keys are 1, b"),
        ({"text": None}, "source 1 must be a string, got null"),
        ({"text": "one", "title": 5}, "the title of source 1"),
        ({"text": "one", "id": "\ud800"}, "the id of source 1"),
        (["one", "t\ud800"], r"source 2 contains a lone surrogate, U\+D800, at offset 1"),
        (Source("one", title="\ud800"), "the title of source 1"),
        (Passage(Span("\ud800", 0, 1), 0.5), "source 1 contains a lone surrogate"),
    ],
)
def test_what_is_no_source_is_refused_with_its_number(given_: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        as_sources(given_)


@given(st.lists(st.sampled_from(["a", "a-2", "a-3", "source-1", "source-2"]), min_size=1, max_size=8))
def test_every_source_gets_a_name_of_its_own_and_the_first_of_each_keeps_it(ids: list[str]) -> None:
    named = [source.id for source in as_sources([Source(str(n), id_) for n, id_ in enumerate(ids)])]
    assert len(set(named)) == len(ids)
    assert named[0] == ids[0]


@given(st.text())
def test_text_is_given_back_untouched(text: str) -> None:
    assert check_text(text, "the text") is text


def test_a_row_has_its_sources_under_the_one_name_that_holds_something() -> None:
    assert row_sources({"sources": None, "context": "one"}) == "one"
    with pytest.raises(InputError, match='both "sources" and "source"'):
        row_sources({"source": "one", "sources": ["two"]})


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({}, 'the row has no "sources"; it has no keys; pass "source" or "sources", a string or a list of strings'),
        ({"claim": "x"}, 'the row has no "sources"; its keys are claim; pass'),
        ({"sources": None}, '"sources" is null: pass a string or a list of strings'),
        ({1: 2, "a": 3}, "its keys are 1, a; pass"),
    ],
)
def test_a_row_without_sources_is_refused_with_the_keys_it_has(row: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        row_sources(row)


def test_a_path_is_no_source_and_the_reader_is_told_to_read_it() -> None:
    path: Any = Path("bridge.txt")
    with pytest.raises(InputError, match=r"got the path 'bridge\.txt': read the file with path\.read_text\(\)"):
        as_sources(path)
