"""The training engine compared with TRL's trainer on one GPU: tokens per second and memory, in the same run.

    python benchmarks/engine_gpu.py [--engine hf] [--steps 8] [--rounds 3] [--output benchmarks/results/engine_gpu.json]
    python benchmarks/engine_gpu.py --engine vllm --only vouch      (and --only trl: vLLM is loaded once per process)
    python benchmarks/engine_gpu.py --rehearse --rounds 1 --steps 3 (two layers on a CPU: whether the script runs)

A model in the shape of Qwen2.5-0.5B (24 layers, hidden size 896, 494 M weights) with random weights, in bfloat16; 64
rollouts per step, prompts of about 300 tokens and completions of at most 256. The tokenizer is generated, so nothing is
downloaded. Trainers alternate; reported is the median over the rounds, without the first two steps of a run: tokens per
second, seconds of a step and of its sampling, and the peak of memory beside that of the plan (``train/planner.py``).
Not supported: several GPUs; whether the model learns.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from engine import SKIPPED, stock  # noqa: E402  (benchmarks/engine.py)

from tests.train.engine_runs import config, trainer_of  # noqa: E402
from tests.train.tiny_qwen import write_tiny_qwen  # noqa: E402
from vouching.methods.structured.game import StructuredGame, score_by  # noqa: E402
from vouching.train.planner import plan_of, shape_of  # noqa: E402

OURS_AND_TRLS = ("vouch", "trl")
OUTPUT = Path(__file__).parent / "results/engine_gpu.json"
WORDS = "the bridge over river was built in by of city old stone a new tower near harbour opened closed year".split()


def write_half_billion(folder: Path, data: Sequence[dict[str, Any]]) -> Path:
    """Qwen2.5-0.5B's shape and a tokenizer of 512 tokens; the vocabulary of the model is the published one."""
    from transformers import Qwen2Config, Qwen2ForCausalLM

    write_tiny_qwen(folder, [row["prompt"][0]["content"] for row in data])
    torch.manual_seed(0)
    shape = Qwen2Config(
        vocab_size=151_936,
        hidden_size=896,
        intermediate_size=4864,
        num_hidden_layers=24,
        num_attention_heads=14,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        eos_token_id=0,
        pad_token_id=1,
        bos_token_id=None,
    )
    Qwen2ForCausalLM(shape).to(torch.bfloat16).save_pretrained(folder)
    return folder


def prompts(count: int) -> list[dict[str, Any]]:
    """Rows of some hundred tokens."""
    return [
        {
            "id": str(row),
            "gold": ("Attributable", "Not Attributable")[row % 2],
            "prompt": [{"role": "user", "content": " ".join(WORDS[(row + at * 7) % len(WORDS)] for at in range(200))}],
        }
        for row in range(count)
    ]


def measured(trainer: Any) -> dict[str, float]:
    """Tokens a second, seconds a step, and the peak of memory of one run."""
    from transformers import TrainerCallback

    class Clock(TrainerCallback):
        def __init__(self) -> None:
            self.ends: list[tuple[float, int]] = []

        def on_step_end(self, args: Any, state: Any, *_: Any, **__: Any) -> None:
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            self.ends.append((time.perf_counter(), int(state.num_input_tokens_seen)))

    clock, sampled = Clock(), sampling_clock(trainer)
    trainer.add_callback(clock)
    gpu = torch.cuda.is_available()
    if gpu:
        torch.cuda.reset_peak_memory_stats()
    trainer.train()
    (begin, read), (end, all_read) = clock.ends[SKIPPED - 1], clock.ends[-1]
    return {
        "tokens_per_second": (all_read - read) / (end - begin),
        "seconds_of_a_step": (end - begin) / (len(clock.ends) - SKIPPED),
        **({"seconds_of_sampling": statistics.mean(sampled[SKIPPED:])} if sampled else {}),
        **({"peak_gigabytes": torch.cuda.max_memory_allocated() / 1e9} if gpu else {}),
    }


def sampling_clock(trainer: Any) -> list[float]:
    """Seconds that each call of a game's sampler takes, filled as they are made; empty for TRL's trainer."""
    seconds: list[float] = []
    if not hasattr(trainer, "table"):
        return seconds
    sample = trainer.table.sampler.sample

    async def timed(*args: Any, **named: Any) -> Any:
        begin = time.perf_counter()
        try:
            return await sample(*args, **named)
        finally:
            seconds.append(time.perf_counter() - begin)

    trainer.table.sampler.sample = timed
    return seconds


def read_options() -> argparse.Namespace:
    """The options, refused where they do not fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--engine", choices=("hf", "vllm"), default="hf")
    parser.add_argument("--only", choices=("vouch", "trl"), help="default: both in turn")
    parser.add_argument("--rehearse", action="store_true", help="a small model on a CPU; nothing is written")
    options = parser.parse_args()
    if options.engine == "vllm" and options.only is None:
        parser.error("--engine vllm requires --only vouch or --only trl: two engines do not fit into one process")
    if not (options.rehearse or torch.cuda.is_available()):
        parser.error("there is no GPU here; benchmarks/engine.py measures on a CPU")
    return options


def main() -> None:
    """Alternate the runs, write the results."""
    options = read_options()
    found: dict[str, list[dict[str, float]]] = {who: [] for who in ([options.only] if options.only else OURS_AND_TRLS)}
    with tempfile.TemporaryDirectory() as name:
        folder, data = Path(name), prompts(64)
        if options.rehearse:
            model = write_tiny_qwen(folder / "model", [row["prompt"][0]["content"] for row in data], context=2048)
        else:
            model = write_half_billion(folder / "model", data)
        settings = config(
            model,
            device="cpu" if options.rehearse else "cuda",
            precision="bfloat16",
            batch_prompts=8,
            micro_batch=16,
            max_steps=options.steps,
            epochs=9.0,
            sampling={
                "group_size": 2 if options.rehearse else 8,
                "prompt_tokens": 1024,
                "engine": options.engine,
                "completion_tokens": 8 if options.rehearse else 256,
            },
        )
        memory = 0.0 if options.rehearse else float(torch.cuda.get_device_properties(0).total_memory)
        plan = plan_of(settings, shape_of(str(model), settings.lora), 1, memory, reduced=not options.rehearse)
        for _ in range(options.rounds):
            makers = {
                "vouch": lambda: trainer_of(
                    settings, folder / "ours", StructuredGame(settings.sampling.group_size, score_by()), data
                ),
                "trl": lambda: stock(settings, folder / "stock", data),
            }
            for who in found:
                found[who].append(measured(makers[who]()))
                torch.cuda.empty_cache()
                sys.stderr.write(f"{who}: {found[who][-1]}\n")
    medians = {
        who: {name: round(statistics.median(run[name] for run in runs), 3) for name in runs[0]}
        for who, runs in found.items()
    }
    record = {
        "command": f"python benchmarks/engine_gpu.py --engine {options.engine}",
        "date": f"{datetime.date.today():%Y-%m-%d}",
        "torch": torch.__version__,
        "rounds": options.rounds,
        "device": "cpu" if options.rehearse else torch.cuda.get_device_name(),
        "planned_gigabytes": round(plan.peak / 1e9, 3),
        **medians,
    }
    if not options.rehearse:
        options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
