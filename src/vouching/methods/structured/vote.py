"""From several answers to one: votes on the same question, and windows of the same sources.

Votes: the label of the majority wins; the score is the share of votes for Attributable (self-consistency, Wang et al.
2023), and the record is the best grounded, then the surest, of the winning side. A tie is no label: one half either way
says that the model does not know, and drawing again until it does would hide that. Windows: support in one is support;
without it, a contradiction in one is a contradiction. Left out: a claim that needs sentences from two windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from vouching.methods.structured.reading import LocatedReply
from vouching.types import Claim, Unverified, VerdictWarning


@dataclass(frozen=True, slots=True)
class Elected:
    """What the answers come to, before calibration."""

    reading: LocatedReply
    """The record that stands for them."""
    score: float
    """P(Attributable) as stated, or the share of votes for it."""


Election: TypeAlias = Elected | Unverified


def elect(claim: Claim, votes: Sequence[LocatedReply | Unverified]) -> Election:
    """What several answers to one question come to.

    Args:
        claim: what they are about.
        votes: one or more answers; those that failed have no vote.

    Returns:
        The majority's best record; Unverified with the first failure's reason if more than half failed, and with
        "undecided" in a tie.

    >>> yes, no = LocatedReply("Attributable", 0.9), LocatedReply("Not Attributable", 0.8)
    >>> elect(Claim("x"), [no, yes, yes]).score, elect(Claim("x"), [yes]).score
    (0.6666666666666666, 0.9)
    >>> elect(Claim("x"), [yes, no]).reason
    'undecided'
    """
    cast = [vote for vote in votes if isinstance(vote, LocatedReply)]
    failed = [vote for vote in votes if isinstance(vote, Unverified)]
    if 2 * len(failed) > len(votes) or not cast:
        if len(votes) == 1:
            return failed[0]
        return replace(failed[0], message=f"{len(failed)} of {len(votes)} votes failed; the first: {failed[0].message}")
    if len(votes) == 1:
        return Elected(cast[0], cast[0].probability)
    supporters = [vote for vote in cast if vote.label == "Attributable"]
    others = [vote for vote in cast if vote.label != "Attributable"]
    if len(supporters) == len(others):
        message = f"{len(cast)} votes, half of them for each label: ask an odd number, or decide by hand"
        return Unverified(claim, "undecided", message)
    winners = max(supporters, others, key=len)
    best = max(winners, key=lambda vote: (vote.grounded, vote.stated))
    stated = sum(vote.stated for vote in winners) / len(winners)
    return Elected(replace(best, stated=stated), len(supporters) / len(cast))


def merge(windows: Sequence[Election]) -> Election:
    """What the windows of long sources come to.

    Args:
        windows: one or more results, in the order of the text.

    Returns:
        The surest Attributable result if there is one, else the surest contradiction, else the least unlikely of the
        rest. Unverified if a window failed and no other one supports the claim: the support may stand there.

    >>> against, for_it = LocatedReply("Not Attributable", 0.9), LocatedReply("Attributable", 0.8)
    >>> merge([Elected(against, 0.1), Elected(for_it, 0.8)]).score
    0.8
    """
    read = [result for result in windows if isinstance(result, Elected)]
    failed = [result for result in windows if isinstance(result, Unverified)]
    supporting = [result for result in read if result.reading.label == "Attributable"]
    if failed and not supporting:
        if len(windows) == 1:
            return failed[0]
        what = f"{len(failed)} of {len(windows)} windows of the sources could not be read; the first: "
        return replace(failed[0], message=what + failed[0].message)
    against = [result for result in read if result.reading.relation == "contradicted"]
    if supporting:
        best = max(supporting, key=lambda result: result.score)
        return _with_notes(best, len(failed), len([result for result in against if result not in supporting]))
    return min(against, key=lambda r: r.score) if against else max(read, key=lambda r: r.score)


def _with_notes(best: Elected, unread: int, against: int) -> Elected:
    notes: list[VerdictWarning] = []
    if unread:
        windows = f"{unread} further window{'s' * (unread != 1)}"
        notes.append(VerdictWarning("unread", f"{windows} of the sources could not be read."))
    if against:
        windows = "1 other window contradicts" if against == 1 else f"{against} other windows contradict"
        notes.append(VerdictWarning("conflict", f"{windows} the claim."))
    return replace(best, reading=replace(best.reading, warnings=(*best.reading.warnings, *notes)))
