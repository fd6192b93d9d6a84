"""Structured work as a page and on the terminal: each unit with its proposal, its case, the decision, and the result.

A safety assurance case is a tree of claim, argument and evidence, as nested lists and as JSON.

Not supported: editing (a reviewer overrules a case where the work is kept), and sub-claims: a case is about one unit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vouching.report import charts
from vouching.report.skeleton import write_page
from vouching.report.svg import Tone
from vouching.types import Assurance, Task, TaskUnit, UnitResult, Unverified
from vouching.types.spans import SIGNS
from vouching.types.visible import visible_line

if TYPE_CHECKING:
    from rich.console import Console

_MAX_PLACE = 200


def case_tree(unit: UnitResult) -> dict[str, Any]:
    """The case against a unit as nested nodes, each with its kind, its text and its children."""
    leaves: list[dict[str, Any]] = [
        {"kind": "evidence", "location": location, "value": value, "fault": fault_of(unit, location), "children": []}
        for location, value in unit.evidence
    ]
    argument: dict[str, Any] = {"kind": "argument", "text": unit.argument, "rules": [*unit.rules], "children": leaves}
    return {"kind": "claim", "unit": unit.unit_id, "text": unit.claim, "children": [argument]}


def shown_evidence(location: str, value: str) -> str:
    """Evidence on one line; a long expression is cut so that its value is visible."""
    place = location if len(location) <= _MAX_PLACE else f"{location[:_MAX_PLACE]}..."
    place = place or "(no location)"
    return f"{place} = {value}" if value else place


def fault_of(unit: UnitResult, location: str) -> str:
    """The fault of the evidence at a location; empty if it has none."""
    shown = location[:120] or "(no location)"
    return next((fault for fault in unit.flagged if fault.startswith((f"{shown} is ", f"{shown}: "))), "")


OUTCOMES: Mapping[str, Tone] = {
    "accepted": "match",
    "revised": "accent",
    "kept": "not-found",
    "challenged": "mismatch",
    "unverified": "unverified",
}
"""Outcomes of a unit and their colours."""
_CASES: Mapping[str, tuple[str, Tone]] = {
    "1": ("right, accepted", "match"),
    "2": ("right, challenged, revised", "mismatch"),
    "3": ("right, challenged, kept", "not-found"),
    "4": ("wrong, accepted", "mismatch"),
    "5a": ("wrong, challenged, repaired", "match"),
    "5b": ("wrong, challenged, revised to a wrong value", "mismatch"),
    "6a": ("wrong, challenged, kept instead of a wrong revision", "not-found"),
    "6b": ("wrong, challenged, kept instead of the right revision", "mismatch"),
    "2 or 3": ("right, challenged", "not-found"),
    "5 or 6": ("wrong, challenged", "match"),
}
"""The paper's cases and their colours; the last two are of a finished proposal, which is not revised."""


@dataclass(frozen=True, slots=True)
class UnitCard:
    """The content of a unit's card."""

    number: int
    """Position in the task, from 1."""
    unit: TaskUnit
    finding: UnitResult | Unverified
    stands: object = None
    """The submitted value as JSON; None if there is none."""

    @property
    def outcome(self) -> str:
        """One of ``OUTCOMES``."""
        return self.finding.label.lower()

    @property
    def sign(self) -> str:
        """The sign of its status."""
        return SIGNS[self.finding.status]

    @property
    def result(self) -> UnitResult | None:
        """The result; None for a failed judge."""
        return self.finding if self.finding.kind == "unit" else None

    @property
    def submitted(self) -> str:
        """The submitted value as text; empty if there is none."""
        if self.result is not None:
            return self.result.submitted
        return self.stands if isinstance(self.stands, str) else "" if self.stands is None else json.dumps(self.stands)

    @property
    def evidence(self) -> list[tuple[str, str]]:
        """The evidence of the case, each on one line, with its fault."""
        found = self.result
        return [] if found is None else [(shown_evidence(*one), fault_of(found, one[0])) for one in found.evidence]

    @property
    def tree(self) -> str:
        """The case as JSON; empty if there is none."""
        if not (self.result and self.result.challenged):
            return ""
        return json.dumps(case_tree(self.result), indent=1, ensure_ascii=False)


def outcome_counts(record: Assurance) -> dict[str, int]:
    """Number of units by outcome, for all of ``OUTCOMES``."""
    outcomes = [unit.label.lower() for unit in record.units]
    return {name: outcomes.count(name) for name in OUTCOMES}


def write_assurance(path: str | Path, record: Assurance, task: Task) -> None:
    """Write the page, replacing the file. Raises InputError if it cannot be written."""
    counts = {name: count for name, count in outcome_counts(record).items() if count}
    cases = {f"{_CASES[name][0]} ({name})": count for name, count in record.cases.items()}
    tones: dict[str, Tone] = {f"{words} ({name})": tone for name, (words, tone) in _CASES.items()}
    write_page(
        path,
        "assurance.html.jinja",
        title=task.id,
        lead=summary_words(record),
        description=task.description,
        chart=charts.share_bar(counts, title="Outcomes of the units", tones=OUTCOMES),
        cases=charts.bar_chart(cases, title="Units by case", tones=tones) if cases else "",
        cards=[
            UnitCard(n, unit, found, record.submitted.get(unit.id))
            for n, (unit, found) in enumerate(zip(task.units, record.units, strict=True), 1)
        ],
        rules=task.rules,
    )


def summary_words(record: Assurance) -> str:
    """The outcomes in one line, e.g. "1 unit: 1 challenged"."""
    counts = outcome_counts(record)
    parts = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return f"{len(record.units):,} unit{'s' * (len(record.units) != 1)}: {parts}"


def print_assurance(console: Console, record: Assurance) -> None:
    """Print the units, one line each, with their cases below."""
    from rich.padding import Padding
    from rich.text import Text

    styles = {"match": "green", "mismatch": "red", "not_found": "yellow", "unverified": "magenta"}
    width = max((len(_name(unit)) for unit in record.units), default=0)
    for unit in record.units:
        status = unit.status
        head = Text(f"{SIGNS[status]} ", style=styles[status])
        head.append(f"{_name(unit):<{width}}  ", style="bold")
        if unit.kind == "unverified":
            head.append(f"unverified ({unit.reason}): {visible_line(unit.message)}")
            console.print(head)
            continue
        head.append(visible_line(unit.submitted) or "(no value)")
        if unit.challenged:
            head.append(f"  {_answer_words(unit)}", style="dim")
        if unit.rests_on:
            head.append(f"  rests on {visible_line(', '.join(unit.rests_on))}", style="yellow")
        console.print(head)
        if unit.challenged:
            lines = [unit.claim, unit.argument, *_evidence_lines(unit)]
            for words in filter(None, lines):
                console.print(Padding(Text(visible_line(words)), (0, 0, 0, 4)))
    console.print()
    console.print(Text(f"{visible_line(record.task)}: {summary_words(record)}"))
    if record.cases:
        console.print(Text("Compared with --gold:"))
        for name, count in record.cases.items():
            console.print(Text(f"  {count:>5,}  {_CASES[name][0]} (case {name})"))


def _name(unit: UnitResult | Unverified) -> str:
    return visible_line(unit.unit_id if unit.kind == "unit" else unit.claim.id)


def _answer_words(unit: UnitResult) -> str:
    match unit.label:
        case "Revised":
            return f"revised from {visible_line(unit.proposal) or '(no value)'}"
        case "Kept":
            other = unit.revision if unit.revision != unit.proposal else None
            return f"kept{f' instead of {visible_line(other)}' if other else ''}: {visible_line(unit.reason)}"
        case _:
            return f"challenged{f', should be {visible_line(unit.correction)}' if unit.correction else ''}"


def _evidence_lines(unit: UnitResult) -> list[str]:
    """The first places of a unit's evidence, without the rule's own expression, and all flagged evidence."""
    cited = unit.evidence[:-1] if unit.judged_by == "rules" and len(unit.evidence) > 1 else unit.evidence
    sound = [shown_evidence(location, value) for location, value in cited if not fault_of(unit, location)]
    more = [f"... and {len(sound) - 4} more"] if len(sound) > 4 else []
    places = ["; ".join([*sound[:4], *more])] if sound else []
    return [*places, *(f"flagged: {fault}" for fault in unit.flagged)]
