"""A policy's reply, read as SEVA's reward reads it: one JSON parse, nothing mended, and labels by an exact table.

What cannot be read is the policy's failure and scores 0; nothing here raises on any text. Departures from the authors'
released code, which falls back on a search for parts of label names in an unordered set, so that "Not Attributable."
is either label by chance: here case, punctuation and ``_``/``-`` are set aside and the rest must be in the table.
Left out: mending broken JSON, which is for replies that are used, not for those that are graded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn, cast

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
