"""Replies that the tests of rewards share, and texts that they quote."""

from __future__ import annotations

import json
from typing import Any

CLAIM = "The study involved 500 participants from 12 countries."
SOURCE = "The research included 500 volunteers from 8 different nations."
ENTRY: dict[str, Any] = {"claim_span": "12 countries", "source_span": "8 different nations", "status": "mismatch"}
STEP: dict[str, Any] = {
    "claim_part": "12 countries",
    "source_evidence": "8 different nations",
    "judgment": "not_supported",
    "explanation": "The source says 8.",
}
RECORD: dict[str, Any] = {
    "evidence_alignment": [{"claim_span": "500", "source_span": "500", "status": "match"}, ENTRY],
    "reasoning_chain": [STEP],
    "label": "Not Attributable",
    "confidence": 0.8,
    "error_type": "numerical_exaggeration",
    "fix_suggestion": "Change 12 to 8.",
}
"""Perfect for a claim that is Not Attributable."""


def reply(**changes: Any) -> str:
    """:data:`RECORD` as a policy writes it, with other values; a value of ``...`` leaves its key out."""
    record = {**RECORD, **changes}
    return json.dumps({key: value for key, value in record.items() if value is not ...})


def supported(**changes: Any) -> str:
    """A perfect reply for a claim that is Attributable."""
    entries = [{**entry, "status": "match"} for entry in RECORD["evidence_alignment"]]
    chain = [{**STEP, "judgment": "supported"}]
    agreeing = {"evidence_alignment": entries, "reasoning_chain": chain, "label": "Attributable"}
    return reply(**{**agreeing, "error_type": ..., "fix_suggestion": ..., **changes})
