"""Wrong numbers, units, bounds, dates, durations and orders of events, in the original notation.

A length of time ("three years") is time, not number, as in the diagnosis of the embedded verifier. Not supported:
ranks, times of day, proportions, ranges of numbers, numbers that belong to a name ("Boeing 747"), and dates with
ambiguous day and month.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from vouching.perturb.pool import CorpusPool
from vouching.perturb.records import Draft, Edit, in_case_of
from vouching.perturb.scene import ParsedText, Scene
from vouching.text.mentions import DateMention, Quantity
from vouching.text.number_forms import NUMBER_WORDS

SMALL_NUMBERS = str.split("two three four five six seven eight nine ten eleven twelve")
"""Words for 2 to 12."""
_TENS = str.split("twenty thirty forty fifty sixty seventy eighty ninety")
_SWAPPED_UNITS = {
    "million": "billion",
    "billion": "million",
    "thousand": "million",
    "trillion": "billion",
    "km": "miles",
    "kilometres": "miles",
    "kilometers": "miles",
    "miles": "kilometres",
    "metres": "feet",
    "meters": "feet",
    "feet": "metres",
    "kg": "tonnes",
    "kilograms": "tonnes",
    "tonnes": "kilograms",
    "tons": "kilograms",
    "mg": "g",
    "grams": "milligrams",
    "milligrams": "grams",
    "inches": "feet",
    "centimetres": "metres",
    "acres": "square miles",
    "hectares": "square kilometres",
    "mph": "km/h",
    "dollars": "euros",
    "euros": "dollars",
    "megawatts": "kilowatts",
    "kilowatts": "megawatts",
    "gigabytes": "megabytes",
    "megabytes": "gigabytes",
    "GB": "MB",
    "MB": "GB",
    "litres": "gallons",
    "gallons": "litres",
    "cm": "m",
    "bn": "m",
}
_SWAPPED_SIGNS = {"$": "€", "£": "$", "€": "$"}
_SWAPPED_BOUNDS = {
    "more than": "fewer than",
    "over": "under",
    "at least": "at most",
    "at most": "at least",
    "less than": "more than",
    "fewer than": "more than",
    "up to": "more than",
    "nearly": "more than",
    "almost": "more than",
    "under": "over",
    "no more than": "no fewer than",
    "no fewer than": "no more than",
    "as many as": "fewer than",
    "a minimum of": "a maximum of",
    "a maximum of": "a minimum of",
}
_BOUND = re.compile(
    rf"(?<![\w-])(?<!\d )(?<!added )(?:{'|'.join(sorted(_SWAPPED_BOUNDS, key=len, reverse=True))})\Z", re.IGNORECASE
)
_DIGITS = re.compile(r"\d[\d,.\u00a0]*")
_MIN_CHANGE, _MAX_CHANGE = 0.2, 0.6
"""Relative change of a number: beyond "about" and rounding, but of the same order."""
_RANKING = frozenset(str.split("ranked no number part chapter season episode volume route page week day"))
RANGE_BEFORE = re.compile(
    r"(?:\bbetween(?: \w+)?"
    r"|(?:\d(?:%| percent| ?[a-z]+illion)?|\b(?:one|two|three|four|five|ten|twenty)) (?:and|to|or)(?: \w+)?) \Z"
)
"""Text before the upper end of a range."""
_RANGE_AFTER = re.compile(r" (?:and|to|or) (?:about |approximately )?\$?\d")


def usable_quantities(claim: ParsedText) -> list[Quantity]:
    """Independent single amounts: no rank, time, ratio or part of a name."""
    return [q for q in claim.quantities if _stands_alone(claim, q)]


def _stands_alone(claim: ParsedText, quantity: Quantity) -> bool:
    text, start, end = claim.text, quantity.start, quantity.end
    if quantity.low != quantity.high or quantity.kind in ("ordinal", "multiple", "fraction"):
        return False
    if quantity.dimension in ("time_of_day", "proportion", "ratio") and quantity.kind != "percent":
        return False
    before = next((word for word in reversed(claim.words) if word.end <= start), None)
    opens = {first for first, _ in claim.sentences}
    names_it = (
        before is not None
        and text[before.start].isupper()
        and start - before.end <= 1
        and (before.start not in opens or text[end + 1 : end + 2].isupper())
    )
    ranks_it = before is not None and before.lower in _RANKING
    year_like = re.fullmatch(r"(?:1[5-9]|20)\d\d", text[start:end]) is not None
    if names_it or ranks_it or year_like or RANGE_BEFORE.search(text[:start]) or _RANGE_AFTER.match(text, end):
        return False
    left, right = text[max(0, start - 1) : start], text[end : end + 1]
    glued = left in ("-", "/", ":", "#", "–") or right in ("/", ":", "–", "'", "’")
    hyphen = right == "-" and not text[end + 1 : end + 2].isalpha()
    return not (glued or hyphen or claim.in_name(start, end))


def number_change(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Another number in the same notation: "15%" -> "35%", "90,932" -> "60,932", "twelve" -> "seven"."""
    for quantity in usable_quantities(scene.claim):
        edit = _other_number(scene.claim.text, quantity, rng)
        if edit is not None:
            yield Draft((edit,))


def _other_number(text: str, quantity: Quantity, rng: random.Random) -> Edit | None:
    digits = _DIGITS.search(text, quantity.start, quantity.end)
    if digits is None:
        return _other_word(text, quantity, rng)
    written = digits.group().rstrip(",.\u00a0")
    most = 100.0 if quantity.kind == "percent" and quantity.low <= 100 else float("inf")
    for _ in range(8):
        changed = _with_another_digit(written, rng)
        value = _plain(changed)
        old = _plain(written)
        if value is None or not old or value > most:
            continue
        if _MIN_CHANGE <= abs(value - old) / max(value, old) <= _MAX_CHANGE:
            return Edit(digits.start(), digits.start() + len(written), changed)
    return None


def _with_another_digit(written: str, rng: random.Random) -> str:
    """Change one of the two leading digits; a number below 10 moves by up to three."""
    places = [at for at, sign in enumerate(written) if sign.isdigit()]
    if len(places) == 1:
        value = int(written)
        return str(rng.choice([n for n in range(max(2, value - 3), value + 4) if n != value]))
    at = rng.choice([place for place in places[:2] if written[:1] != "0" or place] or places)
    choices = [d for d in "123456789" if d != written[at] and (at or d != "0")]
    return f"{written[:at]}{rng.choice(choices)}{written[at + 1 :]}"


def _plain(written: str) -> float | None:
    try:
        return float(written.replace(",", "").replace("\u00a0", ""))
    except ValueError:
        return None


def _other_word(text: str, quantity: Quantity, rng: random.Random) -> Edit | None:
    for match in re.finditer(r"[A-Za-z]+", text[quantity.start : quantity.end]):
        word = match.group().lower()
        family = _TENS if word in _TENS else SMALL_NUMBERS if word in SMALL_NUMBERS else []
        value = NUMBER_WORDS[word].value if family else 0.0
        low, high = max(1.0, _MIN_CHANGE * value), max(3.0, 0.6 * value)
        near = [w for w in family if w != word and low <= abs(NUMBER_WORDS[w].value - value) <= high]
        if near:
            start = quantity.start + match.start()
            return Edit(start, start + len(word), in_case_of(match.group(), rng.choice(near)))
    return None


def unit_change(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Another unit or scale for the same number: "5 km" -> "5 miles", "3 million" -> "3 billion", "$" -> "€"."""
    text = scene.claim.text
    for quantity in usable_quantities(scene.claim):
        for word in re.finditer(r"[A-Za-z]+|[$£€]", text[quantity.start : quantity.end]):
            other = _SWAPPED_UNITS.get(word.group()) or _SWAPPED_SIGNS.get(word.group())
            at = quantity.start + word.start()
            edit = Edit(at, at + len(word.group()), other or "")
            if other and text[max(0, at - 1) : at] not in ("-", "S", "A", "C", "K"):
                yield Draft((edit,))


def bound_change(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """The opposite bound: "more than 50" -> "fewer than 50", "at least" -> "at most"."""
    claim = scene.claim
    for quantity in usable_quantities(claim):
        found = _BOUND.search(claim.text[: quantity.start].rstrip())
        if found is None:
            continue
        other = _SWAPPED_BOUNDS[found.group().lower()]
        counted = quantity.dimension == "count" and quantity.kind == "number"
        other = other if counted else other.replace("fewer", "less")
        if not (other == "fewer than" and quantity.low <= 1):
            yield Draft((Edit(*found.span(), in_case_of(found.group(), other)),))


MONTHS = str.split("January February March April May June July August September October November December")
_WEEKDAYS = str.split("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_AGE = re.compile(r"[ -]?old\b| of age")
_LAST_YEAR = 2025
"""Years are not moved beyond this one: a future year would give the change away."""
_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d\d)(?!\d)")
_DAY = re.compile(r"(?<![\d,])([1-9]|[12]\d|3[01])(?!\d)")
_ORDINAL_WORDS = str.split("thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth")
_NUMBER = re.compile(rf"\d+(?!\w)|\b(?:{'|'.join(SMALL_NUMBERS)})\b", re.IGNORECASE)
_FLIPPED = {
    "before": "after",
    "after": "before",
    "prior to": "following",
    "early": "late",
    "late": "early",
    "earlier": "later",
    "later": "earlier",
    "following": "previous",
    "previous": "following",
}
_ORDER_WORDS = re.compile(
    r"\b(?:before|after|prior|following|previous|earlier|later|then|first|early|late|until)\b", re.IGNORECASE
)
"""With two of these in a claim, changing one makes no sense."""
_FIXED_ORDER = re.compile(
    r"\b(?:di(?:e[sd]?|ed|ying)|deaths?|dead|kill\w*|suicide|murder\w*|assassinat\w+|born|birth|nam(?:e[sd]?|ing)|titled|called|"
    r"labell?ed|pass\w* away|posthumous\w*|surviv\w+|retir\w+|complications|recover\w+|"
    r"suffer\w*|injur\w+|most|second|third|fourth|\w{3,}est)\b",
    re.IGNORECASE,
)
"""Where the order is fixed (no one acts after death) or not one of time ("named after", "largest after")."""
_OF_TIME = re.compile(r" (?:the )?(?:year |(?:early |late |mid-)?[12]\d{3}|[A-Z][a-z]+ (?:\d|[A-Z])|World War)")
_NOT_AFTER = "named|looked|look|looking|called|appeared|brought|came|modelled|modeled|take|takes|took|cared"
"""Words with another sense before "after" or "before": "named after", "appeared before"."""
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
    written = text[date.start : date.end]
    years = list(_YEAR.finditer(written))
    if date.kind == "duration":
        yield from _other_length(text, date, rng)
    elif date.kind == "century":
        yield from _other_century(text, date, rng)
    elif years and date.kind in ("date", "decade", "range"):
        steps = (-30, -20, -10, 10, 20) if date.kind == "decade" else (-9, -7, -4, -3, -2, 2, 3, 5)
        step = rng.choice(steps)
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
    value = SMALL_NUMBERS.index(word) + 2 if word in SMALL_NUMBERS else int(word)
    if not 2 <= value <= 400:
        return
    factor = rng.choice((0.4, 0.5, 0.7, 1.5, 2.0, 2.5))
    moved = max(2, round(value * factor))
    moved = moved if abs(moved - value) >= 0.25 * value else value + max(2, value // 2)
    if word not in SMALL_NUMBERS:
        yield Edit(*number.span(), str(moved))
    elif moved <= 12:
        yield Edit(*number.span(), in_case_of(number.group(), SMALL_NUMBERS[moved - 2]))


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
    """An ordinal in digits: 21 -> "21st"."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def order_flip(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """Reverse the order of events: "before" -> "after", "two years later" -> "two years earlier", "early" -> "late"."""
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
