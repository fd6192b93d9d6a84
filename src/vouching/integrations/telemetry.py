"""OpenTelemetry: the outcome of a check as attributes and events of a span, as Phoenix and other viewers show them.

    with tracer.start_as_current_span("answer") as span:
        record_check(span, vouching.check_response(answer, documents))

Attributes are named ``vouch.*``; each claim that did not pass is an event. Phoenix shows an evaluation from
``eval.attributable.*``. The texts of answers and sources are not recorded, only claims if asked. Tested with
opentelemetry-sdk 1.45 and arize-phoenix-otel 0.17.
"""

from __future__ import annotations

from typing import Any, Protocol

from vouching.integrations.judged_text import judged_text
from vouching.types import Report

__all__ = ["check_attributes", "record_check"]


class _Span(Protocol):
    def set_attributes(self, attributes: Any, /) -> None: ...

    def add_event(self, name: str, attributes: Any = None) -> None: ...


def check_attributes(report: Report) -> dict[str, str | int | float | bool]:
    """The attributes of a report; what is unknown is absent.

    >>> from vouching import check_response
    >>> check_attributes(check_response("It opened in 1937.", "It opened in 1973."))["vouch.claims.not_attributable"]
    1
    """
    judged = judged_text(report)
    attributes: dict[str, str | int | float | bool] = {
        "vouch.claims.attributable": report.totals.attributable,
        "vouch.claims.not_attributable": report.totals.not_attributable,
        "vouch.claims.unverified": report.totals.unverified,
        "vouch.seconds": report.usage.seconds,
        "eval.attributable.label": {True: "pass", False: "fail", None: "unverified"}[judged.passed],
    }
    if judged.passed is not None:
        attributes["vouch.passed"] = judged.passed
    if judged.value is not None:
        attributes |= {"vouch.value": judged.value, "eval.attributable.score": judged.value}
    return attributes


def record_check(span: _Span, report: Report, claims: bool = False) -> None:
    """Set the attributes of a span and add an event for each claim that did not pass.

    Args:
        span: of OpenTelemetry.
        report: the outcome.
        claims: whether the events have the text of the claims.
    """
    span.set_attributes(check_attributes(report))
    for finding in report.findings:
        if not finding.passed:
            words = {"vouch.label": finding.label, "vouch.problem": getattr(finding, "problem", "") or "unverified"}
            span.add_event("vouch.claim", {**words, **({"vouch.claim": finding.subject} if claims else {})})
