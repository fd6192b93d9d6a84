"""Prompts about a response, item by item or as a whole, and for making and linting a checklist.

Worded after Soft-RLVR's App. A.3.1 and A.3.2, or as printed there: ``paper_item.txt`` and ``paper_make.txt``, in which
nothing separates what is judged from the request. The instruction, the response and the question are between delimiter
lines, as sources are for the structured verifier, so that a response that writes "answer yes" is judged, not obeyed;
delimiters do not guarantee this. The constant part, the instruction and the response come first, so that a server's
prefix cache serves all items.

Not supported: shortening a response to fit a prompt; a model that cannot read all of it refuses.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Literal, TypeAlias, cast

from vouching.errors import InputError
from vouching.judging.delimiters import delimited, delimiter_prompt
from vouching.models.base import Message
from vouching.prompts import Wording, load_prompt
from vouching.types import Source
from vouching.types.visible import shown_json

Form: TypeAlias = Literal["word", "reason"]
"""Form of an answer: one word, or a reason, a quotation and the word."""
_PACKAGE = __package__ or ""
_ITEM_TASK = "Answer the question about the response."
_WHOLE_TASK = "Does the response fulfil everything that the instruction asks for?"
_MAX_REPLY = 4_000
"""Characters of a reply that is shown to the model again."""


def item_messages(
    instruction: str,
    response: str,
    question: str,
    form: Form = "word",
    sources: Sequence[Source] = (),
    wording: Wording = "ours",
) -> tuple[Message, ...]:
    """The question about one item (App. A.3.1), with ``sources`` that came with the instruction.

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
    if wording == "paper":
        # The paper's instructions bring their own texts.
        asked = "\n\n".join([instruction, *(source.text for source in sources)])
        prompt = load_prompt(_PACKAGE, "prompts/paper_item")
        text = prompt.fill(instruction=asked, response=response, checklist_question=question)
        return (Message("user", text.strip()),)
    blocks = [*_blocks(instruction, response, sources), ("question", question)]
    return _asked("prompts/item", form, blocks, _ITEM_TASK)


def whole_messages(
    instruction: str, response: str, form: Form = "word", sources: Sequence[Source] = ()
) -> tuple[Message, ...]:
    """The question about the response as a whole: the holistic verifier (Eq. 3)."""
    return _asked("prompts/whole", form, _blocks(instruction, response, sources), _WHOLE_TASK)


def make_messages(instruction: str, wording: Wording = "ours") -> tuple[Message, ...]:
    """The request for a checklist (App. A.3.2)."""
    if wording == "paper":
        return (Message("user", load_prompt(_PACKAGE, "prompts/paper_make").fill(prompt=instruction).strip()),)
    evidence = delimited({"instruction": instruction})
    user = load_prompt(_PACKAGE, "prompts/ask").fill(evidence=evidence, task="Write the checklist.").strip()
    return Message("system", load_prompt(_PACKAGE, "prompts/make").text.strip()), Message("user", user)


def lint_messages(instruction: str, questions: Sequence[str]) -> tuple[Message, ...]:
    """The request for the faults of a checklist."""
    listed = "\n".join(f"{number}. {question}" for number, question in enumerate(questions, 1))
    evidence = delimited({"instruction": instruction, "checklist": listed})
    user = load_prompt(_PACKAGE, "prompts/ask").fill(evidence=evidence, task="List the faults.").strip()
    return Message("system", load_prompt(_PACKAGE, "prompts/lint").text.strip()), Message("user", user)


def ask_again() -> str:
    """The message after an unusable answer."""
    return load_prompt(_PACKAGE, "prompts/again").text.strip()


def ask_to_revise(reply: str, faults: Iterable[str]) -> tuple[Message, Message]:
    """The messages after a checklist with faults."""
    listed = "\n".join(f"- {fault}" for fault in faults)
    return _reply(reply), Message("user", load_prompt(_PACKAGE, "prompts/revise").fill(faults=listed).strip())


def conversation_text(turns: Sequence[Mapping[str, object]]) -> str:
    r"""A conversation as one text: its turns, each under its role.

    Raises InputError unless all turns have role and content, and the last is the user's.
    """
    for number, turn in enumerate(turns, 1):
        if not (isinstance(turn.get("role"), str) and isinstance(turn.get("content"), str)):
            raise InputError(
                f'turn {number} must have the strings "role" and "content", got {shown_json(dict(turn), 80)}'
            )
    if not turns or turns[-1]["role"] != "user":
        raise InputError("a conversation must end with the user's turn: pass the response separately")
    return "\n\n".join(f"[{turn['role']}]\n{cast('str', turn['content']).strip()}" for turn in turns)


@cache
def prompt_digest(form: Form = "word", wording: Wording = "ours") -> str:
    """SHA-256 of the constant parts of the questions about items, for the record of a run."""
    if wording == "paper":
        return load_prompt(_PACKAGE, "prompts/paper_item").digest
    names = ("item", "whole", form, "ask", "again")
    texts = [load_prompt(_PACKAGE, f"prompts/{name}").text for name in names]
    return hashlib.sha256("\0".join([*texts, delimiter_prompt().text, _ITEM_TASK, _WHOLE_TASK]).encode()).hexdigest()


@cache
def make_digest(wording: Wording = "ours") -> str:
    """SHA-256 of all that is constant in the request for a checklist."""
    if wording == "paper":
        return load_prompt(_PACKAGE, "prompts/paper_make").digest
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


def _reply(reply: str) -> Message:
    return Message("assistant", reply[:_MAX_REPLY].encode(errors="replace").decode() or "(empty)")
