# pyright: basic
"""What smollm2-sft.toml and smollm2-grpo.toml read: SmolLM2-135M-Instruct as a folder of weights, chats and prompts.

    VOUCH_DATA=... python recipes/structured/smollm2.py make WEIGHTS.gguf
    VOUCH_DATA=... python recipes/structured/smollm2.py measure

``make`` writes them to runs/smollm2, and requires the package ``gguf``. ``measure`` lets the models before and after
GRPO answer held-out prompts, as in training, and writes benchmarks/results/smollm2_grpo.json with the steps of both
runs. The rows are short pairs of the training parts of ``med`` and ``breaking_nli``, half of each label; the prompt has
about 90 tokens. The records of the chats are written by a rule from the gold label: their form is right, and their
evidence is the last words of claim and source, so they teach the form and nothing about evidence. Not supported: other
models.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import platform
import random
import sys
from pathlib import Path
from typing import Any

import vouching
from vouching.bench.catalog import data_folder, known_sets
from vouching.bench.rows import BenchRow, Fault
from vouching.methods.structured.game import StructuredGame, against_gold
from vouching.metrics import wilson
from vouching.models.base import Sampling
from vouching.models.open import open_model

SYSTEM = (
    "Check whether the source supports the claim. Reply with one JSON object with evidence_alignment, reasoning_chain, "
    "label (Attributable or Not Attributable) and confidence."
)
WORDS = 14
"""Most words of a claim and of a source."""
SFT, PROMPTS, HELD_OUT = 64, 256, 64
"""Rows of each kind; no row is in two."""
OUT, RESULT = Path("runs/smollm2"), Path("benchmarks/results/smollm2_grpo.json")
MEASURED = (20, 40, 60)
"""Steps of GRPO whose weights answer the held-out prompts; chosen before the run."""
SAMPLED = Sampling(160, 1.0, top_p=0.95, seed=0)
"""As in smollm2-grpo.toml."""


def make(weights: Path) -> None:
    """Write the model and the rows."""
    OUT.mkdir(parents=True, exist_ok=True)
    rows, _ = short_rows()
    chats = [{"messages": [*asked(row), {"role": "assistant", "content": record(row)}]} for row in rows[:SFT]]
    prompts = [
        {"id": row.id, "claim": row.text, "source": row.sources[0], "gold": label(row), "prompt": asked(row)}
        for row in rows[SFT:]
    ]
    for name, lines in (("sft", chats), ("prompts", prompts)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (OUT / f"{name}.jsonl").write_text(text, encoding="utf-8")
    write_model(weights, OUT / "base")


def measure() -> None:
    """Write the figures."""
    runs = ("sft", "grpo")
    weights = {"sft": OUT / "sft/model", **{f"grpo {n}": OUT / f"grpo/checkpoints/checkpoint-{n}" for n in MEASURED}}
    names = (
        "step",
        "loss",
        "readable",
        "oracle/right",
        "reward/verifier/total",
        "reward/verifier/format",
        "length/verifier/cut",
        "length/verifier/mean",
        "time/step",
    )
    steps = {run: [json.loads(line) for line in (OUT / run / "metrics.jsonl").open(encoding="utf-8")] for run in runs}
    found = {
        "command": "python recipes/structured/smollm2.py measure",
        "model": "SmolLM2-135M-Instruct",
        "vouching": vouching.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{platform.machine()}, one core, Python {platform.python_version()}",
        "held_out": {name: asyncio.run(held_out(f"local:{OUT}/base#{one}")) for name, one in weights.items()},
        "steps": {run: [{name: step[name] for name in names if name in step} for step in steps[run]] for run in runs},
    }
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


async def held_out(name: str) -> dict[str, Any]:
    """How many replies of a model to held-out prompts are readable, and right."""
    _, rows = short_rows()
    model = open_model(name)
    asking = (StructuredGame().opening({"prompt": asked(row)}) for row in rows)
    replies = await asyncio.gather(*(model.generate(messages, SAMPLED) for messages in asking))
    await model.aclose()
    seen = [against_gold(reply.text, {"gold": label(row)}) for [reply], row in zip(replies, rows, strict=True)]
    found: dict[str, Any] = {"prompts": len(seen)}
    for what in ("readable", "oracle/right"):
        share = wilson(round(sum(one[what] for one in seen)), len(seen))
        found[what] = {"estimate": share.estimate, "low": share.low, "high": share.high}
    return found


def short_rows() -> tuple[list[BenchRow], list[BenchRow]]:
    """Short pairs for training and held-out ones, each in a random order, half of them supported."""
    found: dict[bool, list[BenchRow]] = {True: [], False: []}
    for name in ("med", "breaking_nli"):
        for row in known_sets()[name].rows(data_folder(), "train"):
            if isinstance(row, Fault) or row.attributable is None:
                continue
            if max(len(text.split()) for text in (row.text, *row.sources)) <= WORDS:
                found[row.attributable].append(row)
    draw, made = random.Random(0), list[list[BenchRow]]()
    for count in (SFT + PROMPTS, HELD_OUT):
        chosen = [row for rows in found.values() for row in draw.sample(rows, count // 2)]
        draw.shuffle(chosen)
        made.append(chosen)
        used = {(row.text, row.sources) for row in chosen}
        found = {gold: [row for row in rows if (row.text, row.sources) not in used] for gold, rows in found.items()}
    return made[0], made[1]


def asked(row: BenchRow) -> list[dict[str, str]]:
    """The prompt of a row."""
    user = f"Source: {row.sources[0]}\nClaim: {row.text}"
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": user}]


def label(row: BenchRow) -> str:
    """The gold label of a row."""
    return "Attributable" if row.attributable else "Not Attributable"


def record(row: BenchRow) -> str:
    """A record with the gold label."""
    claim, source = (" ".join(text.split()[-3:]) for text in (row.text, row.sources[0]))
    said = "The source says so." if row.attributable else "The source does not say so."
    made: dict[str, Any] = {
        "evidence_alignment": [
            {"claim_span": claim, "source_span": source, "status": "match" if row.attributable else "mismatch"}
        ],
        "reasoning_chain": [
            {
                "claim_part": claim,
                "source_evidence": source,
                "judgment": "supported" if row.attributable else "not_supported",
                "explanation": said,
            }
        ],
        "label": label(row),
        "confidence": 0.9,
    }
    return json.dumps(made)


def write_model(weights: Path, folder: Path) -> None:
    """The weights of a GGUF file as float32, with their tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place, name = weights.parent, weights.name
    AutoTokenizer.from_pretrained(place, gguf_file=name).save_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(place, gguf_file=name, dtype=torch.float32)
    # They are whole numbers no more, but transformers takes them for quantised, and refuses to save them.
    model.hf_quantizer, model.is_quantized = None, False
    del model.quantization_method, model.config.quantization_config
    model.save_pretrained(folder)


if __name__ == "__main__":
    measure() if sys.argv[1] == "measure" else make(Path(sys.argv[2]))
