"""How right answers are: returns and lines, strictly and leniently, pass@1 and pass^k, as TaxCalcBench counts.

Strict is equal; lenient is within five dollars. A line that an answer does not have is wrong, also where 0 is expected.
Left out: the score of the explanations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import comb
from typing import TypeAlias

from vouching.bench.taxes.lines import LINES
from vouching.errors import InputError

LENIENT = 5
"""Dollars by which a line may differ, leniently."""
Amounts: TypeAlias = Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer to one return, line by line in the order of the form."""

    strict: tuple[bool, ...]
    """Whether each line is equal."""
    lenient: tuple[bool, ...]
    """Whether each line is within five dollars."""
    answered: tuple[bool, ...]
    """Whether the answer has the line."""


def score_answer(expected: Amounts, answer: Amounts) -> Attempt:
    """Compare an answer with the expected lines; ids are matched exactly.

    >>> expected = {line.id: Decimal(100) for line in LINES}
    >>> attempt = score_answer(expected, {**expected, "9": Decimal(105), "19": Decimal(106)})
    >>> sum(attempt.strict), sum(attempt.lenient)
    (17, 18)
    """
    gaps = [abs(answer[line.id] - expected[line.id]) if line.id in answer else None for line in LINES]
    return Attempt(
        tuple(gap == 0 for gap in gaps),
        tuple(gap is not None and gap <= LENIENT for gap in gaps),
        tuple(gap is not None for gap in gaps),
    )


def pass_power(right: int, attempts: int, k: int) -> float:
    """Chance that k attempts, drawn without replacement from those made, are all right; k = 1 is pass@1.

    Args:
        right: attempts that are right.
        attempts: attempts made.
        k: how many are drawn, at most as many.

    Raises:
        InputError: there are fewer attempts than k.

    >>> pass_power(2, 4, 1), pass_power(2, 4, 2), pass_power(4, 4, 4)  # 1 of the 6 pairs is right
    (0.5, 0.16666666666666666, 1.0)
    """
    if not 1 <= k <= attempts:
        raise InputError(f"got k = {k} and {attempts} attempts, wanted k from 1 to the attempts")
    return comb(right, k) / comb(attempts, k)


def score_attempts(attempts: Mapping[str, Sequence[Attempt]]) -> dict[str, dict[str, float]]:
    """The shares of right returns and lines over several returns, each attempted equally often.

    Args:
        attempts: the attempts at each return.

    Returns:
        For "strict" and "lenient": ``returns`` (pass@1), ``lines`` (mean share of lines), ``pass_power`` (pass^k with
        k all attempts).

    Raises:
        InputError: nothing was attempted, or returns unequally often.
    """
    counts = {len(each) for each in attempts.values()}
    if len(counts) != 1 or counts == {0}:
        raise InputError(
            f"got {sorted(counts) or 'no'} attempts at a return, wanted the same number at each, 1 or more"
        )
    [k] = counts
    shares: dict[str, dict[str, float]] = {}
    for name in ("strict", "lenient"):
        right = {case: [all(getattr(one, name)) for one in each] for case, each in attempts.items()}
        lines = [sum(getattr(one, name)) / len(LINES) for each in attempts.values() for one in each]
        shares[name] = {
            "returns": sum(pass_power(sum(each), k, 1) for each in right.values()) / len(right),
            "lines": sum(lines) / len(lines),
            "pass_power": sum(pass_power(sum(each), k, k) for each in right.values()) / len(right),
        }
    return shares
