"""Servers whose models have no system role."""

from __future__ import annotations

import pytest

from tests.models.fault_server import Answer, Request, of_json, says
from tests.models.test_http import ask
from vouching.models import Sampling


@pytest.mark.parametrize("status", [400, 500])
def test_a_model_without_a_system_role_gets_the_system_message_from_the_user(status: int) -> None:
    """As llama.cpp says it for Gemma 2's template, with status 500; the next request is folded at once."""

    def script(request: Request) -> Answer:
        roles = [turn["role"] for turn in request.body["messages"]]
        return (
            of_json({"error": {"message": "System role not supported"}}, status=status)
            if "system" in roles
            else says("a")
        )

    _, server = ask(script, Sampling(), Sampling())
    sent = [[(turn["role"], turn["content"]) for turn in request.body["messages"]] for request in server.requests]
    assert sent[0] == [("system", "Be brief, in JSON."), ("user", "Is it?")]
    assert sent[1] == sent[2] == [("user", "Be brief, in JSON.\n\nIs it?")]
