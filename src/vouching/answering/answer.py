"""question -> drafts of a language model -> an audit of each -> the answer of the majority (-> repair).

Each draft is audited separately against the same sources. Drafts with the same short answer form a group; the largest
group wins, and the best audited draft of it is returned. Whether the model answers faithfully is a majority vote of the
audits (MARCH, section 3.2); a tie is not a majority.

Not supported: searching for sources, and a second draft that sees what was wrong with the first.
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
from vouching.models.open import FORMS, open_model
from vouching.models.running import all_of, run
from vouching.repair import Rest, repair
from vouching.text.words import FUNCTION_WORDS, lower_words
from vouching.types import Report, Source, Usage, total_usage
from vouching.types.serial import to_python

Audit: TypeAlias = Callable[[str, str, Sequence[Source]], Awaitable[Report]]
"""Question, response and sources to a report; see :func:`vouching.open_audit`."""
Same: TypeAlias = Callable[[str, str], bool]
"""Whether two short answers are the same."""


def writer_name(name: str | None) -> str:
    """The name of a model that can write answers. Raises ConfigError if it is missing or not a language model's.

    >>> writer_name(None)
    Traceback (most recent call last):
    ...
    vouching.errors.ConfigError: vouch answer needs a language model, but none was given: set VOUCH_MODEL or pass ...
    """
    if not name or name.startswith("embedded"):
        problem = f"{name} is not one" if name else "none was given"
        raise ConfigError(
            f"vouch answer needs a language model, but {problem}: set VOUCH_MODEL or pass --model NAME; "
            f"names look like {FORMS}"
        )
    return name


def open_writer(name: str | None) -> Model:
    """The language model that writes answers. Raises ConfigError as :func:`writer_name`."""
    return open_model(writer_name(name))


@dataclass(frozen=True, slots=True)
class AnswerConfig:
    """How a model is asked. Raises ConfigError for a value out of range."""

    style: Style = "plain"
    generations: int = 1
    """Number of drafts, at least 1."""
    temperature: float = 0.6
    """Of the sampling with several drafts; a single one is greedy (the paper's evaluation: .6, .95, 20)."""
    top_p: float = 0.95
    """Likewise."""
    max_tokens: int = 1024
    """Token limit of a draft; reasoning models need more."""
    seed: int | None = None
    shots: tuple[Shot, ...] | None = None
    """Examples of a few-shot prompt; None uses the shipped ones."""

    def __post_init__(self) -> None:
        if self.shots is not None and self.style != "few-shot":
            raise ConfigError(f"examples require the style few-shot, got {self.style}")
        self.sampling()

    def sampling(self) -> Sampling:
        """The settings for a model's sampling; a single draft is greedy."""
        if self.generations < 1:
            raise ConfigError(f"generations must be at least 1, got {self.generations}")
        several = self.generations > 1
        return Sampling(
            self.max_tokens,
            self.temperature if several else 0.0,
            self.top_p if several else 1.0,
            self.generations,
            self.seed,
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft and its audit."""

    reply: Reply
    report: Report | None
    """None where the model states that the sources do not have the answer."""
    passed: bool | None
    """Whether the audit found no fault; None if undecided."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with the drafts it was chosen from."""

    question: str
    answer: str
    """The answer in a few words."""
    response: str
    """The answer in sentences; may be empty."""
    report: Report | None
    """Its audit, with ``revised_response`` if it was repaired; None if there is no answer."""
    drafts: tuple[Draft, ...]
    """Every usable draft, in order."""
    votes: int
    """Drafts with this answer."""
    unusable: int
    """Drafts that were cut off or empty."""
    faithful: bool | None
    """Whether more than half of the audited drafts passed; None if no audit decided."""
    usage: Usage
    """Cost of drafts and audits."""

    @property
    def abstained(self) -> bool:
        """Whether the model states that the sources do not have the answer."""
        return self.report is None

    @property
    def text(self) -> str:
        """The response, repaired if there was a repair."""
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
                {
                    "answer": one.reply.answer,
                    "response": one.reply.response,
                    "reasoning": one.reply.reasoning,
                    "passed": one.passed,
                }
                for one in self.drafts
            ],
            "unusable": self.unusable,
            "report": None if self.report is None else to_python(self.report),
            "usage": asdict(self.usage),
        }


class Answerer:
    r"""Answers questions from sources.

    Args:
        model: writes the drafts.
        audit: checks them; see :func:`vouching.open_audit`.
        config: how the model is asked.
        same: whether two short answers are the same; None uses :func:`same_short`.

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
        self.model, self._audit = model, audit
        self.config = config or AnswerConfig()
        self._same = same or same_short

    async def aanswer(self, question: str, sources: SourcesLike, repair_rest: Rest | None = None) -> Answered:
        """The answer to a question, repaired if ``repair_rest`` is given (see :func:`vouching.repair.repair`).

        Raises InputError without a question or source, ModelAnswerError if every draft was cut off or empty, and
        ModelError if the model is unreachable or refuses.
        """
        if not check_text(question, "the question").strip():
            raise InputError("the question must not be empty")
        given = as_sources(sources)
        messages = answer_messages(question, given, self.config.style, self.config.shots)
        return await self._answered(question, given, messages, read_reply, repair_rest)

    async def awrite(self, request: str, sources: SourcesLike, repair_rest: Rest | None = None) -> Answered:
        """A text about the sources, such as a summary; it is its own short answer. Otherwise as :meth:`aanswer`."""
        given = as_sources(sources)
        printed = self.config.style == "paper"
        messages = answer_messages(request, given, "paper") if printed else text_messages(request, given)
        return await self._answered(request, given, messages, read_text, repair_rest)

    async def _answered(
        self,
        question: str,
        given: tuple[Source, ...],
        messages: Sequence[Message],
        read: Callable[[str], Reply],
        repair_rest: Rest | None,
    ) -> Answered:
        completions = await self.model.generate(messages, self.config.sampling())
        replies = [read(one.text) for one in completions if one.finish_reason != "length"]
        usable = [reply for reply in replies if reply.answer]
        if not usable:
            cut = any(one.finish_reason == "length" for one in completions)
            advice = "; increase max_tokens (--max-tokens)" if cut else ""
            raise ModelAnswerError(f"all drafts are cut off or empty ({len(completions)} generated){advice}")
        drafts = await self._audited(question, usable, given)
        group = majority([draft.reply.answer for draft in drafts], self._same, [_merit(draft) for draft in drafts])
        best = max((drafts[place] for place in group), key=_merit)
        report = best.report
        if report is not None and repair_rest is not None:
            report = await repair(report, lambda text: self._audit(question, text, given), repair_rest)
        audits = {draft.reply.response: draft.report for draft in drafts if draft.report}
        return Answered(
            question,
            best.reply.answer,
            best.reply.response,
            report,
            drafts,
            len(group),
            len(completions) - len(usable),
            majority_of([draft.passed for draft in drafts]),
            total_usage([*completions, *audits.values()]),
        )

    def answer(self, question: str, sources: SourcesLike, repair_rest: Rest | None = None) -> Answered:
        """:meth:`aanswer` without an event loop."""
        return run(self.aanswer(question, sources, repair_rest))

    async def aclose(self) -> None:
        """Release the model."""
        await self.model.aclose()

    def close(self) -> None:
        """:meth:`aclose` without an event loop."""
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
    """Whether two short answers have the same words, or are the same number or date with only function words around.

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
    """Whether an answer has nothing but function words around its values."""
    rest, last = "", 0
    for value in find_values(answer):
        rest, last = rest + answer[last : value.start] + " ", value.end
    return last > 0 and all(word in FUNCTION_WORDS for word in lower_words(rest + answer[last:]))


def majority(answers: Sequence[str], same: Same, merits: Sequence[float] | None = None) -> list[int]:
    """The positions of the largest group of equal answers; ties go to the higher mean merit, then to the first group.

    An answer joins the first group whose first member is the same.

    >>> majority(["1973", "1937", "In 1973", "1973."], same_short)
    [0, 2, 3]
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
    """Sort key of drafts with the same answer: a passed audit, then its score."""
    score = draft.report.score if draft.report is not None else None
    return 2.0 * (draft.passed is True) + (score if score is not None else 0.0)
