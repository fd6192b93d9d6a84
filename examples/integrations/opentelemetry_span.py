"""OpenTelemetry: the outcome of a check as attributes of a span, which Phoenix shows as an evaluation.

Needs opentelemetry-sdk; with Phoenix, take the tracer of phoenix.otel.register(). The texts of answers and sources are
not recorded. Prints:
    {'eval.attributable.label': 'fail', 'eval.attributable.score': 0.0, 'vouch.claims': 1}
    vouch.claim temporal shift
"""

from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import vouching
from vouching.integrations.judged_text import judged_text


def record_check(span: Any, report: vouching.Report) -> None:
    """Set the attributes of a span, and add an event for each claim that did not pass."""
    judged = judged_text(report)
    label = {True: "pass", False: "fail", None: "unverified"}[judged.passed]
    span.set_attribute("eval.attributable.label", label)
    if judged.value is not None:  # a judge that failed gives no score
        span.set_attribute("eval.attributable.score", judged.value)
    span.set_attribute("vouch.claims", len(report.findings))
    for finding in report.findings:
        if not finding.passed:
            span.add_event("vouch.claim", {"vouch.problem": getattr(finding, "problem", "") or "unverified"})


if __name__ == "__main__":
    memory, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    with provider.get_tracer("app").start_as_current_span("answer") as current:
        record_check(current, vouching.check_response("The bridge opened in 1937.", "The bridge opened in 1973."))
    [finished] = memory.get_finished_spans()
    print(dict(finished.attributes or {}))
    print(finished.events[0].name, (finished.events[0].attributes or {})["vouch.problem"])
