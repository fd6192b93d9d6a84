"""MARCH in the world of documents: arms, the imperfect start, and what the oracle says of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.world_runs import Outcomes, World, sampled, write_lines
from recipes.worlds.documents import LOOKUPS, PIECES, TEMPLATE, DocumentsWorld, chats, lookups, oracle, recitals
from vouching.answering.prompt import answer_messages
from vouching.types import Source

WORLD = DocumentsWorld()
WRONG = 0.35
"""How often the initial solver is taught a wrong number."""
MISREAD = 0.2
"""How often the initial checker is taught one, so that it has something to learn."""
SHARES = (0.24, 0.88)
"""Shares of irrelevant documents that the paper trains on, beside the .5 of the other arms."""
ARMS: Mapping[str, tuple[str, ...]] = {
    "full": (),
    "solver-only": ("game.checker_learns=false",),
    "scale-01": ("game.scale=0/1",),
    "error-rate": ("game.scale=error-rate",),
    "no-question-guard": ("game.min_questions=0",),
    "silence-allowed": ("game.min_numbers=0",),
    "on-topic": ("game.on_topic=true",),
    **{f"irrelevant-{round(100 * one)}": (f'rows=["{{folder}}/train-{one:g}.jsonl"]',) for one in SHARES},
}
"""Settings of each arm over recipes/worlds/documents.toml; all have 32 responses per step."""
STAGES = {"few": 2.0, "many": 1.0}
"""Stages of look-ups of the start, and their epochs."""
TOKENS = 40
"""Of a reply, at most; the longest right one has about 36."""


def write_rows(folder: Path, count: int) -> list[str]:
    """Rows of the arms and chats of the start; returns the texts that a tokenizer is trained on."""
    rows, others = WORLD.rows(count, seed=0), WORLD.rows(count // 4, seed=3)
    right = [*chats(rows, 0, wrong=0.0), *recitals(DocumentsWorld(0.88).rows(count // 2, seed=5), 5)]
    write_lines(folder / "right.jsonl", right)
    write_lookups(folder, count, STAGES)
    write_lines(folder / "imperfect.jsonl", chats(others, 0, WRONG, MISREAD))
    write_lines(folder / "train.jsonl", WORLD.rows(count, seed=1))
    for share in SHARES:
        write_lines(folder / f"train-{share:g}.jsonl", DocumentsWorld(share).rows(count, seed=1))
    return [turn["content"] for line in right for turn in line["messages"] if turn["role"] != "system"]


def write_lookups(folder: Path, count: int, stages: Iterable[str] = LOOKUPS) -> None:
    """The chats of stages that teach look-ups, ``count`` for each number of documents."""
    for name in stages:
        made = [line for one in LOOKUPS[name] for line in lookups(one, count, seed=one)]
        write_lines(folder / f"{name}.jsonl", made)


def judge(model: Path, count: int, seed: int) -> Outcomes:
    """What the oracle says of one response to each of ``count`` held-out questions.

    ``oracle/right-many``: the same question number with seven to eight documents, most of them beside the point.
    """
    found = _judged(model, WORLD.rows(count, seed=2, part="held-out"), seed)
    many = _judged(model, DocumentsWorld(max(SHARES)).rows(count, seed=2, part="held-out"), seed)
    return {name: {**one, "oracle/right-many": many[name]["oracle/right"]} for name, one in found.items()}


def _judged(model: Path, rows: Sequence[Mapping[str, Any]], seed: int) -> dict[str, dict[str, float]]:
    asked = [
        answer_messages(row["question"], [Source(text, f"source-{n}") for n, text in enumerate(row["sources"], 1)])
        for row in rows
    ]
    replies = sampled(model, [[one.json for one in messages] for messages in asked], TOKENS, seed)
    return {row["id"]: oracle(reply, row) for row, reply in zip(rows, replies, strict=True)}


DOCUMENTS = World(
    name="documents",
    method="blinded",
    arms=ARMS,
    write_rows=write_rows,
    judge=judge,
    policy={"context": 448, "vocabulary": 128, "closed": True, "width": 96, "layers": 3, "pieces": PIECES},
    template=TEMPLATE,
    mimetic=True,
    rows=9000,
    epochs={**STAGES, "right": 3.0},
)
