from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from tests.text.hostile import ANY_TEXT, growth
from vouching.text.entities import find_entities, name_key, same_entity


def names(text: str) -> list[str]:
    return [entity.text for entity in find_entities(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("it rains here", []),
        ("She met Marie Curie in Paris.", ["Marie Curie", "Paris"]),
        ("the University of Oxford and the Bank of the West", ["University of Oxford", "Bank of the West"]),
        ("by Ludwig van Beethoven", ["Ludwig van Beethoven"]),
        ("The Beatles split in April 1970", ["Beatles"]),
        ("It hit Paris. London was spared", ["Paris", "London"]),
        ("He met Dr. John H. Watson there", ["Dr. John H. Watson"]),
        ("in Jean-Luc’s house", ["Jean-Luc"]),
        ("the WHO and the U.S. agreed", ["WHO", "U.S"]),
        ('her novel "The Left Hand" won', ["The Left Hand"]),
        ('he said "no way" to Ann', ["Ann"]),
        ("with Řezníček in İstanbul, Ōsaka and Żory", ["Řezníček", "İstanbul", "Ōsaka", "Żory"]),
        ("вместе с Анной Ахматовой и Όμηρος", ["Анной Ахматовой", "Όμηρος"]),
        ("āda and ęda are no names", []),
    ],
)
def test_names_are_found_as_written(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_a_single_capitalised_word_that_opens_a_sentence_is_uncertain() -> None:
    assert [(e.text, e.certain) for e in find_entities("Penicillin saved Anna")] == [
        ("Penicillin", False),
        ("Anna", True),
    ]


def test_sentence_starts_are_given_by_the_caller() -> None:
    text = "it rained. Penicillin sold"
    assert [e.certain for e in find_entities(text, [0, 11])] == [False]
    assert [e.certain for e in find_entities(text, [0])] == [True]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("the WHO", "acronym"), ("an Anna", "name"), ("a “Great Day”", "title"), ("``Great Day''", "title")],
)
def test_a_name_has_a_kind(name: str, kind: str) -> None:
    assert [e.kind for e in find_entities(name)] == [kind]


def test_a_headline_in_capitals_has_no_certain_names() -> None:
    assert names("Local Farmer Finds Ancient Golden Treasure Under Barn") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("WHO", "World Health Organization"),
        ("Fleming", "Sir Alexander Fleming"),
        ("the United States", "USA"),
        ("Britain", "United Kingdom"),
        ("French", "France"),
        ("World War II", "the Second World War"),
        ("WWII", "World War II"),
        ("Barack Obama's", "President Obama"),
        ("U.N.", "United Nations"),
        ("Elizabeth", "Queen Elizabeth II"),
    ],
)
def test_two_names_of_one_thing_are_the_same_in_both_orders(one: str, other: str) -> None:
    assert same_entity(one, other)
    assert same_entity(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Marie Curie", "Pierre Curie"),
        ("Curie", "Fleming"),
        ("France", "Germany"),
        ("World War I", "World War II"),
        ("First World War", "World War II"),
        ("Elizabeth I", "Elizabeth II"),
        ("WHO", "World Trade Organization"),
    ],
)
def test_names_of_different_things_differ_in_both_orders(one: str, other: str) -> None:
    assert not same_entity(one, other)
    assert not same_entity(other, one)


@given(ANY_TEXT)
def test_every_name_is_the_text_at_its_offsets_in_order_without_overlap(text: str) -> None:
    found = find_entities(text)
    assert all(e.text == text[e.start : e.end] and e.text for e in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(ANY_TEXT, ANY_TEXT)
def test_sameness_is_reflexive_and_symmetric(one: str, other: str) -> None:
    assert same_entity(one, one)
    assert same_entity(one, other) == same_entity(other, one)


@pytest.mark.parametrize(
    ("name", "key"),
    [("The U.S.", "us"), ("Dr. Anna Lee's", "anna lee"), ("The President", "the president"), ("?", ""), ("", "")],
)
def test_the_key_of_a_name_omits_titles_unless_nothing_else_remains(name: str, key: str) -> None:
    assert name_key(name) == key


@pytest.mark.parametrize("piece", ['"Ab" Cd ', "Ab ", "A.", "A-", "A-bA-B", "A of ", '"', "A'", "``", "Ab of the "])
def test_finding_names_takes_time_linear_in_the_text(piece: str) -> None:
    assert growth(find_entities, piece) < 10
