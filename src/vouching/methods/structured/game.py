"""SEVA's game: one verifier, G samples of each claim, each scored on its record (section 2.3, eq. 2).

The paper compares G = 8 answers to a claim. The score is :func:`score_by` (Algorithm 1, or the binary baseline that
collapses) or a custom judge, which may fail. The game also logs what the reward does not optimise: label accuracy, the
rates of Not Attributable in answers and gold labels, and the share of readable answers. Departure: a rollout whose
judge failed is dropped; the paper's reward cannot fail. Not supported: several verifiers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from vouching.errors import ConfigError, InputError
from vouching.methods.base import Measures, Play, Processes, Row, Sampler, build_group, gathered_measures, outcome_of
from vouching.methods.structured.reward import PAPER_SETTINGS, label_of, read_record, reward_of_reply
from vouching.methods.structured.reward_scale import LabelScale
from vouching.methods.structured.reward_settings import RewardSettings
from vouching.models.base import Message
from vouching.models.running import all_of
from vouching.types import Label, Reward, Unverified
from vouching.types.visible import shown_json

Score: TypeAlias = Callable[[str, Row], Awaitable[Reward | Unverified]]
"""The reward of a reply to a row. May raise BackendError if an endpoint fails."""
Watch: TypeAlias = Callable[[str, Row], Measures]
"""Logged figures of a reply."""
ROLE = "verifier"


def score_by(settings: RewardSettings = PAPER_SETTINGS) -> Score:
    """SEVA's process reward (Algorithm 1) with these settings, or a binary one (section 2.3)."""

    async def score(reply: str, row: Row) -> Reward:
        return reward_of_reply(reply, row, settings)

    return score


def against_gold(reply: str, row: Row) -> Measures:
    """Compare a reply with the gold label.

    Returns:
        ``oracle/right``: whether the label is gold; an unreadable reply is wrong. ``readable``: whether the reply is a
        record with a label. ``not_attributable/gold``, and for a readable reply ``not_attributable/said``.
    """
    record = read_record(reply)
    label = None if record is None else label_of(record)
    found = {"oracle/right": label == row["gold"], "readable": label is not None}
    found["not_attributable/gold"] = row["gold"] == "Not Attributable"
    if label is not None:
        found["not_attributable/said"] = label == "Not Attributable"
    return {name: float(value) for name, value in found.items()}


@dataclass(frozen=True, slots=True)
class StructuredGame:
    """One verifier that answers each row ``samples`` times.

    A row has ``prompt``, chat messages as mappings with role and content (written by ``vouch data annotate
    --prompts``), ``gold``, and what the score reads; ``id`` names its group. Raises ConfigError for fewer than two
    samples.

    >>> import asyncio
    >>> from vouching.methods.base import ScriptedSampler
    >>> says = ScriptedSampler(lambda prompt, role, number: '{"label": "%s"}' % ("no", "yes")[number])
    >>> row = {"id": "r1", "prompt": [{"role": "user", "content": "Is it so?"}], "gold": "Attributable"}
    >>> play = asyncio.run(StructuredGame(samples=2).play(says, [row]))
    >>> [rollout.reward.total for rollout in play.groups[0].rollouts], play.measures["oracle/right"]
    ([0.12, 0.395], (0.0, 1.0))
    """

    samples: int = 8
    """G: answers to a row."""
    score: Score = field(default_factory=score_by)
    watch: Watch = against_gold
    top: float | None = None
    """The highest possible reward, to distinguish a solved game from one that is stuck; None if unknown."""
    scale: LabelScale | None = None
    """Normalises the diagnosis across gold labels; its state is shared by all processes and kept in checkpoints."""

    def __post_init__(self) -> None:
        if self.samples < 2:
            raise ConfigError(f"samples must be at least 2, got {self.samples}: answers are compared with each other")

    def join(self, processes: Processes) -> None:
        """Set the processes that share each step."""
        if self.scale is not None:
            self.scale.join(processes)

    def state_dict(self) -> dict[str, Any]:
        """What the normalisation has seen; empty without one."""
        return {} if self.scale is None else self.scale.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from :meth:`state_dict`."""
        if self.scale is not None:
            self.scale.load_state_dict(state)

    def opening(self, row: Row) -> tuple[Message, ...]:
        """The prompt of a row. Raises InputError unless it is chat messages."""
        messages = row.get("prompt")
        try:
            return tuple(Message(one["role"], one["content"]) for one in cast("Sequence[Mapping[str, Any]]", messages))
        except (TypeError, KeyError):
            raise InputError(
                f"the prompt of row {row.get('id', '?')!r} must be chat messages with role and content, as  vouch data "
                f"annotate --prompts  writes them, got {shown_json(messages, 80)}"
            ) from None

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Answer every row and score every answer."""
        answers = await sampler.sample([self.opening(row) for row in rows], ROLE, self.samples)
        replies = [(reply, row) for row, group in zip(rows, answers, strict=True) for reply in group]
        outcomes = await all_of(
            outcome_of(self.score(reply.text, row), str(row.get("claim", ""))) for reply, row in replies
        )
        if self.scale is not None:
            outcomes = _normalised(outcomes, [row["gold"] for _, row in replies], self.scale)
        built = [
            build_group(f"{place}:{row.get('id', '')}", group, outcomes[at : at + len(group)], self.samples)
            for place, (row, group) in enumerate(zip(rows, answers, strict=True))
            for at in [place * self.samples]
        ]
        return Play(
            groups=tuple(group for group, _ in built if group is not None),
            failures=tuple(failure for _, failed in built for failure in failed),
            dropped=sum(group is None for group, _ in built),
            measures=gathered_measures(self.watch(reply.text, row) for reply, row in replies),
        )


def _normalised(
    outcomes: Sequence[Reward | Unverified], golds: Sequence[Label], scale: LabelScale
) -> list[Reward | Unverified]:
    """The outcomes with normalised rewards; failed judges are excluded and unchanged."""
    scored: list[tuple[Reward, Label]] = [
        (one, gold) for one, gold in zip(outcomes, golds, strict=True) if isinstance(one, Reward)
    ]
    made = iter(scale.scaled([reward for reward, _ in scored], [gold for _, gold in scored]))
    return [next(made) if isinstance(one, Reward) else one for one in outcomes]
