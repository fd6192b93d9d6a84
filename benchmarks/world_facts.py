"""SEVA's ablations in the world of facts: arms, the imperfect start, and what the oracle says of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.world_runs import Outcomes, World, sampled, write_lines
from recipes.worlds.facts import PIECES, FactsWorld, chats, oracle
from vouching.methods.structured.reward import alignment_quality

WORLD = FactsWorld(facts=2)
WRONG, BROKEN = 0.25, 0.3
"""What the initial level is taught: shares of wrong labels and of broken records."""
ARMS: Mapping[str, tuple[str, ...]] = {
    "process": (),
    "binary": ("reward.variant=binary",),
    "binary-format": ("reward.variant=binary-format",),
    "grounded": ("reward.variant=grounded",),
    "normalised": ("reward.normalise=range",),
    "no-calibration": ("reward.calibration=off",),
    "symmetric": ("reward.calibration=symmetric",),
    "brier": ("reward.calibration=brier",),
    **{f"split-{one.replace('/', '-')}": (f"reward.split={one}",) for one in ("90/10", "50/50", "30/70", "0/100")},
    "binary-g4": ("reward.variant=binary", "sampling.group_size=4", "batch_prompts=16"),
    "binary-g16": ("reward.variant=binary", "sampling.group_size=16", "batch_prompts=4"),
    "kl-0": ("kl=0",),
    "kl-0.01": ("kl=0.01",),
}
"""Settings of each arm over recipes/worlds/facts.toml; all have 64 rollouts per step, so groups of 4 see 16 claims
and groups of 16 see 4."""
TOKENS = 80
"""Of a record, at most, as in training; the longest right one has 68."""


def write_rows(folder: Path, count: int) -> list[str]:
    """Rows of the arms and chats of the start; returns the texts that a tokenizer is trained on."""
    rows, others = WORLD.rows(count, seed=0), WORLD.rows(count // 2, seed=3)
    write_lines(folder / "right.jsonl", chats(rows, 0, wrong=0.0, broken=0.0))
    write_lines(folder / "imperfect.jsonl", chats(others, 0, WRONG, BROKEN))
    write_lines(folder / "train.jsonl", WORLD.rows(count, seed=1))
    return [line["messages"][0]["content"] + line["messages"][1]["content"] for line in chats(rows, 0, 0.5, 0.0)]


def judge(model: Path, count: int, seed: int) -> Outcomes:
    """What the oracle says of one record for each of ``count`` held-out prompts, and SEVA's R_a of it."""
    rows: Sequence[Mapping[str, Any]] = WORLD.rows(count, seed=2, part="held-out")
    replies = sampled(model, [row["prompt"] for row in rows], TOKENS, seed)
    return {
        row["id"]: {**oracle(reply, row), "reward/alignment": alignment_quality(_entries(reply))}
        for row, reply in zip(rows, replies, strict=True)
    }


def _entries(reply: str) -> object:
    """The alignment of a reply; None if it is not a record."""
    try:
        return json.loads(reply)["evidence_alignment"]
    except (ValueError, KeyError, TypeError):
        return None


FACTS = World(
    name="facts",
    method="structured",
    arms=ARMS,
    write_rows=write_rows,
    judge=judge,
    policy={"context": 256, "vocabulary": 640, "width": 128, "layers": 3, "pieces": PIECES},
)
