"""``vouch bench run taxcalcbench``: how right answers to the returns of a folder are, all of them and each split.

An answer is nineteen lines of text. Several answers to one return are several attempts. Strict is equal; lenient is
within five dollars. A line that an answer does not have is wrong, also where 0 is expected. Not supported: asking a
model for the answers, and the score of explanations.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import comb
from pathlib import Path
from typing import Any, TypeAlias

from vouching.bench.rows import Fault
from vouching.bench.run import RESULTS, open_folder, rows_path, write_json
from vouching.bench.taxcalcbench import GET, LINES, NAME, TaxCase, cases, parse_return, split_cases
from vouching.errors import InputError
from vouching.rows.read import open_rows
from vouching.version import __version__

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


def about(folder: Path | None) -> str:
    """What the set is, and how to get it if it is not in the data folder.

    >>> print(about(None))
    taxcalcbench: nineteen lines of Form 1040, 51 returns of 2024; Bock et al. 2025; run it with --responses
      get  put ty24/test_data of github.com/column-tax/tax-calc-bench there, or returns that recipes/taxes/make.py made
      as   taxcalcbench/ty24/test_data/<case>/input.json and output.xml
    """
    what = f"{NAME}: nineteen lines of Form 1040, 51 returns of 2024; Bock et al. 2025; run it with --responses"
    here = folder is not None and (folder / NAME).is_dir()
    return what if here else f"{what}\n  get  {GET}\n  as   {NAME}/ty24/test_data/<case>/input.json and output.xml"


def validate(folder: Path) -> Iterator[Fault]:
    """The cases below a data folder that cannot be used. Raises InputError if there is no case at all."""
    return (one for one in cases(folder / NAME) if isinstance(one, Fault))


def answers(path: str, wanted: Sequence[str]) -> dict[str, list[str]]:
    """The answers of a file by the case they are to.

    Args:
        path: rows with ``id``, the name of a case, and ``response``; several of one case are several attempts.
        wanted: the names of the cases.

    Raises:
        InputError: a row cannot be used or answers no case, or cases are answered unequally often.
    """
    found: dict[str, list[str]] = {}
    with open_rows(path, ("response",)) as reader:
        for row in reader:
            place, fields = f"{reader.name}, {row.place}", row.fields or {}
            name, response = fields.get("id"), fields.get("response")
            if not isinstance(name, str) or not isinstance(response, str):
                raise InputError(f'{place}: {row.problem or "it is no answer"}, wanted "id" and "response", both texts')
            if name not in wanted:
                raise InputError(f"{place}: {name[:80]!r} is none of the {len(wanted):,} cases: name a case's folder")
            found.setdefault(name, []).append(response)
    counts = {name: len(each) for name, each in found.items()}
    if len({*counts.values()}) != 1:
        uneven = f"{min(counts, key=lambda name: counts[name])!r} is answered least" if counts else "it has no row"
        raise InputError(f"{path}: {uneven}, wanted as many answers to each case, one or more")
    return found


def run_taxes(folder: Path, path: str, out: Path) -> dict[str, Any]:
    """Score the answers of a file and write rows and figures into a folder.

    Args:
        folder: the folder with the data sets.
        path: the answers.
        out: the folder to write; made if it is not there.

    Returns:
        What results.json holds: ``scores`` by part ("all", "train", "test"), ``lines`` with the share of each line that
        is right, how many cases there are, were answered and could not be read.

    Raises:
        InputError: cases or answers cannot be used, or the folder is that of another run.
        OSError: the disk is full.
    """
    read = [*cases(folder / NAME)]
    known = {one.name: one for one in read if isinstance(one, TaxCase)}
    if not known:
        raise InputError(f"none of the {len(read)} cases can be read: vouch bench validate {NAME} says why")
    given = answers(path, [*known])
    attempts = {name: [score_answer(known[name].expected, parse_return(text)) for text in each]
                for name, each in given.items()}  # fmt: skip
    run: dict[str, Any] = {
        "settings": {"set": NAME, "responses": Path(path).name, "vouching": __version__},
        "data": {"cases": len(known), "answered": len(given), "unreadable": len(read) - len(known),
                 "attempts": len(next(iter(given.values())))},
    }  # fmt: skip
    open_folder(out, run, resume=False)
    rows = [_row(name, number, one) for name, each in attempts.items() for number, one in enumerate(each)]
    rows_path(out, NAME).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    results = {**run, "scores": _scores(attempts, [*known]), "lines": _by_line(attempts)}
    write_json(out / RESULTS, results)
    return results


def _row(name: str, number: int, attempt: Attempt) -> dict[str, Any]:
    ids = [line.id for line in LINES]
    return {
        "id": name, "attempt": number,
        **{key: dict(zip(ids, getattr(attempt, key), strict=True)) for key in ("strict", "lenient", "answered")},
    }  # fmt: skip


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
