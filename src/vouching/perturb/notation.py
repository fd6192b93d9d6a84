"""Numbers, units and dates in another notation: the same value, or a marked rounding.

Not supported: currency conversion, and amounts that other words of the claim depend on (a range, a hyphenated unit).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from vouching.perturb.pool import CorpusPool
from vouching.perturb.records import Draft, Edit, in_case_of
from vouching.perturb.scene import Scene
from vouching.perturb.values import MONTHS, RANGE_BEFORE, SMALL_NUMBERS, usable_quantities
from vouching.text.mentions import DateMention, Quantity
from vouching.text.units import is_difference, unit_called

_CENTURIES = str.split("fifteenth sixteenth seventeenth eighteenth nineteenth twentieth")
_SHARES = {
    "50%": "half",
    "25%": "a quarter",
    "75%": "three quarters",
    "20%": "one fifth",
    "10%": "one tenth",
    "33%": "about one third",
    "50 percent": "half",
    "25 percent": "a quarter",
    "75 percent": "three quarters",
    "half": "50%",
    "one third": "about 33%",
    "one-third": "about 33%",
    "two thirds": "about 67%",
    "two-thirds": "about 67%",
    "a third": "about 33%",
    "a quarter": "25%",
    "three-quarters": "75%",
    "three quarters": "75%",
    "one-quarter": "25%",
    "one fifth": "20%",
    "one-fifth": "20%",
}
_LONGEST_FIRST = "|".join(sorted(map(re.escape, _SHARES), key=len, reverse=True))
_SHARE = re.compile(rf"(?<![\w.-])(?:{_LONGEST_FIRST})(?= of (?:the|all|its|their|his|her)\b)")
_PERCENT = re.compile(r"(\d[\d.,]*)(?:%| %| percent| per cent)")
_SCALED = re.compile(r"(\d+(?:\.\d+)?) ?(million|billion)")
_WHOLE = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")
_SCALES = {"million": 1_000_000, "billion": 1_000_000_000}
_CONVERSIONS = {
    "km": "miles",
    "mile": "kilometres",
    "m": "feet",
    "ft": "metres",
    "kg": "pounds",
    "lb": "kilograms",
    "hectare": "acres",
    "acre": "hectares",
    "celsius": "°F",
    "fahrenheit": "°C",
    "inch": "centimetres",
    "mph": "km/h",
    "km_h": "mph",
    "sq_mile": "square kilometres",
    "sq_km": "square miles",
    "gallon": "litres",
}
_LENGTHS = {
    "year": ("months", 12, 4),
    "hour": ("minutes", 60, 5),
    "decade": ("years", 10, 9),
    "day": ("hours", 24, 4),
    "week": ("days", 7, 6),
    "century": ("years", 100, 9),
}
_NO_ABOUT_AFTER = frozenset(
    str.split("""the a an its his her their these those this that first last another every each other only exactly
    all top""")
)
_DAY_FIRST = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)? ({'|'.join(MONTHS)})(?:,? (\d{{4}}))?")
_MONTH_FIRST = re.compile(rf"({'|'.join(MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?")


def number_format(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """The same number in another notation: "1.2 million" -> "1,200,000", "15%" -> "15 percent", "12" -> "twelve"."""
    claim = scene.claim
    for match in _SHARE.finditer(claim.text):
        yield Draft((Edit(*match.span(), _SHARES[match.group()]),))
    for quantity in usable_quantities(claim):
        edit = _another_notation(claim.text, quantity)
        if edit is not None and not _SHARE.match(claim.text, quantity.start):
            yield Draft((edit,))


def _another_notation(text: str, quantity: Quantity) -> Edit | None:
    start, end = quantity.start, quantity.end
    written = text[start:end]
    sign = written[0] if written[0] in "$£€" else ""
    bare = written.removeprefix(sign)
    if percent := _PERCENT.fullmatch(bare):
        return Edit(start, end, f"{percent[1]} percent" if bare.endswith("%") else f"{percent[1]}%")
    if scaled := _SCALED.fullmatch(bare):
        value = round(float(scaled[1]) * _SCALES[scaled[2]])
        return Edit(start, end, f"{sign}{value:,}") if quantity.low < 1e12 else None
    if _WHOLE.fullmatch(bare):
        value = int(bare.replace(",", ""))
        for word, scale in reversed(_SCALES.items()):
            if value >= scale and value % (scale // 100) == 0:
                return Edit(start, end, f"{sign}{value / scale:g} {word}")
        if not sign and not quantity.unit and 2 <= value <= 12 and text[end : end + 1] != "-":
            return Edit(start, end, SMALL_NUMBERS[value - 2])
    if written.lower() in SMALL_NUMBERS and start and text[end : end + 1] != "-":
        return Edit(start, end, str(SMALL_NUMBERS.index(written.lower()) + 2))
    return None


def number_rounded(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """A marked rounding: "90,932" -> "about 91,000"; not under a negation, which reverses its effect."""
    claim = scene.claim
    for quantity in () if claim.negations else usable_quantities(claim):
        written = claim.text[quantity.start : quantity.end]
        sign = written[0] if written[0] in "$£€" else ""
        whole = _WHOLE.match(written, len(sign))
        if whole is None or not _takes_about(scene, quantity) or written[whole.end() : whole.end() + 1] == ".":
            continue
        value = int(whole.group().replace(",", ""))
        rounded = _to_two_digits(value)
        aged = re.match(r" ?,", claim.text[quantity.end :]) and re.search(r", ?\Z", claim.text[: quantity.start])
        if value >= 101 and rounded != value and not aged:
            shown = f"{rounded:,}" if "," in whole.group() or rounded >= 10_000 else str(rounded)
            end = quantity.start + whole.end()
            yield Draft(
                (Edit(quantity.start, end, f"{rng.choice(('about', 'approximately', 'roughly'))} {sign}{shown}"),)
            )


def _to_two_digits(value: float) -> int:
    step = 10 ** max(0, len(str(int(value))) - 2)
    return int(value / step + 0.5) * step


def _takes_about(scene: Scene, quantity: Quantity) -> bool:
    """Whether "about" fits before an amount: no hedge or bound, no article or adjective before it."""
    claim = scene.claim
    before = [word.lower for word in claim.words if word.end <= quantity.start][-1:]
    plain = quantity.bound == "exact" and not quantity.approximate and quantity.hedge_start == quantity.start
    return plain and (not before or before[0] not in _NO_ABOUT_AFTER)


def unit_converted(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """The same amount in another unit: "5 km" -> "about 3.1 miles", "two hours" -> "120 minutes"."""
    claim = scene.claim
    for quantity in usable_quantities(claim):
        name = _CONVERSIONS.get(quantity.unit)
        target = unit_called(name) if name else None
        written = claim.text[quantity.start : quantity.end]
        if (
            target is None
            or "-" in written
            or claim.text[: quantity.start].endswith(("(", "["))
            or not _takes_about(scene, quantity)
            or claim.text[quantity.end : quantity.end + 2] in (" a", " p", "-o")
        ):
            continue
        if (
            re.match(r" (?:\d|long|tall|old|per|an?\b|[a-z]+ (?:per|an?)\b)", claim.text[quantity.end :])
            and quantity.unit == "ft"
        ):
            continue
        zero = 0.0 if is_difference(claim.text, quantity.start, quantity.end) else target.zero
        value = quantity.base_low / target.factor + zero
        shown = f"{value:.2g}" if abs(value) < 10 else f"{_to_two_digits(value):,}" if value >= 100 else f"{value:.0f}"
        yield Draft((Edit(quantity.start, quantity.end, f"about {shown} {name}"),))
    for date in claim.dates:
        if date.kind == "duration" and (edit := _other_length(claim.text, date)):
            yield Draft((edit,))


def _other_length(text: str, date: DateMention) -> Edit | None:
    written = text[date.start : date.end]
    if RANGE_BEFORE.search(text[: date.start]):
        return None
    found = re.fullmatch(rf"(\d+|{'|'.join(SMALL_NUMBERS)}) ([a-z]+s|centuries)", written, re.IGNORECASE)
    if found is None or date.unit not in _LENGTHS or re.match(r"['’-]| old| of age| ago", text[date.end :]):
        return None
    word = found[1].lower()
    count = SMALL_NUMBERS.index(word) + 2 if word in SMALL_NUMBERS else int(word)
    name, factor, most = _LENGTHS[date.unit]
    return Edit(date.start, date.end, f"{count * factor} {name}") if 2 <= count <= most else None


def date_format(scene: Scene, pool: CorpusPool, rng: random.Random) -> Iterator[Draft]:
    """The same date in another order or in words: "May 3, 1937" -> "3 May 1937", "18th century" -> "eighteenth"."""
    text = scene.claim.text
    for date in scene.claim.dates:
        written = text[date.start : date.end]
        if date.year is None and re.match(r" ?, ?\d{4}", text[date.end :]):
            continue  # the year is separate, as in tokenised text
        if found := _MONTH_FIRST.fullmatch(written):
            end = date.end + (
                found[3] is not None
                and text[date.end : date.end + 2] == ", "
                and not text[date.end + 2 :][:1].isdigit()
            )
            comma = "," if end > date.end and re.match(r"(?:On|By|Since|Until)\b", text[: date.start]) else ""
            year = f" {found[3]}" if found[3] else ""
            yield Draft((Edit(date.start, end, f"{found[2]} {found[1]}{year}{comma}"),))
        elif found := _DAY_FIRST.fullmatch(written):
            yield Draft((Edit(date.start, date.end, f"{found[2]} {found[1]}" + (f", {found[3]}" if found[3] else "")),))
        elif date.kind == "century" and (nth := re.match(r"(\d\d)th(?=[ -])", written)) and 15 <= int(nth[1]) <= 20:
            yield Draft((Edit(date.start, date.start + nth.end(), _CENTURIES[int(nth[1]) - 15]),))
        elif date.kind == "century" and (word := written.split()[0].split("-")[0].lower()) in _CENTURIES:
            yield Draft(
                (Edit(date.start, date.start + len(word), in_case_of(" ", f"{_CENTURIES.index(word) + 15}th")),)
            )
