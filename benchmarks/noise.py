"""What a verifier's errors do to a gradient, beside Theorem 1 of Soft-RLVR, and whether a debiased score undoes it.

    python benchmarks/noise.py        # docs/results/reproductions/noise/noise.json, in about two minutes

The policy is a softmax with a logit for each of 24 responses to each instruction of the world of instructions, so that
its gradients are exact. Judgments are drawn anew whenever a response is judged, independently of each other. Measured:

1. the squared error of a response's gradient, beside the formula behind Theorem 1 and its guarantee;
2. bias and variance of an advantage against that of right labels of the whole response, and the cosine of an update,
   and of the mean update, with the gradient of strict success;
3. what a policy learns from the share of items passed (Eq. 5), and from scores made of the same judgments by rates per
   kind of item, estimated from labelled items: debiased, (p_k - (1 - q')) / alpha', or P(item holds | judgment).

All figures omit what the paper's training adds: clipping, tokens, and the strict bonus of Soft-SVeRL.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import random
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from recipes.theory.checklist import relaxation_gap, strict_success  # noqa: E402
from recipes.theory.quality import VerifierQuality, mse_checklist, mse_single, theorem_1  # noqa: E402
from recipes.worlds.effects import decide, effect_of  # noqa: E402
from recipes.worlds.instructions import InstructionsWorld, follow, followed  # noqa: E402

OUTPUT = ROOT / "docs/results/reproductions/noise/noise.json"
Floats: TypeAlias = NDArray[np.float64]
Score: TypeAlias = Literal["share", "debiased", "posterior"]
KINDS = ("count", "first", "last", "has", "lacks")
GROUP = 8
"""G: responses that are compared."""
PAPER = VerifierQuality(p=0.477, q=0.662, p_item=0.873, q_item=0.717)
JUDGES: Mapping[str, VerifierQuality] = {
    "right": VerifierQuality(1.0, 1.0, 1.0, 1.0),
    "equal": VerifierQuality(0.9, 0.9, 0.9, 0.9),
    "20B": PAPER,
    "120B": VerifierQuality(p=0.552, q=0.709, p_item=0.86, q_item=0.712),
    "lenient": VerifierQuality(p=0.95, q=0.5, p_item=0.95, q_item=0.5),
    "strict": VerifierQuality(p=0.5, q=0.95, p_item=0.5, q_item=0.95),
}
"""Two are the rates that the paper estimates (Table 2); the others show what each rate does."""
RATES: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "equal": dict.fromkeys(KINDS, (PAPER.p_item, PAPER.q_item)),
    "by kind": {
        "count": (0.9, 0.4),
        "first": (0.9, 0.85),
        "last": (0.9, 0.85),
        "has": (0.95, 0.9),
        "lacks": (0.6, 0.8),
    },
    "by kind, turned": {
        "count": (0.6, 0.8),
        "first": (0.9, 0.85),
        "last": (0.9, 0.85),
        "has": (0.95, 0.9),
        "lacks": (0.9, 0.4),
    },
}
"""p' and q' by kind of item: the control, where all are equal, and judges that are lenient with one kind."""
SHRINK = 20.0
"""Labelled items of the mean rate that are added to those of each kind."""
LEAST = 0.1
"""alpha' is taken as at least this, so that a judge that guesses does not blow a score up."""


@dataclass(frozen=True, slots=True)
class Responses:
    """P instructions with M responses each, and K constraints per instruction."""

    truth_PMK: NDArray[np.bool_]
    kinds_PK: NDArray[np.intp]
    """Index of the kind of each item."""

    @property
    def success_PM(self) -> Floats:
        """S."""
        return strict_success(self.truth_PMK)


@dataclass(frozen=True, slots=True)
class Rates:
    """What is known of a judge, by kind of item; all (kinds,)."""

    p: Floats
    q: Floats
    held: Floats
    """Share of items that hold."""


def responses(items: int, prompts: int, seed: int, each: int = 24) -> Responses:
    """Made responses to instructions of so many constraints, each of which is broken once in four times."""
    draw, truth, kinds = random.Random(seed), list[list[list[bool]]](), list[list[int]]()
    for row in InstructionsWorld(items, items).rows(prompts, seed):
        constraints = [(kind, word) for kind, word in row["constraints"]]
        said = [follow(constraints, draw, slips=0.25) for _ in range(each)]
        truth.append([[followed(one, text) for one in constraints] for text in said])
        kinds.append([KINDS.index(kind) for kind, _ in constraints])
    return Responses(np.array(truth), np.array(kinds))


def judgments(truth: NDArray[Any], p: Any, q: Any, draw: np.random.Generator) -> Floats:
    """A judgment of each truth, with these rates of right ones where it is true and where it is not."""
    return (draw.random(truth.shape) < np.where(truth, p, 1 - np.asarray(q))).astype(np.float64)


def normalised(rewards: Floats) -> Floats:
    """Advantages in groups of the last axis (SEVA, eq. 2); 0 where all rewards are equal."""
    centred = rewards - rewards.mean(axis=-1, keepdims=True)
    spread = rewards.std(axis=-1, keepdims=True)
    return np.where(np.ptp(rewards, axis=-1, keepdims=True) == 0, 0.0, centred / (spread + 1e-4))


def gradient_errors(given: Responses, quality: VerifierQuality, draws: int, seed: int) -> dict[str, Any]:
    """E||g - g*||^2 of a response's gradient under the uniform policy, measured and by the formula of Theorem 1."""
    draw = np.random.default_rng(seed)
    success, items = given.success_PM, given.truth_PMK.shape[-1]
    norm = 1 - 1 / success.shape[1]  # |e_y - pi|^2 = (1 - 1/M)^2 + (M - 1) / M^2
    single, checklist = (np.zeros(success.shape) for _ in range(2))
    for _ in range(draws):
        single += (judgments(success == 1, quality.p, quality.q, draw) - success) ** 2
        votes = judgments(given.truth_PMK, quality.p_item, quality.q_item, draw)
        checklist += (votes.mean(axis=-1) - success) ** 2
    gap = relaxation_gap(given.truth_PMK)
    predicted = mse_single(quality, success), mse_checklist(quality, success, gap, items)
    return {
        "items": items,
        "success": float(success.mean()),
        "single": {"measured": norm * float(single.mean()) / draws, "formula": norm * float(predicted[0].mean())},
        "checklist": {"measured": norm * float(checklist.mean()) / draws, "formula": norm * float(predicted[1].mean())},
        "guaranteed": float(theorem_1(quality, success, gap, items).mean()),
        "smaller": float((predicted[1] <= predicted[0] + 1e-9).mean()),
    }


def advantage_errors(
    given: Responses, quality: VerifierQuality, holistic: bool, draws: int, seed: int
) -> dict[str, float]:
    """Errors of advantages and updates of groups of ``GROUP`` under the uniform policy, against strict success.

    ``bias``: mean squared difference between the mean advantage of a response of a fixed group and the one that right
    labels give; ``variance``: its variance over judgments; ``step`` and ``mean``: cosines of the update of all
    instructions, and of its mean over groups and judgments, with the gradient of strict success.
    """
    draw = np.random.default_rng(seed)
    success, truth = given.success_PM, given.truth_PMK
    prompts, each = success.shape
    ideal = (success - success.mean(axis=1, keepdims=True)) / each

    def rewarded(chosen: NDArray[np.intp]) -> Floats:
        if holistic:
            return judgments(np.take_along_axis(success, chosen, 1) == 1, quality.p, quality.q, draw)
        picked = np.take_along_axis(truth, chosen[..., None], 1)
        return judgments(picked, quality.p_item, quality.q_item, draw).mean(axis=-1)

    fixed = draw.integers(each, size=(prompts, GROUP))
    right = normalised(np.take_along_axis(success, fixed, 1))
    seen = np.array([normalised(rewarded(fixed)) for _ in range(draws)])
    cosines, total = list[float](), np.zeros_like(ideal)
    for _ in range(draws):
        chosen = draw.integers(each, size=(prompts, GROUP))
        update = updated(normalised(rewarded(chosen)), chosen, np.full_like(ideal, 1 / each))
        cosines.append(cosine(update, ideal))
        total += update
    return {
        "bias": float(((seen.mean(axis=0) - right) ** 2).mean() - seen.var(axis=0, ddof=1).mean() / draws),
        "variance": float(seen.var(axis=0, ddof=1).mean()),
        "step": float(np.mean(cosines)),
        "mean": cosine(total, ideal),
    }


def updated(advantages_PG: Floats, chosen_PG: NDArray[np.intp], policy_PM: Floats) -> Floats:
    """The gradient of a group of each instruction with respect to its logits: mean A (e_y - pi)."""
    found = -advantages_PG.mean(axis=1, keepdims=True) * policy_PM
    np.add.at(found, (np.arange(len(found))[:, None], chosen_PG), advantages_PG / advantages_PG.shape[1])
    return found


def cosine(one: Floats, other: Floats) -> float:
    """Of two arrays as vectors; 0 if one is 0."""
    norms = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float((one * other).sum()) / norms if norms else 0.0


def true_rates(name: str, given: Responses) -> Rates:
    """The rates that a judge has, and the share of items of each kind that hold."""
    p, q = np.array([RATES[name][kind] for kind in KINDS]).T
    held = np.array([given.truth_PMK.transpose(0, 2, 1)[given.kinds_PK == kind].mean() for kind in range(len(KINDS))])
    return Rates(p, q, held)


def estimated(rates: Rates, labelled: int, draw: np.random.Generator) -> Rates:
    """The rates as so many labelled items show them, each shrunk to the mean of all kinds."""
    kinds = draw.integers(len(KINDS), size=labelled)
    holds = draw.random(labelled) < rates.held[kinds]
    right = draw.random(labelled) < np.where(holds, rates.p[kinds], rates.q[kinds])

    def shrunk(hits: NDArray[np.bool_], among: NDArray[np.bool_]) -> Floats:
        pooled = hits[among].mean() if among.any() else 0.5
        of = [among & (kinds == kind) for kind in range(len(KINDS))]
        return np.array([(hits[one].sum() + SHRINK * pooled) / (one.sum() + SHRINK) for one in of])

    return Rates(shrunk(right, holds), shrunk(right, ~holds), shrunk(holds, np.ones_like(holds)))


def scored(votes: Floats, kinds: NDArray[np.intp], score: Score, rates: Rates) -> Floats:
    """The reward of judgments (..., K) of items of these kinds: their mean, or that of what is made of each.

    >>> rates = Rates(np.array([0.9]), np.array([0.6]), np.array([0.5]))
    >>> votes, kinds = np.array([[1.0], [0.0]]), np.array([0])
    >>> scored(votes, kinds, "debiased", rates).round(2).tolist()  # (1 - .4) / .5, (0 - .4) / .5
    [1.2, -0.8]
    >>> scored(votes, kinds, "posterior", rates).round(3).tolist()  # .45 / (.45 + .2), .05 / (.05 + .3)
    [0.692, 0.143]
    """
    if score == "share":
        return votes.mean(axis=-1)
    p, q, held = rates.p[kinds], rates.q[kinds], rates.held[kinds]
    if score == "debiased":
        return ((votes - (1 - q)) / np.maximum(p + q - 1, LEAST)).mean(axis=-1)
    passed, failed = held * np.where(votes, p, 1 - p), (1 - held) * np.where(votes, 1 - q, q)
    return (passed / (passed + failed)).mean(axis=-1)


def learnt(given: Responses, judge: Rates, score: Score, known: Rates, steps: int, seed: int) -> Floats:
    """Chance of strict success of a policy after so many steps, by instruction: (P,)."""
    draw = np.random.default_rng(seed)
    truth, success, kinds = given.truth_PMK, given.success_PM, given.kinds_PK[:, None, :]
    logits = np.zeros_like(success)
    p, q = judge.p[kinds], judge.q[kinds]
    for _ in range(steps):
        policy = softmax(logits)
        chosen = (draw.random((*success.shape[:1], GROUP, 1)) > policy.cumsum(axis=1)[:, None]).sum(axis=-1)
        chosen = np.minimum(chosen, success.shape[1] - 1)
        votes = judgments(np.take_along_axis(truth, chosen[..., None], 1), p, q, draw)
        logits += updated(normalised(scored(votes, kinds, score, known)), chosen, policy)
    return (softmax(logits) * success).sum(axis=1)


def softmax(logits: Floats) -> Floats:
    """Probabilities along the last axis."""
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def learning(given: Responses, name: str, steps: int, seeds: int) -> list[dict[str, Any]]:
    """What a policy learns from each score, less what it learns from the share of items passed."""
    judge = true_rates(name, given)
    share = np.array([learnt(given, judge, "share", judge, steps, seed) for seed in range(seeds)])
    found: list[dict[str, Any]] = [{"rates": name, "score": "share", "labelled": None, "success": float(share.mean())}]
    for score in ("debiased", "posterior"):
        for labelled in (None, 2000, 400):
            table = np.array(
                [
                    learnt(
                        given,
                        judge,
                        score,
                        judge
                        if labelled is None
                        else estimated(judge, labelled, np.random.default_rng([seed, labelled])),
                        steps,
                        seed,
                    )
                    for seed in range(seeds)
                ]
            )
            effect = effect_of(table, share)
            found.append(
                {
                    "rates": name,
                    "score": score,
                    "labelled": labelled,
                    "success": float(table.mean()),
                    "effect": asdict(effect),
                    "decision": decide(effect, 0.03),
                }
            )
    return found


def study(prompts: int, draws: int, steps: int, seeds: int, seed: int = 0) -> dict[str, Any]:
    """All figures."""
    sizes = {items: responses(items, prompts, seed) for items in (2, 4, 6)}
    return {
        "gradients": [
            {"judge": name, **asdict(quality), **gradient_errors(given, quality, draws, seed)}
            for name, quality in JUDGES.items()
            for given in sizes.values()
        ],
        "advantages": [
            {
                "judge": name,
                "items": items,
                "asked": "whole" if holistic else "items",
                **advantage_errors(sizes[items], quality, holistic, draws, seed),
            }
            for name, quality in JUDGES.items()
            for items in (4, 6)
            for holistic in (True, False)
        ],
        "scores": [line for name in RATES for line in learning(sizes[4], name, steps, seeds)],
    }


def main() -> None:
    """Run the study and write its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sizes = {"prompts": 200, "draws": 400, "steps": 60, "seeds": 10}
    started = time.process_time()
    record = {
        "command": "python benchmarks/noise.py",
        "seed": options.seed,
        **sizes,
        "group": GROUP,
        "machine": f"{platform.machine()}, one thread",
        "date": f"{datetime.date.today():%Y-%m-%d}",
        **study(**sizes, seed=options.seed),
    }
    record["cpu_seconds"] = round(time.process_time() - started, 1)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(_rounded(record), indent=1) + "\n", encoding="utf-8")
    sys.stderr.write(f"{options.output} written\n")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
