"""Reading an answer to a question about a response: yes, no or unclear, and the reason and quotation beside it.

An answer in other words is none: a judge that says "mostly" was asked again, and has then no vote. Left out: yes and no
in other languages than English, in which the question is put.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vouching.text.thoughts import spoken

_WORDS: dict[str, bool | None] = {
    "yes": True, "no": False, "unclear": None, "uncertain": None, "unsure": None,
}  # fmt: skip
_WORD = rf"({'|'.join(_WORDS)})\b"
_ANNOUNCED = re.compile(
    rf"(?P<line>^\W*)?\b(?:answer|verdict|judge?ment)\b\W{{1,6}}(?:is\W{{1,4}})?{_WORD}(?P<rest>.*)",
    re.IGNORECASE | re.MULTILINE,
)
_OTHER = re.compile(_WORD, re.IGNORECASE)
_OPENING = re.compile(rf"\W*{_WORD}\W*?(?:[.,;:!(\n–—*]|\s-\s|\Z)", re.IGNORECASE)
_FIELD = r"^[\s*_>-]*{}\b[*_]*\s*[:=][*_]*[ \t]*(.*?)[ \t*_]*$"
_REASON = re.compile(_FIELD.format("reason(?:ing)?"), re.IGNORECASE | re.MULTILINE)
_QUOTE = re.compile(_FIELD.format("quot(?:e|ation)"), re.IGNORECASE | re.MULTILINE)
_NOTHING = ("", "none", "n/a", "null", "-")
_QUOTATION_MARKS = "\"'“”„«»`"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a judge said to one question."""

    vote: bool | None
    """Yes, no, or None for "unclear"."""
    reason: str = ""
    """Why, where it was asked."""
    quote: str = ""
    """The words of the response that decide it, as the judge has them; where it was asked, and there are any."""


def read_answer(reply: str) -> Answer | None:
    r"""The answer in a reply; None if it holds none, or several.

    >>> read_answer("**Yes.**").vote, read_answer("Unclear").vote, read_answer("Mostly.")
    (True, None, None)
    >>> read_answer('Reason: It has two.\nQuote: "- Paris"\nAnswer: no')
    Answer(vote=False, reason='It has two.', quote='- Paris')
    """
    said = spoken(reply).strip()
    word = _word(said)
    if word is None:
        return None
    reasons, quotes = _REASON.findall(said), _QUOTE.findall(said)
    quote = quotes[-1].strip() if quotes else ""
    while len(quote) > 1 and quote[0] in _QUOTATION_MARKS and quote[-1] in _QUOTATION_MARKS:
        quote = quote[1:-1].strip()
    return Answer(_WORDS[word], reasons[-1].strip() if reasons else "", "" if quote.lower() in _NOTHING else quote)


def _word(said: str) -> str | None:
    """The word that answers: alone, announced as the answer, or the first or last thing said."""
    formed = _REASON.search(said) or _QUOTE.search(said)
    # In the form that was asked for, "answer" inside a line is the response's own, quoted.
    announced = [found for found in _ANNOUNCED.finditer(said) if found["line"] is not None or not formed]
    if announced:
        return None if _OTHER.search(announced[-1]["rest"]) else announced[-1][2].lower()
    if formed:
        return None
    lines = [line for line in said.splitlines() if line.strip()]
    ends = [_OPENING.match(said), _OPENING.fullmatch(lines[-1]) if lines else None]
    words = {found[1].lower() for found in ends if found}
    return words.pop() if len(words) == 1 else None
