"""The end of an evolution: its rounds on test sets, which nothing before has read, and once.

    OUT/test/rows.jsonl        the rows
    OUT/test/round-K.jsonl     what each round answered
    OUT/test/fingerprint.json  what each round did to each set against round 0, fingerprint.html the same to look at

Whoever looks at test sets twice chooses by them. A test that is finished is not run again unless that is asked for; one
that was killed goes on. Left out: whole responses, which are more than one claim.
"""

from __future__ import annotations

import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from vouching.bench.catalog import DataSet
from vouching.bench.rows import BenchRow, Fault
from vouching.errors import InputError
from vouching.evolve.apart import rows_apart
from vouching.evolve.fingerprint import FINGERPRINT, Fingerprint, fingerprint_of, write_fingerprint
from vouching.evolve.loop import STUDENT, Data, config_of, folder_of, refuse_other_data, rounds_of
from vouching.evolve.records import Judged, Row, Student, read_records, write_records
from vouching.metrics import document_numbers

TEST, ROWS = "test", "rows.jsonl"
Open = Callable[[Path], Student]
"""Opens the student in a folder."""


def run_test(
    out: Path,
    rows: Sequence[Row],
    data: Data,
    open_student: Open,
    *,
    again: bool = False,
    resamples: int = 10_000,
    report: Callable[[str], None] = lambda _: None,
) -> Fingerprint:
    """Score all rounds of an evolution on test rows.

    Args:
        out: its folder.
        rows: of test sets.
        data: what it learned from and was guided by; test rows that share something with these are left out.
        open_student: opens the verifier of a round.
        again: whether to score anew what is finished.
        resamples: of the intervals.
        report: takes lines of progress.

    Raises:
        InputError: it was done before, on these or other rows; the evolution is not over, or of other data; or no row
            is left.
    """
    folder = out / TEST
    if (folder / FINGERPRINT).exists() and not again:
        raise InputError(
            f"{folder} holds the test of this evolution: whoever looks twice chooses by it; --again if you must"
        )
    rounds, planned = rounds_of(out), config_of(out).rounds
    if len(rounds) <= planned:
        raise InputError(
            f"{out} has done {len(rounds) - 1} of {planned} rounds: test sets are for the end, go on with vouch evolve "
            "run --resume"
        )
    refuse_other_data(out, data)
    apart = rows_apart(rows, [*data.train, *data.dev])
    if len(apart) < len(rows):
        report(f"{len(rows) - len(apart)} test rows share something with what was learned from: left out")
    if not apart:
        raise InputError(f"got {len(rows)} test rows, none of them apart from what was learned from")
    if again:
        shutil.rmtree(folder, ignore_errors=True)
    if (folder / ROWS).exists() and read_records(folder / ROWS, Row) != apart:
        raise InputError(f"{folder} holds a test on other rows that is not finished: ask for the same, or --again")
    write_records(folder / ROWS, apart)
    answers: list[list[Judged]] = []
    for one in rounds:
        path = folder / f"round-{one.number}.jsonl"
        if not path.exists():
            write_records(path, open_student(folder_of(out, one.number) / STUDENT).verify(apart))
        answers.append(read_records(path, Judged))
        right = [bool(judged.right) for judged in answers[-1] if judged.right is not None]
        report(f"round {one.number}: {sum(right) / max(1, len(right)):.1%} of {len(right):,} test rows right")
    found = fingerprint_of(answers, [one.base for one in rounds], [one.stays for one in rounds], resamples)
    write_fingerprint(folder, found, f"{out.name}, on test sets")
    return found


def rows_of_sets(sets: Iterable[DataSet[BenchRow]], data: Path, most: int, seed: int = 0) -> list[Row]:
    """Claims of test sets, at most so many of each, drawn by whole groups. Responses and broken rows are passed over.

    Raises:
        InputError: a set is not there or has no test split.
    """
    rows: list[Row] = []
    for data_set in sets:
        claims = [row for one in data_set.rows(data, "test") if (row := _as_row(one, data_set.name)) is not None]
        rows += some_groups(claims, most, seed)
    return rows


def some_groups(rows: Sequence[Row], most: int, seed: int = 0) -> list[Row]:
    """At most so many rows, by whole groups, which a seed shuffles; one too large for what is left is passed over.

    >>> rows = [Row(str(n), f"c{n}", "ab"[n // 3], "Attributable") for n in range(4)]  # groups of 3 and of 1
    >>> [row.id for row in some_groups(rows, 2)]
    ['3']
    """
    groups: defaultdict[int, list[Row]] = defaultdict(list)
    for number, row in zip(document_numbers(row.keys for row in rows).tolist(), rows, strict=True):
        groups[number].append(row)
    drawn = list(groups.values())
    random.Random(seed).shuffle(drawn)
    chosen: list[Row] = []
    for group in drawn:
        if len(chosen) + len(group) <= most:
            chosen += group
    return chosen


def _as_row(one: BenchRow | Fault, name: str) -> Row | None:
    if isinstance(one, Fault) or one.is_response or one.attributable is None:
        return None
    label = "Attributable" if one.attributable else "Not Attributable"
    return Row(one.id, one.text, "\n\n".join(one.sources), label, name, one.document)
