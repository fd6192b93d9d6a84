"""Structured work, unit by unit: the task, what is proposed, the case against it, what is submitted (DPA-GRPO, 2).

Left out: whether a value is right, which only an oracle can say (``vouching.methods.assurance.reward``).
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
    """A rule that units are decided by: in words, and as an expression where one fits.

    >>> Rule("R1", "The total is the sum of the items.", value="sum(i.amount for i in data.items)").executable
    True
    """

    id: str
    """What a unit and an argument cite it by."""
    text: str
    """The rule in words."""
    value: str | None = None
    """Expression for the one right value of a unit that cites it."""
    check: str | None = None
    """Expression over ``value``, the proposal, that must hold; for units of which several values are right."""

    @property
    def executable(self) -> bool:
        """Whether it can be applied without anybody's judgment."""
        return self.value is not None or self.check is not None


@dataclass(frozen=True, slots=True)
class TaskUnit:
    """One decision: a line of a form, a finding of a compliance check."""

    id: str
    """Its name in the task, e.g. "25d"."""
    type: ValueType
    """What its value is."""
    description: str = ""
    """What it is, in words."""
    rules: tuple[str, ...] = ()
    """Ids of the rules that decide it."""
    depends_on: tuple[str, ...] = ()
    """Ids of the units whose submitted values it is made from; each stands before it."""
    choices: tuple[str, ...] = ()
    """The values allowed; of a choice only."""
    form: str = ""
    """The form it belongs to, as App. F's JSON names it."""


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of structured work, checked when it was read (``vouching.methods.assurance.task``)."""

    id: str
    """Names it."""
    data: Mapping[str, Any] = field(hash=False)
    """The input records, as JSON has them."""
    rules: Mapping[str, Rule] = field(hash=False)
    """Rules by id."""
    units: tuple[TaskUnit, ...]
    """What is to be decided, in this order."""
    description: str = ""
    """What the work is, in words."""
    tables: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    """Tables that expressions look values up in."""

    def unit(self, name: str) -> TaskUnit:
        """The unit of that id. Raises KeyError if there is none."""
        for unit in self.units:
            if unit.id == name:
                return unit
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the generator says about a unit: x, or as a revision z."""

    unit_id: str
    """Which unit."""
    value: Value
    """Its value."""
    rationale: str = ""
    """Why, in the generator's words."""


@dataclass(frozen=True, slots=True)
class EvidencePointer:
    """Something that a case points to: an input, a submitted unit, a table, a rule."""

    type: str
    """What sort of thing, e.g. "input_field", "unit", "rule"; App. F writes "input_field" throughout."""
    location: str
    """A dotted path ("return_data.w2[0].wages.value"), a JSON pointer ("/return_data/w2/0"), or the id."""
    value: Any = field(default=None, hash=False)
    """What the case says stands there, as JSON; None claims only that something does."""


@dataclass(frozen=True, slots=True)
class SafetyCase:
    """A safety assurance case (SAC) against a proposal: claim, argument, evidence (section 2.1)."""

    unit_id: str
    """The unit it is about, as the verifier names it."""
    claim: str
    """c: that the proposal is wrong or needs a look."""
    argument: str
    """g: why that follows."""
    evidence: tuple[EvidencePointer, ...] = ()
    """e: what it rests on."""
    rules: tuple[str, ...] = ()
    """Ids of the rules that the argument cites."""
    correction: Value | None = None
    """The value it suggests; None if it suggests none."""
    confidence: float | None = None
    """How sure the verifier says it is, in [0, 1]; None if it does not say. Not calibrated."""
    verdict: str = "wrong"
    """The verifier's word for the proposal; anything but "correct" is a case."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What was proposed for a unit, whether it was challenged, and what was submitted in the end."""

    unit_id: str
    """Name of the unit in its task."""
    proposal: str
    """The proposed value, as text; empty if the generator gave none that can be read."""
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
    rules: tuple[str, ...] = ()
    """Ids of the rules that the argument cites."""
    correction: str | None = None
    """The value that the case suggests; None if it suggests none."""
    revision: str | None = None
    """The generator's best revision, taken or not; None if there is none."""
    flagged: tuple[str, ...] = ()
    """What is wrong with the evidence, a sentence each: nothing there, or another value."""
    quality: float | None = None
    """Q_SAC of the case, in [0, 1]; None without a case."""
    reason: str = ""
    """Why the generator kept or revised, where it says so."""
    rests_on: tuple[str, ...] = ()
    """Units that it depends on, directly or not, against whose values there is a case, or that nobody could judge."""
    judged_by: str = ""
    """What judged the unit: "rules", or the name of a model."""
    kind: Literal["unit"] = "unit"
    """Tells the findings of a report apart in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def label(self) -> str:
        """What became of the proposal, in a word or two."""
        answers = {None: "Challenged", "keep": "Kept", "revise": "Revised"}
        return answers[self.decision] if self.challenged else "Let pass"

    @property
    def passed(self) -> bool:
        """Whether nothing is said against the value that stands: it was let pass, or revised after the challenge."""
        return not self.challenged or self.decision == "revise"

    @property
    def status(self) -> FindingStatus:
        """Good, or challenged with nothing done about it."""
        return "match" if self.passed else "mismatch"

    @property
    def span(self) -> None:
        """None: a unit stands in no text."""
        return None

    @property
    def subject(self) -> str:
        """What it is about: the unit and the value that stands."""
        return f"{self.unit_id}: {self.submitted}"

    @property
    def warnings(self) -> tuple[VerdictWarning, ...]:
        """None of its own."""
        return ()


@dataclass(frozen=True, slots=True)
class Assurance:
    """A task verified, or done, unit by unit.

    >>> Assurance("t", (UnitResult("a", "1", False, None, "1"),), {"a": 1}).challenged
    0
    """

    task: str
    """Id of the task."""
    units: tuple[UnitResult | Unverified, ...]
    """One per unit, in order; Unverified where nobody could judge the proposal, which then stands."""
    submitted: Mapping[str, bool | int | float | str] = field(hash=False)
    """The values that stand, by unit id; a unit without one is not there."""
    cases: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    """How many units are of which case of the paper's table; empty where the right values are not known."""
    usage: Usage = field(default_factory=Usage)
    """What it cost."""
    kind: Literal["assurance"] = "assurance"
    """Tells records apart in JSON."""
    version: str = VERDICT_VERSION
    """Version of this record."""

    @property
    def challenged(self) -> int:
        """Units against which there is a case."""
        return sum(unit.kind == "unit" and unit.challenged for unit in self.units)

    @property
    def open(self) -> int:
        """Units against which there is a case, and whose proposal stands all the same."""
        return sum(unit.passed is False for unit in self.units)

    @property
    def unverified(self) -> int:
        """Units that nobody could judge."""
        return sum(unit.passed is None for unit in self.units)

    @property
    def passed(self) -> bool | None:
        """As :attr:`vouching.types.Report.passed`."""
        return all_passed(self.units)

    @property
    def score(self) -> float | None:
        """Share of the units against whose values nothing is said; None where nobody could judge one."""
        if not self.units or self.unverified:
            return None
        return sum(unit.passed is True for unit in self.units) / len(self.units)

    @property
    def coverage(self) -> float:
        """Share of the units that somebody could judge."""
        return 1.0 - self.unverified / len(self.units) if self.units else 1.0
