"""Values of a claim beside those of the sources: bounds of numbers and dates, amounts of change and their results."""

import pytest

from vouching.embedded.verify import open_embedded
from vouching.types import Claim, Source

VERIFIER = open_embedded("embedded:rules")


def supported(claim: str, source: str) -> bool:
    return VERIFIER.judge(Claim(claim), [Source(source)]).attributable


@pytest.mark.parametrize(
    ("claim", "source", "right"),
    [
        ("The chapel was built before 1900.", "The chapel was built in 1880.", True),
        ("The chapel was built before 1900.", "The chapel was built in 1912.", False),
        ("The chapel was built after 1900.", "The chapel was built in 1912.", True),
        ("The chapel was built after 1900.", "The chapel was built in 1880.", False),
        ("The chapel was built in 1912.", "The chapel was built before 1900.", False),
        ("The mine will shut by 2030.", "The mine will shut in 2028.", True),
        ("The mine will shut by 2030.", "The mine will shut in 2034.", False),
        ("The mine will shut in 2034.", "The mine will shut by 2030.", False),
        ("The bill was paid no later than 1 March 2024.", "The bill was paid on 12 February 2024.", True),
        ("The bill was paid no later than 1 March 2024.", "The bill was paid on 12 April 2024.", False),
        ("She has lived in Graz since 1990.", "She has lived in Graz since 1985.", False),
        ("The shop stayed open until 2004.", "The shop stayed open until 2001.", False),
        # A strict bound excludes the number itself.
        ("The hall has 50 seats.", "The hall has fewer than 50 seats.", False),
        ("The hall has over 50 seats.", "The hall has more than 50 seats.", True),
        ("The walk takes 2 hours.", "The walk takes less than 2 hours.", False),
    ],
)
def test_bounds_of_the_claim_and_of_the_source_decide(claim: str, source: str, right: bool) -> None:
    assert supported(claim, source) is right


CHANGES = [
    ("The rent rose to 40 euros.", "The rent rose by 40 euros."),
    ("Sales fell to 12 percent.", "Sales fell by 12 percent."),
    ("The fee was increased to $30.", "The fee was increased by $30."),
    ("The crew was cut to 200.", "The crew was cut by 200."),
    ("The lease was extended to 5 years.", "The lease was extended by 5 years."),
    ("The rent rose from 40 euros.", "The rent rose to 40 euros."),
]


@pytest.mark.parametrize(("one", "other"), CHANGES)
def test_the_amount_of_a_change_is_not_what_it_led_to(one: str, other: str) -> None:
    assert not supported(one, other)
    assert not supported(other, one)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Output grew by 15 percent.", "Output grew 15 percent."),
        ("The fee went up to $30.", "The fee rose to $30."),
        ("The rent rose by 10 euros.", "The rent rose from 30 to 40 euros."),
        ("The rent rose to 40 euros.", "The rent rose from 30 to 40 euros."),
    ],
)
def test_the_same_side_of_a_change_in_other_words_is_supported(claim: str, source: str) -> None:
    assert supported(claim, source)


@pytest.mark.parametrize(
    ("claim", "source", "right"),
    [
        ("The mill burned in 2050.", "The mill burned. The dam will open in 2050.", False),
        ("The dam will open in 2050.", "The mill burned. The dam will open in 2050.", True),
        ("The school closed in 2019.", "The school closed. The library opened in 2019.", False),
        ("The treaty was signed in 1648.", "The war ended in 1648. The treaty was signed.", False),
        ("The mill burned in 1950.", "The mill stood by the river. It burned in 1950.", True),
        ("The treaty was signed in 1648.", "The treaty was signed. It happened in 1648.", True),
        ("The tower was built in 1890.", "The tower is in Ghent. Built in 1890, it is 40 m high.", True),
    ],
)
def test_a_value_of_another_event_is_not_the_claimed_one(claim: str, source: str, right: bool) -> None:
    assert supported(claim, source) is right
