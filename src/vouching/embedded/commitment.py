"""What a sentence only mentions: says that others say, denies, supposes, asks or wishes, without asserting it.

Evidence is what a source asserts in its own voice about the world. "Ann claims that the bridge is closed" asserts what
Ann claims; that the bridge is closed is mentioned. ``text.attitudes`` has the words that show it. A clause after "that"
under a word that it does not have is mentioned too. Not supported: irony, mentions that go on over several sentences,
and other languages than English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from vouching.embedded.attitudes import (
    DETERMINERS,
    PARTS,
    TOKEN,
    Attitude,
    Cue,
    PartOfSpeech,
    attitude_of,
    cue_at,
    cues,
)
from vouching.text.clauses import finite_verb


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of a sentence that its author does not assert."""

    start: int
    end: int
    attitude: Attitude
    cue: tuple[int, int] = (0, 0)
    """The word that shows it, if it is inside."""


SCOPE_END = re.compile(
    r";|\s[—–-]\s|(?<=[a-z]{3})[.!?][\"']?\s+(?=[\"'(]?[A-Z])|,?\s+(?:but|although|though|however|whereas)\b"
    r"|,\s+(?:while|so|yet)\b"
)
"""Where a clause under a verb ends, if not with the sentence."""
_COPULAS = frozenset(
    "is are was were be been being isn't aren't wasn't weren't it's that's remains became seems finds makes".split()
)
_BARE = frozenset(
    """say think believe claim hope wish suppose insist guess fear admit suspect assume imagine know pretend swear
    rumour dream reveal feel tell""".split()
)
"""Verbs that often take a clause without "that"."""
_OF_SPEECH = frozenset("say think believe tell insist guess suspect".split())
"""Verbs with little else after them than a clause."""
_NO_VERBS = frozenset("so such in of by and or but as now given provided except is was are were than all".split())
"""Words before "that" that no clause depends on."""
_TIMES = frozenset("day night week month year time morning afternoon evening same way".split())
_SUBJECT = re.compile(
    r"(?:[A-Z\d\"']|(?:the|a|an|his|her|its|their|our|this|that|these|those|he|she|it|they|there|we)\b)"
)
_ABOUT_SUBJECT = re.compile(r"[\s\"']*(?:he|she|it|they|his|her|its|their)\b", re.I)
"""Opens a clause about the subject of its verb ("Ann said she ...")."""
_FRONTED = re.compile(
    r"\s*(?:despite|contrary to|in spite of|notwithstanding|amid|after|although|though|while|unlike)\b", re.I
)
"""Opens a sentence whose main clause comes after a comma."""
_PROVED_TRUE = re.compile(
    r"\b(?:turned out|turns out|proved|proves) (?:\w+ )?(?:to be )?(?:true|right|correct|accurate)\b", re.I
)
_NOW_THAT = re.compile(r"(?:^|[,;.]\s*)\W*(?:given|now|in|considering|seeing|granted)\s+that\s*$", re.I)
_ADVERB = re.compile(r"\b(?:allegedly|reportedly|supposedly|purportedly|ostensibly|hypothetically|apparently)\b", re.I)
_SAID_TO = re.compile(
    r"\b(?:is|are|was|were|been|being)(?: \w+)?? (?P<wrongly>(?:falsely|wrongly|mistakenly|erroneously|incorrectly) )?"
    r"(?:said|believed|thought|rumou?red|alleged|reported|claimed|supposed|assumed|held|reputed)"
    r"(?: (?:by|among|in) [^,.;]{1,40})? (?:to|as)\b",
    re.I,
)
_ACCORDING = re.compile(
    r"\b(?:according to|as (?:claimed|alleged) by|in the (?:words|view|opinion|eyes) of"
    r"|in (?:\w+'s|his|her|their|my) (?:view|opinion|words|account|telling)|for (?:many|some) (?:critics|fans))\b",
    re.I,
)
_FICTION = re.compile(
    r"\bin (?:\w+ \w+ of )?(?:the|this|that|his|her|their|a|an|one|another|some)\s+(?:[\w'-]+\s+){0,4}?"
    r"(?:novel|film|movie|story|tale|play|musical|opera|game|series|episode|simulation|scenario|timeline|universe"
    r"|(?:alternate|alternative|parallel|imaginary|fictional|hypothetical|fictitious) \w+|exercise|parody|satire"
    r"|sketch|fiction|sequel|screenplay|legend|fable|comic|dream|fantasy|world of \w+)\b",
    re.I,
)
_IF = re.compile(
    r"(?:^|[,;:(—]\s*|\b(?:and|or|but|only|even|then)\s+)(?P<if>(?:even |only |as |what )?if\b|unless\b|in case\b|say,"
    r"|(?P<whole>suppose|supposing|assuming|assume|imagine|pretend|(?:let us|let's) (?:say|suppose|assume|imagine))\b"
    r"|were\b(?= [\w']+ (?:\w+ )?to\b)|had\b(?= [\w' ]{1,60}? \w+(?:ed|en|un|t)\b[^.?]*would)"
    r"|should\b(?= [\w']+ \w+ ))",
    re.I,
)
"""Conditions; after those of the group "whole" nothing of the sentence is asserted."""
_WHETHER = re.compile(r"\b(?:whether|(?:unclear|unknown|unsure|asked|ask|asks|wonder(?:s|ed)?|doubts?) if)\b", re.I)
FALSE = re.compile(
    r"\b(?:(?:is|are|was|were|has been|have been|had been|proved|turned out|turns out|being|be|remains) "
    r"(?:\w+ ){0,3}?)(?:false|untrue|wrong|incorrect|mistaken|inaccurate|unfounded|baseless|nonsense|bogus|fake"
    r"|fabricated|invented|retracted|withdrawn|struck out|debunked|refuted|disproved|disproven|discredited|rejected"
    r"|denied|corrected|dismissed|(?:an? |the )?(?:\w+ )?(?:myth|misconception|hoax|fallacy|falsehood|lie|fiction"
    r"|fabrication|mistake|error|misunderstanding|rumou?r|canard))\b"
    r"|\b(?:isn't|wasn't|aren't|weren't|(?:is|was|are|were) not) (?:\w+ )?(?:true|correct|accurate|right|the case|so)\b"
    r"|\b(?:(?:has|have) (?:never|not|yet to) be(?:en)?|remains to be|was never|could not be|cannot be) (?:shown|proved"
    r"|proven|confirmed|established|verified|substantiated)\b|\b(?:contrary to|no truth)\b",
    re.I,
)
"""Says of what stands before it that it is false."""
NOT_SO = re.compile(
    r"\b(?:(?:it (?:is|was)|it's|is) (?:not|no longer) (?:true|correct|accurate|right|the case|a fact)"
    r"|(?:it (?:isn't|wasn't)|isn't) (?:true|correct|the case|a fact)|contrary to (?:\w+ ){1,6}?(?=that)"
    r"|(?:there is|there was|there's) no truth (?:to|in) (?:\w+ ){0,5}?(?=that))\s*,?\s*that\b",
    re.I,
)
_ASSERTING = re.compile(
    r"\b(?:(?:it (?:is|was)|it's) (?:(?:\w+ )?(?:true|correct|a fact)|(?:only |not until )?(?:in|on|at|during|after"
    r"|before|from|by|with|through|then|here|there|because of)\b[^,.;]{0,40}?)|(?:so|such) [^,.;]{1,40}?) that\b",
    re.I,
)
"""Sentences with "that" whose clause is asserted: "it is true that", "it was in May that", "so far that"."""
_QUOTE = re.compile(r"(?<![\w\"])\"([^\"]{2,400})\"|(?<![\w'])'((?:[^']|(?<=\w)'(?=\w)){2,400})'(?!\w)|`([^`]{2,400})`")
LONGEST = 2_000
"""Characters of a sentence that are read."""
_NEXT_TO = 6
"""Words beside a quotation."""
_LONGEST_SPEAKER = 12
"""Words after a clause that name its speaker."""


def asserts(before: str) -> bool:
    """Whether the words before a clause, up to "that", assert it although no word with a clause is among them.

    >>> asserts("Now that"), asserts("It was in May that"), asserts("The horoscope is that")
    (True, True, False)
    """
    return _ASSERTING.search(before) is not None or _NOW_THAT.search(before) is not None


@lru_cache(maxsize=4_000)
def find_mentions(sentence: str) -> tuple[Mention, ...]:
    """The stretches of a sentence that it does not assert, in order; they may lie inside one another.

    >>> text = "Ann wrongly believes that the bridge is closed, but the ferry runs."
    >>> [(text[m.start : m.end], m.attitude) for m in find_mentions(text)]
    [(' the bridge is closed', 'denied')]
    >>> find_mentions("Ann knows that the bridge is closed.")
    ()
    """
    text = sentence[:LONGEST].translate(_STRAIGHT)
    tokens = list(TOKEN.finditer(text))
    words = [token[0].lower() for token in tokens]
    if _telling_words().isdisjoint(words):
        return ()
    found = {
        *_asked(text),
        *_of_cues(text, tokens, words),
        *_of_other_words(text, tokens, words),
        *_denied(text),
        *_conditions(text),
        *_framed(text),
        *_quoted(text),
        *_said_to(text),
        *_attributed(text),
        *_wished(text),
    }
    return tuple(sorted((m for m in found if text[m.start : m.end].strip(" .,\"'")), key=lambda m: (m.start, m.end)))


@cache
def _telling_words() -> frozenset[str]:
    """Words and signs without one of which nothing is only mentioned."""
    others = """? that if unless whether case say suppose assuming let were had should according as for in set due
    tipped scheduled tries tried attempt attempts attempted intend intends intended aim aims aimed considers considered
    discusses discussed threatens threatened allegedly reportedly supposedly purportedly ostensibly hypothetically
    apparently isn't""".split()
    of_cues = (form for forms in cues().values() for form in forms)
    return frozenset([*others, *of_cues])


_STRAIGHT = str.maketrans("’‘“”", "''\"\"")


def _asked(text: str) -> Iterator[Mention]:
    if text.rstrip(" \"')*_").endswith("?"):
        yield Mention(0, len(text), "asked")
    for match in _WHETHER.finditer(text):
        yield Mention(match.end(), _scope_end(text, match.end()), "supposed")


def _scope_end(text: str, start: int) -> int:
    """The end of a clause that starts at ``start``: of the quotation, if it is one, or of its scope."""
    opening = re.match(r"\s*([\"'`])", text[start:])
    if opening:
        closing = text.find(opening[1], start + opening.end())
        if closing > 0:
            return closing
    end = SCOPE_END.search(text, start)
    return end.start() if end else len(text.rstrip(" ."))


def _of_cues(text: str, tokens: Sequence[re.Match[str]], words: Sequence[str]) -> Iterator[Mention]:
    """Clauses that depend on a verb, a noun or an adjective."""
    for at in range(len(words)):
        for part in PARTS:
            cue = cue_at(words, at, part)
            start = _clause_after(text, tokens, words, at, part, cue) if cue else None
            if cue is None or start is None:
                continue
            attitude = attitude_of(text[: tokens[at].start()], words, at, cue, part)
            end = _scope_end(text, start)
            if (comma := text.find(",", start, end)) > 0 and _FRONTED.match(text):
                end = comma
            false = _false(text, end if attitude else start)
            if part == "noun" and _PROVED_TRUE.search(text, start):
                pass
            elif attitude:
                yield Mention(start, end, "denied" if false else attitude)
                if part == "verb" and _ABOUT_SUBJECT.match(text, start):
                    yield Mention(_clause_start(text, tokens[at].start()), end, attitude, tokens[at].span())
            elif part == "noun" and false:
                yield Mention(start, false.start(), "denied")
            break


def _clause_after(
    text: str, tokens: Sequence[re.Match[str]], words: Sequence[str], at: int, part: PartOfSpeech, cue: Cue
) -> int | None:
    """Where the clause of a cue begins: after "that", a colon or an opening quotation mark, or at once."""
    if part == "adjective" and _COPULAS.isdisjoint(words[max(0, at - 4) : at]):
        return None
    reach = 9 if part == "verb" else 1 if part == "noun" else 2
    for step in range(at + 1, min(len(words), at + 1 + reach)):
        if words[step] == "that" and words[step - 1] not in ("in", "of", "for", "with", "to"):
            return tokens[step].end() if len(words) > step + 2 and words[step + 1] not in _TIMES else None
        if words[step] in ('"', "'", "`", ":"):
            opens = words[step] == ":" or _opens_quote(text, tokens[step].start())
            field = words[step] == ":" and (words[at].endswith("ing") or (part == "noun" and at > 2))
            if part == "adjective" or field or not opens:
                return None
            return tokens[step].end() if words[step] == ":" else tokens[step].start()
        if words[step] in (".", ";", "and", "or", "which", "who") or (words[step] == "," and part != "verb"):
            break
        if step > at + 1 and (cue_at(words, step, "verb") or words[step] in _COPULAS):
            break
    return _bare_clause(text, tokens, words, at, cue.base) if part == "verb" else None


def _opens_quote(text: str, at: int) -> bool:
    return text[at - 1 : at] in ("", " ", ":", "(") and not text[at + 1 : at + 2].isspace()


def _bare_clause(text: str, tokens: Sequence[re.Match[str]], words: Sequence[str], at: int, base: str) -> int | None:
    """Where a clause without "that" begins: after the verb, or after the listener."""
    start = at + 2 if base == "tell" else at + 1
    if base not in _BARE or start >= len(words) - 1 or (at and words[at - 1] in (",", '"', "'")):
        return None
    after = text[tokens[start].start() :]
    has_verb = base in _OF_SPEECH or finite_verb(after[: _scope_end(after, 0)])
    return tokens[start].start() if words[start] != "that" and _SUBJECT.match(after) and has_verb else None


def _of_other_words(text: str, tokens: Sequence[re.Match[str]], words: Sequence[str]) -> Iterator[Mention]:
    """Clauses after "that" under words that are no cues; not relative clauses."""
    for at in range(1, len(words) - 2):
        if words[at] != "that" or words[at + 1] in _TIMES or not words[at - 1].isalpha():
            continue
        before = words[max(0, at - 5) : at]
        if any(word in cues()[part] for word in before for part in PARTS) or _ASSERTING.search(
            text, 0, tokens[at].end()
        ):
            continue
        follows_noun = before[-1] in _NO_VERBS or not DETERMINERS.isdisjoint(before[-3:])
        if not follows_noun and _SUBJECT.match(text[tokens[at].end() :].lstrip()):
            yield Mention(tokens[at].end(), _scope_end(text, tokens[at].end()), "reported")


def _false(text: str, start: int) -> re.Match[str] | None:
    """The last words that say of what stands before them that it is false."""
    found = FALSE.search(text, start)
    while found and (later := FALSE.search(text, found.start() + 1)):
        found = later
    return found


def _denied(text: str) -> Iterator[Mention]:
    for match in NOT_SO.finditer(text):
        yield Mention(match.end(), _scope_end(text, match.end()), "denied")
    if re.match(r"\s*(?:that|the \w+ that)\b", text, re.I) and (false := _false(text, 0)):
        yield Mention(0, false.start(), "denied")


_WISHED_TO = re.compile(
    r"\b(?:(?:wants?|wanted|hopes?|hoped|wishes|wished|plans?|planned|intends?|intended|aims?|aimed|proposes?"
    r"|proposed|asked|asks|demands?|demanded|promises?|promised|threatens?|threatened|expects?|expected|tipped|due|set"
    r"|scheduled|tries|tried|attempts?|attempted) to|(?:suggests?|suggested|proposes?|proposed|considers?|considered"
    r"|discuss(?:es|ed)?) (?=\w+ing\b))",
    re.I,
)
"""Verbs with an infinitive or a gerund that need not come true."""


def _wished(text: str) -> Iterator[Mention]:
    for match in _WISHED_TO.finditer(text):
        yield Mention(_clause_start(text, match.start()), _scope_end(text, match.end()), "supposed", match.span())


def _conditions(text: str) -> Iterator[Mention]:
    irreal = _IF.search(text) and re.search(r"\bwould\b", text, re.I)
    if irreal:
        yield Mention(0, len(text), "supposed", irreal.span())
    for match in _IF.finditer(text):
        comma = text.find(",", match.end("if"))
        yield Mention(match.end("if"), len(text) if match["whole"] or comma < 0 else comma, "supposed")


def _framed(text: str) -> Iterator[Mention]:
    """The words next to "according to ..." or "in the novel ...", and clauses with "allegedly"."""
    frames: tuple[tuple[re.Pattern[str], Attitude], ...] = ((_ACCORDING, "reported"), (_FICTION, "supposed"))
    for pattern, attitude in frames:
        for match in pattern.finditer(text):
            comma = text.find(",", match.end())
            if text[: match.start()].strip(" \"'("):
                yield Mention(0, match.start(), attitude)
            elif comma >= 0 or attitude == "supposed":
                yield Mention(comma + 1 if comma >= 0 else match.end(), len(text), attitude)
    for match in _ADVERB.finditer(text):
        yield Mention(_clause_start(text, match.start()), _scope_end(text, match.end()), "reported")


def _clause_start(text: str, before: int) -> int:
    return max((match.end() for match in SCOPE_END.finditer(text, 0, before)), default=0)


def _said_to(text: str) -> Iterator[Mention]:
    for match in _SAID_TO.finditer(text):
        end = _scope_end(text, match.end())
        shares_subject = text[: match.start()].rstrip().endswith(" and")
        start = match.start() if shares_subject else _clause_start(text, match.start())
        yield Mention(start, end, "denied" if match["wrongly"] else "reported")


def _attributed(text: str) -> Iterator[Mention]:
    """A clause before its speaker: "The bridge is closed, Ann said."."""
    for comma in re.finditer(r",[\"']?\s|[.!?,][\"']\s", text):
        words = [word.lower() for word in re.findall(r"[\w'-]+", text[comma.end() :])]
        if not 1 < len(words) <= _LONGEST_SPEAKER or words[0] == "as" or "that" in words or '"' in text[comma.end() :]:
            continue
        verbs = [(at, cue) for at, word in enumerate(words) if (cue := cues()["verb"].get(word))]
        if len(verbs) != 1 or verbs[0][1].kind not in ("neutral", "supposed", "counter"):
            continue
        at, cue = verbs[0]
        ends = at in (0, len(words) - 1) or words[at + 1] in ("on", "in", "at", "to", "of", "when")
        if ends and finite_verb(text[: comma.start()]):
            yield Mention(0, comma.start(), "denied" if cue.kind == "counter" else "reported")


def _quoted(text: str) -> Iterator[Mention]:
    """Quotations of whole clauses beside a word of saying."""
    for match in _QUOTE.finditer(text):
        inner = next(group for group in match.groups() if group is not None)
        if len(inner.split()) < 3 or not finite_verb(inner):
            continue
        if _false(text[: match.start()] + " " + text[match.end() :], 0):
            yield Mention(match.start(), match.end(), "denied")
        elif any(_is_of_speech(word) for word in _beside(text, *match.span())):
            yield Mention(match.start(), match.end(), "reported")


def _beside(text: str, start: int, end: int) -> list[str]:
    """The words next to a stretch, in lower case."""
    before, after = re.findall(r"[^\W\d_]+", text[:start]), re.findall(r"[^\W\d_]+", text[end:])
    return [word.lower() for word in (*before[-_NEXT_TO:], *after[:_NEXT_TO])]


def _is_of_speech(word: str) -> bool:
    found = (cues()["verb"].get(word), cues()["noun"].get(word))
    return any(cue and cue.kind in ("neutral", "counter") for cue in found)
