"""The task of TaxCalcBench: the share of right answers to its returns, in total and by split.

An answer is nineteen lines of text; several answers to one return are several attempts. Strict means equal, lenient
within five dollars. A missing line is wrong, even if 0 is expected. Not supported: asking a model; scoring
explanations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import comb
from pathlib import Path
from typing import Any, TypeAlias

from recipes.taxes.taxcalcbench import LINES, NAME, TaxCase, parse_return, split_cases
from vouching.bench.rows import Split, responses_of
from vouching.bench.task import DataSet, Task
from vouching.bench.task import Line as Scored
from vouching.errors import InputError
from vouching.rows.read import Row

LENIENT = 5
"""Tolerance of the lenient score, in dollars."""
Amounts: TypeAlias = Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer to one return, line by line in the order of the form."""

    strict: tuple[bool, ...]
    lenient: tuple[bool, ...]
    answered: tuple[bool, ...]
    """Whether the answer has the line."""


def score_answer(expected: Amounts, answer: Amounts) -> Attempt:
    """Compare an answer with the expected lines.

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
    """Probability that k of the attempts, drawn without replacement, are all right; k = 1 is pass@1.

    >>> pass_power(2, 4, 1), pass_power(2, 4, 2), pass_power(4, 4, 4)  # 1 of the 6 pairs is right
    (0.5, 0.16666666666666666, 1.0)
    """
    if not 1 <= k <= attempts:
        raise InputError(f"k must be between 1 and the number of attempts, {attempts}, got {k}")
    return comb(right, k) / comb(attempts, k)


def score_attempts(attempts: Mapping[str, Sequence[Attempt]]) -> dict[str, dict[str, float]]:
    """Shares of right returns and lines over several returns, each attempted equally often; raises InputError if not.

    Returns:
        For "strict" and "lenient": ``returns`` (pass@1), ``lines`` (mean share of lines), ``pass_power`` (pass^k with
        k all attempts).
    """
    counts = {len(each) for each in attempts.values()}
    if len(counts) != 1 or counts == {0}:
        got = ", ".join(map(str, sorted(counts))) or "none"
        raise InputError(f"every return must have the same number of attempts, at least one, got {got}")
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
    """Name of the case."""
    case: TaxCase
    attempt: int
    """Number of the answer among those to the return, from 0."""
    response: str


class TaxesTask(Task[Any]):
    """The task of TaxCalcBench.

    Args:
        responses: path of the rows with ``id`` (name of a case) and ``response``; equally many for each answered case.
    """

    command = "python recipes/bench/run.py score"
    headings = ("part", "cases >", "returns >", "within $5 >", "lines >", "within $5 >", "pass^k >")

    def __init__(self, responses: str | None) -> None:
        if responses is None:
            raise InputError(f'{NAME} needs your answers: pass --responses FILE, rows of "id" and "response"')
        self._path = responses
        self._known: list[str] = []
        self._unreadable = 0
        self.arguments = f"--responses {Path(responses).name}"
        self.settings = {"responses": Path(responses).name}

    def rows(self, data_set: DataSet[Any], folder: Path, split: Split) -> Iterator[TaxAnswer]:
        """The answers; unanswered and unreadable cases are excluded and counted.

        Raises InputError for unusable answers, or if the cases have different numbers of answers.
        """
        read = [*data_set.rows(folder, split)]
        known = {one.name: one for one in read if isinstance(one, TaxCase)}
        if not known:
            raise InputError(f"none of the {len(read)} cases can be read: run vouch bench validate {NAME} to see why")
        self._known, self._unreadable = [*known], len(read) - len(known)
        found: dict[str, list[str]] = {}
        for place, name, response in responses_of(self._path, "id"):
            if name not in known:
                raise InputError(
                    f"{place}: unknown case {name[:80]!r}; expected the folder name of one of the {len(known):,} cases"
                )
            found.setdefault(name, []).append(response)
        counts = {name: len(each) for name, each in found.items()}
        if len({*counts.values()}) != 1:
            uneven = f"{min(counts, key=lambda name: counts[name])!r} has the fewest" if counts else "there are no rows"
            raise InputError(f"{self._path}: every case must have the same number of answers, at least one; {uneven}")
        for name, each in found.items():
            yield from (TaxAnswer(name, known[name], number, text) for number, text in enumerate(each))

    def work(self) -> Callable[[], Callable[[Row], str]]:
        """The work that scores rows."""
        return lambda: _scored

    def problem(self, line: Scored) -> str | None:
        """An unreadable answer is wrong, not a problem."""
        return None

    def set_figures(self, lines: Sequence[Scored], resamples: int) -> Mapping[str, Any]:
        """``scores`` by part ("all", "train", "test"), ``lines`` with the share of each that is right, and counts."""
        attempts: dict[str, list[Attempt]] = {}
        for line in lines:
            ways = (tuple(line[way].values()) for way in ("strict", "lenient", "answered"))
            attempts.setdefault(line["id"], []).append(Attempt(*ways))
        return {
            "cases": len(self._known),
            "answered": len(attempts),
            "unreadable": self._unreadable,
            "attempts": len(next(iter(attempts.values()))),
            "scores": _scores(attempts, self._known),
            "lines": _by_line(attempts),
        }

    def title(self, results: Mapping[str, Any], rows: int) -> tuple[str, str]:
        """Title and lead of the report."""
        return f"{results['settings']['responses']} on {NAME}", f"{rows:,} answers"

    def table(self, found: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
        """The figures of a set as table rows."""
        for part, score in found["scores"].items():
            strict, lenient = score["strict"], score["lenient"]
            figures = (strict["returns"], lenient["returns"], strict["lines"], lenient["lines"], strict["pass_power"])
            yield part, str(score["cases"]), *(f"{figure:.3f}" for figure in figures)

    def notes(self, found: Mapping[str, Any]) -> Iterator[str]:
        """Sentences below the table."""
        yield "Returns: all nineteen lines correct, pass@1. Train and test follow the split of the DPA-GRPO paper."
        yield f"pass^k: all {found['attempts']} attempts at a return are correct."

    def incomplete(self, results: Mapping[str, Any], failed: int) -> str | None:
        """A message about unanswered and unreadable cases."""
        cases, answered = (results["sets"][NAME][key] for key in ("cases", "answered"))
        if answered == cases and not self._unreadable:
            return None
        without = f"cases without an answer: {cases - answered:,} of {cases:,}"
        return f"{without}; unreadable cases: {self._unreadable:,}; both are excluded from the figures"


def _scored(row: Row) -> str:
    assert row.fields
    answer: TaxAnswer = row.fields["row"]
    found = score_answer(answer.case.expected, parse_return(answer.response))
    ids = [line.id for line in LINES]
    line = {
        "id": answer.id,
        "attempt": answer.attempt,
        **{key: dict(zip(ids, getattr(found, key), strict=True)) for key in ("strict", "lenient", "answered")},
    }
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
