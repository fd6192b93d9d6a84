"""Split a compound English sentence into clauses that can be checked one by one, using short lists of verbs.

There is no parser. A sentence is split only where both sides have a finite verb from the lists and nothing on the left
can have scope over the right (reported speech, a relative or conditional clause; negation if the subject is shared).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from vouching.text.framing import statement_of
from vouching.text.verbs import is_common_verb
from vouching.text.words import FUNCTION_WORDS

_BE = frozenset(str.split("""is are was were 's isn't aren't wasn't weren't"""))
_HAVE = frozenset(str.split("""has have had hasn't haven't hadn't"""))
_AUXILIARY = (
    _BE
    | _HAVE
    | frozenset(
        str.split("""can could will would may might must shall should does do did can't cannot couldn't won't
        wouldn't doesn't don't didn't""")
    )
)
# Past tenses that are not participles as well, so that they must be the verb of a clause.
_PAST = frozenset(
    str.split("""went took wrote began gave became saw knew grew rose fell drew drove flew sang spoke broke chose
        wore threw swam ate came ran died arose stole shook forgot rode""")
)
_PAST_OR_PARTICIPLE = frozenset(
    str.split("""made held led left won built sold lost met found told taught brought bought kept spent sent
        fought caught felt meant paid shot said thought stood sat struck set put cut hit became overcame""")
)
# Third persons that are no plural nouns.
_PRESENT = frozenset(
    str.split("""includes contains provides becomes remains describes requires allows gives consists belongs
        depends refers seems appears exists takes makes goes comes offers lies serves explains suggests
        tells says receives features operates discusses argues concludes mentions highlights""")
)
_PRESENT_OR_NOUN = frozenset(str.split("""offers lies features says tells serves highlights"""))
_NOT_PAST = frozenset(
    str.split("""hundred sacred naked wicked red bed shed need indeed speed seed feed breed exceed proceed
        succeed embed infrared kindred hatred so-called unlimited limited renowned advanced""")
)
_ADVERBS = frozenset(
    str.split("""also then later eventually subsequently soon finally currently now still quickly once""")
)
_PRONOUNS = frozenset(str.split("""he she it they we there this these"""))
_DETERMINERS = frozenset(str.split("""the a an his her its their our this these that those"""))
_AFTER_A_PAST = (
    _DETERMINERS
    | _ADVERBS
    | frozenset(
        str.split("""in on at to from for with by as into out up off over under through until him them himself
        herself itself about against away back one two three four five six seven eight nine ten many
        several both all more""")
    )
)
_REACHES_OVER = re.compile(
    r"\b(?:that|which|who|whom|whose|where|when|while|if|unless|whether|because|although|though|than|not|never|no|"
    r"neither|nor|either|both|said|says|say|claim(?:s|ed)?|report(?:s|ed)|believ(?:es?|ed)|argu(?:es?|ed)|"
    r"suggest(?:s|ed)?|stated|according|mention(?:s|ed)?|rumou?red|may|might|could|would|should|must)\b|n['’]t\b",
    re.IGNORECASE,
)
_SAYING = (
    r"that|said|says?|claim(?:s|ed)?|report(?:s|ed)|believ(?:es?|ed)|argu(?:es?|ed)|suggest(?:s|ed)?|stated|according|"
    r"mention(?:s|ed)?|rumou?red"
)
_REACHES_CLAUSE = re.compile(
    rf"\b(?:which|who|whom|whose|where|when|while|if|unless|whether|because|although|though|neither|either|both|only|"
    rf"{_SAYING})\b",
    re.IGNORECASE,
)
"""What reaches over a clause with a subject of its own; a negation of the first does not."""
_REACHES_SEMICOLON = re.compile(rf"\b(?:{_SAYING}|if|unless|whether)\b", re.IGNORECASE)
_SINGULAR = frozenset(str.split("""is was has does isn't wasn't hasn't doesn't"""))
"""After two subjects a verb is plural: with one of these, what is right of "and" is a clause."""
_DEGREES = frozenset(str.split("""only about nearly almost around exactly just over"""))
_OPENS_OR_CLOSES = frozenset(str.split("""opens closes costs ends lasts begins lies sits weighs measures owns"""))
_SUBORDINATE = re.compile(r"\b(?:after|before|since|until|as)\b(.*)", re.IGNORECASE | re.DOTALL)
_QUANTIFIED = re.compile(r"(?:no|nobody|none|nothing|few|every|each|some|many|most|any|only|all|what|there)\b", re.I)
_PREPOSITION = re.compile(
    r"(?:in|on|at|during|by|from|for|with|under|despite|after|before|since|until|as|according|based|among)\b", re.I
)
_INTRODUCTION = re.compile(
    rf"(?:{_PREPOSITION.pattern}|(?:overall|additionally|moreover|furthermore|also|later|then|finally|lastly|first|today|"
    r"however|therefore|instead|unfortunately|meanwhile)\b)[^,]*,\s+",
    re.I,
)
_JOINT = re.compile(
    r"\s*(?P<semicolon>;)(?:\s+(?:and|but)\b)?\s+|(?P<comma>,)\s+(?:and|but)\s+|\s+(?:and|but)\s+(?!/)"
    r"|(?P<contrast>,?\s+(?:while|whereas|(?:even\s+)?though|although)\s+)|(?P<alone>,)\s+",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|['’]s\b|[^\w\s]")
_OPENS_NO_STATEMENT = re.compile(
    r"how|what|who|whom|whose|which|that|where|when|why|whether|if|because|before|after|until|once|while|unless|let"
)
_NUMBERING = re.compile(r"^(?:[\divx]{1,4}[.)]\s*)+", re.IGNORECASE)
_AROUND = "#*_\"“'‘`> \t.!?:："
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"), ("``", "''"))
_MAX_SUBJECT = 8
"""Words of a subject that may be repeated before a clause."""
_MAX_JOINTS = 24
"""Joints checked in one sentence; a longer chain is a list, and each check reads the clause so far."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a sentence with its own finite verb."""

    start: int
    end: int
    subject: str = ""
    """The subject shared with the clause before; empty if the clause has its own."""


def split_clauses(sentence: str) -> list[Clause]:
    """Split a sentence at "and", "but", "while", "although", commas and ";" where both sides are clauses.

    Returns at least one clause, in order; between clauses are only conjunctions, commas, semicolons and white space.
    A sentence in another language than English is not split.

        >>> sentence = "Ann Lee was born in 1912 and moved to Paris in 1930."
        >>> [(sentence[c.start : c.end], c.subject) for c in split_clauses(sentence)]
        [('Ann Lee was born in 1912', ''), ('moved to Paris in 1930.', 'Ann Lee')]
    """
    clauses: list[Clause] = []
    start, subject = 0, ""
    for joint in islice(_JOINT.finditer(sentence), _MAX_JOINTS):
        if joint.start() <= start or _unbalanced(sentence[: joint.start()]):
            continue
        left = f"{subject} {sentence[start : joint.start()]}" if subject else sentence[start : joint.start()]
        taken_over = _second_subject(statement_of(left).strip() or left, sentence[joint.end() :], joint)
        if taken_over is not None:
            clauses.append(Clause(start, joint.start(), subject))
            start, subject = joint.end(), taken_over
    return [*clauses, Clause(start, len(sentence), subject)]


def subject_of(clause: str) -> str:
    """The words before the first finite verb, without introductory phrases and appositions; "" without such a verb.

    >>> subject_of("In 1903, Marie Curie, a physicist, won the prize.")
    'Marie Curie'
    """
    clause = clause.lstrip(" *_\"“'‘")
    introduction = _INTRODUCTION.match(clause)
    clause = clause[introduction.end() :] if introduction else clause
    tokens = _tokens(clause)
    verb = _first_finite(tokens)
    if not verb or _PREPOSITION.match(clause):
        return ""
    words = clause[: tokens[verb].start()].strip()
    while words.split() and words.split()[-1].lower() in _ADVERBS:
        words = words.rsplit(None, 1)[0] if len(words.split()) > 1 else ""
    if "," in words:
        if not words.endswith(","):
            return ""
        words = words.split(",")[0]
    words = re.sub(r"\s*\([^()]*\)$", "", words).strip(" *_")
    fits = 0 < len(words.split()) <= _MAX_SUBJECT and words.lower() not in _DETERMINERS - {"this", "these"}
    return words if fits else ""


def finite_verb(text: str) -> bool:
    """Whether a text contains a verb that the lists know as finite.

    >>> finite_verb("Marie Curie won the prize."), finite_verb("the prize of 1903")
    (True, False)
    """
    return _first_finite(_tokens(text)) is not None


def states(phrase: str) -> bool:
    """Whether a phrase such as a heading, in any case, is a sentence: a subject, a finite verb and what follows it.

    A verb form that is a noun or a participle as well counts with an object, or, a past tense, after a subject with an
    article. What opens with a question word or a conjunction, or has one before its verb, states nothing.

    >>> states("The Bridge Opened in 1999"), states("Refunds take 90 days"), states("The bridge is closed")
    (True, True, True)
    >>> states("Key features"), states("How it works"), states("Documents you will need"), states("Pets allowed")
    (False, False, False, False)
    """
    bare = _NUMBERING.sub("", phrase.strip(_AROUND))
    words = re.findall(r"[^\W\d_]{4,}", bare)
    in_capitals = len(words) > 1 and all(word[0].isupper() for word in words)
    return any(_states(_tokens(text)) for text in dict.fromkeys((bare, bare.lower() if in_capitals else bare)))


def _states(tokens: Sequence[re.Match[str]]) -> bool:
    verb = next((at for at in range(1, len(tokens) - 1) if _is_verb_of(tokens, at)), None)
    before = [_lower(token) for token in tokens[:verb]]
    if verb is None or before[0] in _AUXILIARY or any(_OPENS_NO_STATEMENT.fullmatch(word) for word in before):
        return False
    # "documents you will need", "things to do", "the date the contract was signed": the verb describes a noun.
    describing = _PRONOUNS | {"you", "i", "to"}
    return not any(
        word in describing or (word in _DETERMINERS and left.isalnum() and left not in FUNCTION_WORDS)
        for left, word in pairwise(before)
    )


def _is_verb_of(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Whether the token is surely the finite verb of what is before it."""
    word, following = _lower(tokens[at]), tokens[at + 1].group()
    if tokens[at].group()[0].isupper() or not following[0].isalnum():
        return False
    if word in _AUXILIARY:
        return word != "'s" and not (word == "may" and following[0].isdigit())
    has_article = _lower(tokens[0]) in _DETERMINERS | _PRONOUNS
    if word in _PAST or (_singular_at(tokens, at) and (has_article or word in _OPENS_OR_CLOSES)):
        return True
    has_object = _has_object(tokens, at)
    if _is_past(word) or word in _PRESENT:
        return has_object or (_is_past(word) and has_article)
    return has_object and _lower(tokens[at - 1]).endswith("s") and word.isalpha() and is_common_verb(word)


def _tokens(text: str) -> list[re.Match[str]]:
    return list(_TOKEN.finditer(text))


def _lower(token: re.Match[str]) -> str:
    return token.group().replace("’", "'").lower()


def _is_past(word: str) -> bool:
    """Whether a lower-case word looks like a past tense or a participle."""
    regular = len(word) > 3 and word.isalpha() and word.endswith("ed") and word not in _NOT_PAST
    return regular or word in _PAST_OR_PARTICIPLE


def _first_finite(tokens: Sequence[re.Match[str]]) -> int | None:
    """Position of the first token that is, or looks like, a finite verb."""
    for position, token in enumerate(tokens):
        word = _lower(token)
        if token.group()[0].isupper() and position > 0:
            continue
        if word in _AUXILIARY or word in _PAST or word in _PRESENT or _is_past(word):
            possessive = word == "'s" and (position == 0 or _lower(tokens[position - 1]) not in _PRONOUNS)
            if not possessive:
                return position
        if position == 0 and word in ("he", "she", "it") and len(tokens) > 1 and _lower(tokens[1]).endswith("s"):
            return 1
    return None


def _second_subject(left: str, right: str, joint: re.Match[str]) -> str | None:
    """The subject that ``right`` shares; "" if it has its own; None if the sentence must not be split here."""
    tokens, following = _tokens(left), _tokens(right[:200])
    verb = _first_finite(tokens) or _present_after_noun(tokens)
    reaches = _REACHES_SEMICOLON if joint["semicolon"] else _REACHES_CLAUSE
    if not verb or len(following) < 2 or reaches.search(left):
        return None
    subordinate = _SUBORDINATE.search(left, tokens[verb].end())
    if subordinate and finite_verb(subordinate.group(1)):
        return None
    sure = bool(joint["semicolon"] or joint["comma"] or joint["contrast"])
    if _own_subject(following, sure, plural=sure or _is_surely_finite(tokens, verb)):
        return "" if not joint["alone"] or not _PREPOSITION.match(left) else None
    shares = not joint["contrast"] and not joint["alone"] and len(tokens) > 2 and len(following) > 2
    if not shares or _REACHES_OVER.search(left):
        return None
    if _lower(tokens[-1]).endswith("ed") and _lower(following[0]).endswith("ed"):
        return None  # "directed and produced by ...": two verbs with one object
    if not _verb_opens(following, [_lower(token) for token in tokens[verb:]]):
        return None
    subject = subject_of(left)
    named = subject[:1].isupper() or subject.split(" ")[0].lower() in _DETERMINERS
    return subject if named and not _QUANTIFIED.match(subject) else None


def _own_subject(tokens: Sequence[re.Match[str]], after_comma: bool, plural: bool) -> bool:
    """Whether a clause opens with its own subject and a finite verb soon after.

    Without a comma before "and", a participle counts only with an object ("Ben won 4 medals"), and a verb that may be
    plural only where ``plural`` says that the clause before has its verb.
    """
    first = _lower(tokens[0])
    if first in _PRONOUNS:
        second = _lower(tokens[2] if _lower(tokens[1]) in _ADVERBS else tokens[1])
        return second in _AUXILIARY or second in _PAST or second in _PRESENT or _is_past(second)
    named = first in _DETERMINERS or tokens[0].group()[0].isupper()
    if not named and not (_may_be_noun(first) and (after_comma or first.endswith("s") or _singular_at(tokens, 1))):
        return False
    all_capital = named and first not in _DETERMINERS
    for at, token in enumerate(tokens[1 : 8 if named else 4 if after_comma else 2], 1):
        word, capital = _lower(token), token.group()[0].isupper()
        if word == "." and tokens[at - 1].group() in _TITLES:
            continue
        if not word[0].isalnum() or word in _ENDS_SUBJECT:
            return False
        if _singular_at(tokens, at):
            return True
        if not capital and plural:
            if word in _AUXILIARY or word in _PAST or (after_comma and all_capital and _is_past(word)):
                return True
            if _is_past(word) and _has_object(tokens, at):
                return True
        all_capital = all_capital and capital
    return False


def _may_be_noun(word: str) -> bool:
    """Whether a lower-case word without an article may be a subject ("costs fell")."""
    other = word.endswith("ly") or _is_past(word) or word in FUNCTION_WORDS | _ADVERBS | _PRESENT | _PAST | _NO_NOUNS
    return word.isalpha() and not other


_TITLES = frozenset(str.split("""Dr Mr Mrs Ms Prof St Lt Gen Col Sen Rep"""))
_NO_NOUNS = frozenset(str.split("""always sometimes perhaps afterwards nowadays besides often never"""))
_ENDS_SUBJECT = _PRONOUNS | frozenset(str.split("""who which that whose where when to if and or than"""))


def _singular_at(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Whether a token is a verb that only a single subject can have ("is", "closes at 6")."""
    word = _lower(tokens[at])
    if word in _SINGULAR:
        return True
    if at + 1 >= len(tokens) or not word.endswith("s") or word.endswith(("ss", "us", "is")) or word == "'s":
        return False
    known = word in _PRESENT - _PRESENT_OR_NOUN or word in _OPENS_OR_CLOSES or is_common_verb(word)
    following, before = tokens[at + 1].group(), _lower(tokens[at - 1])
    goes_on = (
        following.lower() in _DEGREES
        or _lower(tokens[at + 1]) in _AFTER_A_PAST
        or following[0].isdigit()
        or following[0].isupper()
    )
    plural = before.endswith("s") and not before.endswith(("ss", "us", "is"))
    return known and goes_on and not plural and before not in _DETERMINERS


def _present_after_noun(tokens: Sequence[re.Match[str]]) -> int | None:
    """Position of the first present tense that is known by its neighbours ("The shop closes at 6")."""
    return next((at for at in range(1, len(tokens)) if _singular_at(tokens, at)), None)


def _is_surely_finite(tokens: Sequence[re.Match[str]], verb: int) -> bool:
    """Whether a verb cannot be a participle: "the rules posted for dogs" may be no clause."""
    word = _lower(tokens[verb])
    return not _is_past(word) or word in _AUXILIARY or _has_object(tokens, verb)


def _has_object(tokens: Sequence[re.Match[str]], verb: int) -> bool:
    if verb + 1 >= len(tokens):
        return False
    following = tokens[verb + 1].group()
    return following.lower() in _DETERMINERS or following[0].isdigit() or following[0].isupper()


def _verb_opens(tokens: Sequence[re.Match[str]], before: Sequence[str]) -> bool:
    """Whether a clause without a subject opens with a finite verb, given the words of the clause before it.

    A past tense that may be a participle ("was loved and respected") counts only if no auxiliary before it can govern
    it and what follows shows that it is not an adjective ("studied physics and applied mathematics").
    """
    at = 1 if _lower(tokens[0]) in _ADVERBS else 0
    word, following = _lower(tokens[at]), tokens[at + 1]
    if word in _AUXILIARY or word in _PAST or word in _PRESENT - _PRESENT_OR_NOUN:
        return word != "'s"
    if not _is_past(word):
        return False
    after = before[1] if len(before) > 1 else ""
    copula = before[0] in _BE and (after == "born" or after in ("a", "an", "the"))
    if before[0] in _AUXILIARY and not copula and not (before[0] in _HAVE and after in ("a", "an", "the")):
        return False
    sign = following.group()[0]
    return _lower(following) in _AFTER_A_PAST or sign.isdigit() or sign.isupper()


def _unbalanced(text: str) -> bool:
    """Whether a quotation or a bracket is still open at the end of the text."""
    straight = text.count('"') - sum(text.count(f'{digit}"') for digit in "0123456789")
    return straight % 2 == 1 or any(text.count(opening) > text.count(closing) for opening, closing in _PAIRS)
