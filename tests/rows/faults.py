"""What a folder of rows survives, whoever works on it: a full disk, broken rows, and one source that is very large.

Each function makes the input, runs the command with further options, and checks what it promises.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.cli.streams import Exit
from vouching.rows.folder import check_folder


def check(rows: Path, output: Path, *more: str) -> Result:
    """Run the command line in this process."""
    words = ["check", "--input", str(rows), "--output", str(output), "--model", "embedded:rules", *more]
    return CliRunner().invoke(app, words)


def row(name: str, source: str = "The bridge opened in 1973.") -> str:
    return json.dumps({"id": name, "claim": "The bridge opened in 1937.", "source": source})


def ids_in(output: Path) -> Counter[str]:
    return Counter(json.loads(line)["id"] for part in (output / "parts").iterdir() for line in part.open())


@contextmanager
def small_disk(place: Path, size: str = "200k") -> Generator[Path]:
    """A small disk in memory."""
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"a file system in memory cannot be mounted here: {made.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def full_disk(folder: Path, *more: str) -> None:
    """What is finished when the disk is full is kept, and the run resumes once there is space."""
    (lake := folder / "lake").mkdir()
    for file in range(6):  # a record has about 1 kB, and is on the disk twice while its block is published
        (lake / f"{file}.jsonl").write_text("".join(f"{row(f'{file}-{n}')}\n" for n in range(25)))
    with small_disk(folder / "disk") as disk:
        full = check(lake, output := disk / "out", *more)
        assert full.exit_code == Exit.INCOMPLETE
        assert "No space left on device" in full.stderr
        assert "--resume" in full.stderr
        kept = {path.name: path.stat().st_mtime_ns for path in (output / "blocks").glob("[!.]*")}
        assert 0 < len(kept) < 6
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        assert check(lake, output, "--resume", *more).exit_code == Exit.OK
        assert {name: (output / "blocks" / name).stat().st_mtime_ns for name in kept} == kept
        assert ids_in(output) == Counter(f"{file}-{n}" for file in range(6) for n in range(25))
        assert check_folder(str(output)).faults == ()


def one_broken_row_in_a_hundred(folder: Path, *more: str) -> None:
    """Broken rows are listed with file, row and reason, and the exit status is 3."""
    (lake := folder / "lake").mkdir()
    expected: list[tuple[str, str]] = []
    for file in ("a", "b", "c"):
        lines = [row(f"{file}{n}") for n in range(99)]
        before = sum(len(line) + 1 for line in lines[:50])
        (lake / f"{file}.jsonl").write_text("\n".join([*lines[:50], "{broken", *lines[50:]]) + "\n")
        expected.append((f"{file}.jsonl", f"byte {before}"))
    done = check(lake, folder / "out", *more)
    assert done.exit_code == Exit.INCOMPLETE
    errors = [json.loads(line) for part in sorted((folder / "out/errors").iterdir()) for line in part.open()]
    assert [(one["file"], one["row"]) for one in errors] == expected
    assert all("invalid JSON" in one["reason"] for one in errors)
    assert f"listed in {folder / 'out'}/errors" in done.stderr
    assert "3 of the rows cannot be used" in done.stderr
    assert sum(ids_in(folder / "out").values()) == 300  # a broken row has a line too
    assert check_folder(str(folder / "out")).faults == ()


def one_source_of_five_megabytes(folder: Path, *more: str) -> None:
    """A source that is larger than all other rows is one row of one block."""
    (lake := folder / "lake").mkdir()
    sentence = f"The span is made of {'steel' * 100}. "  # few words, since their number is what takes time
    large = sentence * (5_000_000 // len(sentence)) + "The bridge opened in 1973."
    lines = [*(row(f"r{n}") for n in range(10)), row("large", large), *(row(f"r{n}") for n in range(10, 20))]
    (lake / "a.jsonl").write_text("".join(f"{line}\n" for line in lines))
    assert check(lake, folder / "out", *more).exit_code == Exit.OK
    assert ids_in(folder / "out") == Counter(["large", *(f"r{n}" for n in range(20))])
    records = {
        record["id"]: record
        for part in (folder / "out/parts").iterdir()
        for record in map(json.loads, part.open(encoding="utf-8"))
    }
    assert {record["fix_suggestion"] for record in records.values()} == {"Change 1937 to 1973."}
    [fix] = [one["source_span"] for one in records["large"]["evidence_alignment"] if one["status"] == "mismatch"]
    assert large[fix["start"] : fix["end"]] == fix["text"]
