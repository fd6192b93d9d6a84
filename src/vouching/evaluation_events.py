"""Every result of a checker as an event of OpenTelemetry, ``gen_ai.evaluation.result``, for whoever collects them.

The events go to the logs of the application, on the span that is current. They have name, score, label and counts by
error type, but no texts. Without ``opentelemetry-api`` there are none, and without an exporter they cost nothing. A
process that works for a server hands its events over (:func:`kept_events`), since the span is there.
Source: OpenTelemetry's semantic conventions for generative AI, events.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from vouching.types import Assurance, ContextReport, Report, Unverified, Verdict
from vouching.types.ledger import EntryKind
from vouching.version import __version__

if TYPE_CHECKING:
    from opentelemetry._logs import Logger

EVENT = "gen_ai.evaluation.result"
"""Name of the event."""
NAMES: Mapping[EntryKind, str] = {
    "check": "attributable",
    "check-response": "attributable",
    "audit": "blinded_audit",
    "follow": "instruction_following",
    "challenge": "assurance",
    "context": "context_sufficiency",
}
"""``gen_ai.evaluation.name`` of each kind of check."""
Result: TypeAlias = Verdict | Unverified | Report | Assurance | ContextReport
Attributes: TypeAlias = dict[str, str | float]
_KEPT: ContextVar[list[Attributes] | None] = ContextVar("kept", default=None)
_RESPONSE_ID: ContextVar[str | None] = ContextVar("response_id", default=None)


def evaluation_attributes(kind: EntryKind, result: Result) -> Attributes:
    """The attributes of the event; what is unknown is absent, so a judge that failed has no score.

    Args:
        kind: what was checked; see ``NAMES``.
        result: its result.

    >>> from vouching import check_response
    >>> found = evaluation_attributes("check-response", check_response("It opened in 1937.", "It opened in 1973."))
    >>> found["gen_ai.evaluation.score.label"], found["gen_ai.evaluation.explanation"]
    ('fail', '1 claim: 0 attributable, 1 not attributable; 1 temporal shift')
    """
    attributes: Attributes = {"gen_ai.evaluation.name": NAMES[kind]}
    if isinstance(result, Unverified):
        attributes |= {"gen_ai.evaluation.score.label": "unverified", "error.type": result.reason}
    else:
        passed, score = _outcome(result)
        attributes["gen_ai.evaluation.score.label"] = {True: "pass", False: "fail", None: "unverified"}[passed]
        if score is not None:
            attributes["gen_ai.evaluation.score.value"] = score
        if why := _explanation(result):
            attributes["gen_ai.evaluation.explanation"] = why
    return attributes


def has_listeners() -> bool:
    """Whether OpenTelemetry is installed, so that an event may be heard."""
    return _logger() is not None


def emit_evaluation(kind: EntryKind, result: Result) -> None:
    """Emit the event on the current span; see :func:`evaluation_attributes`."""
    if has_listeners():
        emit_event(evaluation_attributes(kind, result))


def emit_event(attributes: Attributes) -> None:
    """Emit an event on the current span, with the id of the response that :func:`of_response` names."""
    kept, logger, known = _KEPT.get(), _logger(), _RESPONSE_ID.get()
    whole: dict[str, Any] = attributes | ({"gen_ai.response.id": known} if known else {})
    if kept is not None:
        kept.append(whole)
    elif logger is not None:
        logger.emit(event_name=EVENT, attributes=whole)


@contextmanager
def of_response(response_id: object) -> Generator[None]:
    """Events of the block are about the response to which a model's API gave this id; None if it is not known."""
    token = _RESPONSE_ID.set(response_id if isinstance(response_id, str) and response_id else _RESPONSE_ID.get())
    try:
        yield
    finally:
        _RESPONSE_ID.reset(token)


@contextmanager
def kept_events() -> Generator[list[Attributes]]:
    """Keep the events of the block in a list instead of emitting them."""
    token = _KEPT.set(kept := [])
    try:
        yield kept
    finally:
        _KEPT.reset(token)


def _outcome(result: Verdict | Report | Assurance | ContextReport) -> tuple[bool | None, float | None]:
    """Whether it passed, and its score."""
    if isinstance(result, ContextReport):
        return result.sufficient.holds, result.sufficient.probability
    return result.attributable if isinstance(result, Verdict) else result.passed, result.score


def _explanation(result: Verdict | Report | Assurance | ContextReport) -> str:
    if isinstance(result, ContextReport):
        fits = "" if result.addresses is None else f"; addresses the question: {result.addresses.word}"
        return f"{result.relevant_sources} of {len(result.relevant)} sources relevant{fits}"
    if isinstance(result, Verdict):
        return (result.error_type or "").replace("_", " ")
    if isinstance(result, Assurance):
        number = f"{len(result.units)} unit{'' if len(result.units) == 1 else 's'}"
        return f"{number}: {result.challenged} challenged, {result.unverified} unverified"
    types = [f"{count} {name.replace('_', ' ')}" for name, count in result.totals.by_error_type]
    return "; ".join(filter(None, (result.counts or result.without_claims, ", ".join(types))))


@cache
def _logger() -> Logger | None:
    """The logger of the application's provider, which may be set later; None without the API."""
    if not (find_spec("opentelemetry") and find_spec("opentelemetry._logs")):
        return None
    logger: Logger = import_module("opentelemetry._logs").get_logger("vouching", __version__)
    return logger
