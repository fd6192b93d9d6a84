# pyright: basic
"""TRL's ``GRPOTrainer`` with a game in its one hook. The one file that knows TRL's private names.

TRL asks ``_generate_and_score_completions`` for a batch; here a game is played instead, through TRL's own generation
(transformers, vLLM in the process, a vLLM server), and TRL computes loss and update. What is done beside that:

- advantages are computed here, by the deviation that is asked for, and may differ from token to token;
- processes are evened out with rows that are masked as a whole, and losses that average over rows make up for them;
- the divergence from the reference may be k1, taken off the advantages, instead of TRL's k3 in the loss;
- a checkpoint holds all that a run needs to go on exactly, and is written only where new rollouts are drawn next;
- a gradient that is no number ends the run before it reaches the weights.

Departure: k1 is that of each token, without what later tokens diverge. Left out: TRL's ``reward_funcs`` and
``evaluate``, images, tools, a second adapter. ``bnpo`` is a mean in each batch of a process: one that holds nothing but
padding counts as 0. Tried with TRL 1.16.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from vouching.errors import BackendError, ConfigError, TrainingError
from vouching.models.base import Message
from vouching.train.engine_batch import ROW_MEANS, amounts_of, importance_ratio, role_factors, to_arrays
from vouching.train.engine_figures import figures
from vouching.train.engine_table import Round, Table
from vouching.train.rank_model import imported
from vouching.types import Rollout

STATE = "engine.json"
"""In a checkpoint: the state of what TRL does not know."""


class PolicySampler:
    """TRL's generation as a sampler."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    async def sample(
        self, prompts: Sequence[Sequence[Message]], role: str, n: int, policy: str = "default"
    ) -> list[list[Rollout]]:
        """Completions drawn from the policy as it is now."""
        trainer, version = self._trainer, self._version(policy)
        asked = [ids for ids in encoded(trainer.processing_class, prompts) for _ in range(n)]
        try:
            said, logprobs = trainer._generate_single_turn(asked, None, {}, 1)
        except RuntimeError as error:
            if "probability tensor" not in str(error):  # torch's words; a GPU ends the process itself
                raise
            raise _lost(trainer) from error
        texts = trainer.processing_class.batch_decode(said, skip_special_tokens=True)
        ends = {*trainer.eos_token_ids}
        rollouts = [
            Rollout(
                role, (*ids,), (*tokens,), (1,) * len(tokens),
                None if logprobs is None else tuple(math.nan if x is None else x for x in logprobs[at]),
                "stop" if tokens and tokens[-1] in ends else "length",
                text=text, policy=policy, policy_version=version,
            )
            for at, (ids, tokens, text) in enumerate(zip(asked, said, texts, strict=True))
        ]  # fmt: skip
        return [rollouts[at : at + n] for at in range(0, len(rollouts), n)]

    async def forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = "default") -> Rollout:
        """A completion that is given, ended as the policy would end it."""
        trainer, version = self._trainer, self._version(policy)
        tokenizer = trainer.processing_class
        said = (*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id)
        [asked] = encoded(tokenizer, [prompt])
        return Rollout(role, (*asked,), said, (1,) * len(said), None, "forced", text=text, policy=policy,
                       policy_version=version)  # fmt: skip

    def _version(self, policy: str) -> int:
        if policy != "default":
            raise ConfigError(f"there is one policy, 'default', and the game asks for {policy!r}")
        return self._trainer.state.global_step


def encoded(tokenizer: Any, prompts: Sequence[Sequence[Message]]) -> list[list[int]]:
    """Token ids of prompts, as TRL makes them."""
    if not prompts:
        return []
    messages = [[{"role": one.role, "content": one.content} for one in prompt] for prompt in prompts]
    return tokenizer.apply_chat_template(
        conversation=messages, add_generation_prompt=True, tokenize=True, return_dict=True
    )["input_ids"]


def gathered(values: Sequence[Any]) -> list[Any]:
    """The members of the lists of all processes, in their order."""
    return imported("accelerate.utils").gather_object([*values])


class Order:
    """TRL's order of the rows, the same in an epoch whether or not the epochs before it were run through.

    Args:
        inner: TRL's sampler.
        epoch: tells which epoch begins, from 0.
    """

    def __init__(self, inner: Any, epoch: Callable[[], int]) -> None:
        self._inner, self._epoch = inner, epoch

    def __iter__(self) -> Iterator[int]:
        inner = self._inner
        inner.generator.manual_seed(inner.seed)
        for _ in range(self._epoch()):
            imported("torch").randperm(inner.num_samples, generator=inner.generator)
        return iter(inner)

    def __len__(self) -> int:
        return len(self._inner)


@cache
def trainer_class() -> Any:
    """The trainer; a class made late, since TRL takes seconds to load and need not be there."""
    trl = imported("trl")

    class GameTrainer(trl.GRPOTrainer):
        """Plays a game where TRL would generate and score."""

        table: Table
        transcripts: Sequence[dict[str, Any]] = ()

        def _generate_and_score_completions(self, inputs: Sequence[Mapping[str, int]]) -> dict[str, Any]:
            played = self.table.play([self.table.rows[one["row"]] for one in inputs[:: self.num_generations]])
            batch = _batch(self, played)
            for name, value in figures(gathered([played.observed])).items():
                self._metrics["train"][name].append(value)
            _log_texts(self, played.rollouts)
            return batch

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            """TRL's loss, undiluted by rows of padding."""
            return super().compute_loss(model, inputs, return_outputs, num_items_in_batch) * inputs["row_scale"]

        def _get_grad_norm(self, model: Any, grad_norm: Any = None) -> Any:
            return _sound(super()._get_grad_norm(model, grad_norm=grad_norm), self.state.global_step + 1)

        def _get_train_sampler(self, dataset: Any = None) -> Any:
            return Order(super()._get_train_sampler(dataset), lambda: int(self.state.epoch or 0))

        def _save_checkpoint(self, model: Any, trial: Any) -> None:
            # Rollouts that are still being reused would be lost, and the run go on with others.
            reused = self._step % (self.args.steps_per_generation * self.num_iterations)
            if not reused or self.state.global_step >= self.state.max_steps:
                super()._save_checkpoint(model, trial)

        def _save_rng_state(self, output_dir: str) -> None:
            super()._save_rng_state(output_dir)
            if self.args.should_save:
                (Path(output_dir) / STATE).write_text(json.dumps(self.table.state_dict()), encoding="utf-8")

        def _load_rng_state(self, checkpoint: str | None) -> None:
            super()._load_rng_state(checkpoint)
            if checkpoint is not None:
                self.table.load_state_dict(json.loads((Path(checkpoint) / STATE).read_text(encoding="utf-8")))

        def _send_telemetry(self) -> None:
            """Nothing is reported."""

        def create_model_card(self, *args: Any, **kwargs: Any) -> None:
            """No card; the run's own files say more."""

    return GameTrainer


def _batch(trainer: Any, played: Round) -> dict[str, Any]:
    """What TRL's loss reads, as many rows on every process."""
    torch, accelerator, loss = imported("torch"), trainer.accelerator, trainer.table.config.loss
    shares = gathered([(len(played.rollouts), amounts_of(played.rollouts, loss))])
    counts, steps = [count for count, _ in shares], trainer.args.steps_per_generation
    if not sum(counts):
        raise _unjudged(trainer, played)
    size = math.ceil(max(counts) / steps) * steps  # TRL drops what is left over when it splits
    factors = role_factors([amounts for _, amounts in shares])
    arrays = to_arrays(played.rollouts, size, trainer._tokenizer.pad_token_id, factors)
    batch = {name: torch.from_numpy(array).to(accelerator.device) for name, array in arrays.items()}
    mask = batch["completion_mask"] * batch.get("tool_mask", 1)
    batch["num_items_in_batch"] = accelerator.gather(mask.sum()).sum()
    read = batch["prompt_mask"].sum() + batch["completion_mask"].sum()
    trainer.state.num_input_tokens_seen += accelerator.gather(read).sum().item()
    diluted = size * len(counts) / sum(counts) if loss in ROW_MEANS else 1.0
    batch["row_scale"] = torch.tensor(diluted, device=accelerator.device)
    checkpointing = imported("trl.models.utils").disable_gradient_checkpointing
    with torch.no_grad(), checkpointing(trainer.model, trainer.args.gradient_checkpointing_kwargs):
        _add_logprobs(trainer, batch, mask)
    return batch


def _add_logprobs(trainer: Any, batch: dict[str, Any], mask: Any) -> None:
    """Those of the policy before the update and of the reference, where the loss needs them."""
    args, config = trainer.args, trainer.table.config
    k1 = config.kl if config.kl_estimator == "k1" else 0.0
    corrected = trainer.use_vllm and trainer.vllm_importance_sampling_correction
    reused = args.gradient_accumulation_steps % (args.steps_per_generation * trainer.num_iterations)
    if reused or corrected or k1:
        batch["old_per_token_logps"] = _logprobs(trainer, trainer.model, batch)
    if corrected:
        difference = (batch["old_per_token_logps"] - batch["sampling_per_token_logps"]) * mask
        ratio = importance_ratio(
            difference.nan_to_num(0.0).cpu().numpy(), trainer.vllm_importance_sampling_mode,
            trainer.vllm_importance_sampling_clip_min, trainer.vllm_importance_sampling_clip_max,
        )  # fmt: skip
        batch["importance_sampling_ratio"] = imported("torch").from_numpy(ratio).to(mask.device)
    if not config.kl:
        return
    reference = _reference_logprobs(trainer, batch)
    if not k1:
        batch["ref_per_token_logps"] = reference
        return
    divergence = (batch["old_per_token_logps"] - reference) * mask
    advantages = batch["advantages"]
    batch["advantages"] = (advantages if advantages.dim() == 2 else advantages[:, None]) - k1 * divergence
    total = trainer.accelerator.reduce(divergence.sum(), reduction="sum") / batch["num_items_in_batch"].clamp(min=1)
    trainer._metrics["train"]["kl"].append(total.item())


def _logprobs(trainer: Any, model: Any, batch: Mapping[str, Any]) -> Any:
    cat = imported("torch").cat
    ids = cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
    mask = cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
    said, rows = batch["completion_ids"].size(1), trainer.args.per_device_train_batch_size
    return trainer._get_per_token_logps_and_entropies(model, ids, mask, said, batch_size=rows)[0]


def _reference_logprobs(trainer: Any, batch: Mapping[str, Any]) -> Any:
    if trainer.ref_model is not None:
        return _logprobs(trainer, trainer.ref_model, batch)
    model = trainer.accelerator.unwrap_model(trainer.model)  # its adapters aside, it is the reference
    name = "ref" if "ref" in model.peft_config else None
    with imported("trl.trainer.utils").use_adapter(model, adapter_name=name):
        return _logprobs(trainer, trainer.model, batch)


def _log_texts(trainer: Any, rollouts: Sequence[Rollout]) -> None:
    """Texts for the log, and TRL's own tables where they are asked for."""
    kept = min(trainer.table.config.watch.transcripts, len(rollouts))
    first = trainer.state.global_step
    chosen = [rollouts[(first + at * len(rollouts) // kept) % len(rollouts)] for at in range(kept)]
    trainer.transcripts = [_line(trainer, one) for one in chosen]
    if not trainer.log_completions:
        return
    lines, logs = gathered([_line(trainer, one) for one in rollouts]), trainer._logs
    parts = sorted({part for line in lines for part in line["reward"]})
    for line in lines:
        logs["prompt"].append(line["prompt"])
        logs["completion"].append(line["text"])
        logs["advantages"].append(line["advantage"])
        for part in parts:
            logs["rewards"][part].append(line["reward"].get(part, math.nan))
        for name in ("role", "group", "finish_reason"):
            logs["extra"][name].append(line[name])


def _line(trainer: Any, one: Rollout) -> dict[str, Any]:
    """A rollout as text and numbers."""
    return {
        "role": one.role, "group": one.group, "turn": one.turn, "finish_reason": one.finish_reason,
        "prompt": trainer._tokenizer.decode(one.prompt_ids), "text": one.text,
        "reward": {"total": one.reward.total, **one.reward.parts} if one.reward is not None else {},
        "advantage": math.nan if one.advantage is None else float(np.mean(one.advantage)),
    }  # fmt: skip


def _unjudged(trainer: Any, played: Round) -> BackendError:
    failed = [failure for play in played.plays for failure in play.failures]
    why = f" (the first: {failed[0].message})" if failed else ""
    return BackendError(
        f"no group of step {trainer.state.global_step + 1} has two rollouts with a reward; {len(failed)} were not "
        f"judged{why}. Nothing was learnt from this step: go on from the last checkpoint when the judge answers"
    )


def _lost(trainer: Any) -> TrainingError:
    """What to say of weights that nothing can be sampled from; a checkpoint of them is removed."""
    step = trainer.state.global_step
    if not step:
        return TrainingError("the probabilities of the model are no numbers before the first step: give another model")
    shutil.rmtree(Path(trainer.args.output_dir) / f"checkpoint-{step}", ignore_errors=True)
    return TrainingError(
        f"after step {step} the probabilities of the model are no numbers: begin a new run with a lower learning_rate; "
        "it may start from the last checkpoint, by model=FOLDER"
    )


def _sound(norm: Any, step: int) -> Any:
    """The norm of the gradient, if it is a number. It is the same on every process."""
    if norm is not None and not math.isfinite(norm):
        raise TrainingError(
            f"the gradient of step {step} is {float(norm)}, and nothing was learnt from it: see what the log says of "
            "the steps before, and begin a new run with a lower learning_rate; it may start from the last checkpoint, "
            "by model=FOLDER"
        )
    return norm
