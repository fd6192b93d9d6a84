"""How well a verifier distinguishes claims that differ little, on documents of the kind that RAG products hold.

    python benchmarks/contrast.py [--part test] [--model embedded:rules ...] [--output FILE]
    python benchmarks/contrast.py --part dev --errors bound

tests/data/contrast/README.md says how the corpus was written. The part dev is for work on the rules; the part test is
for reporting only, so ``--errors``, which prints the claims that were judged wrongly, reads dev only.

A claim that depends on a question, or on earlier sentences of the same answer, is checked as part of that response;
the others are checked alone. A claim that the splitter skips counts as judged wrongly, whatever its label. A fix is
"as written" if it is the corpus's fix or one of its supported claims about the same document, without case and
punctuation; others have to be read. Long answers are checked as a user would: a finding that is Not Attributable is an
alert for the sentence that contains it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import vouching
from vouching import metrics
from vouching.types import Source, Verdict

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests/data/contrast"
MODELS = ("embedded:rules", "embedded")
OVERALL = "all"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Judged:
    """A claim of the corpus, and what the verifier made of it."""

    row: Row
    attributable: bool | None
    """None where the splitter skipped it."""
    score: float
    """P(Attributable) of its weakest part; 0.5 where it was skipped."""
    error_type: str | None
    fix: str | None
    """The revised claim, if one was offered."""

    @property
    def gold(self) -> bool:
        """Whether the corpus says that it is Attributable."""
        return self.row["label"] == "Attributable"

    @property
    def right(self) -> bool:
        """Whether the verdict is the corpus's label."""
        return self.attributable is self.gold


def rows_of(part: str, name: str) -> list[Row]:
    """The rows of a file of the corpus."""
    return [json.loads(line) for line in (CORPUS / part / f"{name}.jsonl").read_text("utf-8").splitlines()]


def documents_of(part: str) -> dict[str, Source]:
    """The documents by name."""
    paths = sorted((CORPUS / part / "documents").iterdir())
    return {path.stem: Source(path.read_text("utf-8"), path.name) for path in paths}


def judge(checker: vouching.Checker, row: Row, source: Source) -> Judged:
    """Check one claim of the corpus."""
    if "before" not in row and "question" not in row:
        verdicts = [checker.check(row["claim"], [source])]
    else:
        response = f"{row['before']} {row['claim']}" if "before" in row else row["claim"]
        start = len(response) - len(row["claim"])
        report = checker.check_response(response, [source], row.get("question"))
        verdicts = [f for f in report.findings if f.claim.span is None or f.claim.span.end > start]
    found = [verdict for verdict in verdicts if isinstance(verdict, Verdict)]
    if not found:
        return Judged(row, None, 0.5, None, None)
    worst = min(found, key=lambda verdict: verdict.score)
    fix = worst.revised_claim if len(found) == 1 else None
    return Judged(row, all(v.attributable for v in found), worst.score, worst.error_type, fix)


def accuracies(judged: Sequence[Judged]) -> dict[str, Any]:
    """Shares of the supported and of the other claims that were judged rightly, and their mean; None without claims."""
    shares = [
        float(np.mean(right)) if (right := [j.right for j in judged if j.gold is gold]) else None
        for gold in (True, False)
    ]
    both = None if None in shares else float(np.mean([share for share in shares if share is not None]))
    return {
        "claims": len(judged),
        "balanced_accuracy": both,
        "of_supported": shares[0],
        "of_others": shares[1],
        "skipped": sum(j.attributable is None for j in judged),
    }


def interval(judged: Sequence[Judged]) -> list[float]:
    """95 % interval of the balanced accuracy; groups of contrasting claims are resampled together."""
    gold = np.array([one.gold for one in judged])
    predicted = gold == np.array([one.right for one in judged])
    groups = np.unique([one.row["group"] for one in judged], return_inverse=True)[1]
    found = metrics.bca(partial(metrics.balanced_accuracy, gold, predicted), groups)
    return [found.low, found.high]


def plain(text: str) -> str:
    """A text without case and punctuation."""
    return " ".join(re.findall(r"[\w%$€£.]+", text.lower().rstrip(".")))


def fixes(judged: Sequence[Judged]) -> dict[str, Any]:
    """How many fixes were offered, for right and for wrong claims, and how many are as written in the corpus."""
    known: dict[str, set[str]] = defaultdict(set)
    for one in judged:
        known[one.row["document"]].add(plain(one.row["claim"] if one.gold else one.row["fix"] or ""))
    offered = [one for one in judged if one.fix]
    wrong = [one for one in offered if not one.gold]
    return {
        "offered": len(offered),
        "for_supported_claims": len(offered) - len(wrong),
        "as_written": sum(plain(one.fix or "") in known[one.row["document"]] for one in wrong),
    }


def error_types(judged: Sequence[Judged]) -> dict[str, Any]:
    """Of the wrong claims that were judged so, the share with the corpus's error type, by type."""
    found: dict[str, list[bool]] = defaultdict(list)
    for one in judged:
        if not one.gold and one.attributable is False:
            found[one.row["error_type"]].append(one.error_type == one.row["error_type"])
    return {name: {"claims": len(right), "right": sum(right)} for name, right in sorted(found.items())}


def calibration(judged: Sequence[Judged]) -> dict[str, Any]:
    """AUROC, expected calibration error and, of the verdicts by confidence, the share that is right."""
    asked = [one for one in judged if one.attributable is not None]
    gold = np.array([one.gold for one in asked])
    scores = np.array([one.score for one in asked])
    confidence = np.maximum(scores, 1 - scores)
    right = np.array([one.right for one in asked], dtype=float)
    bands = {}
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
        inside = (confidence >= low) & (confidence < high)
        bands[f"{low:g} to {min(high, 1):g}"] = {
            "verdicts": int(inside.sum()),
            "right": round(float(right[inside].mean()), 4) if inside.any() else None,
        }
    return {
        "auroc": float(metrics.auroc(gold, scores)),
        "ece": float(metrics.ece(gold, scores)),
        "by_confidence": bands,
    }


def answers(checker: vouching.Checker, part: str, documents: Mapping[str, Source]) -> dict[str, Any]:
    """Precision and recall of the alerts on long answers, sentence by sentence."""
    found: dict[str, int] = defaultdict(int)
    for row in rows_of(part, "answers"):
        report = checker.check_response(row["answer"], [documents[row["document"]]], row["question"])
        spans = [f.claim.span for f in report.findings if isinstance(f, Verdict) and not f.attributable]
        for sentence in row["sentences"]:
            start = row["answer"].find(sentence["text"])
            end = start + len(sentence["text"])
            alert = any(span is not None and span.start < end and start < span.end for span in spans)
            found[f"{sentence['label']}, {'alert' if alert else 'no alert'}"] += 1
    hit, false = found["Not Attributable, alert"], found["Attributable, alert"] + found["No claim, alert"]
    missed = found["Not Attributable, no alert"]
    return {
        "answers": len(rows_of(part, "answers")),
        "sentences": sum(found.values()),
        "precision": hit / max(1, hit + false),
        "recall": hit / max(1, hit + missed),
        "counts": dict(sorted(found.items())),
    }


def measured(model: str, part: str) -> tuple[dict[str, Any], list[Judged]]:
    """All figures of a model on a part, and every judged claim."""
    checker, documents = vouching.Checker(model), documents_of(part)
    started = time.process_time()
    judged = [judge(checker, row, documents[row["document"]]) for row in rows_of(part, "claims")]
    seconds = time.process_time() - started
    by_construction = {
        name: accuracies([one for one in judged if one.row["construction"] == name])
        for name in sorted({one.row["construction"] for one in judged})
    }
    figures = {
        "balanced_accuracy_interval": interval(judged),
        "by_construction": {OVERALL: accuracies(judged)} | by_construction,
        "pairs_split": pairs_split(judged),
        **calibration(judged),
        "fixes": fixes(judged),
        "error_types": error_types(judged),
        "answers": answers(checker, part, documents),
        "cpu_ms_per_claim": round(1000 * seconds / len(judged), 1),
    }
    return figures, judged


def pairs_split(judged: Sequence[Judged]) -> float:
    """Share of the groups of contrasting claims in which all claims were judged rightly."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for one in judged:
        groups[one.row["group"]].append(one.right)
    return float(np.mean([all(right) for right in groups.values()]))


def table(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Balanced accuracy by construction, a column for each model."""
    constructions = list(next(iter(figures.values()))["by_construction"])
    yield f"{'':14}{'claims':>7}" + "".join(f"{model:>36}" for model in figures)
    for name in constructions:
        cells = [found["by_construction"][name] for found in figures.values()]
        shown = "".join(
            f"{c['balanced_accuracy'] or 0:16.3f} ({c['of_supported'] or 0:.2f} + {c['of_others'] or 0:.2f})"
            for c in cells
        )
        yield f"{name:14}{cells[0]['claims']:7}{shown}"


def rounded(value: Any) -> Any:
    """A record with numbers of four places."""
    if isinstance(value, dict):
        return {key: rounded(inside) for key, inside in value.items()}
    if isinstance(value, list):
        return [rounded(inside) for inside in value]
    return round(value, 4) if isinstance(value, float) else value


def print_errors(judged: Iterable[Judged], construction: str) -> None:
    """Print the claims of a construction that were judged wrongly, and fixes that differ from the corpus's."""
    for one in judged:
        if one.row["construction"] == construction or construction == OVERALL:
            if not one.right:
                print(f"{one.row['id']} gold {one.row['label']}, score {one.score:.2f}\n  {one.row['claim']}")
                print(f"  evidence: {one.row['evidence']}")
            if one.fix and plain(one.fix) != plain(one.row["fix"] or ""):
                print(f"{one.row['id']} fix: {one.fix}\n  claim: {one.row['claim']}\n  corpus: {one.row['fix']}")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--model", action="append", help="a verifier; may be repeated (default: both embedded ones)")
    parser.add_argument("--errors", metavar="CONSTRUCTION", help="print what was judged wrongly; 'all' for everything")
    parser.add_argument("--output", type=Path, help="write the figures to this JSON file")
    options = parser.parse_args()
    if options.errors and options.part == "test":
        parser.error("--errors reads the part dev only: the part test is for reporting")
    figures = {}
    for model in options.model or MODELS:
        figures[model], judged = measured(model, options.part)
        if options.errors:
            print_errors(judged, options.errors)
    print("\n".join(table(figures)))
    for model, found in figures.items():
        rest = {key: value for key, value in found.items() if key != "by_construction"}
        print(f"{model}: {json.dumps(rounded(rest))}")
    if options.output:
        record = {
            "command": f"python benchmarks/contrast.py --part {options.part}",
            "version": vouching.__version__,
            "date": datetime.date.today().isoformat(),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "models": rounded(figures),
        }
        options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
