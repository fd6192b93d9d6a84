"""Language models behind one async seam: where they run, and the wrappers around them."""

from __future__ import annotations

from vouching.models.base import (
    Completion,
    FinishReason,
    Message,
    Model,
    Policy,
    PolicyCompletion,
    Sampling,
    total_usage,
)
from vouching.models.scripted import ScriptedModel

__all__ = [
    "Completion", "FinishReason", "Message", "Model", "Policy", "PolicyCompletion", "Sampling", "ScriptedModel",
    "total_usage",
]  # fmt: skip
