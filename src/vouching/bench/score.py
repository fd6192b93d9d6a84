"""Scoring of claims and responses: one JSON object per row, enough for every figure.

Besides the verifier's score it holds that of word overlap, and how well the verdict fills SEVA's record (section 3.2,
Table 5). Rows with a gold label and a verdict become arrays for the metrics; other rows are only counted.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vouching.bench.rows import BenchRow, Offsets, group_keys, unread
from vouching.checker import Checker, run
from vouching.errors import InputError
from vouching.methods.structured.reward import alignment_quality, chain_quality
from vouching.metrics import document_numbers, span_counts, token_counts
from vouching.rows.pool import AsyncWorkFactory
from vouching.rows.read import Row
from vouching.types import NOT_FOUND, Report, Unverified, Verdict

Scored = dict[str, Any]
"""A line of ``rows/<set>.jsonl``; see :func:`score_row`."""
NO_CLAIM = "no claim"
"""Why a response that states nothing to check has no score."""
MEASURES = ("format", "alignment", "chain", "grounded", "consistent")
"""How well a verdict fills the record; see :func:`structure_of`."""
COSTS = ("calls", "prompt_tokens", "completion_tokens", "cost")
"""What is counted of the usage of a model."""
IGNORED = frozenset(
    "a an the of to in on at by for with from and or is are was were be been it its as that this".split()
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ScoreRows:
    """Creates the function that scores rows, in any process."""

    model: str
    """Name of the verifier."""
    method: str | None = None
    """How it judges; None for what suits the model."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of the method."""

    def checker(self) -> Checker:
        """The checker that judges the rows."""
        return Checker(self.model, method=self.method, **self.settings)

    def __call__(self) -> Callable[[Row], str]:
        """The function from a row to its line."""
        checker = self.checker()
        return lambda row: run(_scored(checker, row))

    def waiting(self, checker: Checker) -> AsyncWorkFactory:
        """The same work with a checker that handles many rows concurrently."""
        return AsyncWorkFactory(lambda: lambda row: _scored(checker, row), checker.aclose)


async def score_row(row: BenchRow, checker: Checker) -> Scored:
    """Score a row and keep what the figures need.

    A response is Attributable if all its claims are; its score ranks responses and is not a probability.

    Returns:
        id, is_response, attributable (gold), score in [0, 1] or None, label (True for Attributable) or None, unverified
        (why there is no score, or None), error_types, overlap, length (characters of the text), spans (characters or
        tokens in both, predicted, gold, all; or None), structure, seconds, keys (see
        :func:`~vouching.bench.rows.group_keys`), the row's part, pair and preferred; with a model, its usage.

    Raises:
        BackendError: the language model cannot be reached; the row can be retried.

    >>> row = BenchRow("1", "It opened in 1937.", ("It opened in 1973.",), attributable=False)
    >>> scored = run(score_row(row, Checker("embedded:rules")))
    >>> scored["label"], scored["error_types"], scored["overlap"]
    (False, ['temporal_shift'], 0.5)
    """
    start = time.perf_counter()
    try:
        outcome = await (checker.acheck_response if row.is_response else checker.acheck)(row.text, row.sources)
    except InputError as error:
        return _line(row, f"input: {error}", time.perf_counter() - start)
    line = _outcome_line(row, outcome, time.perf_counter() - start if checker.embedded else outcome.usage.seconds)
    return line if checker.embedded else {**line, "usage": {name: getattr(outcome.usage, name) for name in COSTS}}


def _outcome_line(row: BenchRow, outcome: Verdict | Unverified | Report, seconds: float) -> Scored:
    if isinstance(outcome, Unverified):
        return _line(row, f"{outcome.reason}: {outcome.message}", seconds)
    if isinstance(outcome, Verdict):
        return _line(row, None, seconds, outcome.score, (outcome,))
    failed = next((finding for finding in outcome.findings if isinstance(finding, Unverified)), None)
    if failed is not None:
        return _line(row, f"{failed.reason}: {failed.message}", seconds)
    if outcome.score is None:
        return _line(row, NO_CLAIM, seconds)
    verdicts = tuple(finding for finding in outcome.findings if isinstance(finding, Verdict))
    return _line(row, None, seconds, outcome.score, verdicts)


def unscored(row: BenchRow, why: str | None) -> Scored:
    """The line of a row without a verdict."""
    return _line(row, why, None)


async def _scored(checker: Checker, row: Row) -> str:
    """The line of a row."""
    if row.fields is None:
        line = _line(BenchRow(row.name, "", (), None), unread(row), None if row.again else 0.0)
    else:
        line = await score_row(BenchRow(**row.fields), checker)
    return json.dumps(line, ensure_ascii=False)


def _line(
    row: BenchRow,
    unverified: str | None,
    seconds: float | None,
    score: float | None = None,
    verdicts: Sequence[Verdict] = (),
) -> Scored:
    predicted = tuple(span for verdict in verdicts for span in unsupported_spans(verdict))
    return {
        "id": row.id,
        "is_response": row.is_response,
        "attributable": row.attributable,
        "score": score,
        "label": all(verdict.attributable for verdict in verdicts) if verdicts else None,
        "unverified": unverified,
        "error_types": [verdict.error_type for verdict in verdicts if verdict.error_type],
        "overlap": overlap(row.text, "\n".join(row.sources)),
        "length": len(row.text),
        "spans": span_counts_of(row, predicted) if verdicts and row.spans is not None else None,
        "structure": mean_structure(verdicts) if verdicts else None,
        "seconds": None if seconds is None else round(seconds, 4),
        "part": row.part,
        "keys": group_keys(row),
        "pair": row.pair,
        "preferred": row.preferred,
    }


def unsupported_spans(verdict: Verdict) -> Offsets:
    """Offsets of the parts that mismatch or are not found, if the claim is Not Attributable; in the response, if any.

    >>> from vouching import check
    >>> unsupported_spans(check("It opened in 1937.", "It opened in 1973."))
    ((3, 17),)
    """
    if verdict.attributable:
        return ()
    start = verdict.claim.span.start if verdict.claim.span else 0
    return tuple(
        (start + entry.claim_span.start, start + entry.claim_span.end)
        for entry in verdict.evidence_alignment
        if entry.status != "match"
    )


def span_counts_of(row: BenchRow, predicted: Offsets) -> list[int]:
    """Characters or tokens of a row that are unsupported by both, by ``predicted``, by gold; and the total."""
    gold = [row.spans or ()]
    counts = token_counts(gold, [predicted], [row.tokens]) if row.tokens else span_counts(gold, [predicted])
    return [*map(int, counts[0]), len(row.tokens or row.text)]


def overlap(claim: str, source: str) -> float:
    r"""Share of the claim's distinct lower-case words (``\w+``) that occur in the source, in [0, 1].

    The 25 function words of ``IGNORED`` are excluded; no stemming. Of several plain definitions (tokens or types,
    letters only or ``\w+``, with or without function words and stemming) this one matches the AUROC figures reported
    for this baseline best: attributionbench .736, faithbench .601, fever_symmetric .667, fool_me_twice .559, healthver
    .593, ragtruth .776, seva_fever .676, seva_halueval .651, wice .691 (mean absolute difference .0016). No part of a
    verifier was selected this way.

    >>> overlap("The bridge is long.", "It is a bridge.")
    0.5
    """
    words = set(_WORD.findall(claim.lower())) - IGNORED
    return len(words & set(_WORD.findall(source.lower()))) / max(1, len(words))


def record_of(verdict: Verdict) -> dict[str, object]:
    """The verdict as SEVA's record."""
    return {
        "evidence_alignment": [
            {
                "claim_span": entry.claim_span.text,
                "source_span": entry.source_span.text if entry.source_span else NOT_FOUND,
                "status": entry.status,
            }
            for entry in verdict.evidence_alignment
        ],
        "reasoning_chain": [
            {
                "claim_part": step.claim_part,
                "source_evidence": step.source_evidence,
                "judgment": step.judgment,
                "explanation": step.explanation,
            }
            for step in verdict.reasoning_chain
        ],
        "label": verdict.label,
        "confidence": verdict.confidence,
        "error_type": verdict.error_type,
        "fix_suggestion": verdict.fix_suggestion,
    }


def structure_of(verdict: Verdict) -> dict[str, float]:
    """The measures of one verdict, each in [0, 1].

    format: 1 if alignment and chain are present and a Not Attributable claim has an error type. alignment, chain: R_a
    and R_c of SEVA's reward. grounded: share of quotations that occur in the texts. consistent: 1 if the label is
    Attributable exactly when every part of the claim matches.
    """
    record = record_of(verdict)
    statuses = [entry.status for entry in verdict.evidence_alignment]
    filled = bool(statuses) and bool(verdict.reasoning_chain) and (verdict.attributable or bool(verdict.error_type))
    return {
        "format": float(filled),
        "alignment": alignment_quality(record["evidence_alignment"]),
        "chain": chain_quality(record["reasoning_chain"]),
        "grounded": verdict.grounded,
        "consistent": float(verdict.attributable == (bool(statuses) and set(statuses) == {"match"})),
    }


def mean_structure(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The measures, averaged over the claims of a row."""
    each = [structure_of(verdict) for verdict in verdicts]
    return {name: round(sum(one[name] for one in each) / len(each), 6) for name in MEASURES}


@dataclass(frozen=True, slots=True)
class Labelled:
    """The rows with a gold label and a verdict, as arrays with one entry per row."""

    gold: NDArray[np.bool_]
    """True for Attributable."""
    label: NDArray[np.bool_]
    """Predicted label."""
    score: NDArray[np.float64]
    """Predicted probability of Attributable."""
    overlap: NDArray[np.float64]
    """Score by word overlap."""
    brevity: NDArray[np.float64]
    """Score by length: minus the number of characters."""
    group: NDArray[np.intp]
    """Number of the row's group."""
    calibrated: bool
    """Whether scores are probabilities, which those of responses are not."""

    @property
    def both_classes(self) -> bool:
        """Whether there are rows of both labels; if not, AUROC is undefined."""
        return bool(self.gold.any() and not self.gold.all())

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the label is correct."""
        return self.gold == self.label

    @property
    def confidence(self) -> NDArray[np.float64]:
        """Probability that the label is correct."""
        return np.where(self.label, self.score, 1 - self.score)


def labelled(rows: Sequence[Scored]) -> Labelled | None:
    """The measurable rows as arrays; None if there are none."""
    kept = [row for row in rows if row["attributable"] is not None and row["score"] is not None]
    if not kept:
        return None
    column = {key: [row[key] for row in kept] for key in ("attributable", "label", "score", "overlap", "length")}
    return Labelled(
        np.array(column["attributable"], dtype=bool),
        np.array(column["label"], dtype=bool),
        np.array(column["score"], dtype=np.float64),
        np.array(column["overlap"], dtype=np.float64),
        -np.array(column["length"], dtype=np.float64),
        group_numbers(kept),
        not any(row["is_response"] for row in kept),
    )


def group_numbers(rows: Sequence[Scored]) -> NDArray[np.intp]:
    """The number of each row's group: rows that share a source, a document or a claim, across sets."""
    return document_numbers(row["keys"] for row in rows)
