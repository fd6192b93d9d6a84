"""Verdicts of chosen scores in a ledger, for tests of the queue."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from vouching.ledger import Entry, Ledger
from vouching.review import ItemId, ReviewQueue
from vouching.types import Claim, Provenance, Verdict
from vouching.types.review import Policy
from vouching.types.serial import to_json


def verdict(score: float, claim: str = "It opened in 1937.", error_type: str | None = None) -> Verdict:
    """A verdict as checks make it, with the threshold one half."""
    right = score >= 0.5
    return Verdict(
        Claim(claim),
        "Attributable" if right else "Not Attributable",
        score,
        max(score, 1 - score),
        0.5,
        "supported" if right else "contradicted",
        error_type=None if right else error_type or "temporal_shift",  # type: ignore[arg-type]
        provenance=Provenance("scripted", "1", prompt_hash="p" * 64),
    )


def entry(score: float, stream: str = "s", caller: str = "bot", claim: str = "It opened in 1937.") -> Entry:
    inputs = {"claim": claim, "sources": [{"text": f"About {claim}", "id": "doc"}]}
    return Entry(stream, "check", inputs, json.loads(to_json(verdict(score, claim))), caller)


def keep(ledger: Ledger, scores: Sequence[float], stream: str = "s", caller: str = "bot") -> list[ItemId]:
    """One row per score; the ids of their verdicts."""
    entries = [entry(score, stream, caller, f"Claim {n} of {stream}.") for n, score in enumerate(scores)]
    return [ItemId(id) for id in ledger.append(entries)]


def decision(
    id: ItemId,
    label: str,
    reviewer: str = "ann",
    error_type: str | None = None,
    stream: str = "s",
    by: tuple[str, int] = ("sampled", 0),
) -> Entry:
    """The entry that the queue appends for a decision on what was taken by a policy and a seed."""
    said = {
        "action": "decide",
        "finding": id.finding,
        "policy": by[0],
        "seed": by[1],
        "label": label,
        "error_type": error_type,
    }
    record = {"kind": "review", **said, "note": ""}
    return Entry(stream, "review", {}, record, reviewer, provenance={"review": said}, about=id.row)


def review_sample(
    queue: ReviewQueue,
    gold: Mapping[ItemId, str],
    number: int | None = None,
    reviewer: str = "ann",
    policy: Policy = "sampled",
) -> None:
    """Decide the first verdicts of an order, by default all, in one transaction: much faster than one by one."""
    done = {review.item for review in queue.audit(reviewer=reviewer, limit=10_000)}
    lines = [line for line in queue.lines(policy, limit=10_000) if line.id in {*gold} - done][:number]
    by = (policy, queue.seed)
    queue.ledger.append([decision(one.id, gold[one.id], reviewer, stream=one.stream, by=by) for one in lines])
