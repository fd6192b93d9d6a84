"""The settings of a run of SEVA's game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from vouching.errors import InputError
from vouching.methods.read import messages_of, read_files
from vouching.methods.structured.game import StructuredGame, score_by
from vouching.methods.structured.reward_settings import RewardSettings
from vouching.methods.training import GrpoConfig, Plan
from vouching.rows.read import with_unique_ids
from vouching.types.spans import Label
from vouching.types.visible import shown_json


@dataclass(frozen=True, slots=True)
class StructuredRunConfig(GrpoConfig):
    """What is trained, on what, and how; ``rows`` are written by ``vouch data annotate --prompts``."""

    reward: RewardSettings = field(default_factory=RewardSettings)
    """SEVA's process reward, or an arm of its ablations."""

    def plan(self) -> Plan:
        """SEVA's game (section 2.3): G records on each claim, each rewarded part by part."""
        reward = self.reward
        game = StructuredGame(self.sampling.group_size, score_by(reward), top=reward.top, scale=reward.scale())
        return Plan(game, read_prompts(self.rows), read_prompts(self.dev), best_by="oracle/right")


def read_prompts(paths: Sequence[str]) -> list[dict[str, Any]]:
    """Rows with a prompt and a gold label, in order. Raises InputError for an unusable row or a repeated id."""
    return with_unique_ids(read_files(paths, prompt_row, "prompt and gold"))


def prompt_row(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A row with a prompt and a gold label, for the structured game."""
    messages = messages_of(fields, "prompt")
    if fields.get("gold") not in get_args(Label):
        raise InputError(f'"gold" must be Attributable or Not Attributable, got {shown_json(fields.get("gold"))}')
    return {**fields, "id": name, "prompt": [*messages]}
