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
    with TestClient(build_app(policy()), "http://127.0.0.1") as client:
        client.post("/v1/check", json={"claim": "It opened in 1937.", "sources": [BRIDGE]})
        client.post("/v1/check", json={"claim": "It opened in 1937."})
    found = [one for one in spans() if one.name == "POST /v1/check"]
    assert [dict(one.attributes) for one in found] == [
        {"http.request.method": "POST", "http.route": "/v1/check", "http.response.status_code": status}
        for status in (200, 422)
    ]
