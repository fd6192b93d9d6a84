"""What must not matter does not change a verdict: case, spaces, typography, unrelated text, a source given twice."""

from __future__ import annotations

from functools import cache

import pytest

import vouching
from benchmarks import invariance
from vouching.embedded.verify import EmbeddedVerifier
from vouching.types import Claim, Source

CHECKER = vouching.Checker("embedded:rules")
ROWS = invariance.contrast_rows(300)
AT_MOST = {"claim in capitals": 0.03, "claim in lower case": 0.03, "both in lower case": 0.05}
"""Share of labels that may change; below 1 % for all other changes. Names of ordinary words cannot be told from other
words once their capitals are gone ("the Team plan", "Upper Stowe")."""


@cache
def labels() -> list[str]:
    return [invariance.judge(CHECKER, row).label for row in ROWS]


@pytest.mark.parametrize("name", invariance.CHANGES)
def test_what_must_not_matter_changes_nearly_no_label(name: str) -> None:
    changed = [
        row.claim
        for row, label in zip(ROWS, labels(), strict=True)
        if invariance.judge(CHECKER, invariance.CHANGES[name](row)).label != label
    ]
    assert len(changed) / len(ROWS) < AT_MOST.get(name, 0.01), changed


@pytest.mark.parametrize("name", invariance.CHANGES)
def test_each_change_changes_most_texts(name: str) -> None:
    assert sum(invariance.CHANGES[name](row) != row for row in ROWS) > 0.1 * len(ROWS)


def test_a_verdict_quotes_the_claim_and_the_source_as_they_were_written() -> None:
    claim, source = "THE BRIDGE  WAS O\u00adPENED IN\u00a01937.", "The  bridge\u00a0was op\u00adened in  1973."
    verdict = EmbeddedVerifier().judge(Claim(claim), [Source(source)])
    for entry, step in zip(verdict.evidence_alignment, verdict.reasoning_chain, strict=False):
        assert claim[entry.claim_span.start : entry.claim_span.end] == entry.claim_span.text == step.claim_part
        if entry.source_span is not None:
            assert source[entry.source_span.start : entry.source_span.end] == entry.source_span.text
    assert [entry.claim_span.text for entry in verdict.evidence_alignment][-1] == "O\u00adPENED IN\u00a01937"
    assert verdict.error_type == "temporal_shift"
