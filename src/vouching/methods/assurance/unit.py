"""One decision unit of the assurance game: what was said there, what it earned, and by which of the eight cases.

A pair holds both actions of a role, whichever was taken (DPA-GRPO, 2.3): what the role said stands for the action that
it took, a reply in the prompt's own layout for the other one; for both, where what it said cannot be read. Left out:
who is asked what, and when (``vouching.methods.assurance.game``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from vouching.methods.assurance.evidence import UnitState, case_quality
from vouching.methods.assurance.reply import ReplyError, case_json, read_case, read_choice, read_line
from vouching.methods.assurance.reward import (
    CASES,
    FREE,
    AssuranceCosts,
    Challenge,
    Choice,
    Transition,
    generator_rewards,
    verifier_rewards,
)
from vouching.methods.assurance.values import same_value
from vouching.types import Proposal, Reward, Rollout, SafetyCase, TaskUnit, Value


@dataclass(frozen=True, slots=True)
class Decision:
    """What happened at a unit, so far."""

    key: str
    """Names it in its batch."""
    state: UnitState
    """m: what was known."""
    gold: Value
    """The right value."""
    drafts: tuple[Rollout, ...] = ()
    """What the generator said; the first is its proposal, the others are compared with it."""
    proposal: Proposal | None = None
    """x; None if the first draft cannot be read."""
    review: Rollout | None = None
    """What the verifier said; None if nobody was asked."""
    y: Challenge | None = None
    """What it did; None if nobody was asked, or what it said cannot be read."""
    case: SafetyCase | None = None
    """The case, after "SAC"."""
    revisions: tuple[Rollout, ...] = ()
    """Candidates for z, not trained on."""
    revision: Proposal | None = None
    """z; None without a case, or if no candidate can be read."""
    choice: Rollout | None = None
    """What the approver said."""
    a: Choice | None = None
    """What it chose; KEEP where what it said cannot be read. None if it was not asked."""

    @property
    def s_x(self) -> bool:
        """Whether the proposal is right; one that cannot be read is not."""
        return is_right(self.proposal, self.gold)

    @property
    def submitted(self) -> Value | None:
        """o; None if there is no value."""
        taken = self.revision if self.a == "REVISE" else self.proposal
        return None if taken is None else taken.value

    @property
    def transition(self) -> Transition | None:
        """The unit in the paper's table; None if the review cannot be read, or nothing could be chosen from."""
        if self.y == "SAC" and self.a is not None:
            return Transition(self.s_x, "SAC", self.a, is_right(self.revision, self.gold))
        return Transition(self.s_x, "NS") if self.y == "NS" else None


def is_right(proposal: Proposal | None, gold: Value) -> bool:
    """S: whether a value is strictly the right one."""
    return proposal is not None and same_value(proposal.value, gold)


def read_draft(said: Rollout, unit: TaskUnit) -> Proposal | None:
    """The value in a draft or a revision; None if there is none, or it was cut off.

    >>> said = Rollout("generator", (), (), (), None, "stop", text='{"line": "9", "amount": 12}')
    >>> str(read_draft(said, TaskUnit("9", "amount")).value)
    '12'
    """
    try:
        return None if said.finish_reason == "length" else read_line(said.text, unit)
    except ReplyError:
        return None


def read_review(said: Rollout, unit: TaskUnit) -> tuple[Challenge | None, SafetyCase | None]:
    """What a verifier did, and its case; None and None if what it said cannot be read, or was cut off.

    >>> said = Rollout("verifier", (), (), (), None, "stop", text='{"line": "9", "verdict": "correct"}')
    >>> read_review(said, TaskUnit("9", "amount"))
    ('NS', None)
    """
    if said.finish_reason == "length":
        return None, None
    try:
        case = read_case(said.text, unit)
    except ReplyError:
        return None, None
    return ("NS", None) if case is None else ("SAC", case)


def read_approval(said: Rollout) -> Choice | None:
    """What an approver chose; None if what it said cannot be read."""
    try:
        return None if said.finish_reason == "length" else ("REVISE" if read_choice(said.text)[0] else "KEEP")
    except ReplyError:
        return None


def draft_reward(said: Rollout, decision: Decision) -> Reward:
    """R of a draft: S_x (the released baseline's; Algorithm 1, line 19)."""
    value = read_draft(said, decision.state.unit)
    right = float(is_right(value, decision.gold))
    return Reward(right, {"right": right, "readable": float(value is not None)})


def challenge_rewards(decision: Decision, costs: AssuranceCosts = FREE) -> dict[Challenge, Reward]:
    """R_V of both actions (Algorithm 1, line 7)."""
    plain = verifier_rewards(decision.s_x)
    return {action: Reward(total, {"outcome": plain[action], "cost": plain[action] - total})
            for action, total in verifier_rewards(decision.s_x, costs).items()}  # fmt: skip


def choice_rewards(decision: Decision, costs: AssuranceCosts = FREE) -> dict[Choice, Reward]:
    """R_G of both actions (Algorithm 1, line 10)."""
    s_z = is_right(decision.revision, decision.gold)
    plain = generator_rewards(decision.s_x, s_z)
    return {action: Reward(total, {"outcome": plain[action], "cost": plain[action] - total})
            for action, total in generator_rewards(decision.s_x, s_z, costs).items()}  # fmt: skip


def challenge_text(action: Challenge, unit: TaskUnit) -> str:
    """A verifier's reply that does nothing but this.

    >>> said = Rollout("verifier", (), (), (), None, "forced", text=challenge_text("SAC", TaskUnit("9", "amount")))
    >>> read_review(said, TaskUnit("9", "amount"))[0]
    'SAC'
    """
    claim, verdict = ("The value is right.", "correct") if action == "NS" else ("The value is not right.", "wrong")
    made = case_json(SafetyCase(unit.id, claim, "", verdict=verdict), unit)
    made["overall_verdict"] = "accept" if action == "NS" else "reject"
    for found in (made, made["line_findings"][0]):
        for name in ("overall_confidence", "confidence", "arguments", "evidence", "rules", "correction"):
            found.pop(name, None)
    return json.dumps(made, ensure_ascii=False)


def choice_text(action: Choice) -> str:
    """An approver's reply that does nothing but this.

    >>> choice_text("KEEP")
    '{"decision": "KEEP", "reason": ""}'
    """
    return json.dumps({"decision": action, "reason": ""})


def forced_text(action: Challenge | Choice, unit: TaskUnit) -> str:
    """A reply that does nothing but an action, in the layout of the prompts of ``vouch challenge``.

    >>> forced_text("KEEP", TaskUnit("9", "amount")) == choice_text("KEEP")
    True
    """
    return choice_text(action) if action in ("KEEP", "REVISE") else challenge_text(action, unit)


def measures_of(decision: Decision) -> Mapping[str, float]:
    """What is watched at a unit.

    Returns:
        ``oracle/submitted``, ``oracle/draft``: whether o and x are right; ``oracle/challenge``: whether the verifier
        did what Lemma 1 calls best; ``oracle/choice``: whether nothing better was turned down (Lemma 2).
        ``case/1`` to ``case/6b``: shares of the paper's cases; ``case/none`` of units that are in none.
        ``readable/...`` by role, ``said/SAC``, ``said/REVISE``, ``quality``: Q_SAC; ``tokens``: sampled at the unit.
    """
    found: dict[str, float] = {
        "oracle/draft": decision.s_x,
        "oracle/submitted": decision.submitted is not None and same_value(decision.submitted, decision.gold),
        "readable/generator": decision.proposal is not None,
        "tokens": sum(len(one.completion_ids) for one in _all_said(decision)),
    }
    if decision.review is None:
        return found
    found |= {"readable/verifier": decision.y is not None, "oracle/challenge": decision.y == _best(decision)}
    reached = decision.transition
    found |= {f"case/{name}": reached is not None and reached.case == name for name in CASES}
    found["case/none"] = reached is None
    if decision.y is not None:
        found["said/SAC"] = decision.y == "SAC"
    if decision.case is not None:
        found["quality"] = case_quality(decision.case, decision.state).total
        found["readable/reviser"] = decision.revision is not None
    if decision.a is not None and decision.choice is not None:
        rewards = generator_rewards(decision.s_x, is_right(decision.revision, decision.gold))
        found["said/REVISE"] = decision.a == "REVISE"
        found["oracle/choice"] = rewards[decision.a] == max(rewards.values())
        found["readable/approver"] = read_approval(decision.choice) is not None
    return {name: float(value) for name, value in found.items()}


def _best(decision: Decision) -> Challenge:
    return "NS" if decision.s_x else "SAC"


def _all_said(decision: Decision) -> tuple[Rollout, ...]:
    asked = (one for one in (decision.review, decision.choice) if one is not None)
    return (*decision.drafts, *decision.revisions, *asked)
