"""The memory of a run, computed before it and measured in it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.train import blinded_runs
from tests.train.engine_runs import config, scripted, texts, tokenizer_of, trainer_of
from tests.train.tiny_qwen import write_tiny_qwen
from vouching.errors import ConfigError
from vouching.methods.base import ScriptedSampler
from vouching.methods.training import CriticSettings, LoraSettings, MemorySettings, SamplingSettings

torch = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("trl", reason="the extra train (trl) is not installed")
from transformers import Qwen2Config, Qwen2ForCausalLM  # noqa: E402

from tests.train.live_memory import LiveMemory  # noqa: E402  (needs torch)
from vouching.train.planner import (  # noqa: E402
    RESERVE,
    Shape,
    critic_shape_of,
    plan_lines,
    plan_of,
    read_target,
    shape_of,
)

WIDTH = 60
"""Tokens of every reply."""


def write_model(folder: Path, **shape: Any) -> Path:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    write_tiny_qwen(folder, texts())
    base = {
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "eos_token_id": 0,
        "pad_token_id": 1,
        "bos_token_id": None,
    }
    Qwen2ForCausalLM(Qwen2Config(**base, **shape)).save_pretrained(folder)
    return folder


def measured(settings: Any, out: Path) -> tuple[float, int]:
    """Peak bytes of two steps with replies of equal length, and the longest prompt."""
    model = Path(settings.model)
    tokenizer, said = tokenizer_of(model), scripted(model)
    words = tokenizer("no old aeiou " * WIDTH)["input_ids"]
    sampler = ScriptedSampler(said.script, lambda text: tokenizer(text)["input_ids"], said.end)

    class Equal:
        async def sample(
            self, prompts: Any, role: str, n: int, policy: str = "default", temperature: Any = None
        ) -> Any:
            groups = await sampler.sample(prompts, role, n)
            return [
                [replace(one, completion_ids=(*words[: WIDTH - 1], 0), completion_mask=(1,) * WIDTH) for one in group]
                for group in groups
            ]

    trainer = trainer_of(
        settings, out, sampler=Equal(), activation_checkpointing=settings.memory.activation_checkpointing
    )
    reference = [] if trainer.ref_model is None else [*trainer.ref_model.parameters()]
    memory = LiveMemory([*trainer.model.parameters(), *trainer.model.buffers(), *reference])
    longest = 0

    def see(batch: Any) -> Any:
        nonlocal longest
        longest = max(longest, batch["prompt_ids"].size(1))
        return batch

    play = trainer._generate_and_score_completions
    trainer._generate_and_score_completions = lambda rows: see(play(rows))
    with memory:
        trainer.train()
    return memory.peak, longest


@pytest.mark.parametrize(
    ("shape", "changed"),
    [
        # Narrow and deep without recomputation: activations. A wide vocabulary: logits. Wide: weights and moments.
        (
            {"vocab_size": 512, "hidden_size": 96, "intermediate_size": 1024, "num_hidden_layers": 12},
            {"memory": MemorySettings(activation_checkpointing=False)},
        ),
        ({"vocab_size": 16384, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}, {"kl": 0.1}),
        ({"vocab_size": 512, "hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 4}, {"kl": 0.1}),
        (
            {"vocab_size": 512, "hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 4},
            {"kl": 0.1, "lora": LoraSettings(rank=4, dropout=0.0)},
        ),
    ],
    ids=["deep", "vocabulary", "wide", "adapters"],
)
def test_the_plan_is_within_15_percent_of_the_measured_peak(
    shape: dict[str, Any], changed: dict[str, Any], tmp_path: Path
) -> None:
    torch.set_num_threads(1)
    settings = config(
        write_model(tmp_path / "model", **shape), max_steps=2, sampling={"completion_tokens": WIDTH}, **changed
    )
    peak, prompt = measured(settings, tmp_path / "run")
    exact = replace(settings, sampling=replace(settings.sampling, prompt_tokens=prompt))
    plan = plan_of(exact, shape_of(settings.model, settings.lora), 1, 0.0, reduced=False)
    assert sum(plan.update.values()) == pytest.approx(peak, rel=0.15), (plan.update, peak)


def smol(folder: Path, adapters: bool) -> Path:
    """The configuration of SmolLM2-135M without weights, or adapters of rank 8 on all its layers."""
    from transformers import LlamaConfig

    shape = LlamaConfig(
        vocab_size=49_152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=8192,
        tie_word_embeddings=True,
    )
    shape.save_pretrained(folder / "base")
    if not adapters:
        return folder / "base"
    (folder / "adapters").mkdir()
    layers = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    note = {"base_model_name_or_path": str(folder / "base"), "r": 8, "target_modules": layers}
    (folder / "adapters/adapter_config.json").write_text(json.dumps(note))
    return folder / "adapters"


def test_adapters_of_an_earlier_run_count_as_adapters(tmp_path: Path) -> None:
    shape = shape_of(str(smol(tmp_path, adapters=True)), LoraSettings())
    # A layer: 8 * (q, o: 2 * 1152; k, v: 2 * 768; gate, up, down: 3 * 2112) = 81,408; times 30 layers.
    assert (shape.weights, shape.trained) == (134_515_008, 2_442_240)
    (tmp_path / "adapters/adapter_config.json").write_text(f'{{"base_model_name_or_path": "{tmp_path}/base"}}')
    with pytest.raises(ConfigError, match="cannot read the adapters"):
        shape_of(str(tmp_path / "adapters"), LoraSettings())


def test_the_plan_of_a_cpu_agrees_with_what_a_real_run_took(tmp_path: Path) -> None:
    # GRPO on adapters of SmolLM2, four replies of 520 tokens in all at a time: 7.12 to 7.75 GB of resident memory.
    drawn = SamplingSettings(group_size=4, prompt_tokens=400, completion_tokens=120)
    settings = config(smol(tmp_path, adapters=True), micro_batch=4, batch_prompts=1, device="auto")
    settings = replace(settings, sampling=drawn)
    lines, fits = plan_lines(settings, "cpu:8")
    assert (fits, lines[1]) == (True, "a CPU: 7.2 of 8 GB, fits")
    assert lines[0] == "0.13 billion weights, 0.002 billion trained; a CPU with 8 GB"
    planned = float(lines[1].removeprefix("a CPU: ").partition(" ")[0])
    assert planned == pytest.approx(7.12, rel=0.2)
    assert planned == pytest.approx(7.75, rel=0.2)
    assert plan_lines(replace(settings, device="cpu"), "1:8") == (lines, fits)
    lines, fits = plan_lines(settings, "cpu:4")
    assert not fits
    assert lines[-1] == "to make it fit: shorter prompts and replies; micro_batch=1"


SMALL = Shape(
    weights=3_086_000_000,
    trained=3_086_000_000,
    vocabulary=151_936,
    hidden=2048,
    inner=11_008,
    layers=36,
    queries=2048,
    keys=256,
)
"""Qwen2.5-3B."""


def test_a_whole_model_in_float32_needs_sixteen_bytes_a_weight_and_sharding_divides_them() -> None:
    settings = config(Path("model"), kl=0.001)
    alone = plan_of(settings, SMALL, 2, 48e9).update
    # 4 of weights, 4 of gradients and 8 of moments: 49.4 GB for 3.086 billion; the reference 2 in bfloat16.
    assert (alone["weights"] + alone["gradients"] + alone["optimizer"]) / 1e9 == pytest.approx(49.4, abs=0.1)
    assert alone["reference"] / 1e9 == pytest.approx(6.2, abs=0.1)
    halves = plan_of(settings, SMALL, 2, 48e9, sharded=True).update
    for part in ("weights", "gradients", "optimizer", "reference"):
        assert halves[part] == alone[part] / 2
    eight = replace(settings, memory=MemorySettings(optimizer="adamw_8bit"))
    assert plan_of(eight, SMALL, 2, 48e9).update["optimizer"] == alone["optimizer"] / 4
    adapters = replace(settings, lora=LoraSettings(rank=64))
    few = plan_of(adapters, replace(SMALL, trained=120_000_000), 1, 48e9).update
    assert few["reference"] == 0  # the base without adapters is the reference
    assert few["weights"] / 1e9 == pytest.approx(2 * 3.086 + 4 * 0.12)


def test_vllm_that_sleeps_is_not_there_during_the_update() -> None:
    drawn = SamplingSettings(engine="vllm", group_size=4)
    settings = replace(config(Path("model")), sampling=drawn, memory=MemorySettings(vllm_share=0.25))
    asleep = plan_of(settings, SMALL, 1, 80e9)
    assert "vllm" not in asleep.update
    assert asleep.sampling["vllm"] == 20e9
    awake = plan_of(replace(settings, memory=MemorySettings(vllm_share=0.25, vllm_sleep=False)), SMALL, 1, 80e9)
    assert awake.update["vllm"] == 20e9


def test_a_run_that_does_not_fit_is_refused_with_advice_before_anything_is_loaded(tmp_path: Path) -> None:
    model = write_tiny_qwen(tmp_path / "model", texts())
    (model / "model.safetensors").unlink()  # only its configuration is read
    settings = config(model, kl=0.1, micro_batch=8, device="auto")
    lines, fits = plan_lines(settings, "2:48")
    assert fits
    assert "torchrun: a whole model on each GPU: " in lines[1]
    assert lines[1].endswith("of 48 GB per GPU, fits")
    lines, fits = plan_lines(settings, f"1:{RESERVE / 1e9}GB")
    assert not fits
    assert lines[1].endswith("does not fit")
    assert "memory.optimizer=adamw_8bit" in lines[-1]


def test_a_share_that_vllm_cannot_start_in_is_refused(tmp_path: Path) -> None:
    model = write_tiny_qwen(tmp_path / "model", texts())
    drawn = SamplingSettings(engine="vllm", group_size=4)
    settings = replace(config(model), sampling=drawn, memory=MemorySettings(vllm_share=1e-6))
    lines, fits = plan_lines(settings, "1:80")
    assert not fits
    assert lines[-2].startswith("vLLM does not start: weights and one sequence of 2,560 tokens need ")


@pytest.mark.parametrize("text", ["2", "0:80", "2:-1", "two:80", "2:inf", "2:"])
def test_a_target_that_is_no_number_of_gpus_and_gigabytes_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match="GPUS:MEMORY in gigabytes, such as 2:48"):
        read_target(text)


def test_eight_bit_moments_need_bitsandbytes(tmp_path: Path) -> None:
    from importlib.util import find_spec

    if find_spec("bitsandbytes") is not None:
        pytest.skip("bitsandbytes is installed")
    with pytest.raises(ConfigError, match="pip install bitsandbytes"):
        trainer_of(config(tmp_path, memory=MemorySettings(optimizer="adamw_8bit")), tmp_path)


@pytest.mark.parametrize(("rank", "adapters"), [(0, 0), (4, 0), (4, 4)], ids=["whole", "adapters", "shared layers"])
def test_the_plan_of_a_run_with_a_critic_is_within_15_percent_of_the_measured_peak(
    rank: int, adapters: int, tmp_path: Path
) -> None:
    torch.set_num_threads(1)
    blinded_runs.write_model(tmp_path / "model")  # for its tokenizer
    wide = Qwen2Config(
        vocab_size=512,
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        eos_token_id=0,
        pad_token_id=1,
        bos_token_id=None,
        tie_word_embeddings=True,
    )
    Qwen2ForCausalLM(wide).save_pretrained(tmp_path / "model")
    settings = blinded_runs.ppo(
        tmp_path / "model",
        micro_batch=1,
        batch_prompts=1,
        lora=LoraSettings(rank=adapters, dropout=0.0),
        critic=CriticSettings(learning_rate=1e-3, warmup_steps=1, rank=rank),
    )
    trainer = trainer_of(
        settings,
        tmp_path / "run",
        blinded_runs.game(),
        blinded_runs.ROWS,
        blinded_runs.talk(tmp_path / "model"),
        activation_checkpointing=True,
    )
    critic = trainer.table.critic.model
    memory = LiveMemory([*trainer.model.parameters(), *trainer.model.buffers(), *critic.parameters()])
    lengths: list[int] = []
    play = trainer._generate_and_score_completions

    def see(inputs: Any) -> Any:
        batch = play(inputs)
        lengths.append(int((batch["prompt_mask"].sum(-1) + batch["completion_mask"].sum(-1)).max()))
        return batch

    trainer._generate_and_score_completions = see
    with memory:
        trainer.train()
    sampling = replace(settings.sampling, prompt_tokens=max(lengths) - 1, completion_tokens=1)
    plan = plan_of(
        replace(settings, sampling=sampling),
        shape_of(settings.model, settings.lora),
        1,
        0.0,
        reduced=False,
        critic=critic_shape_of(settings),
    )
    peak = max(sum(plan.update.values()), sum(plan.critic.values()))
    assert peak == pytest.approx(memory.peak, rel=0.15), (plan, memory.peak)


def test_a_critic_with_adapters_uses_the_frozen_layers_of_a_policy_with_adapters(tmp_path: Path) -> None:
    model = blinded_runs.write_model(tmp_path / "model")
    settings = blinded_runs.ppo(model, lora=LoraSettings(rank=4, dropout=0.0), critic=CriticSettings(rank=4))
    trainer = trainer_of(settings, tmp_path / "run", blinded_runs.game(), blinded_runs.ROWS, blinded_runs.talk(model))
    policy = {weight.data_ptr() for weight in trainer.model.parameters() if not weight.requires_grad}
    critic = trainer.table.critic.model
    frozen = {name: weight for name, weight in critic.named_parameters() if not weight.requires_grad}
    assert {weight.data_ptr() for name, weight in frozen.items() if "score" not in name} <= policy
    before = {name: weight.detach().clone() for name, weight in critic.named_parameters()}
    trainer.train()
    moved = {name for name, weight in critic.named_parameters() if not torch.equal(weight, before[name])}
    assert moved
    assert not moved & frozen.keys()  # only its adapters and its head learn
    assert critic_shape_of(settings).trained < shape_of(settings.model, LoraSettings()).weights / 5


def test_tied_weights_count_once(tmp_path: Path) -> None:
    model = write_tiny_qwen(tmp_path / "model", texts())
    from transformers import AutoModelForCausalLM

    held = {weight.data_ptr(): weight.numel() for weight in AutoModelForCausalLM.from_pretrained(model).parameters()}
    assert shape_of(str(model), LoraSettings()).weights == sum(held.values())
