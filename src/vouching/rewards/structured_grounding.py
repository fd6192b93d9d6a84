"""The grounded variant's own rule: a span counts only if it stands in the claim, or in a source.

SEVA's alignment score asks how long a quotation is, so a policy can earn all of it with words of its own. Left out:
the chain of reasoning, whose evidence a model may put in its own words, and whether a span is where its meaning is: one
frequent word is found nearly anywhere, and a long quotation with one figure changed is still similar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from rapidfuzz import fuzz

NOT_FOUND = "NOT_FOUND"
"""What SEVA writes for a source span that does not exist. It has 9 characters and so passes every test of length."""
MIN_SIMILARITY = 90.0
"""Least similarity of a span and the best stretch of the text, from 0 to 100."""
LONGEST_SIMILAR = 500
"""Characters of a span beyond which it must stand in the text word by word, so that no reply takes long."""
MOST_LOCATED = 64
"""Entries whose spans are looked for; those of later ones count as not found, so that no reply takes long."""


def strike_ungrounded(entries: object, claim: str, sources: Sequence[str]) -> list[object]:
    """The alignment with every span emptied that is not in its text; a match that rests on one becomes None.

    A match says that both texts have the words, so it needs both spans; ``NOT_FOUND`` is none.

    Args:
        entries: ``evidence_alignment`` as a model wrote it.
        claim: where claim spans are looked for.
        sources: where source spans are looked for; any of them will do.

    Returns:
        As many entries, for :func:`~vouching.rewards.structured.alignment_quality`; none if ``entries`` is no list.

    >>> entry = {"claim_span": "12 countries", "source_span": "nine towns", "status": "mismatch"}
    >>> struck = strike_ungrounded([entry, {**entry, "status": "match"}], "In 12  Countries.", ["In 8 nations."])
    >>> struck[0]["claim_span"], struck[0]["source_span"], struck[1]
    ('12 countries', '', None)
    """
    if not isinstance(entries, list | tuple):
        return []
    here, there = (_folded(claim),), tuple(_folded(source) for source in sources)
    members = cast("Sequence[object]", entries)
    return [_struck(entry, here, there, number < MOST_LOCATED) for number, entry in enumerate(members)]


def occurs(span: str, texts: Sequence[str]) -> bool:
    """Whether a span stands in one of the folded ``texts``, whatever its case and white space, or nearly so.

    >>> occurs("The  Bridge", ["the bridge opened."]), occurs("", ["the bridge opened."])
    (True, False)
    """
    wanted = _folded(span)
    if not wanted:
        return False
    if any(wanted in text for text in texts):
        return True
    # partial_ratio looks for the shorter in the longer, and it is the text that must hold the span.
    return len(wanted) <= LONGEST_SIMILAR and any(
        len(wanted) <= len(text) and fuzz.partial_ratio(wanted, text, score_cutoff=MIN_SIMILARITY) > 0 for text in texts
    )


def _struck(entry: object, claim: tuple[str, ...], sources: tuple[str, ...], looked_for: bool) -> object:
    if not isinstance(entry, dict):
        return entry
    record = cast("Mapping[str, object]", entry)
    claim_span, source_span = record.get("claim_span"), record.get("source_span")
    quoted = looked_for and isinstance(claim_span, str) and occurs(claim_span, claim)
    backed = looked_for and isinstance(source_span, str) and source_span != NOT_FOUND and occurs(source_span, sources)
    if record.get("status") == "match" and not (quoted and backed):
        return None
    return {
        **record,
        "claim_span": claim_span if quoted else "",
        "source_span": source_span if backed or source_span == NOT_FOUND else "",
    }


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
