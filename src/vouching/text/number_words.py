"""The number words of English and the part each plays in a phrase such as "two hundred and five".

Left out: vague plurals ("hundreds", "dozens", "several"), words for parts below a tenth, and other languages.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from vouching.text.neighbours import word_list

Role = Literal[
    "digits", "small", "ten", "hundred", "scale", "group", "ordinal", "fraction", "vulgar", "multiple", "times"
]
"""small is 0-19, ten 20-90, group "dozen" and "couple", vulgar "½" and "1/2", times what follows in "five times"."""


class NumberWord(NamedTuple):
    """One word of the number vocabulary."""

    role: Role
    """How the word combines with its neighbours."""
    value: float
    """What it counts for."""


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
    "thousand": 1e3, "lakh": 1e5, "lakhs": 1e5, "lac": 1e5, "million": 1e6, "mn": 1e6, "crore": 1e7, "crores": 1e7,
    "billion": 1e9, "bn": 1e9, "trillion": 1e12, "tn": 1e12, "quadrillion": 1e15,
}  # fmt: skip
_MULTIPLES = {
    "twice": 2, "thrice": 3, "double": 2, "doubled": 2, "doubles": 2, "doubling": 2, "triple": 3, "tripled": 3,
    "triples": 3, "tripling": 3, "trebled": 3, "quadruple": 4, "quadrupled": 4, "quintupled": 5, "halved": 0.5,
    "halving": 0.5, "hundredfold": 100,
}  # fmt: skip


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
    # "thirds" to "tenths" are only ever fractions; the singular is told from the rank by its neighbours.
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
