"""Language models behind one async interface: where they run, and the wrappers around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.models.base import (
        Completion,
        FinishReason,
        Message,
        Model,
        Policy,
        PolicyCompletion,
        Sampling,
    )
    from vouching.models.cache import Cached
    from vouching.models.limits import Price
    from vouching.models.open import open_model
    from vouching.models.record import Recording, Replay
    from vouching.models.running import run
    from vouching.models.scripted import ScriptedModel
    from vouching.models.tools import Tool, ToolCall
    from vouching.models.wrappers import Deadline, Limited, Metered, Retrying, Traced
    from vouching.types import total_usage

__all__ = [
    "Cached",
    "Completion",
    "Deadline",
    "FinishReason",
    "Limited",
    "Message",
    "Metered",
    "Model",
    "Policy",
    "PolicyCompletion",
    "Price",
    "Recording",
    "Replay",
    "Retrying",
    "Sampling",
    "ScriptedModel",
    "Tool",
    "ToolCall",
    "Traced",
    "open_model",
    "run",
    "total_usage",
]

__getattr__, __dir__ = lazily(__name__)
