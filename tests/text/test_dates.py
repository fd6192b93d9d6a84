from __future__ import annotations

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.processor_time import ends_within
from vouching.text.comparison import compare_dates
from vouching.text.dates import find_dates
from vouching.text.mentions import DateMention

PIECES = st.lists(
    st.sampled_from(
        [*"0123456789.,-–/' ", "May ", "in ", "1937", "19th", " century", "s", "BC", "years", "\ud800", "\0", "٣"]
    )
).map("".join)


def only(text: str) -> DateMention:
    dates = find_dates(text)
    assert len(dates) == 1, dates
    return dates[0]


@pytest.mark.parametrize(
    ("text", "year", "month", "day", "covered"),
    [
        ("on 3 May 1937.", 1937, 5, 3, "3 May 1937"),
        ("on May 3, 1937.", 1937, 5, 3, "May 3, 1937"),
        ("on May 3rd", None, 5, 3, "May 3rd"),
        ("in May 1937", 1937, 5, None, "May 1937"),
        ("3rd of May", None, 5, 3, "3rd of May"),
        ("on 2020-03-01.", 2020, 3, 1, "2020-03-01"),
        ("on 25/12/2020", 2020, 12, 25, "25/12/2020"),
        ("on 03/05/2020", 2020, 3, 5, "03/05/2020"),
        ("Sept. 5", None, 9, 5, "Sept. 5"),
        ("in March", None, 3, None, "March"),
        ("in 1937.", 1937, None, None, "1937"),
        ("opened 1937", 1937, None, None, "1937"),
        ("the 1921 Nobel Prize", 1921, None, None, "1921"),
        ("(1937)", 1937, None, None, "1937"),
        ("In 2010 sales rose", 2010, None, None, "2010"),
        ("in 44 BC", -44, None, None, "44 BC"),
        ("in AD 79", 79, None, None, "AD 79"),
    ],
)
def test_a_date_is_read_with_its_fields_and_exact_offsets(
    text: str, year: int | None, month: int | None, day: int | None, covered: str
) -> None:
    date = only(text)
    assert (date.kind, date.year, date.month, date.day) == ("date", year, month, day)
    assert text[date.start : date.end] == covered


@pytest.mark.parametrize(
    ("text", "kind", "first", "last"),
    [
        ("the 1990s", "decade", 1990, 1999),
        ("the '90s", "decade", 1990, 1999),
        ("the nineties", "decade", 1990, 1999),
        # The 19th century began on 1 January 1801.
        ("the 19th century", "century", 1801, 1900),
        ("the twenty-first century", "century", 2001, 2100),
        ("the first century BC", "century", -100, -1),
        ("1914-1918", "range", 1914, 1918),
        ("1914–18", "range", 1914, 1918),
        ("from 1914 to 1918", "range", 1914, 1918),
        ("between 1914 and 1918", "range", 1914, 1918),
    ],
)
def test_a_span_of_years_is_read_with_both_ends(text: str, kind: str, first: int, last: int) -> None:
    date = only(text)
    assert (date.kind, date.year, date.last_year) == (kind, first, last)


@pytest.mark.parametrize(
    ("text", "days", "approximate"),
    [
        ("three years", 3 * 365.25, False),
        ("10 days", 10, False),
        ("2 hours", 2 / 24, False),
        ("a decade", 3652.5, False),
        ("a five-year plan", 5 * 365.25, False),
        ("half a year", 365.25 / 2, False),
        ("two and a half weeks", 17.5, False),
        ("two weeks and two days", 16, False),
        ("about six months", 365.25 / 2, True),
        ("more than 10 days", 10, False),
        # A range counts as its middle.
        ("5-10 days", 7.5, True),
    ],
)
def test_a_duration_is_given_in_days(text: str, days: float, approximate: bool) -> None:
    date = only(text)
    assert (date.kind, date.days, date.approximate) == ("duration", pytest.approx(days), approximate)


@pytest.mark.parametrize(
    ("text", "part", "year"),
    [
        ("Q3 2021", "Q3", 2021),
        ("2021 Q3", "Q3", 2021),
        ("the third quarter of 2021", "Q3", 2021),
        ("spring 2019", "spring", 2019),
        ("the fall of 2019", "autumn", 2019),
    ],
)
def test_seasons_and_quarters_are_parts_of_a_year(text: str, part: str, year: int) -> None:
    date = only(text)
    assert (date.part, date.year) == (part, year)


@pytest.mark.parametrize(
    "text",
    [
        "2004 employees",
        "about 1500 people",
        "1200 miles",
        "$1937",
        "1,937",
        "1937.5",
        "a 1500-metre race",
        "of 1500 homes",
        "He may march in may",
        "May was glad",
        "March on Washington",
        "in his nineties",
        "once a year",
        "model X1937",
        "#1937",
        "99/99/2020",
        "1937 percent",
    ],
)
def test_counts_and_ordinary_words_are_not_dates(text: str) -> None:
    assert find_dates(text) == []


@pytest.mark.parametrize(
    ("claim", "source", "agreement"),
    [
        ("3 May 1937", "May 3, 1937", "equal"),
        ("1937", "in 1937", "equal"),
        ("2020-03-01", "1 March 2020", "equal"),
        ("03/05/2020", "5 March 2020", "equal"),
        ("03/05/2020", "3 May 2020", "equal"),
        ("03/05/2020", "4 May 2020", "differs"),
        ("Sept. 5", "September 5th", "equal"),
        ("the 1990s", "the nineties", "equal"),
        ("1914-18", "between 1914 and 1918", "equal"),
        ("on Monday", "Monday", "equal"),
        ("on Monday", "on Tuesday", "differs"),
        ("44 BC", "44 BC", "equal"),
        ("44 BC", "AD 44", "differs"),
        ("in 1937", "3 May 1937", "compatible"),
        ("in May 1937", "3 May 1937", "compatible"),
        ("May 3", "3 May 1937", "compatible"),
        ("the 1990s", "in 1994", "compatible"),
        ("the 20th century", "in 1994", "compatible"),
        ("the 20th century", "the 1990s", "compatible"),
        ("1914-1918", "in 1916", "compatible"),
        ("Q3 2021", "in August 2021", "compatible"),
        ("3 May 1937", "in 1937", "more_specific"),
        ("in 1916", "1914-1918", "more_specific"),
        ("in 1994", "the 1990s", "more_specific"),
        ("in August 2021", "Q3 2021", "more_specific"),
        ("in 1937", "in 1938", "differs"),
        ("3 May 1937", "4 May 1937", "differs"),
        ("3 May 1937", "in 1938", "differs"),
        ("in 1920", "1914-1918", "differs"),
        ("the 1990s", "in 2001", "differs"),
        # The year 1900 still belongs to the 19th century.
        ("the 20th century", "in 1900", "differs"),
        # Both ends of two ranges have to agree.
        ("1914-1918", "1914-1919", "differs"),
        ("from 1914 to 1919", "1914 until 1918", "differs"),
        ("1997 to 2007", "1997 to 2005", "differs"),
        ("1914 through 1918", "1914–1918", "equal"),
        ("5-10 years", "between 5 and 10 years", "equal"),
        ("10 to 13 years", "10 to 12 years", "differs"),
        ("5-10 years", "6 years", "equal"),
        ("6 years", "5-10 years", "compatible"),
        ("1914-1918", "1916-1920", "differs"),
        ("Q3 2021", "in May 2021", "differs"),
        ("spring 2019", "spring 2020", "differs"),
        ("in May", "in 1937", "incomparable"),
        ("three years", "in 1937", "incomparable"),
        ("on Monday", "in 1937", "incomparable"),
        ("12 months", "a year", "equal"),
        ("three years", "36 months", "equal"),
        ("10 days", "10 days", "equal"),
        ("10 days", "11 days", "differs"),
        # 1/101 = 1 % is within 2 %.
        ("100 days", "101 days", "equal"),
        # |9 - 10| / 10 = 0.1 is within 15 %; |8 - 10| / 10 = 0.2 is not.
        ("about 9 days", "10 days", "equal"),
        ("about 8 days", "10 days", "differs"),
    ],
)
def test_dates_agree_as_a_reader_would_say(claim: str, source: str, agreement: str) -> None:
    assert compare_dates(only(claim), only(source)) == agreement


@pytest.mark.parametrize(
    "text",
    ["(Rossi, 2001)", "(Rossi et al., 2001)", "(Smith 2020)", "(see Smith & Jones, 2020; Rossi, 2001a, pp. 3-5)"],
)
def test_the_year_of_a_reference_is_not_a_date(text: str) -> None:
    assert find_dates(text) == []


@pytest.mark.parametrize("text", ["(May 1937)", "(Spring 2019)", "(Since 1997)", "(1937)", "(opened in 1937)"])
def test_a_date_in_brackets_is_a_date(text: str) -> None:
    assert len(find_dates(text)) == 1


@given(st.dates())
def test_every_calendar_day_is_read_back_when_written_out(day: datetime.date) -> None:
    text = day.strftime("%B %d, ") + f"{day.year:04d}"
    date = only(text)
    assert (date.year, date.month, date.day) == (day.year, day.month, day.day)


@settings(max_examples=150)
@given(st.text() | PIECES)
def test_any_text_gives_ordered_dates_that_equal_themselves(text: str) -> None:
    last_end = 0
    for date in find_dates(text):
        assert last_end <= date.start < date.end <= len(text)
        assert compare_dates(date, date) == "equal"
        last_end = date.end


@pytest.mark.parametrize(
    "text", ["May " * 20_000, "a" * 200_000, "1937-" * 20_000, "1" * 200_000, "a year and " * 10_000, "(Abc " * 40_000]
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    with ends_within():  # quadratic work on these sizes would take minutes
        find_dates(text)
