"""Rewards of a checklist: the generator's, the verifier's, and what Soft-SVeRL trains on besides (Algorithm 1).

    p_k = yes / J                        line 7, Eq. 7     an unclear vote counts 0, J stays
    rho_k = 1[p_k >= tau]                line 8, Eq. 8     or another aggregator
    s = mean rho_k                       line 10, Eq. 5    the soft reward
    R = 1[s = 1] + beta s 1[s < 1]       line 11           beta = 1: soft; beta = 0: strict
    replay: p_k >= tau yes, p_k <= tau_minus no            lines 14 to 18
    S = {k: p_k > 0 and s < 1}           line 20
    r = 1[parse(z) = l]                  line 24           the verifier's reward
    r = d_kj for k in S                  line 28           the rows that the penalty is taken on

Algorithm 1 has one threshold, tau_plus, for passing and for replay; so has this module. Its text speaks of "mixed-vote
items" in S, its line 20 also keeps items that everybody said yes to in a response that failed: the line rules. Replay
tags ask p_k alone, whatever the aggregator. The paper does not publish beta; .5 is ours. Where the judge failed there
is no reward: an Unverified, not a 0. Left out: sampling from the buffers, and the weights lambda_v and lambda_p, which
belong to training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from vouching.errors import ConfigError, InputError
from vouching.judging.votes import Aggregate, Votes, as_votes, check_aggregate, judgment, vote_share
from vouching.types import ItemResult, Reward, Unverified

PARTS = ("s", "strict", "yes", "unclear")
"""Names of the parts: soft score, strict success, mean share of yes, share of unclear votes; all in [0, 1]."""


@dataclass(frozen=True, slots=True)
class ChecklistRules:
    """How votes become rewards. Raises ConfigError for a number out of range."""

    tau: float = 0.75
    """tau_plus: share of yes from which an item passes, and goes to replay as a yes; in (0, 1]."""
    tau_minus: float = 0.375
    """Share of yes up to which an item goes to replay as a no, in [0, 1]."""
    beta: float = 0.5
    """What the soft score counts where not all items pass, in [0, 1]."""
    aggregate: Aggregate = "threshold"
    """How votes become a judgment."""

    def __post_init__(self) -> None:
        check_aggregate(self.tau, self.aggregate)
        for name in ("tau_minus", "beta"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is {getattr(self, name)!r}, wanted a number in [0, 1]")


PAPER = ChecklistRules()
"""The paper's thresholds, and our beta."""


def checklist_reward(votes_KJ: Sequence[Votes | Unverified], rules: ChecklistRules = PAPER) -> Reward | Unverified:
    """The generator's reward for one response (Algorithm 1, lines 7 to 11).

    Args:
        votes_KJ: the votes on each item, J on each; a single one on an item that a rule decided.
        rules: how they are counted.

    Returns:
        R with its parts; the first Unverified where the judge failed on an item.

    Raises:
        InputError: no item, an item without votes, or items with different numbers of votes.

    >>> votes = [[True, True, True, True], [True, True, True, None], [False, True, False, False]]
    >>> reward = checklist_reward(votes)  # p = 1, .75, .25; two of three pass; R = .5 * 2/3
    >>> round(reward.total, 3), round(reward.parts["s"], 3), reward.parts["strict"]
    (0.333, 0.667, 0.0)
    """
    failed = next((one for one in votes_KJ if isinstance(one, Unverified)), None)
    if failed is not None:
        return failed
    votes = check_votes([one for one in votes_KJ if not isinstance(one, Unverified)])
    score = soft_score([judgment(one, rules.tau, rules.aggregate) for one in votes])
    cast = [vote for one in votes for vote in one]
    parts = {
        "s": score,
        "strict": float(score == 1),
        "yes": sum(map(vote_share, votes)) / len(votes),
        "unclear": sum(vote is None for vote in cast) / len(cast),
    }
    return Reward(generator_reward(score, rules.beta), parts)


def item_votes(findings: Sequence[ItemResult | Unverified]) -> list[Votes | Unverified]:
    """The votes of a report's findings, as :func:`checklist_reward` takes them.

    >>> item_votes([ItemResult("Is it red?", (True, None), 0.5, True)])
    [(True, None)]
    """
    return [one if isinstance(one, Unverified) else one.votes for one in findings]


def check_votes(votes_KJ: Sequence[Votes]) -> Sequence[Votes]:
    """The votes themselves. Raises InputError if they are not those of one checklist: K items with J votes or one.

    >>> check_votes([[True], [True, False, None], [True, True]])
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: the items have 1, 3 and 2 votes, wanted as many on each, or one where a rule decides
    """
    if not len(votes_KJ):
        raise InputError("there are no items: a checklist without items says nothing about a response")
    counts = [*dict.fromkeys(map(len, votes_KJ))]
    if 0 in counts:
        raise InputError("an item has no votes: write null for it if its judge failed, so that there is no reward")
    if len({*counts} - {1}) > 1:
        listed = f"{', '.join(map(str, counts[:-1]))} and {counts[-1]}"
        raise InputError(f"the items have {listed} votes, wanted as many on each, or one where a rule decides")
    return votes_KJ


def soft_score(judgments_K: Sequence[float]) -> float:
    """s: the share of items passed (Eq. 5; Algorithm 1, line 10).

    Raises:
        InputError: no item.

    >>> soft_score([1, 1, 0, 1])
    0.75
    """
    if not len(judgments_K):
        raise InputError("there are no items: a checklist without items says nothing about a response")
    return sum(judgments_K) / len(judgments_K)


def generator_reward(score: float, beta: float = PAPER.beta) -> float:
    """R = 1[s = 1] + beta s 1[s < 1] (Algorithm 1, line 11).

    With beta below 1 the last item counts more than the others. beta = 1 is the soft reward, beta = 0 the strict one.

    >>> [generator_reward(score, beta=0.5) for score in (1, 0.8, 0)]
    [1.0, 0.4, 0.0]
    """
    return 1.0 if score == 1 else beta * score


def holistic_reward(votes_J: Votes | Unverified, rules: ChecklistRules = PAPER) -> Reward | Unverified:
    """The reward of a verifier that judges the whole response at once (Eq. 3), by J votes.

    >>> holistic_reward([True, True, True, None]).total  # 3 of 4, and tau is .75
    1.0
    """
    if isinstance(votes_J, Unverified):
        return votes_J
    score = judgment(votes_J, rules.tau, rules.aggregate)
    unclear = sum(vote is None for vote in votes_J) / len(votes_J)
    return Reward(score, {"s": score, "strict": float(score == 1), "yes": vote_share(votes_J), "unclear": unclear})


def replay_label(share: float, rules: ChecklistRules = PAPER) -> bool | None:
    """The label under which an item goes to the verifier's replay buffer (Algorithm 1, lines 14 to 18).

    Returns:
        None between the thresholds: such an item is not used.

    >>> [replay_label(share) for share in (0.75, 0.5, 0.375)]
    [True, None, False]
    """
    if share >= rules.tau:
        return True
    return False if share <= rules.tau_minus else None


def partition(shares_K: Sequence[float], score: float) -> tuple[int, ...]:
    """S for one response: the items with a yes although not all items pass (Algorithm 1, line 20).

    Args:
        shares_K: p_k.
        score: s of the same response.

    Returns:
        Positions from 0. S(x) of a group joins those of its responses.

    >>> partition([1.0, 0.5, 0.0], score=1 / 3), partition([1.0, 1.0], score=1.0)
    ((0, 1), ())
    """
    return tuple(k for k, share in enumerate(shares_K) if share > 0) if score < 1 else ()


def partition_rewards(votes_J: Votes) -> tuple[float, ...]:
    """d_kj of the votes on an item of S (Algorithm 1, lines 26 to 30): what J_part averages, and training subtracts.

    >>> partition_rewards([True, False, None])
    (1.0, 0.0, 0.0)
    """
    return tuple(float(vote is True) for vote in votes_J)


def verifier_reward(vote: bool | None, label: bool) -> float:
    """1[parse(z) = l] (Algorithm 1, line 24); an answer that is neither yes nor no is never right.

    >>> verifier_reward(False, label=False), verifier_reward(True, label=False), verifier_reward(None, label=False)
    (1.0, 0.0, 0.0)
    """
    return float(vote is not None and vote == label)


def reward_of_row(
    row: Mapping[str, Any], tau: float = PAPER.tau, tau_minus: float = PAPER.tau_minus, beta: float = PAPER.beta,
    aggregate: Aggregate = PAPER.aggregate,
) -> dict[str, Any]:  # fmt: skip
    """Total and parts of a row: everything that Algorithm 1 makes of the votes on one response.

    Args:
        row: ``votes``, or the ``findings`` of a report; and, if it was judged as a whole too, ``holistic``.
        tau: see :class:`ChecklistRules`; also the others.
        tau_minus: share of yes up to which an item goes to replay as a no.
        beta: what the share of items passed counts if not all pass.
        aggregate: how the votes on an item become a judgment.

    Raises:
        InputError: no such field, votes that are none, or a judge that failed.
        ConfigError: a setting out of range.

    >>> record = reward_of_row({"votes": [[1, 1], [1, None], [0, 0]]})
    >>> record["parts"]["p"], record["parts"]["S"], record["parts"]["replay"]
    ([1.0, 0.5, 0.0], [0, 1], [1, None, 0])
    """
    rules = ChecklistRules(tau, tau_minus, beta, aggregate)
    if row.get("kind") == "unverified":
        raise InputError(f"it was not judged: {row.get('message')}")
    votes = check_votes(_votes_of(row))
    shares = [vote_share(one) for one in votes]
    score = soft_score([judgment(one, rules.tau, rules.aggregate) for one in votes])
    labels = [replay_label(share, rules) for share in shares]
    reward = generator_reward(score, rules.beta)
    parts: dict[str, Any] = {
        "p": shares,
        "s": score,
        "strict": float(score == 1),
        "generator": reward,
        "S": [*partition(shares, score)],
        "replay": [None if label is None else int(label) for label in labels],
    }
    if row.get("holistic") is not None:
        given: Any = row["holistic"]
        whole = as_votes(cast("object", given if isinstance(given, list) else [given]), "the whole")
        parts["holistic"] = judgment(whole, rules.tau, rules.aggregate)
    return {"total": reward, "parts": parts}


def _votes_of(row: Mapping[str, Any]) -> list[Votes]:
    given: Any = row.get("votes")
    if given is None and isinstance(row.get("findings"), list):
        findings = cast("list[Mapping[str, Any] | None]", row["findings"])
        given = [finding.get("votes") if isinstance(finding, Mapping) else finding for finding in findings]
    if not isinstance(given, list):
        raise InputError(f'the row has the keys {[*row]}, wanted "votes", a list of votes for each item')
    return [as_votes(one, f"item {k}") for k, one in enumerate(cast("list[Any]", given))]
