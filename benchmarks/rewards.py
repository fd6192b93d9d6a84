"""How many replies per second the structured reward scores, on one core.

    python benchmarks/rewards.py [--output benchmarks/results/rewards.json]

Replies of about 700 characters, half of them right; a tenth of the quotations that the grounded rules look up do not
occur verbatim, so that they need fuzzy matching. CPU time of one process, excluding reading rows and writing rewards.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import time
from pathlib import Path
from typing import Any, get_args

import vouching
from vouching.methods.structured.reward import structured_reward
from vouching.methods.structured.reward_weights import Variant
from vouching.types import Label

SEED, REPLIES, ROUNDS = 0, 2_000, 10
TARGET = 15_000
CLAIM = "The study involved 500 participants from 12 countries and ran from 2009 to 2014."
SOURCE = """The research included 500 volunteers from 8 different nations. They were recruited at universities and
observed for five years, from 2009 to 2014. Most of them took part in all four rounds of interviews. The authors
report no conflict of interest, and name the small number of countries as the main limit of what they found."""
PARTS = (
    ("500 participants", "500 volunteers", "match", "supported", "Both texts give the same number of people."),
    ("12 countries", "8 different nations", "mismatch", "not_supported", "The source has 8 nations, not 12."),
    ("ran from 2009 to 2014", "from 2009 to 2014", "match", "supported", "The years are the same in both texts."),
)


def replies(number: int) -> list[tuple[str, Label]]:
    """Replies with their gold labels, in one order for all runs."""
    chance = random.Random(SEED)
    made: list[tuple[str, Label]] = []
    for _ in range(number):
        gold = chance.choice(get_args(Label))
        chosen = chance.sample(PARTS, 2)
        record: dict[str, Any] = {
            "evidence_alignment": [
                {"claim_span": claim, "source_span": misspelt(source, chance), "status": status}
                for claim, source, status, _, _ in chosen
            ],
            "reasoning_chain": [
                {"claim_part": claim, "source_evidence": source, "judgment": judgment, "explanation": why}
                for claim, source, _, judgment, why in chosen
            ],
            "label": gold if chance.random() < 0.5 else chance.choice(get_args(Label)),
            "confidence": round(chance.random(), 2),
            "error_type": "numerical_exaggeration",
            "fix_suggestion": "Change 12 countries to 8 countries.",
        }
        made.append((json.dumps(record), gold))
    return made


def misspelt(quotation: str, chance: random.Random) -> str:
    """The quotation, every tenth time with a letter too few."""
    at = chance.randrange(len(quotation))
    return quotation if chance.random() < 0.9 else quotation[:at] + quotation[at + 1 :]


def seconds(rows: list[tuple[str, Label]]) -> dict[Variant, float]:
    """Processor time for all rows by each variant; the best of rounds in which they take turns."""
    rounds: dict[Variant, list[float]] = {variant: [] for variant in get_args(Variant)}
    for _ in range(ROUNDS):
        for variant, times in rounds.items():
            start = time.process_time()
            for response, gold in rows:
                structured_reward(response, gold, claim=CLAIM, source=SOURCE, variant=variant)
            times.append(time.process_time() - start)
    return {variant: min(times) for variant, times in rounds.items()}


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/rewards.json")
    options = parser.parse_args()
    rows = replies(REPLIES)
    record = {
        "command": "python benchmarks/rewards.py",
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "replies": len(rows),
        "characters_per_reply": round(sum(len(response) for response, _ in rows) / len(rows)),
        "target_per_second": TARGET,
        "rewards_per_second": {variant: round(len(rows) / best) for variant, best in seconds(rows).items()},
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
