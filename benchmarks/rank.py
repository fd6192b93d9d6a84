"""How often the shipped scorers rank the right answer first.

    VOUCH_DATA=... python benchmarks/rank.py [--split held-out|train] [--limit 60] [--output docs/results/rank.json]

Multi-hop questions, each with its right answer and up to three wrong ones of the same kind from its own paragraphs,
made and worded as for training (``recipes/rank/candidates.py``). The evidence is found by the search without a model in
the paragraphs of all files. The figure is the share of questions with the right answer first, shared between ties;
``chance`` is that of a random order. The default of ``vouch rank`` was chosen with ``--split train``. Intervals are BCa
bootstraps by group: questions that share a supporting paragraph stay together. Time is CPU time. Not supported: trained
scorers, which their recipe measures; answers written by language models.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from search_steps import about, build_index, read_rows, rounded

from recipes.rank.candidates import made_candidates
from recipes.rank.marking import RankQuestion
from vouching import metrics
from vouching.bench.catalog import data_folder
from vouching.bench.multihop import MultihopRow
from vouching.methods.discriminative.open import open_ranker
from vouching.methods.discriminative.rank import Ranker
from vouching.types import Ranking

ARMS = ("embedded:rules", "embedded", "factscore:embedded:rules")
WRONG = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with answers, the right one first."""

    row: MultihopRow
    answers: tuple[str, ...]


def asked_of(rows: Sequence[MultihopRow], limit: int) -> Iterator[Asked]:
    """The first questions for which a wrong answer can be made."""
    found = 0
    for row in rows:
        question = RankQuestion(row.id, row.question, row.answers, sources=row.passages)
        made = made_candidates(question, WRONG, random.Random(row.id))
        right = [one.answer for one in made if one.label == "correct"]
        wrong = [one.answer for one in made if one.label == "incorrect"]
        if right and wrong and found < limit:
            found += 1
            yield Asked(row, (right[0], *wrong))


def first(ranking: Ranking) -> float:
    """1 if the right answer is first, a share if it ties with others; an answer without a score is last."""
    best = [answer.number for answer in ranking.best]
    return (1 in best) / len(best) if best else 0.0


async def measured(ranker: Ranker, questions: Sequence[Asked]) -> tuple[list[float], float]:
    """Each question's figure, and seconds for an answer, the search included."""
    start = time.process_time()
    figures = [first(await ranker.rank(one.row.question, one.answers)) for one in questions]
    return figures, (time.process_time() - start) / sum(len(one.answers) for one in questions)


def record_of(questions: Sequence[Asked], arms: dict[str, tuple[list[float], float]]) -> dict[str, Any]:
    """The arms on the same questions."""
    groups = metrics.document_numbers([one.row.supporting for one in questions])
    made: dict[str, Any] = {
        "questions": len(questions),
        "chance": round(sum(1 / len(one.answers) for one in questions) / len(questions), 4),
        "arms": {},
    }
    for name, (figures, seconds) in arms.items():
        mean = partial(metrics.mean, figures)
        made["arms"][name] = {
            "right_first": rounded(metrics.bca(mean, groups)),
            "seconds_per_answer": round(seconds, 3),
        }
        if name != ARMS[0]:
            default = partial(metrics.mean, arms[ARMS[0]][0])
            made["arms"][name]["more_than_default"] = rounded(metrics.paired_bca(mean, default, groups))
    return made


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("held-out", "train"), default="held-out")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    questions = [
        one for rows in read_rows(data_folder(), options.split).values() for one in asked_of(rows, options.limit)
    ]
    with tempfile.TemporaryDirectory() as place:
        index, _ = build_index(data_folder(), Path(place) / "multihop")
        arms = {name: asyncio.run(measured(open_ranker(name, engines=[index]), questions)) for name in ARMS}
    record = {
        **about(f"rank.py --split {options.split} --limit {options.limit}"),
        **record_of(questions, arms),
    }
    text = json.dumps(record, indent=1)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
