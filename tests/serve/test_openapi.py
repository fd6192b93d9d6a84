"""The HTTP API is asked what its description allows, and a little of what it does not: it never fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("schemathesis", reason="schemathesis is not installed")

import httpx2
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.serve.served import BRIDGE, policy, served
from vouching import Client

EXAMPLES = int(os.environ.get("VOUCH_EXAMPLES", "12"))
"""Requests to each operation, and a third as many with a fault; more by this variable."""
DESCRIBED = [status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    """A server with a row in its ledger, and the operations of its description by name."""
    folder = tmp_path_factory.mktemp("openapi")
    with served(policy({"characters": 200_000}, ledger=str(folder / "verdicts.db"))) as (url, _):
        with Client(url) as client:
            client.check("It has three towers.", BRIDGE)
        schema = schemathesis.openapi.from_dict(httpx2.get(f"{url}/openapi.json", timeout=60).json())
        yield url, {one.ok().label: one.ok() for one in schema.get_all_operations()}


def test_every_path_is_in_the_description(described: tuple[str, Any]) -> None:
    url, operations = described
    paths = {*httpx2.get(f"{url}/openapi.json", timeout=60).json()["paths"]}
    assert {label.split(" ", 1)[1] for label in operations} == paths
    assert len(operations) >= 16


def asked(url: str, operation: Any, mode: Any, examples: int) -> set[int]:
    """The statuses of generated requests to an operation of a server; each answer is compared with the description."""
    statuses: set[int] = set()

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        answer = case.call(base_url=url, timeout=60)
        statuses.add(answer.status_code)
        assert answer.status_code < 500, (operation.label, case.body, answer.text)
        case.validate_response(answer, checks=DESCRIBED)

    with suppress(Unsatisfiable):  # nothing can be wrong in a request that has neither parameters nor a body
        ask()
    return statuses


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_makes_the_server_fail_and_every_answer_is_as_described(
    described: tuple[str, Any], mode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # schemathesis keeps notes in the working directory
    url, operations = described
    examples = EXAMPLES if mode == GenerationMode.POSITIVE else EXAMPLES // 3
    statuses = {label: asked(url, operation, mode, examples) for label, operation in operations.items()}
    found: set[int] = set().union(*statuses.values())
    assert {200, 422} <= found if mode == GenerationMode.POSITIVE else 422 in found
