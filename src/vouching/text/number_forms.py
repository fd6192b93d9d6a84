"""Numbers as English writes them: in digits ("1,234.5", "12,34,567", "1.234,56", "1e5", "3rd", "10k") and in words.

Digits that are part of a name, a version, an address or a telephone number are not numbers. A decimal comma with one or
two places ("2,5") counts only after a zero or dotted thousands, because English lists look the same. Not supported:
Roman numerals, vague plurals ("hundreds", "several"), words for parts below a tenth, and other languages.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from vouching.text.units import unit_after, unit_called
from vouching.text.words import word_list

Role = Literal[
    "digits", "small", "ten", "hundred", "scale", "group", "ordinal", "fraction", "vulgar", "multiple", "times"
]
"""small is 0-19, ten 20-90, group "dozen" and "couple", vulgar "½" and "1/2", times what follows in "five times"."""


class NumberWord(NamedTuple):
    """One word of the number vocabulary."""

    role: Role
    """How the word combines with its neighbours."""
    value: float


_SMALL = word_list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = word_list("twenty thirty forty fifty sixty seventy eighty ninety")
_SMALL_ORDINALS = word_list(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth"
)
_SCALES = {
    "thousand": 1e3,
    "lakh": 1e5,
    "lakhs": 1e5,
    "lac": 1e5,
    "million": 1e6,
    "mn": 1e6,
    "crore": 1e7,
    "crores": 1e7,
    "billion": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
    "tn": 1e12,
    "quadrillion": 1e15,
}
_MULTIPLES = {
    "twice": 2,
    "thrice": 3,
    "double": 2,
    "doubled": 2,
    "doubles": 2,
    "doubling": 2,
    "triple": 3,
    "tripled": 3,
    "triples": 3,
    "tripling": 3,
    "trebled": 3,
    "quadruple": 4,
    "quadrupled": 4,
    "quintupled": 5,
    "halved": 0.5,
    "halving": 0.5,
    "hundredfold": 100,
}


def _vulgar_fractions() -> dict[str, NumberWord]:
    written = {
        "¼": 1 / 4,
        "½": 1 / 2,
        "¾": 3 / 4,
        "⅓": 1 / 3,
        "⅔": 2 / 3,
        "⅕": 1 / 5,
        "⅖": 2 / 5,
        "⅗": 3 / 5,
        "⅘": 4 / 5,
    }
    written |= {"⅙": 1 / 6, "⅚": 5 / 6, "⅛": 1 / 8, "⅜": 3 / 8, "⅝": 5 / 8, "⅞": 7 / 8}
    return {sign: NumberWord("vulgar", value) for sign, value in written.items()}


def _vocabulary() -> dict[str, NumberWord]:
    words: dict[str, NumberWord] = {word: NumberWord("small", float(value)) for value, word in enumerate(_SMALL)}
    words |= {word: NumberWord("ten", 20 + 10 * step) for step, word in enumerate(_TENS)}
    words |= {word: NumberWord("ordinal", float(value)) for value, word in enumerate(_SMALL_ORDINALS, start=1)}
    words |= {f"{word[:-1]}ieth": NumberWord("ordinal", 20 + 10 * step) for step, word in enumerate(_TENS)}
    words |= {"hundredth": NumberWord("ordinal", 100), "thousandth": NumberWord("ordinal", 1000)}
    # "thirds" to "tenths" are only ever fractions; the neighbours of the singular distinguish it from the rank.
    words |= {
        f"{word}s": NumberWord("fraction", 1 / value) for value, word in enumerate(_SMALL_ORDINALS[2:10], start=3)
    }
    words |= {"half": NumberWord("fraction", 1 / 2), "halves": NumberWord("fraction", 1 / 2)}
    words |= {"quarter": NumberWord("fraction", 1 / 4), "quarters": NumberWord("fraction", 1 / 4)}
    words |= {
        "hundred": NumberWord("hundred", 100.0),
        "dozen": NumberWord("group", 12.0),
        "couple": NumberWord("group", 2.0),
    }
    words |= {word: NumberWord("scale", value) for word, value in _SCALES.items()}
    words |= {word: NumberWord("multiple", float(value)) for word, value in _MULTIPLES.items()}
    words |= {f"{word}fold": NumberWord("multiple", float(value)) for value, word in enumerate(_SMALL[2:13], start=2)}
    return words | {"fold": NumberWord("times", 1), "times": NumberWord("times", 1)} | _vulgar_fractions()


NUMBER_WORDS: dict[str, NumberWord] = _vocabulary()
"""Every known number word in lower case."""


DIGIT_RUN = r"\d(?:[\d,.٬٫\u00a0\u2009\u202f]|['’](?=\d{3}(?!\d)))*+"
"""Pattern of a maximal run of digits and separators; a run is always consumed whole, which keeps the scan linear."""
_OPAQUE_CODE = (
    r"(?:https?://|www\.)\S++|(?<![\d-])\d++(?:-\d++){2,}+|\(\d{3}\) ?\d{3}-\d{4}(?!\d)"
    r"|\+\d{1,3}(?: \d{2,4}){2,4}(?!\d)|(?i:phone|tel|call|dial|fax)\.?:? \d{3}-\d{4}(?!\d)"
)
SPACED_RUN = r"(?<![\w.,:/-])(?<!\d )\d{1,3}(?: \d{3}){1,4}(?:,\d{1,2})?(?!\w|[.,:/-]\w| \d)"
"""Pattern of digits in threes between plain spaces ("10 000"), which is one number only if a unit or noun follows."""
_NOT_AN_AUTHOR = (
    r"(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul"
    r"|Aug|Sept?|Oct|Nov|Dec|Spring|Summer|Autumn|Fall|Winter|AD|CE|BCE?|FY|Since|From|In|Until|Till|Circa|By|After"
    r"|Before|Early|Late|Mid|About|Around|Over|Nearly|Founded|Established|Born|Died|Year)\b)"
)
_PARTICLE = r"(?:(?:van|von|de|der|den|del|di|du|la|le) ){0,3}"
_AUTHOR = rf"{_PARTICLE}{_NOT_AN_AUTHOR}[A-Z][^\W\d_]{{0,30}}(?:[-'’][^\W\d_]{{1,30}}){{0,2}}"
_WORK = (
    rf"{_AUTHOR}(?:(?:,| and| &|, and|, &)? {_AUTHOR}){{0,5}}(?: et al\.?)?,? [12]\d{{3}}[a-z]?"
    r"(?:, pp?\. ?\d{1,5}(?:[-–]\d{1,5})?)?"
)
WORKS = rf"(?:see |cf\. |e\.g\.,? )?{_WORK}(?:; ?{_WORK}){{0,8}}"
"""Pattern of works named by author and year: "see Rossi et al., 2001; Chen 2020"."""
CITATION = (
    rf"\({WORKS}\)"
    r"|(?<!CI )(?<!CI: )(?<!interval )(?<!range )(?<!= )\[\d{1,3}(?:[,;–-] ?\d{1,3}){0,20}\]"
)
"""Pattern of a reference to the literature: "(Rossi et al., 2001)", "[2, 3]"; its numbers are not about the topic."""
_FIXED = r"(?i:(?<![\w-])(?:third[ -]part(?:y|ies)|(?:first|second)[ -]hand(?:ed)?|first[ -]aid)(?!\w))"
OPAQUE = rf"{CITATION}|{_OPAQUE_CODE}|{_FIXED}"
"""Pattern of what is no number: citations, web addresses, telephone numbers, ISBN-like chains, "third-party"."""

_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?|\d+(?:\.\d+)?")
_EUROPEAN = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}|0,\d+")
_APOSTROPHES = re.compile(r"\d{1,3}(?:['’]\d{3})+(?:\.\d+)?")
_IN_THREES = re.compile(r"[1-9]\d{0,2}\.\d{3}")
"""Written "16.181", which is a whole number where the text has decimals with a comma, and none with a point."""
_MEASURED = re.compile(r"\d{1,3},\d{1,2}")
"""Before a unit or a scale this is one number with a decimal comma, and not a list of two."""
_SCALE_WORD = re.compile(rf"[ \u00a0](?:{'|'.join(_SCALES)})\b", re.IGNORECASE)
_COMMA_DECIMAL = re.compile(r"(?<![\d.,])\d+,\d{1,2}(?![\d,])")
_POINT_DECIMAL = re.compile(r"(?<![\d.,])\d+\.\d{1,2}(?![\d.])")
_SPACED = re.compile(r"\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d+)?")
_ADDRESS = re.compile(r"(?:[01]?\d?\d|2[0-4]\d|25[0-5])(?:\.(?:[01]?\d?\d|2[0-4]\d|25[0-5])){3}")
_PART = re.compile(r"[\d.]+")
_EXPONENT = re.compile(r"[eE][+\-−]?\d{1,3}(?![\w.])")
_POWER = r"(?:(?:\^|\*\*)\(?(?P<plain>[-−+]?\d{1,2})\)?|(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2}))(?![\w.]\w)"
_TIMES_POWER = re.compile(rf"[ \u00a0]?[×x·⋅*][ \u00a0]?10{_POWER}")
_BARE_POWER = re.compile(_POWER)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_GLUED_WORD = re.compile(r"[^\W\d_]{1,12}(?!\w)|[kcm]?m[23](?!\w)")
_RATIO_OR_TIME = re.compile(r"[:/]\d")
_HYPHENATED_NAME = re.compile(r"-(?!I)[A-Z]")

_SUFFIX_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "mn": 1e6, "bn": 1e9, "B": 1e9, "tn": 1e12, "T": 1e12}
_ORDINAL_ENDINGS = frozenset(("st", "nd", "rd", "th", "ST", "ND", "RD", "TH"))


class DigitNumber(NamedTuple):
    """A number written with digits."""

    start: int
    """Of the first digit (or of a leading decimal point)."""
    end: int
    """Offset after the number with its glued suffix."""
    value: float
    """With its suffix multiplied in."""
    rounding: float
    """Size of one unit in the last written place (0.1 for "2.5", 100000 for "1.2M")."""
    suffix: Literal["", "ordinal", "scale", "times"]
    """What the glued letters mean: "3rd" is ordinal, "10k" is scale, "3x" is times."""


def read_digits(text: str, start: int, end: int) -> list[DigitNumber]:
    """Read the numbers in one run of digits and separators (see ``DIGIT_RUN``).

    A run is usually one number; "1,2,3" is three. Runs that belong to a name or a version give none.

    >>> [number.value for number in read_digits("1,234 men", 0, 5)]
    [1234.0]
    """
    run = text[start:end].rstrip(",.٬٫\u00a0\u2009\u202f")
    in_threes = _IN_THREES.fullmatch(run) and _COMMA_DECIMAL.search(text) and not _POINT_DECIMAL.search(text)
    after = start + len(run)
    measured = _MEASURED.fullmatch(run) and (unit_after(text, after) or _SCALE_WORD.match(text, after))
    number = _plain_value(run.replace(",", ".") if measured else run.replace(".", "") if in_threes else run)
    if number is not None:
        found = _with_suffix(text, start, start + len(run), *number)
        return [found] if found else []
    numbers: list[DigitNumber] = []
    for part in _PART.finditer(run):
        piece = part.group().rstrip(".")
        number = _plain_value(piece)
        if number is None:
            continue
        found = _with_suffix(text, start + part.start(), start + part.start() + len(piece), *number)
        if found:
            numbers.append(found)
    return numbers


_FLOAT_DIGITS, _MAX_DIGITS = 15, 300
"""Whole numbers of more digits than a float keeps stay whole numbers, unless no float is as large."""


def _plain_value(run: str) -> tuple[float, float] | None:
    """Return value and rounding of a well-formed numeral, or None."""
    run = run.replace("٬", ",").replace("٫", ".")
    if _APOSTROPHES.fullmatch(run):
        run = re.sub("['’]", "", run)
    if _GROUPED.fullmatch(run):
        plain = run.replace(",", "")
    elif _EUROPEAN.fullmatch(run) and not _ADDRESS.fullmatch(run):
        plain = run.replace(".", "").replace(",", ".")
    elif _SPACED.fullmatch(run):
        plain = re.sub(r"[ \u00a0\u2009\u202f]", "", run).replace(",", ".")
    else:
        return None
    decimals = len(plain) - plain.find(".") - 1 if "." in plain else 0
    is_long = plain.isdecimal() and _FLOAT_DIGITS < len(plain) <= _MAX_DIGITS
    return int(plain) if is_long else float(plain), 10.0**-decimals


def _with_suffix(text: str, start: int, end: int, value: float, rounding: float) -> DigitNumber | None:
    """Apply what is glued to the digits; None if they are then part of something else."""
    before = text[start - 1 : start]
    if before == "." and not text[max(0, start - 2) : start - 1].strip():
        if not text[start:end].isdigit():
            return None
        start, value, rounding = start - 1, float(f"0.{text[start:end]}"), 10.0 ** -(end - start)
    elif _inside_name(text, start):
        return None
    power = _BARE_POWER.match(text, end) if text[start:end] == "10" else _TIMES_POWER.match(text, end)
    if power:
        factor = 10.0 ** int((power["plain"] or power["raised"]).translate(_RAISED))
        bare = text[start:end] == "10"
        return DigitNumber(start, power.end(), factor if bare else value * factor, rounding * factor, "")
    after = text[end : end + 1]
    if (after in ":/" and _RATIO_OR_TIME.match(text, end)) or after == "_":
        return None
    if after == "-" and _HYPHENATED_NAME.match(text, end):
        return None
    if not after.isalpha():
        return DigitNumber(start, end, value, rounding, "")
    return _with_letters(text, DigitNumber(start, end, value, rounding, ""))


def _with_letters(text: str, number: DigitNumber) -> DigitNumber | None:
    start, end, value, rounding, _ = number
    exponent = _EXPONENT.match(text, end)
    if exponent:
        power = 10.0 ** max(-300, min(300, int(exponent.group()[1:].replace("−", "-"))))
        return DigitNumber(start, exponent.end(), value * power, rounding * power, "")
    word = _GLUED_WORD.match(text, end)
    letters = word.group() if word else ""
    if letters in _ORDINAL_ENDINGS:
        return DigitNumber(start, end + 2, value, rounding, "ordinal")
    if letters in _SUFFIX_SCALES:
        scale = _SUFFIX_SCALES[letters]
        return DigitNumber(start, end + len(letters), value * scale, rounding * scale, "scale")
    if letters == "x":
        return DigitNumber(start, end + 1, value, rounding, "times")
    return number if letters in ("fold", "lakh", "crore") or unit_called(letters) else None


def _inside_name(text: str, start: int) -> bool:
    """Whether the digits at ``start`` continue a word, a code or a path: MP3, COVID-19, a/5, 10:30."""
    before = text[start - 1 : start] if start else ""
    if before.isalpha() or before in ("_", "/", ":", "@", "^"):
        return not (before == "s" and text[max(0, start - 2) : start] == "Rs")
    two_before = text[max(0, start - 2) : start - 1]
    if before == ".":
        return two_before.isdigit()
    return before in ("-", "\u2011") and two_before.isalpha()
