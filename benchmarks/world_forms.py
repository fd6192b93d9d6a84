"""DPA-GRPO in the world of forms: arms, the imperfect start, and what the oracle says of two policies."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.world_runs import Outcomes, World, write_lines
from vouching.methods.assurance.game import AssuranceGame, Decision, measures_of
from vouching.models.base import Completion, Message, Sampling
from vouching.models.local import LocalModel
from vouching.types import Rollout, Value
from vouching.worlds.documents import TEMPLATE
from vouching.worlds.forms import FormsWorld, chats, oracle, pieces, right_values

WORLD = FormsWorld()
DRAFTS, REVIEWS, CHOICES = 0.35, 0.25, 0.35
"""How often the initial policy is taught a wrong draft, review and choice."""
NOISE = 0.1
"""Share of wrong values in the gold of the arm with a noisy oracle."""
ALONE = ("game.alone=true", "sampling.group_size=8")
ARMS: Mapping[str, tuple[str, ...]] = {
    "paired": (),
    "grpo": (*ALONE, "loss=grpo"),
    "dapo": (*ALONE, "loss=dapo", "clip=[0.2, 0.28]", "sampling.resample=4"),
    "gspo": (*ALONE, "loss=gspo"),
    "pairs-only": ("game.proposals=false",),
    "costs": ("game.intervention_cost=0.1", "game.revision_cost=0.1"),
    "margin": ("game.margin=3",),
    "samples-2": ("sampling.group_size=2",),
    "samples-8": ("sampling.group_size=8",),
    "noisy-oracle": ('rows=["{folder}/train-noisy.jsonl"]',),
}
"""Settings of each arm over recipes/worlds/forms.toml; all have 4 forms per step."""
TOKENS = 24
"""Of a reply, at most."""


def write_rows(folder: Path, count: int) -> list[str]:
    """Rows of the arms and chats of the start; returns the texts that a tokenizer is trained on."""
    rows, others = WORLD.rows(count, seed=0), WORLD.rows(count // 4, seed=3)
    right = [*chats(rows, 0)]
    write_lines(folder / "right.jsonl", right)
    write_lines(folder / "imperfect.jsonl", chats(others, 0, DRAFTS, REVIEWS, CHOICES))
    train, draw = WORLD.rows(count, seed=1), random.Random(1)
    write_lines(folder / "train.jsonl", train)
    write_lines(folder / "train-noisy.jsonl", [{**row, "gold": _with_errors(row["gold"], draw)} for row in train])
    return [turn["content"] for line in right for turn in line["messages"] if turn["role"] != "system"]


def judge(model: Path, count: int, seed: int) -> Outcomes:
    """The oracle on held-out forms that the model plays: on drafts, on what is submitted, and on the reviews.

    A model without an adapter for the verifier submits its drafts. ``oracle/repaired``: share of lines that were
    drafted wrong and submitted right; ``oracle/harmed``: the reverse; ``oracle/challenge``: share of reviews that are
    right about the draft; ``case/...``: shares of the paper's cases.
    """
    return asyncio.run(_judge(model, count, seed))


async def _judge(model: Path, count: int, seed: int) -> Outcomes:
    rows = WORLD.rows(count, seed=2, part="held-out")
    adapted = (model / "adapter_config.json").is_file()
    generator = LocalModel(model.parents[1] / "imperfect/model" if adapted else model, device="cpu",
                           adapter=model if adapted else None)  # fmt: skip
    alone = adapted and not (model / "verifier").is_dir()
    verifier = generator.with_adapter(model / "verifier") if adapted and not alone else generator
    try:
        game = AssuranceGame(2, 3, revision_temperature=1.0, oracle=False, alone=alone, turns=WORLD.most)
        decided = await game.decide(_Players(generator, verifier, seed), rows)
    finally:
        await generator.aclose()
    by_row: dict[str, list[Decision]] = defaultdict(list)
    for one in decided:
        by_row[one.key.split(":")[1]].append(one)
    return {row["id"]: _outcome(row, by_row[row["id"]]) for row in rows}


def _outcome(row: Mapping[str, Any], decided: Sequence[Decision]) -> dict[str, float]:
    right = right_values(row)
    drafts: dict[str, Value] = {
        one.state.unit.id: one.step.proposal for one in decided if one.step.proposal is not None
    }
    submitted: dict[str, Value] = {
        one.state.unit.id: one.step.submitted for one in decided if one.step.submitted is not None
    }
    pairs = [(drafts.get(line) == value, submitted.get(line) == value) for line, value in right.items()]
    seen = [measures_of(one) for one in decided]
    names = {name for one in seen for name in one if name.startswith("case/") or name == "oracle/challenge"}
    return {
        **oracle(submitted, row), "oracle/drafts": oracle(drafts, row)["oracle/lines"],
        "oracle/repaired": sum(not x and o for x, o in pairs) / len(pairs),
        "oracle/harmed": sum(x and not o for x, o in pairs) / len(pairs),
        **{name: sum(one.get(name, 0.0) for one in seen) / len(seen) for name in sorted(names)},
    }  # fmt: skip


class _Players:
    """Two models as the sampler of a game."""

    def __init__(self, generator: LocalModel, verifier: LocalModel, seed: int) -> None:
        self._models = {"default": generator, "verifier": verifier}
        self._seed = 100_000 * seed

    async def sample(
        self, prompts: Sequence[Sequence[Message]], role: str, n: int, policy: str = "default",
        temperature: float | None = None,
    ) -> list[list[Rollout]]:  # fmt: skip
        """``n`` completions of each prompt."""
        asked: list[Coroutine[Any, Any, list[Completion]]] = []
        for prompt in prompts:
            self._seed += n
            sampling = Sampling(max_tokens=TOKENS, temperature=temperature or 1.0, n=n, seed=self._seed)
            asked.append(self._models[policy].generate(prompt, sampling))
        return [
            [Rollout(role, (), (), (), None, said.finish_reason, text=said.text) for said in replies]
            for replies in await asyncio.gather(*asked)
        ]

    async def teacher_forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = "default") -> Rollout:
        """Not needed: nothing is trained on."""
        raise NotImplementedError


def _with_errors(gold: Mapping[str, int], draw: random.Random) -> dict[str, int]:
    return {
        line: draw.choice([one for one in range(10) if one != value]) if draw.random() < NOISE else value
        for line, value in gold.items()
    }


FORMS = World(
    name="forms", method="assurance", arms=ARMS, write_rows=write_rows, judge=judge,
    policy={"context": 640, "vocabulary": 512, "width": 96, "layers": 3, "pieces": pieces(WORLD.rows(1, 0)[0])},
    template=TEMPLATE,
    epochs=4.0,
)  # fmt: skip
