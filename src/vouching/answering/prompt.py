"""Prompts for answers from sources, and the parsing of replies.

The model is asked plainly, step by step, or after answered examples, worded after MARCH's solver (App. A.1) and its
three styles (section 3.4); or as the paper prints it, which marks nothing as data and asks for no form. Otherwise,
sources and questions are between delimiter lines. Four invented examples are shipped; a file of ten makes the paper's
ten-shot prompt. Labels of a reply are at the beginning of a line, in any case, with or
without bold type; a reply without labels is the response itself.

Not supported: shortening sources to fit a prompt; a model that cannot read all of them refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from vouching.errors import InputError
from vouching.inputs import as_sources, check_text, row_sources
from vouching.judging.delimiters import delimited
from vouching.models.base import Message, spoken
from vouching.prompts import load_prompt
from vouching.rows.read import read_as
from vouching.text.json_values import parse_json
from vouching.types import Source
from vouching.types.visible import shown_keys

Style: TypeAlias = Literal["plain", "cot", "few-shot", "paper"]
"""Ask for the answer; for steps and then the answer; for the answer, after examples; as MARCH prints its solver."""
ABSTAINED = "not in the sources"
"""The short answer of a model that finds none."""
_PACKAGE = "vouching.answering"
_TASK = "Answer the question from the sources."
_TEXT_TASK = "Write what is asked for, from the sources."


@dataclass(frozen=True, slots=True)
class Shot:
    """An answered example."""

    question: str
    sources: tuple[Source, ...]
    response: str
    """The answer in sentences; empty where the sources do not have it."""
    answer: str
    """The answer in a few words."""


def answer_messages(
    question: str, sources: Sequence[Source], style: Style = "plain", shots: Sequence[Shot] | None = None
) -> tuple[Message, ...]:
    """The request for an answer; ``shots`` are the examples of a few-shot prompt, None uses the shipped ones.

    >>> messages = answer_messages("When did it open?", [Source("The bridge opened in 1973.", "source-1")])
    >>> print(messages[-1].content)
    <<<... source 1>>>
    The bridge opened in 1973.
    <<<... end of source 1>>>
    <<<... question>>>
    When did it open?
    <<<... end of question>>>
    <BLANKLINE>
    Answer the question from the sources.
    >>> [message.role for message in answer_messages("Why?", [Source("So.", "a")], "few-shot")].count("assistant")
    4
    """
    if style == "paper":
        passages = "\n".join(f"Document-{number}: {source.text}" for number, source in enumerate(sources, 1))
        printed = load_prompt(_PACKAGE, "paper").fill(passages=passages, question=question)
        return (Message("user", printed.strip()),)
    form = load_prompt(_PACKAGE, "cot" if style == "cot" else "plain").text.strip()
    system = load_prompt(_PACKAGE, "answer").fill(form=form).strip()
    examples = (shipped_shots() if shots is None else shots) if style == "few-shot" else ()
    turns = [turn for shot in examples for turn in (_asked(shot.question, shot.sources), _shown(shot))]
    return Message("system", system), *turns, _asked(question, sources)


def text_messages(request: str, sources: Sequence[Source]) -> tuple[Message, ...]:
    """The request for a text about the sources, such as a summary; the whole reply is the text."""
    form = load_prompt(_PACKAGE, "text").text.strip()
    return Message("system", load_prompt(_PACKAGE, "answer").fill(form=form).strip()), _asked(
        request, sources, _TEXT_TASK
    )


def read_shots(rows: Iterable[Mapping[str, Any]]) -> tuple[Shot, ...]:
    """Examples from rows with question, source or sources, answer and optionally response.

    Raises InputError for a missing or wrong field, or no row.
    """
    shots: list[Shot] = []
    for number, row in enumerate(rows, 1):
        try:
            missing = next((key for key in ("question", "answer") if row.get(key) is None), None)
            if missing is not None:
                raise InputError(f'the row has no "{missing}"; {shown_keys(row)}')
            words = [check_text(row.get(key) or "", f"the {key}") for key in ("question", "response", "answer")]
            shots.append(Shot(words[0], as_sources(row_sources(row)), words[1], words[2]))
        except InputError as error:
            raise InputError(f"example {number}: {error}") from None
    if not shots:
        raise InputError("expected at least one example, a row with question, sources and answer, got none")
    return tuple(shots)


def shots_in(path: str) -> tuple[Shot, ...]:
    """The examples in a file of rows. Raises InputError as :func:`read_shots`, with the path."""
    try:
        return read_shots(read_as(path, lambda fields, name: fields))
    except InputError as error:
        raise InputError(f"--shots {path}: {error}") from None


@cache
def shipped_shots() -> tuple[Shot, ...]:
    """The shipped examples."""
    return read_shots(map(parse_json, files(_PACKAGE).joinpath("shots.jsonl").read_text("utf-8").splitlines()))


def _asked(question: str, sources: Sequence[Source], task: str = _TASK) -> Message:
    evidence = delimited(dict([*_blocks(sources), ("question", question)]), last_outside=True)
    return Message("user", load_prompt(_PACKAGE, "ask").fill(evidence=evidence, task=task).strip())


def _blocks(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    for number, source in enumerate(sources, 1):
        if source.title:
            yield f"title of source {number}", source.title
        yield f"source {number}", source.text


def _shown(shot: Shot) -> Message:
    lines = [f"Response: {shot.response}"] if shot.response else []
    return Message("assistant", "\n".join([*lines, f"Answer: {shot.answer}"]))


_LABEL = re.compile(r"^[ \t]*[*_#]*[ \t]*(reasoning|response|answer)[ \t]*[*_]*[ \t]*:[*_]*[ \t]*", re.I | re.M)
_ENDS = " \t\r\n.!\"'`*_“”‘’"


@dataclass(frozen=True, slots=True)
class Reply:
    """A parsed reply."""

    response: str
    """The answer for the reader; empty where the model finds none."""
    answer: str
    """The answer in a few words; the response where the reply has no such line."""
    reasoning: str = ""
    """The steps, if asked for."""

    @property
    def abstained(self) -> bool:
        """Whether the model states that the sources do not have the answer."""
        return self.answer.casefold().strip(_ENDS) == ABSTAINED


def read_reply(text: str) -> Reply:
    r"""Parse a reply, without the reasoning between <think> tags.

    >>> read_reply("Reasoning: 64 - 18 = 46\nResponse: It is 46 metres higher.\nAnswer: 46 metres")
    Reply(response='It is 46 metres higher.', answer='46 metres', reasoning='64 - 18 = 46')
    >>> read_reply("**Answer:** 46."), read_reply("It is higher.").answer
    (Reply(response='46.', answer='46', reasoning=''), 'It is higher.')
    >>> read_reply("Answer: Not in the sources.").abstained
    True
    """
    reply_text = spoken(text).strip()
    marks = [*_LABEL.finditer(reply_text)]
    ends = [*(mark.start() for mark in marks[1:]), len(reply_text)]
    # Of several lines with one label the last counts: the model started again.
    parts = {mark[1].lower(): reply_text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=False)}
    lead = reply_text[: marks[0].start()].strip() if marks else reply_text
    answer = parts.get("answer", "")
    response = parts.get("response", "") or (lead if "reasoning" not in parts else "") or answer
    reply = Reply(response, _short(answer) or response, parts.get("reasoning", ""))
    return Reply("", ABSTAINED, reply.reasoning) if reply.abstained else reply


def read_text(text: str) -> Reply:
    """Parse the reply to a request for a text: the whole text, or that the sources do not have it."""
    found = read_reply(text)
    whole = spoken(text).strip()
    return found if found.abstained else Reply(whole, whole)


def _short(answer: str) -> str:
    """The first line of an answer, without the end of a sentence."""
    return answer.partition("\n")[0].strip().rstrip(".!")
