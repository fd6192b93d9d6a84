"""Structured work, unit by unit: task, proposal, safety assurance case, submitted value (DPA-GRPO, section 2).

Not supported: whether a value is right, which only an oracle knows (``vouching.methods.assurance.reward``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from vouching.types.spans import FindingStatus
from vouching.types.verdict import VERDICT_VERSION, Unverified, Usage, VerdictWarning, all_passed

ValueType: TypeAlias = Literal["amount", "number", "integer", "boolean", "choice", "text"]
"""What a unit may hold. An amount is money: "$1,234.50" is read as 1234.50."""
Value: TypeAlias = Decimal | bool | str
"""A value as it was read: amounts and numbers are exact decimals."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that decides units: in words, and as an expression where possible."""

    id: str
    """Units and arguments cite it by this id."""
    text: str
    """The rule in words."""
    value: str | None = None
    """Expression for the only right value of a unit that cites it."""
    check: str | None = None
    """Expression that must hold for the proposal, ``value``; for units with several right values."""

    @property
    def executable(self) -> bool:
        """Whether it can be applied without anyone's judgment."""
        return self.value is not None or self.check is not None


@dataclass(frozen=True, slots=True)
class TaskUnit:
    """One decision: a line of a form, a finding of a compliance check."""

    id: str
    """Its name in the task, e.g. "25d"."""
    type: ValueType
    """Type of its value."""
    description: str = ""
    """In words."""
    rules: tuple[str, ...] = ()
    """Ids of the rules that decide it."""
    depends_on: tuple[str, ...] = ()
    """Ids of earlier units whose submitted values it is computed from."""
    choices: tuple[str, ...] = ()
    """The allowed values of a choice."""
    form: str = ""
    """The form it belongs to, as App. F's JSON names it."""


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of structured work, validated when it was read (``vouching.methods.assurance.task``)."""

    id: str
    """Its name."""
    data: Mapping[str, Any] = field(hash=False)
    """The input records, as JSON."""
    rules: Mapping[str, Rule] = field(hash=False)
    """Rules by id."""
    units: tuple[TaskUnit, ...]
    """What is to be decided, in this order."""
    description: str = ""
    """In words."""
    tables: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """Tables for lookups in expressions."""

    def unit(self, name: str) -> TaskUnit:
        """The unit with that id. Raises KeyError if there is none."""
        for unit in self.units:
            if unit.id == name:
                return unit
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The generator's proposal for a unit: x, or as a revision z."""

    unit_id: str
    """Which unit."""
    value: Value
    """Its value."""
    rationale: str = ""
    """Why, in the generator's words."""


@dataclass(frozen=True, slots=True)
class EvidencePointer:
    """A reference in a case: to an input, a submitted unit, a table, a rule."""

    type: str
    """Its kind, e.g. "input_field", "unit", "rule"; App. F writes "input_field" throughout."""
    location: str
    """A dotted path ("return_data.w2[0].wages.value"), a JSON pointer ("/return_data/w2/0"), or the id."""
    value: Any = field(default=None, hash=False)
    """The value that the case claims to be there, as JSON; None only claims that there is one."""


@dataclass(frozen=True, slots=True)
class SafetyCase:
    """A safety assurance case (SAC) against a proposal: claim, argument, evidence (section 2.1)."""

    unit_id: str
    """The unit it is about, as the verifier names it."""
    claim: str
    """c: that the proposal is wrong or needs review."""
    argument: str
    """g: why that follows."""
    evidence: tuple[EvidencePointer, ...] = ()
    """e: what the argument is based on."""
    rules: tuple[str, ...] = ()
    """Ids of the rules that the argument cites."""
    correction: Value | None = None
    """The suggested value, if any."""
    confidence: float | None = None
    """The verifier's stated confidence, in [0, 1], if any. Not calibrated."""
    verdict: str = "wrong"
    """The verifier's word for the proposal; anything other than "correct" is a case."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """The proposal for a unit, whether it was challenged, and the submitted value."""

    unit_id: str
    """Name of the unit in its task."""
    proposal: str
    """The proposed value, as text; empty if the generator gave none that can be read."""
    challenged: bool
    """True if the verifier raised a safety assurance case (SAC), False if it stayed silent (NS)."""
    decision: Literal["keep", "revise"] | None
    """The generator's decision on the challenge; None without one, or if it was not asked."""
    submitted: str
    """The final value."""
    claim: str = ""
    """The case's claim about the unit."""
    argument: str = ""
    """The rule or dependency behind it."""
    evidence: tuple[tuple[str, str], ...] = ()
    """Pointers into the task's data with the values quoted from there."""
    rules: tuple[str, ...] = ()
    """Ids of the rules that the argument cites."""
    correction: str | None = None
    """The value that the case suggests, if any."""
    revision: str | None = None
    """The generator's best revision, taken or not, if any."""
    flagged: tuple[str, ...] = ()
    """Problems of the evidence, a sentence each: nothing there, or another value."""
    quality: float | None = None
    """Q_SAC of the case, in [0, 1]; None without a case."""
    reason: str = ""
    """Why the generator kept or revised, if it says so."""
    rests_on: tuple[str, ...] = ()
    """Units that it depends on, directly or not, whose values are challenged or could not be judged."""
    judged_by: str = ""
    """What judged the unit: "rules", or the name of a model."""
    kind: Literal["unit"] = "unit"
    """Distinguishes the findings of a report in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def label(self) -> str:
        """The outcome in a word or two."""
        answers = {None: "Challenged", "keep": "Kept", "revise": "Revised"}
        return answers[self.decision] if self.challenged else "Accepted"

    @property
    def passed(self) -> bool:
        """Whether the final value is unchallenged, or was revised after the challenge."""
        return not self.challenged or self.decision == "revise"

    @property
    def status(self) -> FindingStatus:
        """Good, or challenged without a revision."""
        return "match" if self.passed else "mismatch"

    @property
    def span(self) -> None:
        """None: a unit is not part of a text."""
        return None

    @property
    def subject(self) -> str:
        """The unit and its final value."""
        return f"{self.unit_id}: {self.submitted}"

    @property
    def warnings(self) -> tuple[VerdictWarning, ...]:
        """None."""
        return ()


@dataclass(frozen=True, slots=True)
class Assurance:
    """A task verified, or done, unit by unit."""

    task: str
    """Id of the task."""
    units: tuple[UnitResult | Unverified, ...]
    """One per unit, in order; Unverified where the proposal, which then stands, could not be judged."""
    submitted: Mapping[str, bool | int | float | str] = field(hash=False)
    """The final values, by unit id; units without a value are absent."""
    cases: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    """Counts of units by case of the paper's table; empty where the right values are unknown."""
    usage: Usage = field(default_factory=Usage)
    """What it cost."""
    kind: Literal["assurance"] = "assurance"
    """Distinguishes records in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def challenged(self) -> int:
        """Number of challenged units."""
        return sum(unit.kind == "unit" and unit.challenged for unit in self.units)

    @property
    def open(self) -> int:
        """Number of units challenged and not revised."""
        return sum(unit.passed is False for unit in self.units)

    @property
    def unverified(self) -> int:
        """Number of units that could not be judged."""
        return sum(unit.passed is None for unit in self.units)

    @property
    def passed(self) -> bool | None:
        """As :attr:`vouching.types.Report.passed`."""
        return all_passed(self.units)

    @property
    def score(self) -> float | None:
        """Share of the units that passed; None where one could not be judged."""
        if not self.units or self.unverified:
            return None
        return sum(unit.passed is True for unit in self.units) / len(self.units)

    @property
    def coverage(self) -> float:
        """Share of the units that could be judged."""
        return 1.0 - self.unverified / len(self.units) if self.units else 1.0
