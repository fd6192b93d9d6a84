"""From votes to a share of yes and a judgment; for J votes on a checklist item as in Soft-RLVR.

A vote is yes, no, or None for an unclear answer. J counts all votes: an unclear vote is not a yes (Eqs. 6 to 8). The
paper names four aggregators and defines the first; the others are ours:

    threshold    1[p >= tau]                                  Eq. 8
    majority     1[p > 1/2]: a tie is 0
    shaped       p itself
    median       the median vote: 1, 0, or 1/2 for a tie

Not supported: weighted votes and votes with a confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, cast, get_args

from vouching.errors import ConfigError, InputError
from vouching.types.visible import shown_json

Votes: TypeAlias = Sequence[bool | None]
"""(J,) yes, no, or None for an unclear answer."""
Aggregate: TypeAlias = Literal["threshold", "majority", "shaped", "median"]
"""How votes become a judgment."""


def as_votes(given: object, where: str = "an item") -> Votes:
    """Votes from JSON: a list of 1 or true, 0 or false, and null. Raises InputError, naming ``where``, otherwise."""
    if given is None:
        raise InputError(f"{where} has no votes because its judge failed")
    if not isinstance(given, list | tuple):
        raise InputError(f"{where}: expected a list of votes, got {shown_json(given)}")
    votes = cast("Sequence[object]", given)
    for vote in votes:
        if not (vote is None or (isinstance(vote, bool | int | float) and vote in (0, 1))):
            raise InputError(f"{where}: each vote must be 1 (yes), 0 (no) or null (unclear), got {shown_json(vote)}")
    return tuple(None if vote is None else bool(vote) for vote in votes)


def vote_share(votes: Votes) -> float:
    """p_k: the share of yes among all J votes (Eq. 7). Raises InputError without a vote."""
    if not len(votes):
        raise InputError("an item has no votes: expected at least one")
    return sum(vote is True for vote in votes) / len(votes)


def voted_share(votes: Iterable[bool | None]) -> float | None:
    """The share of yes among the clear votes; None without one."""
    clear = [vote for vote in votes if vote is not None]
    return sum(clear) / len(clear) if clear else None


def majority_of(votes: Iterable[bool | None]) -> bool | None:
    """Whether more than half of the clear votes are yes; a tie is a no; None without a clear vote.

    >>> majority_of([True, True, False, None]), majority_of([True, False]), majority_of([None])
    (True, False, None)
    """
    share = voted_share(votes)
    return None if share is None else share > 0.5


def judgment(votes: Votes, tau: float = 0.75, aggregate: Aggregate = "threshold") -> float:
    """rho_k: the aggregated votes, in [0, 1] (Eq. 8); only "threshold" uses ``tau``. Raises InputError without votes.

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
    """Raise ConfigError for an unknown aggregator, or a threshold that all or no votes reach."""
    if aggregate not in get_args(Aggregate):
        raise ConfigError(f"unknown aggregator {aggregate!r}; expected one of {', '.join(get_args(Aggregate))}")
    if not 0 < tau <= 1:
        raise ConfigError(f"tau must be above 0 and at most 1, got {tau!r}")
