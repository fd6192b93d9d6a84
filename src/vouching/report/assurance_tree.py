"""A safety assurance case as a tree: the claim, the argument under it, the evidence under that; as JSON and as SVG.

Left out: sub-claims; a case is about one unit and makes one claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from vouching.report.svg import Tone, box, line, svg, text, width_of
from vouching.types import UnitResult
from vouching.types.visible import visible_line

_WIDTH = 720.0
_INDENT = 30.0
_LINE = 19.0
_LONGEST_PLACE = 200
_MOST_LINES = 8
"""Lines of a node; the record has the rest."""


def case_tree(unit: UnitResult) -> dict[str, Any]:
    """The case against a unit as nested nodes, each with its kind, its text and its children.

    >>> unit = UnitResult("a", "1", True, None, "1", "It is 2.", "Add.", (("b", "2"),), flagged=("b is 3, ...",))
    >>> case_tree(unit)["children"][0]["children"]
    [{'kind': 'evidence', 'location': 'b', 'value': '2', 'fault': 'b is 3, ...', 'children': []}]
    """
    leaves: list[dict[str, Any]] = [
        {"kind": "evidence", "location": location, "value": value, "fault": fault_of(unit, location), "children": []}
        for location, value in unit.evidence
    ]
    argument: dict[str, Any] = {"kind": "argument", "text": unit.argument, "rules": [*unit.rules], "children": leaves}
    return {"kind": "claim", "unit": unit.unit_id, "text": unit.claim, "children": [argument]}


def shown_evidence(location: str, value: str) -> str:
    """Evidence in a line; of a long expression the beginning, so that what it comes to is seen.

    >>> shown_evidence("data.wages", "700"), len(shown_evidence("1 + " * 200 + "1", "201"))
    ('data.wages = 700', 209)
    """
    place = location if len(location) <= _LONGEST_PLACE else f"{location[:_LONGEST_PLACE]}..."
    place = place or "(no location)"
    return f"{place} = {value}" if value else place


def fault_of(unit: UnitResult, location: str) -> str:
    """What is wrong with the evidence at a location; empty if nothing is."""
    shown = location[:120] or "(no location)"
    return next((fault for fault in unit.flagged if fault.startswith((f"{shown} is ", f"{shown}: "))), "")


@dataclass(frozen=True, slots=True)
class _Node:
    """A box of the drawing."""

    depth: int
    head: str
    lines: tuple[str, ...]
    tone: Tone


def tree_drawing(unit: UnitResult) -> str:
    """The case against a unit as SVG.

    >>> unit = UnitResult("a", "1", True, None, "1", "It is 2.", "R: add.", (("b", "2"),))
    >>> tree_drawing(unit).count(">✓ b = 2<")
    1
    """
    body: list[str] = []
    y, trunk_ends = 0.0, dict[int, float]()
    for node in _nodes(unit):
        top = 20 if node.head else 0
        x, height = node.depth * _INDENT, 12 + top + _LINE * len(node.lines)
        if node.depth:
            trunk = x - _INDENT / 2
            body += [line(trunk, trunk_ends[node.depth], trunk, y + 16, tone="muted")]
            body += [line(trunk, y + 16, x, y + 16, tone="muted")]
        body.append(box(x, y, _WIDTH - x, height, tone=node.tone, opacity=0.1, radius=8))
        body.append(box(x, y, 4, height, tone=node.tone))
        if node.head:
            body.append(text(x + 16, y + 20, node.head, tone="muted", size=12, bold=True))
        body += [text(x + 16, y + top + 1 + _LINE * row, words) for row, words in enumerate(node.lines, 1)]
        trunk_ends |= {node.depth: y + 16, node.depth + 1: y + height}
        y += height + 8
    said = f"{unit.claim} {unit.argument} {len(unit.evidence)} pieces of evidence."
    return svg(_WIDTH, max(10.0, y - 8), f"The case against {unit.unit_id}", said, body)


def _nodes(unit: UnitResult) -> Iterator[_Node]:
    yield _Node(0, "Claim", _lines(unit.claim or "(none)", 0), "mismatch")
    yield _Node(1, "Argument", _lines(unit.argument or "(none)", 1), "accent")
    for location, value in unit.evidence:
        fault = fault_of(unit, location)
        shown = shown_evidence(location, value)
        lines = _lines(f"{'✗' if fault else '✓'} {shown}", 2) + (_lines(fault, 2) if fault else ())
        yield _Node(2, "", lines, "not-found" if fault else "match")


def _lines(words: str, depth: int) -> tuple[str, ...]:
    room = int((_WIDTH - depth * _INDENT - 32) / width_of("x"))
    lines = wrap(visible_line(words), room, break_on_hyphens=False)
    return (*lines[: _MOST_LINES - 1], "...") if len(lines) > _MOST_LINES else tuple(lines)
