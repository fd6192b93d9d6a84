"""The main functions: check a claim, a response against its sources or its instruction, many rows, or rank answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from vouching.checker import Checker, Judged, run
from vouching.claims import AnswerLike, claims_report, decompose
from vouching.embedded.preference import Preference
from vouching.errors import ConfigError, InputError
from vouching.inputs import ClaimLike, SourcesLike, as_sources, check_text
from vouching.judging.verifier import Outcome
from vouching.methods.discriminative.open import open_ranker
from vouching.methods.discriminative.rank import Ranker
from vouching.repair import Rest
from vouching.rows.conversations import ORIGINS, Origin, Turn, read_turns
from vouching.types import Ranking, Report, Unverified
from vouching.types.visible import shown_json

if TYPE_CHECKING:
    from vouching.answering.answer import Audit
    from vouching.models.base import Model


AuditMethod: TypeAlias = Literal["blinded", "embedded", "structured", "label"]
"""How the answers of a model are judged: asked again blind, or claim by claim."""


@lru_cache(maxsize=8)
def _checker(model: str, threshold: float, prefer: Preference | None) -> Checker:
    return Checker(model, threshold, prefer=prefer)


@overload
def check(
    claim: ClaimLike, sources: SourcesLike, *, model: str = ..., threshold: float = ..., prefer: Preference | None = ...
) -> Outcome: ...
@overload
def check(
    claim: Sequence[ClaimLike],
    sources: SourcesLike,
    *,
    model: str = ...,
    threshold: float = ...,
    prefer: Preference | None = ...,
) -> list[Outcome]: ...
def check(
    claim: ClaimLike | Sequence[ClaimLike],
    sources: SourcesLike,
    *,
    model: str = "embedded",
    threshold: float = 0.5,
    prefer: Preference | None = None,
) -> Outcome | list[Outcome]:
    """Judge a claim (or each of a list of claims) against sources.

    Args:
        claim: a statement, or a list of statements.
        sources: a text, a mapping with "text" (and "id", "title", "url"), a Source, or a list of these. All of them
            belong to every claim.
        model: the verifier; "embedded" works offline.
        threshold: score from which a claim is Attributable, in [0, 1].
        prefer: which source decides where two disagree, "newest" or "listed" (the first given), with the embedded
            verifier; None for neither: the verdict is then "conflicting".

    Returns:
        A Verdict, or Unverified if the judge failed; a list of them for a list of claims.

    Raises:
        InputError: an empty claim, no source, or invalid text.
        ConfigError: an unknown model, or a threshold outside [0, 1].

    >>> verdict = check("The study had 12 sites.", "The research was carried out at 8 sites.")
    >>> verdict.label, verdict.error_type, verdict.revised_claim
    ('Not Attributable', 'numerical_exaggeration', 'The study had 8 sites.')
    """
    return _checker(model, threshold, prefer).check(claim, sources)


def check_response(
    response: AnswerLike,
    sources: SourcesLike,
    question: str | None = None,
    *,
    repair_rest: Rest | None = None,
    model: str = "embedded",
    threshold: float = 0.5,
    prefer: Preference | None = None,
) -> Report:
    """Split a response into claims and judge each.

    Args:
        response: the text to check, or an answer as the API of OpenAI or Anthropic returns it, with its citations: the
            report says of each whether its source supports the sentence (``report.citations``).
        sources: as for :func:`check`.
        question: the question that the response answers, if any.
        repair_rest: repairs the response: verified fixes are applied, and claims without one are treated as this says
            ("mark", "remove" or "keep").
        model: the verifier.
        threshold: score from which a claim is Attributable, in [0, 1].
        prefer: as for :func:`check`.

    Returns:
        A Report with one finding per claim, in the order of the response. Raises as :func:`check`.

    >>> report = check_response("Sure! It opened in 1937.", "The bridge opened in 1973.", repair_rest="mark")
    >>> report.totals.not_attributable, report.revised_response
    (1, 'Sure! It opened in 1973.')
    """
    return _checker(model, threshold, prefer).check_response(response, sources, question, repair_rest)


def check_trace(
    messages: object,
    *,
    origins: Sequence[Origin] = ORIGINS,
    model: str = "embedded",
    threshold: float = 0.5,
    prefer: Preference | None = None,
) -> list[Report]:
    """Judge each answer of a conversation against what was known when it was given.

    Args:
        messages: of OpenAI (chat or Responses), Anthropic, LangChain or pydantic-ai, as JSON or as objects of their
            clients; see :mod:`vouching.rows.conversations`.
        origins: what counts as evidence: "documents", "tool" (results of tools that did not fail), "system" and "user".
            An earlier answer never does.
        model: the verifier.
        threshold: score from which a claim is Attributable, in [0, 1].
        prefer: as for :func:`check`.

    Returns:
        A Report per answer, in order, with the id "turn-N". The spans of its evidence name the result of the tool, such
        as "call_1 (get_weather)". A claim before any evidence is Unverified(reason="no_evidence").

    Raises:
        InputError: no answer, or what is no conversation.
        ConfigError: as for :func:`check`.

    >>> [report] = check_trace([
    ...     {"role": "user", "content": "When did the bridge open?"},
    ...     {"role": "tool", "tool_call_id": "call_1", "name": "search", "content": "The bridge opened in 1973."},
    ...     {"role": "assistant", "content": "The bridge opened in 1973."},
    ... ])
    >>> report.id, report.findings[0].label, report.findings[0].evidence_alignment[0].source_span.source_id
    ('turn-1', 'Attributable', 'call_1 (search)')
    """
    return run(judge_turns(_checker(model, threshold, prefer), messages, origins))


async def judge_turns(
    checker: Checker, messages: object, origins: Sequence[Origin] = ORIGINS, repair_rest: Rest | None = None
) -> list[Report]:
    """The reports of :func:`check_trace`, by a checker, which may search where nothing was known."""
    turns = enumerate(answered_turns(messages, origins), 1)
    return [replace(await judge_turn(checker, turn, repair_rest), id=f"turn-{number}") for number, turn in turns]


def answered_turns(messages: object, origins: Sequence[Origin] = ORIGINS) -> list[Turn]:
    """The turns of a conversation that have an answer. Raises InputError if there is none."""
    answered = [turn for turn in read_turns(messages, origins) if turn.answer]
    if not answered:
        raise InputError("the conversation has no answer of a model: pass all its messages, those of tools included")
    return answered


async def judge_turn(checker: Checker, turn: Turn, repair_rest: Rest | None = None) -> Report:
    """The report on an answer of a conversation; Unverified claims if nothing was known and nothing can be searched."""
    if turn.sources or checker.finder is not None:
        return await checker.acheck_response(turn.answer, turn.sources, turn.question, repair_rest)
    found = decompose(turn.answer, turn.question)
    why = "no result of a tool, document or system message was known when this was said"
    outcomes = [Unverified(claim, "no_evidence", why) for claim in found.claims]
    return claims_report(turn.answer, (), outcomes, found, None, turn.question)


def check_many(
    rows: Iterable[Mapping[str, Any]],
    *,
    repair_rest: Rest | None = None,
    model: str = "embedded",
    threshold: float = 0.5,
    prefer: Preference | None = None,
) -> Iterator[Judged]:
    """Judge rows one by one; results come in order, as they are ready, and rows are not held in memory.

    Args:
        rows: mappings with "claim" or "response", "sources" (or "source"), and optionally "id" and "question".
        repair_rest: repairs every response if given; see :func:`check_response`.
        model: the verifier.
        threshold: score from which a claim is Attributable, in [0, 1].
        prefer: as for :func:`check`.

    Yields:
        A Verdict or a Report per row, with the row's id; Unverified(reason="input") for a row that cannot be read.

    >>> rows = [{"claim": "It opened in 1973.", "source": "The bridge opened in 1973."}, {"claim": "No source."}]
    >>> [result.kind for result in check_many(rows)]
    ['verdict', 'unverified']
    """
    return _checker(model, threshold, prefer).check_many(rows, repair_rest=repair_rest)


def check_instruction(
    instruction: str,
    response: str,
    checklist: object = None,
    *,
    model: str | Model | None = None,
    sources: SourcesLike = (),
    **settings: Any,
) -> Report:
    """Judge how well a response follows its instruction: by exact rules, or item by item with a language model.

    Args:
        instruction: what the response was asked to do.
        response: the text to check.
        checklist: a numbered list, or a list of questions and of mappings with "rule" and "arguments"; None finds the
            rules in the instruction, or lets the model write a checklist.
        model: answers the questions; None checks by rules alone, offline.
        sources: texts that came with the instruction, for a model.
        settings: for a model, see :class:`vouching.methods.checklist.verify.ChecklistConfig`: votes, reasons, holistic
            (one question about the whole) and so on.

    Returns:
        A Report with one finding per item; ``score`` is the share of items passed, None if nothing was checked.

    Raises:
        InputError: no instruction, no response, no usable checklist, or an item without a rule and no model.
        ConfigError: an unknown model, or settings without a model.
        BackendError: the model is out of reach.

    >>> report = check_instruction("Describe the sea. Use no commas.", "Wide, blue and deep.")
    >>> [(finding.rule, finding.passed) for finding in report.findings]
    [('punctuation:no_comma', False)]
    """
    return run(acheck_instruction(instruction, response, checklist, model=model, sources=sources, **settings))


async def acheck_instruction(
    instruction: str,
    response: str,
    checklist: object = None,
    *,
    model: str | Model | None = None,
    sources: SourcesLike = (),
    **settings: Any,
) -> Report:
    """Async twin of :func:`check_instruction`; a model object passed in stays open.

    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> judge = ScriptedModel({"Is it short": "yes", "Is it funny": "no"})
    >>> asyncio.run(acheck_instruction("Joke.", "Ha.", ["Is it short?", "Is it funny?"], model=judge)).score
    0.5
    """
    if model is None and (settings or sources):
        raise ConfigError("settings and sources require a model: pass model, or omit them")
    checker = Checker("embedded", method="rules") if model is None else Checker(model, method="checklist", **settings)
    try:
        return await checker.acheck_instruction(instruction, response, checklist, sources)
    finally:
        if isinstance(model, str):
            await checker.aclose()


@lru_cache(maxsize=8)
def _ranker(model: str) -> Ranker:
    return open_ranker(model)


def rank(question: str, answers: Sequence[str], sources: SourcesLike, *, model: str = "embedded:rules") -> Ranking:
    """Rank the answers to a question by how well the sources support them.

    Args:
        question: what was asked.
        answers: at least one; each is scored on its own.
        sources: as for :func:`check`.
        model: the scorer; see :func:`vouching.methods.discriminative.open.open_scorer`. The default works offline.

    Returns:
        A Ranking: best first, tied answers share a place, and answers without a score are listed separately.

    Raises:
        InputError: an empty question or answer, no answer, no source, or invalid text.
        ConfigError: an unknown model.

    >>> [answer.text for answer in rank("When did it open?", ["1937", "1973"], "The bridge opened in 1973.").answers]
    ['1973', '1937']
    """
    return run(arank(question, answers, sources, model=model))


async def arank(
    question: str, answers: Sequence[str], sources: SourcesLike, *, model: str = "embedded:rules"
) -> Ranking:
    """Async twin of :func:`rank`.

    >>> import asyncio
    >>> asyncio.run(arank("When did it open?", ["1973"], "The bridge opened in 1973.")).best[0].text
    '1973'
    """
    check_text(question, "the question")
    if isinstance(answers, str):
        raise InputError(f"answers must be a list of strings, got one string: pass [{shown_json(answers)}]")
    given = [check_text(answer, f"answer {number}") for number, answer in enumerate(answers, 1)]
    return await _ranker(model).rank(question, given, as_sources(sources))


async def acheck(
    claim: ClaimLike | Sequence[ClaimLike],
    sources: SourcesLike,
    *,
    model: str = "embedded",
    threshold: float = 0.5,
    prefer: Preference | None = None,
) -> Outcome | list[Outcome]:
    """Async twin of :func:`check`.

    >>> import asyncio
    >>> asyncio.run(acheck("It opened in 1973.", "The bridge opened in 1973.")).label
    'Attributable'
    """
    return await _checker(model, threshold, prefer).acheck(claim, sources)


async def acheck_response(
    response: AnswerLike,
    sources: SourcesLike,
    question: str | None = None,
    *,
    repair_rest: Rest | None = None,
    model: str = "embedded",
    threshold: float = 0.5,
    prefer: Preference | None = None,
) -> Report:
    """Async twin of :func:`check_response`.

    >>> import asyncio
    >>> asyncio.run(acheck_response("It opened in 1973.", "The bridge opened in 1973.")).attributable
    True
    """
    return await _checker(model, threshold, prefer).acheck_response(response, sources, question, repair_rest)


def acheck_many(
    rows: Iterable[Mapping[str, Any]],
    *,
    repair_rest: Rest | None = None,
    model: str = "embedded",
    threshold: float = 0.5,
    prefer: Preference | None = None,
) -> AsyncIterator[Judged]:
    """Async twin of :func:`check_many`.

    >>> import asyncio
    >>> async def labels(rows):
    ...     return [result.label async for result in acheck_many(rows)]
    >>> asyncio.run(labels([{"claim": "It opened in 1973.", "source": "The bridge opened in 1973."}]))
    ['Attributable']
    """
    return _checker(model, threshold, prefer).acheck_many(rows, repair_rest=repair_rest)


def open_audit(judge: str = "embedded", method: AuditMethod = "blinded", threshold: float = 0.5) -> Audit:
    """The judge of the answers that a model writes, for :class:`vouching.answering.Answerer`.

    Args:
        judge: name of the model that judges, as for :class:`Checker`.
        method: "embedded" judges claim by claim without a language model, "structured" and "label" with one.
        threshold: score from which a claim is Attributable; the blinded audit has none.

    Raises:
        ConfigError: an unknown judge, or a method that it does not have.

    >>> import asyncio
    >>> from vouching import Source
    >>> audit = open_audit("embedded:rules", "embedded")
    >>> asyncio.run(audit("When?", "It opened in 1973.", [Source("It opened in 1973.", "a")])).passed
    True
    """
    checker = Checker(judge, 0.5 if method == "blinded" else threshold, method=method)
    return lambda question, response, sources: checker.acheck_response(response, sources, question)
