"""Inflected forms of the listed verbs, and the main verb of a simple sentence with its subject.

A main verb is found only where short lists are unambiguous: not after a comma, a relative clause or a second candidate.
Without it, a strategy proposes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

from vouching.text.words import Word

VerbForm = Literal["base", "third", "past", "participle"]
_IRREGULAR_THIRD = {"have": "has", "be": "is", "do": "does", "go": "goes"}


class Verb(NamedTuple):
    """A verb with its forms: "write", "wrote", "written"."""

    base: str
    past: str
    participle: str

    @property
    def third(self) -> str:
        """Third person singular of the present: "carry" -> "carries"."""
        if self.base in _IRREGULAR_THIRD:
            return _IRREGULAR_THIRD[self.base]
        if self.base.endswith(("s", "x", "z", "ch", "sh")):
            return f"{self.base}es"
        return f"{self.base[:-1]}ies" if _ends_in_consonant_y(self.base) else f"{self.base}s"


@cache
def verb_forms() -> Mapping[str, tuple[tuple[Verb, VerbForm], ...]]:
    """The possible verbs and forms of each lower-case word.

    >>> [(verb.base, form) for verb, form in verb_forms()["wrote"]]
    [('write', 'past')]
    """
    forms: dict[str, tuple[tuple[Verb, VerbForm], ...]] = {}
    for verb in _listed():
        named: tuple[tuple[str, VerbForm], ...] = (
            (verb.base, "base"),
            (verb.third, "third"),
            (verb.past, "past"),
            (verb.participle, "participle"),
        )
        for form, name in named:
            if (verb, name) not in forms.get(form, ()):
                forms[form] = (*forms.get(form, ()), (verb, name))
    return forms


def verb_in(word: str, form: VerbForm) -> Verb | None:
    """The verb of which a lower-case word is this form, or None."""
    return next((verb for verb, name in verb_forms().get(word, ()) if name == form), None)


def is_finite(word: str) -> bool:
    """Whether a lower-case word can be a past tense or a third person."""
    return verb_in(word, "past") is not None or verb_in(word, "third") is not None


def lexicon_lines(name: str) -> Iterator[str]:
    """Lines of a shipped word list, without comments and blank lines."""
    text = files("vouching.perturb").joinpath("lexicon", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))


def _listed() -> Iterator[Verb]:
    for line in lexicon_lines("verbs.txt"):
        forms = line.split()
        regular = _regular_past(forms[0])
        yield Verb(*forms) if len(forms) == 3 else Verb(forms[0], regular, regular)


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return f"{base}d"
    return f"{base[:-1]}ied" if _ends_in_consonant_y(base) else f"{base}ed"


def _ends_in_consonant_y(base: str) -> bool:
    return base.endswith("y") and base[-2:-1] not in "aeiou"


AUXILIARIES = frozenset(
    str.split("is are was were has have had can could will would may might must should did does do")
)
"""Words directly followed by "not"."""
_HAVE: dict[str, Literal["past", "third", "base"]] = {"has": "third", "had": "past", "have": "base"}
_DO = frozenset(("do", "does", "did"))
_STOPS = frozenset(
    str.split("""who which that whose where when while if because although though since until unless as than to not
    never no nor neither either whether how what why there so yes well did you i let just""")
)
_NO_SUBJECT = frozenset(str.split("also then later says said is has been now still even includes click read here"))
_BREAKS = _STOPS | frozenset(("and", "but", "or", "before", "after"))
_INTRODUCING = frozenset(str.split("in on at by during from with according despite under for as after since"))
_DETERMINERS = frozenset(
    str.split("a an the his her its their our my your this these that those some any no every each")
)
_PLURALS = frozenset(str.split("people men women children they we both police"))
_AFTER_VERB = _DETERMINERS | frozenset(
    str.split("""in on at to from for with by as into about up out off over under through many several most all both two
    three four five him them it us only more less against between among around""")
)
AMBIGUOUS_VERBS = frozenset(
    str.split("""act aim air attack attempt award back base benefit boost break broadcast burn call cause change
    claim climb control cost cover crash cross cut date deal debut decline decrease design display draw
    drink drive drop end escape experience export face fall feature fight file film find finish fire
    focus force form function fund gain hail harm head help hit hold host impact import increase
    influence issue joke judge jump kill lack land launch lead limit link list live love mark measure
    mention model move murder name need note offer order paint pass pay place plan play praise present
    print promise purchase question raise range rank reach record release rent repair report rescue
    return review ride rise rule run sail save score search set share shift ship show sign slip spread
    stand star start state step stop store stream strike study supply support swim target taste test
    throw tie tour train transfer transport travel treat try turn use visit vote walk watch welcome wish
    work wound""")
)
"""Verbs whose third person may be the plural of a noun."""
_PRONOUNS = frozenset(("he", "she", "it", "they", "we"))
_BROKEN_BY = re.compile(r"[,;:()\[\]\"“”—–]|--|\.\s")
_MAX_WORDS = 14


class MainVerb(NamedTuple):
    """The finite verb of a sentence, with its subject."""

    start: int
    end: int
    kind: Literal["auxiliary", "past", "third", "base"]
    """An auxiliary or form of "be", or the tense of a listed verb; "base" is the plural present."""
    verb: Verb | None
    """None for an auxiliary."""
    subject_start: int
    subject_end: int
    following: str
    """The next word in lower case; "" at the end."""


def find_main_verb(text: str, words: Sequence[Word]) -> MainVerb | None:
    """The main verb of the sentence of ``text`` with these words; None where it is ambiguous.

    >>> from vouching.text.words import find_words
    >>> sentence = "In 2018, the British company sold its last plant."
    >>> verb = find_main_verb(sentence, find_words(sentence))
    >>> sentence[verb.start : verb.end], sentence[verb.subject_start : verb.subject_end], verb.kind
    ('sold', 'the British company', 'past')
    >>> find_main_verb("The man who left sold it.", find_words("The man who left sold it.")) is None
    True
    """
    first = _first_of_subject(text, words)
    if words and (words[first].lower in AUXILIARIES or words[first].lower in _NO_SUBJECT):
        return None
    for at in range(first, min(len(words), first + _MAX_WORDS)):
        word = words[at]
        if word.lower in _STOPS or (at > first and _BROKEN_BY.search(text, words[at - 1].end, word.start)):
            return None
        if at == first or text[word.start].isupper():
            continue
        found = _as_verb(text, words, first, at)
        if found == "unsure":
            return None
        if found is not None:
            kind, verb = found
            following = words[at + 1].lower if at + 1 < len(words) else ""
            subject = words[first].start, words[at - 1].end
            return MainVerb(word.start, word.end, kind, verb, *subject, following)
    return None


_Found = tuple[Literal["auxiliary", "past", "third", "base"], Verb | None]


def _first_of_subject(text: str, words: Sequence[Word]) -> int:
    """Position of the first word after an introduction such as "In 2018,"."""
    if not words or words[0].lower not in _INTRODUCING:
        return 0
    for at in range(1, min(len(words), 8)):
        gap = text[words[at - 1].end : words[at].start]
        if "," in gap and not words[at].lower[0].isdigit():
            return at
        if words[at].lower in _PRONOUNS or (words[at].lower == "the" and words[at - 1].lower[0].isdigit()):
            return at
    return 0


def _as_verb(text: str, words: Sequence[Word], first: int, at: int) -> _Found | Literal["unsure"] | None:
    """The kind of main verb that the word at a position is; None if it is not one, "unsure" if it is ambiguous."""
    word, before = words[at], words[at - 1]
    following = words[at + 1] if at + 1 < len(words) else None
    if word.lower in AUXILIARIES:
        lexical = word.lower in _HAVE and (following is None or not _is_participle(following.lower))
        if word.lower in _DO and (following is None or not verb_in(following.lower, "base")):
            return "unsure"
        return (_HAVE[word.lower], verb_in("have", "base")) if lexical else ("auxiliary", None)
    if "'" in word.lower or word.lower == "been":
        return "unsure"
    if before.lower in _DETERMINERS:
        return None
    if verb := verb_in(word.lower, "past"):
        ambiguous = verb_in(word.lower, "base") is not None
        passive = following is not None and following.lower == "by"
        return "unsure" if ambiguous or passive or _finite_follows(text, words, at) else ("past", verb)
    if verb := verb_in(word.lower, "third"):
        return _third(text, words, first, at, verb)
    if verb := verb_in(word.lower, "base"):
        plural = before.lower in _PLURALS or (
            before.lower.endswith("s") and not before.lower.endswith(("ss", "us", "is"))
        )
        continues = following is not None and _opens_object(text, following)
        return ("base", verb) if plural and continues and not _finite_follows(text, words, at) else None
    return "unsure" if word.lower.endswith("ed") else None


def _third(text: str, words: Sequence[Word], first: int, at: int, verb: Verb) -> _Found | Literal["unsure"]:
    before, following = words[at - 1], words[at + 1] if at + 1 < len(words) else None
    named = text[before.start].isupper() or before.lower in _PRONOUNS
    plural_noun = before.lower.endswith("s") and not before.lower.endswith(("ss", "us", "is")) and not named
    if plural_noun or words[first].lower in ("these", "those", "many", "several") or following is None:
        return "unsure"
    sure = named or verb.base not in AMBIGUOUS_VERBS or _opens_object(text, following)
    blocked = following.lower in ("of", "and", "or") or verb_forms().get(following.lower) is not None
    return ("third", verb) if sure and not blocked and not _finite_follows(text, words, at) else "unsure"


def _opens_object(text: str, word: Word) -> bool:
    """Whether a word can follow a verb but rarely a noun."""
    return word.lower in _AFTER_VERB or text[word.start].isupper() or text[word.start].isdigit()


def _is_participle(word: str) -> bool:
    return verb_in(word, "participle") is not None or word in ("been", "also", "not") or word.endswith("ed")


def _finite_follows(text: str, words: Sequence[Word], at: int) -> bool:
    """Whether another finite verb follows in the same clause, so that the one at ``at`` may be a participle."""
    for position in range(at + 1, len(words)):
        word = words[position]
        if word.lower in _BREAKS or _BROKEN_BY.search(text, words[position - 1].end, word.start):
            return False
        if text[word.start].isupper():
            continue
        forms = {name for _, name in verb_forms().get(word.lower, ())}
        following = words[position + 1].lower if position + 1 < len(words) else ""
        present = "third" in forms and (following in _AFTER_VERB or following == "of")
        if word.lower in AUXILIARIES or present or ("past" in forms and "participle" not in forms):
            return True
    return False
