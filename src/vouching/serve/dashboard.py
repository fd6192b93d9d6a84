"""The numbers of a ledger over time and of its reviews: as JSON, and as a page whose charts the server draws."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import TypeAdapter

from vouching.metrics import Interval
from vouching.report.charts import ForestRow, forest_plot
from vouching.report.rates import (
    bars_over_time,
    interval_words,
    reliability_with_intervals,
    share_over_time,
)
from vouching.review import ReviewQueue
from vouching.review.audits import ENOUGH, WIDEST, BlockingAudit, blocking_audit
from vouching.review.rates import FalsePositives
from vouching.review.status import ReviewStatus, status_of
from vouching.serve import bodies
from vouching.serve.blocking import blocking_caller
from vouching.serve.frame import page
from vouching.serve.reviewing import filters_of, with_queue
from vouching.text.json_values import parse_json
from vouching.types.spans import ERROR_TYPES

if TYPE_CHECKING:
    from vouching.serve.service import Service

_LABELS = ("Attributable", "Not Attributable")
_CALLERS = 8
"""Callers whose false positives are drawn: those with the most reviews."""


class _Wanted(bodies.FilteredBody):
    by: Literal["day", "week"] = "day"
    every: bool = False
    """Whether rates use every review, not only the random sample."""


def add_dashboard(app: FastAPI, service: Service, described: Any) -> None:
    """Add the route and the page to an application."""
    adapter = TypeAdapter(ReviewStatus)

    @app.get("/v1/dashboard", response_model=ReviewStatus, **described)
    async def numbers(wanted: Annotated[_Wanted, Query()]) -> Response:
        """Rates over time; calibration, false positives and agreement by reviews; drift; audits of blocking."""
        found = await with_queue(service, lambda queue: _numbers(service, queue, wanted))
        return Response(adapter.dump_json(found), media_type="application/json")

    @app.get("/dashboard", response_class=HTMLResponse, include_in_schema=False)
    async def dashboard(request: Request, wanted: Annotated[_Wanted, Query()]) -> Response:
        if service.recorder is None or not request.state.key.allows("read"):
            return page(request, service, "read", "dashboard.html.jinja")
        found = await with_queue(service, lambda queue: _numbers(service, queue, wanted))
        blocking = blocking_caller(service.policy)
        return page(
            request,
            service,
            "read",
            "dashboard.html.jinja",
            title="Dashboard",
            numbers=found,
            wanted=wanted,
            words=interval_words,
            kappa=_kappa_words,
            charts=_charts(found),
            known=_known,
            blocking=blocking[0] if blocking else None,
            enough=ENOUGH,
            widest=WIDEST,
        )


def allow_unknown(schemas: dict[str, Any]) -> None:
    """Let every number of the dashboard be null in the description of the API, as an unknown one is."""
    waiting, seen = ["ReviewStatus"], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in seen and name in schemas:
            seen.add(name)
            text = json.dumps(schemas[name])
            schemas[name] = parse_json(text.replace('"type": "number"', '"type": ["number", "null"]'))
            waiting += re.findall(r"#/components/schemas/(\w+)", text)


def _numbers(service: Service, queue: ReviewQueue, wanted: _Wanted) -> ReviewStatus:
    """The status of the queue; the audit of the caller that the policy blocks comes first, reviewed or not."""
    found = status_of(queue, filters_of(wanted), wanted.every, wanted.by)
    blocked = blocking_caller(service.policy)
    if blocked is None or (wanted.caller or blocked[0]) != blocked[0]:
        return found
    others: list[BlockingAudit] = [one for one in found.audits if one.caller != blocked[0]]
    return replace(found, audits=(blocking_audit(queue, *blocked), *others))


def _charts(numbers: ReviewStatus) -> dict[str, str]:
    """The drawings of the page, by name; empty where there is nothing to draw."""
    over = numbers.periods
    labels = {one.start: one.labels for one in over}
    types = {one.start: {name.replace("_", " "): n for name, n in one.error_types.items()} for one in over}
    known = [name.replace("_", " ") for name in ERROR_TYPES]
    seen = [name for name in known if any(name in of for of in types.values())]
    bins = [(one.mean_score, one.attributable, one.count) for one in numbers.reliability.bins]
    return {
        "share": share_over_time({one.start: one.not_attributable for one in over}, title="Share Not Attributable"),
        "labels": bars_over_time(
            labels, _LABELS, title="Labels", tones={"Attributable": "match", "Not Attributable": "mismatch"}
        ),
        "types": bars_over_time(types, seen, title="Error types") if seen else "",
        "reliability": reliability_with_intervals(bins, title="Reliability") if numbers.reliability.rows else "",
        "by_caller": _forest(numbers.by_caller[:_CALLERS], "False positives by caller"),
        "by_overlap": _forest(numbers.by_overlap, "False positives by verbatim overlap"),
    }


def _forest(found: tuple[FalsePositives, ...], title: str) -> str:
    rows = [
        ForestRow(f"{one.name or 'no name'} ({one.attributable:,})", one.rate.estimate, one.rate.low, one.rate.high)
        for one in found
        if one.attributable
    ]
    return (
        forest_plot(rows, title=title, name="share of right claims that were rejected", reference=None) if rows else ""
    )


def _kappa_words(interval: Interval) -> str:
    """Kappa with its interval.

    >>> _kappa_words(Interval(0.6123, 0.4, 0.78, 0.95, "BCa"))
    '0.61 (0.40 to 0.78)'
    """
    if not _known(interval.estimate):
        return "not known"
    bounds = "" if interval.low is None or interval.high is None else f" ({interval.low:.2f} to {interval.high:.2f})"
    return f"{interval.estimate:.2f}{bounds}"


def _known(number: float) -> bool:
    return not math.isnan(number)
