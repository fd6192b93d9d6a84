"""The part "rewards" of benchmarks/same_behaviour.py: structured replies, rankings, and the command on files.

Rewards of games are in same_games.py. Replies are records with random fields, a share of them no JSON at all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, get_args

from same_games import blinded_row, games, paired_row, votes_row
from same_items import ROOT, SEED, Item, blocks, reward, some, total

from vouching.integrations.verl import structured_score
from vouching.methods.discriminative.reward import best_of, ranking_rewards
from vouching.methods.structured.reward import binary_reward, structured_reward
from vouching.methods.structured.reward_scale import Equal, equal_by_label
from vouching.methods.structured.reward_weights import Calibration, Split, Variant, reward_bounds, structured_weights
from vouching.types import Claim, Label, RankedAnswer, Ranking, Unverified

TEXTS = (
    (
        "The study involved 500 participants from 12 countries and ran from 2009 to 2014.",
        "The research included 500 volunteers from 8 different nations. They were observed for five years, from 2009 "
        "to 2014. The authors report no conflict of interest.",
    ),
    ("Ada Lovelace died in 1852 in London.", "Ada Lovelace was a mathematician. She died on 27 November 1852."),
    ("Revenue grew by 10% to $1.2 million.", "In the third quarter revenue was up 10 percent, at 1,200,000 dollars."),
)
LABELS = (
    "Attributable",
    "Not Attributable",
    "attributable",
    "Not_Attributable.",
    "supported",
    "no",
    "TRUE",
    "neutral",
    "unclear",
    "",
    "Attributable " * 5,
    None,
    True,
    3,
)
ERRORS = ("numerical_exaggeration", "temporal_shift", "entity_substitution", "fabrication", "wrong number", "", None, 7)
FIXES = ("Change 12 countries to 8.", "Short", "", None, "x" * 10, ["a list of words"])
CONFIDENCES = (0, 1, 0.5, 0.95, 0.123456789, -1, 7, 1e300, None, [0.5], {"value": 1})
STATED = ("0.8", "1", " .25 ", "1e-1", "-3", "80%", "high", "")
"""Confidences that are texts, most of them numbers; in blocks of their own."""
FILES = {
    "structured-paper": ["structured"],
    "structured-released": ["structured", "--variant", "released"],
    "structured-grounded": ["structured", "--variant", "grounded", "--split", "50/50", "--calibration", "symmetric"],
    "structured-binary": ["structured", "--variant", "binary"],
    "checklist": ["checklist"],
    "checklist-median": ["checklist", "--aggregate", "median", "--beta", "0.2"],
    "blinded": ["blinded"],
    "blinded-released": ["blinded", "--match", "released", "--scale", "error-rate"],
    "assurance": ["assurance", "--intervention-cost", "0.1", "--revision-cost", "0.05"],
}
"""Files of 100 rows each, and how the command is called."""


def rewards() -> Iterator[Item]:
    """All blocks, by method."""
    for variant in get_args(Variant):
        for split in get_args(Split):
            for calibration in get_args(Calibration):
                yield from blocks(
                    f"structured/{variant}/{split.replace('/', '-')}/{calibration}",
                    3 if variant == "paper" else 2,
                    lambda draw, v=variant, s=split, c=calibration: structured(draw, v, s, c),
                )
        repaired = " to be repaired" if variant == "released" else ""
        yield from blocks(f"structured/{variant}/confidence is text{repaired}", 2, stated(variant, STATED))
        yield from blocks(f"structured/{variant}/confidence is a bool{repaired}", 1, stated(variant, (True, False)))
    yield from blocks("structured/binary", 4, lambda draw: reward(binary_reward(*replied(draw)[:2])))
    yield from blocks("structured/by label", 20, scaled, size=20)
    yield from blocks("structured/verl", 4, by_verl)
    yield Item("structured/bounds", bounds, total)
    yield from blocks("discriminative", 12, ranked)
    yield from games()
    for name in FILES:
        yield Item(f"command/{name}", lambda n=name: commanded(n), total)
    for name, method in (("replies", "structured"), ("votes", "checklist")):
        path = ROOT / f"examples/{name}.jsonl"
        yield Item(f"command/examples/{name}", lambda m=method, p=path: called([m], p), total)


def structured(draw: Random, variant: Variant, split: Split, calibration: Calibration) -> Any:
    """One reply, scored."""
    text, gold, claim, source = replied(draw)
    weights = structured_weights(split, calibration)
    return reward(structured_reward(text, gold, claim=claim, source=source, variant=variant, weights=weights))


def stated(variant: Variant, confidences: tuple[Any, ...]) -> Callable[[Random], Any]:
    """A reply whose confidence is one of these, scored."""

    def score(draw: Random) -> Any:
        claim, source = draw.choice(TEXTS)
        text = json.dumps(record_of(draw, claim, source) | {"confidence": draw.choice(confidences)})
        gold = draw.choice(get_args(Label))
        return reward(structured_reward(text, gold, claim=claim, source=source, variant=variant))

    return score


def scaled(draw: Random) -> Any:
    """A batch of rewards put on one scale by gold label, and what there was of it under each."""
    by = draw.choice(get_args(Equal))
    batch = [replied(draw) for _ in range(5)]
    golds = [gold for _, gold, _, _ in batch]
    found = [structured_reward(text, gold) for text, gold, _, _ in batch]
    seen: dict[str, Any] = {}
    for one, gold in zip(found, golds, strict=True):
        if one.parts["format"]:
            value, old = one.parts["diagnosis"], seen.get(gold, {"count": 0, "total": 0.0})
            seen[gold] = {
                "count": old["count"] + 1,
                "total": old["total"] + value,
                "low": min(old.get("low", value), value),
                "high": max(old.get("high", value), value),
            }
    return [[reward(one) for one in equal_by_label(found, golds, by)], {"by": by, "seen": seen}]


def by_verl(draw: Random) -> Any:
    """One reply as verl has it scored."""
    text, gold, claim, source = replied(draw)
    row, variant, split = (
        {"claim": claim, "source": source},
        draw.choice(get_args(Variant)),
        draw.choice(get_args(Split)),
    )
    return structured_score("set", text, gold, row, variant=variant, split=split)


def bounds() -> Any:
    """The least and greatest reward of every arm."""
    return [
        [variant, split, calibration, gold, reward_bounds(gold, variant, structured_weights(split, calibration))]
        for variant in get_args(Variant)
        for split in get_args(Split)
        for calibration in get_args(Calibration)
        for gold in (None, *get_args(Label))
    ]


def replied(draw: Random) -> tuple[str, Label, str, str]:
    """A reply, well-formed or not, with gold label, claim and source."""
    claim, source = draw.choice(TEXTS)
    text = json.dumps(record_of(draw, claim, source), ensure_ascii=draw.random() < 0.5)
    gold = draw.choice(get_args(Label))
    if draw.random() < 0.7:
        return text, gold, claim, source
    at = draw.randrange(len(text))
    spoilt = (
        text[:at],
        text[at:],
        f"Here it is:\n```json\n{text}\n```",
        f"{text} I hope {{this}} helps.",
        f"[{text}]",
        text.replace('"', "'"),
        text.replace(":", " NaN,", 1),
        text[:-1] + ",}",
        text + text,
        "",
        "no",
        "{}",
        "null",
        text[:at] + "\n```\n" + text[at:],
        '{"label": "yes", "label": "no"}',
        "{" * 3000,
        '{"a":' * 2000 + "1" + "}" * 2000,
        '{"label": "Attributable", "confidence": Infinity}',
        f'{{"confidence": 1{"0" * 400}, "label": "no"}}',
    )
    return draw.choice(spoilt), gold, claim, source


def record_of(draw: Random, claim: str, source: str) -> dict[str, Any]:
    """A record whose fields are right, odd or missing."""
    record: dict[str, Any] = {
        "evidence_alignment": some(draw, (None, "words", 3), 0, 2)
        if draw.random() < 0.1
        else [aligned(draw, claim, source) for _ in range(draw.choice((0, 1, 1, 2, 3, 8)))],
        "reasoning_chain": "one step"
        if draw.random() < 0.05
        else [step_of(draw, claim, source) for _ in range(draw.choice((0, 1, 2, 3, 4)))],
        "label": draw.choice(LABELS[:2]) if draw.random() < 0.6 else draw.choice(LABELS),
        "confidence": draw.choice(CONFIDENCES) if draw.random() < 0.4 else round(draw.random(), 3),
        "error_type": draw.choice(ERRORS),
        "fix_suggestion": draw.choice(FIXES),
    }
    return {key: value for key, value in record.items() if draw.random() < 0.9}


def aligned(draw: Random, claim: str, source: str) -> Any:
    """An entry of the alignment."""
    if draw.random() < 0.05:
        return draw.choice((None, "match", [], 1))
    status = draw.choice(("match", "mismatch", "not_found", "match", "partial", None))
    return {"claim_span": span_of(draw, claim), "source_span": span_of(draw, source), "status": status}


def step_of(draw: Random, claim: str, source: str) -> Any:
    """A step of the chain of reasoning."""
    judgment = draw.choice(("supported", "not_supported", "partially_supported", "maybe", None))
    explanation = draw.choice(("Both texts say so.", "Yes.", "", "The source has another number.", None, 12))
    return {
        "claim_part": span_of(draw, claim),
        "source_evidence": span_of(draw, source),
        "judgment": judgment,
        "explanation": explanation,
    }


def span_of(draw: Random, text: str) -> Any:
    """Words of a text, with or without a slip, or something else."""
    start = draw.randrange(len(text) - 1)
    span = text[start : draw.randint(start + 1, len(text))]
    at = draw.randrange(len(span))
    slips = (span.upper(), span[:at] + span[at + 1 :], span[::-1], span * 9)
    return span if draw.random() < 0.6 else draw.choice((*slips, "NOT_FOUND", "", "no words of it", None, 4))


def ranked(draw: Random) -> Any:
    """A ranking with random scores, as rewards by each measure, and its best answer."""
    size, calibrated = draw.randint(1, 6), draw.random() < 0.5
    scores = [draw.choice((0.0, 0.5, 1.0, round(draw.gauss(0, 3), 3))) for _ in range(size)]
    lost = [number for number in range(1, size + 1) if draw.random() < 0.1]
    answers = [
        RankedAnswer(
            number,
            f"a{number}",
            1 + sum(other > score for other in scores),
            score,
            Claim(f"a{number}"),
            draw.random() if calibrated else None,
        )
        for number, score in enumerate(scores, 1)
        if number not in lost
    ]
    failed = [Unverified(Claim("a", id=f"answer-{number}"), "backend", "It is down.") for number in lost]
    answers.sort(key=lambda one: -one.score)
    ranking = Ranking("When?", tuple(answers), tuple(failed), "full", "logit")
    ways = ["place", "score", *["probability"] * calibrated]
    best = best_of(ranking, draw.randrange(9))
    return [[[reward(one) for one in ranking_rewards(ranking, by)] for by in ways], best and best.number]


def commanded(name: str) -> Any:
    """A file of rows, scored by the command."""
    draw = Random(f"{SEED}/command/{name}")
    made: Callable[[Random], dict[str, Any]] = {
        "structured": structured_row,
        "checklist": votes_row,
        "blinded": blinded_row,
        "assurance": paired_row,
    }[FILES[name][0]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        lines = [json.dumps({"id": str(number), "group": str(number // 4), **made(draw)}) for number in range(100)]
        path.write_text("\n".join([*lines, "no JSON", "{}"]) + "\n", encoding="utf-8")
        return called(FILES[name], path)


def structured_row(draw: Random) -> dict[str, Any]:
    """A row of the command's file of structured replies."""
    text, gold, claim, source = replied(draw)
    return {"response": text, "gold": gold, "claim": claim, "source": source}


def called(arguments: list[str], path: Path) -> Any:
    """Exit status and lines of ``vouch reward``."""
    command = [sys.executable, "-m", "vouching", "reward", *arguments, "--input", str(path), "--output", "-"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    return [done.returncode, [without_place(json.loads(line)) for line in done.stdout.splitlines()]]


def without_place(line: dict[str, Any]) -> dict[str, Any]:
    """A line of rewards; of a problem only that there is one, since its words name a file in a temporary folder."""
    return line | {"problem": True} if "problem" in line else line
