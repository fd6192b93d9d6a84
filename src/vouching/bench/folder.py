"""The folder of a run: what lies in it, and that it is not mixed up with another.

run.json            what was asked for, of which data, where and when; there from the start
rows/<set>.jsonl    a line per row, appended as it is scored (see score.py), with a note for resuming
results.json        run.json and all figures (see evaluate.py)
report.html         the same to look at
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from vouching.bench.score import Scored
from vouching.errors import InputError

RUN, RESULTS, REPORT = "run.json", "results.json", "report.html"
Record = dict[str, Any]
"""What run.json or results.json holds."""


def open_folder(out: Path, run: Record, resume: bool) -> None:
    """Make the folder of a run, or see that it is the one to go on with.

    Args:
        out: the folder.
        run: what is asked for: settings and data must be those of the run that is there.
        resume: whether to go on with a run.

    Raises:
        InputError: it holds a run and ``resume`` is not wanted, another run, or something else, or cannot be written.
    """
    note = out / RUN
    try:
        if note.exists():
            _same_run(note, run, resume)
        elif out.is_dir() and (others := sorted(out.iterdir())):
            raise InputError(f"{out} is not empty (it holds {others[0].name}): name a new folder for the run")
        (out / "rows").mkdir(parents=True, exist_ok=True)
        if not note.exists():
            write_json(note, run)
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror or error}; name a folder of yours") from None


def _same_run(note: Path, run: Record, resume: bool) -> None:
    if not resume:
        raise InputError(f"{note.parent} holds a run: go on with it by --resume, or name another folder")
    found = read_record(note.parent, note.name)
    try:
        old = {**found["settings"], "sets": found["data"]}
    except (KeyError, TypeError):
        raise InputError(f"{note} is damaged, so what the run was is not known: name another folder") from None
    for key, value in {**run["settings"], "sets": run["data"]}.items():
        if old.get(key) != value:
            was, now = _words(old.get(key)), _words(value)
            same = "; their data differ" if was == now else ""
            raise InputError(
                f"{note.parent} holds a run with {key} {was}, now it is {now}{same}: ask for the same, or name another "
                "folder"
            )


def _words(value: object) -> str:
    return ", ".join(cast("Record", value)) if isinstance(value, dict) else str(value)


def write_json(path: Path, record: Record) -> None:
    """Write a file as a whole, so that it is never half written."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    fresh.replace(path)


def read_scored(out: Path, name: str) -> list[Scored]:
    """The scored rows of a set in a run's folder. Raises InputError if they are not there or damaged."""
    path = rows_path(out, name)
    try:
        with path.open(encoding="utf-8", newline="\n") as lines:
            return [json.loads(line) for line in lines]
    except OSError as error:
        if (out / RUN).exists() and not path.exists():
            raise InputError(f"the run in {out} is not finished, {name} is missing: go on with --resume") from None
        raise InputError(f"{path} cannot be read: {error.strerror or error}; is {out} the folder of a run?") from None
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}; run the set again") from None


def read_record(out: Path, name: str) -> Record:
    """run.json or results.json of a run. Raises InputError if it is not there or damaged."""
    path = out / name
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}; is {out} the folder of a run?") from None
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}") from None


def rows_path(out: Path, name: str) -> Path:
    """Where the scored rows of a set lie.

    >>> rows_path(Path("runs/a"), "wice").as_posix()
    'runs/a/rows/wice.jsonl'
    """
    return out / "rows" / f"{name}.jsonl"
