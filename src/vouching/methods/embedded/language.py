"""Whether a text looks English, the only language that the rules and the encoder know.

Not supported: identifying other languages.
"""

from __future__ import annotations

import re

from vouching.methods.embedded.evidence import is_common
from vouching.text.words import FUNCTION_WORDS, find_words

_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_ENGLISH = frozenset("the of and to a is was for on with as by at that from an are were it he she in".split())
_FOREIGN = frozenset(
    """der die das und ist wurde nicht ein eine mit von im den le la les des est une dans et du el los las una que es
    en il lo gli di che per della o os uma em não het een van niet och att som är de""".split()
)
_ENOUGH_WORDS, _KNOWN = 5, 0.5
"""Minimum share of known words among the lower-case words of English text, if it has enough of them. Of 160,000
claims of attribution/train, dev and nli 34 have a smaller share; of sentences in 29 other languages all have."""


def looks_english(text: str) -> bool:
    """False for other scripts, and for texts whose words are mostly unknown or function words of other languages.

    >>> looks_english("The bridge opened in 1973."), looks_english("Die Brücke wurde nicht eröffnet.")
    (True, False)
    >>> looks_english("Most został otwarty w 1973 roku i kosztował pięć milionów dolarów.")
    False
    """
    letters = _LETTERS.findall(text)
    if not letters:
        return True
    if len(_LATIN.findall(text)) < 0.7 * len(letters):
        return False
    plain = [w for w in find_words(text) if len(w.lower) > 1 and w.lower.isalpha() and text[w.start].islower()]
    known = sum(word.lower in FUNCTION_WORDS or is_common(word.stem) for word in plain)
    if len(plain) >= _ENOUGH_WORDS and known < _KNOWN * len(plain):
        return False
    words = [word.strip(".,;:!?\"'()") for word in text.split()]
    # Names have foreign words too ("La La Land", "Dean de Leon"): a single one, or a capitalised one, proves nothing.
    foreign = {word.lower() for i, word in enumerate(words) if word.lower() in _FOREIGN and (i == 0 or word.islower())}
    return len(foreign) < 2 or len(foreign) <= sum(word.lower() in _ENGLISH for word in words)
