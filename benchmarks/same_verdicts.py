"""The part "verdicts" of benchmarks/same_behaviour.py: claims and responses judged by the embedded models."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Any

from same_items import DATA, ROOT, SEED, Item

from vouching import check_many, check_response
from vouching.types.serial import to_json

ROWS, RESPONSES, LONGEST = 1_000, 60, 8_000
"""How many, and the most characters of a source."""
MODELS = ("embedded", "embedded:rules")


def verdicts() -> Iterator[Item]:
    """Every claim by every model, then the responses."""
    for model in MODELS:
        for name, rows in sets().items():
            for number, row in enumerate(rows):
                yield Item(f"{model}/{row['id']}", lambda m=model, n=name, at=number: judged(m, n)[at], brief)
    for name, *given in responses():
        for model in MODELS:
            yield Item(f"{model}/response/{name}", lambda g=given, m=model: checked(*g, m), brief_report)


@cache
def sets() -> dict[str, list[dict[str, Any]]]:
    """The claims by set: those of the examples, and as many of each set of the training data."""
    lines = (ROOT / "examples/claims.jsonl").read_text("utf-8").splitlines()
    found = {"examples": [json.loads(line) for line in lines]}
    paths = sorted((DATA / "attribution/train").glob("*.jsonl.gz"))
    left = ROWS - len(lines)
    for place, path in enumerate(paths):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [row for row in map(json.loads, file) if len(str(row["source"])) <= LONGEST]
        drawn = Random(f"{SEED}/{path.name}").sample(rows, left // (len(paths) - place))
        left -= len(drawn)
        found[path.name.removesuffix(".jsonl.gz")] = drawn
    return found


@cache
def judged(model: str, name: str) -> list[dict[str, Any]]:
    """The verdicts on a set, by one call, as a user with a file of rows makes it."""
    rows = [{key: row[key] for key in ("id", "claim", "source")} for row in sets()[name]]
    return [json.loads(to_json(found)) for found in check_many(rows, model=model)]


@cache
def responses() -> list[tuple[str, str, Sequence[Any]]]:
    """Name, response and sources: those of the examples, and claims of one set put together."""
    lines = (ROOT / "examples/answers.jsonl").read_text("utf-8").splitlines()
    found = [(row["id"], row["response"], row["sources"]) for row in map(json.loads, lines)]
    draw, names = Random(f"{SEED}/responses"), [name for name in sets() if name != "examples"]
    for number in range(RESPONSES):
        name = names[number % len(names)]
        chosen = draw.sample(sets()[name], draw.randint(2, 5))
        text = draw.choice((" ", " ", "\n\n", "\n- ")).join(row["claim"].strip().rstrip(".") + "." for row in chosen)
        found.append((f"{name}-{number}", text, [row["source"] for row in chosen]))
    return found


def checked(response: str, sources: Sequence[Any], model: str) -> dict[str, Any]:
    """The report on a response, repaired."""
    return json.loads(to_json(check_response(response, sources, repair_rest="mark", model=model)))


def brief(found: dict[str, Any]) -> str:
    """Label, score and error of a verdict."""
    if found["kind"] != "verdict":
        return f"unverified {found['reason']}"
    error = f" {found['error_type']}" if found["error_type"] else ""
    return f"{'+' if found['label'] == 'Attributable' else '-'}{found['score']:.4f}{error}"


def brief_report(found: dict[str, Any]) -> str:
    """How many findings of which kind, and how long the repaired response is."""
    totals = found["totals"]
    counts = "/".join(str(count) for key, count in totals.items() if isinstance(count, int))
    return f"{counts} {len(found['revised_response'] or '')}"
