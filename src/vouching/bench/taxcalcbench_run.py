"""The task of TaxCalcBench: how right answers to the returns of a folder are, all of them and each split.

An answer is nineteen lines of text. Several answers to one return are several attempts. Strict is equal; lenient is
within five dollars. A line that an answer does not have is wrong, also where 0 is expected. Not supported: asking a
model for the answers, and the score of explanations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import comb
from pathlib import Path
from typing import Any, TypeAlias

from vouching.bench.rows import Split, responses_of
from vouching.bench.task import DataSet, Task
from vouching.bench.task import Line as Scored
from vouching.bench.taxcalcbench import LINES, NAME, TaxCase, parse_return, split_cases
from vouching.errors import InputError
from vouching.rows.read import Row

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


@dataclass(frozen=True, slots=True)
class TaxAnswer:
    """One answer to one return."""

    id: str
    """The name of the case."""
    case: TaxCase
    """The return."""
    attempt: int
    """Number of the answer among those to the return, from 0."""
    response: str
    """The answer."""


class TaxesTask(Task[Any]):
    """What answers to returns are measured by.

    Args:
        responses: path of the rows with ``id``, the name of a case, and ``response``; as many to each case that is
            answered.
    """

    headings = ("part", "cases >", "returns >", "within $5 >", "lines >", "within $5 >", "pass^k >")

    def __init__(self, responses: str | None) -> None:
        if responses is None:
            raise InputError(f"{NAME} scores answers that are there: add --responses FILE, rows of id, response")
        self._path = responses
        self._known: list[str] = []
        self._unreadable = 0
        self.arguments = f"--responses {Path(responses).name}"
        self.settings = {"responses": Path(responses).name}

    def rows(self, data_set: DataSet[Any], folder: Path, split: Split) -> Iterator[TaxAnswer]:
        """The answers; cases without one, and cases that cannot be read, are left out and counted.

        Raises:
            InputError: no case can be read, an answer is to none, or cases are answered unequally often.
        """
        read = [*data_set.rows(folder, split)]
        known = {one.name: one for one in read if isinstance(one, TaxCase)}
        if not known:
            raise InputError(f"none of the {len(read)} cases can be read: vouch bench validate {NAME} says why")
        self._known, self._unreadable = [*known], len(read) - len(known)
        found: dict[str, list[str]] = {}
        for place, name, response in responses_of(self._path, "id"):
            if name not in known:
                raise InputError(f"{place}: {name[:80]!r} is none of the {len(known):,} cases: name a case's folder")
            found.setdefault(name, []).append(response)
        counts = {name: len(each) for name, each in found.items()}
        if len({*counts.values()}) != 1:
            uneven = f"{min(counts, key=lambda name: counts[name])!r} is answered least" if counts else "it has no row"
            raise InputError(f"{self._path}: {uneven}, wanted as many answers to each case, one or more")
        for name, each in found.items():
            yield from (TaxAnswer(name, known[name], number, text) for number, text in enumerate(each))

    def work(self) -> Callable[[], Callable[[Row], str]]:
        """What scores rows."""
        return lambda: _scored

    def problem(self, line: Scored) -> str | None:
        """An answer that cannot be read is wrong, not a problem."""
        return None

    def set_figures(self, lines: Sequence[Scored], resamples: int) -> Mapping[str, Any]:
        """``scores`` by part ("all", "train", "test"), ``lines`` with the share of each that is right, and counts."""
        attempts: dict[str, list[Attempt]] = {}
        for line in lines:
            ways = (tuple(line[way].values()) for way in ("strict", "lenient", "answered"))
            attempts.setdefault(line["id"], []).append(Attempt(*ways))
        return {
            "cases": len(self._known), "answered": len(attempts), "unreadable": self._unreadable,
            "attempts": len(next(iter(attempts.values()))), "scores": _scores(attempts, self._known),
            "lines": _by_line(attempts),
        }  # fmt: skip

    def title(self, results: Mapping[str, Any], rows: int) -> tuple[str, str]:
        """Title and lead of the report."""
        return f"{results['settings']['responses']} on {NAME}", f"{rows:,} answers"

    def table(self, found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
        """Rows below ``headings``."""
        for part, score in found["scores"].items():
            strict, lenient = score["strict"], score["lenient"]
            figures = (strict["returns"], lenient["returns"], strict["lines"], lenient["lines"], strict["pass_power"])
            yield part, str(score["cases"]), *(f"{figure:.3f}" for figure in figures)

    def notes(self, found: Mapping[str, Any]) -> Iterator[str]:
        """Sentences below the table."""
        yield "Returns: all nineteen lines right, pass@1. Train and test are the split of the DPA-GRPO paper."
        yield f"pass^k: all of the {found['attempts']} attempts at a return are right."

    def incomplete(self, results: Mapping[str, Any], failed: int) -> str | None:
        """What is to be said of cases without an answer and of cases that cannot be read."""
        cases, answered = (results["sets"][NAME][key] for key in ("cases", "answered"))
        told = f"cases without an answer: {cases - answered:,} of {cases:,}; cases that cannot be read: "
        return (
            f"{told}{self._unreadable:,}; the figures leave them out" if answered < cases or self._unreadable else None
        )


def _scored(row: Row) -> str:
    assert row.fields
    answer: TaxAnswer = row.fields["row"]
    found = score_answer(answer.case.expected, parse_return(answer.response))
    ids = [line.id for line in LINES]
    line = {
        "id": answer.id, "attempt": answer.attempt,
        **{key: dict(zip(ids, getattr(found, key), strict=True)) for key in ("strict", "lenient", "answered")},
    }  # fmt: skip
    return json.dumps(line)


def _scores(attempts: Mapping[str, Sequence[Attempt]], names: Sequence[str]) -> dict[str, Any]:
    train, test = split_cases(names)
    parts = {"all": names, "train": train, "test": test}
    chosen = {part: {name: attempts[name] for name in inside if name in attempts} for part, inside in parts.items()}
    return {part: {"cases": len(one), **score_attempts(one)} for part, one in chosen.items() if one}


def _by_line(attempts: Mapping[str, Sequence[Attempt]]) -> dict[str, dict[str, float]]:
    every = [one for each in attempts.values() for one in each]
    return {
        line.id: {key: sum(getattr(one, key)[place] for one in every) / len(every) for key in ("strict", "lenient")}
        for place, line in enumerate(LINES)
    }
