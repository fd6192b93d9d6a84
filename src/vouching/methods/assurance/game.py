"""The game of DPA-GRPO: propose, challenge, keep or revise, submit, unit by unit; both actions of a pair are scored.

    x = draft(m)      y = review(m, x)      on a case: z = best of K revisions, a = KEEP or REVISE      o = x or z
    R_V(SAC) = 1 - S_x, R_V(NS) = S_x; on a case R_G(KEEP) = S_x, R_G(REVISE) = S_z (Algorithm 1, lines 3 to 17)

There are two policies: the generator, which drafts, revises and, under a third prompt, approves; and the verifier. A
unit is played by ``verify.play_unit``, as in ``vouch challenge --fill``, with the sampler in all roles. All tasks of a
step are played in parallel, with one call per role and unit. Revisions are selected by agreement and without gold;
``oracle`` selects by gold, as the paper does in training. A pair holds both actions of a role (2.3): the sampled reply
for the action that was taken, a reply in the prompt's own layout for the other one, and for both if the sampled reply
cannot be read. Algorithm 1 also updates the proposal (line 19) without saying what it is compared with: here, with
``proposals``, with other drafts of the same unit, each with S_x as its reward. Keep or revise is averaged over all
units, also those without a case, as in J_f (section 2.2).

Departures: the released code passes the draft on to the next unit, here the submitted value is passed on; a review that
cannot be read is neither a case nor silence: the proposal stands, and the unit is in none of the eight cases. Not
supported: updates of the revisions, which Algorithm 1 does not have either.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

from vouching.errors import ConfigError
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.model import Role, unit_messages
from vouching.methods.assurance.reply import read_case, read_choice, read_line, read_reply, teacher_forced_text
from vouching.methods.assurance.reward import (
    CASES,
    FREE,
    Action,
    AssuranceCosts,
    Challenge,
    Choice,
    Transition,
    action_rewards,
)
from vouching.methods.assurance.rules import Review, Reviewed
from vouching.methods.assurance.task import read_row
from vouching.methods.assurance.values import same_value
from vouching.methods.assurance.verify import Step, play_unit
from vouching.methods.base import Play, Row, Sampler, gathered_measures
from vouching.models.base import Message
from vouching.types import Claim, Group, Proposal, Reward, Rollout, SafetyCase, TaskUnit, UnitResult, Unverified, Value

Ask: TypeAlias = Callable[[Role, UnitState, Proposal | None, SafetyCase | None, Proposal | None], Sequence[Message]]
"""What a role is asked at a unit, from the proposal, the case and the revision as far as there are any."""
Force: TypeAlias = Callable[[Action, TaskUnit], str]
"""A reply that takes an action and nothing else, in the layout that the role's prompt asks for."""
GENERATOR, VERIFIER = "default", "verifier"
"""The two policies."""
_ROLES: Mapping[Role, str] = {"draft": "generator", "review": "verifier", "revise": "reviser", "approve": "approver"}
"""The questions at a unit, in this order, and who answers."""


@dataclass(slots=True)
class Roles:
    """The roles of one unit, for ``verify.play_unit``: each asks the sampler, and its prompt and replies are kept."""

    ask: Ask
    prompts: dict[Role, Sequence[Message]] = field(default_factory=dict[Role, Sequence[Message]])
    replies: dict[Role, Sequence[Rollout]] = field(default_factory=dict[Role, Sequence[Rollout]])
    """By role; the first draft is the proposal."""

    async def draft(self, state: UnitState) -> tuple[Proposal | None, str]:
        """x, from the first draft."""
        replies = await _Turn(self, "draft", self.ask("draft", state, None, None, None))
        return read_reply(replies[0], lambda text: read_line(text, state.unit))

    async def review(self, state: UnitState, proposal: Proposal | None) -> Reviewed:
        """y; Unverified if the reply cannot be read or was cut off."""
        [reply] = await _Turn(self, "review", self.ask("review", state, proposal, None, None))
        case, fault = read_reply(reply, lambda text: read_case(text, state.unit))
        return Unverified(Claim(state.unit.id), "unparsable", fault) if fault else Review(case, VERIFIER)

    async def revisions(self, state: UnitState, proposal: Proposal | None, case: SafetyCase) -> list[Proposal]:
        """Candidates for z; they are not trained on."""
        replies = await _Turn(self, "revise", self.ask("revise", state, proposal, case, None))
        found = (read_reply(one, lambda text: read_line(text, state.unit))[0] for one in replies)
        return [one for one in found if one is not None]

    async def approve(
        self, state: UnitState, proposal: Proposal | None, case: SafetyCase, revision: Proposal
    ) -> tuple[bool, str]:
        """a; KEEP if the reply cannot be read."""
        [reply] = await _Turn(self, "approve", self.ask("approve", state, proposal, case, revision))
        return read_reply(reply, read_choice)[0] or (False, "")


@dataclass(frozen=True, slots=True)
class _Turn:
    """A question to the sampler; awaiting it gives the replies."""

    roles: Roles
    role: Role
    prompt: Sequence[Message]

    def __await__(self) -> Generator[_Turn, Sequence[Rollout], Sequence[Rollout]]:
        self.roles.prompts[self.role] = self.prompt
        replies = self.roles.replies[self.role] = yield self
        return replies


@dataclass(frozen=True, slots=True)
class Decision:
    """What happened at a unit."""

    key: str
    """Unique in its batch."""
    state: UnitState
    """m."""
    gold: Value
    roles: Roles
    step: Step

    @property
    def s_x(self) -> bool:
        """Whether the proposal is right; one that cannot be read is not."""
        return self.step.proposal is not None and same_value(self.step.proposal, self.gold)

    @property
    def s_z(self) -> bool | None:
        """Whether the revision is right; None without one."""
        return None if self.step.revision is None else same_value(self.step.revision, self.gold)

    @property
    def y(self) -> Challenge | None:
        """The verifier's action; None if it was not asked or its reply cannot be read."""
        if "review" not in self.roles.replies or isinstance(self.step.finding, Unverified):
            return None
        return "NS" if self.step.case is None else "SAC"

    @property
    def a(self) -> Choice | None:
        """The approver's choice, KEEP if its reply cannot be read; None if it was not asked."""
        if "approve" not in self.roles.replies:
            return None
        return "REVISE" if cast("UnitResult", self.step.finding).decision == "revise" else "KEEP"

    @property
    def transition(self) -> Transition | None:
        """The unit in the paper's table; None if the review cannot be read or there was nothing to choose from."""
        if self.y == "SAC":
            return None if self.a is None else Transition(self.s_x, "SAC", self.a, self.s_z)
        return None if self.y is None else Transition(self.s_x, "NS")

    @property
    def row(self) -> dict[str, Any]:
        """The unit as ``reward_of_row`` and ``vouch reward assurance`` read it."""
        s_z = None if self.s_z is None else int(self.s_z)
        return {"id": self.key, "S_x": int(self.s_x), "y": self.y, "a": self.a, "S_z": s_z}

    def taken(self, role: Role) -> Action | None:
        """The action in the reply of the verifier or the approver; None if it cannot be read."""
        if role == "review":
            return self.y
        choice, _ = read_reply(self.roles.replies[role][0], read_choice)
        return None if choice is None else "REVISE" if choice[0] else "KEEP"


@dataclass(frozen=True, slots=True)
class AssuranceGame:
    """The game on tasks with known values.

    A row has ``task``, the content of a task file, ``gold``, the right value of every unit, and perhaps ``id``. Raises
    ConfigError for fewer than two drafts or no candidate.
    """

    samples: int = 8
    """G: drafts of a unit that are compared with each other; the first is the proposal."""
    candidates: int = 5
    """K: revisions that are drawn after a case."""
    revision_temperature: float | None = None
    """None for that of the run."""
    costs: AssuranceCosts = FREE
    proposals: bool = True
    """Whether drafts are trained on; if not, only the proposal is drawn."""
    oracle: bool = False
    """Whether the revision is selected by gold."""
    alone: bool = False
    """Whether the generator plays alone and its proposal is submitted: the paper's baseline."""
    ask: Ask = unit_messages
    """The prompts; by default those of ``vouch challenge``."""
    force: Force = teacher_forced_text
    """The reply for an action that was not taken."""
    turns: int = 0
    """Minimum number of units to play, so that all processes make the same calls."""
    margin: float = 0.0
    """Difference in log-probability, in nats, from which a pair is no longer trained on; 0 for all pairs."""

    def __post_init__(self) -> None:
        if self.samples < 2:
            raise ConfigError(f"samples must be at least 2, got {self.samples}: drafts are compared with each other")
        if self.candidates < 1:
            raise ConfigError(f"candidates must be at least 1, got {self.candidates}")
        if self.alone and not self.proposals:
            raise ConfigError("alone=true and proposals=false leave nothing to train: change one of them")

    @property
    def policies(self) -> tuple[str, ...]:
        """The adapters that it trains."""
        return (GENERATOR,) if self.alone else (GENERATOR, VERIFIER)

    @property
    def top(self) -> float:
        """The highest reward."""
        return 1.0

    def opening(self, row: Row) -> Sequence[Message]:
        """The draft's prompt at the last unit, if all before it are right: about the longest one."""
        task, gold = read_row(row)
        *before, last = task.units
        state = UnitState(task, last, {unit.id: gold[unit.id] for unit in before})
        return self.ask("draft", state, None, None, None)

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Play each task, unit by unit."""
        decided = await self.decide(sampler, rows)
        groups = [group for one in decided for group in await self._groups(sampler, one)]
        return Play(
            tuple(groups), measures=gathered_measures(map(measures_of, decided)), occasions={"approver": len(decided)}
        )

    async def decide(self, sampler: Sampler, rows: Sequence[Row]) -> list[Decision]:
        """What happens at each unit of each task, unit by unit; the other action of a pair is not sampled."""
        boards = [(f"{place}:{row.get('id', '')}", *read_row(row)) for place, row in enumerate(rows)]
        submitted: list[dict[str, Value]] = [{} for _ in boards]
        decided: list[Decision] = []
        for turn in range(max([self.turns, *(len(task.units) for _, task, _ in boards)])):
            here = [at for at, (_, task, _) in enumerate(boards) if turn < len(task.units)]
            states = [UnitState(boards[at][1], boards[at][1].units[turn], dict(submitted[at])) for at in here]
            golds = [boards[at][2][state.unit.id] for at, state in zip(here, states, strict=True)]
            played = await self._side_by_side(sampler, states, golds)
            for at, state, gold, (roles, step) in zip(here, states, golds, played, strict=True):
                if step.submitted is not None:
                    submitted[at][state.unit.id] = step.submitted
                decided.append(Decision(f"{boards[at][0]}:{state.unit.id}", state, gold, roles, step))
        return decided

    async def _side_by_side(
        self, sampler: Sampler, states: Sequence[UnitState], golds: Sequence[Value]
    ) -> list[tuple[Roles, Step]]:
        """One unit of each task. Every role is asked once for all of them, even with no prompts."""
        roles = [Roles(self.ask) for _ in states]
        plays = [self._unit(*one) for one in zip(states, golds, roles, strict=True)]
        ended: dict[int, Step] = {}
        waiting = {at: turn for at, play in enumerate(plays) for turn in [_next(play, None, at, ended)] if turn}
        for role in ("draft",) if self.alone else _ROLES:
            asked = [at for at, turn in waiting.items() if turn.role == role]
            replies = await self._sampled(sampler, role, [waiting.pop(at).prompt for at in asked])
            for at, rollouts in zip(asked, replies, strict=True):
                if turn := _next(plays[at], rollouts, at, ended):
                    waiting[at] = turn
        return [(one, ended[at]) for at, one in enumerate(roles)]

    async def _unit(self, state: UnitState, gold: Value, roles: Roles) -> Step:
        if self.alone:
            draft, _ = await roles.draft(state)
            value = draft and draft.value
            return Step(UnitResult(state.unit.id, "", False, None, ""), value, value)

        def is_right(_: UnitState, value: Value) -> bool:
            return same_value(value, gold)

        return await play_unit(state, roles, roles, "agreement", is_right if self.oracle else None)

    async def _sampled(self, sampler: Sampler, role: Role, prompts: Sequence[Sequence[Message]]) -> list[list[Rollout]]:
        """A role's replies to all prompts at once."""
        if role == "revise":
            return await sampler.sample(prompts, "reviser", self.candidates, GENERATOR, self.revision_temperature)
        number = self.samples if role == "draft" and self.proposals else 1
        return await sampler.sample(prompts, _ROLES[role], number, VERIFIER if role == "review" else GENERATOR)

    async def _groups(self, sampler: Sampler, one: Decision) -> list[Group]:
        """The groups of a decision: its drafts, then each pair there is."""
        groups: list[Group] = []
        if self.proposals:
            drafts = one.roles.replies["draft"]
            groups.append(_group(one, "generator", drafts, [_draft_reward(draft, one) for draft in drafts]))
        rewards = action_rewards(one.s_x, one.s_z, self.costs)
        pairs: Mapping[Role, tuple[Action, Action]] = {"review": ("SAC", "NS"), "approve": ("KEEP", "REVISE")}
        for role, actions in pairs.items():
            if role not in one.roles.replies:
                continue
            [reply] = one.roles.replies[role]
            rollouts = [
                reply
                if action == one.taken(role)
                else await sampler.teacher_forced(
                    one.roles.prompts[role], self.force(action, one.state.unit), reply.role, reply.policy
                )
                for action in actions
            ]
            groups.append(_group(one, reply.role, rollouts, [rewards[action] for action in actions], pair=True))
        return groups


_Play: TypeAlias = Coroutine[_Turn, Sequence[Rollout] | None, Step]


def _next(play: _Play, replies: Sequence[Rollout] | None, at: int, ended: dict[int, Step]) -> _Turn | None:
    """The next question of a play after the replies; None if it has ended, with its step in ``ended``."""
    try:
        return play.send(replies)
    except StopIteration as end:
        ended[at] = end.value
        return None


def _draft_reward(reply: Rollout, one: Decision) -> Reward:
    """R of a draft: S_x (the released baseline's; Algorithm 1, line 19)."""
    draft, _ = read_reply(reply, lambda text: read_line(text, one.state.unit))
    right = float(draft is not None and same_value(draft.value, one.gold))
    return Reward(right, {"right": right, "readable": float(draft is not None)})


def measures_of(decision: Decision) -> Mapping[str, float]:
    """What is logged of a unit.

    Returns:
        ``oracle/submitted``, ``oracle/draft``: whether o and x are right; ``oracle/challenge``: whether the verifier's
        action is the best by Lemma 1; ``oracle/choice``: whether nothing better was turned down (Lemma 2).
        ``case/1`` to ``case/6b``: shares of the paper's cases; ``case/none``: of units in none of them.
        ``readable/...`` by role, ``said/SAC``, ``said/REVISE``, ``quality``: Q_SAC; ``tokens``: sampled at the unit.
    """
    step = decision.step
    found: dict[str, float] = {
        "oracle/draft": decision.s_x,
        "oracle/submitted": step.submitted is not None and same_value(step.submitted, decision.gold),
        "readable/generator": step.proposal is not None,
        "tokens": sum(len(one.completion_ids) for replies in decision.roles.replies.values() for one in replies),
    }
    if "review" not in decision.roles.replies:
        return found
    best = "NS" if decision.s_x else "SAC"
    found |= {"readable/verifier": decision.y is not None, "oracle/challenge": decision.y == best}
    reached = decision.transition
    found |= {f"case/{name}": reached is not None and reached.case == name for name in CASES}
    found["case/none"] = reached is None
    if decision.y is not None:
        found["said/SAC"] = decision.y == "SAC"
    if step.case is not None:
        found["quality"] = cast("float", cast("UnitResult", step.finding).quality)
        found["readable/reviser"] = step.revision is not None
    if decision.a is not None:
        found["said/REVISE"] = decision.a == "REVISE"
        chosen = decision.s_z if decision.a == "REVISE" else decision.s_x
        found["oracle/choice"] = chosen == (decision.s_x or decision.s_z)
        found["readable/approver"] = decision.taken("approve") is not None
    return {name: float(value) for name, value in found.items()}


def _group(one: Decision, role: str, drawn: Iterable[Rollout], rewards: Sequence[Reward], pair: bool = False) -> Group:
    key, estimator = f"{one.key}:{role}", "pair" if pair else "group"
    members = tuple(
        replace(each, group=key, reward=reward, estimator=cast("Any", estimator))
        for each, reward in zip(drawn, rewards, strict=True)
    )
    return Group(key, role, cast("Any", estimator), members)
