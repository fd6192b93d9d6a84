"""Reading the two kinds of reply of a blinded audit: lines of questions with answers, and numbered answers.

A line in another form is no line. Left out: replies in JSON, which the prompts do not ask for.
"""

from __future__ import annotations

import re
from itertools import zip_longest

from vouching.judging.matching import is_answer, same_answer
from vouching.text.thoughts import spoken
from vouching.types import Checked, Pair, Question

_PAIR = re.compile(
    r"^[\s*•-]*(?:\d{1,3}[.)]\s*)?\**question\**\s*:\**\s*(?P<question>.+?)\s*\[\s*answer\s*:\s*(?P<answer>.+)\][\s*]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NONE = re.compile(r"\W*none\W*", re.IGNORECASE)
_NUMBER = re.compile(r"^[\s*#-]*(?:question\s*)?(\d{1,3})[.):]", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"\[\s*\**answer\**\s*:\**\s*(.*?)\s*\]", re.IGNORECASE | re.DOTALL)
_EVIDENCE = re.compile(r"evidence\**\s*:\**\s*(.*?)\s*(?=\[\s*\**answer|\Z)", re.IGNORECASE | re.DOTALL)
_CANNOT = re.compile(r"\bcan(?:no|['’])t answer\b", re.IGNORECASE)
_MARKS = "\"'“”„«»` *"


def read_pairs(reply: str) -> list[Pair]:
    """The questions of a reply with their answers.

    >>> [(pair.question.text, pair.answer) for pair in read_pairs("- Question: How long? [Answer: 5 km]")]
    [('How long?', '5 km')]
    """
    found = _PAIR.finditer(spoken(reply))
    pairs = (Pair(Question(one["question"].strip(_MARKS)), one["answer"].strip(_MARKS)) for one in found)
    return [pair for pair in pairs if pair.question.text and is_answer(pair.answer)]


def says_none(reply: str) -> bool:
    """Whether a reply says that there is nothing to ask.

    >>> says_none("NONE."), says_none("None of it.")
    (True, False)
    """
    return _NONE.fullmatch(spoken(reply).strip()) is not None


def read_answers(reply: str, questions: int) -> list[Checked | None]:
    r"""The answer to each of so many questions; None for one that is left out or cannot be read.

    >>> reply = '1. Evidence: "It is 6 km long." [Answer: 6 km]\n2. Evidence: none [Answer: Cannot answer]'
    >>> [checked and checked.answers for checked in read_answers(reply, 3)]
    [('6 km',), (), None]
    >>> read_answers("It is six kilometres long, I believe.", 1), read_answers("1. Evidence: none [Answer: ]", 1)
    ([None], [None])
    """
    said = spoken(reply)
    found: list[Checked | None] = [None] * questions
    marks: list[re.Match[str]] = []
    for mark in _NUMBER.finditer(said):
        # A line of evidence may begin with a number too: the questions' own go up.
        if (int(marks[-1][1]) if marks else 0) < int(mark[1]) <= questions:
            marks.append(mark)
    if not marks and questions == 1:
        return [_answer(said)]
    for mark, after in zip_longest(marks, marks[1:]):
        found[int(mark[1]) - 1] = _answer(said[mark.end() : after.start() if after else len(said)])
    return found


def _answer(part: str) -> Checked | None:
    given = _ANSWER.findall(part)
    if not given:
        return Checked() if _CANNOT.search(part) else None
    values = [value.strip(_MARKS) for one in given for value in re.split(r"\s\|\s", one)]
    if not any(re.search(r"\w", value) for value in values):  # "[Answer: ]", "[Answer: ...]"
        return None
    answers: list[str] = []
    for value in filter(is_answer, values):
        if not any(same_answer(value, other) for other in answers):
            answers.append(value)
    quoted = _EVIDENCE.search(part)
    quote = quoted[1].strip(_MARKS) if quoted else ""
    return Checked(tuple(answers), evidence=quote if answers and is_answer(quote) else "")
