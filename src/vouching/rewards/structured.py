"""Parts of SEVA's process reward (Algorithm 1, App. C) that judge the form of a record: alignment and chain.

They ask whether a record is filled in, not whether it is right: a quotation that is nowhere in the text earns as much
as one that is. Departures from the authors' released code: a value of the wrong type scores 0 for its test, where
theirs stops. Left out here: format, label, diagnosis and calibration, which need the whole answer or the gold label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast, get_args

from vouching.types import Judgment, Status

NOT_FOUND = "NOT_FOUND"
"""What SEVA writes for a source span that does not exist. It has 9 characters and so passes every test of length."""
_STATUSES: tuple[str, ...] = get_args(Status)
_JUDGMENTS: tuple[str, ...] = get_args(Judgment)


def alignment_quality(entries: object) -> float:
    """How completely the alignment is filled in: R_a (SEVA App. C.2, eq. 8).

    The mean over the entries of: .3 the claim span is not empty; .3 the source span is not empty or NOT_FOUND; .2 the
    status is match, mismatch or not_found; .1 the claim span has 3 to 200 characters; .1 the source span has 3 to 500
    or is NOT_FOUND. Characters count as written, blanks too.

    Args:
        entries: ``evidence_alignment`` as a model wrote it: a list of mappings with claim_span, source_span and status.
            What is no mapping scores 0 and counts in the mean.

    Returns:
        A number in [0, 1]; 0 for an empty list and for what is no list.

    >>> entry = {"claim_span": "12 countries", "source_span": "8 nations", "status": "mismatch"}
    >>> alignment_quality([entry]), alignment_quality([entry, {**entry, "status": "wrong"}])
    (1.0, 0.9)
    """
    return min(1.0, _mean([_entry_score(entry) for entry in _members(entries)]))


def chain_quality(steps: object) -> float:
    """How completely the chain of reasoning is filled in: R_c (SEVA App. C.3, eq. 9).

    The mean over the steps of: .3 the judgment is supported, not_supported or partially_supported; .3 the explanation
    has at least 10 characters; .2 the source evidence at least 5; .2 the claim part is not empty. To it is added .2
    times min(n / 3, 1) for n steps, and the sum is capped at 1, so one complete step already earns everything.

    Args:
        steps: ``reasoning_chain`` as a model wrote it: a list of mappings with claim_part, source_evidence, judgment
            and explanation. What is no mapping scores 0 and counts in the mean and in n.

    Returns:
        A number in [0, 1]; 0 for an empty list and for what is no list.

    >>> step = {"claim_part": "12", "source_evidence": "8 nations", "judgment": "not_supported"}
    >>> step["explanation"] = "The source says 8."
    >>> chain_quality([step]), round(chain_quality([{**step, "explanation": ""}]), 3)  # .7 + .2 / 3
    (1.0, 0.767)
    """
    written = _members(steps)
    if not written:
        return 0.0
    return min(1.0, _mean([_step_score(step) for step in written]) + 0.2 * min(len(written) / 3, 1.0))


def _entry_score(entry: object) -> float:
    claim, source = _length(entry, "claim_span"), _length(entry, "source_span")
    return (
        0.3 * (claim > 0)
        + 0.3 * (source > 0)
        + 0.2 * (_text(entry, "status") in _STATUSES)
        + 0.1 * (3 <= claim <= 200)
        + 0.1 * (3 <= source <= 500)
    )


def _step_score(step: object) -> float:
    return (
        0.3 * (_text(step, "judgment") in _JUDGMENTS)
        + 0.3 * (_length(step, "explanation") >= 10)
        + 0.2 * (_length(step, "source_evidence") >= 5)
        + 0.2 * (_length(step, "claim_part") > 0)
    )


def _members(written: object) -> Sequence[object]:
    return cast("Sequence[object]", written) if isinstance(written, list | tuple) else ()


def _text(record: object, key: str) -> str:
    """A text field of a record; empty where the record or the field is something else."""
    if not isinstance(record, Mapping):
        return ""
    value = cast("Mapping[str, object]", record).get(key)
    return value if isinstance(value, str) else ""


def _length(record: object, key: str) -> int:
    return len(_text(record, key))


def _mean(values: Sequence[float]) -> float:
    # Sums of tenths such as .3 + .3 + .2 + .1 + .1 come out a hair off 1; no score here has more than ten decimals.
    return round(sum(values) / len(values), 10) if values else 0.0
