"""The loop of every judge that is a language model: ask, read the reply, ask once more, or report why there is none.

A complete reply that cannot be read goes back to the model once, with its fault; a reply that was cut off does not. A
reply that stays unreadable is :class:`Unread`, which becomes Unverified and never a label. Not supported: resampling
instead of asking again, and the best of several replies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from vouching.errors import ModelContextError, ModelError
from vouching.models.base import Completion, FinishReason, Message, Model, Sampling
from vouching.models.running import all_of
from vouching.types import Claim, Unverified
from vouching.types.verdict import UnverifiedReason
from vouching.types.visible import shorten

R = TypeVar("R")
K = TypeVar("K", bound=Hashable)
MAX_REPEATS = 5
"""Times that a list may hold the same entry; a model that writes it more often repeats itself."""
MAX_QUOTED_REPLY = 4_000
"""Characters of an unusable reply that are sent back to the model."""
MAX_KEPT_REPLY = 1_000
"""Characters of an unusable reply that its Unverified keeps."""
_REASONS: dict[FinishReason, UnverifiedReason] = {"stop": "unparsable", "length": "truncated", "other": "refused"}


class ReplyError(ValueError):
    """A reply that cannot be used; the message says why and completes "it cannot be used: ..."."""


def unrepeated(entries: Iterable[K]) -> list[K]:
    """The different entries of a list in a reply, in order. Raises ReplyError if the model repeats itself.

    >>> unrepeated(["- It opened in 1973.", "- It is long.", "- It opened in 1973."])
    ['- It opened in 1973.', '- It is long.']
    """
    counts = Counter(entries)
    for entry, count in counts.most_common(1):
        if count > MAX_REPEATS:
            shown = str(entry)
            shown = shown if len(shown) <= 80 else f"{shown[:80]}..."
            raise ReplyError(f"the list repeats one entry {count:,} times: {shown!r}")
    return [*counts]


Replies: TypeAlias = Sequence[Completion]
"""The replies to one question: the first, and the second if it was asked again."""
Read: TypeAlias = Callable[[Replies], R]
"""Reads the last reply, or all of them. Raises ReplyError if that is not possible."""
Again: TypeAlias = Callable[[str], str]
"""From the fault of a reply to the message that asks again."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a question has no answer."""

    reason: UnverifiedReason
    """"backend" if the model failed, else how the last reply ended: "truncated", "refused" or "unparsable" (whole)."""
    fault: str
    """The failure, or what is wrong with the last reply."""
    replies: Replies = ()
    """The replies that could not be read."""
    too_long: bool = False
    """Whether the question did not fit into the model's context."""

    @property
    def advised(self) -> str:
        """The fault, with what to set if the reply was cut off."""
        return f"{self.fault}{': raise max_tokens (--max-tokens)' if self.reason == 'truncated' else ''}"

    def unverified(self, claim: Claim, message: str = "{}") -> Unverified:
        """The failure as an outcome; ``message`` is for unreadable replies, with ``{}`` for the fault."""
        backend = self.reason == "backend"
        shown = self.fault if backend else message.replace("{}", self.fault)
        return Unverified(claim, self.reason, shown, reply=kept_reply(self.replies))


def kept_reply(replies: Replies) -> str | None:
    """The last of some replies as an Unverified keeps it; None if there is none.

    >>> kept_reply([])
    """
    return shorten(_whole_characters(replies[-1].text), MAX_KEPT_REPLY) if replies else None


async def ask(
    model: Model,
    messages: Sequence[Message],
    sampling: Sampling,
    read: Read[R],
    again: Again | None = None,
    spent: list[Completion] | None = None,
) -> list[R | Unread]:
    """Ask a question and read each of ``sampling.n`` replies; ``read`` raises ReplyError for an unusable one.

    With ``again``, which writes the second question, an unusable reply is asked for once more. ``spent`` collects every
    completion, for the cost. Returns the result of ``read`` for each reply; a single Unread if the model refuses for
    good. Raises ModelError if the model is out of reach and the same call may succeed later.

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
    completions = [] if spent is None else spent

    async def answer(first: Completion) -> R | Unread:
        found = _read(read, [first])
        if again is None or not isinstance(found, Unread) or first.finish_reason != "stop":
            return found
        question = Message("user", again(found.fault))
        try:
            [second] = await model.generate([*messages, _quoted(first.text), question], replace(sampling, n=1))
        except ModelError as error:
            return _failed(error, [first])
        completions.append(second)
        return _read(read, [first, second])

    try:
        replies = await model.generate(messages, sampling)
    except ModelError as error:
        return [_failed(error)]
    completions += replies
    return await all_of(answer(reply) for reply in replies)


def _read(read: Read[R], replies: Replies) -> R | Unread:
    try:
        return read(replies)
    except ReplyError as fault:
        return Unread(_REASONS[replies[-1].finish_reason], str(fault), replies)


def _failed(error: ModelError, replies: Replies = ()) -> Unread:
    """A permanent failure; one that may pass is raised, so that the caller can wait."""
    if error.can_retry:
        raise error
    return Unread("backend", str(error), replies, isinstance(error, ModelContextError))


def _quoted(reply: str) -> Message:
    """An unusable reply in the conversation, truncated."""
    return Message("assistant", _whole_characters(reply[:MAX_QUOTED_REPLY]) or "(empty)")


def _whole_characters(text: str) -> str:
    return text.encode(errors="replace").decode()
