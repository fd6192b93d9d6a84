"""A policy's reply, read as SEVA's reward reads it: one JSON parse, nothing mended, and labels by an exact table.

What cannot be read is the policy's failure and scores 0; nothing here raises on any text. Departures from the authors'
released code, which falls back on a search for parts of label names in an unordered set, so that "Not Attributable."
is either label by chance: here case, punctuation and ``_``/``-`` are set aside and the rest must be in the table.
Left out: mending broken JSON, which is for replies that are used, not for those that are graded.

The grounded variant's own rule: a span counts only if it stands in the claim, or in a source.

SEVA's alignment score asks how long a quotation is, so a policy can earn all of it with words of its own. Left out:
the chain of reasoning, whose evidence a model may put in its own words, and whether a span is where its meaning is: one
frequent word is found nearly anywhere, and a long quotation with one figure changed is still similar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

from rapidfuzz import fuzz

from vouching.types import Label

_FENCE_LINE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+")
_LONGEST_LABEL = 40
"""Characters; a label that is longer is none."""
LABELS: Mapping[str, Label] = {
    **dict.fromkeys(("attributable", "supported", "yes", "true", "entailment"), "Attributable"),
    **dict.fromkeys(
        ("not attributable", "not supported", "no", "false", "contradiction", "neutral"), "Not Attributable"
    ),
}
"""What counts as which label (SEVA Table 13), in lower case with one blank between words."""


def read_record(response: str) -> dict[str, Any] | None:
    r"""The JSON object of a reply: from its first ``{`` to its last ``}``, without lines that only fence code.

    Args:
        response: all that the policy wrote.

    Returns:
        The object; None if there is none, or if JSON does not read it: NaN and infinity are no JSON, and an object
        nested deeper than Python can follow is not read either. Of a key that occurs twice the last value counts.

    >>> read_record('Here it is:\n```json\n{"label": "yes"}\n```'), read_record('{"label": "yes"'), read_record("yes")
    ({'label': 'yes'}, None, None)
    """
    start, end = response.find("{"), response.rfind("}")
    if start < 0 or end < start:
        return None
    text = response[start : end + 1]
    if "```" in text:
        text = _FENCE_LINE.sub("", text)
    try:
        # Whole numbers are read as floats: as an int, one of 5,000 digits is an error in Python, though none in JSON.
        record: object = json.loads(text, parse_int=float, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return None
    # What begins with { is an object, if it is read at all.
    return cast("dict[str, Any]", record) if isinstance(record, dict) else None


def label_of(record: Mapping[str, Any]) -> Label | None:
    """The label that a record states; None for anything that :data:`LABELS` does not have.

    >>> [label_of({"label": written}) for written in ("**Not_Attributable.**", "Supported", "unclear", True)]
    ['Not Attributable', 'Attributable', None, None]
    """
    written = record.get("label")
    if not isinstance(written, str) or len(written) > _LONGEST_LABEL:
        return None
    return LABELS.get(" ".join(_WORD.findall(written.lower())))


def stated_confidence(record: Mapping[str, Any]) -> float:
    """The confidence that a record states, held to [0, 1]; .5 if it is missing or no number.

    >>> [stated_confidence({"confidence": written}) for written in (0.8, 7, "0.8", True)]
    [0.8, 1.0, 0.5, 0.5]
    """
    value = record.get("confidence")
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return 0.5
    return float(min(1.0, max(0.0, value)))


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


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
        As many entries, for ``alignment_quality``; none if ``entries`` is no list.

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
