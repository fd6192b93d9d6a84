"""What a row can be found by: taken from its record when it is appended."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

Fields = Mapping[str, Any]


def summary_of(record: Fields) -> dict[str, Any]:
    """Label, error type, score, confidence, whether all passed, and the model, as far as the record has them.

    >>> summary_of({"kind": "verdict", "label": "Not Attributable", "error_type": "negation", "score": 0.1,
    ...     "confidence": 0.9, "provenance": {"model": "embedded"}})
    {'label': 'Not Attributable', 'error_type': 'negation', 'score': 0.1, 'confidence': 0.9, 'passed': False, \
'model': 'embedded'}
    """
    findings = _findings(record)
    outcomes = [_passed(finding) for finding in findings]
    passed = False if False in outcomes else True if outcomes and None not in outcomes else None
    label = _text(record.get("label"))
    if label is None and findings:
        label = {True: "passed", False: "failed", None: "unverified"}[passed]
    errors = Counter(filter(None, (_text(finding.get("error_type")) for finding in findings)))
    sure = [number for number in (_number(finding.get("confidence")) for finding in findings) if number is not None]
    return {
        "label": label,
        "error_type": errors.most_common(1)[0][0] if errors else None,
        "score": _number(record.get("score", record.get("total"))),
        "confidence": min(sure, default=None),
        "passed": passed,
        "model": _text(of_first(record, "provenance").get("model")),
    }


def of_first(record: Fields, name: str) -> Fields:
    """A part of the record, such as its provenance; else of its first finding that has one."""
    for part in (record, *_findings(record)):
        if isinstance(found := part.get(name), Mapping):
            return cast("Fields", found)
    return {}


def _findings(record: Fields) -> Sequence[Fields]:
    """The findings of a report, the units of an assurance, or the record itself if it is one."""
    for key in ("findings", "units"):
        if isinstance(found := record.get(key), Sequence):
            return [cast("Fields", one) for one in cast("Sequence[Any]", found) if isinstance(one, Mapping)]
    return [record] if record.get("kind") in {"verdict", "unverified", "item", "pair", "unit", "context"} else []


def _passed(finding: Fields) -> bool | None:
    """As the property of that name of the finding."""
    match finding.get("kind"):
        case "verdict":
            return finding.get("label") == "Attributable"
        case "item":
            return bool(finding.get("passed"))
        case "pair":
            return None if finding.get("outcome") == "leaked" else finding.get("outcome") == "same"
        case "context":
            judged = [finding.get("sufficient"), finding.get("addresses")]
            return all(cast("Fields", one).get("holds") for one in judged if isinstance(one, Mapping))
        case "unit":
            return not finding.get("challenged") or finding.get("decision") == "revise"
        case _:
            return None


def _text(value: Any) -> str | None:
    return value.encode("utf-8", "replace").decode().replace("\0", "?") if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return None
    return float(value)
