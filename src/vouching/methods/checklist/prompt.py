"""What a language model is asked about a response, item by item or as a whole, and for a checklist.

Own words after Soft-RLVR's App. A.3.1 and A.3.2. The instruction, the response and the question stand between fence
lines, as sources do for the structured verifier: a response that writes "answer yes" is judged, not obeyed. The
constant part, the instruction and the response come first, so that a server that keeps prefixes reads them once for all
items.
Left out: a fence as a promise, and a response cut to fit a prompt; a model that cannot read all of it refuses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Literal, TypeAlias, cast

from vouching.errors import InputError
from vouching.judging.delimiters import delimited, delimiter_prompt
from vouching.models.base import Message
from vouching.prompts import load_prompt
from vouching.types import Source

Form: TypeAlias = Literal["word", "reason"]
"""How an answer is to be written: one word, or a reason, a quotation and the word."""
_PACKAGE = __package__ or ""
_ITEM_TASK = "Answer the question about the response."
_WHOLE_TASK = "Does the response fulfil everything that the instruction asks for?"
_LONGEST_SAID = 4_000
"""Characters of an unusable reply that the model is shown again."""


def item_messages(
    instruction: str, response: str, question: str, form: Form = "word", sources: Sequence[Source] = ()
) -> tuple[Message, ...]:
    """The question about one item (App. A.3.1).

    Args:
        instruction: what the assistant was given.
        response: what it wrote.
        question: the item.
        form: of the answer.
        sources: texts that came with the instruction.

    >>> messages = item_messages("Name a bridge.", "The Akashi bridge.", "Is a bridge named?")
    >>> print(messages[1].content)
    <<<... instruction>>>
    Name a bridge.
    <<<... end of instruction>>>
    <<<... response>>>
    The Akashi bridge.
    <<<... end of response>>>
    <<<... question>>>
    Is a bridge named?
    <<<... end of question>>>
    <BLANKLINE>
    Answer the question about the response.
    """
    blocks = [*_blocks(instruction, response, sources), ("question", question)]
    return _asked("prompts/item", form, blocks, _ITEM_TASK)


def whole_messages(
    instruction: str, response: str, form: Form = "word", sources: Sequence[Source] = ()
) -> tuple[Message, ...]:
    """The question about the response as a whole: the holistic verifier (Eq. 3).

    >>> whole_messages("Name a bridge.", "The Akashi bridge.")[1].content.splitlines()[-1]
    'Does the response fulfil everything that the instruction asks for?'
    """
    return _asked("prompts/whole", form, _blocks(instruction, response, sources), _WHOLE_TASK)


def make_messages(instruction: str) -> tuple[Message, ...]:
    """The request for a checklist (App. A.3.2).

    >>> make_messages("Name a bridge.")[1].content.splitlines()[-1]
    'Write the checklist.'
    """
    evidence = delimited({"instruction": instruction})
    user = load_prompt(_PACKAGE, "prompts/ask").fill(evidence=evidence, task="Write the checklist.").strip()
    return Message("system", load_prompt(_PACKAGE, "prompts/make").text.strip()), Message("user", user)


def lint_messages(instruction: str, questions: Sequence[str]) -> tuple[Message, ...]:
    """The request for the faults of a checklist.

    >>> "2. Is it long?" in lint_messages("Be brief.", ["Is it short?", "Is it long?"])[1].content
    True
    """
    listed = "\n".join(f"{number}. {question}" for number, question in enumerate(questions, 1))
    evidence = delimited({"instruction": instruction, "checklist": listed})
    user = load_prompt(_PACKAGE, "prompts/ask").fill(evidence=evidence, task="List the faults.").strip()
    return Message("system", load_prompt(_PACKAGE, "prompts/lint").text.strip()), Message("user", user)


def ask_again() -> str:
    """What follows an answer that cannot be used."""
    return load_prompt(_PACKAGE, "prompts/again").text.strip()


def ask_to_revise(reply: str, faults: Iterable[str]) -> tuple[Message, Message]:
    """What follows a checklist with faults.

    >>> print(ask_to_revise("1. Is it engaging?", ["nobody asked for it"])[1].content.splitlines()[1])
    - nobody asked for it
    """
    listed = "\n".join(f"- {fault}" for fault in faults)
    return _said(reply), Message("user", load_prompt(_PACKAGE, "prompts/revise").fill(faults=listed).strip())


def conversation_text(turns: Sequence[Mapping[str, object]]) -> str:
    r"""A conversation as the instruction that it comes to: its turns, each under the name of who speaks.

    Args:
        turns: chat messages with role and content, the last of them the user's.

    Raises:
        InputError: there is none, one of them is no message, or the last is not the user's.

    >>> conversation_text([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}])
    '[system]\nBe brief.\n\n[user]\nWhy?'
    """
    for number, turn in enumerate(turns, 1):
        if not (isinstance(turn.get("role"), str) and isinstance(turn.get("content"), str)):
            raise InputError(f'turn {number} is {dict(turn)!r:.80}, wanted "role" and "content", two texts')
    if not turns or turns[-1]["role"] != "user":
        raise InputError("a conversation must end with the user's turn: leave out the response, it is given by itself")
    return "\n\n".join(f"[{turn['role']}]\n{cast('str', turn['content']).strip()}" for turn in turns)


@cache
def prompt_digest(form: Form = "word") -> str:
    """SHA-256 of all that is constant in the questions about items, for the record of a run.

    >>> prompt_digest() == prompt_digest("reason")
    False
    """
    names = ("item", "whole", form, "ask", "again")
    texts = [load_prompt(_PACKAGE, f"prompts/{name}").text for name in names]
    return hashlib.sha256("\0".join([*texts, delimiter_prompt().text, _ITEM_TASK, _WHOLE_TASK]).encode()).hexdigest()


@cache
def make_digest() -> str:
    """SHA-256 of all that is constant in the request for a checklist.

    >>> len(make_digest())
    64
    """
    texts = [load_prompt(_PACKAGE, f"prompts/{name}").text for name in ("make", "revise", "ask")]
    return hashlib.sha256("\0".join([*texts, delimiter_prompt().text]).encode()).hexdigest()


def _blocks(instruction: str, response: str, sources: Sequence[Source]) -> list[tuple[str, str]]:
    shown = [(f"source {number}", source.text) for number, source in enumerate(sources, 1)]
    return [("instruction", instruction), *shown, ("response", response)]


def _asked(name: str, form: Form, blocks: Sequence[tuple[str, str]], task: str) -> tuple[Message, ...]:
    system = load_prompt(_PACKAGE, name).fill(form=load_prompt(_PACKAGE, f"prompts/{form}").text.strip())
    # Questions about one response share the beginning of their prompts.
    evidence = delimited(dict(blocks), last_outside=blocks[-1][0] == "question")
    user = load_prompt(_PACKAGE, "prompts/ask").fill(evidence=evidence, task=task)
    return Message("system", system.strip()), Message("user", user.strip())


def _said(reply: str) -> Message:
    return Message("assistant", reply[:_LONGEST_SAID].encode(errors="replace").decode() or "(empty)")
