"""The features of retrieval: each number is derived by hand from the words that the texts share."""

from __future__ import annotations

import math

import pytest

from vouching.reading.evidence import rarity
from vouching.retrieval.features import Context, expected_kind, has_kind, probability
from vouching.types import Source

BRIDGE = Source("It opened in 1973 after work by Ada Roe.", "a", "Elbe Bridge")
ROE = Source("Ada Roe was an engineer from Ulm.", "b", "Ada Roe")
RAIN = Source("It rains.", "c", "Oslo")
QUESTION = "Where was the builder of the Elbe Bridge born?"


def share(found: list[str], asked: list[str]) -> float:
    return sum(map(rarity, found)) / sum(map(rarity, asked))


def test_coverage_is_the_share_of_the_questions_words_weighted_by_rarity() -> None:
    context = Context("When did the Elbe Bridge open?", [BRIDGE, RAIN])
    # elbe, bridge (of the title) and opened are all three words of the question; the second passage has none
    assert context.covers == [1.0, 0.0]
    half = Context("When did the Elbe Bridge close?", [BRIDGE])
    [close] = half.asked - {"elb", "elbe", "bridg", "bridge"}
    assert half.covers[0] == pytest.approx(share([*half.asked - {close}], [*half.asked]))


def test_what_only_one_passage_has_is_its_own() -> None:
    both = Context("When did the Elbe Bridge open?", [BRIDGE, Source("A bridge is long.", "d")])
    [bridge] = [stem for stem in both.asked if stem.startswith("bridg")]
    # "bridge" is in both, so that only "elbe" and "open" are the first one's own
    assert both.of_passage(0)["alone"] == pytest.approx(share([*both.asked - {bridge}], [*both.asked]))
    assert both.of_passage(1)["alone"] == 0.0


def test_a_passage_is_linked_if_another_one_names_its_subject_and_the_question_does_not() -> None:
    context = Context(QUESTION, [BRIDGE, ROE, RAIN])
    # the passage on the bridge names Ada Roe; no passage names Oslo; the question names the bridge itself
    assert context.linked(1) == context.covers[0] > 0
    assert context.linked(2) == 0.0
    assert context.linked(0) == 0.0
    assert context.of_passage(0)["subject_asked"] == 1.0
    assert context.of_passage(1)["subject_asked"] == 0.0


def test_a_chain_is_as_strong_as_its_weaker_passage() -> None:
    context = Context(QUESTION, [BRIDGE, ROE, RAIN])
    assert context.of_set([0.9, 0.6, 0.1])["chain"] == 0.6  # BRIDGE names the subject of ROE: min(.9, .6)
    assert Context(QUESTION, [BRIDGE, RAIN]).of_set([0.9, 0.1])["chain"] == 0.0


def test_the_best_passages_are_ranked_by_relevance() -> None:
    found = Context(QUESTION, [BRIDGE, ROE, RAIN]).of_set([0.2, 0.9, 0.5])
    assert (found["first"], found["second"], found["third"]) == (0.9, 0.5, 0.2)


def test_an_answer_counts_by_the_passage_that_has_it() -> None:
    context = Context("When did the Elbe Bridge open?", [BRIDGE, Source("It rained in 1987.", "d")])
    # all of an answer's new words are in one passage, so that its relevance is what counts
    assert context.of_answer("In 1973.", [0.8, 0.1])["relevant_place"] == 0.8
    assert context.of_answer("In 1987.", [0.8, 0.1])["relevant_place"] == 0.1
    # "Elbe Bridge" has no word that the question lacks
    assert context.of_answer("The Elbe Bridge.", [0.8, 0.1])["new"] == 0.0


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the date of birth of Ada Roe?", "date"),
        ("In which year did it open?", "date"),
        ("How much did it cost?", "number"),
        ("What is the population of Ulm?", "number"),
        ("Which bridge is longer?", "name"),
        ("Are both bridges in Ulm?", "yes or no"),
        ("What is a lintel?", "any"),
    ],
)
def test_the_words_of_a_question_tell_what_it_asks_for(question: str, kind: str) -> None:
    assert expected_kind(question) == kind


def test_a_name_of_the_question_is_no_answer_to_it() -> None:
    assert has_kind("The Elbe Bridge was built by Ada Roe.", "name", QUESTION)
    assert not has_kind("The Elbe Bridge was built.", "name", QUESTION)


@pytest.mark.parametrize(
    ("value", "expected"), [(0.0, 0.5), (1.0, 1 / (1 + math.exp(-3))), (-2.0, 1 / (1 + math.exp(6)))]
)
def test_probability_is_the_logistic_function_of_the_weighted_sum(value: float, expected: float) -> None:
    assert probability({"x": value}, {"intercept": 0.0, "x": 3.0}) == pytest.approx(expected)


def test_a_question_without_a_content_word_has_no_features() -> None:
    with pytest.raises(ValueError, match="has no word to look for"):
        Context("Why?", [BRIDGE])
