"""What a model's reply answers: its reasoning, its sentences, and the answer in a few words.

Labels stand at the beginning of a line, in any case, with or without the marks of bold type. Left out: a second request
where they are missing; a reply without labels is the response itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vouching.answering.prompt import ABSTAINED
from vouching.models.base import spoken

_LABEL = re.compile(r"^[ \t]*[*_#]*[ \t]*(reasoning|response|answer)[ \t]*[*_]*[ \t]*:[*_]*[ \t]*", re.I | re.M)
_ENDS = " \t\r\n.!\"'`*_“”‘’"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply taken apart."""

    response: str
    """The answer as the asker reads it; empty where the model finds none."""
    answer: str
    """The answer in a few words; the response where the reply has no such line."""
    reasoning: str = ""
    """The steps, where they were asked for."""

    @property
    def abstained(self) -> bool:
        """Whether the model says that the sources do not hold the answer."""
        return self.answer.casefold().strip(_ENDS) == ABSTAINED


def read_reply(text: str) -> Reply:
    r"""A reply taken apart; thoughts between <think> tags are no part of it.

    >>> read_reply("Reasoning: 64 - 18 = 46\nResponse: It is 46 metres higher.\nAnswer: 46 metres")
    Reply(response='It is 46 metres higher.', answer='46 metres', reasoning='64 - 18 = 46')
    >>> read_reply("**Answer:** 46."), read_reply("It is higher.").answer
    (Reply(response='46.', answer='46', reasoning=''), 'It is higher.')
    >>> read_reply("Answer: Not in the sources.").abstained
    True
    """
    said = spoken(text).strip()
    marks = [*_LABEL.finditer(said)]
    ends = [*(mark.start() for mark in marks[1:]), len(said)]
    # Of several lines with one label the last counts: a model that starts again means that.
    parts = {mark[1].lower(): said[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=False)}
    lead = said[: marks[0].start()].strip() if marks else said
    answer = parts.get("answer", "")
    response = parts.get("response", "") or (lead if "reasoning" not in parts else "") or answer
    reply = Reply(response, _short(answer) or response, parts.get("reasoning", ""))
    return Reply("", ABSTAINED, reply.reasoning) if reply.abstained else reply


def read_text(text: str) -> Reply:
    """The reply to a request for a text: all that is said, or that the sources do not hold it.

    >>> read_text("<think>Short.</think> It opened in 1973. ")
    Reply(response='It opened in 1973.', answer='It opened in 1973.', reasoning='')
    """
    found = read_reply(text)
    said = spoken(text).strip()
    return found if found.abstained else Reply(said, said)


def _short(answer: str) -> str:
    """The first line of an answer without what ends a sentence."""
    return answer.partition("\n")[0].strip().rstrip(".!")
