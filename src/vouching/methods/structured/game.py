"""SEVA's game: one verifier, G samples of each claim, each scored by what its record is worth (section 2.3, eq. 2).

The paper compares G = 8 answers to one claim. What each earns is a score: :func:`score_by` (Algorithm 1, or the binary
baseline that collapses), or a judge of your own, which may fail. Beside the reward the game watches what the reward
does not promise: whether the label is right, how often the verifier says Not Attributable and how often it should, and
how many answers can be read. Departure: a failed judge takes its rollout out; in the paper there is none, the reward
being a formula. Left out: several verifiers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from vouching.errors import ConfigError, InputError
from vouching.methods.base import Measures, Play, Row, Sampler, build_group, gathered_measures, outcome_of
from vouching.methods.structured.reward import label_of, read_record, reward_of_reply
from vouching.methods.structured.reward_weights import PAPER, Equal, Rules, StructuredWeights, equal_by_label
from vouching.models.base import Message
from vouching.models.running import all_of
from vouching.types import Label, Reward, Unverified

Score: TypeAlias = Callable[[str, Row], Awaitable[Reward | Unverified]]
"""What a reply earns on a row. An endpoint that fails may raise BackendError."""
Normalise: TypeAlias = Literal["none", Equal]
"""What of the diagnosis is made equal under both gold labels, if anything."""
Watch: TypeAlias = Callable[[str, Row], Measures]
"""What is watched of a reply and not trained on."""
ROLE = "verifier"
"""The one who speaks."""


def score_by(rules: Rules = "paper", weights: StructuredWeights = PAPER) -> Score:
    """SEVA's process reward (Algorithm 1) by these rules, or the binary one (section 2.3).

    The row has what :func:`~vouching.methods.structured.reward.reward_of_reply` reads.

    >>> import asyncio
    >>> asyncio.run(score_by()('{"label": "yes"}', {"gold": "Attributable"})).total
    0.395
    """

    async def score(reply: str, row: Row) -> Reward:
        return reward_of_reply(reply, row, rules, weights)

    return score


def against_gold(reply: str, row: Row) -> Measures:
    """Measures of a reply beside the gold label.

    Returns:
        ``oracle/right``: whether the label is gold; a reply that cannot be read is wrong. ``readable``: whether it is a
        record with a label. ``not_attributable/gold``, and for a readable reply ``not_attributable/said``.

    >>> against_gold('{"label": "no"}', {"gold": "Attributable"})
    {'oracle/right': 0.0, 'readable': 1.0, 'not_attributable/gold': 0.0, 'not_attributable/said': 1.0}
    """
    record = read_record(reply)
    said = None if record is None else label_of(record)
    found = {"oracle/right": said == row["gold"], "readable": said is not None}
    found["not_attributable/gold"] = row["gold"] == "Not Attributable"
    if said is not None:
        found["not_attributable/said"] = said == "Not Attributable"
    return {name: float(value) for name, value in found.items()}


@dataclass(frozen=True, slots=True)
class StructuredGame:
    """One verifier that answers each row ``samples`` times.

    A row has ``prompt``, chat messages as mappings with role and content (``vouch data annotate --prompts`` writes
    them), ``gold``, and what the score reads; ``id`` names its group.

    Raises:
        ConfigError: fewer than two samples, which nothing can be compared with, or an unknown ``normalise``.

    >>> import asyncio
    >>> from vouching.methods.base import ScriptedSampler
    >>> says = ScriptedSampler(lambda prompt, role, number: '{"label": "%s"}' % ("no", "yes")[number])
    >>> row = {"id": "r1", "prompt": [{"role": "user", "content": "Is it so?"}], "gold": "Attributable"}
    >>> play = asyncio.run(StructuredGame(samples=2).play(says, [row]))
    >>> [rollout.reward.total for rollout in play.groups[0].rollouts], play.measures["oracle/right"]
    ([0.12, 0.395], (0.0, 1.0))
    """

    samples: int = 8
    """G: answers to one row."""
    score: Score = field(default_factory=score_by)
    """What an answer earns."""
    watch: Watch = against_gold
    """What else is recorded of it."""
    top: float | None = None
    """The highest that an answer can earn, so that a game that is learnt is told from one that is stuck; None if that
    is not known."""
    normalise: Normalise = "none"
    """Whether the diagnosis of all answers of a step is put on one scale under both gold labels before they are
    compared: :func:`~vouching.methods.structured.reward_weights.equal_by_label`, with the paper's weights. By what one
    process plays in the step alone; nothing is remembered from step to step."""

    def __post_init__(self) -> None:
        if self.normalise not in get_args(Normalise):
            raise ConfigError(f"normalise is {self.normalise!r}, wanted one of {', '.join(get_args(Normalise))}")
        if self.samples < 2:
            raise ConfigError(f"samples must be at least 2, got {self.samples}: one answer has nothing to compare with")

    def opening(self, row: Row) -> tuple[Message, ...]:
        """The prompt of a row.

        Raises:
            InputError: it has no prompt, or one that is not chat messages.
        """
        messages = row.get("prompt")
        try:
            return tuple(Message(one["role"], one["content"]) for one in cast("Sequence[Mapping[str, Any]]", messages))
        except (TypeError, KeyError):
            raise InputError(
                f"row {row.get('id', '?')!r} has the prompt {messages!r:.80}, wanted chat messages with role and "
                "content:  vouch data annotate --prompts  writes them"
            ) from None

    async def play(self, sampler: Sampler, rows: Sequence[Row]) -> Play:
        """Answer every row, score every answer."""
        answers = await sampler.sample([self.opening(row) for row in rows], ROLE, self.samples)
        replies = [(reply, row) for row, said in zip(rows, answers, strict=True) for reply in said]
        outcomes = await all_of(
            outcome_of(self.score(reply.text, row), str(row.get("claim", ""))) for reply, row in replies
        )
        if self.normalise != "none":
            outcomes = _equalised(outcomes, [row["gold"] for _, row in replies], self.normalise)
        built = [
            build_group(f"{place}:{row.get('id', '')}", said, outcomes[at : at + len(said)], self.samples)
            for place, (row, said) in enumerate(zip(rows, answers, strict=True))
            for at in [place * self.samples]
        ]
        return Play(
            groups=tuple(group for group, _ in built if group is not None),
            failures=tuple(failure for _, failed in built for failure in failed),
            dropped=sum(group is None for group, _ in built),
            measures=gathered_measures(self.watch(reply.text, row) for reply, row in replies),
        )


def _equalised(outcomes: Sequence[Reward | Unverified], golds: Sequence[Label], by: Equal) -> list[Reward | Unverified]:
    """The outcomes with their rewards on one scale; a failed judge's stays what it is and does not count."""
    scored: list[tuple[Reward, Label]] = [
        (one, gold) for one, gold in zip(outcomes, golds, strict=True) if isinstance(one, Reward)
    ]
    made = iter(equal_by_label([reward for reward, _ in scored], [gold for _, gold in scored], by))
    return [next(made) if isinstance(one, Reward) else one for one in outcomes]
