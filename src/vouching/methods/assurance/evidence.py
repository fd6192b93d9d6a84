"""The state of a unit, the evidence of a case looked up in it, and the quality of a case, Q_SAC (section 2.1).

A location is looked up in one document: the input's own top-level keys, and ``data``, ``unit``, ``table``, ``rule`` and
``context_so_far``, the list of submitted values, as App. F names it. Evidence is flagged if nothing is there, or
another value than the case says; that lowers the quality of the case, which remains a case. Not supported: whether
evidence is relevant; Q_SAC is about form and does not mean that a case is right.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from vouching.methods.assurance.evaluate import Inputs, evaluate
from vouching.methods.assurance.expression import ExpressionError, parse
from vouching.methods.assurance.values import as_decimal, read_amount, value_json
from vouching.types import EvidencePointer, SafetyCase, Task, TaskUnit, Value

MAX_COMPUTED = 3
"""Pieces of computed evidence that are evaluated per case; a model may write fifty long ones."""
_LONGEST_LOCATION = 500
_STEP = re.compile(r"""\.?([^.\[\]"'/\s][^.\[\]"'/]*)|\[(\d{1,9})\]|\[(?:"([^"]*)"|'([^']*)')\]""")


@dataclass(frozen=True, slots=True)
class UnitState:
    """m_t: what is known when a unit is decided; ``submitted`` has the values of earlier units by id."""

    task: Task
    unit: TaskUnit
    submitted: Mapping[str, Value]

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document in which evidence is looked up."""
        before = [unit for unit in self.task.units if unit.id in self.submitted]
        so_far = [
            {"form": unit.form, "line": unit.id, "description": unit.description, "amount": value, "value": value}
            for unit in before
            for value in [value_json(self.submitted[unit.id])]
        ]
        return {
            **self.task.data,
            "data": self.task.data,
            "unit": {name: value_json(value) for name, value in self.submitted.items()},
            "table": self.task.tables,
            "rule": {rule.id: rule.text for rule in self.task.rules.values()},
            "context_so_far": so_far,
        }

    def inputs(self, value: Value | None = None) -> Inputs:
        """What an executable rule may read: of the submitted units only those that this one depends on."""
        needed = {name: self.submitted[name] for name in self.unit.depends_on if name in self.submitted}
        return Inputs(self.task.data, needed, self.task.tables, value)


def resolve(location: str, document: Any) -> Any:
    """The value at a dotted path, ``w2[0].wages``, or a JSON pointer, ``/w2/0/wages`` (RFC 6901), of a JSON document.

    Raises LookupError if there is none or the location cannot be parsed; the message says how far it leads.
    """
    here, gone = document, ""
    for step in _steps(location):
        if isinstance(here, Mapping) and step in here:
            here = cast("Mapping[str, Any]", here)[step]
        elif isinstance(here, list) and step.isascii() and step.isdecimal() and int(step) < len(cast("Any", here)):
            here = cast("list[Any]", here)[int(step)]
        else:
            raise LookupError(f"there is no {step} {f'in {gone}' if gone else 'at the top level'}")
        gone = f"{gone}.{step}" if gone else step
    return here


def _steps(location: str) -> list[str]:
    if not location or len(location) > _LONGEST_LOCATION:
        raise LookupError("the location is empty" if not location else "the location is too long")
    if location.startswith("/"):
        return [step.replace("~1", "/").replace("~0", "~") for step in location[1:].split("/")]
    steps: list[str] = []
    place = 0
    while place < len(location):
        found = _STEP.match(location, place)
        if found is None:
            raise LookupError(f"the location cannot be parsed at {location[place : place + 20]!r}")
        steps.append(next(part for part in found.groups() if part is not None))
        place = found.end()
    return steps


def evidence_faults(evidence: Sequence[EvidencePointer], state: UnitState) -> list[str | None]:
    """What is wrong with each piece of evidence, at most ``MAX_COMPUTED`` computed ones; see :func:`evidence_fault`."""
    document = state.document if evidence else {}
    faults: list[str | None] = []
    left = MAX_COMPUTED
    for one in evidence:
        left -= one.type == "computed"
        beyond = one.type == "computed" and left < 0
        more = f"{_shown(one)}: not evaluated; the limit is {MAX_COMPUTED} pieces of computed evidence per case."
        faults.append(more if beyond else _fault(one, state, document))
    return faults


def evidence_fault(evidence: EvidencePointer, state: UnitState) -> str | None:
    """What is wrong with a piece of evidence, as a sentence; None if its value is at its location.

    The location of a "unit" or "rule" may be an id alone; that of a "computed" one is an expression, which is evaluated
    and must read something of the task: data, tables or units, unless it is the unit's own rule.
    """
    return _fault(evidence, state, state.document)


def _fault(evidence: EvidencePointer, state: UnitState, document: Mapping[str, Any]) -> str | None:
    shown = _shown(evidence)
    if evidence.type == "computed":
        try:
            expression = parse(evidence.location)
            found: Any = value_json(evaluate(expression, state.inputs()).value)
        except ExpressionError as error:
            return f"{shown}: {error}."
        own = [state.task.rules[name].value for name in state.unit.rules if name in state.task.rules]
        if evidence.location not in own and not _reads_task(expression.tree):
            return f"{shown}: the expression does not use any value of the task."
    else:
        root = {"unit": "unit", "line": "unit", "rule": "rule"}.get(evidence.type, "")
        if root and evidence.location in document[root]:
            found = document[root][evidence.location]
        else:
            try:
                found = resolve(evidence.location, document)
            except LookupError as error:
                return f"{shown}: {error.args[0]}."
    if evidence.value is None or _equal(found, evidence.value):
        return None
    return f"{shown} is {_brief(found)}, but the case says {_brief(evidence.value)}."


def _shown(evidence: EvidencePointer) -> str:
    return evidence.location[:120] or "(no location)"


def _reads_task(tree: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id in ("data", "unit", "table") for node in ast.walk(tree))


def _equal(found: Any, quoted: Any) -> bool:
    """Whether a case quotes the value it points to; a leaf ``{label, value}`` counts as its value."""
    if isinstance(found, dict) and not isinstance(quoted, dict):
        found = cast("dict[str, Any]", found).get("value", found)
    one, other = _number(found), _number(quoted)
    if one is not None and other is not None:
        return one == other
    if isinstance(found, str) and isinstance(quoted, str):
        return found.split() == quoted.split()
    return isinstance(found, bool) == isinstance(quoted, bool) and bool(found == quoted)


def _number(value: Any) -> Decimal | None:
    return read_amount(value) if isinstance(value, str) else as_decimal(value)


def _brief(value: Any) -> str:
    text = (
        "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else str(cast("object", value))
    )
    return text if len(text) <= 60 else f"{text[:60]}..."


@dataclass(frozen=True, slots=True)
class CaseQuality:
    """Q_SAC and its parts, each in [0, 1]."""

    target: float
    """1 if the claim is about the unit under review."""
    cites: float
    """1 if the argument cites a rule or a dependency of the unit."""
    evidence: float
    """Share of the evidence without a fault; 0 if there is none."""

    @property
    def total(self) -> float:
        """Q_SAC: the mean of the three. The paper names the parts, not their weights."""
        return (self.target + self.cites + self.evidence) / 3


def case_quality(case: SafetyCase, state: UnitState, faults: Sequence[str | None] | None = None) -> CaseQuality:
    """Q_SAC of a case (section 2.1), which does not depend on whether the proposal is wrong.

    A rule or a dependency is cited by name in ``rules``, in the argument, or as evidence; for a unit without either,
    any argument will do. ``faults`` are those of :func:`evidence_faults`, if already known.
    """
    found = evidence_faults(case.evidence, state) if faults is None else faults
    sound = found.count(None) / len(found) if found else 0.0
    return CaseQuality(float(case.unit_id == state.unit.id), float(_cites(case, state)), sound)


def _cites(case: SafetyCase, state: UnitState) -> bool:
    unit = state.unit
    applicable = [*unit.rules, *unit.depends_on]
    if not applicable:
        return bool(case.argument.strip())
    if any(name in unit.rules for name in case.rules) or any(_named(name, case.argument) for name in applicable):
        return True
    return any(_points_to(one.location, applicable, state) for one in case.evidence)


def _named(name: str, argument: str) -> bool:
    # Line 9 is cited as "line 9", not by any 9, and rule A as "rule A".
    before = r"\b(?:line|unit|rule)s?\s+" if name[:1].isdecimal() or len(name) == 1 else r"(?<!\w)"
    return re.search(rf"{before}{re.escape(name)}(?!\w)", argument, re.IGNORECASE) is not None


def _points_to(location: str, applicable: Sequence[str], state: UnitState) -> bool:
    if location in applicable:
        return True
    try:
        steps = _steps(location)
    except LookupError:
        return False
    if steps[0] in ("unit", "rule") and len(steps) > 1:
        return steps[1] in applicable
    if steps[0] != "context_so_far" or len(steps) < 2 or not steps[1].isdecimal():
        return False
    before = [unit.id for unit in state.task.units if unit.id in state.submitted]
    return int(steps[1]) < len(before) and before[int(steps[1])] in applicable
