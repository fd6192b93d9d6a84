"""Self-evolution with a language model in the world of facts: probes by weakness, at random and mixed, at equal budget.

The start has never seen a wrong owner or a wrong year, and so is weak on them. An arm is ``vouch evolve run``: three
rounds of supervised training on probes and replayed rows, each round with twice the probes of the one before. Rows form
two sets by their wording; one arm has probes from both, the others from one, as in the paper. The oracle judges claims
of both sets, whose errors are the world's own, not made by the strategies of the probes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.world_runs import RECIPES, Outcomes, World
from recipes.worlds.documents import TEMPLATE
from recipes.worlds.facts import PIECES, FactsWorld
from vouching.errors import InputError
from vouching.evolve.config import EvolveConfig, probes_of
from vouching.evolve.loop import STUDENT, Round, evolve_by, folder_of, rounds_of
from vouching.evolve.probe import typed_rows
from vouching.evolve.records import Judged, Probe, Row, write_records
from vouching.evolve.rows import disjoint_rows, row_of
from vouching.evolve.structured import StructuredSettings, StructuredStudent, StudentState, open_student
from vouching.evolve.structured_examples import write_examples
from vouching.methods.structured.prompt import structured_prompt
from vouching.settings import read_settings
from vouching.types.spans import ERROR_TYPES

WORLD = FactsWorld(facts=2)
WEAK = ("owner", "year")
"""Kinds of facts whose errors the start is not shown."""
ROUNDS = 3
DEV = 12
"""Rows of each error type that guide the rounds."""
ROWS = 3
"""True rows that probes are made from, for each row of the start: enough for three rounds of any weights."""
UNEVEN = 0.02
"""Share of B_k by which the probes of a round may differ from those of another arm."""
TOKENS = 256
"""Of a record, at most."""
ARMS: Mapping[str, tuple[str, ...]] = {
    "weakness": ("source=weakness", 'sets=["early"]'),
    "random": ("source=random", 'sets=["early"]'),
    "mixed": ("source=mixed",),
}
"""Settings of each arm over recipes/worlds/probes.toml; all have as many probes and replayed rows."""
RECORDS = (
    "<source 1>>>",
    "<end of source 1>>>",
    "<claim>>>",
    "<end of claim>>>",
    '"}, {"claim_span": "',
    '"}, {"claim_part": "',
    '"}], "reasoning_chain": [{"claim_part": "',
    ', "revised_claim": ',
    "null",
    '"NOT_FOUND"',
    'The source says \\"',
    'Nothing in the source corresponds to \\"',
    "not_supported",
    "supported",
    "mismatch",
    "not_found",
    "match",
    "Not Attributable",
    "Attributable",
    *PIECES[3:],
)
"""Fixed parts of prompts and records, one token each in a small policy's tokenizer."""


def config_of(folder: Path, settings: Sequence[str]) -> EvolveConfig:
    """The settings of an arm; ``max_steps`` is B_1, the probes of the first round, and B_k doubles."""
    given = dict(setting.split("=", 1) for setting in settings)
    budget = int(given.pop("max_steps"))
    given |= {
        "train": f'["{folder}/train.jsonl"]',
        "dev": f'["{folder}/dev.jsonl"]',
        "structured.model": given.pop("model"),
        "structured.full": f"{RECIPES}/probes-round.toml",
        "replay": f"{budget}",
        "probes_by_round": f"{[budget * 2**number for number in range(ROUNDS)]}",
    }
    return read_settings(EvolveConfig, RECIPES / "probes.toml", [f"{name}={value}" for name, value in given.items()])


def run_arm(arm: str, folder: Path, settings: Sequence[str], out: Path) -> Path:
    """Run an evolution. Raises InputError if a round had too few probes to compare arms."""
    config = config_of(folder, settings)

    def report(line: str) -> None:
        sys.stderr.write(f"{arm}: {line}\n")

    evolve_by(config, out, out.is_dir(), report)
    refuse_uneven(config, rounds_of(out))
    return folder_of(out, ROUNDS) / STUDENT


def expected_probes(config: EvolveConfig, number: int) -> int:
    """The probes of a round: its budget without the sixth of the errors that are of scope, which no strategy makes."""
    return round(probes_of(config, number) * (1 - (1 - config.safe_share) / len(ERROR_TYPES)))


def refuse_uneven(config: EvolveConfig, rounds: Sequence[Round]) -> None:
    """Raise InputError if the probes of a round are not as many as those of the other arms."""
    for one in rounds[1:]:
        expected = expected_probes(config, one.number)
        if abs(one.probes - expected) > UNEVEN * probes_of(config, one.number):
            raise InputError(
                f"round {one.number} was trained on {one.probes} probes, but arms are compared at {expected}: start "
                "the world with more rows (--rows), or run fewer --steps"
            )


def write_rows(folder: Path, count: int) -> list[str]:
    """Rows of the arms and chats of the start; returns the texts that a tokenizer is trained on.

    All chats are right: the start is imperfect by what it has not seen. Probes are made from true claims. The rows that
    guide the rounds have an error of each type that the strategies can make, and as many true claims; they share no
    claim and no source with those that probes are made from.
    """
    seen = [row for row in WORLD.rows(count, seed=0) if row["kind"] not in WEAK or row["gold"] == "Attributable"]
    folder.mkdir(parents=True, exist_ok=True)
    first = len(seen) * 3 // 4
    for name, rows in (("right", seen[:first]), ("imperfect", seen[first:])):
        made = [probe for row in rows if (probe := _probe(row)) is not None]
        rest = [row_as(row) for row in rows if not row["original"]]
        write_examples(folder / f"{name}.jsonl", structured_prompt(), made, rest)
    true = [row_as(row) for row in FactsWorld(facts=2, wrong=0.0).rows(max(200, ROWS * count), seed=1)]
    guide = max(66, count // 6)
    held = typed_rows(true[:guide], DEV)
    dev = [*held, *true[: len(held)]]
    write_records(folder / "dev.jsonl", dev)
    write_records(folder / "train.jsonl", disjoint_rows(true[guide:], dev))
    lines = (folder / "right.jsonl").read_text(encoding="utf-8").splitlines()
    return [turn["content"] for line in lines for turn in json.loads(line)["messages"] if turn["role"] != "system"]


def judge(model: Path, count: int, seed: int) -> Outcomes:
    """What the oracle says of a student's answer to each of ``count`` held-out claims.

    ``oracle/right``: whether the label is right; ``oracle/weak`` and ``oracle/strong``: the same, of errors that the
    start was not shown and of all other claims; ``oracle/late``: the same, of claims of the set that has no probes in
    two arms; ``oracle/type``, of wrong claims: whether the error type is right. An answer that cannot be read is wrong.
    The answers are greedy, so that ``seed`` does not matter for the start.
    """
    rows = WORLD.rows(count, seed=2, part="held-out")
    judged = _student(model).verify([row_as(row) for row in rows])
    return {row["id"]: outcome_of(row, one) for row, one in zip(rows, judged, strict=True)}


def outcome_of(row: Mapping[str, Any], one: Judged) -> dict[str, float]:
    """What is right in an answer, see :func:`judge`."""
    right, wrong = float(one.label == row["gold"]), row["gold"] == "Not Attributable"
    weak = wrong and row["kind"] in WEAK
    found = {
        "oracle/right": right,
        "oracle/readable": float(one.label is not None),
        f"oracle/{'weak' if weak else 'strong'}": right,
    }
    if wording_of(row["claim"]) == "late":
        found["oracle/late"] = right
    if wrong:
        found["oracle/type"] = float(right and one.error_type == row["error_type"])
    return found


def _student(model: Path) -> StructuredStudent:
    """The student of a round, or the start as one."""
    if model.name == STUDENT:
        return open_student(model)
    return StructuredStudent(model, StudentState(f"{model}", StructuredSettings(f"{model}", max_tokens=TOKENS)))


def row_as(row: Mapping[str, Any]) -> Row:
    """A row of the world as one of an evolution; its set is the wording of its claim."""
    return row_of({**row, "set": wording_of(row["claim"]), "group": row["id"]}, row["id"])


def wording_of(claim: str) -> str:
    """Whether a claim has its place among the first two words: every kind of fact is claimed in one way of each.

    >>> [wording_of(claim) for claim in ("Orham counts 3 ships.", "In Orham stands a mill.", "The owner of Orham is X")]
    ['early', 'early', 'late']
    """
    return "late" if claim.startswith("The") else "early"


def _probe(row: Mapping[str, Any]) -> Probe | None:
    """A wrong claim with its original, as the examples of a round are made from; None if it has no original."""
    if not row["original"]:
        return None
    one = row_as(row)
    return Probe(
        one.id,
        one.claim,
        one.source,
        one.label,
        one.error_type,
        "world",
        row["original"],
        one.spans,
        one.id,
        one.id,
        one.data_set,
    )


PROBES = World(
    name="probes",
    method="evolve",
    arms=ARMS,
    write_rows=write_rows,
    judge=judge,
    run=run_arm,
    policy={"context": 512, "vocabulary": 640, "width": 128, "layers": 3, "pieces": RECORDS},
    template=TEMPLATE,
)
