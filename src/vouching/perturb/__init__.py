"""Perturbed claims: typed, located errors to train on, and rewrites with the same meaning.

No language model is used: what short lists and patterns cannot change reliably stays unchanged.
"""

from __future__ import annotations

from vouching.perturb.pool import CorpusPool
from vouching.perturb.records import ERROR_TYPE_OF, STRATEGIES, Perturbation, Strategy, to_json
from vouching.perturb.run import Tally, perturb, perturb_rows

__all__ = [
    "ERROR_TYPE_OF", "STRATEGIES", "CorpusPool", "Perturbation", "Strategy", "Tally", "perturb", "perturb_rows",
    "to_json",
]  # fmt: skip
