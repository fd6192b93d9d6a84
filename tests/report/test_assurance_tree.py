"""The case as a tree, on the page and as JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

from rich.console import Console

from vouching.methods.assurance.reward import CASES
from vouching.report.assurance import case_tree, print_assurance, write_assurance
from vouching.types import Assurance, Task, TaskUnit, UnitResult

CASE = UnitResult(
    "15",
    "146000",
    True,
    None,
    "146000",
    "15 is too low.",
    "R15 gives 147097.",
    evidence=(("a.b", "3"), ("a.bc", "4"), ("", "")),
    rules=("R15",),
    flagged=("a.bc is 5, but the case says 4.", "(no location): the location is empty."),
)


def test_the_tree_has_the_evidence_under_the_argument_and_marks_what_is_not_so() -> None:
    tree = case_tree(CASE)
    assert (tree["kind"], tree["text"]) == ("claim", "15 is too low.")
    [argument] = tree["children"]
    assert (argument["kind"], argument["rules"]) == ("argument", ["R15"])
    # a.b is no beginning of a.bc's fault.
    assert [leaf["fault"] for leaf in argument["children"]] == ["", *CASE.flagged]


def test_what_is_wrong_with_an_expression_is_not_said_of_an_input_that_it_begins_with() -> None:
    fault = "a.b + 1 is 4, but the case says 5."
    unit = UnitResult("x", "1", True, None, "1", evidence=(("a.b", "3"), ("a.b + 1", "5")), flagged=(fault,))
    assert [leaf["fault"] for leaf in case_tree(unit)["children"][0]["children"]] == ["", fault]


def page_of(tmp_path: Path, unit: UnitResult) -> str:
    task = Task("t", {}, {}, (TaskUnit(unit.unit_id, "amount"),))
    write_assurance(tmp_path / "page.html", Assurance("t", (unit,), {}), task)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_page_shows_the_claim_the_argument_and_the_evidence_with_its_faults(tmp_path: Path) -> None:
    html = page_of(tmp_path, CASE)
    [case] = re.findall(r'<ul class="case">(.*?)\n(?=<details>)', html, re.DOTALL)
    words = [unescape(one) for one in re.split(r"\s*<[^>]*>\s*", case) if one.strip()]
    assert words == [
        "Claim",
        "15 is too low.",
        "Argument",
        "R15 gives 147097.",
        "✓ a.b = 3",
        "✗ a.bc = 4",
        CASE.flagged[0],
        "✗ (no location)",
        CASE.flagged[1],
    ]


def test_of_a_long_expression_the_beginning_is_shown_and_what_it_comes_to(tmp_path: Path) -> None:
    expression = "1 + " * 400 + "1"
    case = replace(CASE, evidence=((expression, "401"),), flagged=())
    assert f"✓ {expression[:200]}... = 401</li>" in page_of(tmp_path, case)
    assert expression in json.dumps(case_tree(case))


def test_every_case_of_the_paper_has_words() -> None:
    # What a reader of --gold sees: the eight cases, and the two of a proposal that nobody could revise.
    for name in (*CASES, "2 or 3", "5 or 6"):
        console = Console(record=True, width=100)
        print_assurance(console, Assurance("t", (CASE,), {}, cases={name: 7}))
        right = name[0] in "123"
        assert f"7  {'right' if right else 'wrong'}, " in (text := console.export_text())
        assert f"(case {name})" in text


def test_a_value_that_was_kept_is_not_set_against_itself() -> None:
    kept = replace(CASE, decision="keep", reason="why", revision="146000")
    for revision, words in (("146000", "kept: why"), ("147097", "kept instead of 147097: why"), (None, "kept: why")):
        console = Console(record=True, width=100)
        print_assurance(console, Assurance("t", (replace(kept, revision=revision),), {}))
        assert words in console.export_text()
