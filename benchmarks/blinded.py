"""How good the blinded audit is without a language model: on marked hallucinations and on perturbed sentences.

    VOUCH_DATA=... python benchmarks/blinded.py [--part ragtruth|perturbed] [--split test|train] [--examples FILE]

**ragtruth**: the 900 responses to RAGTruth's data-to-text requests, each about a record of a business in JSON. The
targets are the marked spans with a digit; the findings are the answers that the audit faults. Precision: share of
faulted answers inside a marked span. Recall: share of spans with a digit that contain a faulted answer.

**perturbed**: sentences with a number from the paragraphs of multi-hop questions that name the subject of their
paragraph, each audited against all paragraphs of its question: unchanged, with changed numbers, and rewritten with the
same meaning. An error is detected if an answer is faulted where the sentence was changed; any other fault is a false
alarm. ``--split train`` uses the training questions, for development.

Times exclude reading the files.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

import vouching
from recipes.bench.multihop import FILES, multihop_rows
from vouching.bench.catalog import DATA_SETS, data_folder
from vouching.bench.intervals import figure, intervals
from vouching.bench.multihop import MultihopRow
from vouching.bench.rows import BenchRow
from vouching.judging.values import find_values
from vouching.methods.blinded.verify import open_blinded
from vouching.metrics import document_numbers, wilson
from vouching.models.running import run
from vouching.perturb import Perturbation, Strategy, perturb
from vouching.text.sentences import sentence_spans
from vouching.types import PairResult, Report, Source

SEED, SENTENCES, RESAMPLES = 0, 500, 10_000
AMOUNTS: tuple[Strategy, ...] = ("number_change", "unit_change", "bound_change")
ERRORS: tuple[Strategy, ...] = (*AMOUNTS, "date_shift")
"""Half of the sentences have an amount changed, in whichever way was rarest so far, half a date."""
REWRITES: dict[str, tuple[Strategy, ...]] = {
    "rounded": ("number_rounded",),
    "unit converted": ("unit_converted",),
    "written another way": ("number_format", "date_format"),
    "reworded": ("synonym", "voice_changed"),
}
FAULTS = ("different", "contradictory", "not_found")
_PRONOUN = re.compile(r"(?:he|she|it|they|this|that|these|those|his|her|its|their|there)\b", re.IGNORECASE)


def audit(response: str, sources: Sequence[Source]) -> Report:
    """The audit by the embedded proposer and checker."""
    return run(_AUDIT.verify(None, response, sources))


_AUDIT = open_blinded()


def faulted(report: Report) -> list[PairResult]:
    """The answers that the audit faults."""
    return [one for one in report.findings if isinstance(one, PairResult) and one.outcome in FAULTS]


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two stretches share a character; an empty one is the character before and after it."""
    (start, end), (begin, stop) = ((a - (a == b), b + (a == b)) for a, b in (one, other))
    return start < stop and begin < end


def ragtruth() -> dict[str, Any]:
    """Precision, recall and F1 on the marked stretches with a number, and the time of an answer."""
    rows = [
        row
        for row in DATA_SETS["ragtruth"].rows(data_folder(), "test")
        if isinstance(row, BenchRow) and row.part == "data2txt"
    ]
    lines: list[dict[str, Any]] = []
    for row in rows:
        start = time.perf_counter()
        report = audit(row.text, [Source(text, f"source-{n}") for n, text in enumerate(row.sources, 1)])
        seconds = time.perf_counter() - start
        places = [(one.span.start, one.span.end) for one in faulted(report) if one.span is not None]
        marked = [*(row.spans or ())]
        gold = [one for one in marked if re.search(r"\d", row.text[slice(*one)])]
        pairs = [one for one in report.findings if isinstance(one, PairResult)]
        lines.append(
            {
                "document": row.document,
                "seconds": seconds,
                "asked": len(pairs),
                "coverage": report.coverage,
                "faulted": len(places),
                "right": sum(any(overlap(place, one) for one in marked) for place in places),
                "gold": len(gold),
                "found": sum(any(overlap(place, one) for place in places) for one in gold),
                "outcomes": Counter(one.outcome for one in pairs),
                "of_outcome": Counter(
                    one.outcome
                    for one in faulted(report)
                    if one.span and any(overlap((one.span.start, one.span.end), stretch) for stretch in marked)
                ),
            }
        )
    return _ragtruth_figures(lines)


def _ragtruth_figures(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    column = {key: np.array([line[key] for line in lines], float) for key in ("faulted", "right", "gold", "found")}

    def precision(weights: Any) -> Any:
        return (weights @ column["right"]) / np.maximum(weights @ column["faulted"], 1e-9)

    def recall(weights: Any) -> Any:
        return (weights @ column["found"]) / np.maximum(weights @ column["gold"], 1e-9)

    def f1(weights: Any) -> Any:
        one, other = precision(weights), recall(weights)
        return 2 * one * other / np.maximum(one + other, 1e-9)

    groups = document_numbers([line["document"]] for line in lines)
    outcomes = sum((line["outcomes"] for line in lines), Counter[str]())
    right = sum((line["of_outcome"] for line in lines), Counter[str]())
    times = sorted(line["seconds"] for line in lines)
    return {
        "responses": len(lines),
        "stretches": int(column["gold"].sum()),
        "with_stretches": int((column["gold"] > 0).sum()),
        "questions": outcomes.total(),
        "coverage": round(float(np.mean([line["coverage"] for line in lines])), 4),
        "outcomes": {kind: outcomes[kind] for kind in ("same", *FAULTS, "leaked")},
        "right_of_outcome": {kind: right[kind] for kind in FAULTS},
        **intervals({"precision": precision, "recall": recall, "f1": f1}, groups, RESAMPLES),
        "seconds_median": round(times[len(times) // 2], 4),
        "seconds_95": round(times[int(0.95 * len(times))], 4),
    }


def sentences(split: str) -> Iterator[tuple[MultihopRow, Source, str]]:
    """Sentences with a number that name what their paragraph is about; one of each paragraph, in an order by chance."""
    found: dict[str, tuple[MultihopRow, Source, str]] = {}
    parts = [(name, part) for name, part in FILES if (part == "train") == (split == "train")]
    for name, part in parts:
        for row in multihop_rows(data_folder(), name, part):
            for source in row.passages if isinstance(row, MultihopRow) else ():
                fit = next((text for text in _sentences(source) if _fits(text, source.title or "")), None)
                if fit is not None and isinstance(row, MultihopRow):
                    found.setdefault(source.id, (row, source, fit))
    order = sorted(found)
    random.Random(SEED).shuffle(order)
    return (found[key] for key in order)


def changed_sentences(split: str) -> Iterator[tuple[MultihopRow, Source, str, Perturbation]]:
    """The sentences that are taken, each with an error."""
    given: Counter[str] = Counter()
    dates = 0
    for row, source, sentence in sentences(split):
        made = {one.strategy: one for one in _first_of_each(sentence, source.text, ERRORS)}
        amounts = [kind for kind in AMOUNTS if kind in made]
        if amounts and given.total() < SENTENCES // 2:
            kind = min(amounts, key=given.__getitem__)
            given[kind] += 1
            yield row, source, sentence, made[kind]
        elif "date_shift" in made and dates < SENTENCES // 2:
            dates += 1
            yield row, source, sentence, made["date_shift"]


def _sentences(source: Source) -> Iterator[str]:
    return (source.text[start:end] for start, end in sentence_spans(source.text))


def _fits(sentence: str, title: str) -> bool:
    name = title.partition(" (")[0]
    usual = 40 <= len(sentence) <= 250 and sentence[0].isupper() and sentence[-1] in ".!?"
    return usual and not _PRONOUN.match(sentence) and name in sentence and bool(_numbers(sentence, name))


def _numbers(sentence: str, name: str) -> bool:
    """Whether a value stands outside the name."""
    start = sentence.find(name)
    outside = [one for one in find_values(sentence) if not overlap((one.start, one.end), (start, start + len(name)))]
    return any(re.search(r"\d", one.text) for one in outside)


def perturbed(split: str, examples: list[dict[str, Any]]) -> dict[str, Any]:
    """Detection by kind of change, false alarms by kind of rewrite, and on the sentences as they are."""
    detected, anywhere, alarms, verbatim, seconds = Counter[str](), Counter[str](), Counter[str](), 0, 0.0
    made: Counter[str] = Counter()
    taken = 0
    for row, source, sentence, one in changed_sentences(split):
        taken += 1
        made[one.strategy] += 1
        start = time.perf_counter()
        report = audit(sentence, row.passages)
        seconds += time.perf_counter() - start
        if faulted(report):
            verbatim += 1
            examples.append(_example("verbatim", sentence, source, report))
        report = audit(one.claim, row.passages)
        hits = [
            fault
            for fault in faulted(report)
            if fault.span and any(overlap((fault.span.start, fault.span.end), (s.start, s.end)) for s in one.spans)
        ]
        detected[one.strategy] += bool(hits)
        anywhere[one.strategy] += bool(faulted(report))
        if not hits:
            examples.append(_example(f"missed {one.strategy}", one.claim, source, report, sentence))
        for kind, strategies in REWRITES.items():
            for again in _first_of_each(sentence, source.text, strategies)[:1]:
                report = audit(again.claim, row.passages)
                made[kind] += 1
                alarms[kind] += bool(faulted(report))
                if faulted(report):
                    examples.append(_example(f"false alarm, {kind}", again.claim, source, report, sentence))
    return {
        "split": split,
        "sentences": taken,
        "detection": _share(detected.total(), taken),
        "fault_anywhere": _share(anywhere.total(), taken),
        "detection_by_kind": {kind: _share(detected[kind], made[kind]) for kind in ERRORS},
        "false_alarms": _share(alarms.total(), sum(made[kind] for kind in REWRITES)),
        "false_alarms_by_kind": {kind: _share(alarms[kind], made[kind]) for kind in REWRITES},
        "verbatim": _share(verbatim, taken),
        "seconds_per_sentence": round(seconds / max(1, taken), 4),
    }


def _first_of_each(sentence: str, source: str, strategies: Sequence[Strategy]) -> list[Perturbation]:
    made = perturb(sentence, source, strategies, rng=random.Random(f"{SEED} {sentence}"))
    return [next(group) for _, group in groupby(made, key=lambda one: one.strategy)]


def _share(count: int, total: int) -> dict[str, Any]:
    return {"count": count, "of": total, **figure(wilson(count, total))}


def _example(kind: str, text: str, source: Source, report: Report, original: str = "") -> dict[str, Any]:
    pairs = [one for one in report.findings if isinstance(one, PairResult)]
    return {
        "kind": kind,
        "text": text,
        "original": original,
        "title": source.title,
        "paragraph": source.text,
        "pairs": [
            {
                "question": one.question,
                "answer": one.answer,
                "outcome": one.outcome,
                "found": [*one.found],
                "places": [f"{place.source_id}: {place.text}" for place in one.places],
            }
            for one in pairs
        ],
    }


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("ragtruth", "perturbed"), help="measure only this part and write no results")
    parser.add_argument("--split", choices=("test", "train"), default="test")
    parser.add_argument("--examples", type=Path, help="write the failed sentences to this file, one per line")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/blinded.json")
    options = parser.parse_args()
    if "VOUCH_DATA" not in os.environ:
        parser.error("VOUCH_DATA is not set: set it to the folder with the data sets")
    examples: list[dict[str, Any]] = []
    parts = {"ragtruth": ragtruth, "perturbed": lambda: perturbed(options.split, examples)}
    record = {
        "command": "python benchmarks/blinded.py",
        "model": "embedded proposer and checker",
        "version": vouching.__version__,
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        **{name: measure() for name, measure in parts.items() if options.part in (None, name)},
    }
    text = json.dumps(record, indent=1) + "\n"
    print(text, end="")
    if options.examples:
        options.examples.write_text("".join(json.dumps(one) + "\n" for one in examples), encoding="utf-8")
    if options.part is None and options.split == "test":
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
