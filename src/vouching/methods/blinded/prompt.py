"""Prompts of a blinded audit, one for the proposer and one for the checker, and the parsing of their replies.

The second prompt contains nothing of the response but the questions. A line of a reply in another form is ignored. A
server that enforces schemas gets one for each reply, and JSON is read as the lines are.

Departures (App. A.2, A.3): own wording; answers carry units; contradicting values of the documents are all listed.
``paper_propose.txt`` and ``paper_check.txt`` are the prompts as printed there: answers are bare numbers, and nothing
marks what is data.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import zip_longest

from vouching.judging.delimiters import delimited, delimiter_prompt
from vouching.judging.matching import is_answer, same_answer
from vouching.judging.schemas import Schema, json_list, list_of, one_of, record, short_text
from vouching.judging.windows import Window
from vouching.methods.blinded.roles import MAX_QUESTIONS, Scope
from vouching.models.base import Message, spoken
from vouching.prompts import Wording, load_prompt
from vouching.types import Checked, Pair, Question

_PACKAGE = __package__ or ""
_PAIR = re.compile(
    r"^[ \t*•-]*(?:\d{1,3}[.)]\s*\**)?question\**\s*:(?P<question>.+?)\[\s*answer\s*:(?P<answer>.+)\][ \t*]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NONE = re.compile(r"\W*none\W*", re.IGNORECASE)
_NUMBER = re.compile(r"^[ \t*#-]*(?:question\s*)?(\d{1,3})[.):]", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"\[\s*\**answer\**\s*:([^\]]*)\]", re.IGNORECASE | re.DOTALL)
_EVIDENCE = re.compile(r"evidence\**\s*:(.*?)(?=\[\s*\**answer|\Z)", re.IGNORECASE | re.DOTALL)
_CANNOT = re.compile(r"\bcan(?:no|['’])t answer\b", re.IGNORECASE)
_SENTENCE, _SHORT = 240, 80
"""Characters of a question or a quotation, and of an answer, where a server enforces the schema."""
_MARKS = "\"'“”„«»` *\t\r\n"


def propose_messages(
    response: str, scope: Scope = "numbers", least: int = 3, wording: Wording = "ours"
) -> tuple[Message, ...]:
    """The request for questions about a response."""
    if wording == "paper":
        return (Message("user", load_prompt(_PACKAGE, "prompts/paper_propose").fill(response=response).strip()),)
    wanted = load_prompt(_PACKAGE, f"prompts/scope_{scope}").text.strip()
    system = load_prompt(_PACKAGE, "prompts/propose").fill(scope=wanted, least=str(least))
    return Message("system", system.strip()), Message("user", delimited({"answer": response}))


def check_messages(questions: Sequence[Question], window: Window, wording: Wording = "ours") -> tuple[Message, ...]:
    """The request for answers: the documents, then the questions, by number."""
    if wording == "paper":
        asked = "\n".join(f"- Question {n}: {' '.join(one.text.split())}" for n, one in enumerate(questions, 1))
        docs = "\n".join(f"Document {part.number}: {part.text}" for part in window)
        return (Message("user", load_prompt(_PACKAGE, "prompts/paper_check").fill(docs=docs, questions=asked).strip()),)
    shown = {f"document {part.number}": f"{part.title}\n\n{part.text}".lstrip() for part in window}
    listed = "\n".join(f"{number}. {' '.join(asked.text.split())}" for number, asked in enumerate(questions, 1))
    user = delimited({**shown, "questions": listed}, last_outside=True)
    return Message("system", load_prompt(_PACKAGE, "prompts/check").text.strip()), Message("user", user)


def ask_for_more(missing: Iterable[str]) -> str:
    """The message after too few questions, with the values that no question asks for."""
    values = f"No question asks for: {', '.join(missing)}."
    return load_prompt(_PACKAGE, "prompts/more").fill(missing=values).strip()


def ask_again(missing: Sequence[int]) -> str:
    """The message after a reply that omits questions."""
    numbers = " and ".join(filter(None, [", ".join(map(str, missing[:-1])), str(missing[-1])]))
    questions = f"question{'s' * (len(missing) > 1)} {numbers}"
    return load_prompt(_PACKAGE, "prompts/again").fill(missing=questions).strip()


@cache
def prompt_digest(scope: Scope, wording: Wording = "ours") -> str:
    """SHA-256 of the constant parts of the prompts, for the record of a run."""
    paper = ("paper_propose", "more", "paper_check", "again")
    names = paper if wording == "paper" else ("propose", f"scope_{scope}", "more", "check", "again")
    texts = [load_prompt(_PACKAGE, f"prompts/{name}").text for name in names]
    return hashlib.sha256("\0".join([*texts, delimiter_prompt().text]).encode()).hexdigest()


def propose_schema() -> Schema:
    """The JSON Schema of a proposer's reply."""
    return record(questions=list_of(record(question=short_text(_SENTENCE), answer=short_text(_SHORT)), MAX_QUESTIONS))


def check_schema(questions: int) -> Schema:
    """The JSON Schema of a checker's reply to a number of questions."""
    numbers = one_of(*range(1, questions + 1))
    answer = record(number=numbers, evidence=short_text(_SENTENCE), answer=short_text(_SHORT))
    return record(answers=list_of(answer, questions, questions))


def read_pairs(reply: str) -> list[Pair]:
    """The questions of a reply with their answers."""
    listed = json_list(reply, "questions")
    found = (one.groupdict() for one in _PAIR.finditer(spoken(reply))) if listed is None else listed
    texts = ((str(one.get("question", "")), str(one.get("answer", ""))) for one in found)
    pairs = (Pair(Question(asked.strip(_MARKS)), answer.strip(_MARKS)) for asked, answer in texts)
    return [pair for pair in pairs if pair.question.text and is_answer(pair.answer)]


def says_none(reply: str) -> bool:
    """Whether a reply is only the word NONE, or an empty list."""
    return _NONE.fullmatch(spoken(reply).strip()) is not None or json_list(reply, "questions") == []


def read_answers(reply: str, questions: int) -> list[Checked | None]:
    r"""The answer to each question; None if it is omitted or unreadable.

    >>> reply = '1. Evidence: "It is 6 km long." [Answer: 6 km]\n2. Evidence: none [Answer: Cannot answer]'
    >>> [checked and checked.answers for checked in read_answers(reply, 3)]
    [('6 km',), (), None]
    >>> read_answers("It is six kilometres long, I believe.", 1), read_answers("1. Evidence: none [Answer: ]", 1)
    ([None], [None])
    """
    found: list[Checked | None] = [None] * questions
    for one in json_list(reply, "answers") or ():
        number, said = one.get("number"), str(one.get("answer", ""))
        if isinstance(number, int) and 0 < number <= questions and found[number - 1] is None:
            found[number - 1] = _checked([said], str(one.get("evidence", "")))
    if any(found):
        return found
    text = spoken(reply)
    marks: list[re.Match[str]] = []
    for mark in _NUMBER.finditer(text):
        # A line of evidence may begin with a number too: the questions' own numbers increase.
        if (int(marks[-1][1]) if marks else 0) < int(mark[1]) <= questions:
            marks.append(mark)
    if not marks and questions == 1:
        return [_answer(text)]
    for mark, after in zip_longest(marks, marks[1:]):
        found[int(mark[1]) - 1] = _answer(text[mark.end() : after.start() if after else len(text)])
    return found


def _answer(part: str) -> Checked | None:
    given = _ANSWER.findall(part)
    if not given:
        return Checked() if _CANNOT.search(part) else None
    quoted = _EVIDENCE.search(part)
    return _checked(given, quoted[1] if quoted else "")


def _checked(given: Sequence[str], evidence: str) -> Checked | None:
    values = [value.strip(_MARKS) for one in given for value in re.split(r"\s\|\s", one)]
    if not any(re.search(r"\w", value) for value in values):  # "[Answer: ]", "[Answer: ...]"
        return None
    answers: list[str] = []
    for value in filter(is_answer, values):
        if not any(same_answer(value, other) for other in answers):
            answers.append(value)
    quote = evidence.strip(_MARKS)
    return Checked(tuple(answers), evidence=quote if answers and is_answer(quote) else "")
