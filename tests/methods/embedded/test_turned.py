"""Two things compared, or one as the cause of the other, in the order of the source and turned round."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.embedded.verify import open_embedded
from vouching.types import Claim, Source

VERIFIER = open_embedded("embedded:rules")


def supported(claim: str, source: str) -> bool:
    return VERIFIER.judge(Claim(claim), [Source(source)]).attributable


# A sentence, what says the same from the other side, and two that say the opposite.
TURNED = [
    ("Ann is older than Bob.", "Bob is younger than Ann.", "Bob is older than Ann.", "Ann is younger than Bob."),
    ("Max is heavier than Tom.", "Tom is lighter than Max.", "Tom is heavier than Max.", "Max is lighter than Tom."),
    ("Rex is faster than Ada.", "Ada is slower than Rex.", "Ada is faster than Rex.", "Rex is slower than Ada."),
    ("Lima is hotter than Oslo.", "Oslo is colder than Lima.", "Lima is colder than Oslo.", ""),
    ("Lot A has more elms than lot B.", "Lot B has fewer elms than lot A.", "Lot B has more elms than lot A.", ""),
    ("Graz is north of Leoben.", "Leoben is south of Graz.", "Leoben is north of Graz.", "Graz is south of Leoben."),
    ("The inn lies to the east of the dam.", "The dam lies west of the inn.", "The inn lies west of the dam.", ""),
    ("The attic is above the shop.", "The shop is below the attic.", "The shop is above the attic.", ""),
    ("The fair was before the race.", "The race was after the fair.", "The race was before the fair.", ""),
    ("The Elbe is twice as long as the Saale.", "The Saale is half as long as the Elbe.",
     "The Saale is twice as long as the Elbe.", "The Elbe is half as long as the Saale."),
    ("Mars is half the size of Earth.", "Earth is twice the size of Mars.", "Earth is half the size of Mars.", ""),
    ("The new hall has three times as many seats as the old hall.", "",
     "The old hall has three times as many seats as the new hall.", ""),
    ("Rent in Bonn is double the rent in Hof.", "", "Rent in Hof is double the rent in Bonn.", ""),
    ("The road was closed because of the flood.", "",
     "The flood happened because the road was closed.", ""),
    ("Fog caused the delay.", "The delay was due to fog.", "The fog was due to the delay.", ""),
    ("Demand grew because prices rose.", "Because prices rose, demand grew.", "Prices rose because demand grew.", ""),
    ("The frost resulted in a leak.", "A leak resulted from the frost.", "The frost resulted from a leak.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("source", "converse", "wrong", "also_wrong"), TURNED)
def test_the_converse_says_the_same_and_the_sides_exchanged_the_opposite(
    source: str, converse: str, wrong: str, also_wrong: str
) -> None:
    assert supported(source, source)
    assert not converse or supported(converse, source)
    assert not converse or supported(source, converse)
    assert not supported(wrong, source)
    assert not also_wrong or not supported(also_wrong, source)


SIDES = st.lists(
    st.sampled_from(["Ann", "Bob", "The mill", "The old quay", "Lake Orr", "Plan C"]),
    min_size=2,
    max_size=2,
    unique=True,
)
WORDS = st.sampled_from(["wider than", "kinder than", "twice as deep as", "south of", "better than"])


@given(SIDES, WORDS)
def test_any_comparison_with_its_sides_exchanged_is_not_supported(sides: list[str], word: str) -> None:
    one, other = (side.replace("The", "the") for side in sides)
    source = f"{sides[0]} is {word} {other}."
    assert supported(source, source)
    assert not supported(f"{sides[1]} is {word} {one}.", source)


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("The pool was closed because of a leak.", True),
        ("The pool was shut because it leaked.", True),
        ("The pool was closed because of a strike.", False),
        ("A strike led to the pool being closed.", False),
    ],
)
def test_another_cause_than_the_one_given_is_not_supported(claim: str, right: bool) -> None:
    assert supported(claim, "The pool was closed in May because of a leak. The staff went on strike in June.") is right


def test_two_things_of_which_the_source_compares_others_are_left_alone() -> None:
    source = "Ann is older than Bob. Cora is older than Dan."
    assert supported("Cora is older than Dan.", source)
    assert supported("He lives in the north of Leoben.", "He lives in the north of Leoben.")
