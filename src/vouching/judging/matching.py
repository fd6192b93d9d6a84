"""Compare the answer that a blind checker gave with the answer of the response, for the audit and its rewards.

The released comparison ignores units: it takes 10k for 10 and .05 for .1. By default, numbers are therefore read with
scale and unit and compared at a relative tolerance of 1e-6 ("units"); "released" is kept for comparison. Departures: a
response may be less specific than the documents (a rounded number that says so, a year for a date, a missing unit
of the same number), but never more. Not supported: conversion of currencies, and what is being counted ("500 people" is
500).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from vouching.judging.values import Value, find_values, points
from vouching.text.comparison import compare_dates, compare_quantities
from vouching.text.mentions import Quantity
from vouching.text.quantities import find_quantities
from vouching.types.findings import BlindOutcome, Checked

Match: TypeAlias = Literal["units", "released"]
"""How answers are compared: with units and scales, or as the released code does."""
Entails: TypeAlias = Callable[[str, str], bool]
"""Whether a first answer follows from a second: a judge of short texts."""

TOLERANCE = 1e-6
"""Largest relative difference of two equal numbers, after scaling."""
_RELEASED_STRIP = str.maketrans("", "", "%kKwW,")
_RELEASED_TOLERANCE = 0.1
_NO_ANSWER = re.compile(
    r"\W*(?:can(?:no|['’])t (?:be )?answer(?:ed)?|not (?:found|stated|mentioned|given|specified|in the documents)|none"
    r"|n/?a|null|unknown|unanswerable|no answer)?\W*",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_FIGURES = re.compile(r"\d+(?:[.,]\d+)*")
_SHARE = re.compile(r"(\d+(?:\.\d+)?) ?(?:/|out of) ?\d+\Z")
_YEAR = 512.0
"""More than 12 * 32 + 31, so that months and days fit between two years."""
_NOT_BARE = frozenset(("ratio", "proportion", "time_of_day"))
"""Dimensions where the bare number is a different number: 10 is not 10 %, and 5 not 5 pm."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The answers of J checkers, compared with that of the response."""

    outcome: BlindOutcome
    found: tuple[str, ...] = ()
    """The documents' answer; several if they, or the checkers, disagree."""
    reason: str = ""
    """Why, in a sentence."""


def same_answer(answer: str, checked: str, match: Match = "units", entails: Entails | None = None) -> bool:
    """Whether the documents' answer supports the response's; ``entails`` compares answers without numbers.

    >>> same_answer("10k", "ten thousand"), same_answer("10k", "10"), same_answer("10k", "10", match="released")
    (True, False, True)
    >>> same_answer("$1.2M", "1,200,000 dollars"), same_answer("about 500", "512"), same_answer("512", "about 500.")
    (True, True, False)
    """
    if match == "released":
        return _released(answer, checked)
    if _plain(answer) == _plain(checked) != "":
        return True
    stated, found = _values(answer), _values(checked)
    if stated and found:
        if len(stated) != len(found):  # "5 and 10", of "between 5 and 10", beside "5 to 10"
            stated, found = _as_range(answer, stated), _as_range(checked, found)
        return len(stated) == len(found) and all(map(_same, stated, found))
    return not stated and not found and entails is not None and entails(answer, checked)


def alike(one: str, other: str, match: Match = "units") -> bool:
    """:func:`same_answer` in either direction."""
    return same_answer(one, other, match) or same_answer(other, one, match)


def asked_about(numbers: Sequence[Value], answers: Sequence[str], match: Match = "units") -> int:
    """How many numbers of a response are asked for by questions with these answers, each number counted once.

    An answer that the response does not state asks for none, one with two numbers for both. The digits alone are
    enough, without their unit or the other end of a range.
    """
    left, others = _without(numbers, answers, lambda number, answer: alike(number, answer, match))
    pieces = [piece for answer in others for value in find_values(answer) for piece in _pieces(value)]
    left, _ = _without(left, pieces, lambda number, piece: alike(number, piece, match) or _has_figures(number, piece))
    return len(numbers) - len(left)


def distinct(texts: Sequence[str]) -> list[int]:
    """Positions of the texts whose answer differs from that of every text kept before them, in either direction.

    The result is that of comparing all pairs, but only texts with close numbers are compared.
    """
    lines = np.array([_lines(text) for text in texts], float).reshape(-1, 2, 2)
    taken = np.empty_like(lines)
    kept: list[int] = []
    words: set[str] = set()
    excluded: set[str] = set()
    for position, text in enumerate(texts):
        if text in excluded or (plain := _plain(text)) in words:
            continue
        (at, reach), (other, its) = lines[position].T, taken[: len(kept)].transpose(2, 0, 1)
        slack = 2 * TOLERANCE * np.maximum(np.abs(at), np.abs(other))
        near = (np.abs(at - other) <= np.maximum(reach, its) + slack).any(axis=1)
        others = (texts[kept[one]] for one in np.flatnonzero(near))
        if any(alike(text, other) for other in others):
            excluded.add(text)
        else:
            taken[len(kept)] = lines[position]
            kept.append(position)
            words |= {plain} - {""}
    return kept


def is_answer(checked: str | None) -> bool:
    """Whether a checker answered: "Cannot answer", "unknown" and the like are not answers."""
    return checked is not None and _NO_ANSWER.fullmatch(checked) is None


@lru_cache(maxsize=4_096)
def leaks(question: str, answer: str) -> bool:
    """Whether a question contains its own answer, in whatever notation, with another unit or as an end of a range."""
    stated = _values(answer)
    if not stated:
        words = _plain(answer)
        return bool(words) and f" {words} " in f" {_plain(question)} "
    values = find_values(question)
    asked = [end for value in values for end in points(value)]
    width = len(stated)
    if any(all(map(_gives_away, stated, asked[at : at + width])) for at in range(len(asked) - width + 1)):
        return True
    shown = _figures(question).union(*map(_numbers, values))
    return all(any(one and one <= shown for one in (_numbers(value), _written(value))) for value in stated)


def consensus(checked: Sequence[Checked], match: Match = "units") -> Checked | None:
    """The answer that most checkers gave, where "not in the documents" is an answer; None for a tie."""
    groups: list[list[Checked]] = []
    for one in checked:
        group = next((group for group in groups if _agree(group[0], one, match)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    groups.sort(key=len, reverse=True)
    if not groups or (len(groups) > 1 and len(groups[0]) == len(groups[1])):
        return None
    return groups[0][0]


def rule(
    question: str,
    answer: str,
    checked: Sequence[Checked | str | None],
    match: Match = "units",
    entails: Entails | None = None,
) -> Ruling:
    """The outcome of a question: leaked, or the consensus of its checkers compared with the response's answer.

    ``checked`` has one entry per checker; a text is a single answer, None is "cannot answer".
    """
    if leaks(question, answer):
        return Ruling("leaked", (), "the question contains its own answer")
    samples = [one if isinstance(one, Checked) else as_checked(one) for one in checked]
    agreed = consensus(samples, match)
    if agreed is None:
        given = tuple(dict.fromkeys(text for one in samples for text in one.answers))
        return Ruling("different", given, "the checkers do not agree: a tie is a mismatch")
    if not agreed.answers:
        return Ruling("not_found", (), "the documents do not say")
    fitting = [found for found in agreed.answers if same_answer(answer, found, match, entails)]
    if agreed.any_of and _bounded(answer):  # else "more than 3" would match any list with a larger value
        fitting = [found for found in fitting if same_answer(found, answer, match)]
    several = len(agreed.answers) > 1
    if not fitting:
        other = f"{len(agreed.answers)} different answers" if several else "a different answer"
        return Ruling("different", agreed.answers, f"the documents give {other}")
    if several and not agreed.any_of:
        return Ruling("contradictory", agreed.answers, f"the documents give {len(agreed.answers)} values")
    return Ruling("same", tuple(fitting), "the documents give the same answer")


def as_checked(text: str | None) -> Checked:
    """A checker's answer from its text alone."""
    return Checked((text.strip(),)) if text is not None and is_answer(text) else Checked()


def _without(
    numbers: Sequence[Value], answers: Sequence[str], states: Callable[[str, str], bool]
) -> tuple[list[Value], list[str]]:
    """The numbers that no answer states, and the answers that state none; each number is matched once."""
    left, others = [*numbers], list[str]()
    for answer in answers:
        place = next((at for at, number in enumerate(left) if states(number.text, answer)), None)
        if place is None:
            others.append(answer)
        else:
            del left[place]
    return left, others


def _pieces(value: Value) -> list[str]:
    """A value, or the digits of its ends: one range of an answer may be two numbers of a response."""
    is_range = value.quantity is not None and value.quantity.low != value.quantity.high
    return (_FIGURES.findall(value.text) if is_range else []) or [value.text]


def _has_figures(number: str, answer: str) -> bool:
    digits = {*_FIGURES.findall(answer)}
    return bool(digits) and digits <= {*_FIGURES.findall(number)}


def _agree(left: Checked, right: Checked, match: Match) -> bool:
    """Whether two checkers agree; those who find the documents contradictory agree with each other."""
    if len(left.answers) != 1 or len(right.answers) != 1:
        return min(2, len(left.answers)) == min(2, len(right.answers))
    return alike(left.answers[0], right.answers[0], match)


def _values(answer: str) -> list[Value]:
    return [end for value in find_values(answer.strip()) for end in points(value)]


def _lines(text: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Positions of an answer on two number lines; equal answers are close to each other on at least one.

    Returns:
        A position and a radius within which equal answers lie: among dates and measures in base units, and among
            numbers
        as written. nan for an answer on no such line; an infinite radius if the position is not known.
    """
    anywhere, nowhere = (0.0, math.inf), (math.nan, 0.0)
    values = _values(text)
    if len(values) != 1 or _SHARE.search(values[0].text):
        return anywhere, nowhere
    date, quantity = values[0].date, _as_quantity(values[0])
    written = nowhere
    if quantity is not None:
        unusual = quantity.bound != "exact" or quantity.approximate or quantity.per or quantity.low != quantity.high
        if unusual or not math.isfinite(quantity.low + quantity.base_low):
            return anywhere, nowhere
        rounding = 0.51 * quantity.base_rounding
        written = quantity.low, rounding if quantity.dimension == "count" else 0.0
        if date is None:
            clock = quantity.dimension == "time_of_day"  # "8:30" may be the morning's or the evening's
            return ((quantity.low % 720, 0.0), nowhere) if clock else ((quantity.base_low, rounding), written)
    if date is None or date.kind != "date" or date.year is None:
        return anywhere, nowhere
    whole = date.month is not None and date.day is not None and not date.day_month_order_unknown
    return (_YEAR * date.year + 32.0 * (date.month or 0) + (date.day or 0), 0.0 if whole else _YEAR), written


def _as_range(answer: str, values: list[Value]) -> list[Value]:
    """Two values as the ends of one range, if they can be read after "between"."""
    return _values(f"between {answer}") if len(values) == 2 else values


def _same(stated: Value, found: Value) -> bool:
    """Whether a value of the documents supports one of the response."""
    if stated.date is not None and found.date is not None:
        return compare_dates(stated.date, found.date) in ("equal", "compatible")
    left, right = _as_quantity(stated), _as_quantity(found)
    if left is None or right is None:
        return False
    return _supports(left, right) or _same_number(left, stated.text, right, found.text)


def _as_quantity(value: Value) -> Quantity | None:
    """A value as a number: a year alone may be a count ("1001 rooms"), another date is not a number."""
    if value.date is None or value.bare is None:
        return value.quantity
    numbers = find_quantities(value.text)
    return numbers[0] if len(numbers) == 1 else None


def _supports(stated: Quantity, found: Quantity) -> bool:
    if (stated.low == stated.high) != (found.low == found.high):
        return False
    # A rounded number of a document does not support further digits; the response's own may be coarser.
    agreement = compare_quantities(stated, replace(found, scaled=False, approximate=False), TOLERANCE)
    bounded = stated.bound != "exact" or found.bound != "exact"
    return agreement == "equal" or (agreement == "close" and (not bounded or _near(stated.base_low, found.base_low)))


def _same_number(left: Quantity, stated: str, right: Quantity, found: str) -> bool:
    """Whether one of them omits the unit, or the whole of a share ("4 out of 5"), of the same number."""
    for bare, other, text in ((left, right, found), (right, left, stated)):
        if bare.dimension != "count" or other.dimension == "count":
            continue
        share = _SHARE.search(text)
        if share:
            return bare.low == bare.high == float(share[1])
        if other.dimension not in _NOT_BARE:
            return _near(bare.low, other.low) and _near(bare.high, other.high)
    return False


def _gives_away(stated: Value, asked: Value) -> bool:
    """Whether a value of a question supports the answer; any larger one supports "more than 3", and reveals nothing."""
    bounded = stated.quantity is not None and stated.quantity.bound != "exact"
    return _same(stated, asked) and (not bounded or _same(asked, stated))


def _figures(text: str) -> set[float]:
    """The numbers that a text has in digits, whatever they count or belong to."""
    return {float(figure) for one in _FIGURES.findall(text) if (figure := one.replace(",", "")).count(".") < 2}


def _numbers(value: Value) -> set[float]:
    """The ends of a value without its unit; none for a date with a day or a month, which a year does not give away."""
    if value.quantity is not None:
        return {value.quantity.low, value.quantity.high}
    date = value.date
    if date is None or date.kind not in ("date", "range") or (date.month, date.day, date.weekday) != (None,) * 3:
        return set()
    return {float(abs(year)) for year in (date.year, date.last_year) if year is not None}


def _written(value: Value) -> set[float]:
    """The digits of a number, such as those of an hour."""
    return set() if value.quantity is None else _figures(value.text)


def _bounded(answer: str) -> bool:
    return any(value.quantity is not None and value.quantity.bound != "exact" for value in _values(answer))


def _near(left: float, right: float) -> bool:
    return abs(left - right) <= TOLERANCE * max(abs(left), abs(right))


def _plain(text: str) -> str:
    """Words in lower case without articles and punctuation, except what belongs to a number."""
    folded = _ARTICLE.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(re.sub(r"[^\w%$€£¥.,:/+<>~≈°-]+|[.,:](?!\d)", " ", folded).split())


def _released(answer: str, checked: str) -> bool:
    """The comparison of the released code: signs stripped, whole numbers exact, others within .1, no units."""
    left, right = (text.translate(_RELEASED_STRIP).strip() for text in (answer, checked))
    if left == right:
        return left != ""
    try:
        stated, found = float(left), float(right)
    except ValueError:
        return False
    whole = "." not in left and "." not in right
    return stated == found if whole else abs(stated - found) < _RELEASED_TOLERANCE
