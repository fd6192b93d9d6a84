"""Dates of a text: days, months, years, decades, centuries, spans of years and durations, at exact offsets.

Left out: relative dates ("last week", "the next day"), clock times, holidays, calendars other than the Gregorian, and
ranges of days ("3-5 May" is read as 5 May). "the '90s" and "the nineties" are taken to be of the twentieth century.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from vouching.text.date_comparison import compare_dates
from vouching.text.digits import CITATION
from vouching.text.durations import find_durations
from vouching.text.mentions import DateMention
from vouching.text.neighbours import word_before, word_list
from vouching.text.number_words import NUMBER_WORDS
from vouching.text.numerals import find_numerals
from vouching.text.years import YEAR, is_year

__all__ = ["DateMention", "compare_dates", "find_dates"]

_MONTH_NAMES = word_list("january february march april may june july august september october november december")
_MONTHS = {
    spelling: number
    for number, name in enumerate(_MONTH_NAMES, start=1)
    for spelling in (name, name[:3], "sept" if number == 9 else name)
}
_WEEKDAYS = word_list("mon tue wed thu fri sat sun")
_QUARTERS = {"first": "Q1", "second": "Q2", "third": "Q3", "fourth": "Q4"}
_TENS = word_list("twenties thirties forties fifties sixties seventies eighties nineties")
# A look-behind placed after the first letter checks what stands before it, yet leaves the pattern a fixed first letter
# to search for, which makes the scan several times faster than a leading boundary does.
_MONTH = r"(?P<month>[JFMASOND](?<!\w.)[a-z]{2,8})(?![a-z])\.?"
_ERA = r"(?P<era>BCE?\b|B\.C\.(?:E\.)?|CE\b|AD\b|A\.D\.)"
_DAY = r"(?P<day>\d(?<![\w.,/:].)\d?(?!\d))(?:st|nd|rd|th)?"
_TWO = r"(?:0?[1-9]|[12]\d|3[01])"
_NEEDS_NEIGHBOUR = frozenset(("May", "March", "August", "Mar", "Jan", "Dec", "Sept", "Sep", "Jun", "Jul", "Aug", "Apr"))
_BEFORE_MONTH = frozenset(
    word_list("in by since until till of last next early late mid during from through and to this that")
)

_CITATION = re.compile(CITATION)

_Builder = Callable[[str, "re.Match[str]"], DateMention | None]


def find_dates(text: str) -> list[DateMention]:
    """Find every date, span of years and duration of a text, in order and without overlap.

    >>> [(date.year, date.month, date.day) for date in find_dates("on 3 May 1937")]
    [(1937, 5, 3)]
    """
    taken = bytearray(len(text))
    for citation in _CITATION.finditer(text):
        taken[citation.start() : citation.end()] = b"\x01" * (citation.end() - citation.start())
    found: list[DateMention] = []
    for mention in _candidates(text):
        # Earlier patterns are the more specific ones, so the first to claim a stretch keeps it.
        if not any(taken[mention.start : mention.end]):
            taken[mention.start : mention.end] = b"\x01" * (mention.end - mention.start)
            found.append(mention)
    found.sort(key=lambda mention: mention.start)
    return found


def _candidates(text: str) -> Iterator[DateMention]:
    present = {cue for cue, sign in _CUES.items() if sign.search(text)}
    for cue, pattern, build in _PATTERNS:
        for match in pattern.finditer(text) if cue in present else ():
            mention = build(text, match)
            if mention:
                yield mention
    yield from find_durations(text, find_numerals(text))


def _year(match: re.Match[str]) -> int | None:
    parts = match.groupdict()
    if not parts.get("year"):
        return None
    return -int(parts["year"]) if (parts.get("era") or "").startswith("B") else int(parts["year"])


def _full_date(text: str, match: re.Match[str]) -> DateMention | None:
    parts = match.groupdict()
    month = _MONTHS.get(parts["month"].lower()) if parts.get("month") else None
    if parts.get("month") and month is None:
        return None
    day = int(parts["day"]) if parts.get("day") else None
    if day is not None and not 1 <= day <= 31:
        return None
    end = match.end()
    if text[end - 1] == "." and not parts.get("era"):
        end -= 1
    return DateMention(match.start(), end, "date", _year(match), month, day)


def _bare_month(text: str, match: re.Match[str]) -> DateMention | None:
    if match.group("month") in _NEEDS_NEIGHBOUR and word_before(text, match.start()) not in _BEFORE_MONTH:
        return None
    return _full_date(text, match)


def _iso_date(_: str, match: re.Match[str]) -> DateMention | None:
    year, month, day = map(int, match.group(1, 2, 3))
    return DateMention(match.start(), match.end(), "date", year, month, day) if 1 <= month <= 12 and day >= 1 else None


def _slashed_date(_: str, match: re.Match[str]) -> DateMention | None:
    first, second, year = map(int, match.group(1, 2, 3))
    mention = DateMention(match.start(), match.end(), "date", year, first, second)
    if not first or first > 31 or (first > 12 and second > 12):
        return None
    if first > 12:
        return replace(mention, month=second, day=first)
    return replace(mention, day_month_order_unknown=second <= 12 and first != second)


def _weekday(_: str, match: re.Match[str]) -> DateMention:
    return DateMention(match.start(), match.end(), "date", weekday=_WEEKDAYS.index(match.group()[:3].lower()))


def _part_of_year(_: str, match: re.Match[str]) -> DateMention:
    part = match.group("part").lower()
    part = _QUARTERS.get(part.split()[0], part.upper() if part.startswith("q") else part)
    return DateMention(match.start(), match.end(), "date", _year(match), part="autumn" if part == "fall" else part)


def _decade(text: str, match: re.Match[str]) -> DateMention | None:
    written = match.group("decade").lower()
    if written.isdecimal():
        year = int(written) if len(written) == 4 else 1900 + int(written)
    elif word_before(text, match.start()) in ("his", "her", "their", "my", "your"):
        return None
    elif written in _TENS:
        year = 1920 + 10 * _TENS.index(written)
    else:
        return None
    return DateMention(match.start(), match.end(), "decade", year, last_year=year + 9)


def _century(_: str, match: re.Match[str]) -> DateMention | None:
    written = match.group("nth").lower()
    word = NUMBER_WORDS.get(written.removeprefix("twenty-"))
    if written[0].isdigit():
        nth = int(written[:-2])
    elif word and word.role == "ordinal":
        nth = int(word.value) + (20 if written.startswith("twenty-") else 0)
    else:
        return None
    if nth == 0:
        return None
    first = -100 * nth if (match.group("era") or "").startswith("B") else 100 * (nth - 1) + 1
    return DateMention(match.start(), match.end(), "century", first, last_year=first + 99)


def _year_range(text: str, match: re.Match[str]) -> DateMention | None:
    first, last = match.group("first"), match.group("last")
    worded = match.group("gap").strip()
    before = word_before(text, match.start())
    if (worded == "and" and before != "between") or (worded.isalpha() and len(last) == 2):
        return None
    last_year = int(first[: 4 - len(last)] + last)
    if last_year <= int(first):
        return None
    return DateMention(match.start(), match.end(), "range", int(first), last_year=last_year)


def _bare_year(text: str, match: re.Match[str]) -> DateMention | None:
    if not is_year(text, match.start(), match.end()):
        return None
    return DateMention(match.start(), match.end(), "date", int(match.group()))


# What a text must hold for a pattern to be worth a scan: most sentences hold none of it.
_CUES = {
    "digit": re.compile(r"\d"),
    "year": re.compile(r"\d{3}"),
    "month": re.compile("Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"),
    "weekday": re.compile("day"),
    "tens": re.compile("ties"),
    "century": re.compile("entury"),
}
_MONTH_YEAR = rf"(?P<year>\d{{3,4}})(?:\ ?{_ERA})?(?![\w/]|[-,.]\d)"
_PATTERNS: tuple[tuple[str, re.Pattern[str], _Builder], ...] = tuple(
    (cue, re.compile(pattern), build)
    for cue, pattern, build in (
        ("year", r"([12](?<![\w./-].)\d{3})[-/.](\d{2})[-/.]([0-2]\d|3[01])(?![\d-])", _iso_date),
        ("year", rf"(\d(?<![\w./-].)\d?)[/.]({_TWO})[/.]([12]\d{{3}})(?!\w)", _slashed_date),
        ("month", rf"{_DAY}(?: of)?[ -]{_MONTH}(?:(?:,? | of |-){_MONTH_YEAR})?", _full_date),
        ("month", rf"{_MONTH} {_DAY}(?![\d:%]|[.,/]\d)(?:,? {_MONTH_YEAR})?", _full_date),
        ("month", rf"{_MONTH},?(?: of)? {_MONTH_YEAR}", _full_date),
        ("month", rf"{_MONTH}", _bare_month),
        (
            "year",
            r"\b(?P<part>[Ss]pring|[Ss]ummer|[Aa]utumn|[Ff]all|[Ww]inter)(?: of)?,? (?P<year>[12]\d{3})\b",
            _part_of_year,
        ),
        ("year", r"(?P<year>[12](?<!\w.)\d{3}) (?P<part>Q[1-4])\b", _part_of_year),
        ("digit", r"(?P<part>Q(?<!\w.)[1-4])(?:(?: of|,)? ?(?:FY ?)?(?P<year>[12]\d{3}))?\b", _part_of_year),
        (
            "year",
            r"\b(?P<part>(?:[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth) quarter) of (?P<year>[12]\d{3})\b",
            _part_of_year,
        ),
        ("weekday", r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b", _weekday),
        ("year", r"(?P<decade>[12](?<![\w.,$€£].)\d{2}0)(?:'|’)?s\b", _decade),
        ("digit", r"['’](?<!\w.)(?P<decade>\d0)s\b", _decade),
        ("tens", r"(?P<decade>[TFSENtfsen](?<!\w.)[a-z]{3,5}ties)\b", _decade),
        (
            "century",
            r"(?P<nth>\d(?<!\w.)\d?(?:st|nd|rd|th)|[A-Za-z](?<!\w.)[a-z]++(?:-[a-z]++)?)[ -][Cc]entury\b"
            rf"(?: {_ERA})?",
            _century,
        ),
        (
            "year",
            rf"(?P<first>{YEAR})(?<![\w.,$€£/-]\d{{4}})(?P<gap>[-–—/]| [-–] | (?:to|and|until|till|through) )"
            rf"(?P<last>{YEAR}|\d\d)"
            r"(?![\w%/]|[-,.]\d)",
            _year_range,
        ),
        ("digit", rf"(?P<year>\d(?<![\w.,].)\d{{0,3}}) ?{_ERA}", _full_date),
        ("digit", r"(?P<era>A(?<!\w.)(?:D|\.D\.)) ?(?P<year>\d{1,4})\b", _full_date),
        ("year", rf"{YEAR}(?<!\w\d{{4}})(?!\w)", _bare_year),
    )
)
