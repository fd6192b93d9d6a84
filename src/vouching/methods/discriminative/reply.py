"""Reading what a language model says about answers: a ranking of all of them, or points for one.

The last verdict in the reply counts. A ranking must name each answer once; "=" between answers makes them level.
Anything else is no ranking, which is an outcome of its own: DiVA's authors drop such rows, Vouch reports them. Left
out: guessing what a model may have meant.
"""

from __future__ import annotations

import re

from vouching.text.thoughts import spoken

_VERDICT = re.compile(r"<verdict>(.*?)(?:</verdict>|\Z)", re.DOTALL | re.IGNORECASE)
_ANSWER = re.compile(r"(?:answer)?\s*#?(\d+)", re.IGNORECASE)
_POINTS = re.compile(r"(\d+(?:\.\d+)?)(?:\s*/\s*10)?\.?")


class ReplyError(ValueError):
    """A reply without a usable verdict; the message says what is wrong with it."""


def read_places(reply: str, count: int) -> list[int]:
    """The place of each answer, 1 is best, in the order in which the answers were shown.

    Args:
        reply: what the model said.
        count: how many answers there are.

    Raises:
        ReplyError: no verdict, or one that does not name each answer once.

    >>> read_places("Paris is right. <verdict>Answer 2 > Answer 3 > Answer 1</verdict>", 3)
    [3, 1, 2]
    >>> read_places("<verdict>Answer2 = Answer1 > Answer3</verdict>", 3)
    [1, 1, 3]
    """
    verdict = verdict_of(reply)
    places: dict[int, int] = {}
    for level in verdict.split(">"):
        place = len(places) + 1
        for named in level.split("="):
            found = _ANSWER.fullmatch(named.strip(" \t\r\n*.`'\""))
            if found is None:
                raise ReplyError(f"{named.strip()[:60]!r} stands where an answer should be named")
            number = int(found[1])
            if number in places:
                raise ReplyError(f"answer {number} is named twice")
            places[number] = place
    if missing := sorted({*range(1, count + 1)} - {*places}):
        raise ReplyError(f"answer {missing[0]} is not named")
    if strangers := sorted({*places} - {*range(1, count + 1)}):
        raise ReplyError(f"answer {strangers[0]} is named, but there are {count}")
    return [places[number] for number in range(1, count + 1)]


def read_points(reply: str) -> float:
    """The points that an answer gets, from 1 to 10.

    Raises:
        ReplyError: no verdict, or one that is no number from 1 to 10.

    >>> read_points("Mostly right. <verdict> 7 </verdict>")
    7.0
    """
    verdict = verdict_of(reply)
    found = _POINTS.fullmatch(verdict.strip(" \t\r\n*`'\""))
    if found is None or not 1 <= float(found[1]) <= 10:
        raise ReplyError(f"{verdict.strip()[:60]!r} is no number from 1 to 10")
    return float(found[1])


def explanation_of(reply: str) -> str:
    """What a model says before its verdict.

    >>> explanation_of("Paris is right. <verdict>Answer 1</verdict>")
    'Paris is right.'
    """
    said = spoken(reply)
    found = [*_VERDICT.finditer(said)]
    return (said[: found[-1].start()] if found else said).strip()


def is_cut(reply: str) -> bool:
    """Whether the last verdict of a reply is not closed: of one that ended too early it may be half of what was meant.

    >>> is_cut("Right. <verdict>1"), is_cut("Right. <verdict>10</verdict>")
    (True, False)
    """
    found = [*_VERDICT.finditer(spoken(reply))]
    return bool(found) and not found[-1][0].lower().endswith("</verdict>")


def verdict_of(reply: str) -> str:
    """What the last verdict of a reply holds; one that was only thought is none. Raises ReplyError if there is none.

    >>> verdict_of("I doubt it. <verdict> incorrect </verdict>")
    ' incorrect '
    """
    found = [*_VERDICT.finditer(spoken(reply))]
    if not found:
        raise ReplyError("there is no <verdict> in it")
    return found[-1][1]
