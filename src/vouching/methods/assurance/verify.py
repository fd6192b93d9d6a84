"""Structured work verified, or done, unit by unit: propose, challenge, keep or revise, submit (DPA-GRPO, 2).

    x = draft(m)      y = review(m, x)      on a case: z = best of K revisions, a = KEEP or REVISE      o = x or z
    m' = m with o     the next unit sees what was submitted

Revisions are selected without gold: of the values of the K candidates, most frequent first, the first that the verifier
accepts, else the most frequent. Departures: the released code passes the draft on to the next unit and selects by gold;
here the submitted value is passed on, and gold enters only by ``oracle``, for training. Not supported: several rounds
at one unit, and returning to an earlier one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from vouching.errors import InputError
from vouching.methods.assurance.evidence import UnitState, case_quality, evidence_faults
from vouching.methods.assurance.model import UnitGenerator, UnitVerifier
from vouching.methods.assurance.rules import Review
from vouching.methods.assurance.task import as_proposal, as_task
from vouching.methods.assurance.values import as_decimal, same_value, value_json, value_text
from vouching.types import Assurance, Proposal, SafetyCase, Task, TaskUnit, UnitResult, Unverified, Value

Oracle: TypeAlias = Callable[[UnitState, Value], bool]
"""Whether a value is right. For training only: results measured with an oracle do not hold in deployment."""
Select: TypeAlias = Literal["verified", "agreement"]
"""How a revision is selected: by the verifier's own check and agreement, or by agreement alone."""


@dataclass(frozen=True, slots=True)
class Step:
    """What happened at one unit."""

    finding: UnitResult | Unverified
    """Unverified if the proposal could not be judged; it is then kept."""
    submitted: Value | None
    """o; None if there is no value at all."""
    proposal: Value | None = None
    """x; None if it could not be read."""
    case: SafetyCase | None = None
    """y; None without a case, or if the judge failed."""
    revision: Value | None = None
    """z, accepted or not."""


OnStep: TypeAlias = Callable[[TaskUnit, Step], None]


async def challenge(
    task: Task, proposal: Mapping[str, Proposal], verifier: UnitVerifier, on_step: OnStep | None = None
) -> Assurance:
    """Verify a finished proposal, unit by unit. Nothing is revised: what is proposed counts as submitted.

    Raises InputError for a unit without a proposal, ModelError if a model is temporarily unavailable.
    """
    missing = [unit.id for unit in task.units if unit.id not in proposal]
    if missing:
        raise InputError(
            f"the proposal has no value for {missing[0]} ({len(missing)} of {len(task.units)} are missing)"
        )
    return await _through(task, lambda state: _verified(state, proposal[state.unit.id], verifier), {}, on_step)


async def verify(task: object, proposal: object, verifier: UnitVerifier) -> Assurance:
    """:func:`challenge` from plain data: the content of a task file, and a mapping with "values", one for each unit."""
    work = task if isinstance(task, Task) else as_task(task)
    return await challenge(work, as_proposal(proposal, work), verifier)


async def fill(
    task: Task,
    generator: UnitGenerator,
    verifier: UnitVerifier,
    *,
    select: Select = "verified",
    oracle: Oracle | None = None,
    done: Mapping[str, Step] | None = None,
    on_step: OnStep | None = None,
) -> Assurance:
    """Do the work: generate, challenge, keep or revise, submit. Raises ModelError if a model gives no reply.

    An ``oracle`` selects the revision by gold; for training only. ``done`` has the steps of an interrupted run by unit,
    which are kept; ``on_step`` is called after each new one.
    """
    return await _through(
        task, lambda state: play_unit(state, generator, verifier, select, oracle), done or {}, on_step
    )


async def _through(
    task: Task,
    decide: Callable[[UnitState], Awaitable[Step]],
    done: Mapping[str, Step],
    on_step: OnStep | None,
) -> Assurance:
    """Decide unit by unit; each sees what was submitted before it."""
    submitted: dict[str, Value] = {}
    findings: list[UnitResult | Unverified] = []
    for unit in task.units:
        step = done.get(unit.id)
        if step is None:
            step = await decide(UnitState(task, unit, dict(submitted)))
            if on_step is not None:
                on_step(unit, step)
        if step.submitted is not None:
            submitted[unit.id] = step.submitted
        findings.append(step.finding)
    values = {name: found for name, value in submitted.items() if (found := value_json(value)) is not None}
    return Assurance(task.id, tuple(_with_doubts(task, findings)), values)


async def play_unit(
    state: UnitState,
    generator: UnitGenerator,
    verifier: UnitVerifier,
    select: Select = "verified",
    oracle: Oracle | None = None,
) -> Step:
    """The game at one unit. Raises ModelError if a model gives no reply."""
    draft, fault = await generator.draft(state)
    step = await _verified(state, draft, verifier)
    if step.case is None:
        return step
    candidates = await generator.revisions(state, draft, step.case)
    revision = await best_revision(state, candidates, verifier, select, oracle, draft)
    if revision is None:
        return _decided(
            step, state.unit, None, False, f"there is no readable revision{fault and f'; the draft: {fault}'}"
        )
    revise, why = await generator.approve(state, draft, step.case, revision)
    return _decided(step, state.unit, revision, revise, why)


async def best_revision(
    state: UnitState,
    candidates: Sequence[Proposal],
    verifier: UnitVerifier,
    select: Select = "verified",
    oracle: Oracle | None = None,
    challenged: Proposal | None = None,
) -> Proposal | None:
    """z: the best of the readable candidates; None if there are none.

    The verifier checks values, most frequent first, until one passes; that of the ``challenged`` draft is not checked
    again. An oracle selects a right value if there is one; for training only.
    """
    votes = Counter(one.value for one in candidates)
    firsts = {one.value: one for one in reversed(candidates)}
    ranked = [firsts[value] for value, _ in votes.most_common()]
    if oracle is not None:
        right = (one for one in ranked if oracle(state, one.value))
        return next(right, ranked[0] if ranked else None)
    if select == "verified":
        for one in ranked:
            if challenged is not None and same_value(one.value, challenged.value):
                continue
            found = await verifier.review(state, one)
            if isinstance(found, Review) and found.case is None:
                return one
    return ranked[0] if ranked else None


async def _verified(state: UnitState, proposal: Proposal | None, verifier: UnitVerifier) -> Step:
    """The proposal after its review; its value is submitted unless it is revised."""
    value = proposal.value if proposal else None
    found = await verifier.review(state, proposal)
    if isinstance(found, Unverified):
        return Step(found, value, value)
    return Step(_result(state, proposal, found), value, value, found.case)


def _result(state: UnitState, proposal: Proposal | None, found: Review) -> UnitResult:
    shown = value_text(proposal.value, state.unit.type) if proposal else ""
    case = found.case
    if case is None:
        return UnitResult(state.unit.id, shown, False, None, shown, judged_by=found.by)
    faults = evidence_faults(case.evidence, state)
    return UnitResult(
        state.unit.id,
        shown,
        True,
        None,
        shown,
        case.claim,
        case.argument,
        evidence=tuple((one.location, "" if one.value is None else _text(one.value)) for one in case.evidence),
        rules=case.rules,
        correction=None if case.correction is None else value_text(case.correction, state.unit.type),
        flagged=tuple(fault for fault in faults if fault),
        quality=case_quality(case, state, faults).total,
        judged_by=found.by,
    )


def _decided(step: Step, unit: TaskUnit, revision: Proposal | None, revise: bool, why: str) -> Step:
    """The step after the generator's answer to a case."""
    assert isinstance(step.finding, UnitResult)
    value = revision.value if revision else None
    submitted = value if revise else step.submitted
    finding = replace(
        step.finding,
        decision="revise" if revise else "keep",
        submitted=value_text(submitted, unit.type),
        revision=None if value is None else value_text(value, unit.type),
        reason=why,
    )
    return replace(step, finding=finding, submitted=submitted, revision=value)


def _with_doubts(task: Task, findings: Sequence[UnitResult | Unverified]) -> Iterator[UnitResult | Unverified]:
    """The findings, each with the open units that it depends on."""
    doubts: dict[str, tuple[str, ...]] = {}
    for unit, found in zip(task.units, findings, strict=True):
        below = {name for needed in unit.depends_on for name in doubts[needed]}
        ordered = tuple(one.id for one in task.units if one.id in below)
        open_case = isinstance(found, Unverified) or (found.challenged and found.decision != "revise")
        doubts[unit.id] = (*ordered, unit.id) if open_case else ordered
        yield replace(found, rests_on=ordered) if isinstance(found, UnitResult) else found


def _text(value: object) -> str:
    """A value that a case quotes, as text."""
    if isinstance(value, bool | str):
        return value_text(value)
    number = as_decimal(value)
    return json.dumps(value, ensure_ascii=False)[:400] if number is None else value_text(number)
