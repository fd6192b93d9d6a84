"""One decision unit of a structured task, challenged or let pass (DPA-GRPO, section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vouching.types.verdict import VERDICT_VERSION


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What was proposed for a unit, whether it was challenged, and what was submitted in the end."""

    unit_id: str
    """Name of the unit in its task."""
    proposal: str
    """The proposed value, as text."""
    challenged: bool
    """True if the verifier raised a safety assurance case (SAC), False if it stayed silent (NS)."""
    decision: Literal["keep", "revise"] | None
    """What the generator did about the challenge; None without one, or where nobody was asked."""
    submitted: str
    """The value that stands."""
    claim: str = ""
    """The case's claim about the unit."""
    argument: str = ""
    """The rule or dependency it rests on."""
    evidence: tuple[tuple[str, str], ...] = ()
    """Pointers into the task's data with the values quoted from there."""
    kind: Literal["unit"] = "unit"
    """Tells the findings of a report apart in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""
