"""What a paper claims, and what the arms in a small world say of it: from files of outcomes to a table.

A file of outcomes, ``ARM-SEED.json``, has ``arm``, ``seed`` and ``outcomes``: numbers by name, by prompt. Not
supported: arms of different prompts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.errors import InputError
from vouching.worlds.effects import Effect, Expects, decide, effect_of

Outcomes: TypeAlias = Mapping[str, Mapping[int, Mapping[str, Mapping[str, float]]]]
"""Numbers by arm, seed, prompt and name."""


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """A claim as a comparison of two arms, fixed before they are run."""

    text: str
    paper: str
    """Where it stands, and the paper's figure."""
    first: str
    second: str
    measure: str
    """A name of the oracle's."""
    smallest: float = 0.03
    """The smallest effect that matters."""
    expects: Expects = "more"


def read_outcomes(folder: Path) -> Outcomes:
    """All outcomes in a folder. Raises InputError for a file that is not one of outcomes."""
    found: dict[str, dict[int, dict[str, dict[str, float]]]] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            found.setdefault(record["arm"], {})[record["seed"]] = record["outcomes"]
        except (ValueError, KeyError, TypeError):
            raise InputError(f'{path} must be a JSON object with "arm", "seed" and "outcomes": remove it') from None
    return found


def compared(claim: PaperClaim, outcomes: Outcomes) -> Effect | None:
    """The effect of a claim over the seeds that both arms have; None where they have no two of them in common.

    Prompts to which the measure does not apply are ignored. Raises InputError for runs of different prompts.
    """
    first, second = (outcomes.get(arm, {}) for arm in (claim.first, claim.second))
    seeds = sorted(first.keys() & second.keys())
    if len(seeds) < 2:
        return None
    prompts = {frozenset(_applies(arm[seed], claim.measure)) for arm in (first, second) for seed in seeds}
    if len(prompts) > 1:
        raise InputError(f"{claim.first} and {claim.second} were judged on different prompts: judge them on the same")
    order = sorted(prompts.pop())
    tables = [_table(arm, seeds, order, claim.measure) for arm in (first, second)]
    return effect_of(tables[0], tables[1])


def table_of(claims: Iterable[PaperClaim], outcomes: Outcomes) -> str:
    """A Markdown table: each claim, the paper's figure, the arms, the effect with its interval, and the decision."""
    lines = ["| claim | paper | arms, measure | effect [95 %] | shown from | decision |",
             "| -- | -- | -- | -- | -- | -- |"]  # fmt: skip
    for claim in claims:
        effect = compared(claim, outcomes)
        arms = f"{claim.first} - {claim.second}, {claim.measure.removeprefix('oracle/')}"
        said = ["", "", "not run"]
        if effect is not None:
            said = [f"{effect.mean:+.3f} [{effect.low:+.3f}, {effect.high:+.3f}], {effect.seeds} seeds",
                    f"{effect.detectable:.3f}", decide(effect, claim.smallest, claim.expects)]  # fmt: skip
        lines.append(f"| {' | '.join([claim.text, claim.paper, arms, *said])} |")
    return "\n".join(lines)


def _applies(by_prompt: Mapping[str, Mapping[str, float]], measure: str) -> list[str]:
    return [prompt for prompt, measured in by_prompt.items() if measure in measured]


def _table(
    arm: Mapping[int, Mapping[str, Mapping[str, float]]], seeds: Sequence[int], prompts: Sequence[str], measure: str
) -> NDArray[np.float64]:
    return np.array([[arm[seed][prompt][measure] for prompt in prompts] for seed in seeds], dtype=float)
