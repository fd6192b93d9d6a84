"""The settings of a run of SEVA's game.

Not supported: weights of the parts of the reward; ``vouch reward`` has them, training uses the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from vouching.errors import ConfigError, InputError
from vouching.methods.read import messages_of, read_files
from vouching.methods.structured.game import StructuredGame, score_by
from vouching.methods.structured.reward_weights import Variant, reward_bounds
from vouching.methods.training import GrpoConfig, Plan
from vouching.rows.read import with_unique_ids
from vouching.types.spans import Label
from vouching.types.visible import shown_json


@dataclass(frozen=True, slots=True)
class StructuredRunConfig(GrpoConfig):
    """What is trained, on what, and how; ``rows`` are written by ``vouch data annotate --prompts``."""

    reward: Literal["process", "binary"] = "process"
    """SEVA's process reward, or 1 for the right label and 0 for the wrong one."""
    variant: Variant = "paper"
    """Rules of the process reward."""
    normalise: Literal["none", "range", "mean"] = "none"
    """Normalises the diagnosis of the process reward across gold labels, over the answers of a step."""

    def __post_init__(self) -> None:
        GrpoConfig.__post_init__(self)
        if self.reward == "binary" and self.normalise != "none":
            raise ConfigError(
                f"normalise={self.normalise} cannot be used with the binary reward, which has no diagnosis"
            )

    def plan(self) -> Plan:
        """SEVA's game (section 2.3): G records on each claim, each rewarded part by part."""
        process = self.reward == "process"
        score, top = (score_by(self.variant), reward_bounds()[1]) if process else (score_by("binary"), 1.0)
        top = None if self.normalise == "mean" else top  # the factor may raise the diagnosis above 1
        game = StructuredGame(self.sampling.group_size, score, top=top, normalise=self.normalise)
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
