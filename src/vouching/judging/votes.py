"""Votes made into a share of yes and into one judgment; for J votes on an item of a checklist as in Soft-RLVR.

A vote is yes, no, or None where the answer was unclear. J stays what it is: an unclear vote is one that did not say
yes (Eqs. 6 to 8). The paper names four aggregators and gives the formula of the first; the others are ours:

    threshold    1[p >= tau]                                  Eq. 8
    majority     1[p > 1/2]: a tie is none
    shaped       p itself: the average, not made hard
    median       the median vote: 1, 0, or 1/2 for a tie

Left out: weights for votes, and votes that say how sure they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, cast, get_args

from vouching.errors import ConfigError, InputError

Votes: TypeAlias = Sequence[bool | None]
"""(J,) yes, no, or None for an answer that was unclear."""
Aggregate: TypeAlias = Literal["threshold", "majority", "shaped", "median"]
"""How votes become a judgment."""


def as_votes(given: object, where: str = "an item") -> Votes:
    """Votes as files have them: a list of 1 or true, 0 or false, and null.

    Args:
        given: the list.
        where: what was voted on, for the message.

    Raises:
        InputError: no list, or a vote that is none.

    >>> as_votes([1, False, None])
    (True, False, None)
    >>> as_votes([0.5], "item 2")
    Traceback (most recent call last):
    ...
    vouching.errors.InputError: item 2 has the vote 0.5, wanted 1 (yes), 0 (no) or null (unclear)
    """
    if given is None:
        raise InputError(f"{where} has no votes, its judge failed: a failure is no vote")
    if not isinstance(given, list | tuple):
        raise InputError(f"{where} has {given!r:.60}, wanted a list of votes")
    votes = cast("Sequence[object]", given)
    for vote in votes:
        if not (vote is None or (isinstance(vote, bool | int | float) and vote in (0, 1))):
            raise InputError(f"{where} has the vote {vote!r:.60}, wanted 1 (yes), 0 (no) or null (unclear)")
    return tuple(None if vote is None else bool(vote) for vote in votes)


def vote_share(votes: Votes) -> float:
    """p_k: the share of yes among all J votes (Eq. 7).

    Raises:
        InputError: no vote at all.

    >>> vote_share([True, False, None, True])
    0.5
    """
    if not len(votes):
        raise InputError("an item has no votes: nothing was judged, so there is nothing to count")
    return sum(vote is True for vote in votes) / len(votes)


def voted_share(votes: Iterable[bool | None]) -> float | None:
    """The share of yes among the votes that say yes or no; None without one.

    >>> voted_share([True, False, None, None]), voted_share([None])
    (0.5, None)
    """
    told = [vote for vote in votes if vote is not None]
    return sum(told) / len(told) if told else None


def majority_of(votes: Iterable[bool | None]) -> bool | None:
    """Whether more than half of the votes that say yes or no say yes; a tie is a no; None without one.

    >>> majority_of([True, True, False, None]), majority_of([True, False]), majority_of([None])
    (True, False, None)
    """
    share = voted_share(votes)
    return None if share is None else share > 0.5


def judgment(votes: Votes, tau: float = 0.75, aggregate: Aggregate = "threshold") -> float:
    """rho_k: what the votes come to, in [0, 1] (Eq. 8).

    Args:
        votes: on one item.
        tau: share of yes from which an item passes, in (0, 1]; only "threshold" reads it.
        aggregate: see above.

    Raises:
        InputError: no vote at all.
        ConfigError: another aggregator, or tau out of range.

    >>> [judgment([True, None], 0.5, by) for by in ("threshold", "majority", "shaped", "median")]
    [1.0, 0.0, 0.5, 0.5]
    """
    check_aggregate(tau, aggregate)
    share = vote_share(votes)
    if aggregate == "shaped":
        return share
    if aggregate == "median":
        return 0.5 if share == 0.5 else float(share > 0.5)
    return float(share > 0.5 if aggregate == "majority" else share >= tau)


def check_aggregate(tau: float, aggregate: str) -> None:
    """Raise ConfigError for an aggregator that there is not, or a threshold that everything or nothing reaches.

    >>> check_aggregate(0.0, "threshold")
    Traceback (most recent call last):
    ...
    vouching.errors.ConfigError: tau is 0.0, wanted a share of yes above 0 and at most 1
    """
    if aggregate not in get_args(Aggregate):
        raise ConfigError(f"the aggregator is {aggregate!r}, wanted one of {', '.join(get_args(Aggregate))}")
    if not 0 < tau <= 1:
        raise ConfigError(f"tau is {tau!r}, wanted a share of yes above 0 and at most 1")
