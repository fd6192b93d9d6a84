"""What a server measures, for Prometheus, and the spans of its requests, for OpenTelemetry.

With several workers, ``prometheus_client`` keeps the numbers of all in the folder that ``PROMETHEUS_MULTIPROC_DIR``
names, which :mod:`vouching.serve.workers` sets. Spans go where the environment says: without an OpenTelemetry SDK, or
without ``opentelemetry-instrument`` in front of ``vouch serve``, they cost nothing and go nowhere.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from vouching.errors import needed
from vouching.types import Report, Unverified, Verdict

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
"""Upper ends of the histogram's intervals."""
_TRACE = ("traceparent", "tracestate")
"""Headers of the W3C by which a caller's trace goes on here."""


class Measures:
    """The counters of one application."""

    def __init__(self) -> None:
        prometheus = needed("prometheus_client", "serve", "metrics")
        self._prometheus = prometheus
        self._registry = prometheus.CollectorRegistry()
        of = {"registry": self._registry}
        self.requests = prometheus.Counter("vouch_requests", "Requests by route and status.", ["route", "status"], **of)
        self.seconds = prometheus.Histogram(
            "vouch_request_seconds", "Time of a request, waiting included.", ["route"], buckets=_SECONDS, **of
        )
        self.open = prometheus.Gauge(
            "vouch_open_requests", "Requests that are not answered yet.", multiprocess_mode="livesum", **of
        )
        self.findings = prometheus.Counter("vouch_findings", "Findings by label.", ["label"], **of)
        self.unaudited = prometheus.Gauge(
            "vouch_blocking_unaudited",
            "1 if answers of a caller are blocked without enough reviews, 0 if with.",
            ["caller"],
            multiprocess_mode="mostrecent",
            **of,
        )

    def count(self, record: object) -> None:
        """Count the findings of a record by their label."""
        for finding in record.findings if isinstance(record, Report) else [record]:
            if isinstance(finding, Verdict):
                self.findings.labels(finding.label).inc()
            elif isinstance(finding, Unverified):
                self.findings.labels("Unverified").inc()

    def text(self) -> bytes:
        """All numbers in the format of Prometheus, those of the other workers included."""
        registry = self._registry
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            registry = self._prometheus.CollectorRegistry()
            needed("prometheus_client.multiprocess", "serve", "metrics").MultiProcessCollector(registry)
        return self._prometheus.generate_latest(registry)


@contextmanager
def span(name: str, headers: Mapping[bytes, bytes], **attributes: str | int) -> Generator[Any]:
    """A span of OpenTelemetry for a request, part of the trace that its headers name, if the API is installed."""
    try:
        from opentelemetry import propagate, trace
    except ImportError:
        yield None
        return
    trace_of = {key: headers[key.encode()].decode("latin-1") for key in _TRACE if key.encode() in headers}
    tracer, kind = trace.get_tracer("vouching"), trace.SpanKind.SERVER
    context = propagate.extract(trace_of) if trace_of else None
    with tracer.start_as_current_span(name, context, kind, attributes) as opened:
        yield opened
