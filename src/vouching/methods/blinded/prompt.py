"""What a model is asked in a blinded audit, for questions by one prompt, for answers by another; and its replies read.

Nothing of the response goes into the second prompt but the questions. Departures from the paper (App. A.2, A.3): own
words; answers carry units; documents that contradict each other are to be shown as such. A line of a reply in another
form is no line. Left out: replies in JSON, which the prompts do not ask for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import zip_longest

from vouching.judging.delimiters import delimited, delimiter_prompt
from vouching.judging.matching import is_answer, same_answer
from vouching.judging.windows import Window
from vouching.methods.blinded.roles import Scope
from vouching.models.base import Message, spoken
from vouching.prompts import load_prompt
from vouching.types import Checked, Pair, Question

_PACKAGE = __package__ or ""
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


def propose_messages(response: str, scope: Scope = "numbers", least: int = 3) -> tuple[Message, ...]:
    """The request for questions about a response.

    >>> print(propose_messages("It is 5 km long.")[1].content)
    <<<... answer>>>
    It is 5 km long.
    <<<... end of answer>>>
    """
    wanted = load_prompt(_PACKAGE, f"prompts/scope_{scope}").text.strip()
    system = load_prompt(_PACKAGE, "prompts/propose").fill(scope=wanted, least=str(least))
    return Message("system", system.strip()), Message("user", delimited({"answer": response}))


def check_messages(questions: Sequence[Question], window: Window) -> tuple[Message, ...]:
    """The request for answers: the documents, then the questions, by number.

    >>> from vouching.types import Source
    >>> from vouching.judging.windows import ScreenedSources
    >>> [window] = ScreenedSources([Source("It is 6 km long.")]).windows(1_000)
    >>> print(check_messages([Question("How long is it?")], window)[1].content)
    <<<... document 1>>>
    It is 6 km long.
    <<<... end of document 1>>>
    <<<... questions>>>
    1. How long is it?
    <<<... end of questions>>>
    """
    shown = {f"document {part.number}": f"{part.title}\n\n{part.text}".lstrip() for part in window}
    listed = "\n".join(f"{number}. {' '.join(asked.text.split())}" for number, asked in enumerate(questions, 1))
    user = delimited({**shown, "questions": listed}, last_outside=True)
    return Message("system", load_prompt(_PACKAGE, "prompts/check").text.strip()), Message("user", user)


def ask_for_more(missing: Iterable[str]) -> str:
    """What follows too few questions: the values that nobody asked about.

    >>> ask_for_more(["5 km"]).splitlines()[0][:52]
    'That is not all. No question asks for: 5 km. Write a'
    """
    told = f"No question asks for: {', '.join(missing)}."
    return load_prompt(_PACKAGE, "prompts/more").fill(missing=told).strip()


def ask_again(missing: Sequence[int]) -> str:
    """What follows a reply that leaves questions out.

    >>> ask_again([1, 3])[:57]
    'There is no answer that can be read to questions 1 and 3.'
    """
    numbers = " and ".join(filter(None, [", ".join(map(str, missing[:-1])), str(missing[-1])]))
    told = f"question{'s' * (len(missing) > 1)} {numbers}"
    return load_prompt(_PACKAGE, "prompts/again").fill(missing=told).strip()


@cache
def prompt_digest(scope: Scope) -> str:
    """SHA-256 of all that is constant in the prompts, for the record of a run.

    >>> prompt_digest("numbers") == prompt_digest("facts")
    False
    """
    names = ("propose", f"scope_{scope}", "more", "check", "again")
    texts = [load_prompt(_PACKAGE, f"prompts/{name}").text for name in names]
    return hashlib.sha256("\0".join([*texts, delimiter_prompt().text]).encode()).hexdigest()


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
