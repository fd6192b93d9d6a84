"""Questions about retrieval: is the context enough, is a passage relevant, does the answer address the question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.retrieval.judge import acheck_context, check_context

__all__ = ["acheck_context", "check_context"]

__getattr__, __dir__ = lazily(__name__)
