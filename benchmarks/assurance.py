"""How well the rules of Form 1040 challenge wrong returns: detection, false cases, repair, time per return.

    python benchmarks/assurance.py [--output benchmarks/results/assurance.json]

Right returns come from the engine and must agree with an independent implementation in tests/recipes/tax_sheets.py.
Wrong ones are the named mistakes of ``recipes/taxes`` and corruptions made here that the rules do not know. Each return
is verified, and then revised with a generator that offers its draft, a wrong line and the correction of the case, of
which one is chosen without gold. Not supported: language models; mistakes that lead to a missing row of the EIC Table.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import vouching  # noqa: E402
from recipes.taxes.engine import compute_lines  # noqa: E402
from recipes.taxes.facts import facts_of  # noqa: E402
from recipes.taxes.fields import OutOfScopeError  # noqa: E402
from recipes.taxes.mistakes import MISTAKES, make_mistake, roots_of  # noqa: E402
from recipes.taxes.returns import make_return  # noqa: E402
from recipes.taxes.tasks import proposal_of, task_of  # noqa: E402
from recipes.taxes.taxcalcbench import LINES  # noqa: E402
from vouching.methods.assurance.evidence import UnitState  # noqa: E402
from vouching.methods.assurance.model import AssuranceVerifier  # noqa: E402
from vouching.methods.assurance.reward import Transition  # noqa: E402
from vouching.methods.assurance.task import as_proposal, as_task  # noqa: E402
from vouching.methods.assurance.verify import Step, challenge, fill  # noqa: E402
from vouching.types import Proposal, SafetyCase, Task, UnitResult  # noqa: E402

RETURNS, NAMED, RANDOM, SEED = 500, 2_000, 200, 1
IDS = [line.id for line in LINES]


@dataclass(frozen=True)
class Draft:
    """A proposal for a return."""

    kind: str
    task: Task
    right: Mapping[str, int]
    lines: Mapping[str, int]
    roots: tuple[str, ...]


class Offers:
    """A generator with a finished draft; on a case it offers the draft, another line's amount, and the correction."""

    def __init__(self, draft: Mapping[str, Proposal]) -> None:
        self._draft = draft

    async def draft(self, state: UnitState) -> Proposal | None:
        """The drafted value, whatever was submitted before."""
        return self._draft[state.unit.id]

    async def revisions(self, state: UnitState, proposal: Proposal | None, case: SafetyCase) -> Sequence[Proposal]:
        """Three candidates, the correction last."""
        unit = state.unit.id
        values = [self._draft[unit].value, self._draft[IDS[IDS.index(unit) - 1]].value, case.correction]
        return [Proposal(unit, value) for value in values if value is not None]

    async def approve(
        self, state: UnitState, proposal: Proposal | None, case: SafetyCase, revision: Proposal
    ) -> tuple[bool, str]:
        """Takes what was chosen."""
        return True, "the rules let it pass"


def corrupted(facts: Any, right: Mapping[str, int], random: Random) -> tuple[str, dict[str, int]] | None:
    """A line with a random amount, or one made from a wrong line; the lines after it follow or do not."""
    line = random.choice(LINES)
    if random.random() < 0.5 or not line.depends_on:
        kind = "random value"
        amount = random.choice(
            [
                right[line.id] + random.choice([-1, 1]),
                random.randint(0, 200_000),
                right[line.id] * 10,
                right[line.id] // 10,
                -right[line.id],
            ]
        )
    else:
        kind = "random dependency"
        needed, other = random.choice(line.depends_on), random.choice(IDS)
        amount = compute_lines(facts, {needed: right[other]})[line.id]
    if amount == right[line.id]:
        return None
    follows = random.random() < 0.5
    return kind, compute_lines(facts, {line.id: amount}) if follows else {**right, line.id: amount}


def drafts(returns: Sequence[tuple[Task, Any, Mapping[str, int]]]) -> Iterator[Draft]:
    """Wrong proposals of both sorts."""
    count, turn = 0, 0
    while count < NAMED:
        task, record, right = returns[turn // len(MISTAKES) % len(returns)]
        found = make_mistake(record, MISTAKES[turn % len(MISTAKES)], Random(f"{SEED}/{turn}"))
        turn += 1
        if found is not None:
            count += 1
            yield Draft(found.mistake, task, right, found.lines, found.roots)
    count, turn = 0, 0
    while count < RANDOM:
        task, record, right = returns[turn % len(returns)]
        facts = facts_of(record)
        try:
            made = corrupted(facts, right, Random(f"corrupted/{SEED}/{turn}"))
            roots = roots_of(facts, made[1]) if made else ()
        except OutOfScopeError:
            made, roots = None, ()
        turn += 1
        if made is not None:
            count += 1
            yield Draft(made[0], task, right, made[1], roots)


def verified(draft: Draft) -> tuple[Counter[str], list[float]]:
    """What the rules say to a finished proposal, and the quality of their cases."""
    proposal = as_proposal(proposal_of(draft.task.id, draft.lines), draft.task)
    found = asyncio.run(challenge(draft.task, proposal, AssuranceVerifier()))
    units = [unit for unit in found.units if isinstance(unit, UnitResult)]
    against = {unit.unit_id for unit in units if unit.challenged}
    wrong = {line for line in IDS if draft.lines[line] != draft.right[line]}
    counts = Counter(
        proposals=1,
        detected=bool(against & wrong),
        first_wrong_line_detected=next(line for line in IDS if line in wrong) in against,
        lines=len(IDS),
        unverified=len(IDS) - len(units),
        roots=len(draft.roots),
        roots_challenged=len(against & {*draft.roots}),
        wrong_lines=len(wrong),
        wrong_lines_challenged=len(against & wrong),
        right_lines=len(IDS) - len(wrong),
        right_lines_challenged=len(against - wrong),
        consistent_lines_challenged=len(against - {*draft.roots}),
    )
    return counts, [unit.quality for unit in units if unit.quality is not None]


def played(draft: Draft) -> Counter[str]:
    """The game on the same draft: cases of the paper's taxonomy, lines right before and after."""
    proposal = as_proposal(proposal_of(draft.task.id, draft.lines), draft.task)
    steps: list[tuple[str, Step]] = []
    generator, verifier = Offers(proposal), AssuranceVerifier()
    asyncio.run(fill(draft.task, generator, verifier, on_step=lambda unit, step: steps.append((unit.id, step))))
    counts: Counter[str] = Counter(lines=len(steps))
    for line, step in steps:
        assert isinstance(step.finding, UnitResult)
        right_before, right_after = step.proposal == draft.right[line], step.submitted == draft.right[line]
        choice = step.finding.decision
        answer = None if choice is None else "REVISE" if choice == "revise" else "KEEP"
        revision = None if step.revision is None else step.revision == draft.right[line]
        played_so = Transition(right_before, "SAC" if step.case else "NS", answer, revision)
        counts[f"case {played_so.case}"] += 1
        counts["right_before"] += right_before
        counts["right_after"] += right_after
    counts["returns_right_after"] = all(step.submitted == draft.right[line] for line, step in steps)
    return counts


def timed(task: Task, lines: Mapping[str, int]) -> float:
    """Seconds for the challenge of one return that is read already."""
    proposal = as_proposal(proposal_of(task.id, lines), task)
    start = time.perf_counter()
    asyncio.run(challenge(task, proposal, AssuranceVerifier()))
    return time.perf_counter() - start


def apart_from_second(made: Sequence[tuple[str, Any, Mapping[str, int]]]) -> int:
    """Lines on which the engine and the second implementation, in the tests, do not agree."""
    from tests.recipes.tax_sheets import form_1040

    sheets = ((lines, form_1040(record)) for _, record, lines in made)
    return sum(lines[line] != sheet[line] for lines, sheet in sheets for line in IDS)


def machine() -> str:
    """Cores, system and Python."""
    return f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/assurance.json")
    output: Path = parser.parse_args().output
    made = [make_return(SEED, index) for index in range(RETURNS)]
    apart = apart_from_second(made)
    returns = [(as_task(task_of(name, record)), record, lines) for name, record, lines in made]
    seconds: list[float] = []
    false_cases = 0
    for task, _, lines in returns:
        seconds.append(timed(task, lines))
        found = asyncio.run(challenge(task, as_proposal(proposal_of(task.id, lines), task), AssuranceVerifier()))
        false_cases += found.challenged + found.unverified
    kinds: dict[str, Counter[str]] = {}
    games: dict[str, Counter[str]] = {"named": Counter(), "random": Counter()}
    quality: dict[str, list[float]] = {"named": [], "random": []}
    for draft in drafts(returns):
        sort = "random" if draft.kind.startswith("random") else "named"
        counts, scores = verified(draft)
        kinds.setdefault(draft.kind, Counter()).update(counts)
        quality[sort] += scores
        games[sort].update(played(draft))
    record: dict[str, Any] = {
        "command": "python benchmarks/assurance.py",
        "model": "rules",
        "vouching": vouching.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "seed": SEED,
        "right_returns": {
            "returns": len(returns),
            "lines": len(returns) * len(IDS),
            "lines_apart_from_second_implementation": apart,
            "lines_challenged": false_cases,
        },
        "milliseconds_per_return": {
            "median": round(1_000 * median(seconds), 2),
            "slowest": round(1_000 * max(seconds), 2),
        },
        "wrong_returns": {kind: dict(counts) for kind, counts in kinds.items()},
        "quality_of_cases": {sort: sum(scores) / len(scores) for sort, scores in quality.items()},
        "games": {sort: dict(sorted(counts.items())) for sort, counts in games.items()},
    }
    output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
