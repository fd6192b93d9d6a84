"""Who does what to whom: the verbs of an English sentence with their subject, object and prepositional phrases.

There is no parser: verbs are found by their form and by the auxiliaries before them, noun phrases are the words between
verbs, prepositions and punctuation. Active and passive sentences, and verbs that tell one relation from two sides
("A sold it to B", "B bought it from A"), have the same roles. Not supported: infinitives, questions, verbs without an
auxiliary that look like nouns, and arguments in another clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from vouching.methods.embedded.verb_groups import (
    AUXILIARY,
    CLAUSE_OPENERS,
    DETERMINERS,
    OBJECT_OPENERS,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATORS,
    Tokens,
    VerbGroup,
    find_verbs,
    is_adverb,
)
from vouching.text.verbs import Valency, noun_valency, verb_key, verb_valency

_RELATIVE = frozenset(("who", "which", "that"))
_QUANTIFIERS = frozenset("all both half of and such only even".split())
_BEFORE_PHRASES = PREPOSITIONS - {"than"}
_ALWAYS_ALONE = PRONOUNS - DETERMINERS
_NEW_PHRASES = OBJECT_OPENERS | {"every", "each"}
_APPOSITION_OPENERS = OBJECT_OPENERS | {"an", "and"}
_TIMES = frozenset("end beginning start middle noon midnight time date day week month year then now".split())
_LONGEST_APPOSITION = 20
"""In words."""
_CACHED = 4_000


@dataclass(frozen=True, slots=True)
class Argument:
    """A noun phrase beside a verb. Offsets are relative to the sentence."""

    start: int
    end: int
    core_end: int
    """End of its core, before the first preposition ("the head" of "the head of the museum")."""
    words: tuple[int, ...]
    """Positions of its words in the sentence."""
    described: tuple[int, ...] = ()
    """Positions of the words of an apposition ("the mayor" in "Ann Lee, the mayor, ...")."""
    pronoun: str = ""
    """In lower case, if it is nothing but a pronoun."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A verb, or a noun such as "teacher", with its arguments by role."""

    relation: str
    """The stem of the verb with its particle, or the name of the relation that it shares with other words."""
    word: int
    """Position of the verb or noun."""
    roles: Mapping[str, Argument]
    passive: bool = False


@lru_cache(maxsize=_CACHED)
def find_frames(text: str) -> tuple[Frame, ...]:
    """The verbs of a sentence with their arguments, in order.

    >>> def show(text):
    ...     return [{role: text[a.start : a.end] for role, a in f.roles.items()} for f in find_frames(text)]
    >>> show("The mill was bought by Ann Lee in 1920.")
    [{'thing': 'The mill', 'receiver': 'Ann Lee', 'in': '1920'}]
    >>> show("Rob Orr sold the mill to Ann Lee.")
    [{'giver': 'Rob Orr', 'thing': 'the mill', 'receiver': 'Ann Lee'}]
    """
    return tuple(_Sentence(text).frames())


class _Sentence:
    """A sentence with its verbs."""

    def __init__(self, text: str) -> None:
        self.tokens = Tokens(text)
        self.words, self.breaks = self.tokens.words, self.tokens.breaks
        self.verbs = find_verbs(self.tokens)
        self.owner = {at: verb for verb in self.verbs for at in range(verb.first, verb.last + 1)}

    def frames(self) -> Iterator[Frame]:
        """The frames, in order."""
        before: tuple[VerbGroup, Argument | None] | None = None
        for verb in self.verbs:
            subject = self._subject(verb, before)
            before = verb, subject
            frame = self._named_relation(verb, subject) if verb.voice == "copula" else self._frame(verb, subject)
            if frame is not None:
                yield frame
        yield from self._appositions()

    # Arguments

    def _subject(self, verb: VerbGroup, before: tuple[VerbGroup, Argument | None] | None) -> Argument | None:
        end = verb.first - 1
        while end >= 0 and is_adverb(self.words[end].lower) and not self.breaks[end + 1]:
            end -= 1
        if end < 0:
            return None
        word = self.words[end].lower
        if word in ("and", "but", "or"):
            return before[1] if before else None
        if word in _RELATIVE and end > 0:
            end -= 1
            while end > 0 and is_adverb(self.words[end].lower):
                end -= 1
            return self._identified(self._nearest_phrase(end), before)
        if self.breaks[end + 1] and any(mark in self.tokens.gap(end + 1) for mark in ":;|\n"):
            return None
        if self.breaks[end + 1] and verb.reduced and before:
            return None
        if self.words[verb.first].lower == "having":
            return before[1] if before else None
        if self.breaks[end + 1] and not verb.reduced:
            return self._before_insertion(end)
        return self._identified(self._phrase_ending(end), before)

    def _identified(self, phrase: Argument | None, before: tuple[VerbGroup, Argument | None] | None) -> Argument | None:
        """A phrase with what it is said to be: in "Gin is a spirit which ..." the spirit is gin."""
        if phrase is None or before is None or before[1] is None or before[0].voice != "copula":
            return phrase
        follows = phrase.words[0] == before[0].last + 1
        return replace(phrase, described=(*phrase.described, *before[1].words)) if follows else phrase

    def _before_insertion(self, end: int) -> Argument | None:
        """The noun phrase before an insertion in commas or brackets that ends here ("Ann Lee, a physicist, ...")."""
        start = end
        while start > 0 and not self.breaks[start]:
            start -= 1
        if start == 0:
            return None
        verb = next((self.owner[at] for at in range(start, end + 1) if at in self.owner), None)
        if verb is not None and self.words[start].lower not in (*_RELATIVE, "whose", "where"):
            return None
        phrase = self._phrase_ending(start - 1)
        return replace(phrase, described=tuple(range(start, end + 1))) if phrase and verb is None else phrase

    def _phrase_ending(self, end: int) -> Argument | None:
        """The noun phrase whose last word is at ``end``."""
        start = end
        if self.words[end].lower in PRONOUNS and not (end > 0 and self.tokens.is_capital(end)):
            return self._argument(end, end)
        while start >= 0 and self._inside(start) and (start == end or not self.breaks[start + 1]):
            if self.words[start].lower in CLAUSE_OPENERS and self._clause_before(start):
                break
            if self.words[start].lower == "and" and self._clause_before(start):
                break
            start -= 1
        start += 1
        while start <= end and (is_adverb(self.words[start].lower) or self.words[start].lower == "and"):
            start += 1
        if start <= end and self.words[start].lower in PREPOSITIONS:
            start = self._after_opening_phrase(start, end)
        return self._argument(start, end) if start <= end else None

    def _nearest_phrase(self, end: int) -> Argument | None:
        """The noun phrase right before "who" or "which", without what it depends on."""
        phrase = self._phrase_ending(end)
        if phrase is None:
            return None
        breaks = [at for at in phrase.words if self.words[at].lower in PREPOSITIONS and self.words[at].lower != "of"]
        return self._argument(breaks[-1] + 1, end) if breaks and breaks[-1] < end else phrase

    def _inside(self, at: int) -> bool:
        word = self.words[at].lower
        return at not in self.owner and word not in SUBORDINATORS and word not in AUXILIARY

    def _clause_before(self, at: int) -> bool:
        """Whether a verb stands before "and" in the same clause."""
        return any(verb.last < at for verb in self.verbs)

    def _after_opening_phrase(self, start: int, end: int) -> int:
        """Where the subject begins after "In 1936" or "After the fire": at a capital, number or determiner."""
        for at in range(start + 2, end + 1):
            opens = self.tokens.is_capital(at) and not self.tokens.is_capital(at - 1)
            if (opens or self.words[at].lower in DETERMINERS) and self.words[at - 1].lower not in PREPOSITIONS:
                return at
            if self.words[at].lower in PRONOUNS:
                return at
        return start + 1 if self.words[start].lower in CLAUSE_OPENERS else end + 1

    def _phrase_starting(self, start: int) -> Argument | None:
        """The noun phrase that begins at ``start``."""
        if start >= len(self.words) or self.breaks[start]:
            return None
        return self._phrase_from(start)

    def _phrase_from(self, start: int) -> Argument | None:
        if start >= len(self.words) or not self._inside(start) or self.words[start].lower in _BEFORE_PHRASES:
            return None
        if self.words[start].lower in _ALWAYS_ALONE:
            return self._argument(start, start)
        end = start
        while end + 1 < len(self.words) and not self.breaks[end + 1] and self._inside(end + 1):
            word = self.words[end + 1].lower
            if word in PREPOSITIONS and word != "of":
                break
            if word == "and" and self._verb_follows(end + 2):
                break
            if word in _NEW_PHRASES and self.words[end].lower not in _QUANTIFIERS:
                break
            end += 1
        while end > start and (self.words[end].lower in ("and", "of") or is_adverb(self.words[end].lower)):
            end -= 1
        return replace(self._argument(start, end), described=tuple(self._apposition(end + 1)))

    def _apposition(self, start: int) -> Sequence[int]:
        """The words that describe what stands before them ("the mayor"), or that continue a list of it."""
        if start >= len(self.words) or not self.breaks[start] or self.tokens.gap(start).strip() not in (",", "("):
            return ()
        opens = self.words[start].lower in _APPOSITION_OPENERS or self.tokens.is_capital(start)
        if self.tokens.gap(start).strip() == "," and not opens:
            return ()
        end = chunk = start
        while end < len(self.words) and end < start + _LONGEST_APPOSITION and not self.tokens.is_number(end):
            if end in self.owner or self.words[end].lower in SUBORDINATORS:
                return range(start, chunk)  # the last words are the subject of another verb
            if self.breaks[end] and end > start:
                if self.tokens.gap(end).strip() != "," or self.words[end].lower in PREPOSITIONS:
                    break
                chunk = end
            end += 1
        return range(start, end)

    def _verb_follows(self, at: int) -> bool:
        return any(place in self.owner for place in range(at, min(at + 4, len(self.words))))

    def _argument(self, start: int, end: int) -> Argument:
        words = self.words
        core = end
        for at in range(start + 1, end + 1):
            capitals = (
                words[at].lower == "of"
                and self.tokens.is_capital(at - 1)
                and at < end
                and self.tokens.is_capital(at + 1)
            )
            if words[at].lower in PREPOSITIONS and not capitals:
                core = at - 1
                break
        alone = words[start].lower if start == end and words[start].lower in PRONOUNS else ""
        return Argument(words[start].start, words[end].end, words[core].end, tuple(range(start, end + 1)), (), alone)

    # Frames

    def _frame(self, verb: VerbGroup, subject: Argument | None) -> Frame | None:
        key = verb_key(self.words[verb.main].lower)
        if verb.last > verb.main:
            key += f"_{self.words[verb.last].lower}"
        target = self._phrase_starting(verb.last + 1)
        phrases = self._prepositional(verb)
        valency = verb_valency(key)
        if valency.relation == "give" and "with" in phrases:
            valency = Valency("give", "giver", "receiver", {"with": "thing"})
        if valency.relation == "succeed" and valency.subject == "later" and "with" in phrases:
            valency = Valency("succeed", "agent", "earlier", {"with": "later"})
        found: list[tuple[str, Argument | None]] = []
        if verb.voice == "passive":
            # "Ann was given the prize": the subject is the receiver.
            second = target is not None and "to" in valency.prepositions
            found.append((valency.prepositions["to"] if second else valency.object, subject))
            found.extend([(valency.object, target)] if second else [])
            found.append((valency.subject, phrases.pop("by", None)))
        else:
            found.append((valency.subject, subject))
            second = self._phrase_starting(target.words[-1] + 1) if target and "to" in valency.prepositions else None
            if second is not None:  # "gave Ann the prize"
                found.append((valency.prepositions["to"], target))
            found.append((valency.object, second or target))
        found.extend((valency.prepositions.get(word, word), phrase) for word, phrase in phrases.items())
        roles: dict[str, Argument] = {}
        for role, argument in found:
            if argument is not None and argument.words:
                roles.setdefault(role, argument)
        return Frame(valency.relation, verb.main, roles, verb.voice == "passive") if roles else None

    def _prepositional(self, verb: VerbGroup) -> dict[str, Argument]:
        """What follows each preposition after a verb, up to the next verb or the end of the clause."""
        found: dict[str, Argument] = {}
        at = verb.last + 1
        while at < len(self.words) and self._inside(at):
            if self.breaks[at] and (self.words[at].lower not in PREPOSITIONS or ";" in self.tokens.gap(at)):
                break
            word = self.words[at].lower
            if word in PREPOSITIONS and word != "of":
                phrase = None if self.tokens.is_gerund(at + 1) else self._phrase_starting(at + 1)
                if word == "by" and phrase is not None and self._is_time(phrase):
                    phrase = None
                if phrase is not None:
                    found.setdefault(word, phrase)
                    at = phrase.words[-1]
            at += 1
        return found

    def _is_time(self, phrase: Argument) -> bool:
        """Whether a phrase is a time or an amount ("by the end of May")."""
        last = [at for at in phrase.words if self.words[at].end <= phrase.core_end][-1]
        of = last + 1 < len(self.words) and self.words[last].lower in _TIMES
        return of or any(self.tokens.is_number(at) for at in phrase.words[:2])

    def _named_relation(self, verb: VerbGroup, subject: Argument | None) -> Frame | None:
        """The relation of "A is the teacher of B" or "A was B's teacher"."""
        complement = self._phrase_starting(verb.last + 1)
        if subject is None or complement is None:
            return None
        for at in complement.words:
            valency = noun_valency(self.words[at].lower)
            if valency is None:
                continue
            other = self._possessor(at) or self._of(at)
            if other is not None:
                return Frame(valency.relation, at, {valency.subject: subject, valency.object: other})
        return None

    def _appositions(self) -> Iterator[Frame]:
        """The relations of "B's teacher A" and "his teacher A"."""
        for at in range(1, len(self.words) - 1):
            valency = noun_valency(self.words[at].lower)
            name = self.tokens.is_capital(at + 1)
            possessor = self._possessor(at) if valency and name else None
            if valency is not None and possessor is not None:
                other = self._phrase_from(at + 1)
                if other is not None:
                    yield Frame(valency.relation, at, {valency.subject: other, valency.object: possessor})

    def _possessor(self, noun: int) -> Argument | None:
        """The "B" of "B's former teacher", or "his"."""
        for at in range(noun - 1, max(-1, noun - 4), -1):
            word = self.words[at].lower
            if word in ("his", "her", "its", "their"):
                return self._argument(at, at)
            if word.endswith(("'s", "s'")):
                start = at
                while start > 0 and self.tokens.is_capital(start - 1) and not self.breaks[start]:
                    start -= 1
                return self._argument(start, at)
            if self.breaks[at]:
                return None
        return None

    def _of(self, noun: int) -> Argument | None:
        if noun + 2 < len(self.words) and self.words[noun + 1].lower in ("of", "to"):
            return self._phrase_from(noun + 2)
        return None
