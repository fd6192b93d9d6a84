"""What a language model is asked in a blinded audit: for questions by one prompt, for answers by another.

Nothing of the response goes into the second one but the questions. Departures from the paper (App. A.2, A.3): own
words; answers carry units; documents that contradict each other are to be shown as such.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache

from vouching.judging.fences import fence_prompt, fenced
from vouching.judging.windows import Window
from vouching.methods.blinded.roles import Scope
from vouching.models.base import Message
from vouching.prompts import load_prompt
from vouching.types import Question

_PACKAGE = __package__ or ""
_LONGEST_SAID = 8_000
"""Characters of an unusable reply that the model is shown again."""


def propose_messages(response: str, scope: Scope = "numbers", least: int = 3) -> tuple[Message, ...]:
    """The request for questions about a response.

    >>> print(propose_messages("It is 5 km long.")[1].content)
    <<<... answer>>>
    It is 5 km long.
    <<<... end of answer>>>
    """
    wanted = load_prompt(_PACKAGE, f"prompts/scope_{scope}").text.strip()
    system = load_prompt(_PACKAGE, "prompts/propose").fill(scope=wanted, least=str(least))
    return Message("system", system.strip()), Message("user", fenced({"answer": response}))


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
    user = fenced({**shown, "questions": listed}, last_apart=True)
    return Message("system", load_prompt(_PACKAGE, "prompts/check").text.strip()), Message("user", user)


def ask_for_more(reply: str, missing: Iterable[str]) -> tuple[Message, Message]:
    """What follows too few questions: the values that nobody asked about.

    >>> ask_for_more("NONE", ["5 km"])[1].content.splitlines()[0][:52]
    'That is not all. No question asks for: 5 km. Write a'
    """
    told = f"No question asks for: {', '.join(missing)}."
    return _said(reply), Message("user", load_prompt(_PACKAGE, "prompts/more").fill(missing=told).strip())


def ask_again(reply: str, missing: Sequence[int]) -> tuple[Message, Message]:
    """What follows a reply that leaves questions out.

    >>> ask_again("It is long.", [1, 3])[1].content[:57]
    'There is no answer that can be read to questions 1 and 3.'
    """
    numbers = " and ".join(filter(None, [", ".join(map(str, missing[:-1])), str(missing[-1])]))
    told = f"question{'s' * (len(missing) > 1)} {numbers}"
    return _said(reply), Message("user", load_prompt(_PACKAGE, "prompts/again").fill(missing=told).strip())


@cache
def prompt_digest(scope: Scope) -> str:
    """SHA-256 of all that is constant in the prompts, for the record of a run.

    >>> prompt_digest("numbers") == prompt_digest("facts")
    False
    """
    names = ("propose", f"scope_{scope}", "more", "check", "again")
    texts = [load_prompt(_PACKAGE, f"prompts/{name}").text for name in names]
    return hashlib.sha256("\0".join([*texts, fence_prompt().text]).encode()).hexdigest()


def _said(reply: str) -> Message:
    return Message("assistant", reply[:_LONGEST_SAID].encode(errors="replace").decode() or "(empty)")
