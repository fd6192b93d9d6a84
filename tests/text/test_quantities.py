from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.text.hostile import takes_linear_time
from vouching.text.comparison import compare_quantities
from vouching.text.dates import find_dates
from vouching.text.mentions import Quantity
from vouching.text.numerals import parse_number
from vouching.text.quantities import find_quantities

PIECES = st.lists(
    st.sampled_from(
        [
            *"0123456789.,-–/% $€½",
            "one ",
            "twenty ",
            "hundred ",
            "million",
            " and ",
            "a ",
            "half ",
            "third",
            "km",
            "\ud800",
            "\0",
            "٣",
        ]
    )
).map("".join)


def only(text: str) -> Quantity:
    quantities = find_quantities(text)
    assert len(quantities) == 1, quantities
    return quantities[0]


@pytest.mark.parametrize(
    ("text", "low", "high", "unit", "kind", "covered"),
    [
        ("cost $1.2 million", 1.2e6, 1.2e6, "USD", "currency", "$1.2 million"),
        ("60%", 60, 60, "percent", "percent", "60%"),
        ("15 percent", 15, 15, "percent", "percent", "15 percent"),
        ("15 per cent of it", 15, 15, "percent", "percent", "15 per cent"),
        ("a 60-percent rise", 60, 60, "percent", "percent", "60-percent"),
        ("one-third of them", 1 / 3, 1 / 3, "", "fraction", "one-third"),
        ("a third of them", 1 / 3, 1 / 3, "", "fraction", "a third"),
        ("two thirds", 2 / 3, 2 / 3, "", "fraction", "two thirds"),
        ("¾ of it", 0.75, 0.75, "", "fraction", "¾"),
        ("1/2 of it", 0.5, 0.5, "", "fraction", "1/2"),
        ("1,200,000 people", 1.2e6, 1.2e6, "", "number", "1,200,000"),
        ("12,34,567 people", 1234567, 1234567, "", "number", "12,34,567"),
        ("1.234,56 Euro", 1234.56, 1234.56, "EUR", "currency", "1.234,56 Euro"),
        ("1\u2009234 men", 1234, 1234, "", "number", "1\u2009234"),
        ("1.2M users", 1.2e6, 1.2e6, "", "number", "1.2M"),
        ("10k users", 1e4, 1e4, "", "number", "10k"),
        ("1e5 cells", 1e5, 1e5, "", "number", "1e5"),
        ("a 5 km run", 5, 5, "km", "number", "5 km"),
        ("a five-mile run", 5, 5, "mile", "number", "five-mile"),
        ("half a mile", 0.5, 0.5, "mile", "number", "half a mile"),
        ("twenty-five men", 25, 25, "", "number", "twenty-five"),
        ("a dozen eggs", 12, 12, "", "number", "a dozen"),
        ("half a million", 5e5, 5e5, "", "number", "half a million"),
        ("two and a half", 2.5, 2.5, "", "number", "two and a half"),
        ("two and a half million", 2.5e6, 2.5e6, "", "number", "two and a half million"),
        ("at -5 °C", -5, -5, "celsius", "number", "-5 °C"),
        ("at −5 degrees Celsius", -5, -5, "celsius", "number", "−5 degrees Celsius"),
        ("the 3rd", 3, 3, "", "ordinal", "3rd"),
        ("the twenty-first", 21, 21, "", "ordinal", "twenty-first"),
        ("a third attempt", 3, 3, "", "ordinal", "third"),
        ("5-10 %", 5, 10, "percent", "percent", "5-10 %"),
        ("5–10 km", 5, 10, "km", "number", "5–10 km"),
        ("between 5 and 10 men", 5, 10, "", "number", "5 and 10"),
        ("$5-10 million", 5e6, 1e7, "USD", "currency", "$5-10 million"),
        ("5 to 10 men", 5, 10, "", "number", "5 to 10"),
        ("5 lakh votes", 5e5, 5e5, "", "number", "5 lakh"),
        ("₹2 crore", 2e7, 2e7, "INR", "currency", "₹2 crore"),
        ("£5m", 5e6, 5e6, "GBP", "currency", "£5m"),
        ("sales doubled", 2, 2, "", "multiple", "doubled"),
        ("a threefold rise", 3, 3, "", "multiple", "threefold"),
        ("five times", 5, 5, "", "multiple", "five times"),
        ("٣٤ men", 34, 34, "", "number", "٣٤"),
    ],
)
def test_a_quantity_is_read_with_its_value_unit_and_exact_offsets(
    text: str, low: float, high: float, unit: str, kind: str, covered: str
) -> None:
    quantity = only(text)
    assert (quantity.low, quantity.high) == pytest.approx((low, high))
    assert (quantity.unit, quantity.kind, text[quantity.start : quantity.end]) == (unit, kind, covered)


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19",
        "B-52",
        "H1N1",
        "MP3",
        "4G",
        "v2.1",
        "192.168.0.1",
        "section 3.2.1",
        "https://x.org/2020/5?n=7",
        "+1-800-555-0199",
        "(555) 123-4567",
        "call 555-1234",
        "ISBN 978-3-16-148410-0",
        "24/7",
        "9/11",
        "3-D",
        "no one came",
        "one of them",
        "the one",
        "one another",
        "one-on-one",
        "hundreds of men",
        "thousand",
        "the other half of it",
        "third-party filters",
        "second-hand cars",
        "first aid",
    ],
)
def test_names_codes_and_pronouns_are_not_quantities(text: str) -> None:
    assert find_quantities(text) == []


@pytest.mark.parametrize(
    ("text", "bound", "approximate", "prefix"),
    [
        ("about 500 men", "exact", True, "about "),
        ("some 500 men", "exact", True, "some "),
        ("~500 men", "exact", True, "~"),
        ("500 or so men", "exact", True, ""),
        ("a couple of men", "exact", True, ""),
        ("more than 500 men", "more_than", False, "more than "),
        ("no more than 500 men", "at_most", False, "no more than "),
        ("over about $500", "more_than", True, "over about "),
        ("at least 500 men", "at_least", False, "at least "),
        ("up to 500 men", "at_most", False, "up to "),
        ("fewer than 500 men", "less_than", False, "fewer than "),
        ("500+ men", "at_least", False, ""),
        ("500 or fewer men", "at_most", False, ""),
        ("the 500 men", "exact", False, ""),
    ],
)
def test_hedges_and_bounds_are_read_but_stay_outside_the_offsets(
    text: str, bound: str, approximate: bool, prefix: str
) -> None:
    quantity = only(text)
    assert (quantity.bound, quantity.approximate) == (bound, approximate)
    assert text[quantity.hedge_start : quantity.start] == prefix


def test_a_change_from_one_value_to_another_is_two_quantities() -> None:
    assert [quantity.low for quantity in find_quantities("rose from 5% to 10%")] == [5, 10]


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("from 5 to 10 men", ["5 to 10"]),
        ("one in five people", ["one in five"]),
        ("1 in 100 people", ["1 in 100"]),
        ("at minus 5 °C", ["minus 5 °C"]),
        ("ten minus 5", ["ten", "5"]),
        ("for 10 000 euros", ["10 000 euros"]),
        ("Room 3 100 people", ["3", "100"]),
        ("open 9 am to 5 p.m. daily", ["9 am", "5 p.m."]),
    ],
)
def test_a_quantity_covers_its_whole_phrase(text: str, covered: list[str]) -> None:
    assert [text[quantity.start : quantity.end] for quantity in find_quantities(text)] == covered


@pytest.mark.parametrize(
    "text", ["It is known [1].", "as shown [2, 3]", "as said [3][4]", "as is² known", "so it is (Rossi et al., 2001)"]
)
def test_citation_marks_are_not_quantities(text: str) -> None:
    assert find_quantities(text, find_dates(text)) == []


def test_the_ends_of_an_interval_in_brackets_are_quantities() -> None:
    assert [quantity.low for quantity in find_quantities("95% CI [2, 3]")] == [95, 2, 3]


def test_digits_in_threes_of_which_one_group_starts_with_a_zero_are_one_number() -> None:
    assert [quantity.low for quantity in find_quantities("It had 31 075 in the city and 12 103 in all.")] == [
        31075,
        12,
        103,
    ]


def test_two_hundreds_joined_by_and_stay_two_numbers() -> None:
    assert [quantity.low for quantity in find_quantities("one hundred and two hundred")] == [100, 200]


def test_numbers_inside_dates_are_skipped() -> None:
    text = "On 3 May 1937 it sold 500 copies in three years."
    assert [quantity.low for quantity in find_quantities(text, find_dates(text))] == [500]


@pytest.mark.parametrize(
    ("claim", "source", "agreement"),
    [
        # Same value in another form.
        ("5 km", "5,000 m", "equal"),
        ("1 mile", "1.609344 km", "equal"),
        ("1.2 million", "1,200,000", "equal"),
        ("twenty-five", "25", "equal"),
        ("a dozen", "12", "equal"),
        ("half a million", "500,000", "equal"),
        ("50%", "half of", "equal"),
        ("$5", "5 dollars", "equal"),
        ("£5m", "5 million pounds", "equal"),
        ("£465,000", "465,000 pounds", "equal"),  # pounds are money beside pounds sterling, and else a weight
        ("85 pounds", "£58", "differs"),
        ("48.6 million", "48,6 million", "equal"),  # a decimal comma: no list has a scale
        ("CHF 0.85", "85 Rappen", "equal"),
        ("5 lb", "$5", "incomparable"),
        ("3rd", "third", "equal"),
        ("doubled", "twofold", "equal"),
        ("5 lakh", "500,000", "equal"),
        ("2 crore", "20 million", "equal"),
        ("0 °C", "32 °F", "equal"),
        ("rose by 2 °C", "rose by 3.6 °F", "equal"),  # a difference has no zero: 2 * 9 / 5
        ("rose by 2 °C", "rose by 36 °F", "differs"),
        ("an increase of 2 °C", "3.6 °F warmer", "equal"),
        ("a cool 50 °F morning", "10 °C", "equal"),
        ("36 km/h", "10 m/s", "equal"),
        ("1 GW", "1,000 MW", "equal"),
        ("60 minutes", "1 hour", "equal"),
        ("15 percent", "15%", "equal"),
        ("¾", "75 %", "equal"),
        ("10k", "10,000", "equal"),
        ("1e5", "100,000", "equal"),
        ("-5", "−5", "equal"),
        # Another value.
        ("25", "26", "differs"),
        ("60%", "65%", "differs"),
        ("5 km", "5 miles", "differs"),
        ("third", "fourth", "differs"),
        ("doubled", "tripled", "differs"),
        ("1.2 million", "1,300,000", "differs"),
        ("$5", "€5", "differs"),
        ("5", "-5", "differs"),
        # Not the same kind of thing.
        ("5%", "5 kg", "incomparable"),
        ("5", "$5", "incomparable"),
        ("third", "3", "incomparable"),
        ("5 km", "5 kg", "incomparable"),
        ("doubled", "2", "incomparable"),
        ("$5", "€4", "incomparable"),
        ("5 percent", "5 percentage points", "incomparable"),
        # Rounding: 1,234,567 rounds to 1.2 million, whose last place is 100,000; 1,251,000 rounds to 1.3 million.
        ("1.2 million", "1,234,567", "close"),
        ("about 1.2 million", "1,234,567", "equal"),
        ("1.2 million", "1,251,000", "differs"),
        # 1.2 million may stand for anything within 50,000 of it, which is 4.2 % of it.
        ("1,234,567", "1.2 million", "close"),
        ("1,400,000", "1 million", "differs"),
        # 8 km is 4.97 miles, which rounds to 5.
        ("5 miles", "8 km", "close"),
        # A percentage is compared with a fraction at the precision it is written in.
        ("33 %", "one-third", "equal"),
        ("33.3 %", "one-third", "equal"),
        ("33.1 %", "one-third", "differs"),
        ("30 %", "one-third", "differs"),
        # Hedged: |30 - 33.3| / 33.3 = 0.1, the largest difference allowed; |29 - 33.3| / 33.3 = 0.13.
        ("30 %", "approximately one-third", "equal"),
        ("29 %", "approximately one-third", "differs"),
        ("about 90", "100", "equal"),
        ("about 89", "100", "differs"),
        ("100", "some 105", "equal"),
        # Bounds.
        ("more than 100", "105", "equal"),
        ("more than 100", "95", "differs"),
        ("more than 100", "100", "differs"),
        ("at least 100", "100", "equal"),
        ("105", "more than 100", "allowed"),
        ("95", "more than 100", "differs"),
        ("at least 5", "at least 5", "equal"),
        ("more than 50", "more than 100", "differs"),
        ("more than 200", "more than 100", "differs"),
        ("more than 100", "less than 50", "differs"),
        ("fewer than 100", "80", "equal"),
        ("up to 100", "100", "equal"),
        # Ranges.
        ("5-10 %", "5 to 10 percent", "equal"),
        ("7 %", "5-10 %", "allowed"),
        ("12 %", "5-10 %", "differs"),
        ("5-10 %", "7 %", "equal"),
        ("5-10 %", "12 %", "differs"),
        # Both ends of two ranges have to agree.
        ("5-10", "6-8", "differs"),
        ("between 10 and 20", "between 10 and 12", "differs"),
        ("from 5 to 10", "between 5 and 10", "equal"),
        ("between -10 and 50 °C", "-10 to 40 °C", "differs"),
        ("Pages 10–12", "10 to 15", "differs"),
        ("5-10 miles", "8-16 km", "close"),
        ("up to 50", "no more than 50", "equal"),
        ("up to 50", "at least 50", "differs"),
        # Times of day, in minutes since midnight.
        ("3 pm", "15:00", "equal"),
        ("8.30 am", "8:30 a.m.", "equal"),
        ("12:15 a.m.", "00:15", "equal"),
        ("at noon", "12 pm", "equal"),
        ("3 o'clock", "3 pm", "close"),
        ("8:30", "8:30 p.m.", "close"),
        ("3 pm", "4 pm", "differs"),
        ("14:05", "14:50", "differs"),
        ("3-4 pm", "15:30", "equal"),
        ("3 pm", "3", "incomparable"),
        # Shares, proportions and bare decimals.
        ("12%", "12 percentage points", "incomparable"),
        ("0.5", "1/2", "equal"),
        ("0.5", "1/3", "incomparable"),
        ("one in five people", "20% of people", "equal"),
        ("3 out of 4", "75%", "equal"),
        ("1 in 10", "1 in 100", "differs"),
        ("3:1", "1:3", "differs"),
        ("a ratio of 1:20", "a ratio of 1:10", "differs"),
        # Other spellings of a number.
        ("minus 5 degrees Celsius", "-5 °C", "equal"),
        ("1.5 × 10^3 kg", "1,500 kg", "equal"),
        ("1.5 × 10⁶ kg", "1,500 kg", "differs"),
        ("10^6 cells", "1 million cells", "equal"),
        ("10 000 euros", "10,000 euros", "equal"),
        # Rates: 5 mg a day are 35 mg a week.
        ("5 mg daily", "5 mg weekly", "differs"),
        ("5 mg daily", "35 mg a week", "equal"),
        ("5 mg", "5 mg weekly", "equal"),
        ("100 requests per hour", "100 requests per minute", "differs"),
        ("5-10", "20-30", "differs"),
    ],
)
def test_quantities_agree_as_a_reader_would_say(claim: str, source: str, agreement: str) -> None:
    assert compare_quantities(only(claim), only(source)) == agreement


@pytest.mark.parametrize(
    ("claim", "source"), [("5551234567", "5551234568"), ("12345678901234567890", "12345678901234567891")]
)
def test_long_numbers_differ_by_their_last_digit(claim: str, source: str) -> None:
    # Both pairs are closer than a part in 10^9, and the second are the same float.
    assert compare_quantities(only(claim), only(source)) == "differs"
    assert compare_quantities(only(claim), only(f"{int(claim):,}")) == "equal"


def test_the_tolerance_widens_equality() -> None:
    # |104 - 100| / 104 = 0.038
    assert compare_quantities(only("104"), only("100"), tolerance=0.04) == "equal"
    assert compare_quantities(only("104"), only("100"), tolerance=0.03) == "differs"


def spelled(number: int) -> str:
    """Spell a number below a billion, independently of the reader."""
    small = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
    ]
    small += ["seventeen", "eighteen", "nineteen"]
    if number < 20:
        return small[number]
    if number < 100:
        ten = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"][number // 10 - 2]
        return ten + (f"-{small[number % 10]}" if number % 10 else "")
    for size, name, link in ((10**6, "million", " "), (1000, "thousand", " "), (100, "hundred", " and ")):
        if number >= size:
            rest = number % size
            return f"{spelled(number // size)} {name}" + (f"{link}{spelled(rest)}" if rest else "")
    raise AssertionError(number)


@given(st.integers(0, 10**9 - 1))
def test_every_integer_is_read_back_from_commas_and_from_words(number: int) -> None:
    assert parse_number(f"{number:,}") == number
    assert parse_number(spelled(number)) == number


@pytest.mark.parametrize("text", ["", "men", "5 men", "5 6", "MP3", "3.2.1", "-"])
def test_parse_number_rejects_what_is_not_only_a_number(text: str) -> None:
    assert parse_number(text) is None


@settings(max_examples=150)
@given(st.text() | PIECES)
def test_any_text_gives_ordered_quantities_that_equal_themselves(text: str) -> None:
    last_end = 0
    for quantity in find_quantities(text, find_dates(text)):
        assert last_end <= quantity.start < quantity.end <= len(text)
        assert quantity.hedge_start <= quantity.start
        assert compare_quantities(quantity, quantity) == "equal"
        last_end = quantity.end


@pytest.mark.parametrize(
    ("piece", "times"),
    [
        ("1,", 20_000),
        ("a", 200_000),
        ("twenty ", 20_000),
        ("1", 200_000),
        ("1-", 50_000),
        ("$", 50_000),
        ("(A ", 50_000),
        ("[1,", 50_000),
        ("1 000 ", 30_000),
        ("1:", 50_000),
        ("1 in ", 30_000),
        ("5 mg a ", 30_000),
        ("minus ", 30_000),
    ],
)
def test_hostile_text_takes_linear_time(piece: str, times: int) -> None:
    assert takes_linear_time(find_quantities, piece, times)
