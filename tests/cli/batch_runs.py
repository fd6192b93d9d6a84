"""How the tests of ``vouch check --input`` run it, and on what: rows are judged by the rules, as that is quick."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.cli.streams import Exit

MODEL = {"VOUCH_MODEL": "embedded:rules"}
PROGRAM = [sys.executable, "-m", "vouching", "check"]
SOURCE = "The bridge opened in 1973. It has two towers."
ROWS: list[dict[str, Any]] = [
    {"id": "a", "claim": "The bridge opened in 1973.", "source": SOURCE},
    {"id": "b", "claim": "The bridge opened in 1937.", "sources": [SOURCE, "It is long."]},
    {"id": "7", "response": "Sure! The bridge opened in 1937.", "question": "When?", "source": SOURCE},
    {"claim": 'It has "two towers",\nand more.', "source": SOURCE},
]
MANY = 1200
"""Rows of the long runs."""
WITH_WORKERS = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in the background deaf to it
from dataclasses import replace
from vouching.cli.check import CLAIMS, check_job
from vouching.cli.judge import Judging, RowPage, finish_rows
job = check_job((sys.argv[1], sys.argv[2], True), Judging("embedded:rules"), jobs=2)
sys.exit(finish_rows(replace(job, patience=0.0), CLAIMS, fail=False, page=RowPage()))
"""
"""Code for the command with two worker processes from the first row on, which it starts only in long runs."""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "rows.jsonl", ROWS)


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_many(tmp_path_factory.mktemp("many"))


@pytest.fixture(scope="module")
def expected(many: Path) -> str:
    """What an uninterrupted run makes of the long file."""
    output = many.with_name("expected.jsonl")
    assert vouch("--input", many, "--output", output).exit_code == Exit.INCOMPLETE
    return untimed(output)


def vouch(*arguments: str | Path, stdin: str | bytes = "") -> Result:
    """Run ``vouch check`` in this process."""
    return CliRunner(env=MODEL).invoke(app, ["check", *map(str, arguments)], input=stdin)


def started(*arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    """Start the program in a process of its own, in a process group of its own."""
    return _started([*PROGRAM, *map(str, arguments)], **options)


def resumed(rows: Path, output: Path, jobs: int) -> subprocess.Popen[str]:
    """Start the program, or go on with it, in so many processes."""
    if jobs == 1:
        return started("--input", rows, "--output", output, "--resume")
    return _started([sys.executable, "-c", WITH_WORKERS, str(rows), str(output)])


def _started(command: list[str], **options: Any) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True, env={**os.environ, **MODEL}, **options
    )


def ended(*arguments: str | Path, **options: Any) -> tuple[int, str]:
    """Run the program; its exit status and what it wrote to standard error."""
    with started(*arguments, **options) as program:
        told = program.communicate()[1]
    return program.returncode, told


def untimed(path: Path) -> str:
    """An output without the seconds that each verdict took."""
    return re.sub(r'"seconds":[^,}]*', '"seconds":0', path.read_text(encoding="utf-8"))


def lines_of(path: Path) -> int:
    """How many finished lines an output has."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_lines(path: Path, lines: int) -> None:
    """Wait until an output has so many lines."""
    deadline = time.monotonic() + 240
    while lines_of(path) < lines and time.monotonic() < deadline:
        time.sleep(0.005)
    assert lines_of(path) >= lines


def write_jsonl(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_many(folder: Path) -> Path:
    """A long file, with a row in it that cannot be used."""
    years = [{"id": f"r{n}", "claim": f"The bridge opened in {n}.", "source": SOURCE} for n in range(MANY)]
    years[20] = {"id": "r20", "response": "It opened in 1973. It has three towers.", "source": SOURCE}
    path = write_jsonl(folder / "many.jsonl", years)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[33] = b'{"id": "r33", \n'
    path.write_bytes(b"".join(lines))
    return path
