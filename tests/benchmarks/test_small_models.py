"""The forms in which small models are asked, on a model that needs a second question or a schema."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.small_models import FORMS, measure
from tests.models.fault_server import Answer, FaultServer, Request, of_json, says

LABEL = json.dumps({"label": "Attributable", "confidence": 0.9})


def test_a_model_that_needs_help_is_read_with_it_and_lines_that_were_measured_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VOUCH_CACHE", "VOUCH_CONTEXT", "VOUCH_TIMEOUT"):
        monkeypatch.setenv(name, "")

    asked: list[Request] = []

    def answer(request: Request) -> Answer:
        if "messages" not in request.body:  # what the server says about itself
            return of_json({})
        asked.append(request)
        helped = "response_format" in request.body or len(request.body["messages"]) > 2
        return says(LABEL if helped else "It is attributable.")

    def measured(url: str) -> dict[str, dict[str, Any]]:
        model = f"{url}#tiny"
        found = {form: measure(model, form, "label", "contrast", 4, tmp_path) for form in FORMS}
        before = len(asked)
        assert measure(model, "retry", "label", "contrast", 4, tmp_path) == found["retry"]
        assert len(asked) == before
        return found

    async def served() -> dict[str, dict[str, Any]]:
        async with FaultServer(answer) as server:
            return await asyncio.to_thread(measured, server.url)

    found = asyncio.run(served())
    assert {form: figures["readable"] for form, figures in found.items()} == {"raw": 0, "retry": 1, "schema": 1}
    # Two of the four claims are Attributable. A reply has 2 tokens, and a second question doubles them.
    assert {form: figures["right"] for form, figures in found.items()} == {"raw": 0, "retry": 0.5, "schema": 0.5}
    assert [figures["completion_tokens"] for figures in found.values()] == [2, 4, 2]
