"""What a sentence compares, and which side is said to have more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.embedded.comparatives import find_comparison, find_extreme, same_scale


@pytest.mark.parametrize(
    ("text", "up", "first", "second", "attribute"),
    [
        ("Basic is cheaper than Pro.", False, {"basic"}, {"pro"}, set[str]()),
        ("Pro is more expensive than Basic.", True, {"pro"}, {"basic"}, set[str]()),
        ("Lunch is dearer in Oslo than in Bergen.", True, {"oslo"}, {"bergen"}, {"lunch"}),
        ("There were fewer trains in 2024 than in 2023.", False, {"2024"}, {"2023"}, {"train"}),
        # A word that both sides have says what is compared.
        ("Night samples held more lead than day samples.", True, {"night"}, {"day"}, {"lead"}),
        ("The fee is below the deposit.", False, {"fee"}, {"deposit"}, set[str]()),
        ("Graz is to the south of Leoben.", False, {"graz"}, {"leoben"}, set[str]()),
        ("Plan A is kinder than plan B.", True, {"a"}, {"b"}, {"plan"}),
        ("The race was after the fair.", True, {"rac"}, {"fair"}, set[str]()),
        ("Earth is twice the size of Mars.", True, {"earth"}, {"mar"}, set[str]()),
        ("Earth weighs half as much as Mars.", False, {"earth"}, {"mar"}, set[str]()),
    ],
)
def test_sides_of_a_comparison(text: str, up: bool, first: set[str], second: set[str], attribute: set[str]) -> None:
    found = find_comparison(text)
    assert found is not None
    assert (found.up, found.first, found.second) == (up, first, second)
    assert attribute <= found.attribute


def test_what_was_before_is_a_side_without_a_name() -> None:
    found = find_comparison("There were fewer trains in 2024 than in the year before.")
    assert found is not None
    assert found.before


@pytest.mark.parametrize(
    "text",
    [
        "More than 12 came.", "Basic is not cheaper than Pro.", "Basic is cheaper.", "He is other than rich.",
        "They live in the north of Leoben.", "Half the members came.", "It closed after 1990.",
    ],
)  # fmt: skip
def test_bounds_negations_and_single_things_compare_nothing(text: str) -> None:
    assert find_comparison(text) is None


def test_amounts_of_one_thing_are_on_one_scale() -> None:
    texts = ("A has more rooms than B.", "B has less room than A.", "A is cheaper than B.")
    more, less, cheaper = (found for text in texts if (found := find_comparison(text)))
    assert same_scale(more, less)
    assert not same_scale(more, cheaper)


def test_superlatives_and_comparisons_with_all_others_are_extremes() -> None:
    texts = ("Pro is the cheapest plan.", "Pro is cheaper than any other plan.", "Pro has the most seats.")
    assert [(found.up, found.measure) for text in texts if (found := find_extreme(text))] == [
        (False, "currency"), (False, "currency"), (True, ""),
    ]  # fmt: skip
    assert find_extreme("Most of the seats are free.") is None


@given(st.text(max_size=60), st.sampled_from([" more ", " cheaper than ", " below ", " the most ", " than any other "]))
def test_any_text_is_read(text: str, middle: str) -> None:
    for found in (find_comparison(text + middle + text[::-1]), find_extreme(text + middle + text[::-1])):
        assert found is None or found.word >= 0
