"""Faults of checklists: those of Table 4 and their like, and lists that have none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.checklist.lint import MAX_ITEMS, Fault, Similarity, encoder_similarity, lint
from vouching.rules.catalog import bind
from vouching.types import Checklist, ChecklistItem

ASKED = 'Write exactly three bullet points about Paris. Do not use the word "travel".'
GOOD = (
    "Does the response contain exactly three bullet points?",
    "Is each bullet point about Paris?",
    'Does the response avoid the word "travel"?',
)


@pytest.fixture(scope="module")
def similarity() -> Similarity:
    return encoder_similarity()


def found(*items: str, asked: str = ASKED, similarity: Similarity | None = None) -> list[tuple[str, int | None]]:
    faults = lint(Checklist(asked, tuple(map(ChecklistItem, items))), similarity)
    return [(fault.kind, fault.item) for fault in faults]


def test_the_good_list_of_table_4_has_no_fault(similarity: Similarity) -> None:
    assert found(*GOOD) == found(*GOOD, similarity=similarity) == []


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ("Is the response engaging?", "spurious"),  # Table 4
        ("Does the response mention Paris and use three bullet points?", "under-decomposed"),  # Table 4
        ("Does the response have three bullet points? Are they about Paris?", "under-decomposed"),
        ("Is each bullet point about Paris and at most 20 words?", "under-decomposed"),
        ("Does the response contain at least 40 facts?", "spurious"),
        ('Does the response avoid the word "journey"?', "spurious"),
        ("Are exactly three bullet points contained in the response?", "over-decomposed"),
        ("Three bullet points", "form"),
        ("How many bullet points are there?", "form"),
    ],
)
def test_a_faulty_item_is_named(item: str, kind: str) -> None:
    assert (kind, 4) in found(*GOOD, item)


def test_what_is_joined_is_not_always_two_requirements() -> None:
    asked = "Write about cats and dogs in English. Begin and end with a quotation mark."
    items = ("Is it about cats and dogs?", "Is it in English?", "Does it begin and end with a quotation mark?")
    assert found(*items, asked=asked) == []


def test_only_the_encoder_sees_that_an_item_is_about_something_else(similarity: Similarity) -> None:
    assert found(*GOOD, "Does the response mention the Eiffel Tower?") == []
    assert found(*GOOD, "Does the response mention the Eiffel Tower?", similarity=similarity) == [("spurious", 4)]


@pytest.mark.parametrize("excluded", [0, 2])
def test_a_demand_that_no_item_makes_is_missing(excluded: int, similarity: Similarity) -> None:
    items = [item for at, item in enumerate(GOOD) if at != excluded]
    assert ("missing", None) in found(*items)
    assert ("missing", None) in found(*items, similarity=similarity)


def test_numbers_that_say_the_same_bound_are_the_same_and_others_are_not() -> None:
    asked = "Answer in at most 45 words."
    assert found("Does the response have less than 46 words?", asked=asked) == []
    assert found("Does the response have less than 50 words?", asked=asked) == [("spurious", 1), ("missing", None)]


def test_items_that_differ_in_a_word_that_is_quoted_are_two() -> None:
    asked = 'Avoid the words "sun" and "rain".'
    assert found('Does it avoid the word "sun"?', 'Does it avoid the word "rain"?', asked=asked) == []


def test_an_item_with_a_rule_is_not_questioned() -> None:
    rule = bind("length_constraints:number_words", {"num_words": 300, "relation": "at least"})
    assert lint(Checklist("Write 300+ words.", (rule,))) == ()


def test_no_item_and_too_many_are_faults_of_the_list() -> None:
    assert lint(Checklist(ASKED, ())) == (Fault("form", "it has no items"),)
    many = [f'Does it avoid the word "{"x" * n}"?' for n in range(1, 501)]
    assert ("over-decomposed", None) in found(*many)
    assert ("over-decomposed", None) not in found(*many[:MAX_ITEMS])


def test_questions_in_english_about_an_instruction_in_another_language_are_not_called_spurious(
    similarity: Similarity,
) -> None:
    asked = "Schreibe ein ansprechendes Gedicht über den Regen mit vier Strophen."
    items = ["Is it a poem?", "Is it engaging?", "Has it 4 stanzas?", 'Does it say "Abschied"?']
    faults = lint(Checklist(asked, tuple(map(ChecklistItem, items))), similarity)
    assert [(fault.kind, fault.item) for fault in faults] == [("spurious", 4)]


def test_a_list_in_another_language_is_judged_by_form_numbers_and_quotations_alone(similarity: Similarity) -> None:
    asked = "Schreibe genau drei Stichpunkte über Paris. Höchstens 50 Wörter."
    assert found("Sind es drei Stichpunkte über Paris?", "Sind es höchstens 50 Wörter?", asked=asked) == []
    assert ("form", 1) in found("Drei Stichpunkte.", asked=asked)
    assert found("是关于巴黎的吗？", asked="写三点关于巴黎的内容。", similarity=similarity) == []


@given(st.text(max_size=120), st.lists(st.text(max_size=80), max_size=6))
def test_no_text_raises_and_every_fault_can_be_said(asked: str, items: list[str]) -> None:
    for fault in lint(Checklist(asked, tuple(map(ChecklistItem, items)))):
        assert fault.item is None or 1 <= fault.item <= len(items)
        assert str(fault).startswith("the list" if fault.item is None else f"item {fault.item}")
