"""One claim of a question and its short answer: "How many?" and "Four." state something only together."""

from __future__ import annotations

import re

from vouching.claims.questions import PREPOSITIONS, asks_amount, gap_of, is_polar, last_question, polar_statement
from vouching.perturb.verbs import verb_forms
from vouching.text.clauses import finite_verb
from vouching.text.framing import statement_of
from vouching.text.words import FUNCTION_WORDS

_ASSENT = r"sure|certainly|of\s+course|correct|right|exactly|indeed|definitely|absolutely"
_YES_NO = re.compile(
    rf"\W*(?P<word>yes|{_ASSENT}|no|not(?=\s+(?:yet|at\s+all)\b)|never)\b(?:\s+(?:yet|at\s+all|never))?(?P<joint>\s*[,.:;!–—-]*\s*)"
    r"(?:(?:never|not\s+yet|not\s+at\s+all)(?=\W*$))?",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"\W*(?:yes|{_ASSENT}|no|not\s+(?:yet|at\s+all)|never|none)\W*$",
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"""\W*(?:(?P<word>yes|no)\b[\s,.:;!–—-]*)?(?:i|you|he|she|it|we|they|there|that|this|these|those)
    (?:['’]s|['’]re|\s+(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|may|might|must|shall|should))
    (?P<denied>n['’]t|not|\s+not|\s+never)?(?:\s+(?:indeed|yet|at\s+all))?\W*$
    | \W*(?:(?P<also>no)\b[\s,.:;!–—-]*)?(?:i|you|he|she|it|we|they)\s+(?P<irregular>won|can)['’]t\W*$""",
    re.VERBOSE | re.IGNORECASE,
)
"""A short answer that repeats the auxiliary of its question: "Yes, it is.", "No, they don't."."""
_REQUEST = re.compile(r"\b(?:can|could|will|would)\s+you\b[^.!?]*\?\W*$", re.IGNORECASE)
"""What asks for something: "Can you sum it up?"."""
_CLOSING = re.compile(r"[.!\s]*$")
_NUMBER_WORDS = frozenset(
    str.split("""none one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety once twice nothing nobody""")
)
_AMOUNT = re.compile(
    rf"\d|\b(?:{'|'.join(_NUMBER_WORDS)}|hundreds?|thousands?|millions?|billions?|half|quarter|third|dozens?|an?|few|several"
    r"|many|most|all|both|free|unlimited|until|since|always|daily|weekly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)
"""What the answer to "how many" or "how long" has; other answers do not fit the question."""
_MAX_WORDS = 12


def needs_question(sentence: str) -> bool:
    """Whether a sentence is yes or no and nothing else, so that it says something only in answer to a question.

    >>> needs_question("Yes."), needs_question("No, it isn't."), needs_question("Yes, in May."), needs_question("1973")
    (True, True, False, False)
    """
    return bool(_BARE.match(sentence) or _ECHO.match(sentence))


def is_short_answer(sentence: str) -> bool:
    """Whether a sentence states nothing without the question that it answers: it seems to have no verb.

    >>> is_short_answer("Up to 8 seconds."), is_short_answer("Trains start at 8:50.")
    (True, False)
    """
    if needs_question(sentence):
        return True
    stated = statement_of(sentence)
    return len(stated.split()) <= _MAX_WORDS and not finite_verb(stated) and not _may_have_verb(stated)


def _may_have_verb(stated: str) -> bool:
    """Whether a word may be a verb: it can be one, and no article, number or preposition makes it a noun."""
    words = [word.strip(".,;:!?").lower() for word in stated.split()]
    return any(
        word in verb_forms() and not (before and (before in FUNCTION_WORDS or before[:1].isdigit()))
        for before, word in zip(("", *words), words, strict=False)
    )


def claim_of_answer(question: str, answer: str) -> str | None:
    """The claim that a short answer makes, with what comes from the question in square brackets; None if unclear.

    >>> claim_of_answer("How many sons did Ann Lee have?", "Four.")
    '[Ann Lee had] four [sons].'
    >>> claim_of_answer("Can I take my dog?", "No, not into the museum.")
    'No, [you cannot take your dog,] not into the museum.'
    """
    words = last_question(question)
    core = answer.strip()
    if not needs_question(core) and not any(character.isalnum() for character in statement_of(core)):
        return None  # a citation, or only dots
    said, echo = _YES_NO.match(core), _ECHO.match(core)
    if is_polar(words):
        if said and re.fullmatch(_ASSENT, said.group("word"), re.IGNORECASE) and _REQUEST.search(question):
            return None  # "Sure!" states nothing then
        return _of_echo(words, core, echo) if echo else _of_polar(words, core, said)
    if echo:
        return None
    if said and said.group("word").lower() != "no":
        return None
    gap = gap_of(words)
    if gap is None or (asks_amount(words) and not _AMOUNT.search(core)):
        return None
    stop = _CLOSING.search(core)
    stated = core[: stop.start()] if stop else core
    first, last = stated.split()[0].lower(), stated.split()[-1].lower()
    before = gap.before if first in PREPOSITIONS else f"{gap.before} {gap.preposition}".strip()
    after = gap.after.partition(" ")[2] if gap.after.split(" ")[0].lower() == last else gap.after
    opening = f"[{before[:1].upper()}{before[1:]}] " if before else ""
    return f"{opening}{_lowered(stated) if before else stated}{f' [{after}]' if after else ''}."


def _of_echo(words: list[str], core: str, echo: re.Match[str]) -> str | None:
    """The claim of "Yes, it is"; None if it contradicts itself."""
    negated = bool(echo.group("denied") or echo.group("irregular"))
    word = (echo.group("word") or echo.group("also") or "").lower()
    statement = polar_statement(words, negated=negated)
    if statement is None or (word and negated != (word == "no")):
        return None
    return f"{core.rstrip(' .!')} [: {statement}]."


def _of_polar(words: list[str], core: str, said: re.Match[str] | None) -> str | None:
    opening = core.split()[0].lower()
    if said is None and opening not in ("only", "not"):
        return None
    negated = opening == "not" if said is None else said.group("word").lower() in ("no", "not", "never")
    statement = polar_statement(words, negated=negated)
    if statement is None:
        return None
    if said is None:
        return f"[{statement[:1].upper()}{statement[1:]}] {_lowered(core)}"
    rest = core[said.end() :].strip()
    if not any(character.isalnum() for character in rest):
        return f"{core[: said.end()].rstrip(' .!,;:')} [: {statement}]."
    return f"{core[: said.end()].rstrip()} [{statement},] {rest}"


def _lowered(text: str) -> str:
    """``text`` for the middle of a sentence."""
    first = re.match(r"[^\W\d_]+", text)
    word = first.group().lower() if first else ""
    ordinary = word in FUNCTION_WORDS | PREPOSITIONS or word in _NUMBER_WORDS
    return text[:1].lower() + text[1:] if ordinary and (word == "a" or len(word) > 1) else text
