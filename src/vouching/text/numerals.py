"""Every number in a text, in digits or in words, with exact offsets: the basis for quantities and dates.

Signs, currencies, units and hedges are read in ``vouching.text.quantities``; dates in ``vouching.text.dates``. Not
supported: vague plurals ("hundreds"), years spelled out ("nineteen eighty-four" is 19 and 84), "one" as a pronoun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

from vouching.text.number_forms import DIGIT_RUN, NUMBER_WORDS, OPAQUE, SPACED_RUN, Role, read_digits
from vouching.text.units import unit_after, unit_called
from vouching.text.words import word_after, word_before, word_list

NumeralForm = Literal["cardinal", "ordinal", "fraction", "multiple"]


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number as written, before any unit is attached."""

    start: int
    end: int
    value: float
    form: NumeralForm = "cardinal"
    """Whether it counts ("five"), ranks ("fifth"), divides ("a fifth") or multiplies ("fivefold")."""
    rounding: float = 1.0
    """Size of one unit in the last written place: 0.1 for "2.5", 100000 for "1.2 million", 0 for a fraction."""
    scaled: bool = False
    """True if a scale word or letter was used ("1.2 million", "10k"), which suggests a rounded number."""
    approximate: bool = False
    """True for "a couple"."""


class _Atom(NamedTuple):
    start: int
    end: int
    role: Role
    value: float
    rounding: float = 1.0
    suffix: str = ""


_ATOM = re.compile(
    rf"(?P<opaque>{OPAQUE})|(?P<part>(?<![\w/.,])\d{{1,2}}/(?:2|3|4|5|6|8|10|16|32)(?![\d/]))|(?P<spaced>{SPACED_RUN})"
    rf"|(?P<digits>{DIGIT_RUN})|(?P<word>[^\W\d_]+)"
)
_DIGIT = re.compile(r"\d")
_LETTERS = re.compile(r"[^\W\d_]+")
_SPACES = frozenset((" ", "-", "\u00a0", "\u2011"))
_AND = frozenset((" and ", " & "))
_FRACTION_OF = re.compile(r" (?:of )?an? (thousand|million|billion|trillion|dozen|hundred)\b")
_PARTITIVES = frozenset(("of", "the", "a", "an", "its", "their", "his", "her", "that", "as", "all", "dozen"))
_NOT_AFTER_ONE = frozenset(
    word_list(
        "of another to who whom that which can could must should may might is was has had would will and or in on at "
        "for with by as from the a an if when but not off way on"
    )
)
_ONE_IN = re.compile(r" (?:in|out of)(?: every)? (?:(?!1[5-9]\d\d\b|20\d\d\b)\d|(?P<word>[a-z]{2,9})\b)")
_ZERO_IN_THREES = re.compile(r" 0\d\d")
_AFTER_SPACED = re.compile(r"[ \u00a0]?(?:[%€£$]|(?P<word>[^\W\d_]{1,24}))")
_NOT_COUNTED = frozenset(word_list("and or to in of at on was were is are the a an by for from with until when while"))
_NOT_BEFORE_ONE = frozenset(word_list("no the this that any every each some which another a number only"))


def parse_number(text: str) -> float | None:
    """Read a text that is only a number, in digits or words; None if it is anything else.

    >>> parse_number("two hundred and five"), parse_number("-1,234.5"), parse_number("some men")
    (205.0, -1234.5, None)
    """
    body = text.strip()
    sign = -1.0 if body[:1] in ("-", "−") else 1.0
    if body[:1] in ("-", "−", "+"):
        body = body[1:]
    numerals = list(_read_numerals(body))
    if len(numerals) != 1 or (numerals[0].start, numerals[0].end) != (0, len(body)):
        return None
    return sign * numerals[0].value


def find_numerals(text: str) -> list[Numeral]:
    """Find every number of a text, in order and without overlap.

    >>> [(n.value, text[n.start : n.end]) for text in ["a dozen of 1.2 million"] for n in find_numerals(text)]
    [(12.0, 'a dozen'), (1200000.0, '1.2 million')]
    """
    return list(_numerals_of(text))


# Dates and quantities of one text are usually read in turn; the numerals are shared.
@lru_cache(maxsize=4)
def _numerals_of(text: str) -> tuple[Numeral, ...]:
    return tuple(numeral for numeral in _read_numerals(text) if not _is_plain_word(text, numeral))


def _read_numerals(text: str) -> Iterator[Numeral]:
    atoms = _atoms(text)
    index = 0
    while index < len(atoms):
        atom = atoms[index]
        if atom.role in ("small", "ten", "digits") or (
            atom.role in ("scale", "hundred") and _article(text, atom.start)
        ):
            numeral, index = _read_cardinal(text, atoms, index)
            yield numeral
            continue
        index += 1
        numeral = _read_single(text, atom)
        if numeral:
            while index < len(atoms) and atoms[index].start < numeral.end:
                index += 1
            yield numeral


def _atoms(text: str) -> list[_Atom]:
    """Digit numbers and number words, except words joined to a name by a hyphen ("one-on-one")."""
    if not _DIGIT.search(text) and NUMBER_WORDS.keys().isdisjoint(_LETTERS.findall(text.lower())):
        return []
    atoms: list[_Atom] = []
    last_end = 0
    for found in _ATOM.finditer(text):
        if found.lastgroup == "word":
            word = NUMBER_WORDS.get(found.group().lower())
            if word is None or found.start() < last_end:
                continue
            start, end = found.span()
            glued = text[start - 1 : start] == "-" and last_end != start - 1 and text[max(0, start - 2)].isalpha()
            if not glued or word.role == "fraction":
                atoms.append(_Atom(start, end, word.role, word.value))
                last_end = end
        elif found.lastgroup in ("digits", "spaced"):
            for start, end in _digit_runs(text, found):
                # A number such as "1.5 × 10^3" includes the runs after it.
                for number in read_digits(text, start, end) if start >= last_end else ():
                    atoms.append(_Atom(number.start, number.end, "digits", *number[2:]))
                    last_end = number.end
        elif found.lastgroup == "part":
            numerator, denominator = map(int, found.group().split("/"))
            if 0 < numerator < denominator:
                atoms.append(_Atom(*found.span(), "vulgar", numerator / denominator))
    return atoms


def _digit_runs(text: str, found: re.Match[str]) -> list[tuple[int, int]]:
    """Return "10 000" as one run before a unit or noun, and as two after a name ("Table 3 100 people").

    No number starts with a zero: "31 075" is one whatever follows.
    """
    start, end = found.span()
    if found.lastgroup == "digits":
        return [(start, end)]
    before = re.search(r"([^\W\d_]{1,24})\.? \Z", text[max(0, start - 26) : start])
    after = _AFTER_SPACED.match(text, end)
    counted = after is not None and (after["word"] or "").lower() not in _NOT_COUNTED
    named = before is not None and before[1][0].isupper() and len(before[1]) > 1 and not unit_called(before[1])
    whole = _ZERO_IN_THREES.search(found.group()) is not None
    if (
        whole or counted or text[start - 1 : start] in ("€", "£", "$") or (before and unit_called(before[1]))
    ) and not named:
        return [(start, end)]
    return [(start + part.start(), start + part.end()) for part in re.finditer(r"\d+", found.group())]


def _read_single(text: str, atom: _Atom) -> Numeral | None:
    """Read a number word without a cardinal before it."""
    article = _article(text, atom.start)
    start = atom.start - article
    match atom.role:
        case "group" if article:
            return Numeral(start, atom.end, atom.value, approximate=atom.value == 2)
        case "ordinal" if article and atom.value >= 3 and _is_partitive(text, atom.end):
            return Numeral(start, atom.end, 1 / atom.value, "fraction", 0.0)
        case "ordinal":
            return Numeral(atom.start, atom.end, atom.value, "ordinal")
        case "multiple":
            return Numeral(atom.start, atom.end, atom.value, "multiple")
        case "vulgar":
            return Numeral(atom.start, atom.end, atom.value, "fraction", 0.0)
        case "fraction":
            half_of = atom.value == 0.5 and word_after(text, atom.end).lower() in _PARTITIVES | {"", "hour", "price"}
            if not (article or half_of or text.startswith("-dozen", atom.end)):
                return None
            return _whole_of_fraction(text, Numeral(start, atom.end, atom.value, "fraction", 0.0))
        case _:
            return None


def _whole_of_fraction(text: str, fraction: Numeral) -> Numeral:
    """Extend "half" to "half a million" and "half-dozen"."""
    whole = _FRACTION_OF.match(text, fraction.end)
    if not whole:
        if not text.startswith("-dozen", fraction.end):
            return fraction
        return replace(fraction, end=fraction.end + 6, value=fraction.value * 12, form="cardinal", rounding=1.0)
    scale = NUMBER_WORDS[whole.group(1)].value
    rounding = fraction.value * scale if scale >= 1000 else 1.0
    value = fraction.value * scale
    return replace(fraction, end=whole.end(), value=value, form="cardinal", rounding=rounding, scaled=scale >= 1000)


class _Sum:
    """The running value of a cardinal: finished groups ("two million") plus the open one ("three hundred")."""

    def __init__(self, first: _Atom) -> None:
        self.last = first
        self.total = 0.0
        self.open = 1.0 if first.role in ("hundred", "scale") else first.value
        self.limit = 10.0 if first.role == "ten" else 0.0
        self.rounding = first.rounding
        self.scaled = first.suffix == "scale"
        if first.role in ("hundred", "scale"):
            self.multiply(first)

    def multiply(self, atom: _Atom) -> None:
        """Apply "hundred" to the open group, or close the group with a scale word."""
        if atom.role == "hundred":
            self.open *= 100
        else:
            self.total = self.total + self.open * atom.value if self.open else self.total * atom.value
            self.open, self.scaled = 0.0, True
            self.rounding *= atom.value
        self.limit = atom.value
        self.last = atom

    def add(self, atom: _Atom) -> None:
        """Add a smaller number word to the open group."""
        self.open += atom.value
        self.limit = 10.0 if atom.role == "ten" else 0.0
        self.rounding, self.scaled = 1.0, False
        self.last = atom

    @property
    def value(self) -> float:
        return self.total + self.open if self.total else self.open  # a long whole number stays one


def _read_cardinal(text: str, atoms: list[_Atom], index: int) -> tuple[Numeral, int]:
    """Read the longest number phrase that begins at ``atoms[index]``; also return the index after it."""
    first = atoms[index]
    start = first.start - (_article(text, first.start) if first.role in ("hundred", "scale") else 0)
    if first.suffix in ("ordinal", "times"):
        form: NumeralForm = "ordinal" if first.suffix == "ordinal" else "multiple"
        return Numeral(start, first.end, first.value, form), index + 1
    total = _Sum(first)
    may_join = word_before(text, start) != "between"
    index += 1
    while index < len(atoms):
        atom = atoms[index]
        gap = text[total.last.end : atom.start] if atom.start - total.last.end <= 5 else None
        following = atoms[index + 1] if index + 1 < len(atoms) else None
        if (gap in _SPACES and _multiplies(total, atom)) or (gap == "" and atom.role == "scale"):
            total.multiply(atom)
        elif _adds(total, atom) and (
            gap in _SPACES or (gap in _AND and may_join and not _starts_peer(total, following))
        ):
            total.add(atom)
        else:
            return _finish(text, atoms, index, total, start)
        index += 1
    return _finish(text, atoms, index, total, start)


def _multiplies(total: _Sum, atom: _Atom) -> bool:
    if atom.role == "hundred":
        return 0 < total.open < 100 and total.last.role not in ("hundred", "scale")
    return atom.role == "scale" and total.value > 0 and total.last.suffix != "scale"


def _adds(total: _Sum, atom: _Atom) -> bool:
    written_in_words = atom.role in ("small", "ten") and atom.value > 0
    return written_in_words and atom.value < total.limit and (total.last.role != "digits")


def _starts_peer(total: _Sum, following: _Atom | None) -> bool:
    """Distinguish "one hundred and two hundred" (two numbers) from "one hundred and two"."""
    return following is not None and following.role in ("hundred", "scale") and following.value == total.last.value


def _finish(text: str, atoms: list[_Atom], index: int, total: _Sum, start: int) -> tuple[Numeral, int]:
    """Read what can follow a cardinal: a rank, a fraction, "dozen", "fold" or "and a half"."""
    numeral = Numeral(start, total.last.end, total.value, "cardinal", total.rounding, total.scaled)
    if index == len(atoms) or atoms[index].start - numeral.end > len(" and a "):
        return numeral, index
    atom = atoms[index]
    gap = text[numeral.end : atom.start]
    if atom.role == "ordinal" and gap in _SPACES | _AND and (gap, atom.value) != (" ", 2):
        if atom.value < total.limit:
            return replace(numeral, end=atom.end, value=numeral.value + atom.value, form="ordinal"), index + 1
        if numeral.value == 1 and gap in _SPACES and atom.value > 2:
            return replace(numeral, end=atom.end, value=1 / atom.value, form="fraction", rounding=0.0), index + 1
    elif atom.role == "group" and gap in _SPACES and numeral.value < 100:
        return replace(numeral, end=atom.end, value=numeral.value * atom.value), index + 1
    elif atom.role == "times" and gap in _SPACES:
        return replace(numeral, end=atom.end, form="multiple"), index + 1
    elif atom.role in ("fraction", "vulgar"):
        return _with_fraction(text, atoms, index, numeral)
    return numeral, index


def _with_fraction(text: str, atoms: list[_Atom], index: int, numeral: Numeral) -> tuple[Numeral, int]:
    """Read "two thirds", "two and a half (million)" and "2½"."""
    atom = atoms[index]
    gap = text[numeral.end : atom.start]
    following = atoms[index + 1] if index + 1 < len(atoms) else None
    if gap in (" and a ", " and ") or (atom.role == "vulgar" and gap in ("", " ")):
        numeral = replace(numeral, end=atom.end, value=numeral.value + atom.value, rounding=atom.value)
        if following is None or following.role != "scale" or text[atom.end : following.start] != " ":
            return numeral, index + 1
        value, rounding = numeral.value * following.value, atom.value * following.value
        return replace(numeral, end=following.end, value=value, rounding=rounding, scaled=True), index + 2
    if atom.role == "fraction" and gap in _SPACES and numeral.value < 1 / atom.value:
        part = numeral.value * atom.value
        return replace(numeral, end=atom.end, value=part, form="fraction", rounding=0.0), index + 1
    return numeral, index


def _article(text: str, start: int) -> int:
    """Return the length of "a " or "an " just before ``start``, or 0."""
    for article in ("a ", "an "):
        first = start - len(article)
        if first >= 0 and text[first:start].lower() == article and not text[max(0, first - 1) : first].isalnum():
            return len(article)
    return 0


def _is_partitive(text: str, end: int) -> bool:
    """Distinguish "a third of" and "a third." from the rank in "a third attempt"."""
    return word_after(text, end).lower() in ("of", "the", "as", "more", "less", "fewer", "")


def _is_plain_word(text: str, numeral: Numeral) -> bool:
    """Whether the words are not used as a number: "no one", "one of them", "the first half"."""
    word = text[numeral.start : numeral.end].lower()
    if word == "half":
        before = word_before(text, numeral.start)
        return before in NUMBER_WORDS or before in ("the", "other", "latter", "better")
    if word != "one" or text[numeral.end : numeral.end + 1] in ("%", "\u00a0"):
        return False
    if text[numeral.end : numeral.end + 1] not in (" ", "-"):
        return True
    if unit_after(text, numeral.end):
        return False
    after = word_after(text, numeral.end)
    share = _ONE_IN.match(text, numeral.end)
    if share and (share["word"] is None or share["word"] in NUMBER_WORDS):
        return word_before(text, numeral.start) in _NOT_BEFORE_ONE
    return not after.islower() or after in _NOT_AFTER_ONE or word_before(text, numeral.start) in _NOT_BEFORE_ONE
