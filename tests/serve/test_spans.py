"""Spans of OpenTelemetry: one for each request, with its route and status, and no text."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")

from starlette.testclient import TestClient

from tests.models.test_wrappers import spans  # noqa: F401 - a fixture
from tests.serve.served import BRIDGE, policy
from vouching.serve.app import build_app


def test_a_request_is_a_span_with_its_route_and_status(spans: Any) -> None:  # noqa: F811 - the fixture
    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    with TestClient(build_app(policy()), "http://127.0.0.1") as client:
        client.post("/v1/check", json={"claim": "It opened in 1937.", "sources": [BRIDGE]}, headers=trace)
        client.post("/v1/check?text=secret", json={"claim": "It opened in 1937."})
    found = spans()  # FastAPI's own spans, which have queries, are off
    assert [(one.name, one.kind.name) for one in found] == [("POST /v1/check", "SERVER")] * 2
    assert [dict(one.attributes) for one in found] == [
        {"http.request.method": "POST", "http.route": "/v1/check", "http.response.status_code": status}
        for status in (200, 422)
    ]
    assert found[0].parent.span_id == 0xB7AD6B7169203331  # the caller's trace goes on
    assert found[1].parent is None
