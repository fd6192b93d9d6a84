"""The game in tabular form, small enough to solve (DPA-GRPO, section 3 and App. D).

    python recipes/theory/game.py --revision-wrong 0.6 --revision-right 0.9 --revision-cost 0.05

In a context m the generator proposes something right (x = 1) or wrong (x = 0); the verifier, seeing m and x, raises a
case or stays silent; after a case the generator keeps or revises, and a revision is right with a probability that
depends on (m, x). Every policy is a logit: its probability is ``sigmoid(logit)``. The module has the objectives J_f and
J_v with their KL terms, each player's own gradient (the game's field F), its flow, and the alternating updates of
Algorithm 1.

Departures: Theorem 2 says that at a local equilibrium the worse action has probability zero. With beta > 0 it cannot:
the gradient is ``sigmoid' (gap - beta (l - l_ref))``, zero only at odds = reference odds x exp(gap / beta), which are
finite. What holds is that bound (:func:`worse_action_bound`). Not supported: how a revision is drafted, and that the
approver sees it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from vouching.errors import ConfigError, InputError, VouchError
from vouching.methods.assurance.reward import AssuranceCosts
from vouching.metrics.arrays import FloatArray


def verifier_gap(right_M: ArrayLike, cost: float = 0.0) -> FloatArray:
    """R_V(SAC) - R_V(NS) = 1 - 2 P(right) - cost: a case is the best response iff it is above 0 (Lemma 1)."""
    return 1 - 2 * np.asarray(right_M, dtype=float) - cost


def generator_gap(right: ArrayLike, revision: ArrayLike, cost: float = 0.0) -> FloatArray:
    """R_G(REVISE) - R_G(KEEP) = E[S_z] - cost - S_x: revising is the best response iff it is above 0 (Lemma 2)."""
    return np.asarray(revision, dtype=float) - cost - np.asarray(right, dtype=float)


def soft_best_response(reference_odds: ArrayLike, gap: ArrayLike, beta: float) -> FloatArray:
    """Probability of an action whose reward exceeds the other's by ``gap``, where J is stationary (App. D.1).

    Its odds are the reference's times exp(gap / beta). Raises ConfigError unless beta > 0.

    >>> soft_best_response(1.0, 0.0, 0.04).item(), round(soft_best_response(0.25, 0.1, 0.05).item(), 3)
    (0.5, 0.649)
    """
    if not beta > 0:
        raise ConfigError(f"beta must be above 0, got {beta!r}: without KL the best response is the best action")
    return _sigmoid(np.log(np.asarray(reference_odds, dtype=float)) + np.asarray(gap, dtype=float) / beta)


def worse_action_bound(reference_odds: float, gap: float, beta: float) -> float:
    """Largest probability of an action that is worse by at least ``gap`` > 0, what Theorem 2 can say for beta > 0.

    ``reference_odds`` are the worse action's under the reference, or an upper bound of them.

    >>> f"{worse_action_bound(1.0, 1.0, 0.04):.1e}"  # 1 / (1 + e^25)
    '1.4e-11'
    """
    return soft_best_response(reference_odds, -gap, beta).item()


@dataclass(frozen=True, slots=True)
class Logits:
    """Both players' policies, or a step of them: arrays over M contexts and X = 2 proposals, wrong first."""

    proposal_M: FloatArray
    """Of a right proposal, by the generator."""
    revise_MX: FloatArray
    """Of revising after a case, by the generator."""
    sac_MX: FloatArray
    """Of raising a case, by the verifier."""

    def moved(self, step: Logits, size: float) -> Logits:
        """These and ``size`` times a step."""
        return Logits(
            self.proposal_M + size * step.proposal_M,
            self.revise_MX + size * step.revise_MX,
            self.sac_MX + size * step.sac_MX,
        )

    def distance(self, other: Logits) -> float:
        """Largest difference of any logit."""
        pairs = ((self.proposal_M, other.proposal_M), (self.revise_MX, other.revise_MX), (self.sac_MX, other.sac_MX))
        return max(float(np.abs(a - b).max()) for a, b in pairs)


def even_logits(contexts: int) -> Logits:
    """Policies that choose evenly everywhere."""
    return Logits(np.zeros(contexts), np.zeros((contexts, 2)), np.zeros((contexts, 2)))


@dataclass(frozen=True, slots=True)
class TabularGame:
    """The game. Raises InputError for arrays that do not fit together or probabilities outside [0, 1]."""

    weight_M: FloatArray
    """Probabilities of the contexts; they sum to 1."""
    revision_MX: FloatArray
    """E[S_z] of a revision of a wrong and of a right proposal, in [0, 1]."""
    reference: Logits
    """The reference policies of the KL terms."""
    beta: float = 0.04
    """Coefficient of every KL term, >= 0."""
    intervention_cost: float = 0.0
    revision_cost: float = 0.0

    def __post_init__(self) -> None:
        contexts = len(self.weight_M)
        if self.revision_MX.shape != (contexts, 2) or self.reference.sac_MX.shape != (contexts, 2):
            raise InputError(f"revisions and reference logits must have the shape ({contexts}, 2)")
        inside = ((self.revision_MX >= 0) & (self.revision_MX <= 1)).all() and (self.weight_M >= 0).all()
        if not inside or not np.isclose(self.weight_M.sum(), 1):
            raise InputError("weights must be at least 0 and sum to 1, and revisions must be in [0, 1]")

    def verifier_objective(self, logits: Logits) -> float:
        """J_v(theta; phi): expected reward of the verifier minus its KL term (section 2.2)."""
        sac_MX = _sigmoid(logits.sac_MX)
        reward_MX = sac_MX * (1 - _RIGHT_X - self.intervention_cost) + (1 - sac_MX) * _RIGHT_X
        value_MX = reward_MX - self.beta * _kl(logits.sac_MX, self.reference.sac_MX)
        return float((self._reach(logits) * value_MX).sum())

    def generator_objective(self, logits: Logits) -> float:
        """J_f(phi; theta): expected reward of the generator minus its KL terms on proposals and answers."""
        kl_M = _kl(logits.proposal_M, self.reference.proposal_M)
        return float((self._reach(logits) * self._proposal_values(logits)).sum() - self.beta * self.weight_M @ kl_M)

    def field(self, logits: Logits) -> Logits:
        """F: the gradient of each player's own objective in its own logits, the right-hand side of the game's ODE."""
        reach_MX, sac_MX = self._reach(logits), _sigmoid(logits.sac_MX)
        gap_MX = generator_gap(_RIGHT_X, self.revision_MX, self.revision_cost)
        value_MX = self._proposal_values(logits)
        pull = logits.moved(self.reference, -1)
        challenge_X = verifier_gap(_RIGHT_X, self.intervention_cost)
        return Logits(
            self.weight_M * _slope(logits.proposal_M) * (value_MX[:, 1] - value_MX[:, 0] - self.beta * pull.proposal_M),
            reach_MX * sac_MX * _slope(logits.revise_MX) * (gap_MX - self.beta * pull.revise_MX),
            reach_MX * _slope(logits.sac_MX) * (challenge_X - self.beta * pull.sac_MX),
        )

    def profitable_deviations(self, logits: Logits) -> Logits:
        """Gain of the best action at one decision, others fixed and without KL: >= 0, and 0 at an equilibrium."""
        reach_MX, sac_MX = self._reach(logits), _sigmoid(logits.sac_MX)
        value_MX = self._proposal_values(logits, beta=0.0)
        gap_MX = generator_gap(_RIGHT_X, self.revision_MX, self.revision_cost)
        challenge_MX = verifier_gap(np.broadcast_to(_RIGHT_X, reach_MX.shape), self.intervention_cost)
        return Logits(
            self.weight_M * _gain(value_MX[:, 1] - value_MX[:, 0], _sigmoid(logits.proposal_M)),
            reach_MX * sac_MX * _gain(gap_MX, _sigmoid(logits.revise_MX)),
            reach_MX * _gain(challenge_MX, sac_MX),
        )

    def equilibrium(self) -> Logits:
        """The zero of the field: soft best responses, each to those that come after it. Requires beta > 0."""
        if not self.beta > 0:
            raise ConfigError(f"beta must be above 0, got {self.beta!r}: without KL the field has no zero")
        challenge_MX = np.broadcast_to(verifier_gap(_RIGHT_X, self.intervention_cost), self.revision_MX.shape)
        answer_MX = generator_gap(_RIGHT_X, self.revision_MX, self.revision_cost)
        here = self.reference.moved(Logits(np.zeros_like(self.weight_M), answer_MX, challenge_MX), 1 / self.beta)
        value_MX = self._proposal_values(here)
        still = np.zeros_like(answer_MX)
        return here.moved(Logits(value_MX[:, 1] - value_MX[:, 0], still, still), 1 / self.beta)

    def _reach(self, logits: Logits) -> FloatArray:
        """(M, X) joint probability of context and proposal."""
        right_M = _sigmoid(logits.proposal_M)
        return self.weight_M[:, None] * np.stack([1 - right_M, right_M], axis=1)

    def _proposal_values(self, logits: Logits, beta: float | None = None) -> FloatArray:
        """(M, X) value of a proposal to the generator, with the KL term of its answer."""
        strength = self.beta if beta is None else beta
        gap_MX = generator_gap(_RIGHT_X, self.revision_MX, self.revision_cost)
        answer_MX = _sigmoid(logits.revise_MX) * gap_MX - strength * _kl(logits.revise_MX, self.reference.revise_MX)
        return _RIGHT_X + _sigmoid(logits.sac_MX) * answer_MX


def flow(game: TabularGame, start: Logits, time: float, steps: int) -> Iterator[Logits]:
    """The game's ODE by the classical Runge-Kutta method; yields the states at 0, time / steps, ..., time."""
    size, here = time / steps, start
    yield here
    for _ in range(steps):
        one = game.field(here)
        two = game.field(here.moved(one, size / 2))
        three = game.field(here.moved(two, size / 2))
        four = game.field(here.moved(three, size))
        here = here.moved(one, size / 6).moved(two, size / 3).moved(three, size / 3).moved(four, size / 6)
        yield here


def alternating_updates(
    game: TabularGame, start: Logits, rate: float, steps: int, draws: tuple[np.random.Generator, int] | None = None
) -> Iterator[Logits]:
    """Algorithm 1, lines 18 and 19: a step of the verifier, then one of the generator against it.

    ``steps`` of size ``rate`` cover the time ``rate * steps`` of the ODE. ``draws`` is a random generator and the
    number of contexts drawn per step; None takes all contexts by their weight.
    """
    here = start
    yield here
    for _ in range(steps):
        seen = game if draws is None else _sampled(game, *draws)
        verifier = seen.field(here)
        still = np.zeros_like(verifier.proposal_M), np.zeros_like(verifier.revise_MX)
        here = here.moved(Logits(*still, verifier.sac_MX), rate)
        generator = seen.field(here)
        here = here.moved(Logits(generator.proposal_M, generator.revise_MX, np.zeros_like(verifier.sac_MX)), rate)
        yield here


def outlook(game: TabularGame, time: float = 200.0, steps: int = 2000) -> dict[str, dict[str, float]]:
    """Policies of a game with one context that start at the reference, after ``time`` of its ODE and at equilibrium.

    Returns:
        By choice ("right proposal", "case if wrong", ...): its probability at the ``start``, after the ``time`` and at
        the ``equilibrium``, and the ``gain`` of the most profitable deviation after ``time``.
    """
    *_, end = flow(game, game.reference, time, steps)
    states = {"start": game.reference, "time": end, "equilibrium": game.equilibrium()}
    found = {name: _sigmoid(_flat(state)) for name, state in states.items()}
    found["gain"] = _flat(game.profitable_deviations(end))
    return {choice: {name: values[at].item() for name, values in found.items()} for at, choice in enumerate(_CHOICES)}


_CHOICES = ("right proposal", "case if wrong", "case if right", "revise if wrong", "revise if right")
_RIGHT_X = np.array([0.0, 1.0])


def _flat(logits: Logits) -> FloatArray:
    """The logits of a game with one context, in the order of ``_CHOICES``."""
    return np.concatenate([logits.proposal_M, logits.sac_MX[0], logits.revise_MX[0]])


def _sampled(game: TabularGame, random: np.random.Generator, contexts: int) -> TabularGame:
    """The game weighted by a batch of contexts: its field is an unbiased estimate."""
    counts_M = random.multinomial(contexts, game.weight_M)
    return replace(game, weight_M=counts_M / contexts)


def _sigmoid(logit: ArrayLike) -> FloatArray:
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(logit, dtype=float)))


def _slope(logit: FloatArray) -> FloatArray:
    probability = _sigmoid(logit)
    return probability * (1 - probability)


def _kl(logit: FloatArray, reference: FloatArray) -> FloatArray:
    """KL divergence of two Bernoulli variables in nats, from their logits: p (l - r) + log(1 - p) - log(1 - q)."""
    return _sigmoid(logit) * (logit - reference) - np.logaddexp(0, logit) + np.logaddexp(0, reference)


def _gain(gap: FloatArray, probability: FloatArray) -> FloatArray:
    """Best reward minus expected reward of a two-way choice whose first action is better by ``gap``."""
    return np.where(gap > 0, gap * (1 - probability), -gap * probability)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the probabilities of the choices in a game with one context; 0, or 2 for payoffs out of range."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name, value, words in _PAYOFFS:
        parser.add_argument(name, type=float, default=value, required=value is None, help=words)
    given = parser.parse_args(arguments)
    try:
        AssuranceCosts(given.intervention_cost, given.revision_cost)
        revisions = np.array([[given.revision_wrong, given.revision_right]])
        start = even_logits(1)
        game = TabularGame(np.ones(1), revisions, start, given.beta, given.intervention_cost, given.revision_cost)
        found = outlook(game, given.time)
    except VouchError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{'':16}{'start':>8}{f'after {given.time:g}':>12}{'equilibrium':>13}{'gain from deviating':>21}")
    for choice, values in found.items():
        print(
            f"{choice:16}{values['start']:8.3f}{values['time']:12.3f}{values['equilibrium']:13.3f}{values['gain']:21.3f}"
        )
    return 0


_PAYOFFS = (
    ("--revision-wrong", None, "probability that the revision of a wrong value is right"),
    ("--revision-right", None, "probability that the revision of a right value is right"),
    ("--beta", 0.04, "weight of the KL terms that keep both players near their initial policies; above 0"),
    ("--intervention-cost", 0.0, "cost of a case for the verifier"),
    ("--revision-cost", 0.0, "cost of a revision for the generator"),
    ("--time", 200.0, "duration of the dynamics, which start from uniform policies"),
)


if __name__ == "__main__":
    sys.exit(main())
