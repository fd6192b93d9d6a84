"""What incomplete rules find: the wrong returns of assurance.py, with half of the nineteen rules removed.

    python benchmarks/assurance_incomplete.py [--output benchmarks/results/assurance-incomplete.json]

With a rule for every line, a wrong line is challenged by construction. Here each return keeps a random half of the
rules; a line without a rule is open, as no model is asked. A mistake is found on a line that has its rule, or on a
later line with a rule that contradicts it. Not supported: wrong rules.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from assurance import IDS, RETURNS, ROOT, SEED, Draft, drafts, machine

import vouching
from recipes.taxes.returns import make_return
from recipes.taxes.tasks import proposal_of, task_of
from vouching.methods.assurance.model import AssuranceVerifier
from vouching.methods.assurance.task import as_proposal, as_task
from vouching.methods.assurance.verify import challenge
from vouching.types import Task, UnitResult

KEPT = len(IDS) // 2
"""Rules that a return keeps, of nineteen."""


def halved(task: Task, random: Random) -> Task:
    """The task with rules for some of its lines only."""
    kept = {*random.sample(IDS, KEPT)}
    return replace(task, units=tuple(unit if unit.id in kept else replace(unit, rules=()) for unit in task.units))


def counted(draft: Draft, random: Random) -> Counter[str]:
    """The cases against one wrong return."""
    task = halved(draft.task, random)
    found = asyncio.run(challenge(task, as_proposal(proposal_of(task.id, draft.lines), task), AssuranceVerifier()))
    against = {unit.unit_id for unit in found.units if isinstance(unit, UnitResult) and unit.challenged}
    wrong = [line for line in IDS if draft.lines[line] != draft.right[line]]
    first = next(unit for unit in task.units if unit.id == wrong[0])
    return Counter(
        returns=1,
        first_wrong_line_has_rule=bool(first.rules),
        first_wrong_line_challenged=wrong[0] in against,
        challenged_elsewhere=wrong[0] not in against and bool(against),
        nothing_challenged=not against,
        right_lines_challenged=len(against - {*wrong}),
        right_lines=len(IDS) - len(wrong),
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks/results/assurance-incomplete.json")
    output: Path = parser.parse_args().output
    made = [make_return(SEED, index) for index in range(RETURNS)]
    returns = [(as_task(task_of(name, record)), record, lines) for name, record, lines in made]
    kinds: dict[str, Counter[str]] = {}
    for number, draft in enumerate(drafts(returns)):
        kinds.setdefault(draft.kind, Counter()).update(counted(draft, Random(f"half/{SEED}/{number}")))
    record: dict[str, Any] = {
        "command": "python benchmarks/assurance_incomplete.py",
        "model": "half of the rules",
        "vouching": vouching.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "seed": SEED,
        "rules_kept": KEPT,
        "rules": len(IDS),
        "wrong_returns": {kind: dict(counts) for kind, counts in kinds.items()},
    }
    output.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
