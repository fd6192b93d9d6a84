"""Words with offsets, light stems and shared meanings, and the words next to a place in a text.

Inflected forms share a stem ("improved", "improvement"); a word's concepts are the synonym groups of the shipped table.
Stems are keys for comparison and are never shown. The word next to a place is read up to ``_REACH`` characters; a
longer word is cut, which never makes it a known word. Not supported: part-of-speech tags and a full morphology.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, permutations
from typing import NamedTuple

_REACH = 24
_NEIGHBOUR = re.compile(r"[^\W\d_]+")
_OPENING = " \t\r\n\u00a0(\"'“‘"
_NEXT_WORD = re.compile(r"[ \u00a0\u2009\u202f]?([^\W\d_]{1,24})")


def word_before(text: str, start: int) -> str:
    """The lower-case word that ends just before ``start``, or "" if punctuation or a digit is there.

    >>> word_before("built in 1937", 9)
    'in'
    """
    head = text[max(0, start - _REACH) : start].rstrip(_OPENING).removesuffix(".")
    # Matching the reversed text finds the last word in one step; a search would try every place before it.
    found = _NEIGHBOUR.match(head[::-1])
    return found.group()[::-1].lower() if found else ""


def word_after(text: str, end: int) -> str:
    """The word (as written) that begins at ``end`` or one space later, or "" if there is none.

    >>> word_after("in 1937 Paris", 7)
    'Paris'
    """
    found = _NEXT_WORD.match(text, end)
    return found.group(1) if found else ""


def word_list(line: str) -> list[str]:
    """Split a line of words, a compact way to write a vocabulary.

    >>> word_list("in by of")
    ['in', 'by', 'of']
    """
    return line.split()


_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
# One CJK character is one word (they are written without spaces); otherwise letters and digits, with inner apostrophes,
# inner points of abbreviations (U.S.A) and inner number separators kept together. Hyphens separate.
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:['’.,](?=[^\W_])[^\W_{_CJK}]+)*")

FUNCTION_WORDS = frozenset(
    str.split("""a an the this that these those there here it its it's he she they them their theirs his her
        hers him himself herself itself themselves i me my mine we us our ours you your yours who whom whose
        which what when where why how is are was were be been being am 's do does did done doing has have had
        having will would shall should can could may might must of in on at by for from to into onto with within
        without about as than then so such and or but nor not no if while although though because since until
        unless after before during over under between among through across against per via also too very just
        own same other another any some each both either neither more most less least up down out off again
        further once only even still yet ever upon near toward towards along around like s t d ll ve re m didn
        doesn isn wasn weren hasn haven hadn wouldn couldn shouldn cannot can't won't shan't ain't however thus
        therefore hence called named known including according based e.g i.e etc vs""")
)
"""Words that carry grammar rather than content."""

_CONTRACTION = re.compile(r"(?:n't|'(?:s|re|ve|ll|d|m))$")
_IRREGULAR = {
    "won": "win",
    "wins": "win",
    "wrote": "write",
    "written": "write",
    "began": "begin",
    "begun": "begin",
    "made": "make",
    "led": "lead",
    "left": "leave",
    "held": "hold",
    "became": "become",
    "took": "take",
    "taken": "take",
    "gave": "give",
    "given": "give",
    "grew": "grow",
    "grown": "grow",
    "growth": "grow",
    "fell": "fall",
    "fallen": "fall",
    "rose": "rise",
    "risen": "rise",
    "sold": "sell",
    "bought": "buy",
    "built": "build",
    "found": "find",
    "lost": "lose",
    "died": "die",
    "death": "die",
    "dead": "die",
    "deaths": "die",
    "married": "marry",
    "marriage": "marry",
    "birth": "born",
    "births": "born",
    "sang": "sing",
    "sung": "sing",
    "spoke": "speak",
    "spoken": "speak",
    "said": "say",
    "told": "tell",
    "went": "go",
    "gone": "go",
    "came": "come",
    "ran": "run",
    "saw": "see",
    "seen": "see",
    "met": "meet",
    "sent": "send",
    "spent": "spend",
    "paid": "pay",
    "payment": "pay",
    "brought": "bring",
    "caught": "catch",
    "taught": "teach",
    "thought": "think",
    "fought": "fight",
    "chose": "choose",
    "chosen": "choose",
    "choice": "choose",
    "drew": "draw",
    "drawn": "draw",
    "drove": "drive",
    "driven": "drive",
    "knew": "know",
    "shown": "show",
    "wore": "wear",
    "men": "man",
    "women": "woman",
    "children": "child",
    "people": "person",
    "persons": "person",
    "feet": "foot",
    "mice": "mouse",
    "wives": "wife",
    "lives": "life",
    "leaves": "leave",
    "species": "species",
    "series": "series",
    "news": "news",
    "better": "good",
    "best": "good",
    "worse": "bad",
    "worst": "bad",
    "further": "far",
    "analyses": "analysis",
    "crises": "crisis",
    "criteria": "criterion",
    "data": "data",
    "bacteria": "bacterium",
    "production": "produce",
    "reduction": "reduce",
    "introduction": "introduce",
    "description": "describe",
    "organization": "organise",
    "organisation": "organise",
    "organizations": "organise",
    "arrival": "arrive",
    "approval": "approve",
    "dying": "die",
    "lying": "lie",
    "using": "use",
    "used": "use",
    "french": "france",
    "british": "britain",
}


_BRITISH = {
    "grey": "gray",
    "centre": "center",
    "theatre": "theater",
    "tyre": "tire",
    "plough": "plow",
    "metre": "meter",
    "litre": "liter",
    "fibre": "fiber",
    "defence": "defense",
    "licence": "license",
    "cheque": "check",
}


class Word(NamedTuple):
    """One word of a text."""

    start: int
    end: int
    lower: str
    """In lower case, apostrophes straight."""
    stem: str
    """Key that inflected forms share."""
    is_content: bool
    """False for words that carry grammar rather than content."""


@lru_cache(maxsize=20_000)
def _forms(word: str) -> tuple[str, str, bool]:
    """Lower case, stem, and whether it is a content word."""
    lower = word.lower().replace("’", "'")
    return lower, stem(lower), lower not in FUNCTION_WORDS and _CONTRACTION.sub("", lower) not in FUNCTION_WORDS


def find_words(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """Words of ``text[start:end]`` in order, with offsets in ``text``.

    >>> [(w.lower, w.stem) for w in find_words("Improved results, 1,200 of them")]
    [('improved', 'improv'), ('results', 'result'), ('1,200', '1,200'), ('of', 'of'), ('them', 'them')]
    >>> [w.lower for w in find_words("It was founded in Paris") if w.is_content]
    ['founded', 'paris']
    """
    if start == 0 and end is None and len(text) <= _REPEATED:
        return [*_words_of(text)]
    return [*_read_words(text, start, len(text) if end is None else end)]


_REPEATED = 1_000
"""Characters of a text whose words are remembered: several readers ask for those of a sentence in turn."""


@lru_cache(maxsize=1_000)
def _words_of(text: str) -> tuple[Word, ...]:
    return tuple(_read_words(text, 0, len(text)))


def _read_words(text: str, start: int, end: int) -> Iterator[Word]:
    return (Word(*match.span(), *_forms(match.group())) for match in _WORD.finditer(text, start, end))


def word_offsets(text: str) -> array[int]:
    """Start and end of each word of ``text``, flattened; for texts with very many words.

    >>> [*word_offsets("In Oslo.")]
    [0, 2, 3, 7]
    """
    return array("q", chain.from_iterable(match.span() for match in _WORD.finditer(text)))


def lower_words(text: str, start: int = 0, end: int | None = None) -> list[str]:
    """Words of ``text[start:end]`` in lower case, apostrophes straight; cheaper than ``find_words``.

    >>> lower_words("He improved the results")
    ['he', 'improved', 'the', 'results']
    """
    return [word.lower().replace("’", "'") for word in _WORD.findall(text, start, len(text) if end is None else end)]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Light stem of a lower-case word: plural, tense and common noun endings removed.

    Two words with one stem nearly always share their meaning; the reverse does not hold. Words of three letters or
    fewer, numbers and words with inner points are left alone.

    >>> stem("studies"), stem("improvement"), stem("improved"), stem("running"), stem("founder's")
    ('study', 'improv', 'improv', 'run', 'found')
    """
    if not word.isascii():
        word = _without_marks(word)
    if word.endswith("'s"):
        word = word[:-2]
    elif word.endswith("'"):
        word = word[:-1]
    known = _IRREGULAR.get(word)
    if known == word:
        return word
    if known is not None:
        word = known
    if "." in word:
        word = word.replace(".", "") if not word[0].isdigit() else word
    if len(word) <= 3 or not word.isalpha() or not word.isascii():
        return word
    word = _strip_plural(word)
    word = _BRITISH.get(word) or (word[:-3] + "or" if word.endswith("our") and len(word) > 5 else word)
    once = _strip_ending(word)
    return _tidy(_strip_ending(once))


def _without_marks(word: str) -> str:
    """Without accents and subscripts where a plain Latin letter or digit remains ("café", "CO₂")."""
    plain = (unicodedata.normalize("NFKD", c)[0] if not c.isascii() else c for c in word)
    return "".join(p if p.isascii() else c for p, c in zip(plain, word, strict=True))


def _strip_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


# Longest first; each with the minimum number of letters that must remain.
_ENDINGS = (
    ("isation", 3),
    ("ization", 3),
    ("ational", 4),
    ("ation", 4),
    ("ition", 4),
    ("ement", 4),
    ("ment", 4),
    ("iness", 3),
    ("ness", 4),
    ("ising", 4),
    ("izing", 4),
    ("ating", 3),
    ("ised", 4),
    ("ized", 4),
    ("iser", 3),
    ("izer", 3),
    ("ated", 3),
    ("ator", 4),
    ("ise", 4),
    ("ize", 4),
    ("ate", 4),
    ("ing", 3),
    ("ied", 2),
    ("ed", 3),
    ("ance", 4),
    ("ence", 4),
    ("ally", 4),
    ("ly", 4),
    ("er", 4),
    ("or", 5),
    ("ion", 4),
    ("y", 6),
)


_ALL_ENDINGS = tuple(ending for ending, _ in _ENDINGS)


def _strip_ending(word: str) -> str:
    if not word.endswith(_ALL_ENDINGS):
        return word
    for ending, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            base = word[: -len(ending)]
            if not any(letter in "aeiouy" for letter in base):
                return word
            if ending in ("ied", "iness"):
                return base + "y"
            doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz"
            return base[:-1] if doubled else base
    return word


def _tidy(word: str) -> str:
    """Unify endings that differ between forms of one word: final e, and ie or y."""
    if word.endswith("ie"):
        return word[:-2] + "y"
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


@cache
def synonym_groups() -> Mapping[str, tuple[int, ...]]:
    """Groups of the shipped synonym table by stem; the stems of a phrase are joined by "_".

    >>> groups = synonym_groups()
    >>> bool(set(groups[stem("reduced")]) & set(groups[stem("decreased")]))
    True
    """
    groups: dict[str, tuple[int, ...]] = {}
    for number, line in enumerate(lexicon_lines("synonyms.txt")):
        for entry in line.split():
            key = "_".join(stem(part) for part in entry.split("_"))
            if number not in groups.get(key, ()):
                groups[key] = (*groups.get(key, ()), number)
    return groups


@cache
def antonyms() -> Mapping[str, frozenset[str]]:
    """Antonyms of the shipped table by stem, in both directions.

    >>> stem("decreased") in antonyms()[stem("increased")]
    True
    """
    pairs: dict[str, set[str]] = {}
    for line in lexicon_lines("antonyms.txt"):
        sides = [[stem(word) for word in side.split()] for side in line.split("|")]
        for left, right in permutations(sides, 2):
            for one in left:
                pairs.setdefault(one, set()).update(word for word in right if word != one)
    return {word: frozenset(others) for word, others in pairs.items()}


def lexicon_lines(name: str) -> Iterator[str]:
    """The lines of a shipped word list, without comments."""
    text = files("vouching.text").joinpath("lexicon", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


@cache
def _phrase_starts() -> frozenset[str]:
    """First stems of the phrases of the synonym table."""
    return frozenset(key.split("_")[0] for key in synonym_groups() if "_" in key)


def concepts(words: Sequence[Word]) -> list[tuple[int, ...]]:
    """Synonym groups of each word, alone and as part of a phrase of two or three words.

    >>> fell, died = concepts(find_words("death rates fell")), concepts(find_words("mortality"))
    >>> bool(set(fell[0]) & set(died[0]))
    True
    """
    groups, starts = synonym_groups(), _phrase_starts()
    found = [groups.get(word.stem, ()) for word in words]
    for first, word in enumerate(words):
        if word.stem not in starts:
            continue
        for length in (2, 3):
            phrase = groups.get("_".join(w.stem for w in words[first : first + length]))
            if phrase and first + length <= len(words):
                for position in range(first, first + length):
                    found[position] = (*found[position], *phrase)
    return found
