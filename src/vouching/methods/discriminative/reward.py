"""The score of an answer as a reward, which DiVA leaves to future work; and the choice of one answer among many.

    score        r = f(x, y, t), the scorer's own number
    probability  r = P(supported), where the ranking has a calibration
    place        r = (answers below + half of the level others) / others, in [0, 1]

A scorer is trained to rank and its numbers mean nothing beyond their order, so "place" is the default. An estimator
that divides by a group's deviation does not change with the scale of "score", but one far-off number decides the whole
group then; with "place" none can. Groups in which all answers are level teach nothing under any of them. An answer
without a score has no reward, and counts for nothing in the places of the others. Left out: a reward for length or
style, and comparisons between questions.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from vouching.errors import ConfigError, InputError
from vouching.types import RankedAnswer, Ranking, Reward, Unverified
from vouching.types.serial import from_json

By: TypeAlias = Literal["place", "score", "probability"]
"""What of a ranking is the reward."""


def ranking_rewards(ranking: Ranking, by: By = "place") -> list[Reward | Unverified]:
    """The reward of each answer, in the order in which they were given.

    Args:
        ranking: of the answers of one group.
        by: see above.

    Returns:
        One per answer: a Reward with the parts ``score`` and ``place`` and, with a calibration, ``probability``; or the
        answer's Unverified.

    Raises:
        ConfigError: another ``by``.
        InputError: "probability" without a calibration, or a ranking that does not name its answers 1 to N.

    >>> from vouching import rank
    >>> ranking = rank("When did it open?", ["In 1937.", "In 1973.", "In 1937."], "The bridge opened in 1973.")
    >>> [reward.total for reward in ranking_rewards(ranking)]  # one above two level ones: 2 / 2, then (0 + .5) / 2
    [0.25, 1.0, 0.25]
    """
    if by not in get_args(By):
        raise ConfigError(f"by is {by!r}, wanted {', '.join(get_args(By))}")
    rewards: dict[int, Reward | Unverified] = {a.number: _reward(a, ranking.answers, by) for a in ranking.answers}
    rewards |= {_number(failed): failed for failed in ranking.unverified}
    if sorted(rewards) != [*range(1, len(rewards) + 1)]:
        raise InputError(f"the answers of a ranking must be numbered from 1 without gaps, got {sorted(rewards)}")
    return [rewards[number] for number in sorted(rewards)]


def reward_of_row(row: Mapping[str, Any], by: By = "place") -> dict[str, Any]:
    """The rewards of the answers of a ranking that was written down.

    Args:
        row: a line of ``vouch rank --output``.
        by: see above.

    Returns:
        ``totals`` and ``parts``, in the order in which the answers were given; None for one without a score.

    Raises:
        InputError: the row is no ranking, or as :func:`ranking_rewards`.

    >>> from vouching import rank
    >>> from vouching.types.serial import to_python
    >>> reward_of_row(to_python(rank("When?", ["In 1937.", "In 1973."], "It opened in 1973.")))["totals"]
    [0.0, 1.0]
    """
    if row.get("kind") != "ranking":
        raise InputError(f"the row has the keys {[*row]}, wanted a ranking: a line of vouch rank --output")
    rewards = ranking_rewards(from_json(Ranking, json.dumps({key: row[key] for key in row if key != "id"})), by)
    told = [one if isinstance(one, Reward) else None for one in rewards]
    return {"totals": [one and one.total for one in told], "parts": [one and dict(one.parts) for one in told]}


def best_of(ranking: Ranking, seed: int = 0) -> RankedAnswer | None:
    """One of the best answers: best-of-N. Between level ones a seeded draw decides, not the order they came in.

    Args:
        ranking: of the N answers.
        seed: of the draw; the same ranking and seed give the same answer.

    Returns:
        None if no answer has a score.

    >>> from vouching import rank
    >>> best_of(rank("When did it open?", ["In 1937.", "In 1973."], "The bridge opened in 1973.")).text
    'In 1973.'
    """
    return random.Random(f"{seed}/{ranking.question}").choice(ranking.best) if ranking.best else None


def share_below(score: float, others: Sequence[float]) -> float:
    """Share of the others that a score is above, level ones by half; one half where there are none.

    >>> share_below(2.0, [1.0, 2.0, 3.0, 0.0])  # (2 + .5) / 4
    0.625
    """
    if not others:
        return 0.5
    return sum((score > other) + (score == other) / 2 for other in others) / len(others)


def _reward(answer: RankedAnswer, answers: Sequence[RankedAnswer], by: By) -> Reward:
    others = [other.score for other in answers if other.number != answer.number]
    parts = {"score": answer.score, "place": share_below(answer.score, others)}
    if answer.probability is not None:
        parts["probability"] = answer.probability
    if by not in parts:
        raise InputError("the ranking has no probabilities: calibrate the scorer (vouch calibrate), or take the place")
    return Reward(parts[by], parts)


def _number(failed: Unverified) -> int:
    name = failed.claim.id.removeprefix("answer-")
    if not name.isdecimal():
        raise InputError(f"an answer of a ranking is called 'answer-N', got {failed.claim.id!r}")
    return int(name)
