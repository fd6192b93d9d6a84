"""DPA-GRPO in the world of forms: arms, the imperfect start, and what the oracle says of two policies."""

from __future__ import annotations

import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.world_runs import Outcomes, World, write_lines
from recipes.worlds.forms import TEMPLATE, FormsWorld, as_read, chats, draft_text, fills, oracle, pieces, right_values
from vouching.methods.assurance.evidence import UnitState
from vouching.methods.assurance.game import AssuranceGame, Decision, measures_of
from vouching.methods.assurance.model import Role, unit_messages
from vouching.methods.assurance.reply import teacher_forced_text
from vouching.methods.base import Row, Sampler
from vouching.models.base import Completion, Message, Sampling
from vouching.models.local import LocalModel
from vouching.types import Proposal, Rollout, SafetyCase, Value

WORLD = FormsWorld()
DRAFTS, REVIEWS, CHOICES = 0.35, 0.25, 0.35
"""How often the initial policy is taught a wrong draft, review and choice."""
NOISE = 0.1
"""Share of wrong values in the gold of the arm with a noisy oracle."""
ALONE = ("game.alone=true", "sampling.group_size=8")
ARMS: Mapping[str, tuple[str, ...]] = {
    "paired": (),
    "grpo": (*ALONE, "loss=grpo"),
    "grpo-2": (*ALONE, "loss=grpo", "updates=2"),
    "dapo": (*ALONE, "loss=dapo", "clip=[0.2, 0.28]", "sampling.resample=4", "kl=0", "updates=2"),
    "gspo": (*ALONE, "loss=gspo", "updates=2"),
    "pairs-only": ("game.proposals=false",),
    "costs": ("game.intervention_cost=0.1", "game.revision_cost=0.1"),
    "margin": ("game.margin=3",),
    "samples-2": ("batch_prompts=2",),
    "samples-8": ("batch_prompts=8",),
    "noisy-oracle": ('rows=["{folder}/train-noisy.jsonl"]',),
}
"""Settings of each arm over recipes/worlds/forms.toml. All but the samples-N have 4 forms per step; of each line, 4
drafts with a game, or 8 drafts alone, as in recipes/assurance. DAPO draws up to four times more where all drafts of a
line are alike. DAPO, GSPO and grpo-2 make two updates of each batch, in the second of which ratios differ from 1."""
TOKENS = 24
"""Of a reply, at most."""


def write_rows(folder: Path, count: int) -> list[str]:
    """Rows of the arms and chats of the start; returns the texts that a tokenizer is trained on."""
    rows, others = WORLD.rows(count, seed=0), WORLD.rows(count // 4, seed=3)
    right = [*chats(rows, 0)]
    write_lines(folder / "fill.jsonl", fills(WORLD.rows(count, seed=7)))
    write_lines(folder / "right.jsonl", right)
    write_lines(folder / "imperfect.jsonl", chats(others, 0, DRAFTS, REVIEWS, CHOICES))
    train, draw = WORLD.rows(count, seed=1), random.Random(1)
    write_lines(folder / "train.jsonl", train)
    write_lines(folder / "train-noisy.jsonl", [{**row, "gold": _with_errors(row["gold"], draw)} for row in train])
    said = [turn for line in right for turn in line["messages"]]
    return [
        as_read(turn["content"]) if turn["role"] == "user" else turn["content"]
        for turn in said
        if turn["role"] != "system"
    ]


def judge(model: Path, count: int, seed: int) -> Outcomes:
    """The oracle on held-out forms that the model plays, see :func:`outcomes_of`.

    A model with an adapter for the verifier plays the game, one with an adapter alone submits its drafts. The initial
    model does both.
    """
    return asyncio.run(_judge(model, count, seed))


async def _judge(model: Path, count: int, seed: int) -> Outcomes:
    rows = WORLD.rows(count, seed=2, part="held-out")
    adapted = (model / "adapter_config.json").is_file()
    generator = LocalModel(
        model.parents[1] / "imperfect/model" if adapted else model, device="cpu", adapter=model if adapted else None
    )
    alone = adapted and not (model / "verifier").is_dir()
    verifier = generator.with_adapter(model / "verifier") if adapted and not alone else generator
    try:
        return await outcomes_of(_Players(generator, verifier, seed), rows, drafts=alone or not adapted, game=not alone)
    finally:
        await generator.aclose()


async def outcomes_of(players: Sampler, rows: Sequence[Row], *, drafts: bool, game: bool) -> Outcomes:
    """What the oracle says of each form, played alone (``drafts``), as the game, or both.

    ``oracle/lines`` and ``oracle/form``: what is right as submitted, of both ways without the review, as the paper
    counts an untrained model; ``oracle/drafts``: share of lines drafted right, in the game if there is one.

    Of the game only: ``oracle/reviewed``, share of lines submitted right; ``oracle/challenge``: share of reviews that
    are right about the draft; ``case/...``: shares of the paper's cases. ``oracle/repaired``: whether a wrong draft of
    one line is submitted right, and ``oracle/harmed``: whether a right one is submitted wrong; ``oracle/caught``: share
    of the two reviews that are right, .5 for a verifier that is always silent. These drafts are made, the same for
    every model, and all lines before are right: a policy's own wrong drafts get fewer and harder as it learns, so that
    shares of them compare different lines.
    """
    found: dict[str, dict[str, float]] = {row["id"]: {} for row in rows}
    if game:
        for row, decided in await _played(_GAME, players, rows):
            found[row["id"]] |= _outcome(row, decided)
        for name, wrong in (("oracle/repaired", True), ("oracle/harmed", False)):
            made = replace(_GAME, proposals=False, ask=partial(_asked, wrong))
            for row, decided in await _played(made, _Given(players), [cut_form(row) for row in rows]):
                outcome, last = found[row["id"]], decided[-1]
                outcome[name] = float((last.step.submitted == last.gold) == wrong)
                caught = measures_of(last).get("oracle/challenge", 0.0) / 2
                outcome["oracle/caught"] = outcome.get("oracle/caught", 0.0) + caught
    if drafts:
        for row, decided in await _played(replace(_GAME, alone=True), players, rows):
            found[row["id"]] = _drafted(row, decided) | found[row["id"]] | oracle(_submitted(decided), row)
    return found


_GAME = AssuranceGame(2, 3, revision_temperature=1.0, oracle=False, turns=WORLD.most)


async def _played(game: AssuranceGame, players: Sampler, rows: Sequence[Row]) -> list[tuple[Row, list[Decision]]]:
    """Each form with what happened at its lines."""
    by_row: dict[str, list[Decision]] = defaultdict(list)
    for one in await game.decide(players, rows):
        by_row[one.key.split(":")[1]].append(one)
    return [(row, by_row[row["id"]]) for row in rows]


def cut_form(row: Row) -> Row:
    """A form up to one of its lines, the same one in every run."""
    units = row["task"]["units"]
    units = units[: random.Random(row["id"]).randrange(len(units)) + 1]
    return {
        **row,
        "task": {**row["task"], "units": units},
        "gold": {one["id"]: row["gold"][one["id"]] for one in units},
    }


def _asked(
    wrong: bool, role: Role, state: UnitState, x: Proposal | None, case: SafetyCase | None, z: Proposal | None
) -> Sequence[Message]:
    """What a role is asked at a form's last line; drafts and the reviews of earlier lines are given as a reply."""
    units = state.task.units
    row = {
        "task": {"data": state.task.data, "units": [{"id": one.id, "description": one.description} for one in units]}
    }
    value, last = right_values(row)[state.unit.id], state.unit == units[-1]
    if role == "draft":
        if last and wrong:
            others = [one for one in range(10) if one != value]
            return [Message("assistant", draft_text(random.Random(json.dumps(row)).choice(others)))]
        return [Message("assistant", draft_text(value))]
    if not last:
        return [Message("assistant", teacher_forced_text("NS", state.unit))]
    return unit_messages(role, state, x, case, z)


def _submitted(decided: Sequence[Decision]) -> dict[str, Value]:
    return {one.state.unit.id: one.step.submitted for one in decided if one.step.submitted is not None}


def _drafted(row: Row, decided: Sequence[Decision]) -> dict[str, float]:
    drafts = {one.state.unit.id: one.step.proposal for one in decided if one.step.proposal is not None}
    return {"oracle/drafts": oracle(drafts, row)["oracle/lines"]}


def _outcome(row: Row, decided: Sequence[Decision]) -> dict[str, float]:
    submitted, seen = oracle(_submitted(decided), row), [measures_of(one) for one in decided]
    names = {name for one in seen for name in one if name.startswith("case/") or name == "oracle/challenge"}
    return {
        **submitted,
        **_drafted(row, decided),
        "oracle/reviewed": submitted["oracle/lines"],
        **{name: sum(one.get(name, 0.0) for one in seen) / len(seen) for name in sorted(names)},
    }


@dataclass(frozen=True, slots=True)
class _Given:
    """A sampler for prompts some of which end with the reply."""

    players: Sampler

    async def sample(
        self,
        prompts: Sequence[Sequence[Message]],
        role: str,
        n: int,
        policy: str = "default",
        temperature: float | None = None,
    ) -> list[list[Rollout]]:
        """``n`` completions of each prompt; a reply that is given is one."""
        open_ones = [prompt for prompt in prompts if prompt[-1].role != "assistant"]
        sampled = iter(await self.players.sample(open_ones, role, n, policy, temperature) if open_ones else ())
        return [
            [_rollout(role, prompt[-1].content)] if prompt[-1].role == "assistant" else next(sampled)
            for prompt in prompts
        ]

    async def teacher_forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = "default") -> Rollout:
        """Not needed: nothing is trained on."""
        raise NotImplementedError


def _rollout(role: str, text: str, finish_reason: str = "stop") -> Rollout:
    return Rollout(role, (), (), (), None, finish_reason, text=text)


class _Players:
    """Two models as the sampler of a game."""

    def __init__(self, generator: LocalModel, verifier: LocalModel, seed: int) -> None:
        self._models = {"default": generator, "verifier": verifier}
        self._seed = 100_000 * seed

    async def sample(
        self,
        prompts: Sequence[Sequence[Message]],
        role: str,
        n: int,
        policy: str = "default",
        temperature: float | None = None,
    ) -> list[list[Rollout]]:
        """``n`` completions of each prompt."""
        asked: list[Coroutine[Any, Any, list[Completion]]] = []
        for prompt in prompts:
            self._seed += n
            sampling = Sampling(max_tokens=TOKENS, temperature=temperature or 1.0, n=n, seed=self._seed)
            asked.append(self._models[policy].generate(prompt, sampling))
        return [
            [_rollout(role, said.text, said.finish_reason) for said in replies]
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
    name="forms",
    method="assurance",
    arms=ARMS,
    write_rows=write_rows,
    judge=judge,
    policy={
        "context": 640,
        "vocabulary": 128,
        "closed": True,
        "width": 96,
        "layers": 3,
        "pieces": pieces(WORLD.rows(1, 0)[0]),
    },
    mimetic=True,
    template=TEMPLATE,
    as_read=str,
    rows=6000,
    epochs={"fill": 8.0, "right": 3.0},
)
