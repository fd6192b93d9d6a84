"""The search without a language model: how one passage leads to the next, what is kept, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.shelves import Down, Library, passage
from vouching.errors import ConfigError
from vouching.search.steps import StepSearch, expansions_from, read_page, read_question
from vouching.types import Alignment, Claim, Source, Span, Trajectory, Unverified, Verdict

QUESTION = "Where was the director of Nosferatu born?"
FILM = ("Nosferatu", "It was shot in Wismar. It is a film directed by Friedrich Murnau for Prana.")
MAN = ("Friedrich Murnau", "Murnau was born in Bielefeld.")
TOWN = ("Wismar", "Wismar is a port.")
TOWN_OF_BIRTH = ("Bielefeld", "Bielefeld lies in the Ravensberg hills.")


def library(**more: Any) -> Library:
    return Library({"nosferatu": FILM, "murnau": MAN, "wismar": TOWN, "bielefeld": TOWN_OF_BIRTH}, **more)


def search(
    question: str = QUESTION, answers: Sequence[str] = (), engines: Sequence[Any] = (), **settings: Any
) -> Trajectory:
    return asyncio.run(StepSearch(engines or (library(),), **settings).search(question, answers))


# From one passage to the next


def test_the_name_next_to_a_word_of_the_question_is_searched_for_first() -> None:
    found = search(queries=2)
    # Of Wismar, Friedrich Murnau and Prana, Murnau stands next to "directed" ("by" is no content word).
    assert [turn.query for turn in found.turns] == [QUESTION, "Friedrich Murnau born"]
    assert [p.title for p in found.passages] == ["Nosferatu", "Friedrich Murnau"]
    assert found.turns[1].thought == "'Friedrich Murnau' occurs in a passage of 'Nosferatu', near 'directed'."


def test_an_expansion_weighs_as_its_passage_and_the_nearness_of_a_word_of_the_question() -> None:
    # Worth of the passage 1. Murnau: next to "directed", 1. Prana: Murnau and Friedrich stand between, 1/3 near:
    # .6 + .4 / 3. Wismar is in a sentence without a word of the question: .6.
    expansions = {
        expansion.name: expansion.weight
        for expansion in expansions_from(read_page(passage(*FILM)), 1.0, read_question(QUESTION))
    }
    assert expansions == {"Wismar": 0.6, "Friedrich Murnau": 1.0, "Prana": pytest.approx(0.6 + 0.4 / 3)}


def test_what_is_kept_has_the_worth_that_follows_from_the_expansion() -> None:
    found = search(queries=2)
    # First of its query, 1, and its title is in the question, .6; the next is about a name of the same weight: .9.
    assert [p.score for p in found.passages] == [pytest.approx(1.6), pytest.approx(0.9 * 1.6)]


def test_a_passage_that_has_the_name_and_the_open_words_counts_without_a_title() -> None:
    shelf = Library({"nosferatu": FILM, "murnau": ("", "Friedrich Murnau was born in Bielefeld."), "wismar": TOWN})
    found = search(engines=[shelf], queries=2)
    # "born" is the one open word, and it is there: .6 of the expansion.
    assert [p.score for p in found.passages] == [pytest.approx(1.6), pytest.approx(0.6 * 1.6)]


def test_what_has_nothing_to_do_with_the_expansion_is_not_kept() -> None:
    shelf = Library({"nosferatu": FILM, "murnau": ("Prague", "Prague lies on the Vltava.")})
    assert [p.title for p in search(engines=[shelf]).passages] == ["Nosferatu"]


def test_no_name_is_asked_for_twice() -> None:
    queries = [turn.query for turn in search(queries=8).turns]
    assert len(queries) == len(set(queries))


def test_turns_show_what_was_kept_and_engines_what_they_brought() -> None:
    found = search(queries=5, limit=1)
    assert [p.title for p in found.passages] == ["Nosferatu"]
    assert found.turns[1].result is not None
    assert found.turns[1].result.passages == ()
    assert [asked.found for asked in found.turns[1].result.asked] == [1]


def test_a_name_from_a_local_document_is_not_sent_to_the_web() -> None:
    own, web = library(), Library({}, "web", "web:engine")
    found = search(engines=[own, web], queries=2)
    assert [query for query, _ in own.asked] == [QUESTION, "Friedrich Murnau born"]
    assert [query for query, _ in web.asked] == [QUESTION]
    assert [turn.tool for turn in found.turns] == ["all", "local"]
    # Found on the web, or asked about, it is no secret.
    for text, asked in ((FILM, "Friedrich Murnau born"), (TOWN, "Weimar director Nosferatu born")):
        own, web = Library({}), Library({"nosferatu": text}, "web", "web:engine")
        search(engines=[own, web], answers=["It was Weimar.", "It was Wismar."], queries=2)
        assert [query for query, _ in web.asked] == [query for query, _ in own.asked] == [QUESTION, asked]


# Answers


def test_the_first_query_has_a_single_answer_but_not_several() -> None:
    assert search(answers=["In Bielefeld.", "In Weimar."]).turns[0].query == QUESTION
    assert search(answers=["In Bielefeld."]).turns[0].query == f"{QUESTION} In Bielefeld."


def test_names_of_the_answers_that_nothing_found_has_are_searched_for() -> None:
    found = search(answers=["It was Weimar.", "It was Bielefeld."])
    asked = {turn.query: turn.thought for turn in found.turns}
    assert asked["Weimar director Nosferatu born"] == "No passage found so far supports 'Weimar'."


def verifier(supported: str, missing: str) -> Any:
    """Finds a claim supported if a source says so, and otherwise no support for one word of it."""

    async def verify(claims: Sequence[Claim], sources: Sequence[Source]) -> list[Verdict | Unverified]:
        return [_verdict(claim, any(supported in source.text for source in sources)) for claim in claims]

    def _verdict(claim: Claim, right: bool) -> Verdict:
        start = claim.text.find(missing)
        part = Alignment(Span(missing, start, start + len(missing)), None, "not_found")
        return Verdict(
            claim,
            "Attributable" if right else "Not Attributable",
            float(right),
            1.0,
            0.5,
            "supported" if right else "not_found",
            () if right else (part,),
        )

    return verify


def test_with_a_verifier_it_ends_when_the_answer_is_supported() -> None:
    found = search(answers=["In Bielefeld."], verify=verifier("born in Bielefeld", "Bielefeld"))
    assert (found.ended, len(found.turns)) == ("decided", 2)  # the second query asks for Murnau
    found = search(verify=verifier("Ravensberg", "Nosferatu"), queries=8)
    assert found.ended == "decided"
    assert "Bielefeld" in found.turns[-1].query


def test_with_a_verifier_it_looks_for_what_has_no_support() -> None:
    shelf = Library({"nosferatu": ("Nosferatu", "It is a film."), "count orlok": ("Count Orlok", "Orlok is a count.")})
    claim = "Nosferatu shows Count Orlok."
    asked: list[str] = []

    async def verify(claims: Sequence[Claim], sources: Sequence[Source]) -> list[Verdict | Unverified]:
        asked.append(claims[0].text)
        return await verifier("nowhere", "Count Orlok")(claims, sources)

    found = asyncio.run(StepSearch([shelf], verify).find(None, claim))
    assert asked[0] == claim
    assert (found.question, found.answers, found.turns[0].query) == (claim, (), claim)


def test_a_verifier_that_fails_ends_nothing() -> None:
    async def verify(claims: Sequence[Claim], sources: Sequence[Source]) -> list[Verdict | Unverified]:
        return [Unverified(claim, "backend", "down") for claim in claims]

    assert search(verify=verify, queries=2).ended == "turns"


def test_the_verifier_that_ships_ends_a_search_that_found_the_source() -> None:
    from vouching.embedded.verify import EmbeddedVerifier

    verify = EmbeddedVerifier().verify
    right = asyncio.run(StepSearch([library()], verify).find(None, "Friedrich Murnau was born in Bielefeld."))
    claim = "Friedrich Murnau was born in Bielefeld and lived with Hedda Orlok."
    wrong = asyncio.run(StepSearch([library()], verify).find(None, claim))
    assert (right.ended, len(right.turns)) == ("decided", 1)
    assert wrong.ended != "decided"
    # The name with all the other words would be the claim again.
    assert ("Hedda Orlok", "No passage found so far supports 'Hedda Orlok'.") in [
        (t.query, t.thought) for t in wrong.turns
    ]


# Ends


def test_it_ends_when_no_name_is_left() -> None:
    found = search("what is a port", engines=[Library({"port": ("", "a port is a place for ships")})])
    assert (found.ended, len(found.turns)) == ("exhausted", 1)


def test_one_engine_that_is_down_does_not_stop_the_others() -> None:
    found = search(engines=[library(), Down()], queries=2)
    assert (found.ended, len(found.passages)) == ("turns", 2)
    assert found.turns[0].result is not None
    assert [asked.error is None for asked in found.turns[0].result.asked] == [True, False]


def test_where_no_engine_answers_the_search_has_failed_after_one_query() -> None:
    found = search(engines=[Down()])
    assert (found.ended, len(found.turns), found.searcher) == ("failed", 1, "deterministic")


@pytest.mark.parametrize(("name", "value"), [("queries", 0), ("limit", 0), ("wide", -1)])
def test_numbers_below_one_are_refused(name: str, value: int) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be at least 1, got {value}"):
        StepSearch([library()], **{name: value})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="no search engine was given"):
        StepSearch([])


def test_closing_it_closes_the_engines() -> None:
    shelf = library()
    asyncio.run(StepSearch([shelf]).aclose())
    assert shelf.closed


# Any text


@given(st.text(max_size=80), st.text(max_size=200), st.text(max_size=30))
def test_any_texts_give_a_search_that_ends(question: str, text: str, title: str) -> None:
    found = search(question, engines=[Library({"": (title, text)})], queries=3)
    assert 1 <= len(found.turns) <= 3
    for expansion in expansions_from(read_page(passage(title, text)), 1.0, read_question(question)):
        assert 0.6 <= expansion.weight <= 1
        assert expansion.name in text


def test_the_same_search_is_the_same_trajectory() -> None:
    assert search(answers=["In Bielefeld.", "In Weimar."]) == search(answers=["In Bielefeld.", "In Weimar."])
