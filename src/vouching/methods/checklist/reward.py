"""Rewards of a checklist: the generator's, the verifier's, and Soft-SVeRL's replay and partition (Algorithm 1).

    p_k = yes / J                        line 7, Eq. 7     an unclear vote counts 0, J stays
    rho_k = 1[p_k >= tau]                line 8, Eq. 8     or another aggregator
    s = mean rho_k                       line 10, Eq. 5    the soft reward
    R = 1[s = 1] + beta s 1[s < 1]       line 11           beta = 1: soft; beta = 0: strict
    replay: p_k >= tau yes, p_k <= tau_minus no            lines 14 to 18
    S = {k: p_k > 0 and s < 1}           line 20
    r = 1[parse(z) = l]                  line 24           the verifier's reward
    r = d_kj for k in S                  line 28           the rows of the partition penalty

As in Algorithm 1, one threshold, tau_plus, serves for passing and for replay, and replay tags depend on p_k alone,
whatever the aggregator. The paper's text calls S "mixed-vote items", while line 20 also keeps items that got only yes
votes in a failed response; this module follows line 20. The paper does not publish beta; .5 is ours. A failed judge
gives no reward: an Unverified, not a 0. Both games, the command and the adapters go through :func:`report_reward`.

Not supported here: sampling from the buffers, and the weights lambda_v and lambda_p, which belong to training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from vouching.errors import ConfigError, InputError
from vouching.judging.votes import Aggregate, Votes, as_votes, check_aggregate, judgment, vote_share
from vouching.methods.checklist.verify import WHOLE, ChecklistVerifier
from vouching.methods.table import RewardLines
from vouching.models.base import spoken
from vouching.types import ChecklistItem, ItemResult, Report, Reward, Unverified
from vouching.types.visible import value_fault

PARTS = ("s", "strict", "yes", "unclear")
"""Names of the parts: soft score, strict success, mean share of yes, share of unclear votes; all in [0, 1]."""


@dataclass(frozen=True, slots=True)
class ChecklistRules:
    """How votes become rewards. Raises ConfigError for a value out of range."""

    tau: float = 0.75
    """tau_plus: share of yes votes from which an item passes, and is replayed as a yes; in (0, 1]."""
    tau_minus: float = 0.375
    """Share of yes votes up to which an item is replayed as a no, in [0, 1]."""
    beta: float = 0.5
    """Weight of the soft score where not all items pass, in [0, 1]."""
    aggregate: Aggregate = "threshold"

    def __post_init__(self) -> None:
        check_aggregate(self.tau, self.aggregate)
        for name in ("tau_minus", "beta"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be in [0, 1], got {getattr(self, name)!r}")


PAPER = ChecklistRules()
"""The paper's thresholds, and our beta."""


def checklist_reward(votes_KJ: Sequence[Votes | Unverified], rules: ChecklistRules = PAPER) -> Reward | Unverified:
    """The generator's reward for one response (Algorithm 1, lines 7 to 11).

    Args:
        votes_KJ: J votes on each item; a single one on an item decided by a rule.
        rules: how votes are counted.

    Returns:
        R with its parts; the first Unverified where the judge failed on an item. Raises InputError for no item, an item
        without votes, or items with different numbers of votes.

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


def report_reward(report: Report, rules: ChecklistRules = PAPER) -> Reward | Unverified:
    """The reward for a report, judged item by item or as a whole (Eq. 3); Unverified where the judge failed."""
    findings = [one for one in report.findings if isinstance(one, ItemResult | Unverified)]
    if len(findings) < len(report.findings):
        raise InputError("the report has findings that are not items of a checklist (vouch follow --method checklist)")
    votes = [one if isinstance(one, Unverified) else one.votes for one in findings]
    whole = [one.question for one in findings if isinstance(one, ItemResult)] == [WHOLE]
    return holistic_reward(votes[0], rules) if whole else checklist_reward(votes, rules)


async def reply_reward(
    verifier: ChecklistVerifier,
    instruction: str,
    reply: str,
    items: Sequence[ChecklistItem] | None = None,
    rules: ChecklistRules = PAPER,
) -> Reward | Unverified:
    """The reward of a policy's reply, without its reasoning; a blank reply passes nothing and is not judged.

    Args:
        verifier: the judge; the threshold and aggregator of ``rules`` override those of its settings.
        instruction: what the reply answers.
        reply: the policy's text.
        items: the checklist; None takes the verifier's own, or makes one.
        rules: how votes become rewards.


    >>> import asyncio
    >>> from vouching.models import ScriptedModel
    >>> judge = ChecklistVerifier(ScriptedModel({"Is it a bridge": "yes", "Is it in": "no"}))
    >>> items = [ChecklistItem("Is it a bridge?"), ChecklistItem("Is it in Japan?")]
    >>> asyncio.run(reply_reward(judge, "Name a bridge in Japan.", "Tower Bridge.", items)).total  # .5 * 1/2
    0.25
    """
    return report_reward(await reply_report(verifier, instruction, reply, items), rules)


async def reply_report(
    verifier: ChecklistVerifier, instruction: str, reply: str, items: Sequence[ChecklistItem] | None = None
) -> Report:
    """The report behind :func:`reply_reward`, with the same arguments."""
    response = spoken(reply).strip()
    if response:
        return await verifier.verify(instruction, response, items=items)
    [report] = await verifier.verify_all([(instruction, "", items or (ChecklistItem(WHOLE),))])
    return report


def check_votes(votes_KJ: Sequence[Votes]) -> Sequence[Votes]:
    """Return the votes. Raises InputError unless they are those of one checklist: K items with J votes or one."""
    if not len(votes_KJ):
        raise InputError("the checklist has no items: expected at least one")
    counts = [*dict.fromkeys(map(len, votes_KJ))]
    if 0 in counts:
        raise InputError(
            "an item has no votes: use null for an item whose judge failed, so that the row gets no reward"
        )
    if len({*counts} - {1}) > 1:
        listed = f"{', '.join(map(str, counts[:-1]))} and {counts[-1]}"
        raise InputError(
            f"the items have {listed} votes, expected the same number for each item, or one where a rule decides"
        )
    return votes_KJ


def soft_score(judgments_K: Sequence[float]) -> float:
    """s: the share of items passed (Eq. 5; Algorithm 1, line 10). Raises InputError for no item."""
    if not len(judgments_K):
        raise InputError("the checklist has no items: expected at least one")
    return sum(judgments_K) / len(judgments_K)


def generator_reward(score: float, beta: float = PAPER.beta) -> float:
    """R = 1[s = 1] + beta s 1[s < 1] (Algorithm 1, line 11).

    With beta below 1, passing the last item is worth more. beta = 1 is the soft reward, 0 the strict one.

    >>> [generator_reward(score, beta=0.5) for score in (1, 0.8, 0)]
    [1.0, 0.4, 0.0]
    """
    return 1.0 if score == 1 else beta * score


def holistic_reward(votes_J: Votes | Unverified, rules: ChecklistRules = PAPER) -> Reward | Unverified:
    """The reward of J votes on the whole response (Eq. 3)."""
    if isinstance(votes_J, Unverified):
        return votes_J
    score = judgment(votes_J, rules.tau, rules.aggregate)
    unclear = sum(vote is None for vote in votes_J) / len(votes_J)
    return Reward(score, {"s": score, "strict": float(score == 1), "yes": vote_share(votes_J), "unclear": unclear})


def replay_label(share: float, rules: ChecklistRules = PAPER) -> bool | None:
    """The label of an item in the verifier's replay buffer (Algorithm 1, lines 14 to 18); None: not used.

    >>> [replay_label(share) for share in (0.75, 0.5, 0.375)]
    [True, None, False]
    """
    if share >= rules.tau:
        return True
    return False if share <= rules.tau_minus else None


def partition(shares_K: Sequence[float], score: float) -> tuple[int, ...]:
    """S for one response: positions from 0 of the items with a yes although not all items pass (Algorithm 1, line 20).

    ``shares_K`` is p_k. S(x) of a group is the union over its responses.

    >>> partition([1.0, 0.5, 0.0], score=1 / 3), partition([1.0, 1.0], score=1.0)
    ((0, 1), ())
    """
    return tuple(k for k, share in enumerate(shares_K) if share > 0) if score < 1 else ()


def partition_rewards(votes_J: Votes) -> tuple[float, ...]:
    """d_kj of the votes on an item of S (Algorithm 1, lines 26 to 30), the terms of J_part."""
    return tuple(float(vote is True) for vote in votes_J)


def verifier_reward(vote: bool | None, label: bool) -> float:
    """1[parse(z) = l] (Algorithm 1, line 24); an answer that is neither yes nor no is never correct."""
    return float(vote is not None and vote == label)


def reward_of_row(
    row: Mapping[str, Any],
    *,
    tau: float = PAPER.tau,
    tau_minus: float = PAPER.tau_minus,
    beta: float = PAPER.beta,
    aggregate: Aggregate = PAPER.aggregate,
) -> dict[str, Any]:
    """Total and parts of a row from a file: all quantities of Algorithm 1 for the votes on one response.

    The row has ``votes``, or the ``findings`` of a report, and optionally ``holistic``; the other arguments are those
    of :class:`ChecklistRules`. Raises InputError for unusable votes or a failed judge.

    >>> record = reward_of_row({"votes": [[1, 1], [1, None], [0, 0]]})
    >>> record["parts"]["p"], record["parts"]["S"], record["parts"]["replay"]
    ([1.0, 0.5, 0.0], [0, 1], [1, None, 0])
    """
    rules = ChecklistRules(tau, tau_minus, beta, aggregate)
    if row.get("kind") == "unverified":
        raise InputError(f"the row was not judged: {row.get('message')}")
    report = _report_of(row, rules)
    reward = report_reward(report, rules)
    if isinstance(reward, Unverified):  # not reached with votes from a file
        raise InputError(f"the judge failed ({reward.reason}): a failed judgement gives no reward")
    shares = [one.score for one in report.findings if isinstance(one, ItemResult)]
    score = reward.parts["s"]
    labels = [replay_label(share, rules) for share in shares]
    parts: dict[str, Any] = {
        "p": shares,
        "s": score,
        "strict": reward.parts["strict"],
        "generator": reward.total,
        "S": [*partition(shares, score)],
        "replay": [None if label is None else int(label) for label in labels],
    }
    if row.get("holistic") is not None:
        given: Any = row["holistic"]
        found = as_votes(cast("object", given if isinstance(given, list) else [given]), "the whole response")
        parts["holistic"] = judgment(found, rules.tau, rules.aggregate)
    return {"total": reward.total, "parts": parts}


REWARD_LINES = RewardLines(
    ("votes", "findings"),
    lambda line: {"strict": int(line["parts"]["strict"])},
    lambda counts: f", {counts['strict']:,} with all items passed",
)
"""Lines of ``vouch reward checklist``."""


def _report_of(row: Mapping[str, Any], rules: ChecklistRules) -> Report:
    """The votes of a row as a report."""
    given: Any = row.get("votes")
    questions: list[str] = []
    if given is None and isinstance(row.get("findings"), list):
        findings = cast("list[Mapping[str, Any] | None]", row["findings"])
        questions = [str(one.get("question")) if isinstance(one, Mapping) else "" for one in findings]
        given = [one.get("votes") if isinstance(one, Mapping) else one for one in findings]
    if not isinstance(given, list):
        raise InputError(value_fault(row, "votes", "a list of votes for each item"))
    votes = [as_votes(one, f"item {k}") for k, one in enumerate(cast("list[Any]", given))]
    shares = [vote_share(one) if one else 0.0 for one in votes]
    questions = questions or [f"item {k}" for k in range(len(votes))]
    judged = zip(questions, votes, shares, strict=True)
    return Report("", (), tuple(ItemResult(item, tuple(one), share, share >= rules.tau) for item, one, share in judged))
