"""question -> drafts of a language model -> each audited -> the majority's answer (-> repair).

Each draft is audited by itself, against the same sources. Drafts whose short answers are the same are counted together;
the largest group wins, and of its drafts the one that its audit finds best. Whether the model answers faithfully is
told by the majority of the audits (MARCH, section 3.2: judged one by one, then a vote); a tie is no majority. Left out:
a search for the sources, and a second draft that is shown what was wrong with the first.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeAlias

from vouching.answering.prompt import Reply, Shot, Style, answer_messages, read_reply, read_text, text_messages
from vouching.errors import ConfigError, InputError, ModelAnswerError
from vouching.inputs import SourcesLike, as_sources, check_text
from vouching.judging.matching import same_answer
from vouching.judging.values import find_values
from vouching.judging.votes import majority_of
from vouching.metrics.answers import normalised
from vouching.models.base import Message, Model, Sampling
from vouching.models.running import all_of, run
from vouching.repair import Rest, repair
from vouching.text.words import FUNCTION_WORDS, lower_words
from vouching.types import Report, Source, Usage, total_usage
from vouching.types.serial import to_python

Audit: TypeAlias = Callable[[str, str, Sequence[Source]], Awaitable[Report]]
"""What judges an answer: question, response and sources to a report; see :func:`vouching.open_audit`."""
Same: TypeAlias = Callable[[str, str], bool]
"""Whether two short answers are one."""


@dataclass(frozen=True, slots=True)
class AnswerConfig:
    """How a model is asked. Raises ConfigError for a value out of range."""

    style: Style = "plain"
    """How the request is put."""
    generations: int = 1
    """Drafts, at least 1."""
    temperature: float = 0.6
    """Of the sampling with several drafts; a single one is greedy (the paper's evaluation: .6, .95, 20)."""
    top_p: float = 0.95
    """Likewise."""
    max_tokens: int = 1024
    """Length of a draft, in tokens; a model that thinks needs more."""
    seed: int | None = None
    """Of the sampling."""
    shots: tuple[Shot, ...] | None = None
    """Examples of a few-shot prompt; None takes those that ship."""

    def __post_init__(self) -> None:
        if self.shots is not None and self.style != "few-shot":
            raise ConfigError(f"got examples with the prompt {self.style}, which shows none: take few-shot")
        self.sampling()

    def sampling(self) -> Sampling:
        """The same for a model.

        >>> AnswerConfig().sampling().temperature, AnswerConfig(generations=8).sampling().temperature
        (0.0, 0.6)
        """
        if self.generations < 1:
            raise ConfigError(f"generations must be at least 1, got {self.generations}")
        several = self.generations > 1
        return Sampling(
            self.max_tokens, self.temperature if several else 0.0, self.top_p if several else 1.0, self.generations,
            self.seed,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Draft:
    """One generation of the model and its audit."""

    reply: Reply
    """What it said."""
    report: Report | None
    """Its audit; None where the model says that the sources do not hold the answer."""
    passed: bool | None
    """Whether the audit found nothing wrong; None where it could not tell."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with the drafts that it was chosen from."""

    question: str
    """What was asked."""
    answer: str
    """The answer in a few words."""
    response: str
    """The answer in sentences, as the model gave it; empty if it gave none."""
    report: Report | None
    """The audit of it, with ``revised_response`` if it was repaired; None if there is no answer."""
    drafts: tuple[Draft, ...]
    """Every usable draft, in order."""
    votes: int
    """Drafts that give this answer."""
    unusable: int
    """Drafts that were cut off or empty."""
    faithful: bool | None
    """Whether more than half of the audited drafts passed; None if no audit could tell."""
    usage: Usage
    """What drafts and audits cost."""

    @property
    def abstained(self) -> bool:
        """Whether the answer is that the sources do not hold it."""
        return self.report is None

    @property
    def text(self) -> str:
        """What to show: the response after repair, if there was one."""
        revised = self.report.revised_response if self.report else None
        return self.response if revised is None else revised

    def record(self) -> dict[str, Any]:
        """The answer with its drafts as plain JSON."""
        return {
            "question": self.question,
            "answer": self.answer,
            "text": self.text,
            "response": self.response,
            "abstained": self.abstained,
            "votes": self.votes,
            "faithful": self.faithful,
            "drafts": [
                {"answer": one.reply.answer, "response": one.reply.response, "reasoning": one.reply.reasoning,
                 "passed": one.passed} for one in self.drafts
            ],
            "unusable": self.unusable,
            "report": None if self.report is None else to_python(self.report),
            "usage": asdict(self.usage),
        }  # fmt: skip


class Answerer:
    r"""Answers questions from sources.

    Args:
        model: writes.
        audit: judges what it writes; see :func:`open_audit`.
        config: how the model is asked.
        same: whether two short answers are one; None takes :func:`same_short`.

    >>> from vouching import open_audit
    >>> from vouching.models import ScriptedModel
    >>> model = ScriptedModel(["Response: It opened in 1937.\nAnswer: 1937"])
    >>> answerer = Answerer(model, open_audit("embedded:rules", "embedded"))
    >>> answered = answerer.answer("When did it open?", "The bridge opened in 1973.", repair_rest="mark")
    >>> answered.faithful, answered.text
    (False, 'It opened in 1973.')
    """

    def __init__(
        self, model: Model, audit: Audit, config: AnswerConfig | None = None, same: Same | None = None
    ) -> None:
        self.model = model
        self.config = config or AnswerConfig()
        self._audit = audit
        self._same = same or same_short

    async def aanswer(self, question: str, sources: SourcesLike, repair_rest: Rest | None = None) -> Answered:
        """The answer to a question.

        Args:
            question: what to answer.
            sources: what to answer it from, as for ``check``.
            repair_rest: repairs the answer if given; see :func:`vouching.repair.repair`.

        Raises:
            InputError: no question, or no source.
            ModelAnswerError: every draft was cut off or empty.
            ModelError: the model is out of reach, or refuses.
        """
        if not check_text(question, "the question").strip():
            raise InputError("the question is empty: got no text, wanted a question to answer")
        given = as_sources(sources)
        messages = answer_messages(question, given, self.config.style, self.config.shots)
        return await self._answered(question, given, messages, read_reply, repair_rest)

    async def awrite(self, request: str, sources: SourcesLike, repair_rest: Rest | None = None) -> Answered:
        """A text about the sources, such as a summary, asked for plainly; it is its own short answer.

        Arguments and errors as of :meth:`aanswer`.
        """
        given = as_sources(sources)
        return await self._answered(request, given, text_messages(request, given), read_text, repair_rest)

    async def _answered(
        self,
        question: str,
        given: tuple[Source, ...],
        messages: Sequence[Message],
        read: Callable[[str], Reply],
        repair_rest: Rest | None,
    ) -> Answered:
        said = await self.model.generate(messages, self.config.sampling())
        replies = [read(one.text) for one in said if one.finish_reason != "length"]
        usable = [reply for reply in replies if reply.answer]
        if not usable:
            cut = any(one.finish_reason == "length" for one in said)
            advice = ": allow more by max_tokens (--max-tokens)" if cut else ""
            raise ModelAnswerError(f"none of {len(said)} drafts is an answer, they are cut off or empty{advice}")
        drafts = await self._audited(question, usable, given)
        group = majority([draft.reply.answer for draft in drafts], self._same, [_merit(draft) for draft in drafts])
        best = max((drafts[place] for place in group), key=_merit)
        report = best.report
        if report is not None and repair_rest is not None:
            report = await repair(report, lambda text: self._audit(question, text, given), repair_rest)
        return Answered(
            question, best.reply.answer, best.reply.response, report, drafts, len(group), len(said) - len(usable),
            majority_of([draft.passed for draft in drafts]),
            total_usage([*said, *{draft.reply.response: draft.report for draft in drafts if draft.report}.values()]),
        )  # fmt: skip

    def answer(self, question: str, sources: SourcesLike, repair_rest: Rest | None = None) -> Answered:
        """The same without an event loop."""
        return run(self.aanswer(question, sources, repair_rest))

    async def aclose(self) -> None:
        """Let go of the model."""
        await self.model.aclose()

    def close(self) -> None:
        """The same without an event loop."""
        run(self.aclose())

    async def _audited(self, question: str, replies: Sequence[Reply], sources: Sequence[Source]) -> tuple[Draft, ...]:
        """The drafts with their audits; equal responses are audited once."""
        texts = [*dict.fromkeys(reply.response for reply in replies if not reply.abstained)]
        reports = dict(zip(texts, await all_of(map(partial(self._report, question, sources), texts)), strict=True))
        found = ((reply, None if reply.abstained else reports[reply.response]) for reply in replies)
        return tuple(Draft(reply, report, report.passed if report else None) for reply, report in found)

    async def _report(self, question: str, sources: Sequence[Source], response: str) -> Report:
        return await self._audit(question, response, sources)


def same_short(one: str, other: str) -> bool:
    """Whether two short answers are one: the same words, or nothing but the same number or date.

    >>> same_short("The Danube.", "danube"), same_short("in 1973", "1973"), same_short("10k", "ten thousand")
    (True, True, True)
    >>> same_short("1973", "1937"), same_short("Henry VIII, 1509", "Anne, 1509")
    (False, False)
    """
    if normalised(one) == normalised(other):
        return True
    both_ways = same_answer(one, other) and same_answer(other, one)
    return both_ways and _is_value(one) and _is_value(other)


def _is_value(answer: str) -> bool:
    """Whether nothing but small words stands beside the values of an answer."""
    rest, last = "", 0
    for value in find_values(answer):
        rest, last = rest + answer[last : value.start] + " ", value.end
    return last > 0 and all(word in FUNCTION_WORDS for word in lower_words(rest + answer[last:]))


def majority(answers: Sequence[str], same: Same, merits: Sequence[float] | None = None) -> list[int]:
    """The places of the largest group of equal answers; of groups as large, the one with the higher mean merit.

    An answer joins the first group whose first member is the same. Without merits, or where they are equal too, the
    group that came first wins.

    >>> majority(["1973", "1937", "In 1973", "1973."], same_short)
    [0, 2, 3]
    >>> majority(["1973", "1937"], same_short, merits=[0.0, 1.0])
    [1]
    """
    groups: list[list[int]] = []
    for place, answer in enumerate(answers):
        home = next((group for group in groups if same(answers[group[0]], answer)), None)
        if home is None:
            groups.append([place])
        else:
            home.append(place)
    worth = merits or [0.0] * len(answers)
    return max(groups, key=lambda group: (len(group), sum(worth[place] for place in group) / len(group)))


def _merit(draft: Draft) -> float:
    """What orders drafts with the same answer: the audit passed, then its score."""
    score = draft.report.score if draft.report is not None else None
    return 2.0 * (draft.passed is True) + (score if score is not None else 0.0)
