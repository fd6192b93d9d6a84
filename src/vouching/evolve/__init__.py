"""Self-evolution: verify, reflect, probe, refine, and a gate that accepts or refuses the result.

Public names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.evolve.probe import ProbePlan, make_probes
    from vouching.evolve.records import Judged, Row, read_record
    from vouching.evolve.structured_examples import reply_of

__all__ = [
    "Judged",
    "ProbePlan",
    "Row",
    "make_probes",
    "read_record",
    "reply_of",
]

__getattr__, __dir__ = lazily(__name__)
