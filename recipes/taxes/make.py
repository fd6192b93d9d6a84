"""Makes synthetic Form 1040 returns for 2024: cases, tasks for ``vouch challenge``, wrong proposals.

    python recipes/taxes/make.py --out returns --count 20 --mistakes all
    python recipes/taxes/make.py --check ty24/test_data

DIR/ty24/test_data has them in TaxCalcBench's layout, DIR/tasks and DIR/proposals are for ``vouch challenge`` and
``vouch train assurance``, and DIR/mistakes.jsonl lists the mistakes of the proposals. ``--check`` compares the lines of
existing cases with the engine's; cases that it does not cover are skipped. Exit status: 0 done; 1 a case has other
lines; 2 the command line or the folder cannot be used. Not tax advice.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from recipes.taxes.engine import compute
from recipes.taxes.fields import OutOfScopeError
from recipes.taxes.mistakes import MISTAKES, Mistake, make_mistake
from recipes.taxes.returns import make_return, write_return
from recipes.taxes.tasks import proposal_of, task_of
from recipes.taxes.taxcalcbench import LINES, TaxCase, tax_cases
from vouching.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, metavar="DIR", help="a new folder for cases, tasks and proposals")
    parser.add_argument("--count", type=int, default=100, metavar="N", help="number of returns")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="the same seed gives the same files")
    parser.add_argument("--mistakes", metavar="A,B", help="mistakes to cycle through, one per proposal; or all")
    parser.add_argument("--check", type=Path, metavar="DIR", help="compare existing cases with the engine")
    given = parser.parse_args(arguments)
    try:
        if (given.out is None) == (given.check is None):
            raise InputError("pass --out DIR to make returns, or --check DIR to compare existing ones")
        if given.check is not None:
            found = differences(given.check)
            print(*found, sep="\n", end="\n" if found else "")
            return 1 if found else 0
        names = mistakes_of(given.mistakes)
        if given.count < 1:
            raise InputError(f"--count must be at least 1, got {given.count}")
        if given.out.exists() and (not given.out.is_dir() or any(given.out.iterdir())):
            raise InputError(f"{given.out} already exists and is not an empty folder: choose a new one")
        wrong = write(given.out, given.count, given.seed, names)
    except (InputError, OSError) as error:
        print(f"taxes: {error}", file=sys.stderr)
        return 2
    print(f"{given.count:,} returns in {given.out}; proposals with a mistake: {wrong:,}")
    return 0


def mistakes_of(given: str | None) -> list[Mistake]:
    """The mistakes that an option names. Raises InputError for an unknown one."""
    if given in (None, "all"):
        return [*MISTAKES] if given else []
    expected = (given or "").split(",")
    if unknown := [name for name in expected if name not in MISTAKES]:
        raise InputError(f"unknown mistake {unknown[0]!r}; expected one of {', '.join(MISTAKES)}, or all")
    return [name for one in expected for name in MISTAKES if name == one]


def write(out: Path, count: int, seed: int, mistakes: Sequence[Mistake]) -> int:
    """Write everything and return the number of proposals with a mistake."""
    made = 0
    for folder in ("ty24/test_data", "tasks", "proposals"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    with (out / "mistakes.jsonl").open("w", encoding="utf-8") as sink:
        for index in range(count):
            name, record, lines = make_return(seed, index)
            write_return(out / "ty24/test_data" / name, record, lines)
            (out / "tasks" / f"{name}.json").write_text(_json(task_of(name, record)), encoding="utf-8")
            # Not every mistake can be made in every return: then the next kind.
            turns = [mistakes[(index + turn) % len(mistakes)] for turn in range(len(mistakes))]
            tries = (make_mistake(record, one, Random(f"taxes/{seed}/{index}/{one}")) for one in turns)
            wrong = next((one for one in tries if one is not None), None)
            proposal = proposal_of(name, wrong.lines if wrong else lines)
            (out / "proposals" / f"{name}.json").write_text(_json(proposal), encoding="utf-8")
            if wrong is not None:
                made += 1
                row = {"id": name, "mistake": wrong.mistake, "roots": wrong.roots, "wrong": wrong.wrong}
                sink.write(f"{json.dumps(row)}\n")
    return made


def differences(folder: Path) -> list[str]:
    """Cases that cannot be used, and lines that differ from the engine's. Raises InputError if there is no case."""
    found: list[str] = []
    paths = [*folder.glob("**/input.json")]
    if not paths:
        raise InputError(f"no case in {folder}: expected <case>/input.json and <case>/output.xml")
    for one in tax_cases(paths, "test"):
        if not isinstance(one, TaxCase):
            found.append(str(one))
            continue
        try:
            lines = compute(one.record)
        except OutOfScopeError:
            continue
        except InputError as error:
            found.append(f"{one.name}: {error}")
            continue
        found += [
            f"{one.name}: line {line.id} is {one.expected[line.id]}, but computed {lines[line.id]}"
            for line in LINES
            if lines[line.id] != one.expected[line.id]
        ]
    return found


def _json(value: object) -> str:
    return f"{json.dumps(value, indent=1, ensure_ascii=False)}\n"


if __name__ == "__main__":
    sys.exit(main())
