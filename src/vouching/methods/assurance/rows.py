r"""Tasks with their right values, from files of rows and from folders as ``vouch data taxes`` writes them.

    {"id": "trip", "task": {"task": "trip", "data": ..., "units": [...]}, "gold": {"total": 42.5}}     a row
    DIR/tasks/NAME.json, DIR/proposals/NAME.json                                                       a folder

Left out: leaving out bad rows silently; one that cannot be played ends the reading, with its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from vouching.errors import InputError
from vouching.methods.assurance.game import read_row
from vouching.methods.assurance.task import read_file
from vouching.rows.read import read_as
from vouching.train.lessons import told_apart


def read_work(paths: Sequence[str]) -> list[dict[str, Any]]:
    r"""Rows of the assurance game, in order; those that name themselves twice are an error.

    Args:
        paths: files of rows, and folders of tasks whose proposals are right.

    Raises:
        InputError: a file or a row cannot be used, a folder's proposals have mistakes, or there is no row.

    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "rows.jsonl"
    >>> task = {"task": "t", "data": {}, "units": [{"id": "x", "type": "number"}]}
    >>> _ = path.write_text(json.dumps({"id": "one", "task": task, "gold": {"x": 3}}) + "\n")
    >>> [row["id"] for row in read_work([str(path)])]
    ['one']
    """
    rows: list[dict[str, Any]] = []
    for path in paths:
        if not Path(path).suffix and not Path(path).exists():
            raise InputError(f"{path}: there is no such folder or file; make one with  vouch data taxes --out {path}")
        rows += _of_folder(Path(path)) if Path(path).is_dir() else read_as(path, _task_row)
    if paths and not rows:
        raise InputError(f"{', '.join(paths)}: no rows; give some with task and gold")
    return told_apart(rows)


def units_of(rows: Sequence[dict[str, Any]]) -> int:
    """Units of the longest task, 0 if there is none.

    >>> units_of([{"task": {"units": [{}, {}]}}, {"task": {"units": [{}]}}])
    2
    """
    return max((len(row["task"]["units"]) for row in rows), default=0)


def _task_row(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    read_row(fields)
    return {"id": name, "task": fields["task"], "gold": fields["gold"]}


def _of_folder(folder: Path) -> list[dict[str, Any]]:
    mistakes = folder / "mistakes.jsonl"
    if mistakes.is_file() and mistakes.stat().st_size:
        raise InputError(f"the proposals in {folder} have mistakes: make them without (vouch data taxes --out DIR)")
    if not (folder / "tasks").is_dir():
        raise InputError(
            f"{folder} is a folder without tasks/ and proposals/: name one that  vouch data taxes  wrote, or files of "
            "rows"
        )
    rows: list[dict[str, Any]] = []
    for path in sorted((folder / "tasks").glob("*.json")):
        right = cast("dict[str, Any] | None", read_file(folder / "proposals" / path.name))
        gold = right.get("values") if isinstance(right, dict) else None
        row: dict[str, Any] = {"id": path.stem, "task": read_file(path), "gold": gold}
        try:
            read_row(row)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        rows.append(row)
    return rows
