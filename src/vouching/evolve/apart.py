"""Rows that are held out stay apart from what is learned from: no claim, source or document in both.

Left out: rows that say the same in other words; ``vouching.perturb`` drops near-duplicates among probes.
"""

from __future__ import annotations

from collections.abc import Iterable

from vouching.errors import InputError
from vouching.evolve.records import Row


def rows_apart(rows: Iterable[Row], others: Iterable[Row]) -> list[Row]:
    """The rows that share no claim, source or document with ``others``.

    >>> held = Row("1", "It opened.", "The bridge opened.", "Attributable")
    >>> [row.id for row in rows_apart([Row("2", "It opened.", "s", "Attributable"), held], [])]
    ['2', '1']
    >>> rows_apart([Row("2", "it  opened.", "s", "Attributable")], [held])
    []
    """
    taken = keys_of(others)
    return [row for row in rows if taken.isdisjoint(row.keys)]


def refuse_shared(rows: Iterable[Row], taken: set[str]) -> None:
    """Raise InputError if a training row shares a claim, a source or a document with rows that are held out.

    Args:
        rows: to learn from, whatever for.
        taken: the keys of what is held out, as :func:`keys_of` gives them.
    """
    shared = [row for row in rows if not taken.isdisjoint(row.keys)]
    if shared:
        raise InputError(
            f"{len(shared):,} training rows share a claim, a source or a document with rows that are held out, the "
            f"first is {shared[0].id} of {shared[0].data_set or 'no set'}: take them out (evolve.apart.rows_apart)"
        )


def keys_of(rows: Iterable[Row]) -> set[str]:
    """All that ties rows to others."""
    return {key for row in rows for key in row.keys}
