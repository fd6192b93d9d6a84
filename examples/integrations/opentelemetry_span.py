"""OpenTelemetry: the outcome of a check as attributes of a span, which Phoenix shows as an evaluation.

Needs opentelemetry-sdk; with Phoenix, take the tracer of phoenix.otel.register(). Prints:
    {'eval.attributable.label': 'fail', 'vouch.passed': False, 'vouch.value': 0.0, 'eval.attributable.score': 0.0}
    vouch.claim temporal shift
"""

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import vouching
from vouching.integrations.telemetry import record_check

memory, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(memory))

with provider.get_tracer("app").start_as_current_span("answer") as span:
    report = vouching.check_response("The bridge opened in 1937.", "The bridge opened in 1973.")
    record_check(span, report)

[finished] = memory.get_finished_spans()
print({name: value for name, value in finished.attributes.items() if not name.startswith(("vouch.cl", "vouch.s"))})
print(finished.events[0].name, finished.events[0].attributes["vouch.problem"])
