"""Made-up rows of two sets: enough for every type of error to find something to change.

python -m tests.evolve.boats FOLDER    writes train.jsonl and dev.jsonl for a trial (recipes/evolve/tiny.toml)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vouching.evolve.probe import typed_rows
from vouching.evolve.records import Judged, Row, write_records
from vouching.types.spans import ErrorType, Label

_NAMES = ("Ann Lee", "Bob Roy", "Carla Diaz", "Dan Fox", "Eva Stone", "Finn Moss", "Gail Reed", "Hugh Park")
_TOWNS = ("Oslo", "Paris", "Lisbon", "Vienna", "Dublin", "Madrid", "Athens", "Warsaw")


def boat(number: int, data_set: str = "boats") -> Row:
    """One Attributable row, unlike every other, in which an error of every type can be made."""
    name, town, other, year = _NAMES[number % 8], _TOWNS[number // 8 % 8], _TOWNS[(number // 8 + 3) % 8], 1900 + number
    claim = f"{name} sold {203 + 7 * number} boats in {town} in {year} and often sailed to {other}."
    source = f"As page {data_set} {number} says, {claim} {_NAMES[(number + 3) % 8]} was born there in {year - 40}."
    return Row(f"{data_set}-{number}", claim, source, "Attributable", data_set, f"page {number}")


def boats(large: int = 60, small: int = 12) -> list[Row]:
    """Rows of a large and of a small set, without anything in common."""
    return [boat(n) for n in range(large)] + [boat(n, "ferries") for n in range(100, 100 + small)]


def row(number: int, label: Label, data_set: str = "a", error_type: ErrorType | None = None) -> Row:
    """A row that nothing is said of but its label and type."""
    return Row(
        f"{data_set}-{number}",
        f"Claim {data_set} {number}.",
        f"Source {data_set} {number}.",
        label,
        data_set,
        error_type=error_type,
    )


def said(one: Row, attributable: bool, error_type: ErrorType | None = None) -> Judged:
    """An answer to a row."""
    return Judged(one, 0.9, "Attributable") if attributable else Judged(one, 0.1, "Not Attributable", error_type)


def right(rows: Sequence[Row]) -> list[Judged]:
    """The right answer to each row."""
    return [said(one, one.attributable, one.error_type) for one in rows]


def wrong(rows: Sequence[Row]) -> list[Judged]:
    """The wrong answer to each row."""
    return [said(one, not one.attributable) for one in rows]


def failed(rows: Sequence[Row]) -> list[Judged]:
    """No answer to any row."""
    return [Judged(one, unverified="backend: out of reach") for one in rows]


def write_trial(folder: Path) -> None:
    """Rows to learn from, and others that guide: as many right ones as errors of known type."""
    write_records(folder / "train.jsonl", boats(24, 12))
    held = [boat(number) for number in range(30, 42)]
    wrong = [replace(one, data_set="boats") for one in typed_rows(held, 2)]
    write_records(folder / "dev.jsonl", [*held, *wrong])


if __name__ == "__main__":
    write_trial(Path(sys.argv[1]))
