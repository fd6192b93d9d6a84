# pyright: basic
"""``vouch train METHOD CONFIG --plan GPUS:MEMORY``: the memory of a run, part by part, before anything is loaded.

    weights      float32, computed in bfloat16; frozen ones below adapters in bfloat16       4 P, or 2 P + 4 T
    gradients    float32                                                                     4 T
    optimizer    two moments: float32 (adamw), 8 bits (adamw_8bit), on the host if paged     8 T, 2 T, 0
    reference    bfloat16 copy where there is a KL term and no adapters                      2 P
    critic       weights and moments in float32; with adapters 12 bytes for each trained     12 P, or 2 P + 12 T
                 weight and frozen ones in bfloat16, or none where they are the policy's     12 T
    casts        bfloat16 copies of the trained weights during a forward pass                2 T
    activations  of a piece of ``micro_batch`` rows at the longest length; with checkpointing one layer and its inputs
    logits       TRL's tile of 4,096 tokens by 32,768 words, and the gradient of the output layer
    vllm         its share of the GPU; key and value cache of one batch where the model itself samples

P are all weights, T the trained ones. Weights, gradients, moments, reference and critic are divided by the GPUs where
the run is sharded (FSDP2, ZeRO-3). Sampling, the critic's update and the policy's do not coincide; the largest counts.
TRL shards the reference as one piece, so while it computes, all of it is gathered on every GPU. Adapters of an earlier
run that are trained further count as adapters. On a CPU everything is in float32 and activations are kept. Tested
within 15 % of the measured peak of tensors on a CPU; allow for libraries, the context of CUDA and fragmentation
(``RESERVE``). Not supported: mixtures of experts, quantised weights, offloading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError
from vouching.methods.training import CriticSettings, GrpoConfig, LoraSettings
from vouching.text.json_values import parse_json
from vouching.train.extra import base_of, imported
from vouching.train.policy import ADAPTER, adapter_base
from vouching.train.sft import SftConfig

GB = 1e9
RESERVE = 1.5 * GB
"""Of a GPU: CUDA's context, NCCL's buffers. Of a CPU: the libraries, and what the allocator keeps."""
TILE_TOKENS, TILE_WORDS = 4096, 32768
"""TRL's tile of logits (``trl.kernels.chunked_logprob``)."""
NEAR = 0.9
"""Share of the memory from which a plan is a warning."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the memory of a model depends on."""

    weights: int
    trained: int
    """Weights that learn: all, or those of the adapters."""
    vocabulary: int
    hidden: int
    inner: int
    """Width of the feed-forward layer."""
    layers: int
    queries: int
    """Width of all query heads."""
    keys: int
    """Width of all key heads."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Bytes on each GPU by part."""

    update: dict[str, float]
    sampling: dict[str, float]
    critic: dict[str, float] = field(default_factory=dict[str, float])
    """While the critic learns; empty if there is none."""

    @property
    def peak(self) -> float:
        """Of the largest phase."""
        return max(sum(phase.values()) for phase in (self.update, self.sampling, self.critic))


def shape_of(named: str, lora: LoraSettings, head: str = "AutoModelForCausalLM") -> Shape:
    """The shape of a model, from its configuration alone. Raises ConfigError if it cannot be read."""
    transformers, accelerate = imported("transformers"), imported("accelerate")
    try:
        config = transformers.AutoConfig.from_pretrained(_folder(named))
        with accelerate.init_empty_weights():
            model = getattr(transformers, head).from_config(config)
        model.tie_weights()  # which making them empty undoes
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(f"cannot read the configuration of {named} ({error}): set model=") from error
    lora = _adapters(named, lora)
    weights = sum(weight.numel() for weight in {id(one): one for one in model.parameters()}.values())
    adapted = [
        layer.in_features + layer.out_features
        for name, layer in model.named_modules()
        if name.rpartition(".")[2] in lora.modules and hasattr(layer, "in_features")
    ]
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return Shape(
        weights,
        lora.rank * sum(adapted) if lora.rank else weights,
        config.vocab_size,
        config.hidden_size,
        config.intermediate_size,
        config.num_hidden_layers,
        head * config.num_attention_heads,
        head * (getattr(config, "num_key_value_heads", None) or config.num_attention_heads),
    )


def critic_shape_of(config: GrpoConfig | SftConfig) -> Shape | None:
    """The shape of a run's critic, or None. Raises ConfigError if its configuration cannot be read."""
    settings = _critic_settings(config)
    if settings is None:
        return None
    return shape_of(settings.model or config.model, LoraSettings(rank=settings.rank), "AutoModelForTokenClassification")


def _critic_settings(config: GrpoConfig | SftConfig) -> CriticSettings | None:
    return getattr(config, "critic", None)


def _adapters(named: str, lora: LoraSettings) -> LoraSettings:
    """The adapters that are trained: those of the settings, or those that the model already has."""
    note = Path(base_of(named)) / ADAPTER
    if lora.rank or not note.is_file():
        return lora
    try:
        found = parse_json(note.read_text(encoding="utf-8"))
        return replace(lora, rank=found["r"], modules=tuple(found["target_modules"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"cannot read the adapters of {named} ({error}): set model=") from error


def _folder(named: str) -> str:
    """Where the configuration of a model is; that of its base for adapters."""
    place = base_of(named)
    return adapter_base(Path(place)) if (Path(place) / ADAPTER).is_file() else place


def plan_of(
    config: GrpoConfig | SftConfig,
    shape: Shape,
    gpus: int,
    memory: float,
    sharded: bool = False,
    reduced: bool = True,
    critic: Shape | None = None,
) -> MemoryPlan:
    """The memory of a run on each GPU.

    Args:
        config: the settings.
        shape: of the model.
        gpus: how many share the run.
        memory: bytes of each.
        sharded: whether weights, gradients, moments and reference are divided among them.
        reduced: whether the arithmetic is in bfloat16; False on a CPU.
        critic: its shape, if there is one.
    """
    parts, half, lora = gpus if sharded else 1, 2 if reduced else 4, shape.trained < shape.weights
    game = isinstance(config, GrpoConfig)
    moments = {"adamw": 8, "adamw_8bit": 2, "paged_adamw_8bit": 0}[_optimizer(config)]
    frozen = half * shape.weights if lora else 0
    held = {
        "weights": (frozen + 4 * shape.trained) / parts,
        "optimizer": moments * shape.trained / parts,
        "reference": half * shape.weights / parts if game and config.kl and not lora else 0.0,
        "critic": 0.0 if critic is None else _critic(config, critic, parts, half, lora),
    }
    rows = config.micro_batch
    length = config.sampling.prompt_tokens + config.sampling.completion_tokens if game else config.max_tokens
    update = {
        **held,
        "gradients": 4 * shape.trained / parts,
        "casts": 0 if lora or not reduced else 2 * (_gathered(shape) if sharded else shape.weights),
        **_pass(config, shape, rows * length, reduced, lora),
    }
    if not game:
        return MemoryPlan(update, held)
    drawn, settings = config.sampling, config.memory
    share = settings.vllm_share * memory if drawn.engine == "vllm" else 0.0
    if share and not settings.vllm_sleep:
        update["vllm"] = share
    said = max(1, config.batch_prompts // gpus) * drawn.group_size
    cache = said * (length * shape.layers * 2 * shape.keys * half + 3 * 4 * shape.vocabulary)
    # The model itself samples with all its weights, and TRL's reference computes with all of its own.
    whole = half * shape.weights if sharded and (drawn.engine == "hf" or held["reference"]) else 0.0
    if drawn.engine == "hf":
        sampling = {**held, "cache": cache, "gathered weights": whole}
    else:
        sampling = {**held, **({"vllm": share} if share >= whole else {"gathered weights": whole})}
    learning: dict[str, float] = {}
    if critic is not None:
        grown, adapted = 4 * critic.trained / parts, critic.trained < critic.weights
        activations = _pass(config, critic, rows * length, reduced, adapted)["activations"]
        learning = {**held, "critic gradients": grown, "activations": activations}
    return MemoryPlan(update, sampling, learning)


def _critic(config: GrpoConfig | SftConfig, critic: Shape, parts: int, half: int, lora: bool) -> float:
    """Bytes of a critic between its updates."""
    adapted, settings = critic.trained < critic.weights, _critic_settings(config)
    named = settings is not None and settings.model
    shares = adapted and parts == 1 and lora and not named
    frozen = 0 if shares or not adapted else half * critic.weights
    return (frozen + 12 * critic.trained) / parts


def _gathered(shape: Shape) -> float:
    """Weights that are whole at a time where they are sharded: a layer, the embedding and the head."""
    return shape.weights / shape.layers + shape.vocabulary * shape.hidden


def _pass(config: GrpoConfig | SftConfig, shape: Shape, tokens: int, reduced: bool, lora: bool) -> dict[str, float]:
    """Activations and logits of a forward and backward pass over a piece."""
    half, stream = (2 if reduced else 4), (2 if reduced and lora else 4)
    layer = tokens * (half * (4 * shape.inner + 2 * shape.queries + 2 * shape.keys) + 4 * 6 * shape.hidden)
    tile, words = min(tokens, TILE_TOKENS), min(shape.vocabulary, TILE_WORDS)
    logits = tile * TILE_WORDS * half + 4 * shape.vocabulary * shape.hidden
    if not reduced:  # without Triton the tile is worked on by torch, in seven arrays
        logits += 7 * 4 * tile * words
    inputs = shape.layers * tokens * stream * shape.hidden
    if _checkpointing(config):
        return {"activations": inputs + max(0.0, layer - logits), "logits": logits}
    return {"activations": shape.layers * layer, "logits": logits}


def _optimizer(config: GrpoConfig | SftConfig) -> str:
    return config.memory.optimizer if isinstance(config, GrpoConfig) else config.optimizer


def _checkpointing(config: GrpoConfig | SftConfig) -> bool:
    return config.memory.activation_checkpointing if isinstance(config, GrpoConfig) else config.gradient_checkpointing


def read_target(text: str) -> tuple[int, float]:
    """GPUs and bytes of each; 0 GPUs are a CPU.

    >>> read_target("8:80GB"), read_target("cpu:16")
    ((8, 80000000000.0), (0, 16000000000.0))

    Raises:
        ConfigError: it is not GPUS:MEMORY.
    """
    gpus, _, memory = text.partition(":")
    cpu, gpus = gpus == "cpu", gpus.replace("cpu", "1")
    number = memory.upper().removesuffix("GB").strip()
    try:
        found = int(gpus), float(number) * GB
    except ValueError:
        found = (0, 0.0)
    if not (found[0] > 0 and 0 < found[1] < float("inf")):
        raise ConfigError(f"a plan must have the form GPUS:MEMORY in gigabytes, such as 2:48 or cpu:16, got {text!r}")
    return (0, found[1]) if cpu else found


def plan_lines(config: Any, target: str) -> tuple[list[str], bool]:
    """The plan of a run as lines of text, and whether it fits in some way of starting it.

    Raises:
        ConfigError: the target cannot be read, the model's configuration cannot, or the method has no plan.
    """
    gpus, memory = read_target(target)
    if not isinstance(config, GrpoConfig | SftConfig):
        raise ConfigError("a plan is not supported for this method: use it for sft and for the games")
    shape, critic = shape_of(config.model, config.lora), critic_shape_of(config)
    cpu = not gpus or config.device == "cpu"
    if cpu and isinstance(config, GrpoConfig):
        config = replace(config, memory=replace(config.memory, activation_checkpointing=False))
    elif cpu:
        config = replace(config, gradient_checkpointing=False)
    ways = [("a CPU", False)] if cpu else [("torchrun: a whole model on each GPU", False)]
    ways += [("FSDP2 or ZeRO-3: sharded", True)] if gpus > 1 and not cpu else []
    lines = [
        f"{shape.weights / GB:.2f} billion weights, {shape.trained / GB:.3f} billion trained; "
        f"{'a CPU with' if cpu else f'{gpus} x'} {memory / GB:.0f} GB"
    ]
    fits = False
    for name, sharded in ways:
        plan = plan_of(config, shape, max(gpus, 1), memory, sharded, reduced=not cpu, critic=critic)
        needed = plan.peak + RESERVE
        verdict = "does not fit" if needed > memory else "fits barely" if needed > NEAR * memory else "fits"
        fits = fits or needed <= memory
        lines.append(f"{name}: {needed / GB:.1f} of {memory / GB:.0f} GB{' per GPU' * (not cpu)}, {verdict}")
        lines += [f"  update: {_listed(plan.update)}", f"  sampling: {_listed(plan.sampling)}"]
        lines += [f"  critic's update: {_listed(plan.critic)}"] if plan.critic else []
    if (short := _short_of(config, shape, memory)) is not None:
        lines, fits = [*lines, short], False
    if not fits:
        lines.append(f"to make it fit: {'; '.join(_advice(config, shape, cpu))}")
    return lines, fits


def _short_of(config: GrpoConfig | SftConfig, shape: Shape, memory: float) -> str | None:
    """Why vLLM would not start in its share: it needs the weights and the cache of one sequence."""
    if not isinstance(config, GrpoConfig) or config.sampling.engine != "vllm":
        return None
    settings, drawn = config.memory, config.sampling
    length = settings.vllm_length or 2 * (drawn.prompt_tokens + drawn.completion_tokens)
    needed = (2 * shape.weights + length * shape.layers * 4 * shape.keys) / settings.vllm_parallel
    if needed <= settings.vllm_share * memory:
        return None
    return (
        f"vLLM does not start: weights and one sequence of {length:,} tokens need {needed / GB:.1f} GB, its share is "
        f"{settings.vllm_share * memory / GB:.1f} GB: raise memory.vllm_share or vllm_parallel, or lower vllm_length"
    )


def _listed(parts: dict[str, float]) -> str:
    return ", ".join(f"{name} {size / GB:.1f}" for name, size in parts.items() if size >= 0.05 * GB) or "below 0.1"


def _advice(config: GrpoConfig | SftConfig, shape: Shape, cpu: bool) -> Sequence[str]:
    found = ["shorter prompts and replies"] if cpu else ["more GPUs, sharded"]
    table = "memory." if isinstance(config, GrpoConfig) else ""
    if _optimizer(config) == "adamw" and not cpu:
        found.append(f"{table}optimizer=adamw_8bit")
    if not _checkpointing(config) and not cpu:
        found.append("recomputed activations")
    if shape.trained == shape.weights:
        found.append("adapters (lora.rank=64)")
    if (settings := _critic_settings(config)) is not None and not settings.rank:
        found.append("adapters of the critic (critic.rank=64), or a smaller critic.model")
    if config.micro_batch > 1:
        found.append("micro_batch=1")
    return found
