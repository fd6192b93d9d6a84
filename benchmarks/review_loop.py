"""The loop from reviews to calibration: verdicts in a ledger, simulated reviewers, and other rows before and after.

    python benchmarks/review_loop.py [--set faithdial fool_me_twice] [--output docs/results/review_loop.json]

A caller's 300 verdicts are kept in a ledger and taken from the queue by the policy "sampled". Two simulated reviewers
decide each by its gold label, wrong with a stated probability and independently; where they disagree, a third one
decides. A calibration is fitted on them, as ``vouch calibrate --from-ledger`` does, and applied to rows of other
documents of the same set. The control is the same with the reviews shuffled among the verdicts: what it gains does not
come from reviews.

ECE alone does not show a gain: a verifier that always says the base rate has an ECE near 0. The Brier score falls only
if the scores get better for single claims; the control must raise it. The rows are from ``attribution/train``, which
may calibrate; the shipped weights were trained on them too, so the errors of its own training rows are fewer than
those of new ones, before and after alike.

Not supported: people. A simulated reviewer errs at random, a person does so on hard cases.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import platform
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vouching import Checker, __version__
from vouching.judging.calibration import LabelledScore, LabelledVerdict, calibrate_scores
from vouching.ledger import open_ledger
from vouching.metrics import Interval, bca, brier, document_numbers, ece, paired_bca
from vouching.metrics.calibrators import Calibrator, CalibratorKind
from vouching.review import Decision, ReviewQueue
from vouching.review.agreement import agreement
from vouching.review.gold import labelled_verdicts
from vouching.review.rates import reliability
from vouching.review.reviewed import read_reviewed
from vouching.types import Label, Verdict

Row = Mapping[str, Any]
_OTHER: dict[Label, Label] = {"Attributable": "Not Attributable", "Not Attributable": "Attributable"}
_KINDS: tuple[CalibratorKind, ...] = ("temperature", "platt")


@dataclass(frozen=True, slots=True)
class Loop:
    """What is run."""

    set: str = "faithdial"
    """Data set of attribution/train."""
    model: str = "embedded"
    reviews: int = 300
    evaluated: int = 400
    """Most rows to measure on."""
    error: float = 0.1
    """Probability that a simulated reviewer gives the wrong label."""
    seed: int = 0


def read_rows(folder: Path, name: str) -> list[Row]:
    """The rows of a data set."""
    with gzip.open(folder / "attribution" / "train" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def split(rows: Sequence[Row], loop: Loop) -> tuple[list[Row], list[Row], list[int]]:
    """Rows to review and rows to measure on, which share no claim, source or group; and the latter's documents."""
    keys = [(("claim", row["claim"]), ("source", row["source"]), ("group", row.get("group"))) for row in rows]
    documents = document_numbers([[key for key in given if key[1] is not None] for given in keys])
    order = sorted(set(documents.tolist()))
    random.Random(loop.seed).shuffle(order)
    place = {document: number for number, document in enumerate(order)}
    mixed = sorted(range(len(rows)), key=lambda number: place[documents[number]])
    first, kept = mixed[: loop.reviews], {documents[number] for number in mixed[: loop.reviews]}
    rest = [number for number in mixed[loop.reviews :] if documents[number] not in kept][: loop.evaluated]
    return [rows[n] for n in first], [rows[n] for n in rest], [int(documents[n]) for n in rest]


def review(queue: ReviewQueue, gold: Mapping[int, Label], loop: Loop) -> None:
    """Two reviewers decide everything that they are offered, and a third one what they disagree on."""
    dice = random.Random(loop.seed + 1)
    for name, policy in (("sim-a", "sampled"), ("sim-b", "sampled"), ("sim-c", "disputed")):
        while (item := queue.take(name, policy)) is not None:  # type: ignore[arg-type]
            right = gold[item.id.row]
            queue.decide(name, item.id, Decision(_OTHER[right] if dice.random() < loop.error else right))


def calibrated(rows: Sequence[LabelledVerdict], kind: CalibratorKind, seed: int | None = None) -> Calibrator:
    """The calibrator of reviewed verdicts, as ``vouch calibrate`` fits it; with a seed, of shuffled reviews."""
    labels: list[Label] = [row.gold for row in rows]
    if seed is not None:
        random.Random(seed).shuffle(labels)
    scores = [LabelledScore(gold, row.verdict.score, row.group) for gold, row in zip(labels, rows, strict=True)]
    return calibrate_scores("reviewed", "", scores, kind).calibrator


def measured(truth: Sequence[bool], scores: Mapping[str, Sequence[float]], documents: Sequence[int]) -> dict[str, Any]:
    """ECE and Brier score of each arm, and their difference to "before", with intervals over documents."""
    found: dict[str, Any] = {}
    for metric in (ece, brier):
        name = metric.__name__
        before = partial(metric, truth, scores["before"])
        for arm, given in scores.items():
            statistic = partial(metric, truth, given)
            found.setdefault(arm, {})[name] = shown(bca(statistic, documents, resamples=2000))
            if arm != "before":
                change = paired_bca(statistic, before, documents, resamples=2000)
                found[arm][f"{name}_change"] = shown(change)
    return found


def shown(interval: Interval) -> list[float | None]:
    """Estimate, low and high."""
    return [None if one is None else round(one, 4) for one in (interval.estimate, interval.low, interval.high)]


def run(loop: Loop, data: Path, folder: Path) -> dict[str, Any]:
    """The whole loop."""
    for_review, others, documents = split(read_rows(data, loop.set), loop)
    target = str(folder / "ledger.db")
    with open_ledger(target, caller=loop.set) as ledger:
        checker = Checker(loop.model, ledger=ledger)
        for row in for_review:
            checker.check(row["claim"], row["source"])
        gold = {number: row["label"] for number, row in enumerate(for_review, 1)}
        queue = ReviewQueue(ledger, reviewers=2)
        review(queue, gold, loop)
        pairs = agreement(queue, resamples=2000).total
        finals = {line.id.row: line.gold_label for line in queue.lines(limit=10 * loop.reviews)}
        gold_rows = labelled_verdicts(queue)
        of_reviews = reliability(read_reviewed(queue))
        intact = ledger.verify().intact
    plain_checker = Checker(loop.model)
    verdicts: list[object] = [plain_checker.check(row["claim"], row["source"]) for row in others]
    judged = [n for n, verdict in enumerate(verdicts) if isinstance(verdict, Verdict)]
    plain = [verdict.score for verdict in verdicts if isinstance(verdict, Verdict)]
    truth = [others[n]["label"] == "Attributable" for n in judged]
    scores: dict[str, Sequence[float]] = {"before": plain}
    for kind in _KINDS:
        scores[f"after ({kind})"] = calibrated(gold_rows, kind).apply(plain).tolist()
        scores[f"control ({kind})"] = calibrated(gold_rows, kind, loop.seed).apply(plain).tolist()
    wrong = sum(finals[number] != label for number, label in gold.items())
    return {
        "loop": asdict(loop),
        "reviewed": {
            "verdicts": len(for_review),
            "exported": len(gold_rows),
            "wrong_after_reviews": wrong,
            "kappa": None if pairs is None else shown(pairs.label),
            "ece": shown(of_reviews.ece),
            "brier": shown(of_reviews.brier),
            "ledger_intact": intact,
        },
        "evaluated": {"rows": len(judged), "documents": len({documents[n] for n in judged})},
        "measured": measured(truth, scores, [documents[n] for n in judged]),
    }


def main() -> None:
    """Run it and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs="+", default=["faithdial", "fool_me_twice"])
    parser.add_argument("--reviews", type=int, default=300)
    parser.add_argument("--evaluated", type=int, default=400)
    parser.add_argument("--error", type=float, default=0.1)
    parser.add_argument("--output", type=Path, default=Path("docs/results/review_loop.json"))
    given = parser.parse_args()
    data = Path(os.environ["VOUCH_DATA"])
    results: list[dict[str, Any]] = []
    for name in given.set:
        loop = Loop(name, reviews=given.reviews, evaluated=given.evaluated, error=given.error)
        with tempfile.TemporaryDirectory() as folder:
            results.append(run(loop, data, Path(folder)))
        record = {
            "date": str(datetime.date.today()),
            "vouching": __version__,
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
            "results": results,
        }
        given.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(json.dumps(results[-1]["measured"], indent=1))


if __name__ == "__main__":
    main()
