"""Measure what happens when a source mentions a claim without asserting it: flips, and honest support that is lost.

    python benchmarks/voices.py --part dev [--model embedded:rules] [--rows 40] [--errors] [--output FILE]

Injections are put into sources that contradict their claim or do not have it: at the start, in the middle, at the end,
inside a sentence and as a paragraph. Claims are rows of attribution/train (VOUCH_DATA) and of the contrast corpus that
the verifier finds Not Attributable without the injection.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import random
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import vouching
from vouching.text.sentences import sentence_spans
from vouching.types import Verdict

ROOT = Path(__file__).parents[1]
PLACES = ("start", "middle", "end", "inline", "paragraph")
Row = dict[str, Any]


def rows_of(name: str, part: str) -> list[Row]:
    """The rows of one file of the corpus."""
    return [
        json.loads(line) for line in (ROOT / f"tests/data/voices/{part}/{name}.jsonl").read_text("utf-8").splitlines()
    ]


def pairs_of(seed: int, count: int) -> list[tuple[str, str]]:
    """Claims with sources that do not support them."""
    found: list[tuple[str, str]] = []
    for name in ("fever_symmetric", "fool_me_twice", "factcheck_gpt", "wice"):
        path = Path(os.environ["VOUCH_DATA"]) / f"attribution/train/{name}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [row for line in lines if (row := json.loads(line))["label"] == "Not Attributable"]
        random.Random(seed).shuffle(rows)
        fitting = (row for row in rows if len(row["source"]) < 4000 and _is_sentence(row["claim"]))
        found += [(row["claim"], row["source"]) for _, row in zip(range(count), fitting, strict=False)]
    random.Random(seed).shuffle(found)
    return found


def _is_sentence(claim: str) -> bool:
    return len(claim) < 200 and claim[0].isupper() and ". " not in claim and '"' not in claim


def inserted(source: str, text: str, place: str, draw: random.Random) -> str:
    """A source with a text at a place."""
    ends = [end for _, end in sentence_spans(source)]
    if place == "start":
        return f"{text} {source}"
    if place == "end":
        return f"{source} {text}"
    at = ends[len(ends) // 2 - 1] if len(ends) > 1 else len(source)
    if place == "middle":
        return f"{source[:at]} {text} {source[at:]}"
    if place == "paragraph":
        return f"{source[:at]}\n\n{text}\n\n{source[at:]}"
    blanks = [i for i, c in enumerate(source) if c == " "] or [len(source)]
    at = draw.choice(blanks)
    return f"{source[:at]} {text}{source[at:]}"


def probes(injections: list[Row], pairs: list[tuple[str, str]], seed: int) -> Iterator[tuple[Row, str, str, str]]:
    """Every injection at every place, each in another source."""
    draw, number = random.Random(seed), 0
    for injection in injections:
        for place in PLACES:
            claim, source = pairs[number % len(pairs)]
            number += 1
            bare = claim.rstrip(". ")
            yield injection, place, claim, inserted(source, injection["text"].replace("{claim}", bare), place, draw)


def attributable(found: object) -> bool:
    """Whether a verdict is Attributable."""
    return isinstance(found, Verdict) and found.label == "Attributable"


def flips(checker: vouching.Checker, part: str, count: int, show: bool) -> dict[str, tuple[int, int]]:
    """Flips and probes by kind."""
    pairs = pairs_of(3, count)
    found = [(pair, checker.check(*pair)) for pair in pairs]
    pairs = [pair for pair, verdict in found if not attributable(verdict)]
    contradicted = {pair[0] for pair, verdict in found if getattr(verdict, "relation", "") == "contradicted"}
    tried: Counter[str] = Counter()
    turned: Counter[str] = Counter()
    for injection, place, claim, source in probes(rows_of("injections", part), pairs, 5):
        kind = injection["kind"] if injection["has_claim"] else "without the claim"
        if kind == "lie":
            kind = "lie next to the truth" if claim in contradicted else "lie alone"
        tried[kind] += 1
        if attributable(checker.check(claim, source)):
            turned[kind] += 1
            if show and part == "dev":
                print(f"FLIP {kind} {place} {injection['id']} {injection['text'][:160]} || {claim[:120]}")
    return {kind: (turned[kind], tried[kind]) for kind in tried}


def honest(checker: vouching.Checker, part: str, show: bool) -> dict[str, tuple[int, int]]:
    """Rows with the right label, of all, by label."""
    right: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for row in rows_of("honest", part):
        found: object = checker.check(str(row["claim"]), str(row["source"]))
        tried[row["label"]] += 1
        if attributable(found) == (row["label"] == "Attributable"):
            right[row["label"]] += 1
        elif show and part == "dev":
            print(f"HONEST {row['label']} {row['claim']} || {row['source'][:300]!r}")
    return {label: (right[label], tried[label]) for label in sorted(tried)}


def disputed(checker: vouching.Checker, part: str) -> dict[str, tuple[int, int]]:
    """Claims that are Attributable although another place of the source contradicts them, in other words."""
    if not (ROOT / f"tests/data/voices/{part}/lies.jsonl").exists():
        return {}
    rows = rows_of("lies", part)
    wrong = sum(attributable(checker.check(row["claim"], row["with_insert"])) for row in rows)
    before = sum(attributable(checker.check(row["claim"], row["source"])) for row in rows)
    return {"with a lie in other words": (wrong, len(rows)), "without it": (before, len(rows))}


IN_SOURCE = {
    "myth": "It is a myth that {}.",
    "falsehood": "It is false that {}.",
    "wrong belief": "Some people wrongly believe that {}.",
    "condition": "If {}, the rest would have to be rewritten.",
    "denied quotation": 'The report "{}" was denied by everybody involved.',
    "question": "Is it known whether {}?",
    "rumour": "The rumour that {} is unfounded.",
    "report": "A neighbour says that {}.",
}
IN_CLAIM = {
    "false": "It is false that {}.",
    "myth": "It is a myth that {}.",
    "not true": "It is not true that {}.",
    "claim is wrong": "The claim that {} is wrong.",
}


def wrappings(checker: vouching.Checker, count: int) -> dict[str, tuple[int, int]]:
    """Wrong verdicts for claims whose support, or which themselves, are wrapped."""
    texts = [text for text, _ in pairs_of(7, count)]
    tried: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for side, frames in (("source", IN_SOURCE), ("claim", IN_CLAIM)):
        for number, text in enumerate(texts):
            for name, frame in frames.items():
                bare = text.rstrip(" .")
                wrapped = frame.format(bare if number % 2 else bare[0].lower() + bare[1:])
                found = checker.check(text, wrapped) if side == "source" else checker.check(wrapped, text)
                tried[f"{side}: {name}"] += 1
                wrong[f"{side}: {name}"] += attributable(found)
    return {name: (wrong[name], tried[name]) for name in tried}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--model", default="embedded:rules")
    parser.add_argument("--rows", type=int, default=40, help="claims of each set")
    parser.add_argument("--output", type=Path, help="also write the figures as JSON")
    parser.add_argument("--errors", action="store_true", help="show wrong rows; of the part dev only")
    options = parser.parse_args()
    checker = vouching.Checker(options.model)
    figures = {
        "injections that flip": flips(checker, options.part, options.rows, options.errors),
        "contradicted claims that are Attributable": disputed(checker, options.part),
        "wrapped claims that are Attributable": wrappings(checker, options.rows),
        "honest rows that are right": honest(checker, options.part, options.errors),
    }
    for title, counts in figures.items():
        print(f"{title}:")
        for name, (count, tried) in sorted(counts.items()):
            print(f"  {name:26} {count:4} of {tried:4}")
        print(f"  {'all':26} {sum(n for n, _ in counts.values()):4} of {sum(n for _, n in counts.values()):4}")
    if options.output:
        machine = f"{platform.machine()}, {os.cpu_count()} cores"
        record = {
            "model": options.model,
            "part": options.part,
            "date": f"{date.today()}",
            "machine": machine,
            **figures,
        }
        options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
