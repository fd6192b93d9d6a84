r"""Questions with their documents, from files of rows, as MARCH's game plays them.

    {"id": "q1", "question": "How long is the bridge?", "sources": ["The bridge is 6 km long."]}

Left out: leaving out bad rows silently; one that cannot be played ends the reading, with its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vouching.batch.rows import open_rows
from vouching.errors import InputError
from vouching.games.blinded import read_row


def read_questions(paths: Sequence[str]) -> list[dict[str, Any]]:
    r"""Rows of the blinded game, in order; those that name themselves twice are an error.

    Args:
        paths: files of rows.

    Raises:
        InputError: a file or a row cannot be used, or there is no row.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "rows.jsonl"
    >>> _ = path.write_text('{"id": "one", "question": "How long?", "source": "6 km."}\n')
    >>> [row["id"] for row in read_questions([str(path)])]
    ['one']
    """
    rows: list[dict[str, Any]] = []
    for path in paths:
        with open_rows(path) as reader:
            for row in reader:
                try:
                    if row.fields is None:
                        raise InputError(row.problem or "it cannot be read")
                    read_row(row.fields)
                except InputError as error:
                    raise InputError(f"{reader.name}, {row.place}: {error}") from None
                rows.append({**row.fields, "id": row.name})
    if paths and not rows:
        raise InputError(f"{', '.join(paths)}: no rows; give some with question and sources")
    seen: set[str] = set()
    for row in rows:
        if row["id"] in seen:
            raise InputError(f"two rows have the id {row['id']!r}: groups are told apart by it, give each its own")
        seen.add(row["id"])
    return rows
