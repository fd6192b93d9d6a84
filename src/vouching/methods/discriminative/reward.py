"""The score of an answer as a reward, which DiVA leaves to future work; and best-of-N selection.

    score        r = f(x, y, t), the scorer's own number
    probability  r = P(supported), if the ranking has a calibration
    place        r = (answers below + half of the tied others) / others, in [0, 1]

A scorer is trained to rank and only the order of its numbers is meaningful, so "place" is the default. Advantages that
are divided by a group's standard deviation do not depend on the scale of "score", but a single outlier can dominate the
group; with "place" none can. Groups whose answers are all tied have no learning signal. An answer without a score has
no reward, and is ignored in the places of the others. Not supported: a reward for length or style, and comparisons
between questions.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from vouching.errors import ConfigError, InputError
from vouching.types import RankedAnswer, Ranking, Reward, Unverified
from vouching.types.serial import from_json
from vouching.types.visible import shown_keys

By: TypeAlias = Literal["place", "score", "probability"]
"""Which value of a ranking is the reward."""


def ranking_rewards(ranking: Ranking, by: By = "place") -> list[Reward | Unverified]:
    """The reward of each answer, in the order in which they were given.

    Returns one per answer: a Reward with the parts ``score`` and ``place`` and, with a calibration, ``probability``; or
    the answer's Unverified. Raises InputError for "probability" without a calibration, or answers not numbered 1 to N.

    >>> from vouching import rank
    >>> ranking = rank("When did it open?", ["In 1937.", "In 1973.", "In 1937."], "The bridge opened in 1973.")
    >>> [reward.total for reward in ranking_rewards(ranking)]  # one above two tied ones: 2 / 2, then (0 + .5) / 2
    [0.25, 1.0, 0.25]
    """
    if by not in get_args(By):
        raise ConfigError(f"by must be one of {', '.join(get_args(By))}, got {by!r}")
    rewards: dict[int, Reward | Unverified] = {a.number: _reward(a, ranking.answers, by) for a in ranking.answers}
    rewards |= {_number(failed): failed for failed in ranking.unverified}
    if sorted(rewards) != [*range(1, len(rewards) + 1)]:
        raise InputError(f"the answers of a ranking must be numbered from 1 without gaps, got {sorted(rewards)}")
    return [rewards[number] for number in sorted(rewards)]


def reward_of_row(row: Mapping[str, Any], by: By = "place") -> dict[str, Any]:
    """The rewards of the answers of a recorded ranking, a line of ``vouch rank --output``.

    Returns ``totals`` and ``parts``, in the order in which the answers were given; None for one without a score.
    """
    if row.get("kind") != "ranking":
        raise InputError(f"the row is not a ranking (a line of vouch rank --output); {shown_keys(row)}")
    rewards = ranking_rewards(from_json(Ranking, json.dumps({key: row[key] for key in row if key != "id"})), by)
    found = [one if isinstance(one, Reward) else None for one in rewards]
    return {"totals": [one and one.total for one in found], "parts": [one and dict(one.parts) for one in found]}


def best_of(ranking: Ranking, seed: int = 0) -> RankedAnswer | None:
    """Best-of-N: one of the best answers, drawn with ``seed`` if several are tied; None if no answer has a score."""
    return random.Random(f"{seed}/{ranking.question}").choice(ranking.best) if ranking.best else None


def share_below(score: float, others: Sequence[float]) -> float:
    """Share of the others that a score is above, tied ones counted half; one half without others."""
    if not others:
        return 0.5
    return sum((score > other) + (score == other) / 2 for other in others) / len(others)


def _reward(answer: RankedAnswer, answers: Sequence[RankedAnswer], by: By) -> Reward:
    others = [other.score for other in answers if other.number != answer.number]
    parts = {"score": answer.score, "place": share_below(answer.score, others)}
    if answer.probability is not None:
        parts["probability"] = answer.probability
    if by not in parts:
        raise InputError("the ranking has no probabilities: calibrate the scorer (vouch calibrate), or use by=place")
    return Reward(parts[by], parts)


def _number(failed: Unverified) -> int:
    name = failed.claim.id.removeprefix("answer-")
    if not name.isdecimal():
        raise InputError(f"the id of an answer must be answer-N, got {failed.claim.id!r}")
    return int(name)
