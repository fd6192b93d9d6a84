"""Tokens a second of language models in this process: two small ones with random weights, on one thread of the CPU.

    python benchmarks/local_generation.py [--before ../OLD/src] [--passes 2] [--output FILE]

Every row has its own prompt of 20 to 200 tokens and its own length of 8 to 24 tokens, drawn alike in every run. The
models are Llamas with the vocabulary that matters for sampling: 8,000 tokens, and 151,936 as Qwen's. ``--before``
names the sources of another version: both versions run in turn, and rows at temperature 0 must get the same tokens.
``continuous`` is transformers' own continuous batching (``generate_batch``) on the same rows at temperature 0; it
generates 24 tokens for each. Tokens are counted per second of processor time of the process, so that other work on
the machine disturbs less; the best pass counts. Not supported: GPUs.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BATCHES, TEMPERATURES = (1, 8, 32), (0.0, 1.0)
SIZES = {
    "small vocabulary": {"vocab_size": 8_000, "hidden_size": 512, "num_hidden_layers": 8, "intermediate_size": 1_408},
    "large vocabulary": {"vocab_size": 151_936, "hidden_size": 192, "num_hidden_layers": 4, "intermediate_size": 512},
}
PROMPT, LENGTH = (20, 200), (8, 24)


def write_model(folder: Path, size: dict[str, int]) -> int:
    """Write a Llama with random weights, whose tokens are "<0>", "<1>", ...; return its number of parameters."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {f"<{number}>": number for number in range(size["vocab_size"])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<0>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<0>", pad_token="<0>").save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        **size,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=2_048,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=0,
        initializer_range=0.1,
    )
    model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    return model.num_parameters()


def rows_of(batch: int, vocabulary: int) -> list[tuple[str, int]]:
    """The prompt and the length of each row."""
    rng = random.Random(batch)
    return [
        (" ".join(f"<{rng.randrange(1, vocabulary)}>" for _ in range(rng.randint(*PROMPT))), rng.randint(*LENGTH))
        for _ in range(batch)
    ]


def measure(folder: Path, vocabulary: int) -> list[dict[str, Any]]:
    """One pass over all batches with the version of ``vouching`` that this process imports."""
    import torch

    from vouching.models import Message, Sampling
    from vouching.models.local import LocalModel

    torch.set_num_threads(1)
    model = LocalModel(folder, device="cpu")

    async def generate(batch: int, temperature: float) -> list[tuple[int, ...]]:
        calls = [
            model.sample((Message("user", prompt),), Sampling(length, temperature, seed=number))
            for number, (prompt, length) in enumerate(rows_of(batch, vocabulary))
        ]
        return [said.completion_ids for [said] in await asyncio.gather(*calls)]

    asyncio.run(generate(1, 1.0))
    found: list[dict[str, Any]] = []
    for batch in BATCHES:
        for temperature in TEMPERATURES:
            started = time.process_time()
            tokens = asyncio.run(generate(batch, temperature))
            seconds = time.process_time() - started
            found.append({"batch": batch, "temperature": temperature, "seconds": seconds, "tokens": tokens})
    asyncio.run(model.aclose())
    return found


def continuous(folder: Path, vocabulary: int) -> dict[str, float]:
    """Tokens a second by transformers' continuous batching, by batch."""
    import torch
    import transformers
    from transformers.generation.configuration_utils import ContinuousBatchingConfig

    torch.set_num_threads(1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    settings = transformers.GenerationConfig(do_sample=False, max_new_tokens=LENGTH[1], eos_token_id=-1, pad_token_id=0)
    memory = ContinuousBatchingConfig(num_blocks=64, max_batch_tokens=512)
    rates: dict[str, float] = {}
    for batch in BATCHES:
        prompts = [tokenizer(prompt)["input_ids"] for prompt, _ in rows_of(batch, vocabulary)]
        started = time.process_time()
        model.generate_batch(prompts, generation_config=settings, continuous_batching_config=memory)
        rates[str(batch)] = round(batch * LENGTH[1] / (time.process_time() - started), 1)
    return rates


def run(what: str, folder: Path, vocabulary: int, sources: Path) -> Any:
    """What a fresh process with these sources of ``vouching`` measures."""
    environment = {**os.environ, "PYTHONPATH": str(sources), "OMP_NUM_THREADS": "1", "TRANSFORMERS_VERBOSITY": "error"}
    command = [sys.executable, __file__, "--only", what, str(folder), str(vocabulary)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def compare(folder: Path, vocabulary: int, versions: dict[str, Path], times: int) -> list[dict[str, Any]]:
    """Tokens a second of each version, by batch and temperature."""
    passes = [{name: run("measure", folder, vocabulary, path) for name, path in versions.items()} for _ in range(times)]
    lines: list[dict[str, Any]] = []
    for place, now in enumerate(passes[0]["now"]):
        count = sum(map(len, now["tokens"]))
        rates = {name: round(count / min(one[name][place]["seconds"] for one in passes), 1) for name in versions}
        line: dict[str, Any] = {"batch": now["batch"], "temperature": now["temperature"], "tokens": count, **rates}
        if "before" in versions:
            line["same_tokens"] = sum(
                ours == theirs for ours, theirs in zip(now["tokens"], passes[0]["before"][place]["tokens"], strict=True)
            )
        lines.append(line)
    return lines


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results/local_generation.json")
    parser.add_argument("--only", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        what, folder, vocabulary = options.only
        print(json.dumps({"measure": measure, "continuous": continuous}[what](Path(folder), int(vocabulary))))
        return
    versions = {"now": Path(__file__).parents[1] / "src"}
    if options.before:
        versions = {"before": options.before.resolve(), **versions}
    record: dict[str, Any] = {
        "command": "python benchmarks/local_generation.py",
        "date": datetime.date.today().isoformat(),
        "machine": f"{platform.machine()}, one thread of {os.cpu_count()} cores, Python {platform.python_version()}",
        "passes": options.passes,
        "unit": "tokens a second of processor time",
    }
    for name, size in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            parameters = write_model(Path(folder), size)
            record[name] = {
                "parameters": parameters,
                "vocabulary": size["vocab_size"],
                "lines": compare(Path(folder), size["vocab_size"], versions, options.passes),
                "continuous": run("continuous", Path(folder), size["vocab_size"], versions["now"]),
            }
            text = json.dumps(record, indent=1) + "\n"
            options.output.write_text(text, encoding="utf-8")
    print(text, end="")


if __name__ == "__main__":
    main()
