"""Dates, durations and the order of events made wrong.

A length of time ("three years") is time, not number, as in the diagnosis of the embedded verifier. Left out: times of
day and dates whose day and month may be read either way.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from vouching.perturb.pool import CorpusPool
from vouching.perturb.records import Draft, Edit, in_case_of
from vouching.perturb.scene import Scene
from vouching.text.dates import DateMention

MONTHS = str.split("January February March April May June July August September October November December")
"""Names of the months."""
_WEEKDAYS = str.split("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_AGE = re.compile(r"[ -]?old\b| of age")
_LAST_YEAR = 2025
"""Years are not moved beyond this one: a year to come gives the change away."""
_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d\d)(?!\d)")
_DAY = re.compile(r"(?<![\d,])([1-9]|[12]\d|3[01])(?!\d)")
_ORDINAL_WORDS = str.split("thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth")
_SMALL = str.split("two three four five six seven eight nine ten eleven twelve")
_NUMBER = re.compile(rf"\d+(?!\w)|\b(?:{'|'.join(_SMALL)})\b", re.IGNORECASE)
_FLIPPED = {
    "before": "after", "after": "before", "prior to": "following", "early": "late", "late": "early",
    "earlier": "later", "later": "earlier", "following": "previous", "previous": "following",
}  # fmt: skip
_ORDER_WORDS = re.compile(
    r"\b(?:before|after|prior|following|previous|earlier|later|then|first|early|late|until)\b", re.IGNORECASE
)
"""Two of these in one claim hold each other: one alone turned makes no sense."""
_FIXED_ORDER = re.compile(
    r"\b(?:di(?:e[sd]?|ed|ying)|deaths?|dead|kill\w*|suicide|murder\w*|assassinat\w+|born|birth|nam(?:e[sd]?|ing)|titled|called|"
    r"labell?ed|pass\w* away|posthumous\w*|surviv\w+|retir\w+|complications|recover\w+|"
    r"suffer\w*|injur\w+|most|second|third|fourth|\w{3,}est)\b",
    re.IGNORECASE,
)
"""Where the order of things is fixed (nobody acts after death) or none of time ("named after", "largest after")."""
_OF_TIME = re.compile(r" (?:the )?(?:year |(?:early |late |mid-)?[12]\d{3}|[A-Z][a-z]+ (?:\d|[A-Z])|World War)")
_NOT_AFTER = "named|looked|look|looking|called|appeared|brought|came|modelled|modeled|take|takes|took|cared"
"""Words that make another sense with "after" or "before": "named after", "appeared before"."""
_LENGTH = (
    r" (?:an?|about|nearly|some|several|a few|two|three|four|five|six|ten|\d+) ?(?:\w+ )?"
    r"(?:second|minute|hour|day|week|month|year|decade)"
)
_ORDER = re.compile(
    "".join(rf"(?<!\b{word} )" for word in _NOT_AFTER.split("|"))
    + rf"\b(?P<order>before|prior to|after)\b(?! (?:the )?(?:court|judge|all)\b)(?!{_LENGTH})"
    rf"|\b(?P<part>early|late)(?=[ -](?:(?:the )?(?:1\d|20|{'|'.join(MONTHS)}|\d{{1,2}}(?:st|nd|rd|th))))"
    r"|(?:(?<=years )|(?<=months )|(?<=days )|(?<=a year ))(?P<later>later|earlier)\b(?! than)"
    r"|(?<=the )(?P<next>following|previous)(?= (?:year|month|week|day|season|summer|winter)\b)",
    re.IGNORECASE,
)


def date_shift(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Another year, decade, month, day or length of time: "in 1973" -> "in 1968", "three years" -> "five years"."""
    claim = scene.claim
    for date in claim.dates:
        if claim.text[max(0, date.start - 1) : date.start] in ("'", '"', "“", "‘"):
            continue  # a title
        if (
            _AGE.match(claim.text, date.end)
            or date.day_month_order_unknown
            or (claim.in_name(date.start, date.end) and date.month is None)
        ):
            continue
        for edit in _shifted(claim.text, date, rng):
            yield Draft((edit,))


def _shifted(text: str, date: DateMention, rng: random.Random) -> Iterator[Edit]:
    """Edits of one date, one for each part that can be moved."""
    written = text[date.start : date.end]
    years = list(_YEAR.finditer(written))
    if date.kind == "duration":
        yield from _other_length(text, date, rng)
    elif date.kind == "century":
        yield from _other_century(text, date, rng)
    elif years and date.kind in ("date", "decade", "range"):
        step = (
            10 * rng.choice((-3, -2, -1, 1, 2)) if date.kind == "decade" else rng.choice((-9, -7, -4, -3, -2, 2, 3, 5))
        )
        last = max(int(year.group()) for year in years)
        step = -abs(step) if last + step > _LAST_YEAR or last > _LAST_YEAR - 6 else step
        moved = _YEAR.sub(lambda year: str(int(year.group()) + step), written)
        if date.kind != "range" or len(years) == 2:
            yield Edit(date.start, date.end, moved) if date.kind == "range" else _one(date, years[0], step)
    for names in (MONTHS, _WEEKDAYS):
        for name in names:
            at = written.find(name)
            if at >= 0 and date.kind == "date":
                other = rng.choice([n for n in names if n != name])
                yield Edit(date.start + at, date.start + at + len(name), other)
    if date.day is not None and date.month is not None:
        day = next((d for d in _DAY.finditer(written) if int(d.group()) == date.day), None)
        if day and not re.match(r"st|nd|rd|th|[-./]", written[day.end() :]):
            other = rng.choice([n for n in range(1, 29) if abs(n - date.day) > 1])
            yield Edit(date.start + day.start(), date.start + day.end(), str(other))


def _one(date: DateMention, year: re.Match[str], step: int) -> Edit:
    return Edit(date.start + year.start(), date.start + year.end(), str(int(year.group()) + step))


def _other_length(text: str, date: DateMention, rng: random.Random) -> Iterator[Edit]:
    number = _NUMBER.search(text, date.start, date.end)
    if number is None or date.unit == "mixed" or date.first_days is not None:
        return
    word = number.group().lower()
    value = _SMALL.index(word) + 2 if word in _SMALL else int(word)
    if not 2 <= value <= 400:
        return
    factor = rng.choice((0.4, 0.5, 0.7, 1.5, 2.0, 2.5))
    moved = max(2, round(value * factor))
    moved = moved if abs(moved - value) >= 0.25 * value else value + max(2, value // 2)
    if word not in _SMALL:
        yield Edit(*number.span(), str(moved))
    elif moved <= 12:
        yield Edit(*number.span(), in_case_of(number.group(), _SMALL[moved - 2]))


def _other_century(text: str, date: DateMention, rng: random.Random) -> Iterator[Edit]:
    written = text[date.start : date.end]
    digits = re.match(r"(\d+)(st|nd|rd|th)", written)
    if digits and int(digits[1]) > 1:
        nth = int(digits[1]) + (rng.choice((-2, -1, 1)) if int(digits[1]) < 20 else rng.choice((-2, -1)))
        yield Edit(date.start, date.start + digits.end(), ordinal(max(nth, 1)))
    word = written.split()[0].split("-")[0]
    if word.lower() in _ORDINAL_WORDS:
        other = rng.choice([w for w in _ORDINAL_WORDS if w != word.lower()])
        yield Edit(date.start, date.start + len(word), in_case_of(word, other))


def ordinal(number: int) -> str:
    """A rank in digits.

    >>> ordinal(21), ordinal(12), ordinal(3)
    ('21st', '12th', '3rd')
    """
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def order_flip(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Turn the order of events: "before" -> "after", "two years later" -> "two years earlier", "early" -> "late"."""
    claim = scene.claim
    found = list(_ORDER.finditer(claim.text))
    if len(found) != 1 or len(_ORDER_WORDS.findall(claim.text)) != 1:
        return
    match = found[0]
    named = match.group()[0].islower() and claim.in_name(*match.span())
    if match["part"]:
        sure = len(claim.dates) == 1
    else:
        of_time = match["order"] and _OF_TIME.match(claim.text, match.end())
        sure = not claim.negations and (of_time or not _FIXED_ORDER.search(claim.text))
    if sure and not named:
        yield Draft((Edit(*match.span(), in_case_of(match.group(), _FLIPPED[match.group().lower()])),))
