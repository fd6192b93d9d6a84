"""Qualifiers: the small words that make a statement stronger or weaker.

Each stands on a scale with a strength; a claim inflates its source when it stands higher on it than the source
does, or when it drops a hedge that the source has. Left out: comparatives and superlatives, which are content words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vouching.text.words import Word

Scale = Literal["quantity", "frequency", "certainty", "degree", "exclusivity"]

_LEXICON: dict[Scale, dict[float, str]] = {
    "quantity": {
        1.0: "all every everyone everybody everything entire whole each",
        0.8: "most majority mostly mainly largely predominantly primarily",
        0.6: "many numerous countless",
        0.4: "some several various certain partly partially",
        0.2: "few",
    },
    "frequency": {
        1.0: "always constantly invariably continuously permanently",
        0.8: "usually typically generally normally commonly",
        0.6: "often frequently regularly",
        0.4: "sometimes occasionally",
        0.2: "rarely seldom hardly",
    },
    "certainty": {
        1.0: "definitely certainly undoubtedly surely clearly conclusively proven guaranteed must",
        0.6: "likely probably presumably expected",
        0.4: "may might could possibly perhaps maybe potentially suggests suggest appears appear seems seem reportedly "
        "allegedly purportedly supposedly",
    },
    "degree": {
        1.0: "completely entirely totally fully absolutely utterly",
        0.8: "significantly substantially dramatically considerably greatly strongly sharply severely massively vastly "
        "extremely drastically tremendously heavily highly markedly notably radically overwhelmingly hugely enormously "
        "remarkably exceptionally extraordinarily incredibly immensely exceedingly profoundly",
        0.4: "moderately somewhat fairly relatively rather quite",
        0.2: "slightly marginally barely minimally modestly",
    },
    "exclusivity": {1.0: "only solely exclusively merely uniquely"},
}
QUALIFIERS: dict[str, tuple[Scale, float]] = {
    word: (scale, strength)
    for scale, levels in _LEXICON.items()
    for strength, words in levels.items()
    for word in words.split()
}
"""Every qualifier with its scale and strength in (0, 1]."""
_BEFORE_MONTH = frozenset(str.split("in on of by since until till during early mid late last next"))


@dataclass(frozen=True, slots=True)
class Qualifier:
    """A qualifier in a text."""

    start: int
    """Offset of its first character."""
    end: int
    """Offset after its last character."""
    word: str
    """The qualifier in lower case."""
    scale: Scale
    """What it strengthens or weakens."""
    strength: float
    """Where it stands on the scale, in (0, 1]."""

    @property
    def is_hedge(self) -> bool:
        """True for qualifiers that weaken what they stand with ("may", "some", "slightly").

        >>> from vouching.text.words import find_words
        >>> [q.is_hedge for q in find_qualifiers(find_words("It may significantly help"))]
        [True, False]
        """
        return self.strength <= 0.6


def find_qualifiers(words: Sequence[Word]) -> list[Qualifier]:
    """Qualifiers among ``words``, in order.

    >>> from vouching.text.words import find_words
    >>> [(q.word, q.scale, q.strength) for q in find_qualifiers(find_words("All of them improved significantly"))]
    [('all', 'quantity', 1.0), ('significantly', 'degree', 0.8)]
    """
    found: list[Qualifier] = []
    for position, word in enumerate(words):
        entry = QUALIFIERS.get(word.lower)
        if entry is not None and not (word.lower == "may" and _is_month(words, position)):
            found.append(Qualifier(word.start, word.end, word.lower, *entry))
    return found


def _is_month(words: Sequence[Word], position: int) -> bool:
    """Whether the "may" at ``position`` is the month: beside a number, or after a word that no verb follows."""
    before = words[position - 1].lower if position else ""
    after = words[position + 1].lower if position + 1 < len(words) else ""
    return before in _BEFORE_MONTH or before[:1].isdigit() or after[:1].isdigit()


def compare_qualifiers(
    claim: Qualifier, source: Sequence[Qualifier]
) -> Literal["equal", "weaker", "stronger", "absent"]:
    """How a claim's qualifier stands to those of the source's sentence.

    Returns "equal" or "weaker" (both harmless) if the source has one at least as strong on the same scale, "stronger"
    if the source has only weaker ones, "absent" if it has none on that scale.

    >>> from vouching.text.words import find_words
    >>> read = lambda text: find_qualifiers(find_words(text))
    >>> compare_qualifiers(read("all patients")[0], read("most patients"))
    'stronger'
    >>> compare_qualifiers(read("some patients")[0], read("most patients"))
    'weaker'
    >>> compare_qualifiers(read("only patients")[0], read("patients"))
    'absent'
    """
    rivals = [q.strength for q in source if q.scale == claim.scale]
    if not rivals:
        return "absent"
    best = max(rivals)
    if best == claim.strength:
        return "equal"
    return "weaker" if best > claim.strength else "stronger"
