"""Names without a model: capitalised runs, acronyms and quoted titles, and when two names mean the same thing.

A capitalised word that opens a sentence may be a name or just a word; it is reported with ``certain=False``. Not
supported: types of entity (person, place), names written in lower case, and languages without capitals.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from vouching.text.words import FUNCTION_WORDS, Word, find_words, stem

_CAPITAL = f"[{''.join(c for c in map(chr, range(ord('A'), 0x0590)) if c.isupper())}]"
"""Capitals of the Latin, Greek, Cyrillic and Armenian alphabets."""
_NAME_WORD = rf"(?:{_CAPITAL}[\w’']*(?:\.(?=\w)\w*)*(?:-\w+)*\.?)"
_JOINER = r"(?:of|de|del|della|da|di|du|van|von|der|den|la|le|el|al|bin|ibn|y|&)"
_RUN = re.compile(rf"{_NAME_WORD}(?:[ \t]+(?:(?:{_JOINER}[ \t]+){{1,2}}(?:the[ \t]+)?)?{_NAME_WORD})*")
_QUOTED = re.compile(r"[\"“«]([^\"“”«»\n]{2,80})[\"”»]|``([^`'\n]{2,80})''")
_INITIAL_STOP = re.compile(
    r"(?:^|[\s.(])(?:[A-Z]|Dr|Mr|Mrs|Ms|St|Jr|Sr|Prof|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Inc|Corp|Ltd|Co|U\.S|U\.K|U\.N)\.$"
)

_LONGER_WORD = re.compile(r"[^\W\d_]{4,}")
_HEADLINE_WORDS, _HEADLINE_SHARE, _HEADLINE_READ = 5, 0.9, 400
_LONGEST_ACRONYM = 6

_TITLES = frozenset(
    str.split("""mr mrs ms dr prof professor president sir lord lady king queen prince princess saint st senator
        governor general colonel captain pope emperor chancellor minister judge justice the jr sr inc corp ltd
        co llc film novel album song band city state county river lake mount university""")
)
_CALENDAR = frozenset(
    str.split("""january february march april may june july august september october november december monday
        tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec""")
)
# Forms that do not follow from spelling; the names of a row mean the same.
_SAME = (
    "us|usa|united states|united states of america|america|american|americans",
    "uk|united kingdom|britain|great britain|british",
    "eu|european union",
    "un|united nations",
    "ussr|soviet union|soviet",
    "uae|united arab emirates",
    "nyc|new york city",
    "la|los angeles",
    "dc|washington dc|district of columbia",
    "france|french",
    "germany|german|germans",
    "italy|italian|italians",
    "spain|spanish|spaniard",
    "england|english",
    "japan|japanese",
    "china|chinese",
    "russia|russian|russians",
    "india|indian|indians",
    "canada|canadian|canadians",
    "australia|australian|australians",
    "mexico|mexican",
    "brazil|brazilian",
    "ireland|irish",
    "scotland|scottish",
    "wales|welsh",
    "sweden|swedish",
    "norway|norwegian",
    "denmark|danish|dane",
    "finland|finnish",
    "poland|polish",
    "greece|greek",
    "turkey|turkish",
    "egypt|egyptian",
    "israel|israeli",
    "iran|iranian",
    "iraq|iraqi",
    "korea|korean",
    "vietnam|vietnamese",
    "thailand|thai",
    "netherlands|dutch|holland",
    "belgium|belgian",
    "switzerland|swiss",
    "austria|austrian",
    "portugal|portuguese",
    "argentina|argentine|argentinian",
    "cuba|cuban",
    "ukraine|ukrainian",
    "czech republic|czech|czechia",
    "hungary|hungarian",
    "romania|romanian",
    "africa|african",
    "europe|european",
    "asia|asian",
    "philippines|filipino",
    "pakistan|pakistani",
    "nigeria|nigerian",
    "chile|chilean",
    "covid|covid 19|covid19|coronavirus|sars cov 2|2019 ncov|coronavirus disease 2019",
    "nba|national basketball association",
    "nfl|national football league",
    "world war ii|second world war|wwii|ww2|world war two",
    "world war i|first world war|wwi|ww1|world war one",
)


@dataclass(frozen=True, slots=True)
class Entity:
    """A name in a text."""

    start: int
    end: int
    text: str
    """As written."""
    kind: Literal["name", "acronym", "title"]
    """A capitalised run, a run of capitals, or words in quotation marks."""
    certain: bool
    """False for a single capitalised word at the start of a sentence, which may be an ordinary word."""

    @property
    def key(self) -> str:
        """The name in lower case without titles, points and articles; equal keys mean equal names.

        >>> find_entities("He met Dr. Alexander Fleming.")[0].key
        'alexander fleming'
        """
        return name_key(self.text)


def find_entities(text: str, sentence_starts: Sequence[int] = (0,)) -> list[Entity]:
    """Names in ``text``, in order. A capital at one of ``sentence_starts`` (offsets) does not mark a name.

    >>> [(e.text, e.certain) for e in find_entities("Penicillin was found by Marie Curie for the WHO")]
    [('Penicillin', False), ('Marie Curie', True), ('WHO', True)]
    """
    starts = set(sentence_starts)
    found = [
        Entity(m.start(m.lastindex or 0), m.end(m.lastindex or 0), m.group(m.lastindex or 0), "title", True)
        for m in _QUOTED.finditer(text)
        if any(word[:1].isupper() for word in m.group(m.lastindex or 0).split())
    ]
    quoted = list(found)
    is_headline = _is_headline(text)
    for match in _RUN.finditer(text):
        for entity in _split_run(text, match.start(), match.end(), starts):
            hidden = is_headline and entity.kind != "acronym"
            before = bisect_right(quoted, entity.start, key=lambda title: title.start) - 1
            if not hidden and (before < 0 or quoted[before].end <= entity.start):
                found.append(entity)
    found.sort(key=lambda entity: entity.start)
    return found


def _is_headline(text: str) -> bool:
    """True if nearly every longer word is capitalised, so that capitals do not mark names."""
    words = _LONGER_WORD.findall(text, 0, _HEADLINE_READ)
    return len(words) >= _HEADLINE_WORDS and sum(w[0].isupper() for w in words) >= _HEADLINE_SHARE * len(words)


def _split_run(text: str, start: int, end: int, starts: set[int]) -> list[Entity]:
    """Cut a capitalised run at the ends of sentences and drop leading function words and calendar words."""
    pieces: list[tuple[int, int]] = []
    begin = start
    for word in re.finditer(r"\S+", text[start:end]):
        word_end = start + word.end()
        if (
            text[word_end - 1] == "."
            and word_end < end
            and not _INITIAL_STOP.search(text[max(0, word_end - 8) : word_end])
        ):
            pieces.append((begin, word_end - 1))
            begin = word_end + 1
    if begin < end:
        pieces.append((begin, end))
    entities: list[Entity] = []
    for piece_start, piece_end in pieces:
        entity = _trim(text, piece_start, piece_end, piece_start in starts or piece_start != start)
        if entity is not None:
            entities.append(entity)
    return entities


def _trim(text: str, start: int, end: int, opens_sentence: bool) -> Entity | None:
    words = find_words(text, start, end)
    named = [position for position, word in enumerate(words) if not _is_no_name(text, word)]
    if not named:
        return None
    opens_sentence = opens_sentence and named[0] == 0
    numbered = text[words[-1].start : words[-1].end] == "I" and named[-1] == len(words) - 2  # "World War I"
    words = words[named[0] : named[-1] + 1 + numbered]
    first, last = words[0].start, words[-1].end
    name = text[first:last]
    if name.endswith(("'s", "’s")):
        name, last = name[:-2], last - 2
    if len(name) < 2:
        return None
    letters = [c for c in name if c.isalpha()]
    is_acronym = len(words) == 1 and 1 < len(letters) <= _LONGEST_ACRONYM and all(c.isupper() for c in letters)
    certain = is_acronym or len(words) > 1 or not opens_sentence
    return Entity(first, last, name, "acronym" if is_acronym else "name", certain)


def _is_no_name(text: str, word: Word) -> bool:
    """Function words and calendar words are not names, unless spelt in capitals ("WHO", "US")."""
    if text[word.start : word.end].isupper() and word.end - word.start > 1:
        return False
    return word.lower in FUNCTION_WORDS or word.lower in _CALENDAR


@lru_cache(maxsize=5_000)
def name_key(name: str) -> str:
    """Lower-case form of a name without titles, points, articles and possessives.

    >>> name_key("The U.S."), name_key("President Barack Obama's")
    ('us', 'barack obama')
    """
    words = [w.lower.removesuffix("'s").replace(".", "") for w in find_words(name)]
    kept = [w for w in words if w not in _TITLES and w not in ("the", "a", "an")]
    return " ".join(kept or words)


@cache
def _canonical() -> dict[str, int]:
    return {form: row for row, forms in enumerate(_SAME) for form in forms.split("|")}


def same_entity(one: str, other: str) -> bool:
    """True if two names can mean the same: equal, known aliases, an acronym and its long form, or one shortened.

    Every word of a shorter form must occur in the longer one: "Fleming" for "Alexander Fleming", but also "Paris" for
    "Paris Hilton".

    >>> same_entity("WHO", "World Health Organization"), same_entity("Fleming", "Alexander Fleming")
    (True, True)
    >>> same_entity("Marie Curie", "Pierre Curie"), same_entity("French", "France")
    (False, True)
    """
    key_one, key_other = name_key(one), name_key(other)
    if key_one == key_other:
        return True
    canonical = _canonical()
    if key_one in canonical and key_other in canonical:
        return canonical[key_one] == canonical[key_other]
    short, long = sorted((key_one.split(), key_other.split()), key=len)
    if not short:
        return False
    if (
        len(short) == 1
        and len(long) > 1
        and short[0] == "".join(w[0] for w in long if w not in ("of", "the", "and", "for"))
    ):
        return True
    if len(short) < len(long):
        stems = [stem(w) for w in long]
        return all(stem(w) in stems for w in short)
    return len(short) == len(long) and [stem(w) for w in short] == [stem(w) for w in long]
