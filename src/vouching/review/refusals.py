"""What a review may not be: names, notes and decisions that are refused, each with what was expected."""

from __future__ import annotations

from typing import get_args

from vouching.errors import InputError
from vouching.types.review import Decision, ReviewItem
from vouching.types.spans import ERROR_TYPES, Label

_LONGEST_NOTE = 10_000
_LONGEST_FIX = 50_000
_LONGEST_NAME = 200


def refuse_name(reviewer: str) -> None:
    """Raises InputError for a name that is empty, long or not printable."""
    if not reviewer.strip() or len(reviewer) > _LONGEST_NAME or not reviewer.isprintable():
        raise InputError(
            f"a reviewer must have a name of 1 to {_LONGEST_NAME} printable characters, got {reviewer[:80]!r}"
        )


def refuse_note(note: str) -> None:
    """Raises InputError for a note that is too long."""
    _refuse_long(note, "the note", _LONGEST_NOTE)


def _refuse_long(given: str, what: str, limit: int) -> None:
    if len(given) > limit:
        raise InputError(f"{what} may have {limit:,} characters, got {len(given):,}: shorten it")


def refuse_decision(decision: Decision, item: ReviewItem) -> None:
    """Raises InputError for a decision that does not fit the verdict, or is too long."""
    label, kind = decision.label or item.verdict.label, decision.error_type
    if label not in get_args(Label):
        raise InputError(f"unknown label {label!r}: expected {' or '.join(get_args(Label))}")
    if kind is not None and kind not in ERROR_TYPES:
        raise InputError(f"unknown error type {kind!r}: expected one of {', '.join(ERROR_TYPES)}")
    if kind is not None and label == "Attributable":
        raise InputError(f"an Attributable claim has no error type, got {kind}: omit it, or give the other label")
    length = len(item.verdict.claim.text)
    if decision.span is not None and not 0 <= decision.span[0] < decision.span[1] <= length:
        raise InputError(f"the span must be in the claim, from 0 to {length}, got {list(decision.span)}")
    refuse_note(decision.note)
    _refuse_long(decision.fix or "", "the fix", _LONGEST_FIX)
