"""What a folder of rows survives: a full disk, broken rows, and one source that is larger than all other rows."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.cli.streams import Exit
from vouching.rows.folder import check_folder


def vouch(*arguments: object) -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(app, [*map(str, arguments)])


def check(rows: Path, output: Path, *more: str) -> Result:
    return vouch("check", "--input", rows, "--output", output, "--model", "embedded:rules", *more)


def row(name: str, source: str = "The bridge opened in 1973.") -> str:
    return json.dumps({"id": name, "claim": "The bridge opened in 1937.", "source": source})


def ids_in(output: Path) -> Counter[str]:
    return Counter(json.loads(line)["id"] for part in (output / "parts").iterdir() for line in part.open())


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 128 kB in memory."""
    (place := tmp_path / "disk").mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"a file system in memory cannot be mounted here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_keeps_what_is_finished_and_the_run_goes_on_with_more_space(
    small_disk: Path, tmp_path: Path
) -> None:
    (lake := tmp_path / "lake").mkdir()
    for file in range(6):  # a record has about 1 kB, and is on the disk twice while its block is published
        (lake / f"{file}.jsonl").write_text("".join(f"{row(f'{file}-{n}')}\n" for n in range(25)))
    output = small_disk / "out"
    full = check(lake, output)
    assert full.exit_code == Exit.INCOMPLETE
    assert "No space left on device" in full.stderr
    assert "--resume" in full.stderr
    kept = {path.name: path.stat().st_mtime_ns for path in (output / "blocks").iterdir()}
    assert 0 < len(kept) < 6
    subprocess.run(["mount", "-o", "remount,size=8m", str(small_disk)], check=True)
    assert check(lake, output, "--resume").exit_code == Exit.OK
    assert {name: (output / "blocks" / name).stat().st_mtime_ns for name in kept} == kept
    assert ids_in(output) == Counter(f"{file}-{n}" for file in range(6) for n in range(25))
    assert check_folder(str(output)).faults == ()


def test_one_broken_row_in_a_hundred_is_listed_with_file_row_and_reason(tmp_path: Path) -> None:
    (lake := tmp_path / "lake").mkdir()
    expected: list[tuple[str, str]] = []
    for file in ("a", "b", "c"):
        lines = [row(f"{file}{n}") for n in range(99)]
        before = sum(len(line) + 1 for line in lines[:50])
        (lake / f"{file}.jsonl").write_text("\n".join([*lines[:50], "{broken", *lines[50:]]) + "\n")
        expected.append((f"{file}.jsonl", f"byte {before}"))
    done = check(lake, tmp_path / "out")
    assert done.exit_code == Exit.INCOMPLETE
    errors = [json.loads(line) for part in sorted((tmp_path / "out/errors").iterdir()) for line in part.open()]
    assert [(one["file"], one["row"]) for one in errors] == expected
    assert all("invalid JSON" in one["reason"] for one in errors)
    assert f"listed in {tmp_path / 'out'}/errors" in done.stderr
    assert "3 of the rows cannot be used" in done.stderr
    assert sum(ids_in(tmp_path / "out").values()) == 300  # a broken row has a line too
    assert check_folder(str(tmp_path / "out")).faults == ()


def test_one_source_of_five_megabytes_among_short_rows_is_one_row_of_one_block(tmp_path: Path) -> None:
    (lake := tmp_path / "lake").mkdir()
    sentence = "The span is long and made of steel. "
    large = sentence * (5_000_000 // len(sentence)) + "The bridge opened in 1973."
    lines = [*(row(f"r{n}") for n in range(10)), row("large", large), *(row(f"r{n}") for n in range(10, 20))]
    (lake / "a.jsonl").write_text("".join(f"{line}\n" for line in lines))
    assert check(lake, tmp_path / "out").exit_code == Exit.OK
    assert ids_in(tmp_path / "out") == Counter(["large", *(f"r{n}" for n in range(20))])
    records = {
        record["id"]: record
        for part in (tmp_path / "out/parts").iterdir()
        for record in map(json.loads, part.open(encoding="utf-8"))
    }
    assert {record["fix_suggestion"] for record in records.values()} == {"Change 1937 to 1973."}
    [fix] = [one["source_span"] for one in records["large"]["evidence_alignment"] if one["status"] == "mismatch"]
    assert large[fix["start"] : fix["end"]] == fix["text"]
