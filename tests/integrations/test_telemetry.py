"""Attributes and events on a real span of OpenTelemetry."""

from __future__ import annotations

import pytest

from vouching import check_response

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="opentelemetry-sdk is not installed")


def test_a_span_has_the_outcome_and_an_event_per_problem() -> None:
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from examples.integrations.opentelemetry_span import record_check

    memory, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    report = check_response("It has two towers. It opened in 1937.", "Opened in 1973, it has two towers.")
    with provider.get_tracer("test").start_as_current_span("answer") as span:
        record_check(span, report)
    [finished] = memory.get_finished_spans()
    assert finished.attributes["eval.attributable.score"] == 0.5
    assert finished.attributes["eval.attributable.label"] == "fail"
    [event] = finished.events
    assert event.attributes["vouch.problem"] == "temporal shift"


def test_phoenix_accepts_the_span() -> None:
    otel = pytest.importorskip("phoenix.otel", reason="arize-phoenix-otel is not installed")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from examples.integrations.opentelemetry_span import record_check

    memory = InMemorySpanExporter()
    provider = otel.TracerProvider(verbose=False)
    provider.add_span_processor(SimpleSpanProcessor(memory))
    with provider.get_tracer("test").start_as_current_span("answer") as span:
        record_check(span, check_response("It opened in 1973.", "It opened in 1973."))
    [finished] = memory.get_finished_spans()
    assert finished.attributes["eval.attributable.score"] == 1.0


def test_the_sdk_exports_the_event_of_a_check_on_the_current_span() -> None:
    logs = pytest.importorskip("opentelemetry.sdk._logs", reason="opentelemetry-sdk is not installed")
    from opentelemetry._logs import set_logger_provider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor

    memory, provider = InMemoryLogRecordExporter(), logs.LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(memory))
    set_logger_provider(provider)
    with sdk.TracerProvider().get_tracer("test").start_as_current_span("answer") as span:
        check_response("It opened in 1937.", "It opened in 1973.")
    [finished] = memory.get_finished_logs()
    record = finished.log_record
    assert (record.event_name, record.span_id) == ("gen_ai.evaluation.result", span.get_span_context().span_id)
    assert record.attributes["gen_ai.evaluation.score.label"] == "fail"
