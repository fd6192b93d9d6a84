"""How ``vouch check`` ends where something is wrong with the output, the answer or the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "vouching"]
BRIDGE = ("--source-text", "The bridge opened in 1973.")


def run(*arguments: str, columns: int = 100) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": str(columns)}
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, check=False, encoding="utf-8", env=environment)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_full_device_is_one_line_and_status_3(extra: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = subprocess.run(
            [*PROGRAM, "check", "It opened.", *BRIDGE, *extra], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert ended.stderr == b"vouch: cannot write the result: No space left on device\n"
    assert ended.returncode == 3


@pytest.mark.skipif(os.name == "nt", reason="closed by a shell of POSIX")
@pytest.mark.parametrize(
    ("closed", "claim", "status", "told"),
    [
        (">&-", "It opened.", 3, b"vouch: cannot write the result: Bad file descriptor\n"),
        ("<&-", "-", 2, b"vouch: the claim must contain at least one word or number, got ''\n"),
    ],
)
def test_a_stream_that_the_caller_closed_is_no_crash(closed: str, claim: str, status: int, told: bytes) -> None:
    arguments = [*PROGRAM, "check", claim, *BRIDGE, "--model", "embedded:rules"]
    ended = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *arguments], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (status, told)


def test_an_answer_without_a_claim_does_not_pass_under_fail(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text("Sure! I hope this helps!", encoding="utf-8")
    ended = run("check", "--response", str(path), *BRIDGE, "--fail")
    assert ended.returncode == 3
    assert "vouch: no claim was found" in ended.stderr
    assert run("check", "--response", str(path), *BRIDGE).returncode == 0


def test_a_file_in_place_of_a_claim_is_told_the_right_option(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text("It opened in 1973.", encoding="utf-8")
    ended = run("check", str(path), *BRIDGE)
    assert ended.returncode == 2
    assert f"--response {path}" in ended.stderr


def test_a_report_takes_the_place_of_no_source_that_is_a_page(tmp_path: Path) -> None:
    page = tmp_path / "bridge.html"
    page.write_text("<!doctype html><html><p>It opened in 1973.</p></html>", encoding="utf-8")
    ended = run("check", "It opened in 1973.", "--source", str(page), "--report", str(tmp_path / "." / "bridge.html"))
    assert (ended.returncode, "is an input file and would be overwritten" in ended.stderr) == (2, True)
    assert "1973" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("chek",), "unknown command 'chek'; did you mean 'check'? (see vouch --help)"),
        (("search", "x"), "unknown command 'search': use vouch index search to search an index (see vouch --help)"),
        (
            ("serve", "--port", "8000"),
            "unknown option --port: vouch serve and vouch proxy take --address HOST:PORT (see vouch serve --help)",
        ),
        (
            ("measure", "--input", "rows.jsonl"),
            "unknown option --input: vouch check has it; other commands take a file of rows as their argument "
            "(see vouch measure --help)",
        ),
        (("check", "--zzz"), "unknown option --zzz (see vouch check --help)"),
        (("check", "--out", "x"), "unknown option --out; did you mean '--output'? (see vouch check --help)"),
        (
            ("rank", "--model", "x"),
            "unknown option --model; did you mean '--score-model' or '--search-model'? (see vouch rank --help)",
        ),
        (("check", "x", "--threshold", "z"), "--threshold must be a number (see vouch check --help)"),
        (("check", "x", "--votes", "0"), "--votes must be at least 1 (see vouch check --help)"),
        (
            ("check", "x", "--method", "blinded"),
            "unknown value 'blinded' for --method; expected one of embedded, structured, label; use vouch audit for "
            "blinded (see vouch check --help)",
        ),
        (
            ("check", "x", "--method", "it's"),
            'unknown value "it\'s" for --method; expected one of embedded, structured, label (see vouch check --help)',
        ),
        (("check", "x", "--threshold"), "--threshold requires a value (see vouch --help)"),
        (
            ("schema", "claim"),
            "unknown value 'claim' for record; expected one of verdict, unverified, report, ranking, assurance, "
            "reviewed (see vouch schema --help)",
        ),
        (
            ("follow", "- a, b", "--instruction", "Use no commas."),
            "unknown option -; put text that begins with - after --, or in a file that you pass with an option such as "
            "--response (see vouch follow --help)",
        ),
        (
            ("train",),
            "method is missing: expected one of structured, checklist, blinded, assurance, sft (see "
            "vouch train --help)",
        ),
        (
            ("challenge", "--task", "t.yaml", "--proposal", "p.yaml", "--report", "r.md"),
            "the report cannot be written to r.md: this report has no Markdown version; expected a name that "
            "ends in .html",
        ),
        (("diagnose", "run"), "run is missing (see vouch diagnose run --help)"),
        (
            ("check", "It", "rained"),
            "unexpected arguments (rained): put quotes around text with spaces, and pass other text with its option "
            "(see vouch check --help)",
        ),
    ],
)
def test_a_wrong_command_line_is_answered_in_plain_words(arguments: tuple[str, ...], told: str) -> None:
    ended = run(*arguments)
    assert (ended.returncode, ended.stderr) == (2, f"vouch: {told}\n")


def test_the_help_fits_a_narrow_terminal_and_names_each_panel_once() -> None:
    shown = run("check", "--help", columns=60).stdout
    assert shown.count("What to check ─") == 1
    assert "│                    >" not in shown


def test_files_of_one_name_go_by_their_paths(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "notes.txt" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("The bridge opened in 1973.", encoding="utf-8")
    options = [word for path in paths for word in ("--source", str(path))]
    shown = run("check", "--response", str(paths[0]), *options, "--json").stdout
    assert all(f'"id":"{path}"' in shown for path in paths)
