"""How many rules are found in instructions: precision and recall against IFEval's own lists, below VOUCH_DATA.

python benchmarks/rules.py
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from vouching.bench.catalog import data_folder
from vouching.rules.find import find_rules
from vouching.rules.verify import named_items
from vouching.types import ChecklistItem

FILES = {
    "words to use": "ifeval/train_like/inclusion_validation.jsonl",
    "words to avoid": "ifeval/train_like/exclusion_validation.jsonl",
    "IFEval": "ifeval/input_data.jsonl",
}


def key(item: ChecklistItem) -> tuple[str, str]:
    """A rule with its arguments; neither case nor the order of words counts."""
    arguments = {name: sorted(value) if isinstance(value, tuple) else value for name, value in item.arguments.items()}
    return str(item.rule), json.dumps(arguments, sort_keys=True, ensure_ascii=False).lower()


def compared(rows: Iterable[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """How often each rule was found ("hit"), found wrongly ("wrong") or not found ("missed"); "" is the total."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        expected, found = {key(item) for item in named_items(row)}, {key(item) for item in find_rules(row["prompt"])}
        for outcome, keys in (("hit", found & expected), ("wrong", found - expected), ("missed", expected - found)):
            for rule, _ in keys:
                counts[rule, outcome] += 1
                counts["", outcome] += 1
    return counts


def main() -> None:
    """Print a table for each file."""
    for name, path in FILES.items():
        counts = compared(map(json.loads, (data_folder() / path).read_text(encoding="utf-8").splitlines()))
        for rule in sorted({rule for rule, _ in counts}):
            hit, wrong, missed = (counts[rule, outcome] for outcome in ("hit", "wrong", "missed"))
            precision, recall = hit / max(1, hit + wrong), hit / max(1, hit + missed)
            print(
                f"{name}, {rule or 'all'}: precision {precision:.3f}, recall {recall:.3f} ({hit} + {missed} required)"
            )


if __name__ == "__main__":
    main()
