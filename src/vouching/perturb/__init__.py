"""Claims changed on purpose: typed, located errors to learn from, and rewrites that mean the same.

No language model is used: what short lists and patterns cannot change for certain stays unchanged.
"""

from __future__ import annotations

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
