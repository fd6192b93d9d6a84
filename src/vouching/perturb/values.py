"""Numbers, units and bounds made wrong, in the notation they were written in.

Left out: ranks, times of day, proportions, ranges, and numbers that belong to a name ("Boeing 747").
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from vouching.perturb.pool import CorpusPool
from vouching.perturb.records import Draft, Edit, in_case_of
from vouching.perturb.scene import ParsedText, Scene
from vouching.text.mentions import Quantity
from vouching.text.number_forms import NUMBER_WORDS

_SMALL = str.split("two three four five six seven eight nine ten eleven twelve")
_TENS = str.split("twenty thirty forty fifty sixty seventy eighty ninety")
_SWAPPED_UNITS = {
    "million": "billion", "billion": "million", "thousand": "million", "trillion": "billion", "km": "miles",
    "kilometres": "miles", "kilometers": "miles", "miles": "kilometres", "metres": "feet", "meters": "feet",
    "feet": "metres", "kg": "tonnes", "kilograms": "tonnes", "tonnes": "kilograms", "tons": "kilograms", "mg": "g",
    "grams": "milligrams", "milligrams": "grams", "inches": "feet", "centimetres": "metres", "acres": "square miles",
    "hectares": "square kilometres", "mph": "km/h", "dollars": "euros", "euros": "dollars", "megawatts": "kilowatts",
    "kilowatts": "megawatts", "gigabytes": "megabytes", "megabytes": "gigabytes", "GB": "MB", "MB": "GB",
    "litres": "gallons", "gallons": "litres", "cm": "m", "bn": "m",
}  # fmt: skip
_SWAPPED_SIGNS = {"$": "€", "£": "$", "€": "$"}
_SWAPPED_BOUNDS = {
    "more than": "fewer than", "over": "under", "at least": "at most", "at most": "at least", "less than": "more than",
    "fewer than": "more than", "up to": "more than", "nearly": "more than", "almost": "more than", "under": "over",
    "no more than": "no fewer than", "no fewer than": "no more than", "as many as": "fewer than",
    "a minimum of": "a maximum of", "a maximum of": "a minimum of",
}  # fmt: skip
_BOUND = re.compile(
    rf"(?<![\w-])(?<!\d )(?<!added )(?:{'|'.join(sorted(_SWAPPED_BOUNDS, key=len, reverse=True))})\Z", re.IGNORECASE
)
_DIGITS = re.compile(r"\d[\d,.\u00a0]*")
_LEAST_CHANGE, _MOST_CHANGE = 0.2, 0.6
"""Relative change of a number: well beyond what "about" and rounding allow, yet of the same order."""
_RANKING = frozenset(str.split("ranked no number part chapter season episode volume route page week day"))
RANGE_BEFORE = re.compile(
    r"(?:\bbetween(?: \w+)?"
    r"|(?:\d(?:%| percent| ?[a-z]+illion)?|\b(?:one|two|three|four|five|ten|twenty)) (?:and|to|or)(?: \w+)?) \Z"
)
"""What stands before the upper end of a range."""
_RANGE_AFTER = re.compile(r" (?:and|to|or) (?:about |approximately )?\$?\d")


def usable_quantities(claim: ParsedText) -> list[Quantity]:
    """Quantities whose number stands for itself: single amounts that are no rank, time, ratio or part of a name."""
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
    glued = text[max(0, start - 1) : start] in ("-", "/", ":", "#", "–") or text[end : end + 1] in (
        "/",
        ":",
        "–",
        "'",
        "’",
    )
    hyphen = text[end : end + 1] == "-" and not text[end + 1 : end + 2].isalpha()
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
        if _LEAST_CHANGE <= abs(value - old) / max(value, old) <= _MOST_CHANGE:
            return Edit(digits.start(), digits.start() + len(written), changed)
    return None


def _with_another_digit(written: str, rng: random.Random) -> str:
    """One of the two leading digits exchanged; a number below 10 moves by up to three."""
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
        family = _TENS if word in _TENS else _SMALL if word in _SMALL else []
        value = NUMBER_WORDS[word].value if family else 0.0
        others = [
            w for w in family if abs(NUMBER_WORDS[w].value - value) >= max(1.0, _LEAST_CHANGE * value) and w != word
        ]
        near = [w for w in others if abs(NUMBER_WORDS[w].value - value) <= max(3.0, 0.6 * value)]
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
    """The other side of a bound: "more than 50" -> "fewer than 50", "at least" -> "at most"."""
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
