"""One loop: ask, read, ask once more, or say why nothing was read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from vouching.errors import ModelRefusedError, ModelUnavailableError
from vouching.judging.ask import MAX_KEPT_REPLY, MAX_QUOTED_REPLY, Replies, ReplyError, Unread, ask
from vouching.models import Completion, Message, Sampling, ScriptedModel
from vouching.types import Claim, Usage, total_usage

QUESTION = [Message("user", "When did it open?")]


def number(replies: Replies) -> int:
    if not replies[-1].text.isdecimal():
        raise ReplyError(f"{replies[-1].text[:20]!r} is no number")
    return int(replies[-1].text)


def asked(model: Any, sampling: Sampling | None = None, **how: Any) -> list[Any]:
    how = {"again": "Once more, since {}.".format, **how}
    return asyncio.run(ask(model, QUESTION, sampling or Sampling(), number, **how))


class Model:
    """Says or raises what it is told to, and keeps the questions."""

    name = "m"

    def __init__(self, *told: Completion | Exception) -> None:
        self._told = [*told]
        self.questions: list[tuple[Sequence[Message], Sampling]] = []

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        self.questions.append((messages, sampling))
        told = [self._told.pop(0) for _ in range(sampling.n)]
        for one in told:
            if isinstance(one, Exception):
                raise one
        return [one for one in told if isinstance(one, Completion)]

    async def aclose(self) -> None: ...


def said(text: str, ended: Any = "stop") -> Completion:
    return Completion(text, ended, Usage(1, 2, 3))


def test_each_reply_is_read_and_an_unusable_one_is_asked_for_once_more_with_its_fault() -> None:
    model = Model(said("1973"), said("soon"), said("1937"))
    assert asked(model, Sampling(n=2)) == [1973, 1937]
    messages, sampling = model.questions[1]
    assert [one.content for one in messages[1:]] == ["soon", "Once more, since 'soon' is no number."]
    assert sampling.n == 1


def test_what_two_replies_cost_is_kept_even_where_neither_can_be_read() -> None:
    spent: list[Completion] = []
    [unread] = asked(Model(said("soon"), said("later")), spent=spent)
    assert (unread.reason, unread.fault, len(unread.replies)) == ("unparsable", "'later' is no number", 2)
    assert total_usage(spent) == total_usage([said(""), said("")])


@pytest.mark.parametrize(("ended", "reason"), [("length", "truncated"), ("other", "refused")])
def test_a_reply_that_did_not_end_by_itself_is_read_and_never_asked_for_again(ended: Any, reason: str) -> None:
    model = Model(said("19 hundred", ended), said("1973", ended))
    assert asked(model)[0].reason == reason
    assert asked(model) == [1973]


def test_without_a_second_asking_the_first_reply_is_the_last() -> None:
    [unread] = asked(Model(said("soon")), again=None)
    assert unread.unverified(Claim("x"), "no {number}: {}").message == "no {number}: 'soon' is no number"


def test_a_failure_keeps_the_last_reply_up_to_a_length_and_without_halves_of_characters() -> None:
    [unread] = asked(Model(said("soon"), said("later\ud800")))
    assert unread.unverified(Claim("x")).reply == "later?"
    [long] = asked(Model(said("a" * 5000 + "z", "length")))
    kept = long.unverified(Claim("x")).reply
    assert len(kept) <= MAX_KEPT_REPLY
    assert (kept[0], kept[-1]) == ("a", "z")
    [silent] = asked(Model(ModelRefusedError("the prompt is too long")))
    assert silent.unverified(Claim("x")).reply is None


def test_a_model_that_refuses_for_good_is_no_reply_and_one_that_is_busy_is_for_the_caller() -> None:
    refused = ModelRefusedError("the prompt is too long")
    [unread] = asked(Model(refused, refused, refused), Sampling(n=3))
    assert unread == Unread("backend", "the prompt is too long")
    assert unread.unverified(Claim("x"), "no record: {}").message == "the prompt is too long"
    [second] = asked(Model(said("soon"), refused))
    assert (second.reason, len(second.replies)) == ("backend", 1)
    for told in ([ModelUnavailableError("busy")], [said("soon"), ModelUnavailableError("busy")]):
        with pytest.raises(ModelUnavailableError):
            asked(Model(*told))


def test_a_reader_may_join_what_both_replies_say() -> None:
    def both(replies: Replies) -> str:
        found = "".join(one.text for one in replies)
        if len(found) < 2:
            raise ReplyError("too little")
        return found

    model = ScriptedModel(["a", "b"])
    assert asyncio.run(ask(model, QUESTION, Sampling(), both, "More: {}".format)) == ["ab"]


def test_a_long_reply_is_shown_again_cut_and_an_empty_one_as_such() -> None:
    long = Model(said("x\ud800" * MAX_QUOTED_REPLY), said("1"))
    empty = Model(said(""), said("1"))
    assert asked(long) == asked(empty) == [1]
    assert long.questions[1][0][1].content == "x?" * (MAX_QUOTED_REPLY // 2)
    assert empty.questions[1][0][1].content == "(empty)"
