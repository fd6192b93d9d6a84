"""Which faults of checklists lint finds, and how many it reports where there are none.

    VOUCH_DATA=... python benchmarks/checklist_lint.py [--limit 541] [--without-encoder]

The lists consist of IFEval's own requirements in words, plus the first sentence of each prompt as an item; items are
plain questions, without rules. They cover less than their prompts, so some reports of "missing" on unchanged lists are
right. Then each list gets one fault: an item of another prompt (spurious), an item removed (missing), two items joined
by "and" (under-decomposed), an item repeated in other words (over-decomposed). A fault is found if lint reports more of
its kind than before. Not supported: lists written by language models.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vouching.bench.catalog import data_folder
from vouching.bench.ifeval import FILE
from vouching.methods.checklist.lint import FaultKind, Similarity, encoder_similarity, lint
from vouching.rules.verify import named_items
from vouching.text.sentences import sentence_spans
from vouching.types import Checklist, ChecklistItem


@dataclass(frozen=True, slots=True)
class Listed:
    """A prompt and its list."""

    prompt: str
    items: tuple[str, ...]


def read_lists(path: Path, limit: int) -> list[Listed]:
    """The prompts, each with a question for its first sentence and one for each of its requirements."""
    lists: list[Listed] = []
    for line in path.read_text(encoding="utf-8").splitlines()[:limit]:
        row = json.loads(line)
        start, end = sentence_spans(row["prompt"])[0]
        first = f"Does the response do what is asked: {row['prompt'][start:end].rstrip('.')}?"
        lists.append(Listed(row["prompt"], (first, *(item.text for item in named_items(row)))))
    return lists


def spoiled(one: Listed, other: Listed, rng: random.Random) -> Iterator[tuple[FaultKind, Sequence[str]]]:
    """The list with one fault of each kind that it can have."""
    items, last = one.items, one.items[-1]
    alien = [item for item in other.items[1:] if item not in items]
    if alien and other.prompt != one.prompt:
        yield "spurious", (*items, rng.choice(alien))
    if len(items) > 2:
        yield "missing", items[:-1]
        rest = items[1].replace("Does the response ", "").replace("Is the ", "is the ")
        yield "under-decomposed", (items[0], f"{last.rstrip('?')} and {rest}", *items[2:-1])
    again = last.replace("Does the response ", "Is it so that the answer does ").replace("Is the", "Is it so: the")
    yield "over-decomposed", (*items, again)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=541)
    parser.add_argument("--without-encoder", action="store_true")
    given = parser.parse_args()
    similarity: Similarity | None = None if given.without_encoder else encoder_similarity()
    rng, lists = random.Random(0), read_lists(data_folder() / FILE, given.limit)

    def kinds(prompt: str, items: Sequence[str]) -> Counter[str]:
        checklist = Checklist(prompt, tuple(map(ChecklistItem, items)))
        return Counter(fault.kind for fault in lint(checklist, similarity) if fault.item != 1)

    alarms, found, made = Counter[str](), Counter[str](), Counter[str]()
    for one in lists:
        before = kinds(one.prompt, one.items)
        alarms.update(dict.fromkeys(before, 1))
        for kind, items in spoiled(one, rng.choice(lists), rng):
            made[kind] += 1
            found[kind] += kinds(one.prompt, items)[kind] > before[kind]
    print(f"{'fault':20}{'found':>12}{'named in untouched lists':>28}")
    for kind in ("spurious", "missing", "under-decomposed", "over-decomposed"):
        print(f"{kind:20}{found[kind]:>6} / {made[kind]:<4}{alarms[kind]:>20} / {len(lists)}")


if __name__ == "__main__":
    main()
