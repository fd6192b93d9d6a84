"""Soft-RLVR and Soft-SVeRL in the world of instructions: arms, the imperfect start, and what the oracle says."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from benchmarks.world_judge import PORT, noisy_judge
from benchmarks.world_runs import Outcomes, World, sampled, write_lines
from recipes.worlds.instructions import (
    PIECES,
    TEMPLATE,
    InstructionsWorld,
    as_read,
    chats,
    constraints_of,
    followed,
    judging,
    labelled,
    oracle,
    readings,
    ruled,
)

WORLD = InstructionsWorld()
SLIPS, MISSED, PASSED = 0.25, 0.127, 0.283
"""What the initial level is taught: slips of responses, and judgments with the p' = .873 and q' = .717 of the paper."""
GOLD = 400
"""Labelled items; the paper's number is not published."""
JUDGE = f"http://127.0.0.1:{PORT}/v1#"
OUTSIDE = ("checklist.gold=[]", "checklist.lambda_v=0", "checklist.lambda_p=0", "checklist.votes=1")
LABELLED = ('checklist.gold=["{folder}/gold.jsonl"]',)
NAIVE = ("checklist.gold=[]", "checklist.lambda_v=0", "checklist.lambda_p=0")
RULED = ('rows=["{folder}/train-ruled.jsonl"]',)
"""Rows in which a rule decides every second item, so that half of the reward is exact."""
ARMS: Mapping[str, tuple[str, ...]] = {
    "rules": (f"checklist.judge={JUDGE}items-1-1", *OUTSIDE),
    "outside": (f"checklist.judge={JUDGE}items-0.873-0.717", *OUTSIDE),
    "holistic": (
        f"checklist.judge={JUDGE}whole-0.477-0.662",
        "checklist.holistic=true",
        "checklist.wording=ours",
        *OUTSIDE,
    ),
    "naive": NAIVE,
    "full": LABELLED,
    "no-partition": (*LABELLED, "checklist.lambda_p=0"),
    "gold-only": (*LABELLED, "checklist.replay=0"),
    "gold-only-0.5": (*LABELLED, "checklist.replay=0", "checklist.lambda_p=0.5"),
    "votes-1": (*LABELLED, "checklist.votes=1"),
    "votes-8": (*LABELLED, "checklist.votes=8"),
    "naive-ruled": (*RULED, *NAIVE),
    "gold-ruled": (*RULED, *LABELLED),
    "anchor-ruled": (*RULED, "checklist.gold=[]", "checklist.anchor=rules"),
}
"""Settings of each arm over recipes/worlds/instructions.toml; all have 32 responses per step."""
TOKENS = 12
"""Of a response, at most, as in training."""


def write_rows(folder: Path, count: int) -> list[str]:
    """Rows of the arms, chats of the start and gold items; returns the texts that a tokenizer is trained on."""
    rows, others = WORLD.rows(count, seed=0), WORLD.rows(count // 2, seed=3)
    read = [*readings(WORLD.rows(count, seed=5), 5)]
    repeated, words, lists = (read[at::3] for at in range(3))
    judged = [line for seed in range(6, 12) for line in [*chats(rows, seed, slips=0.0)][1::2]]
    right = [*chats(rows, 0, slips=0.0), *judged, *lists[::2]]
    write_lines(folder / "readings.jsonl", [*repeated, *words])
    write_lines(folder / "checklists.jsonl", [*repeated[::3], *words[::3], *lists])
    write_lines(folder / "right.jsonl", right)
    write_lines(folder / "imperfect.jsonl", chats(others, 0, SLIPS, MISSED, PASSED))
    train = WORLD.rows(count, seed=1)
    write_lines(folder / "train.jsonl", train)
    write_lines(folder / "train-ruled.jsonl", map(ruled, train))
    write_lines(folder / "gold.jsonl", labelled(WORLD.rows(GOLD, seed=4), seed=4))
    return [turn["content"] for line in (*read, *right) for turn in line["messages"]]


def judge(model: Path, count: int, seed: int) -> Outcomes:
    """The oracle on one response to each held-out prompt, and on the model's judgments.

    ``oracle/judged``: whether its judgment of a made response to the prompt is right; ``oracle/lenient``, of items that
    do not hold only: whether it says yes; ``oracle/overrates``: yes to an item of its own response (1 or 0), less
    whether that holds.
    """
    rows = WORLD.rows(count, seed=2, part="held-out")
    responses = sampled(model, [row["prompt"] for row in rows], TOKENS, seed)
    made, draw = labelled(rows, seed=5), random.Random(seed)
    own = [
        {"x": row["prompt"][0]["content"], "y": response, "c": draw.choice(row["checklist"])}
        for row, response in zip(rows, responses, strict=True)
    ]
    asked = [[one.json for one in judging(item)] for item in (*made, *own)]
    said = [reply.strip() == "yes" for reply in sampled(model, asked, 4, seed + 100)]
    found: dict[str, dict[str, float]] = {}
    for number, (row, response) in enumerate(zip(rows, responses, strict=True)):
        holds, itself = bool(made[number]["l"]), own[number]
        found[row["id"]] = {
            **oracle(response, row),
            "oracle/judged": float(said[number] == holds),
            "oracle/overrates": said[count + number] - float(followed(constraints_of(itself["c"])[0], itself["y"])),
            **({} if holds else {"oracle/lenient": float(said[number])}),
        }
    return found


INSTRUCTIONS = World(
    name="instructions",
    method="checklist",
    arms=ARMS,
    write_rows=write_rows,
    judge=judge,
    during=noisy_judge,
    policy={"context": 160, "vocabulary": 128, "closed": True, "width": 96, "layers": 3, "pieces": PIECES},
    template=TEMPLATE,
    as_read=as_read,
    rows=6000,
    epochs={"readings": 1.5, "checklists": 1.5, "right": 1.5},
)
