"""The game of DPA-GRPO: propose, challenge, keep or revise, submit, unit by unit; both actions of a pair are scored.

    x = draft(m)      y = review(m, x)      on a case: z = best of K revisions, a = KEEP or REVISE      o = x or z
    R_V(SAC) = 1 - S_x, R_V(NS) = S_x; on a case R_G(KEEP) = S_x, R_G(REVISE) = S_z (Algorithm 1, lines 3 to 17)

Two policies: the generator, which drafts, revises and, under a third prompt, approves; and the verifier. All tasks of a
step are played side by side, one call per role and unit; the next unit sees what was submitted. Revisions are chosen as
``vouch challenge --fill`` does, by agreement and without gold; ``oracle`` chooses by gold, as the paper does in
training. Algorithm 1 also updates the proposal (line 19) without saying what it is compared with: here with other
drafts of the same unit, each worth S_x, if ``proposals``. Keep or revise counts over all units, also those
without a case, as in J_f (section 2.2). ``alone`` is the paper's baseline: the generator by itself.

Departures: the released code passes the draft on, not what was submitted; a review that cannot be read is neither a
case nor silence: what the generator proposed stands, and the unit is in none of the eight cases. Left out: updates of
what a revision says, which Algorithm 1 does not have either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from vouching.errors import ConfigError
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.model import AssuranceVerifier, Role, unit_messages
from vouching.methods.assurance.reward import FREE, AssuranceCosts, Challenge, Choice
from vouching.methods.assurance.task import read_row
from vouching.methods.assurance.unit import (
    Decision,
    challenge_rewards,
    choice_rewards,
    draft_reward,
    forced_text,
    is_right,
    measures_of,
    read_approval,
    read_draft,
    read_review,
)
from vouching.methods.assurance.verify import best_revision
from vouching.methods.base import Play, Row, Sampler, gathered_measures
from vouching.models.base import Message
from vouching.types import Group, Proposal, Reward, Rollout, SafetyCase, TaskUnit, Value

Ask: TypeAlias = Callable[
    [Role, UnitState, Proposal | None, SafetyCase | None, Proposal | None], Sequence[Message]
]  # fmt: skip
"""What a role is asked at a unit, from the proposal, the case and the revision as far as there are any."""
Force: TypeAlias = Callable[[Challenge | Choice, TaskUnit], str]
"""A reply that does nothing but an action, in the layout that its role is asked for."""
GENERATOR, VERIFIER = "default", "verifier"
"""The two policies."""


@dataclass(frozen=True, slots=True)
class AssuranceGame:
    """The game on tasks with known values.

    A row has ``task``, as a task file has it, ``gold``, the right value of every unit, and perhaps ``id``.

    Raises:
        ConfigError: fewer than two drafts, or no candidate for a revision.

    >>> import asyncio
    >>> from vouching.methods.base import ScriptedSampler
    >>> says = {"generator": '{"amount": 41}', "verifier": '{"verdict": "wrong"}', "reviser": '{"amount": 42}',
    ...         "approver": "REVISE"}
    >>> row = {"task": {"task": "t", "data": {}, "units": [{"id": "total", "type": "amount"}]}, "gold": {"total": 42}}
    >>> sampler = ScriptedSampler(lambda prompt, role, number: says[role])
    >>> play = asyncio.run(AssuranceGame(samples=2).play(sampler, [row]))
    >>> for group in play.groups:
    ...     print(group.role, group.estimator, [(one.policy, one.reward.total) for one in group.rollouts])
    generator group [('default', 0.0), ('default', 0.0)]
    verifier pair [('verifier', 1.0), ('verifier', 0.0)]
    approver pair [('default', 0.0), ('default', 1.0)]
    >>> play.measures["case/5a"], play.measures["oracle/submitted"]
    ((1.0,), (1.0,))
    """

    samples: int = 8
    """G: drafts of a unit that are compared with each other; the first is the proposal."""
    candidates: int = 5
    """K: revisions that are drawn after a case."""
    revision_temperature: float | None = None
    """Of revisions; None for that of the run."""
    costs: AssuranceCosts = FREE
    """What a case and a revision cost."""
    proposals: bool = True
    """Whether drafts are learnt from; if not, only the proposal is drawn."""
    oracle: bool = False
    """Whether the revision is chosen by gold."""
    alone: bool = False
    """Whether the generator plays alone: its proposal is submitted."""
    ask: Ask = unit_messages
    """What the roles are asked; the prompts of ``vouch challenge`` by default."""
    force: Force = forced_text
    """What is given for an action that was not taken."""
    turns: int = 0
    """Units that are played at least, so that all processes make the same calls; 0 for those that there are."""

    def __post_init__(self) -> None:
        if self.samples < 2:
            raise ConfigError(f"samples must be at least 2, got {self.samples}: one draft has nothing to compare with")
        if self.candidates < 1:
            raise ConfigError(f"candidates must be at least 1, got {self.candidates}")
        if self.alone and not self.proposals:
            raise ConfigError("the generator plays alone and proposals is off: nothing would be learnt from")

    @property
    def policies(self) -> tuple[str, ...]:
        """The adapters that it trains."""
        return (GENERATOR,) if self.alone else (GENERATOR, VERIFIER)

    @property
    def top(self) -> float:
        """The highest reward: a draft, a case or a choice is right and costs nothing."""
        return 1.0

    def opening(self, row: Row) -> Sequence[Message]:
        """The draft's prompt at the last unit, if all before it are right: the longest one, about.

        Raises:
            InputError: no task, or a unit without a right value.
        """
        task, gold = read_row(row)
        *before, last = task.units
        state = UnitState(task, last, {unit.id: gold[unit.id] for unit in before})
        return self.ask("draft", state, None, None, None)

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Play each task, unit by unit."""
        boards = [(f"{place}:{row.get('id', '')}", *read_row(row)) for place, row in enumerate(rows)]
        submitted: list[dict[str, Value]] = [{} for _ in boards]
        decided: list[Decision] = []
        for turn in range(max([self.turns, *(len(task.units) for _, task, _ in boards)])):
            here = [at for at, (_, task, _) in enumerate(boards) if turn < len(task.units)]
            opened = [
                Decision(f"{key}:{unit.id}", UnitState(task, unit, dict(submitted[at])), gold[unit.id])
                for at in here
                for key, task, gold in [boards[at]]
                for unit in [task.units[turn]]
            ]
            closed = await self._decide(sampler, opened)
            for at, one in zip(here, closed, strict=True):
                if one.submitted is not None:
                    submitted[at][one.state.unit.id] = one.submitted
            decided += closed
        groups = [group for one in decided for group in await self._groups(sampler, one)]
        return Play(
            tuple(groups), measures=gathered_measures(map(measures_of, decided)), occasions={"approver": len(decided)}
        )

    def _asked(self, role: Role, one: Decision) -> Sequence[Message]:
        """The prompt of a role; of what came later at the unit it sees nothing."""
        proposal = None if role == "draft" else one.proposal
        case = one.case if role in ("revise", "approve") else None
        return self.ask(role, one.state, proposal, case, one.revision if role == "approve" else None)

    async def _decide(self, sampler: Sampler, opened: Sequence[Decision]) -> list[Decision]:
        """One unit of each task, all roles."""
        drafts = self.samples if self.proposals else 1
        said = await sampler.sample([self._asked("draft", one) for one in opened], "generator", drafts, GENERATOR)
        proposed = [
            replace(one, drafts=tuple(some), proposal=read_draft(some[0], one.state.unit))
            for one, some in zip(opened, said, strict=True)
        ]
        if self.alone:
            return proposed
        said = await sampler.sample([self._asked("review", one) for one in proposed], "verifier", 1, VERIFIER)
        reviewed = [
            replace(one, review=review, y=y, case=case)
            for one, [review] in zip(proposed, said, strict=True)
            for y, case in [read_review(review, one.state.unit)]
        ]
        revised = await self._revised(sampler, reviewed)
        asked = [one for one in revised if one.revision is not None]
        said = await sampler.sample([self._asked("approve", one) for one in asked], "approver", 1, GENERATOR)
        chosen = {
            one.key: replace(one, choice=choice, a=read_approval(choice) or "KEEP")
            for one, [choice] in zip(asked, said, strict=True)
        }
        return [chosen.get(one.key, one) for one in revised]

    async def _revised(self, sampler: Sampler, reviewed: Sequence[Decision]) -> list[Decision]:
        """Decisions with the best of K revisions, where there is a case."""
        challenged = [one for one in reviewed if one.y == "SAC"]
        said = await sampler.sample(
            [self._asked("revise", one) for one in challenged], "reviser", self.candidates, GENERATOR,
            self.revision_temperature,
        )  # fmt: skip
        found: dict[str, Decision] = {}
        for one, some in zip(challenged, said, strict=True):
            read = [value for each in some if (value := read_draft(each, one.state.unit)) is not None]
            gold = one.gold
            best = await best_revision(
                one.state, read, AssuranceVerifier(), "agreement",
                (lambda _, value, gold=gold: is_right(Proposal("", value), gold)) if self.oracle else None,
            )  # fmt: skip
            found[one.key] = replace(one, revisions=tuple(some), revision=best)
        return [found.get(one.key, one) for one in reviewed]

    async def _groups(self, sampler: Sampler, one: Decision) -> list[Group]:
        """What is learnt from a decision: drafts among each other, then each pair there is."""
        groups: list[Group] = []
        if self.proposals:
            groups.append(_group(one, "generator", one.drafts, [draft_reward(said, one) for said in one.drafts]))
        if one.review is not None:
            texts = {action: self.force(action, one.state.unit) for action in ("SAC", "NS")}
            rewards = challenge_rewards(one, self.costs)
            groups.append(await _pair(sampler, one, self._asked("review", one), one.review, one.y, texts, rewards))
        if one.choice is not None:
            texts = {action: self.force(action, one.state.unit) for action in ("KEEP", "REVISE")}
            taken, rewards = read_approval(one.choice), choice_rewards(one, self.costs)
            groups.append(await _pair(sampler, one, self._asked("approve", one), one.choice, taken, texts, rewards))
        return groups


async def _pair(
    sampler: Sampler, one: Decision, prompt: Sequence[Message], said: Rollout, taken: str | None,
    texts: Mapping[Any, str], rewards: Mapping[Any, Reward],
) -> Group:  # fmt: skip
    """Both actions: what was said for the one that was taken, a given reply for the other."""
    rollouts = [
        said if action == taken else await sampler.forced(prompt, text, said.role, said.policy)
        for action, text in texts.items()
    ]
    return _group(one, said.role, rollouts, [rewards[action] for action in texts], pair=True)


def _group(one: Decision, role: str, said: Iterable[Rollout], rewards: Sequence[Reward], pair: bool = False) -> Group:
    key, estimator = f"{one.key}:{role}", "pair" if pair else "group"
    members = tuple(
        replace(each, group=key, reward=reward, estimator=cast("Any", estimator))
        for each, reward in zip(said, rewards, strict=True)
    )
    return Group(key, role, cast("Any", estimator), members)
