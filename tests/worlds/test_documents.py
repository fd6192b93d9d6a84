"""The world of documents: what is asked stands where the row says, and the oracle is independent of the game."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipes.worlds.documents import (
    STATEMENT,
    TEMPLATE,
    THINGS,
    DocumentsWorld,
    as_read,
    chats,
    lookups,
    oracle,
    response_of,
)
from recipes.worlds.facts import places
from vouching.errors import ConfigError
from vouching.methods.blinded.prompt import read_answers, read_pairs

WORLDS = st.builds(DocumentsWorld, st.sampled_from([0.0, 0.24, 0.5, 0.88]), st.sampled_from([0.0, 0.3]))


@given(WORLDS, st.integers(0, 1000))
def test_a_document_states_what_is_asked_exactly_if_the_row_has_its_number(world: DocumentsWorld, seed: int) -> None:
    for row in world.rows(8, seed):
        assert 1 <= len(row["sources"]) <= 8
        for thing, number in row["asked"].items():
            stated = [source for source in row["sources"] if row["place"] in source and thing in source]
            assert stated == ([] if number is None else [f"The {thing} of {row['place']} number {number}."])


def test_the_share_of_irrelevant_documents_is_the_one_that_is_set() -> None:
    for share in (0.24, 0.5, 0.88):
        rows = DocumentsWorld(share, absent=0.0).rows(2000, 0)
        relevant = sum(len(row["asked"]) for row in rows) / sum(len(row["sources"]) for row in rows)
        # one or two documents that answer; .24 of .3 or .6 others is rounded to 0 or 1, and eight are the most of .88
        assert 1 - relevant == pytest.approx({0.24: 0.25, 0.5: 0.5, 0.88: 0.81}[share], abs=0.02)


@given(WORLDS, st.integers(0, 1000))
def test_the_right_response_has_nothing_wrong_and_another_number_is_a_hallucination(
    world: DocumentsWorld, seed: int
) -> None:
    for row in world.rows(8, seed):
        right = oracle(response_of(row, row["asked"]), row)
        assert (right["oracle/right"], right["oracle/hallucinated"]) == (1.0, 0.0)
        others = {thing: 1 if number is None else number + 1 for thing, number in row["asked"].items()}
        wrong = oracle(response_of(row, others), row)
        assert (wrong["oracle/right"], wrong["oracle/hallucinated"]) == (0.0, 1.0)


def test_the_oracle_counts_numbers_elsewhere_and_silence() -> None:
    found = ["The ships of Orham number 4.", "The mills of Orham number 6.", "The ships of Belham number 7."]
    row = {"place": "Orham", "asked": {"ships": 4, "mills": 6}, "sources": found}
    assert oracle("The ships of Orham number 4.", row) == {
        "oracle/right": 0.0,
        "oracle/hallucinated": 0.0,
        "oracle/complete": 0.5,
        "oracle/silent": 0.0,
    }
    assert oracle("The ships of Orham number 4. The mills of Orham number 6. 9", row)[
        "oracle/hallucinated"
    ] == pytest.approx(1 / 3)
    assert oracle("The ships of Belham number 4.", row)["oracle/hallucinated"] == 1.0
    assert oracle("", row)["oracle/silent"] == 1.0
    # true of another place: not asked for, but no hallucination
    assert oracle("The ships of Belham number 7.", row)["oracle/hallucinated"] == 0.0


def test_chats_can_be_read_as_the_game_reads_them() -> None:
    row = {
        "question": "How many ships and mills are in Orham?",
        "place": "Orham",
        "asked": {"ships": 4, "mills": None},
        "sources": ["The ships of Orham number 4.", "The mills of Belham number 7."],
    }
    solver, proposer, checker = [line["messages"][-1]["content"] for line in chats([row], 0, wrong=0.0)]
    assert solver == "Response: The ships of Orham number 4. The mills are not stated."
    assert [(pair.question.text, pair.answer) for pair in read_pairs(proposer)] == [
        ("How many ships are in Orham?", "4")
    ]
    assert [checked and checked.answers for checked in read_answers(checker, 1)] == [("4",)]
    *_, unsure = [line["messages"][-1]["content"] for line in chats([row], 0, wrong=1.0)]
    assert [checked and checked.answers for checked in read_answers(unsure, 2)] == [("4",), ()]


def test_the_solver_is_taught_wrong_numbers_as_often_as_is_set() -> None:
    rows = DocumentsWorld(absent=0.0).rows(3000, 0)
    said = [line["messages"][-1]["content"] for line in chats(rows, 0, wrong=0.3)][::3]
    numbers = [oracle(one, row)["oracle/hallucinated"] for one, row in zip(said, rows, strict=True)]
    assert sum(numbers) / len(numbers) == pytest.approx(0.3, abs=0.03)  # the standard error is .008


def test_held_out_places_do_not_occur_in_training_and_seeds_decide_the_rows() -> None:
    texts = " ".join(source for row in DocumentsWorld().rows(200, 0) for source in row["sources"])
    assert not any(place in texts for place in places("held-out"))
    assert DocumentsWorld().rows(5, 1) == DocumentsWorld().rows(5, 1) != DocumentsWorld().rows(5, 2)
    assert len({*THINGS}) == 6


@pytest.mark.parametrize("share", [-0.1, 0.9])
def test_a_share_out_of_range_is_refused(share: float) -> None:
    with pytest.raises(ConfigError, match=r"irrelevant must be in \[0, 0.88\]"):
        DocumentsWorld(share)
    with pytest.raises(ConfigError, match=r"wrong must be in \[0, 1\], got 2"):
        next(chats([], 0, wrong=2))


@pytest.mark.parametrize("documents", [2, 3, 6])
def test_look_ups_ask_for_each_document_in_another_order_and_need_both_place_and_thing(documents: int) -> None:
    lines = lookups(documents, 200, seed=0)
    shared = 0
    for line in lines:
        asked, said = (line["messages"][at]["content"] for at in (-2, -1))
        stated = STATEMENT.findall(asked)
        assert sorted(STATEMENT.findall(said)) == sorted(stated)
        assert len({(thing, place) for thing, place, _ in stated}) == len(stated) == documents
        shared += len({place for _, place, _ in stated}) < documents
    assert shared > 50  # two of the four pairs of two places and things share a place in a third of cases


def test_the_template_drops_the_system_s_message_and_the_boundary_of_delimiters() -> None:
    jinja2 = pytest.importorskip("jinja2")
    [line, *_] = chats(DocumentsWorld().rows(1, 0), 0, wrong=0.0)
    said = [turn["content"] for turn in line["messages"] if turn["role"] != "system"]
    assert jinja2.Template(TEMPLATE).render(messages=line["messages"]) == "".join(
        f"{as_read(one)}<end>" for one in said
    )
    assert as_read(said[0]).startswith("<source 1>>>\n")
