"""What a stated bound entails, contradicts or leaves open: every kind of claim against every kind of source."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.reading.parsed import read
from vouching.text.bounds import COMPLEMENT, read_hedge
from vouching.text.comparison import compare_dates, compare_quantities
from vouching.text.dates import find_dates
from vouching.text.quantities import find_quantities

ENTAILS, OPEN, CONTRADICTS = {"equal", "close", "compatible"}, {"allowed", "incomparable"}, {"differs"}
TRUTH = {"E": ENTAILS, "?": OPEN, "X": CONTRADICTS}
# Rows: the claim; columns: the source. All are lengths, so that no step of whole numbers rounds a bound.
SOURCES = (
    "50 km",
    "at least 50 km",
    "at most 50 km",
    "more than 50 km",
    "less than 50 km",
    "40 to 50 km",
    "about 50 km",
)
TABLE = {
    # A number follows loosely from an inclusive bound of the same number ("at most 50"), which it may be; a strict one
    # ("less than 50") excludes it. Inside another bound it is open, outside it is wrong.
    "50 km": "EEEXX?E",
    "60 km": "X?X?XXX",
    "44 km": "XX?X??X",
    "exactly 50 km": "E??XX??",
    # Where the source states a limit, another limit is another statement.
    "at least 50 km": "EEXEX?E",
    "at least 45 km": "EX?X??E",
    "at least 60 km": "XXXXXXX",
    "at most 50 km": "EXEXEEE",
    "at most 60 km": "E?X?XEE",
    "at most 45 km": "XXXXX?X",
    "more than 50 km": "X?XEXXE",
    "more than 45 km": "EX?X??E",
    "less than 50 km": "XX?XE?E",
    "less than 60 km": "E?X?XEE",
    "up to 50 km": "EXEXEEE",
    "a maximum of 50 km": "EXEXEEE",
    "a minimum of 50 km": "EEXEX?E",
    "within 50 km": "EXEXEEE",
    "40 to 50 km": "E??X?EE",
    "30 to 35 km": "XX?X?XX",
    "about 50 km": "EEEEE?E",
    "no more than 50 km": "EXEXEEE",
    "not less than 50 km": "EEXEX?E",
}


@pytest.mark.parametrize(
    ("claim", "source", "truth"),
    [(claim, source, t) for claim, row in TABLE.items() for source, t in zip(SOURCES, row, strict=True)],
)
def test_a_bound_entails_contradicts_or_leaves_open(claim: str, source: str, truth: str) -> None:
    (claimed,), (given_,) = find_quantities(claim), find_quantities(source)
    assert compare_quantities(claimed, given_) in TRUTH[truth]


DATE_SOURCES = ("in 1900", "before 1900", "after 1900", "by 1900", "in 1880", "in May 1912", "no earlier than 1900")
DATE_TABLE = {
    "in 1900": "EXXEXXE",
    "in 1880": "X?X?EXX",
    "in 1912": "XX?XXE?",
    "before 1900": "XEX?EXX",
    "prior to 1850": "XXXXXXX",
    "before 1905": "EX?XEX?",
    "after 1900": "XXEXXE?",
    "later than 1890": "E?X?XEX",
    "by 1900": "EEXEEXX",
    "no later than 1900": "EEXEEXX",
    "in 1900 at the latest": "EEXEEXX",
    "by the end of 1900": "EEXEEXX",
    "before the end of 1900": "EEXEEXX",
    "not before 1900": "EXEXXEE",
    "from 1900": "EXXEXXE",
    "since 1900": "EXXEXXE",
    "until 1900": "EXXEXXE",
}


@pytest.mark.parametrize(
    ("claim", "source", "truth"),
    [(claim, source, t) for claim, row in DATE_TABLE.items() for source, t in zip(DATE_SOURCES, row, strict=True)],
)
def test_a_bound_of_a_date_entails_contradicts_or_leaves_open(claim: str, source: str, truth: str) -> None:
    (claimed,), (given_,) = find_dates(f"sold {claim}"), find_dates(f"sold {source}")
    assert compare_dates(claimed, given_) in TRUTH[truth]


@pytest.mark.parametrize(
    ("claim", "source", "truth"),
    [
        ("before 1 March 2024", "on 29 February 2024", "E"),
        ("before 1 March 2024", "in March 2024", "X"),
        ("before 15 March 2024", "in March 2024", "?"),
        ("after March 2024", "on 1 April 2024", "E"),
        ("by 10 June", "on 3 June", "E"),
        ("by 10 June", "on 12 June 2024", "X"),
        ("after the 1990s", "in 2001", "E"),
        ("before the 1990s", "in 1994", "X"),
        # A day of the week may be in any week.
        ("by Friday", "on Friday", "E"),
    ],
)
def test_bounds_of_days_months_and_decades_are_compared(claim: str, source: str, truth: str) -> None:
    (claimed,), (given_,) = find_dates(f"sold {claim}"), find_dates(f"sold {source}")
    assert compare_dates(claimed, given_) in TRUTH[truth]


@given(st.integers(1500, 2090), st.integers(1500, 2090))
def test_what_was_before_a_year_was_not_after_it(year: int, stated: int) -> None:
    (before,), (after,) = find_dates(f"sold before {year}"), find_dates(f"sold after {year}")
    (given_,) = find_dates(f"sold in {stated}")
    assert "differs" in (compare_dates(before, given_), compare_dates(after, given_))


@pytest.mark.parametrize(
    ("claim", "source", "truth"),
    [
        # Units are converted before bounds are compared.
        ("up to 1 hour", "no longer than 60 minutes", "E"),
        ("up to 2 hours", "no longer than 60 minutes", "X"),
        ("5 days", "up to 7 days", "?"),
        ("8 days", "up to one week", "X"),
        ("at least two weeks", "14 days at the earliest", "E"),
        ("exactly 5 days", "about 5 days", "?"),
        # A strict bound of a duration and its limit: thirty years are not more than thirty years.
        ("more than 45 minutes", "40 to 45 minutes", "X"),
        ("less than 40 minutes", "40 to 45 minutes", "X"),
    ],
)
def test_bounds_of_durations_are_compared_like_those_of_quantities(claim: str, source: str, truth: str) -> None:
    (claimed,), (given_,) = find_dates(claim), find_dates(source)
    assert compare_dates(claimed, given_) in TRUTH[truth]


def test_a_value_far_from_a_bound_does_not_support_it() -> None:
    # 60 m are 1,500 times less than 90 km: nobody would call them "at most 90 km".
    (claim,), (near, far) = find_quantities("at most 90 km"), find_quantities("60 km, 60 m")
    assert (compare_quantities(claim, near), compare_quantities(claim, far)) == ("equal", "allowed")


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("It must not exceed 50.", "at_most"),
        ("It was never larger than 50.", "at_most"),
        ("It can't be longer than 50 m.", "at_most"),
        ("There were never fewer than 50.", "at_least"),
        ("eight people at the most", "at_most"),
        ("50 working hours or less", "at_most"),
        ("50 kg at the very least", "at_least"),
        ("from 25 euros upwards", "at_least"),
        ("The maximum length of a lead is 50 m.", "at_most"),
        ("The minimum age of members was set at 50.", "at_least"),
        ("The speed limit for freight trains is 50 km/h.", "at_most"),
        ("a cap of 50 euros", "at_most"),
        ("temperatures below 50 °C", "less_than"),
        # Not bounds: "almost" is "about", and the other words belong to something else.
        ("almost 50 km", "exact"),
        ("It adds up to 50 euros.", "exact"),
        ("The floor area is 50 m².", "exact"),
        ("a limit and 50 exceptions", "exact"),
        ("in 2 min 50 seconds", "exact"),
    ],
)
def test_the_words_of_a_bound_are_read_near_the_number(text: str, bound: str) -> None:
    value = (find_dates(text) or find_quantities(text))[-1]
    assert value.bound == bound


@pytest.mark.parametrize(
    ("text", "bound", "negated"),
    [
        ("Do not store it above 50 °C.", "at_most", False),
        ("Nobody may carry more than 50 kg.", "at_most", False),
        ("It never weighs less than 50 kg.", "at_least", False),
        # Another clause, or no duty: the bound stays.
        ("It does not open when the wind is above 50 km/h.", "more_than", True),
        ("You do not have to wait for more than 50 kg.", "more_than", True),
        ("It does not open, with more than 50 kg on it.", "more_than", True),
        # A cue inside the bound negates nothing else.
        ("It may be no heavier than 50 kg.", "at_most", False),
    ],
)
def test_a_negated_bound_is_its_complement(text: str, bound: str, negated: bool) -> None:
    reading = read(text)
    assert (reading.quantities[0].bound, bool(reading.negations)) == (bound, negated)


def test_a_complement_of_a_complement_is_the_bound_itself() -> None:
    assert all(COMPLEMENT[COMPLEMENT[bound]] == bound for bound in COMPLEMENT)


def test_the_words_of_a_bound_are_marked_but_not_the_noun_between() -> None:
    text = "at most 50 working days at the latest"
    hedge = read_hedge(text, 8, 10)
    assert [text[start:end] for start, end in hedge.words] == ["at most "]
    text = "50 working days at the latest"
    assert [text[start:end] for start, end in read_hedge(text, 0, 2).words] == [" at the latest"]


@given(
    st.integers(2, 900), st.integers(1, 900), st.sampled_from(["at most", "up to", "at least", "more than", "within"])
)
def test_tightening_or_loosening_a_stated_bound_is_never_agreement(value: int, step: int, words: str) -> None:
    (stated,), (other,) = find_quantities(f"{words} {value} kg"), find_quantities(f"{words} {value + step} kg")
    assert compare_quantities(stated, stated) == "equal"
    assert compare_quantities(stated, other) == compare_quantities(other, stated) == "differs"


@given(st.integers(1, 900), st.integers(1, 900))
def test_a_bound_and_its_negation_never_both_agree(value: int, stated: int) -> None:
    (more,), (not_more,) = find_quantities(f"more than {value} kg"), find_quantities(f"no more than {value} kg")
    (given_,) = find_quantities(f"{stated} kg")
    assert "differs" in (compare_quantities(more, given_), compare_quantities(not_more, given_))


@pytest.mark.parametrize(("claim", "agrees"), [("at least 20 men", True), ("at least 21 men", True), ("20 men", False)])
def test_more_than_a_count_is_at_least_the_next_one(claim: str, agrees: bool) -> None:
    (claimed,), (given_,) = find_quantities(claim), find_quantities("more than 20 men")
    assert (compare_quantities(claimed, given_) in ("equal", "close")) is agrees
