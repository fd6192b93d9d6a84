"""The case as a tree, drawn and as JSON."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given

from tests.types.record_strategies import UNITS
from vouching.report.assurance_tree import case_tree, tree_drawing
from vouching.types import UnitResult

CASE = UnitResult(
    "15", "146000", True, None, "146000", "15 is too low.", "R15 gives 147097.",
    evidence=(("a.b", "3"), ("a.bc", "4"), ("", "")), rules=("R15",),
    flagged=("a.bc is 5, the case says 4.", "(no location): the location is empty."),
)  # fmt: skip


def test_the_tree_has_the_evidence_under_the_argument_and_marks_what_is_not_so() -> None:
    tree = case_tree(CASE)
    assert (tree["kind"], tree["text"]) == ("claim", "15 is too low.")
    [argument] = tree["children"]
    assert (argument["kind"], argument["rules"]) == ("argument", ["R15"])
    # a.b is no beginning of a.bc's fault.
    assert [leaf["fault"] for leaf in argument["children"]] == ["", *CASE.flagged]


def test_what_is_wrong_with_an_expression_is_not_said_of_an_input_that_it_begins_with() -> None:
    fault = "a.b + 1 is 4, the case says 5."
    unit = UnitResult("x", "1", True, None, "1", evidence=(("a.b", "3"), ("a.b + 1", "5")), flagged=(fault,))
    assert [leaf["fault"] for leaf in case_tree(unit)["children"][0]["children"]] == ["", fault]


def test_the_drawing_says_the_same() -> None:
    words = [node.text for node in ET.fromstring(tree_drawing(CASE)).iter("{http://www.w3.org/2000/svg}text")]
    assert words == [
        "Claim", "15 is too low.", "Argument", "R15 gives 147097.", "✓ a.b = 3", "✗ a.bc = 4", CASE.flagged[0],
        "✗ (no location)", CASE.flagged[1],
    ]  # fmt: skip


@given(UNITS)
def test_any_case_is_a_drawing_that_can_be_parsed(unit: UnitResult) -> None:
    assert ET.fromstring(tree_drawing(unit)).tag.endswith("svg")
