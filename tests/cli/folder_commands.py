"""The commands that work on rows, each with a file of examples, for the tests of folders and of Ray."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass(frozen=True)
class RowCommand:
    """A command without its files."""

    words: tuple[str, ...]
    rows: str
    """A file of examples."""


ROW_COMMANDS = {
    "check": RowCommand(("check", "--model", "embedded:rules"), "claims.jsonl"),
    "audit": RowCommand(("audit",), "answers.jsonl"),
    "follow": RowCommand(("follow",), "instructions.jsonl"),
    "rank": RowCommand(("rank",), "candidates.jsonl"),
    "reward": RowCommand(("reward", "structured"), "replies.jsonl"),
}
"""The commands with a line for each row."""
MADE_COMMANDS = {
    "perturb": RowCommand(("data", "perturb", "--strategies", "date_shift,number_change"), "claims.jsonl"),
}
"""The commands that make files from the lines of all rows."""


def folder_of(command: RowCommand, folder: Path) -> tuple[Path, Path]:
    """A folder with the rows in two files, and one file with all of them, each with an id."""
    text = (EXAMPLES / command.rows).read_text(encoding="utf-8").splitlines()
    rows = [{"id": f"r{number}", **json.loads(line)} for number, line in enumerate(text)]
    lines = [f"{json.dumps(row)}\n" for row in rows]
    lake, half = folder / "lake", len(lines) // 2
    lake.mkdir()
    (lake / "a.jsonl").write_text("".join(lines[:half]), encoding="utf-8")
    (lake / "b.jsonl").write_text("".join(lines[half:]), encoding="utf-8")
    whole = folder / "whole.jsonl"
    whole.write_text("".join(lines), encoding="utf-8")
    return lake, whole


def untimed(record: Any) -> Any:
    """A record without the seconds that it took."""
    if isinstance(record, dict):
        return {key: untimed(value) for key, value in record.items() if key != "seconds"}
    return [untimed(one) for one in record] if isinstance(record, list) else record


def lines_of(output: Path) -> list[Any]:
    """The records of a file, or of the parts of a folder, in order, untimed."""
    parts = sorted((output / "parts").iterdir()) if output.is_dir() else [output]
    return [untimed(json.loads(line)) for part in parts for line in part.read_text(encoding="utf-8").splitlines()]
