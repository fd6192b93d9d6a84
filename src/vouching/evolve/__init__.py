"""Self-evolution: verify, reflect, probe, refine, and judge what came of it. Torch is loaded by ``train`` alone.

Public names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vouching.evolve.probe import ProbePlan, make_probes
    from vouching.evolve.records import Judged, Row, read_record
    from vouching.evolve.refine import even_weights
    from vouching.evolve.route import RoutedVerifier, Router, fit_router
    from vouching.evolve.structured_lessons import reply_of

_HOME = {
    "Judged": "vouching.evolve.records",
    "Row": "vouching.evolve.records",
    "read_record": "vouching.evolve.records",
    "ProbePlan": "vouching.evolve.probe",
    "make_probes": "vouching.evolve.probe",
    "even_weights": "vouching.evolve.refine",
    "reply_of": "vouching.evolve.structured_lessons",
    "RoutedVerifier": "vouching.evolve.route",
    "Router": "vouching.evolve.route",
    "fit_router": "vouching.evolve.route",
}

__all__ = [
    "Judged", "ProbePlan", "RoutedVerifier", "Router", "Row", "even_weights",
    "fit_router", "make_probes", "read_record", "reply_of",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'vouching.evolve' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
