"""What the rules find has a version, which rewards name: a change of it is a decision."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from vouching.embedded.compared import RULES
from vouching.embedded.verify import EmbeddedVerifier
from vouching.types import Claim, Source

CONTRAST = Path(__file__).parents[1] / "data/contrast/dev"
DIGESTS = {"rules-1": "5e34c01f68130c5d", "rules-2": "dcd2339e01d5c4a1"}
"""Of the alignments of 200 claims, by version. A new version gets a line of its own."""


def digest_of_alignments() -> str:
    """The places and statuses that the grounded reward reads, of every tenth claim of the contrast corpus."""
    rows = [json.loads(line) for line in (CONTRAST / "claims.jsonl").read_text("utf-8").splitlines()][::10][:200]
    verifier, found = EmbeddedVerifier(), hashlib.sha256()
    for row in rows:
        source = next((CONTRAST / "documents").glob(f"{row['document']}.*")).read_text("utf-8")
        for entry in verifier.judge(Claim(row["claim"]), [Source(source)]).evidence_alignment:
            span = entry.source_span
            place = None if span is None else (span.start, span.end)
            found.update(repr((entry.claim_span.start, entry.claim_span.end, place)).encode())
    return found.hexdigest()[:16]


def test_the_rules_find_what_their_version_says() -> None:
    assert digest_of_alignments() == DIGESTS[RULES], "raise RULES: rewards of runs that began before would change"
