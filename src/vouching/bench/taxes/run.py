"""``vouch bench run taxcalcbench``: how right answers to the returns of a folder are, all of them and each split.

An answer is nineteen lines of text, one ``Line N: Description | explanation | amount`` each. Several answers to one
return are several attempts. Left out: asking a model for the answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vouching.bench.rows import Fault
from vouching.bench.run import RESULTS, open_folder, rows_path, write_json
from vouching.bench.taxes.facts import OutOfScopeError
from vouching.bench.taxes.lines import LINES, parse_return
from vouching.bench.taxes.read import GET, NAME, TaxCase, cases, split_cases
from vouching.bench.taxes.score import Attempt, score_answer, score_attempts
from vouching.errors import InputError
from vouching.rows.read import open_rows
from vouching.version import __version__


def about(folder: Path | None) -> str:
    """What the set is, and how to get it if it is not in the data folder.

    >>> print(about(None))
    taxcalcbench: nineteen lines of Form 1040, 51 returns of 2024; Bock et al. 2025; run it with --responses
      get  put ty24/test_data of github.com/column-tax/tax-calc-bench there, or make returns with vouch data taxes
      as   taxcalcbench/ty24/test_data/<case>/input.json and output.xml
    """
    what = f"{NAME}: nineteen lines of Form 1040, 51 returns of 2024; Bock et al. 2025; run it with --responses"
    here = folder is not None and (folder / NAME).is_dir()
    return what if here else f"{what}\n  get  {GET}\n  as   {NAME}/ty24/test_data/<case>/input.json and output.xml"


def validate(folder: Path) -> Iterator[Fault]:
    """What is wrong with the cases below a data folder: those that cannot be used, and lines that compute otherwise.

    Cases that the engine does not cover are passed over.

    Raises:
        InputError: there is none.
    """
    from vouching.bench.taxes.engine import compute

    for one in cases(folder / NAME):
        if isinstance(one, Fault):
            yield one
            continue
        try:
            lines = compute(one.record)
        except OutOfScopeError:
            continue
        except InputError as error:
            yield Fault(one.name, str(error))
            continue
        for line in LINES:
            if lines[line.id] != one.expected[line.id]:
                yield Fault(one.name, f"line {line.id} is {one.expected[line.id]}, but computed {lines[line.id]}")


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
