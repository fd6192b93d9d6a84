"""A step of each game with a real model, SmolLM2-135M-Instruct, whose weights come from its GGUF file.

The model is tiny, and its short replies earn next to nothing, so the tests ask whether a run with a real tokenizer and
chat template plays, learns a step, and saves adapters that can be loaded; not whether anything gets better.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
pytest.importorskip("peft", reason="the extra train (peft) is not installed")
pytest.importorskip("gguf", reason="the package gguf is not installed: run make .venv/.llama")
from recipes.structured.smollm2 import write_model  # noqa: E402
from tests.models.real_llama import smollm2  # noqa: E402
from tests.train.checklist_rows import CHECKLISTS, GOLD_ROWS  # noqa: E402
from tests.train.trial import QUESTIONS, TASKS  # noqa: E402  (needs torch)

WEIGHTS = smollm2()
CLAIM = (
    "Source: The bridge opened in 1973. Claim: The bridge opened in {}. Reply with Attributable or Not Attributable."
)
CLAIMS = [
    {"id": year, "gold": gold, "prompt": [{"role": "user", "content": CLAIM.format(year)}]}
    for year, gold in (("1973", "Attributable"), ("1937", "Not Attributable"))
]
ROWS = {"structured": CLAIMS, "checklist": CHECKLISTS[:2], "assurance": TASKS[:2], "blinded": QUESTIONS[:2]}
CHANGED = {
    "structured": ["kl=0", "sampling.group_size=2", "sampling.prompt_tokens=128"],
    "checklist": ["checklist.votes=2", "sampling.prompt_tokens=300"],
    "assurance": ["kl=0"],
    "blinded": ["sampling.prompt_tokens=900"],
}
ROLES = {
    "structured": {"verifier"},
    "checklist": {"generator", "verifier"},
    "assurance": {"generator", "verifier"},
    "blinded": {"solver"},  # its replies are too short to be asked about
}
PEAK = {"structured": 2, "checklist": 4, "assurance": 9, "blinded": 5}
"""GB that a run needs at its peak, rounded up."""
SMALL = ["lora.rank=4", "max_steps=1", "batch_prompts=2", "micro_batch=2", "watch.transcripts=9", "device=cpu"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smollm2")
    write_model(WEIGHTS, folder)
    return folder


@pytest.mark.parametrize("method", ROWS)
def test_a_step_of_each_game_with_a_real_model_is_played_logged_and_saved(
    method: str, model: Path, tmp_path: Path
) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    if (free := free_memory()) < PEAK[method] + 1:
        pytest.skip(f"needs {PEAK[method] + 1} GB of free memory, there are {free:.1f}")
    settings = [f"model={model}", f"rows={json.dumps([written(tmp_path / 'rows.jsonl', ROWS[method])])}"]
    if method == "checklist":
        settings.append(f"checklist.gold={json.dumps([written(tmp_path / 'gold.jsonl', GOLD_ROWS[:4])])}")
    out, config = tmp_path / "run", f"recipes/{method}/tiny.toml"
    words = ["train", method, config, *settings, *SMALL, *CHANGED[method], "--out", str(out)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "vouching", *words], capture_output=True, text=True, timeout=1800, env=environment
    )
    assert done.returncode == 0, done.stderr
    [step] = map(json.loads, (out / "metrics.jsonl").read_text("utf-8").splitlines())
    assert math.isfinite(step["loss"])
    said = [json.loads(line) for line in (out / "transcripts.jsonl").read_text("utf-8").splitlines()]
    assert {one["role"] for one in said} == ROLES[method]
    assert all("<|im_start|>assistant" in one["prompt"] for one in said)
    assert any(one["text"].strip() for one in said)
    for adapters in (out / "model").rglob("adapter_config.json"):
        base = AutoModelForCausalLM.from_pretrained(model)
        loaded = PeftModel.from_pretrained(base, str(adapters.parent))
        assert all(torch.isfinite(weights).all() for weights in loaded.state_dict().values())
    assert [*(out / "model").rglob("adapter_config.json")]


def free_memory() -> float:
    """GB of memory that are free or can be freed; endless where the system does not say."""
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text("utf-8"))
    except OSError:
        found = None
    return int(found[1]) / 1e6 if found else math.inf


def written(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)
