from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vouching.reading.parsed import read
from vouching.text.words import stem, synonym_groups

TEXT = "In May 2004, 12 people in Oslo never improved significantly."
"""Words by position: In 0, May 1, 2004 2, 12 3, people 4, in 5, Oslo 6, never 7, improved 8, significantly 9."""


def test_everything_is_read_with_offsets_in_the_text() -> None:
    reading = read(TEXT)
    assert [TEXT[d.start : d.end] for d in reading.dates] == ["May 2004"]
    assert [TEXT[q.start : q.end] for q in reading.quantities] == ["12"]
    assert [TEXT[e.start : e.end] for e in reading.entities if e.certain] == ["Oslo"]
    assert [TEXT[n.start : n.end] for n in reading.negations] == ["never"]
    assert [TEXT[q.start : q.end] for q in reading.qualifiers] == ["significantly"]


def test_a_year_is_a_date_and_not_a_quantity() -> None:
    assert read("It opened in 1937.").quantities == []


def test_offsets_are_relative_to_the_stretch() -> None:
    far, near = read(TEXT, offset=1000), read(TEXT)
    assert (far.offset, near.offset) == (1000, 0)
    assert far.words == near.words


def test_words_are_found_by_stem_and_by_meaning() -> None:
    reading = read("Costs decreased where costs were reduced")
    # costs 0, decreased 1, where 2, costs 3, were 4, reduced 5
    assert reading.positions[stem("costs")] == [0, 3]
    shared = set(synonym_groups()[stem("reduced")]) & set(synonym_groups()[stem("decreased")])
    assert shared
    assert all(reading.groups[group] == [1, 5] for group in shared)
    assert all(shared <= set(reading.meanings[position]) for position in (1, 5))


def test_each_word_of_a_phrase_has_the_meaning_of_the_phrase() -> None:
    reading = read("The prime minister resigned")
    (group,) = synonym_groups()[stem("premier")]
    assert reading.groups[group] == [1, 2]


def test_the_word_at_an_offset_covers_it() -> None:
    reading = read("The bridge")
    # "The" is 0..3, "bridge" 4..10; 3 is the blank, 10 the end.
    assert [reading.word_at(offset) for offset in (0, 2, 3, 4, 9, 10)] == [0, 0, None, 1, 1, None]


def test_content_words_are_those_entirely_inside_a_stretch() -> None:
    reading = read("The bridge in Oslo opened")
    # bridge 1 (4..10), Oslo 3 (14..18), opened 4 (19..25)
    assert reading.content() == [1, 3, 4]
    assert reading.content(4, 18) == [1, 3]
    assert reading.content(5, 18) == [3]
    assert reading.content(4, 17) == [1]


def test_an_empty_text_has_nothing_to_read() -> None:
    reading = read("")
    assert (reading.words, reading.dates, reading.quantities, reading.entities, reading.content()) == (
        [],
        [],
        [],
        [],
        [],
    )


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_everything_read_is_in_the_text(text: str) -> None:
    reading = read(text)
    found = [
        *reading.words,
        *reading.dates,
        *reading.quantities,
        *reading.entities,
        *reading.negations,
        *reading.qualifiers,
    ]
    assert all(0 <= mention.start < mention.end <= len(text) for mention in found)
    assert len(reading.meanings) == len(reading.words)
    assert sorted(position for places in reading.positions.values() for position in places) == list(
        range(len(reading.words))
    )
