"""The one loop of every judge that is a language model: ask, read the reply, ask once more, or say why not.

A reply that cannot be read goes back to the model once, with its fault, if it ended by itself; one that was cut off or
broken off would only be so again. What is left unread is :class:`Unread`, which becomes Unverified and never a label.
Left out: drawing afresh instead of asking again, and keeping the best of several replies; who wants these calls twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from vouching.errors import ModelError
from vouching.models.base import Completion, FinishReason, Message, Model, Sampling
from vouching.models.running import all_of
from vouching.types import Claim, Unverified
from vouching.types.verdict import UnverifiedReason

R = TypeVar("R")
LONGEST_SAID = 4_000
"""Characters of an unusable reply that the model is shown again."""
_REASONS: dict[FinishReason, UnverifiedReason] = {"stop": "unparsable", "length": "truncated", "other": "refused"}


class ReplyError(ValueError):
    """A reply that cannot be used; the message says why, as the end of "it cannot be used: ..."."""


Replies: TypeAlias = Sequence[Completion]
"""What the model said to one question, first the reply, then perhaps the reply to the second asking."""
Read: TypeAlias = Callable[[Replies], R]
"""Reads the last of the replies, or all of them together. Raises ReplyError where that cannot be done."""
Again: TypeAlias = Callable[[str], str]
"""From the fault of a reply to what the model is told after it."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a question has no answer."""

    reason: UnverifiedReason
    """"backend" where the model failed, else how the last reply ended: "truncated" (cut off), "refused" (broken off
    otherwise) or "unparsable" (whole)."""
    fault: str
    """What the failure was, or what is wrong with the last reply."""
    replies: Replies = ()
    """The replies that could not be read."""

    def unverified(self, claim: Claim, message: str = "{}") -> Unverified:
        """The failure as an outcome; ``message`` is about a reply and takes the fault for ``{}``.

        >>> Unread("unparsable", "no label").unverified(Claim("It opened."), "the reply is no record: {}").message
        'the reply is no record: no label'
        """
        backend = self.reason == "backend"
        return Unverified(claim, self.reason, self.fault if backend else message.replace("{}", self.fault))


async def ask(
    model: Model,
    messages: Sequence[Message],
    sampling: Sampling,
    read: Read[R],
    again: Again | None = None,
    said: list[Completion] | None = None,
) -> list[R | Unread]:
    """Ask a question and read each of ``sampling.n`` replies.

    Args:
        model: who is asked.
        messages: the question.
        sampling: how replies are drawn; a second asking draws one.
        read: reads a reply.
        again: what a model is told whose reply is unusable; None takes the first reply as the last.
        said: takes every completion, for what they cost, also those before an error.

    Returns:
        What was read of each reply. If the model refuses the question for good there is one Unread instead of them.

    Raises:
        ModelError: the model is out of reach, and the same call may succeed later.
        ConfigError: the model cannot be used at all.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> def read(replies):
    ...     if not replies[-1].text.isdecimal():
    ...         raise ReplyError("it is no number")
    ...     return int(replies[-1].text)
    >>> question = [Message("user", "When did it open?")]
    >>> asyncio.run(ask(ScriptedModel(["In 1973.", "1973"]), question, Sampling(), read, "Once more: {}".format))
    [1973]
    >>> [unread] = asyncio.run(ask(ScriptedModel(["In 1973."]), question, Sampling(), read))
    >>> unread.reason, unread.fault
    ('unparsable', 'it is no number')
    """
    spent = [] if said is None else said

    async def settled(first: Completion) -> R | Unread:
        found = _read(read, [first])
        if again is None or not isinstance(found, Unread) or first.finish_reason != "stop":
            return found
        told = Message("user", again(found.fault))
        try:
            [second] = await model.generate([*messages, _shown(first.text), told], replace(sampling, n=1))
        except ModelError as error:
            return _failed(error, [first])
        spent.append(second)
        return _read(read, [first, second])

    try:
        replies = await model.generate(messages, sampling)
    except ModelError as error:
        return [_failed(error)]
    spent += replies
    return await all_of(settled(reply) for reply in replies)


def _read(read: Read[R], replies: Replies) -> R | Unread:
    try:
        return read(replies)
    except ReplyError as fault:
        return Unread(_REASONS[replies[-1].finish_reason], str(fault), replies)


def _failed(error: ModelError, replies: Replies = ()) -> Unread:
    """A failure for good; one that may pass is raised, for the caller to wait."""
    if error.can_retry:
        raise error
    return Unread("backend", str(error), replies)


def _shown(reply: str) -> Message:
    """An unusable reply in the conversation, cut to a sensible length, without halves of characters."""
    return Message("assistant", reply[:LONGEST_SAID].encode(errors="replace").decode() or "(empty)")
