"""Finding evidence: local indexes, web engines, multi-step search, and compression of the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.search.agent import SearchAgent
    from vouching.search.compress import ModelCompressor, SentenceCompressor
    from vouching.search.index import open_index
    from vouching.search.index_writer import change_index, create_index
    from vouching.search.open import open_engine
    from vouching.search.record import Replay
    from vouching.search.steps import StepSearch

__all__ = [
    "ModelCompressor",
    "Replay",
    "SearchAgent",
    "SentenceCompressor",
    "StepSearch",
    "change_index",
    "create_index",
    "open_engine",
    "open_index",
]

__getattr__, __dir__ = lazily(__name__)
