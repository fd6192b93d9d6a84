"""Judges of what was retrieved for a question: the embedded one, offline, and any language model with one request.

The embedded judge is three logistic models over the features of ``vouching.retrieval.features``; the recipe
``recipes/retrieval`` fits them. It does not read: it sees words, names, values and links between passages. Not
supported: sources that do not fit into one prompt of a language model.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, cast

from vouching.embedded.verify import is_embedded
from vouching.errors import InputError, ModelError
from vouching.evaluation_events import emit_evaluation
from vouching.inputs import SourcesLike, as_sources, check_text
from vouching.judging.ask import Replies, ReplyError, Unread, ask
from vouching.judging.delimiters import delimited
from vouching.judging.schemas import BOOLEAN, Schema, json_fields, list_of, one_of, record, short_text, token_limit
from vouching.judging.windows import ScreenedSources
from vouching.models import open_model
from vouching.models.base import Completion, Message, Model, Sampling
from vouching.models.running import run
from vouching.prompts import load_prompt
from vouching.recording import plain
from vouching.retrieval.features import Context, probability
from vouching.text.json_values import parse_json
from vouching.types import (
    Claim,
    ContextFinding,
    ContextReport,
    Provenance,
    Source,
    Unverified,
    Usage,
    VerdictWarning,
    total_usage,
)
from vouching.types.ledger import Entry, Keeps
from vouching.version import __version__

MAX_SOURCES = 200
"""Sources of one call; each is compared with every other."""
MAX_CHARACTERS = 24_000
"""Characters of sources in the prompt of a language model."""
_MISSING = 300
_YES = 0.5


def check_context(
    question: str,
    sources: SourcesLike,
    answer: str | None = None,
    *,
    model: str | Model = "embedded",
    ledger: Keeps | None = None,
) -> ContextReport | Unverified:
    """Judge whether sources are enough for a question, which are relevant, and whether an answer addresses it.

    Args:
        question: what was asked.
        sources: as for :func:`vouching.check`; titles help.
        answer: the answer, if there is one; None judges the sources alone.
        model: "embedded" works offline; any other is a language model, asked once.
        ledger: keeps the result; see :func:`vouching.ledger.open_ledger`. The caller closes it.

    Returns:
        A ContextReport; Unverified if the model failed, or if the question or a source has no word to compare.

    Raises:
        InputError: an empty question, answer or source, no source, or more than 200.
        ConfigError: an unknown model.
        BackendError: the server of the model is out of reach for now.

    >>> found = check_context("When did the Elbe Bridge open?", ["The Elbe Bridge opened in 1973.", "It rains."])
    >>> found.sufficient.holds, [one.holds for one in found.relevant]
    (True, [True, False])
    """
    return run(acheck_context(question, sources, answer, model=model, ledger=ledger))


async def acheck_context(
    question: str,
    sources: SourcesLike,
    answer: str | None = None,
    *,
    model: str | Model = "embedded",
    ledger: Keeps | None = None,
) -> ContextReport | Unverified:
    """Async twin of :func:`check_context`.

    >>> import asyncio
    >>> asyncio.run(acheck_context("When did it open?", ["It opened in 1973."], "In 1973.")).addresses.holds
    True
    """
    given = as_sources(sources)
    named = [(question, "the question"), *((source.text, f"the source {source.id}") for source in given)]
    for text, name in [*named, *([] if answer is None else [(answer, "the answer")])]:
        if not check_text(text, name).strip():
            raise InputError(f"{name} must not be empty: pass its text, or leave it out")
    if len(given) > MAX_SOURCES:
        raise InputError(f"expected at most {MAX_SOURCES} sources, got {len(given):,}: pass those for one question")
    found = await _judged(question, given, answer, model)
    emit_evaluation("context", found)
    if ledger is not None:
        asked = {"question": question, **({} if answer is None else {"answer": answer}), "sources": given}
        entry = Entry(ledger.stream, "context", plain(asked), plain(found), ledger.caller)
        await asyncio.to_thread(ledger.append, [entry])
    return found


async def _judged(
    question: str, given: tuple[Source, ...], answer: str | None, model: str | Model
) -> ContextReport | Unverified:
    if is_embedded(model):
        return embedded_report(question, given, answer)
    opened = open_model(model) if isinstance(model, str) else model
    try:
        return await asked_report(opened, question, given, answer)
    finally:
        if isinstance(model, str):
            await opened.aclose()


@cache
def weights() -> dict[str, dict[str, Any]]:
    """The three logistic models by name, and their provenance."""
    return parse_json(files("vouching.retrieval").joinpath("weights.json").read_text(encoding="utf-8"))


def embedded_report(question: str, sources: Sequence[Source], answer: str | None) -> ContextReport | Unverified:
    """The report of the embedded judge; Unverified for a text in which it finds no word."""
    started, models = time.perf_counter(), weights()
    wordless = [source.id for source in sources if not any(c.isalnum() for c in source.text)]
    try:
        context = Context(question, sources)
    except ValueError as error:
        return Unverified(Claim(question), "undecided", f"{error}: ask with a language model (--model)")
    if wordless:
        return Unverified(Claim(question), "undecided", f"the source {wordless[0]} has no word: leave it out")
    p = [probability(context.of_passage(number), models["relevant"]) for number in range(len(sources))]
    enough = probability(context.of_set(p), models["sufficient"])
    fits = None if answer is None else probability(context.of_answer(answer, p), models["addresses"])
    return ContextReport(
        question,
        tuple(sources),
        ContextFinding(enough >= _YES, enough, context.gaps()),
        tuple(ContextFinding(one >= _YES, one, context.reasons(number)) for number, one in enumerate(p)),
        answer,
        None if fits is None else ContextFinding(fits >= _YES, fits, context.answer_reasons(answer or "")),
        Provenance("embedded:retrieval", __version__, "logistic"),
        Usage(seconds=time.perf_counter() - started),
    )


def schema_of(count: int) -> Schema:
    """The schema of a reply about ``count`` sources."""
    numbers = list_of(one_of(*range(1, count + 1)), count)
    return record(
        sufficient=BOOLEAN, missing=short_text(_MISSING), relevant=numbers, addresses=one_of("yes", "no", "none")
    )


async def asked_report(
    model: Model, question: str, sources: Sequence[Source], answer: str | None
) -> ContextReport | Unverified:
    """The report of a language model, from one request that is repeated once if the reply cannot be read."""
    started, screened, prompt = time.perf_counter(), ScreenedSources(sources), load_prompt(__package__ or "", "prompt")
    window = screened.only_window(MAX_CHARACTERS)
    warnings = tuple(screened.warnings())
    if window is None or len(window) < len(sources):
        message = f"the sources must have text and at most {MAX_CHARACTERS:,} characters in all: pass fewer or shorter"
        return Unverified(Claim(question), "undecided", message, warnings)
    texts = {"question": question}
    texts |= {f"source {one.number}": f"{one.title}\n{one.text}" if one.title else one.text for one in window}
    texts |= {} if answer is None else {"answer": answer}
    schema, spent = schema_of(len(sources)), list[Completion]()
    messages = Message("system", prompt.text.strip()), Message("user", delimited(texts))

    def read(replies: Replies) -> tuple[bool, str, set[int], str]:
        return read_context(replies[-1].text, len(sources), answer is not None)

    def again(fault: str) -> str:
        return f"Your reply cannot be used: {fault}. Reply with the JSON object and nothing else."

    try:
        [found] = await ask(
            model, messages, Sampling(token_limit(None, schema), json_schema=schema), read, again, spent
        )
    except ModelError as error:
        if error.can_retry:
            raise
        return Unverified(Claim(question), "backend", str(error), warnings)
    usage = replace(total_usage(spent), seconds=time.perf_counter() - started)
    if isinstance(found, Unread):
        return replace(found.unverified(Claim(question), found.advised), warnings=warnings, usage=usage)
    sufficient, missing, relevant, addresses = found
    return ContextReport(
        question,
        tuple(sources),
        ContextFinding(sufficient, None, _noted(missing, warnings)),
        tuple(ContextFinding(number in relevant, None) for number in range(1, len(sources) + 1)),
        answer,
        None if answer is None else ContextFinding(addresses == "yes", None),
        Provenance(model.name, __version__, prompt_hash=prompt.digest),
        usage,
    )


def _noted(missing: str, warnings: Sequence[VerdictWarning]) -> tuple[str, ...]:
    return tuple(filter(None, (missing.strip(), *(warning.message for warning in warnings))))


def read_context(reply: str, count: int, answered: bool) -> tuple[bool, str, set[int], str]:
    """What a reply says: sufficient, what is missing, numbers of relevant sources, addresses. Raises ReplyError.

    >>> read_context('{"sufficient": false, "missing": "the date", "relevant": [2], "addresses": "none"}', 2, False)
    (False, 'the date', {2}, 'none')
    """
    fields = json_fields(reply)
    sufficient, missing, listed = fields.get("sufficient"), fields.get("missing", ""), fields.get("relevant")
    addresses = fields.get("addresses", "none")
    if not isinstance(sufficient, bool) or not isinstance(missing, str):
        raise ReplyError(f'expected a JSON object with "sufficient" true or false, got {reply[:80]!r}')
    if not isinstance(listed, list):
        raise ReplyError(f'"relevant" must be a list of numbers of sources, got {listed!r}')
    numbers = cast("list[Any]", listed)
    if wrong := [one for one in numbers if type(one) is not int or not 1 <= one <= count]:
        raise ReplyError(f'"relevant" must have numbers from 1 to {count}, got {wrong[0]!r}')
    if addresses not in (("yes", "no") if answered else ("yes", "no", "none")):
        raise ReplyError(f'"addresses" must be "yes" or "no", got {addresses!r}')
    return sufficient, missing, set(numbers), addresses
