"""A verifier without a model: it applies the executable rules of a unit and argues from the value that they give.

Everything is computed from the values submitted before, so a mistake is challenged where it is made and not again in
every unit that depends on it. Not supported: rules in words, and tolerance; a rule that allows a range is a check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from vouching.errors import InputError
from vouching.methods.assurance.evaluate import evaluate
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.expression import ExpressionError, parse
from vouching.methods.assurance.values import read_value, same_value, value_json, value_text
from vouching.types import Claim, EvidencePointer, Proposal, Rule, SafetyCase, Unverified, Value

MAX_EVIDENCE = 12
"""Inputs that a case quotes; the rest are counted in its argument."""
LONGEST_SHOWN = 100
"""Characters of the longest expression that an argument repeats."""


@dataclass(frozen=True, slots=True)
class Review:
    """A verifier's answer to a proposal: a case, or silence."""

    case: SafetyCase | None
    """None for silence (NS)."""
    by: str = "rules"
    """Who judged: "rules", or the name of a model."""


Reviewed: TypeAlias = Review | Unverified
"""A verifier's answer, or why there is none."""


def covered(state: UnitState) -> Literal["all", "some", "none"]:
    """How much of a unit executable rules decide: "all" with a value rule, or if no rule is in words only."""
    rules = [state.task.rules[name] for name in state.unit.rules]
    if any(rule.value is not None for rule in rules) or (rules and all(rule.executable for rule in rules)):
        return "all"
    return "some" if any(rule.executable for rule in rules) else "none"


def review_by_rules(state: UnitState, proposal: Proposal | None) -> Reviewed:
    r"""A case, silence, or Unverified where a rule has no value for these inputs and no other rule makes a case.

    A proposal of None is one that could not be read.
    """
    unsure: Unverified | None = None
    for name in state.unit.rules:
        rule = state.task.rules[name]
        try:
            case = _applied(rule, state, proposal)
        except InputError as error:
            claim = Claim(_subject(state, proposal), id=state.unit.id)
            unsure = unsure or Unverified(claim, "input", f"rule {name}: {error}")
            continue
        if case is not None:
            return Review(case)
    return unsure or Review(None)


def case_of_nothing(state: UnitState) -> SafetyCase:
    """The case against a proposal without a readable value, which needs no judgment."""
    rules = [state.task.rules[name] for name in state.unit.rules]
    argument = " ".join(f"{rule.id}: {rule.text}" for rule in rules) or "Every unit needs a value."
    return SafetyCase(state.unit.id, f"{_subject(state, None)}.", argument, (), state.unit.rules)


def _applied(rule: Rule, state: UnitState, proposal: Proposal | None) -> SafetyCase | None:
    unit = state.unit
    if rule.value is not None:
        found = evaluate(parse(rule.value), state.inputs())
        right = read_value(found.value, unit, f"the value of {rule.value[:60]!r}")
        if proposal is not None and same_value(right, proposal.value):
            return None
        shown = value_text(right, unit.type)
        claim = f"{_subject(state, proposal)}, but rule {rule.id} gives {shown}."
        worked = f"Worked out: {_once(rule.value)} = {shown}."
        evidence = (*_quoted(found.reads), EvidencePointer("computed", rule.value, value_json(right)))
        more = len(found.reads) - MAX_EVIDENCE
        argument = f"{rule.id}: {rule.text} {worked}{f' {more} more inputs were read.' if more > 0 else ''}"
        return SafetyCase(unit.id, claim, argument, evidence, (rule.id,), right)
    if rule.check is not None:
        if proposal is None:
            return case_of_nothing(state)
        found = evaluate(parse(rule.check), state.inputs(proposal.value))
        if found.value is True:
            return None
        if found.value is not False:
            raise ExpressionError(f"{rule.check!r} evaluates to {value_text(found.value)}, expected True or False")
        reads = {path: value for path, value in found.reads.items() if path != "value"}
        argument = f"{rule.id}: {rule.text} This does not hold: {_once(rule.check)}."
        claim = f"{_subject(state, proposal)}, which violates rule {rule.id}."
        evidence = (*_quoted(reads), EvidencePointer("rule", rule.id, rule.text))
        return SafetyCase(unit.id, claim, argument, evidence, (rule.id,))
    return None


def _once(expression: str) -> str:
    """An expression, or a reference to it if it is long: the task has it in full."""
    text = " ".join(expression.split())
    return text if len(text) <= LONGEST_SHOWN else "the rule's expression"


def _subject(state: UnitState, proposal: Proposal | None) -> str:
    if proposal is None:
        return f"{state.unit.id} has no value that can be read"
    return f"{state.unit.id} is {value_text(proposal.value, state.unit.type)}"


def _quoted(reads: Mapping[str, Value]) -> tuple[EvidencePointer, ...]:
    return tuple(
        EvidencePointer("unit" if path.startswith(("unit.", "unit[")) else "input_field", path, value_json(value))
        for path, value in islice(reads.items(), MAX_EVIDENCE)
    )
