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

from recipes.worlds.effects import MIN_SEEDS, Decision, Effect, Expects, decide, effect_of
from vouching.errors import InputError

Outcomes: TypeAlias = Mapping[str, Mapping[int, Mapping[str, Mapping[str, float]]]]
"""Numbers by arm, seed, prompt and name."""


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """A claim as a comparison of two arms, written before they are run."""

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
    among: str = ""
    """A name of the oracle's, 1 or 0: the measure is its mean where this is 1; empty for all prompts."""
    built_in: str = ""
    """Why the outcome is built into the world or the arms; empty where it is found. Counted apart."""


SAME = ("world", "start", "steps")
"""What all results in a folder have to share: a name, a digest of the model that arms start from, and their length."""


def read_outcomes(folder: Path) -> Outcomes:
    """All outcomes in a folder.

    Raises InputError for a file that is not one of outcomes, and for results that cannot be compared: of other worlds,
    of arms from other starts, or of another length.
    """
    found: dict[str, dict[int, dict[str, dict[str, float]]]] = {}
    shared: dict[str, tuple[object, Path]] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            found.setdefault(record["arm"], {})[record["seed"]] = record["outcomes"]
        except (ValueError, KeyError, TypeError):
            wanted = 'a JSON object with "arm", "seed" and "outcomes"'
            raise InputError(f"{path} must be {wanted}: pass the folder of one world's results") from None
        for name in SAME:
            if record.get(name) and shared.setdefault(name, (record[name], path))[0] != record[name]:
                known, other = shared[name]
                raise InputError(
                    f"{path} has {name} {record[name]}, {other.name} has {known}: keep them in folders of their own"
                )
    return found


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two arms say of a claim."""

    effect: Effect
    first: float
    """Mean of the first arm, over seeds and prompts."""
    second: float
    decision: Decision
    why: str
    """What the decision rests on."""


def compared(claim: PaperClaim, outcomes: Outcomes) -> Comparison | None:
    """What two arms say of a claim, over the seeds that both have; None where they have no two seeds and prompts.

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
    if len(order) < 2:
        return None
    tables = [_table(arm, seeds, order, claim) for arm in (first, second)]
    effect = effect_of(tables[0], tables[1])
    means = [float(table.mean()) for table in tables]
    return Comparison(
        effect, means[0], means[1], decide(effect, claim.smallest, claim.expects), why(effect, claim.smallest)
    )


def why(effect: Effect, smallest: float) -> str:
    """What a decision about an effect rests on.

    >>> why(Effect(0.1, -0.1, 0.3, 0.25, seeds=3, prompts=100, agree=True), smallest=0.03)
    'the interval contains 0 and .03; a difference of .25 would usually show'
    """
    if effect.seeds < MIN_SEEDS:
        return f"{effect.seeds} seeds, from which nothing can be decided"
    size = f"{smallest:.2f}".removeprefix("0")
    if -smallest < effect.low and effect.high < smallest:
        return f"the interval is between -{size} and {size}"
    if effect.low > 0 and effect.high >= smallest:
        seeds = f"all {effect.seeds} seeds agree" if effect.agree else "the seeds disagree"
        return f"the interval is above 0, and {seeds}"
    if effect.high < smallest:
        return f"the interval is below {0 if effect.high < 0 else size}"
    shown = f"{effect.detectable:.2f}".removeprefix("0")
    return f"the interval contains 0 and {size}; a difference of {shown} would usually show"


def table_of(claims: Iterable[PaperClaim], outcomes: Outcomes, remarks: Mapping[str, str] | None = None) -> str:
    """A Markdown table: each claim, the paper's figure, ours, the decision and why.

    ``remarks`` are added to the reasons, by the text of the claim.
    """
    lines = [
        "| # | claim | paper | here: arms, measure, difference [95 %] | decision | why |",
        "| --: | -- | -- | -- | -- | -- |",
    ]
    for number, claim in enumerate(claims, 1):
        found = compared(claim, outcomes)
        measure = claim.measure.removeprefix("oracle/") + (
            f" if {claim.among.removeprefix('oracle/')}" * bool(claim.among)
        )
        ours, decision, reason = f"{claim.first} - {claim.second}, {measure}", "not run", ""
        if found is not None:
            one = found.effect
            ours = (
                f"{claim.first} {found.first:.3f}, {claim.second} {found.second:.3f}, {measure}: "
                f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}], {one.seeds} seeds"
            )
            decision, reason = f"**{found.decision}**", found.why
        elif {claim.first, claim.second} <= outcomes.keys():
            decision, reason = "not compared", "fewer than two seeds in common"
        given = f"built in: {claim.built_in}" if found is not None and claim.built_in else ""
        reason = "; ".join(filter(None, (reason, given, (remarks or {}).get(claim.text, ""))))
        lines.append(f"| {' | '.join([str(number), claim.text, claim.paper, ours, decision, reason])} |")
    return "\n".join(lines)


def _applies(by_prompt: Mapping[str, Mapping[str, float]], measure: str) -> list[str]:
    return [prompt for prompt, measured in by_prompt.items() if measure in measured]


def _table(
    arm: Mapping[int, Mapping[str, Mapping[str, float]]],
    seeds: Sequence[int],
    prompts: Sequence[str],
    claim: PaperClaim,
) -> NDArray[np.float64]:
    """(S, P) outcomes; a mean among some prompts, a ratio R of two means, in linear form: R + (m - R a) / mean(a)."""

    def numbers(name: str) -> NDArray[np.float64]:
        return np.array([[arm[seed][prompt][name] for prompt in prompts] for seed in seeds], dtype=float)

    table = numbers(claim.measure)
    if not claim.among:
        return table
    among = numbers(claim.among)
    share = among.mean(axis=1, keepdims=True)
    ratio = (table * among).mean(axis=1, keepdims=True) / share
    return ratio + (table * among - ratio * among) / share
