"""Perturbed claims: typed, located errors to train on, and rewrites with the same meaning.

No language model is used: what short lists and patterns cannot change reliably stays unchanged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.perturb.pool import CorpusPool
    from vouching.perturb.records import ERROR_TYPE_OF, STRATEGIES, Perturbation, Strategy, to_json
    from vouching.perturb.run import Tally, perturb, perturb_rows

__all__ = [
    "ERROR_TYPE_OF",
    "STRATEGIES",
    "CorpusPool",
    "Perturbation",
    "Strategy",
    "Tally",
    "perturb",
    "perturb_rows",
    "to_json",
]

__getattr__, __dir__ = lazily(__name__)
