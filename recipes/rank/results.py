"""What the arms of a scorer reach on questions that they did not train on, with intervals, beside baselines.

    python recipes/rank/results.py runs/rank/compressed [runs/rank/no-search ...] [--output PATH]

Every run names its settings (run.json) and left the scores of all answers (held.jsonl). A question is the unit of
resampling. Baselines on the same questions and facts: the embedded verifier's score of question and answer, and the
order of chance. Left out: FGVeriBench; vouch bench is for that.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import platform
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from recipes.rank.rows import WORTH, RatedQuestion, questions_of, read_pairs
from vouching.embedded.verify import open_embedded
from vouching.methods.discriminative.input import scorer_input, statement
from vouching.methods.discriminative.scorer import Candidate, EmbeddedScorer, Scored
from vouching.metrics import bca, kendall_tau_b, mean, paired_bca, precision_at_1
from vouching.types import Source

Figures = dict[str, np.ndarray]


def figures_of(lines: Sequence[Mapping[str, Any]]) -> Figures:
    """P@1 and tau of each question; a tie of all answers is tau 0, as in training."""
    worth = [[WORTH[label] for label in line["labels"]] for line in lines]
    hits = [float(precision_at_1(gold, line["scores"])) for gold, line in zip(worth, lines, strict=True)]
    taus = [float(kendall_tau_b(gold, line["scores"])) for gold, line in zip(worth, lines, strict=True)]
    return {"p_at_1": np.array(hits), "tau": np.nan_to_num(np.array(taus))}


def interval(values: np.ndarray) -> dict[str, float | None]:
    """The mean with its 95 % interval."""
    found = bca(partial(mean, values), len(values))
    return {"mean": _short(found.estimate), "low": _short(found.low), "high": _short(found.high)}


def difference(values: np.ndarray, others: np.ndarray) -> dict[str, float | None]:
    """The mean difference with its 95 % interval; both see the same questions."""
    found = paired_bca(partial(mean, values), partial(mean, others), len(values))
    return {"mean": _short(found.estimate), "low": _short(found.low), "high": _short(found.high)}


async def embedded(questions: Sequence[RatedQuestion]) -> list[dict[str, Any]]:
    """Lines as of held.jsonl, scored by the embedded verifier over the facts; level where a question has none."""
    scorer = EmbeddedScorer(open_embedded())
    lines: list[dict[str, Any]] = []
    for one in questions:
        candidates = [
            Candidate(
                one.question,
                answer.answer,
                statement(one.question, answer.answer, number),
                scorer_input(one.question, answer.answer),
                tuple(Source(fact, f"fact-{i}") for i, fact in enumerate(answer.facts, 1)),
            )
            for number, answer in enumerate(one.answers, 1)
        ]
        scored = await scorer.score(candidates)
        scores = [found.value if isinstance(found, Scored) else 0.0 for found in scored]
        lines.append({"labels": [answer.label for answer in one.answers], "scores": scores})
    return lines


def _short(value: Any) -> float | None:
    return None if value is None else round(float(value), 4)


def main() -> None:
    """Read the runs, compare, print the table, write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, help="folders of runs; others are compared with the first")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results.json")
    options = parser.parse_args()
    notes = {run.name: json.loads((run / "run.json").read_text(encoding="utf-8")) for run in options.runs}
    lines = {
        run.name: [json.loads(line) for line in (run / "held.jsonl").read_text(encoding="utf-8").splitlines()]
        for run in options.runs
    }
    first = lines[options.runs[0].name]
    settings = notes[options.runs[0].name]["settings"]
    asked = [(line["set"], line["group"]) for line in first]
    pairs = read_pairs([Path(name) for name in (*settings["pairs"], *settings["dev"])])
    known = {(one.set, one.group): one for one in questions_of(pairs)}
    arms = {name: figures_of(found) for name, found in lines.items()}
    arms["embedded"] = figures_of(asyncio.run(embedded([known[key] for key in asked])))
    dev = {Path(name).stem for name in settings["dev"]}
    places = {
        "held out": [i for i, (place, _) in enumerate(asked) if place not in dev],
        **{place: [i for i, (found, _) in enumerate(asked) if found == place] for place in sorted(dev)},
    }
    chance = [line["labels"].count("correct") / len(line["labels"]) for line in first]
    record: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "settings": {name: note["settings"] for name, note in notes.items()},
        "revision": {name: note["revision"] for name, note in notes.items()},
        "places": {},
    }
    for place, rows in places.items():
        own: dict[str, Any] = {"questions": len(rows), "chance_p_at_1": _short(np.mean([chance[i] for i in rows]))}
        for name, found in arms.items():
            own[name] = {measure: interval(values[rows]) for measure, values in found.items()}
            if name != options.runs[0].name:
                base = arms[options.runs[0].name]
                own[name]["minus first"] = {m: difference(v[rows], base[m][rows]) for m, v in found.items()}
        record["places"][place] = own
        shown = (f"{name} {own[name]['p_at_1']['mean']:.3f} / {own[name]['tau']['mean']:.3f}" for name in arms)
        print(f"{place} ({len(rows)}, chance {own['chance_p_at_1']:.3f}): {', '.join(shown)}")
    options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
