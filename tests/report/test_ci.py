"""Reports for continuous integration: JUnit XML and SARIF, as other programs read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.batch_runs import vouch
from vouching import check_response
from vouching.errors import InputError
from vouching.report.ci import CheckedText, fingerprint, junit_xml, region, sarif, write_ci
from vouching.types import Claim, Span, Unverified

SOURCE = "The bridge opened to traffic in 1973. It has two towers."
TEXT = "# The bridge\n\nIt has two towers.\r\nThe bridge opened in 1937, we think.\n"
FINDINGS = check_response(TEXT, SOURCE, model="embedded:rules").findings
FAILED = Unverified(Claim("It \x00rained\ud83d."[:10], "a"), "refused", "No \x1b[0m.")


def results_of(log: str) -> list[dict[str, Any]]:
    return json.loads(log)["runs"][0]["results"]


def test_each_finding_is_a_case_and_only_what_failed_is_a_failure() -> None:
    root = ElementTree.fromstring(junit_xml([CheckedText("a.md", (*FINDINGS, FAILED), "a.md", TEXT)]))
    [suite] = root
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    assert [[child.tag for child in case] for case in suite] == [[], ["failure"], ["error"]]
    assert suite[1][0].get("type") == "temporal_shift"
    assert "1973" in (suite[1][0].text or "")


def test_an_accepted_failure_is_skipped_and_suppressed_but_a_failed_judge_never() -> None:
    let = CheckedText(
        "a.md", (*FINDINGS, FAILED), "a.md", TEXT, accepted=frozenset([FINDINGS[1].subject, FAILED.subject])
    )
    [suite] = ElementTree.fromstring(junit_xml([let]))
    assert [[child.tag for child in case] for case in suite] == [[], ["skipped"], ["error"]]
    assert [("suppressions" in result, result["level"]) for result in results_of(sarif([let]))] == [
        (True, "error"),
        (False, "warning"),
    ]


def test_sarif_points_at_the_claim_and_offers_the_fix() -> None:
    fixable = "It is old.\nThe bridge opened in 1937.\n"
    findings = check_response(fixable, SOURCE, model="embedded:rules").findings
    [*_, result] = results_of(sarif([CheckedText("docs/a.md", findings, "docs/a.md", fixable)]))
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "docs/a.md"
    where = place["region"]
    assert (where["startLine"], where["startColumn"], where["endLine"], where["endColumn"]) == (2, 1, 2, 27)
    at = where["charOffset"]
    assert fixable[at : at + where["charLength"]] == "The bridge opened in 1937."
    [replacement] = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["insertedContent"]["text"] == "The bridge opened in 1973."
    assert replacement["deletedRegion"] == where


def test_every_rule_that_a_result_names_is_described_at_its_index() -> None:
    log = json.loads(sarif([CheckedText("a.md", (*FINDINGS, FAILED), "a.md", TEXT)]))
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in log["runs"][0]["results"]] == [
        "temporal_shift",
        "unverified",
    ]


@given(st.text(alphabet="ab\r\n\u2028 ", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_lines_and_columns_are_those_of_an_editor(text: str, one: int, other: int) -> None:
    # Independent: normalise the three line ends to one, then count.
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    found = region(text, Span(text[start:end], start, end))
    for name, offset in (("start", start), ("end", end)):
        before = text[:offset]
        if before.endswith("\r") and text[offset : offset + 1] == "\n":
            continue  # in the middle of a line end
        lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert (found[f"{name}Line"], found[f"{name}Column"]) == (len(lines), len(lines[-1]) + 1)


def test_a_fingerprint_stays_when_lines_move_and_changes_with_the_claim() -> None:
    assert fingerprint("a.md", "It  opened\nin 1937.") == fingerprint("a.md", "It opened in 1937.")
    assert fingerprint("a.md", "It opened in 1937.") != fingerprint("a.md", "It opened in 1938.")
    assert fingerprint("a.md", "It opened.") != fingerprint("b.md", "It opened.")


def test_only_such_a_report_is_replaced(tmp_path: Path) -> None:
    other = tmp_path / "pom.xml"
    other.write_text("<project/>", encoding="utf-8")
    with pytest.raises(InputError, match="the existing file is not JUnit XML"):
        write_ci(other, [])
    for name in ("a.xml", "a.sarif"):
        for _ in range(2):
            write_ci(tmp_path / name, [CheckedText("a.md", FINDINGS, "a.md", TEXT)])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.sarif", "a.xml", "pom.xml"]
    with pytest.raises(InputError, match="expected the name of a file in an existing folder"):
        write_ci(tmp_path / "none" / "a.xml", [])


def test_the_command_writes_both_for_an_answer_and_for_rows(tmp_path: Path) -> None:
    answer, rows = tmp_path / "answer.md", tmp_path / "rows.jsonl"
    answer.write_text("The bridge opened in 1937.", encoding="utf-8")
    given = [
        {"id": "a", "claim": "It opened in 1973.", "source": SOURCE},
        {"id": "b", "response": "It opened in 1937.", "source": SOURCE},
    ]
    rows.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    model = ("--model", "embedded:rules")
    done = vouch("--response", str(answer), "--source-text", SOURCE, "--report", str(tmp_path / "a.sarif"), *model)
    assert done.exit_code == 0, done.stderr
    [result] = results_of((tmp_path / "a.sarif").read_text(encoding="utf-8"))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == answer.as_posix()
    output = tmp_path / "out.jsonl"
    for name in ("rows.xml", "rows.sarif"):
        done = vouch(
            "--input", str(rows), "--output", str(output), "--resume", "--report", str(tmp_path / name), *model
        )
        assert done.exit_code == 0, done.stderr
    root = ElementTree.parse(tmp_path / "rows.xml").getroot()
    assert [(suite.get("name"), suite.get("failures")) for suite in root] == [("a", "0"), ("b", "1")]
    [result] = results_of((tmp_path / "rows.sarif").read_text(encoding="utf-8"))
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 2}
