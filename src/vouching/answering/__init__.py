"""Questions answered from sources by a language model, each answer audited and, if asked, repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.answering.answer import AnswerConfig, Answerer

__all__ = [
    "AnswerConfig",
    "Answerer",
]

__getattr__, __dir__ = lazily(__name__)
