"""The validator for Guardrails, used by a real guard."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("guardrails", reason="guardrails-ai is not installed")

from guardrails import Guard
from guardrails.errors import ValidationError

from tests.cli.chat_server import chat_server
from vouching.integrations.guardrails import Attributable

SOURCES = ["The bridge opened in 1973."]
WRONG, RIGHT = "The bridge opened in 1937.", "The bridge opened in 1973."


def validated(text: str, **settings: Any) -> Any:
    return Guard().use(Attributable(**settings)).validate(text, metadata={"sources": SOURCES})


def test_a_supported_text_passes_and_another_raises_or_is_fixed() -> None:
    assert validated(RIGHT, on_fail="exception").validation_passed
    with pytest.raises(ValidationError, match="Change 1937 to 1973"):
        validated(WRONG, on_fail="exception")
    assert validated(WRONG, on_fail="fix").validated_output == RIGHT


def test_a_text_that_could_not_be_judged_passes_only_by_policy() -> None:
    for answer in ("who knows", 503):
        with chat_server(lambda prompt, answer=answer: answer) as name:
            with pytest.raises(ValidationError):
                validated(RIGHT, model=name, on_fail="exception")
            assert validated(RIGHT, model=name, unverified="pass", on_fail="exception").validation_passed
