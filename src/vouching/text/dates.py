"""Dates of a text: days, months, years, decades, centuries, spans of years and durations, with exact offsets.

A bare four-digit number is a year if the words next to it allow it: "opened in 1937", but not "1200 miles" or "2004
employees". "the '90s" and "the nineties" are taken to be of the twentieth century. Not supported: relative dates ("last
week"), clock times, holidays, calendars other than the Gregorian, ranges of days ("3-5 May" is read as 5 May), years
outside 1000 to 2100 without an era, rates ("once a year"), and durations given by two dates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from vouching.text.bounds import read_date_bound, read_hedge
from vouching.text.mentions import DateMention
from vouching.text.number_forms import CITATION, NUMBER_WORDS
from vouching.text.numerals import Numeral, find_numerals
from vouching.text.units import Unit, currency_before, unit_after, unit_called
from vouching.text.words import word_after, word_before, word_list

YEAR = r"(?:1\d{3}|20\d{2}|2100)"
"""Pattern of a four-digit year."""

_STRONG = frozenset(
    word_list("since during until till circa c ca early late mid year summer spring autumn winter season")
)
_PREPOSITIONS = frozenset(word_list("in by of from before after to and between through or around")) | _STRONG
_COUNTING = frozenset(
    word_list("about approximately roughly nearly almost some over under than least most only exactly")
)
_COUNTED = frozenset(
    word_list(
        "people percent men women children soldiers troops employees workers students members residents inhabitants "
        "copies votes points units seats houses homes species dead wounded calories rpm horses ships aircraft cars"
    )
)
_FUNCTION_WORDS = frozenset(
    word_list(
        "was were is has had as and or but when while where who which that the a an to in on at by for with from "
        "of after before until he she it they his her its their this these saw became began made "
        "won led took came went under because during against between onwards census series elections olympics games"
    )
)


def is_year(text: str, start: int, end: int) -> bool:
    """Decide from its neighbours whether the four digits at ``start..end`` are a year.

    >>> is_year("opened in 1937 by", 10, 14), is_year("some 1200 miles", 5, 9)
    (True, False)
    """
    if _is_glued(text, start, end) or currency_before(text, start):
        return False
    before, after = word_before(text, start), word_after(text, end)
    compared = before == "than" and _THAN.search(text, 0, start) is not None
    if (before in _COUNTING and not compared) or after in _COUNTED or after in NUMBER_WORDS or unit_after(text, end):
        return False
    if not after or not after.islower() or before in _STRONG or compared:
        return True
    if before == "in" and text[start : start + 2] in ("19", "20"):
        return True
    plural = after.endswith("s") and not after.endswith(("ss", "us", "is")) and after not in _FUNCTION_WORDS
    if before in _PREPOSITIONS or before == "the":
        return not plural
    return after in _FUNCTION_WORDS or after.endswith("ed")


_THAN = re.compile(r"\b(?:later|earlier) than \Z")
_GLUED_BEFORE = re.compile(r"(?:\w|[\d\w][-–./,:]|[#№+@/_.]|\bNo\.? ?)\Z")
_GLUED_AFTER = re.compile(r"\w|[%°]|[,.:/]\d|-[\w]|[-–]\d| ?[€£¥₹$](?!\d)")


def _is_glued(text: str, start: int, end: int) -> bool:
    return bool(_GLUED_BEFORE.search(text, max(0, start - 4), start) or _GLUED_AFTER.match(text, end))


_DAY_SECONDS = 86_400.0
_RANGE_GAPS = frozenset(("-", "–", " - ", " – ", " to ", " or "))
_COMPOUND_GAPS = frozenset((" ", ", ", " and ", ", and "))
_FRACTION_OF = re.compile(r" (?:of )?an?(?= )")
_ONE_UNIT = re.compile(r"\b[Aa]n? (hour|day|week|fortnight|month|year|decade|century|millennium)\b(?!['’])")
_ALWAYS_A_LENGTH = frozenset(("fortnight", "decade", "century", "millennium"))
_LENGTH_PREPOSITIONS = frozenset(
    word_list(
        "for in within after about nearly over than least lasted took lasting almost around under roughly "
        "approximately takes spent before"
    )
)


def find_durations(text: str, numerals: Sequence[Numeral]) -> list[DateMention]:
    """Find every duration of a text, given its numerals (see ``find_numerals``).

    >>> from vouching.text.numerals import find_numerals
    >>> find_durations("after 10 days", find_numerals("after 10 days"))[0].days
    10.0
    """
    found = [*_counted(text, numerals), *_single(text)]
    found.sort(key=lambda duration: duration.start)
    joined: list[DateMention] = []
    for duration in found:
        if joined and duration.start < joined[-1].end:
            continue
        if joined and _continues(text, joined[-1], duration):
            joined[-1] = _sum(joined[-1], duration)
        else:
            joined.append(duration)
    return joined


def _counted(text: str, numerals: Sequence[Numeral]) -> Iterator[DateMention]:
    previous: Numeral | None = None
    for numeral in numerals:
        unit_and_end = _time_unit(text, numeral)
        if unit_and_end:
            unit, end = unit_and_end
            low = previous if previous and _is_range(text, previous, numeral) else numeral
            duration = _duration(text, low.start, end, (low.value + numeral.value) / 2, unit, low is not numeral)
            if low is not numeral:
                first, last = (unit.to_base(count) / _DAY_SECONDS for count in (low.value, numeral.value))
                duration = replace(duration, first_days=first, last_days=last)
            yield duration
        previous = numeral


def _is_range(text: str, low: Numeral, high: Numeral) -> bool:
    if low.value >= high.value or high.start - low.end > len(" and "):
        return False
    gap = text[low.end : high.start]
    return gap in _RANGE_GAPS or (gap == " and " and word_before(text, low.start) == "between")


def _time_unit(text: str, numeral: Numeral) -> tuple[Unit, int] | None:
    if numeral.form == "fraction":
        article = _FRACTION_OF.match(text, numeral.end)
        found = unit_after(text, article.end()) if article else None
    else:
        found = unit_after(text, numeral.end) if numeral.form == "cardinal" else None
    return found if found and found[0].dimension == "time" else None


def _single(text: str) -> Iterator[DateMention]:
    for match in _ONE_UNIT.finditer(text):
        unit = unit_called(match.group(1))
        alone = match.start() == 0 or word_before(text, match.start()) in _LENGTH_PREPOSITIONS
        if unit and (alone or unit.name in _ALWAYS_A_LENGTH):
            yield _duration(text, match.start(), match.end(), 1.0, unit, approximate=False)


def _duration(text: str, start: int, end: int, count: float, unit: Unit, approximate: bool) -> DateMention:
    hedge = read_hedge(text, start, end)
    days = unit.to_base(count) / _DAY_SECONDS
    loose = approximate or hedge.approximate
    return DateMention(
        start,
        end,
        "duration",
        days=days,
        unit=unit.name,
        approximate=loose,
        bound=hedge.bound,
        precise=hedge.precise,
        hedge_start=hedge.start,
        hedges=hedge.words,
    )


def _continues(text: str, first: DateMention, second: DateMention) -> bool:
    """Whether the second duration adds a smaller unit to the first, as in "two years and three months"."""
    if second.start - first.end > len(", and ") or text[first.end : second.start] not in _COMPOUND_GAPS:
        return False
    first_unit, second_unit = unit_called(first.unit or ""), unit_called(second.unit or "")
    return first_unit is not None and second_unit is not None and second_unit.factor < first_unit.factor


def _sum(first: DateMention, second: DateMention) -> DateMention:
    days = (first.days or 0.0) + (second.days or 0.0)
    first = replace(first, first_days=None, last_days=None)
    return replace(first, end=second.end, days=days, unit="mixed", approximate=first.approximate or second.approximate)


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
        # Earlier patterns are more specific, so the first to match a stretch keeps it.
        if not any(taken[mention.start : mention.end]):
            taken[mention.start : mention.end] = b"\x01" * (mention.end - mention.start)
            found.append(_bounded(text, mention))
    found.sort(key=lambda mention: mention.start)
    return found


def _bounded(text: str, mention: DateMention) -> DateMention:
    if mention.kind in ("duration", "range"):
        return mention
    hedge = read_date_bound(text, mention.start, mention.end)
    if hedge.bound == "exact":
        return mention
    return replace(mention, bound=hedge.bound, hedge_start=hedge.start, hedges=hedge.words)


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


# What a text must contain for a pattern to be worth a scan; most sentences contain none of it.
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
