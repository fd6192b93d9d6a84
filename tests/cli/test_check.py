"""``vouch check``: what it prints, how it ends, and what it says about input it cannot use."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.cli.check import exit_status
from vouching.cli.streams import Exit
from vouching.types import Claim, Report, Unverified, Verdict
from vouching.types.serial import from_json

BRIDGE = "The bridge opened in 1973."
WRONG = "The bridge opened in 1937."
GROWTH = ("Sales grew by 15%.", "--source-text", "Sales grew by 15 percent.")
PROGRAM = [sys.executable, "-m", "vouching"]


def vouch(*arguments: str, stdin: str | bytes = "") -> Result:
    """Run ``vouch check`` in this process."""
    return CliRunner(env={"COLUMNS": "100", "VOUCH_MODEL": ""}).invoke(app, ["check", *arguments], input=stdin)


def refused(*arguments: str, stdin: str | bytes = "") -> str:
    """The one line that a command line which cannot be used is answered with."""
    result = vouch(*arguments, stdin=stdin)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("vouch: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def started(*arguments: str | bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the program in a process of its own."""
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, check=False, **options)


@pytest.fixture
def bridge(tmp_path: Path) -> Path:
    path = tmp_path / "bridge.txt"
    path.write_text(BRIDGE, encoding="utf-8")
    return path


# What it says


def test_a_wrong_year_is_found_explained_and_mended(bridge: Path) -> None:
    result = vouch(WRONG, "--source", str(bridge))
    assert result.exit_code == 0
    assert result.stdout.startswith("✗ Not Attributable · temporal shift")
    assert "Fix  Change 1937 to 1973." in result.stdout
    assert re.search(r"bridge\.txt:\d+-25\n", result.stdout)  # 1973 ends before the final full stop, the 26th character
    assert result.stderr == ""


def test_another_notation_of_the_same_number_is_attributable() -> None:
    assert vouch(*GROWTH).stdout.startswith("✓ Attributable")


def test_json_is_one_line_that_reads_back_as_the_verdict() -> None:
    printed = vouch(WRONG, "--source-text", BRIDGE, "--json").stdout
    assert printed.count("\n") == 1
    verdict = from_json(Verdict, printed)
    assert (verdict.error_type, verdict.fix_suggestion) == ("temporal_shift", "Change 1937 to 1973.")


def test_markdown_has_the_table_of_the_evidence(tmp_path: Path) -> None:
    report = tmp_path / "verdict.md"
    assert vouch(WRONG, "--source-text", BRIDGE, "--report", str(report)).exit_code == 0
    assert "| | claim | source | place | reason |" in report.read_text(encoding="utf-8")
    again = refused(WRONG, "--source-text", BRIDGE, "--report", str(report))
    assert "the file exists and would be overwritten" in again


def test_a_response_is_checked_claim_by_claim_and_repaired() -> None:
    response = f"Sure! {WRONG}"
    printed = vouch("--response", "-", "--source-text", BRIDGE, "--repair", "mark", "--json", stdin=response).stdout
    report = from_json(Report, printed)
    assert report.totals.not_attributable == 1
    assert report.revised_response == f"Sure! {BRIDGE}"


def test_what_cannot_be_repaired_is_removed_on_request() -> None:
    response = f"{BRIDGE} Penguins invented algebra."
    options = ("--source-text", BRIDGE, "--repair", "remove", "--json")
    report = from_json(Report, vouch("--response", "-", *options, stdin=response).stdout)
    assert report.revised_response is not None
    assert "Penguins" not in report.revised_response


def test_the_question_is_kept_in_the_report() -> None:
    options = ("--question", "When?", "--source-text", BRIDGE, "--json")
    printed = vouch("--response", "-", *options, stdin=WRONG).stdout
    assert json.loads(printed)["question"] == "When?"


def test_sources_keep_their_order_and_files_are_named_by_their_file_name(bridge: Path) -> None:
    arguments = (
        "--response",
        "-",
        "--source-text",
        "a",
        "--source",
        str(bridge),
        "--source-text",
        "b",
        "--json",
    )
    sources = json.loads(vouch(*arguments, stdin=WRONG).stdout)["sources"]
    assert [source["id"] for source in sources] == ["bridge.txt", "source-2", "source-3"]


def test_a_claim_a_response_or_a_source_may_come_from_standard_input(bridge: Path) -> None:
    assert "temporal shift" in vouch("-", "--source", str(bridge), stdin=f"{WRONG}\n").stdout
    assert "temporal shift" in vouch("--response", "-", "--source", str(bridge), stdin=WRONG).stdout
    assert "  stdin:" in vouch(WRONG, "--source", "-", stdin=BRIDGE).stdout


def test_the_model_may_be_set_in_the_environment() -> None:
    result = CliRunner(env={"VOUCH_MODEL": "nonsense"}).invoke(app, ["check", *GROWTH])
    assert "unknown model 'nonsense'" in result.stderr


def test_the_threshold_decides_the_label_and_not_the_score() -> None:
    lenient, strict = (
        from_json(Verdict, vouch(*GROWTH, "--threshold", limit, "--json").stdout) for limit in ("0", "1")
    )
    assert lenient.score == strict.score
    assert (lenient.label, strict.label) == ("Attributable", "Not Attributable")


# How it ends


def test_findings_fail_only_on_request() -> None:
    assert vouch(WRONG, "--source-text", BRIDGE).exit_code == 0
    assert vouch(WRONG, "--source-text", BRIDGE, "--fail").exit_code == 1
    assert vouch("--response", "-", "--source-text", BRIDGE, "--fail", stdin=WRONG).exit_code == 1
    assert vouch(*GROWTH, "--fail").exit_code == 0


def test_a_claim_that_could_not_be_verified_never_passes() -> None:
    good = Verdict(Claim("a"), "Attributable", 0.9, 0.9, 0.5, "supported")
    bad = Verdict(Claim("b"), "Not Attributable", 0.1, 0.9, 0.5, "not_found")
    unknown = Unverified(Claim("c"), "backend", "no answer")
    assert exit_status(Report("", (), (good, unknown)), fail=False) == Exit.INCOMPLETE
    assert exit_status(Report("", (), (good, unknown)), fail=True) == Exit.INCOMPLETE
    assert exit_status(Report("", (), (bad, unknown)), fail=True) == Exit.FINDINGS
    assert exit_status(Report("", (), (bad,)), fail=False) == Exit.OK
    assert exit_status(unknown, fail=False) == Exit.INCOMPLETE


def test_the_program_ends_with_the_status_that_the_guide_names(bridge: Path) -> None:
    done = started("check", WRONG, "--source", str(bridge), "--fail")
    assert done.returncode == 1
    assert done.stderr == b""


def test_an_unknown_option_is_one_line_and_status_2() -> None:
    done = started("check", "--bogus")
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == ["vouch: unknown option --bogus (see vouch check --help)"]


def test_a_reader_that_goes_away_ends_the_program_quietly() -> None:
    command = [*PROGRAM, "check", WRONG, "--source", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout
        # The program waits for its source, so it finds the pipe closed when it comes to write.
        process.stdout.close()
        told = process.communicate(BRIDGE.encode())[1]
    assert (process.returncode, told) == (Exit.PIPE_CLOSED, b"")


def test_an_interrupt_ends_the_program_quietly_and_at_once() -> None:
    # A source of 4 MB takes seconds; the interrupt comes when it has been read, so in the midst of the check.
    command = [*PROGRAM, "check", WRONG, "--source", "-"]
    pipe = subprocess.PIPE
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin
        process.stdin.write(f"{BRIDGE} ".encode() * 150_000)
        process.stdin.close()
        process.stdin = None
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate()
    assert (process.returncode, printed, told) == (Exit.INTERRUPTED, b"", b"")
    # Of the processor, so that other work beside the test does not count.
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (
        spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime < 5
    )  # the whole check takes more than that


# What it cannot use


def test_exactly_one_thing_to_check_is_wanted(bridge: Path) -> None:
    assert "no text was given" in refused("--source", str(bridge))
    assert "CLAIM and --response cannot be used together" in refused(WRONG, "--response", "x", "--source", str(bridge))


def test_a_source_is_wanted() -> None:
    assert "no source was given" in refused(WRONG)


def test_standard_input_is_read_for_one_thing_only() -> None:
    assert "- was passed more than once" in refused("-", "--source", "-")
    assert "- was passed more than once" in refused(WRONG, "--source", "-", "--source", "-")


def test_a_repair_does_not_go_with_a_claim() -> None:
    assert "--repair applies only to a whole answer" in refused(WRONG, "--repair", "mark", "--source-text", BRIDGE)


def test_a_claim_may_be_a_short_answer_to_a_question() -> None:
    source = "The bridge was opened in 1973."
    shown = vouch("1973.", "--question", "When was the bridge opened?", "--source-text", source).stdout
    assert "[The bridge was opened] 1973." in shown
    assert "1 claim: 1 attributable" in shown


@pytest.mark.parametrize("claim", ["", "  \n ", "?!", "\N{ZERO WIDTH SPACE}"])
def test_an_empty_claim_is_refused(claim: str) -> None:
    assert "the claim must contain at least one word or number" in refused(claim, "--source-text", BRIDGE)
    assert "the claim must contain at least one word or number" in refused("-", "--source-text", BRIDGE, stdin=claim)


def test_an_empty_response_is_refused() -> None:
    assert "the response must not be empty" in refused("--response", "-", "--source-text", BRIDGE, stdin=" ")


@pytest.mark.parametrize("threshold", ["2", "-0.1", "nan"])
def test_a_threshold_outside_its_range_is_refused(threshold: str) -> None:
    assert "threshold must be in [0, 1]" in refused(*GROWTH, f"--threshold={threshold}")


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    assert "expected one of embedded" in refused(*GROWTH, "--model", "gpt")


def test_a_missing_file_is_refused_with_the_name_most_like_it(bridge: Path) -> None:
    told = refused(WRONG, "--source", str(bridge.with_name("brigde.txt")))
    assert "does not exist; did you mean" in told
    assert str(bridge) in told
    assert "does not exist; pass the path" in refused(WRONG, "--source", str(bridge.with_name("river.md")))


def test_a_text_in_place_of_a_path_is_told_the_right_option() -> None:
    assert "or the text itself with --source-text" in refused(WRONG, "--source", BRIDGE * 200)
    assert "or - for standard input" in refused("--response", WRONG, "--source-text", BRIDGE)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is a folder: pass its files" in refused(WRONG, "--source", str(tmp_path))


@pytest.mark.parametrize(
    "raw", [b"%PDF-1.7 ...", b"\x89PNG\r\n\x1a\n...", b"It opened\x00 in 1973.", bytes(range(32)) * 9]
)
def test_a_binary_file_is_refused(bridge: Path, raw: bytes) -> None:
    bridge.write_bytes(raw)
    refused(WRONG, "--source", str(bridge))
    refused("--response", str(bridge), "--source-text", BRIDGE)
    refused(WRONG, "--source", "-", stdin=raw)


def test_bytes_that_are_no_text_are_refused_on_the_command_line_too() -> None:
    done = started("check", b"It opened in \xff1937.", "--source-text", BRIDGE)
    assert done.returncode == 2
    assert done.stderr == b"vouch: CLAIM is not valid UTF-8: put the text in a file and pass its path\n"


def test_a_lone_surrogate_is_refused() -> None:
    assert "--source-text is not valid UTF-8" in refused(WRONG, "--source-text", "It opened \ud800 in 1973.")


# What it takes as it is


def test_an_empty_source_supports_nothing(bridge: Path) -> None:
    bridge.write_text("", encoding="utf-8")
    result = vouch(WRONG, "--source", str(bridge), "--fail")
    assert result.exit_code == 1
    assert "nothing to attribute to" in result.stdout


def test_a_claim_may_be_longer_than_its_source() -> None:
    assert vouch(f"{WRONG[:-1]} {'and it is long ' * 50}.", "--source-text", "Bridge.").stdout.startswith(("✗", "∅"))


def test_a_locale_without_utf8_neither_garbles_the_texts_nor_stops_the_output() -> None:
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    done = started("check", "The café opened.".encode(), "--source-text", "The café opened.".encode(), env=plain)
    assert done.returncode == 0
    assert done.stdout.decode("ascii").startswith("+ Attributable - ")
    assert "caf\\xe9" in done.stdout.decode("ascii")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_heeded(bridge: Path, encoding: str) -> None:
    bridge.write_text(BRIDGE, encoding=encoding)
    assert re.search(r"bridge\.txt:\d+-25\n", vouch(WRONG, "--source", str(bridge)).stdout)  # the mark does not count


def test_a_guessed_encoding_is_a_warning_of_the_verdict(bridge: Path) -> None:
    bridge.write_bytes("The café opened in 1973.".encode("cp1252"))
    verdict = from_json(Verdict, vouch("The café opened in 1973.", "--source", str(bridge), "--json").stdout)
    assert verdict.attributable
    assert [warning.kind for warning in verdict.warnings] == ["encoding"]


def test_html_is_read_with_a_warning_that_its_tags_are_text(bridge: Path) -> None:
    bridge.write_text(f"<html><body><p>{BRIDGE}</p></body></html>", encoding="utf-8")
    assert "its tags were read as text" in vouch(WRONG, "--source", str(bridge)).stdout


@pytest.mark.parametrize(
    "text",
    [
        "افتتح الجسر في عام ١٩٧٣.",
        "この橋は1973年に開通した。",
        "The 🌉 opened in 1973 👍🏽.",
        "It\x00opened\x1b[2J in 1973.",
    ],
    ids=["right-to-left", "cjk", "emoji", "controls"],
)
def test_any_script_is_checked_and_printed_without_control_characters(text: str) -> None:
    result = vouch(text, "--source-text", text)
    assert result.exit_code == 0
    assert result.stdout.startswith("✓ Attributable")
    assert not any(ord(character) < 32 and character != "\n" for character in result.stdout)
    assert from_json(Verdict, vouch(text, "--source-text", text, "--json").stdout).claim.text == text
