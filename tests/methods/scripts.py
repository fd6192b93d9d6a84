"""Replies for scripted models: SEVA records about one claim and source, whole or with something changed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from vouching.judging.verifier import Outcome
from vouching.methods.structured.verify import StructuredConfig, StructuredVerifier
from vouching.models import ScriptedModel
from vouching.types import Claim, Source, Unverified, Verdict

CLAIM = "The bridge opened in 1937."
SOURCE = "The bridge opened to traffic in 1973. It has two towers."
WRONG: dict[str, Any] = {
    "evidence_alignment": [
        {"claim_span": "The bridge opened", "source_span": "The bridge opened", "status": "match"},
        {"claim_span": "in 1937", "source_span": "in 1973", "status": "mismatch"},
    ],
    "reasoning_chain": [
        {
            "claim_part": "in 1937",
            "source_evidence": "in 1973",
            "judgment": "not_supported",
            "explanation": "The source says 1973.",
        }
    ],
    "label": "Not Attributable",
    "confidence": 0.9,
    "error_type": "temporal_shift",
    "fix_suggestion": "Change 1937 to 1973.",
    "revised_claim": None,
}
RIGHT: dict[str, Any] = {
    "evidence_alignment": [{"claim_span": "The bridge opened", "source_span": "The bridge opened", "status": "match"}],
    "reasoning_chain": [
        {
            "claim_part": "The bridge opened",
            "source_evidence": "The bridge opened",
            "judgment": "supported",
            "explanation": "The source says the same.",
        }
    ],
    "label": "Attributable",
    "confidence": 0.8,
    "error_type": None,
    "fix_suggestion": None,
    "revised_claim": None,
}


def reply(record: dict[str, Any] = WRONG, **changed: Any) -> str:
    """A record as a model writes it, with fields changed."""
    return json.dumps({**record, **changed})


def outcome(
    script: Any, claim: str = CLAIM, sources: str | Sequence[str] = SOURCE, **config: Any
) -> tuple[Outcome, ScriptedModel]:
    """What a verifier makes of one claim with a scripted model, and the model."""
    model = ScriptedModel(script)
    texts = [sources] if isinstance(sources, str) else sources
    given = [Source(text, id=f"source-{number}") for number, text in enumerate(texts, 1)]
    verifier = StructuredVerifier(model, StructuredConfig(**config))
    [found] = asyncio.run(verifier.verify([Claim(claim)], given))
    return found, model


def verdict(script: Any, claim: str = CLAIM, sources: str | Sequence[str] = SOURCE, **config: Any) -> Verdict:
    """The verdict on one claim; fails if there is none."""
    found, _ = outcome(script, claim, sources, **config)
    assert isinstance(found, Verdict), found
    return found


def unverified(script: Any, claim: str = CLAIM, sources: str | Sequence[str] = SOURCE, **config: Any) -> Unverified:
    """The failure on one claim; fails if there is a verdict."""
    found, _ = outcome(script, claim, sources, **config)
    assert isinstance(found, Unverified), found
    return found


def warned(found: Outcome, kind: str) -> list[str]:
    """Messages of the warnings of one kind."""
    return [warning.message for warning in found.warnings if warning.kind == kind]
