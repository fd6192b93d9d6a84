# pyright: basic
"""TRL's ``GRPOTrainer`` with a game in its one hook. The only file that uses TRL's private names.

TRL asks ``_generate_and_score_completions`` for a batch; here a game is played instead, through TRL's own generation
(transformers, vLLM in the process, a vLLM server), and TRL computes loss and update. In addition:

- advantages are computed here, with the chosen standard deviation, and may differ between tokens;
- a step is split into pieces of ``micro_batch`` rows, however many rows the roles of a game have; no piece mixes two
  policies; processes are evened out with fully masked rows, and losses that average over rows are rescaled;
- the divergence from the reference is subtracted from the advantages where it is k1, and where several roles each have
  a mean of their own; otherwise it is TRL's k3 in the loss;
- a checkpoint holds all that exact resuming needs, and is written only where new rollouts are drawn next;
- a gradient that is not finite ends the run before it reaches the weights.

Departures: k1 is per token, without the divergence of later tokens; k3 in the advantages has the gradient of k3 in the
loss at the first update on the same rollouts, and is clipped with them at the next ones. ``bnpo`` is a mean over the
tokens of a process. Not supported: TRL's ``reward_funcs`` and ``evaluate``, images, tools. Tested with TRL 1.16.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from vouching.errors import BackendError, ConfigError, TrainingError
from vouching.models.base import Message
from vouching.train.engine_batch import (
    ROW_MEANS,
    Order,
    amounts_of,
    importance_ratio,
    in_pieces,
    policy_counts,
    role_factors,
    row_policies,
    to_arrays,
    turns_of,
)
from vouching.train.engine_table import Round, Table, figures
from vouching.train.extra import imported
from vouching.train.policy import MAIN, activate, gradient_norms, reference_of
from vouching.types import Rollout

STATE, CRITIC = "engine.json", "critic.pt"
"""In a checkpoint: the state of what TRL does not know."""


class PolicySampler:
    """TRL's generation as a sampler."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._sent = MAIN

    async def sample(
        self, prompts: Sequence[Sequence[Message]], role: str, n: int, policy: str = MAIN,
        temperature: float | None = None,
    ) -> list[list[Rollout]]:  # fmt: skip
        """Completions sampled from the current policy."""
        trainer, version = self._trainer, self._version(policy)
        asked = [ids for ids in encoded(trainer.processing_class, prompts) for _ in range(n)]
        try:
            said, logprobs = self._drawn(asked, policy, temperature)
        except RuntimeError as error:
            if "probability tensor" not in str(error):  # torch's words; on a GPU the process itself ends
                raise
            raise _lost(trainer) from error
        texts = trainer.processing_class.batch_decode(said, skip_special_tokens=True) if said else []
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

    async def teacher_forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = MAIN) -> Rollout:
        """A given completion, ended as the policy would end it."""
        trainer, version = self._trainer, self._version(policy)
        tokenizer = trainer.processing_class
        said = (*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id)
        [asked] = encoded(tokenizer, [prompt])
        return Rollout(role, (*asked,), said, (1,) * len(said), None, "teacher_forced", text=text, policy=policy,
                       policy_version=version)  # fmt: skip

    def _drawn(self, asked: list[list[int]], policy: str, temperature: float | None) -> tuple[Any, Any]:
        """Tokens and, from vLLM, their log-probabilities."""
        trainer = self._trainer
        if not asked and trainer.accelerator.num_processes == 1:
            return [], None
        activate(trainer.accelerator.unwrap_model(trainer.model), policy)
        if policy != self._sent:  # vLLM has the weights of the adapter that was active when they were last sent
            trainer._last_loaded_step, self._sent = -1, policy
        engine = trainer.vllm_generation if trainer.use_vllm else trainer.generation_config
        usual, engine.temperature = engine.temperature, engine.temperature if temperature is None else temperature
        try:
            # A process with nothing to ask takes part too: the others may need it.
            said, logprobs = trainer._generate_single_turn(
                asked or [[trainer.processing_class.eos_token_id]], None, {}, 1
            )
        finally:
            engine.temperature = usual
        return said[: len(asked)], logprobs

    def _version(self, policy: str) -> int:
        if policy not in self._trainer.policies:
            known = ", ".join(self._trainer.policies)
            raise ConfigError(f"unknown policy {policy!r} in the game; expected one of {known}")
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
    """The members of the lists of all processes, in order."""
    return imported("accelerate.utils").gather_object([*values])


@cache
def trainer_class() -> Any:
    """The trainer's class, made late: TRL takes seconds to import and may not be installed."""
    trl = imported("trl")

    class GameTrainer(trl.GRPOTrainer):
        """Plays a game where TRL would generate and score."""

        table: Table
        policies: Sequence[str] = (MAIN,)
        transcripts: Sequence[dict[str, Any]] = ()

        def _generate_and_score_completions(self, inputs: Sequence[Mapping[str, int]]) -> dict[str, Any]:
            return _played(self, [one["row"] for one in inputs[:: self.num_generations]])

        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            """TRL's loss, piece by piece, undiluted by rows of padding; all pieces but the last are done with here."""

            def loss_of(piece: dict[str, Any]) -> Any:
                activate(self.accelerator.unwrap_model(self.model), self.policies[int(piece["policy"][0])])
                return super(GameTrainer, self).compute_loss(model, piece, return_outputs, num_items_in_batch)

            return in_pieces(loss_of, inputs, self.table.config, self.accelerator, model)

        def _get_grad_norm(self, model: Any, grad_norm: Any = None) -> Any:
            for name, norm in gradient_norms(self.model, self.policies).items():
                self._metrics["train"][f"gradient/{name}"].append(norm)
            return _sound(super()._get_grad_norm(model, grad_norm=grad_norm), self.state.global_step + 1)

        def _get_train_sampler(self, dataset: Any = None) -> Any:
            return Order(super()._get_train_sampler(dataset), lambda: int(self.state.epoch or 0))

        def _save_checkpoint(self, model: Any, trial: Any) -> None:
            # Rollouts that are still reused would be lost, and the run would resume with others.
            reused = self._step % (self.args.steps_per_generation * self.num_iterations)
            if not reused or self.state.global_step >= self.state.max_steps:
                super()._save_checkpoint(model, trial)

        def _load_from_checkpoint(self, *args: Any, **kwargs: Any) -> None:
            super()._load_from_checkpoint(*args, **kwargs)
            activate(self.model, MAIN)  # all but one come back frozen

        def _save_rng_state(self, output_dir: str) -> None:
            super()._save_rng_state(output_dir)
            if self.args.should_save:
                _save_state(self.table, Path(output_dir))

        def _load_rng_state(self, checkpoint: str | None) -> None:
            super()._load_rng_state(checkpoint)
            if checkpoint is not None:
                _load_state(self.table, Path(checkpoint))

        def _send_telemetry(self) -> None:
            """Nothing is reported."""

        def create_model_card(self, *args: Any, **kwargs: Any) -> None:
            """No card; the run's own files say more."""

    return GameTrainer


def _played(trainer: Any, places: Sequence[int]) -> dict[str, Any]:
    """Play one step and turn it into a batch."""
    played = trainer.table.play([trainer.table.rows[place] for place in places])
    batch = _batch(trainer, played)
    for name, value in figures(gathered([played.observed])).items():
        trainer._metrics["train"][name].append(value)
    _log_texts(trainer, played.rollouts)
    return batch


def _batch(trainer: Any, played: Round) -> dict[str, Any]:
    """What TRL's loss reads, with equally many rows on every process."""
    torch, accelerator, loss = imported("torch"), trainer.accelerator, trainer.table.config.loss
    shares = gathered([(policy_counts(played.rollouts), amounts_of(played.rollouts, loss), turns_of(played.plays))])
    counts, amounts, turns = zip(*shares, strict=True)
    if not any(counts):
        raise _unjudged(trainer, played)
    policies = row_policies(played.rollouts, counts, trainer.policies)
    size, total = len(policies), sum(sum(count.values()) for count in counts)
    factors = role_factors(amounts, turns, getattr(trainer.table.game, "pooled", False))
    arrays = to_arrays(played.rollouts, size, trainer._tokenizer.pad_token_id, factors)
    arrays["policy"] = np.array(policies)
    arrays["factor"] = np.ones(size, dtype=np.float32)
    arrays["factor"][: len(played.rollouts)] = [factors.get(one.role, 0.0) for one in played.rollouts]
    batch = {name: torch.from_numpy(array).to(accelerator.device) for name, array in arrays.items()}
    mask = batch["completion_mask"] * batch.get("tool_mask", 1)
    batch["num_items_in_batch"] = accelerator.gather(mask.sum()).sum()
    read = batch["prompt_mask"].sum() + batch["completion_mask"].sum()
    trainer.state.num_input_tokens_seen += accelerator.gather(read).sum().item()
    diluted = size * len(counts) / total if loss in ROW_MEANS else 1.0
    batch["row_scale"] = torch.tensor(diluted, device=accelerator.device)
    checkpointing = imported("trl.models.utils").disable_gradient_checkpointing
    with torch.no_grad(), checkpointing(trainer.model, trainer.args.gradient_checkpointing_kwargs):
        _add_logprobs(trainer, batch, mask, several=any(factor != 1 for factor in factors.values()))
    return batch


def _save_state(table: Table, folder: Path) -> None:
    (folder / STATE).write_text(json.dumps(table.state_dict()), encoding="utf-8")
    if table.critic is not None:
        imported("torch").save(table.critic.state_dict(), folder / CRITIC)


def _load_state(table: Table, folder: Path) -> None:
    table.load_state_dict(json.loads((folder / STATE).read_text(encoding="utf-8")))
    if table.critic is not None:
        table.critic.load_state_dict(imported("torch").load(folder / CRITIC))


def _add_logprobs(trainer: Any, batch: dict[str, Any], mask: Any, several: bool) -> None:
    """Log-probabilities under the policies before the update and under the reference, where the loss needs them."""
    args, config = trainer.args, trainer.table.config
    # TRL's own term in the loss is k3, weighted by all tokens of all roles.
    folded = bool(config.kl) and (several or config.kl_estimator != "k3")
    trainer.beta = 0.0 if folded else config.kl
    corrected = trainer.use_vllm and trainer.vllm_importance_sampling_correction
    reused = args.gradient_accumulation_steps % (args.steps_per_generation * trainer.num_iterations)
    if reused or corrected or folded:
        batch["old_per_token_logps"] = _logprobs(trainer, batch)
    if corrected:
        difference = (batch["old_per_token_logps"] - batch["sampling_per_token_logps"]) * mask
        ratio = importance_ratio(
            difference.nan_to_num(0.0).cpu().numpy(), trainer.vllm_importance_sampling_mode,
            trainer.vllm_importance_sampling_clip_min, trainer.vllm_importance_sampling_clip_max,
        )  # fmt: skip
        batch["importance_sampling_ratio"] = imported("torch").from_numpy(ratio).to(mask.device)
    if not config.kl:
        return
    reference = _logprobs(trainer, batch, of_reference=True)
    if folded:
        _fold_divergence(trainer, batch, mask, (batch["old_per_token_logps"] - reference) * mask)
    else:
        batch["ref_per_token_logps"] = reference


def _fold_divergence(trainer: Any, batch: dict[str, Any], mask: Any, ratio: Any) -> None:
    """Subtract the divergence from the advantage of each token, scaled as the advantages of its role.

    Args:
        trainer: the trainer.
        batch: its advantages are changed.
        mask: (B, T) trained tokens.
        ratio: (B, T) log-probability of each token minus the reference's, 0 where it is not trained.
    """
    config = trainer.table.config
    fall = {"k1": ratio, "k1-loss": mask, "k3": (1 - (-ratio).exp()) * mask}[config.kl_estimator]
    advantages = batch["advantages"]
    per_token = advantages if advantages.dim() == 2 else advantages[:, None]
    batch["advantages"] = per_token - config.kl * batch["factor"][:, None] * fall
    divergence = (((-ratio).exp() + ratio - 1) * mask if config.kl_estimator == "k3" else ratio).sum()
    total = trainer.accelerator.reduce(divergence, reduction="sum") / batch["num_items_in_batch"].clamp(min=1)
    trainer._metrics["train"]["kl"].append(total.item())


def _logprobs(trainer: Any, batch: Mapping[str, Any], of_reference: bool = False) -> Any:
    """(B, T) log-probabilities, of each row under its own policy, or under that policy at the start of the run."""
    cat = imported("torch").cat
    ids = cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
    mask = cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
    found = imported("torch").zeros_like(batch["completion_ids"], dtype=imported("torch").float32)
    for place, policy in enumerate(trainer.policies):
        rows = batch["policy"] == place
        if rows.any():
            with _speaking(trainer, policy, of_reference) as model:
                found[rows] = trainer._get_per_token_logps_and_entropies(
                    model, ids[rows], mask[rows], found.size(1), batch_size=trainer.table.config.micro_batch
                )[0].to(found.dtype)
    return found


@contextmanager
def _speaking(trainer: Any, policy: str, of_reference: bool) -> Generator[Any]:
    """The model with the adapter of a policy, or as its reference."""
    if of_reference and trainer.ref_model is not None:
        yield trainer.ref_model
        return
    model = trainer.accelerator.unwrap_model(trainer.model)
    activate(model, policy)
    if not of_reference:
        yield trainer.model
        return
    with imported("trl.trainer.utils").use_adapter(model, adapter_name=reference_of(model, policy)):
        yield trainer.model
    activate(model, policy)


def _log_texts(trainer: Any, rollouts: Sequence[Rollout]) -> None:
    """Texts for the log, and TRL's own tables if requested."""
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
    return {
        "role": one.role, "group": one.group, "turn": one.turn, "finish_reason": one.finish_reason,
        "prompt": trainer._tokenizer.decode(one.prompt_ids), "text": one.text,
        "reward": {"total": one.reward.total, **one.reward.parts} if one.reward is not None else {},
        "advantage": math.nan if one.advantage is None else float(np.mean(one.advantage)),
    }  # fmt: skip


def _unjudged(trainer: Any, played: Round) -> BackendError:
    failed = [failure for play in played.plays for failure in play.failures]
    why = f" (first failure: {failed[0].message})" if failed else ""
    return BackendError(
        f"no group of step {trainer.state.global_step + 1} has two rollouts with a reward; {len(failed)} rollouts were "
        f"not judged{why}. The step was skipped: resume from the last checkpoint when the judge is available again"
    )


def _lost(trainer: Any) -> TrainingError:
    """The error for weights that cannot be sampled from; a checkpoint of them is deleted."""
    step = trainer.state.global_step
    if not step:
        return TrainingError("the model's probabilities are not finite before the first step: use another model")
    shutil.rmtree(Path(trainer.args.output_dir) / f"checkpoint-{step}", ignore_errors=True)
    return TrainingError(
        f"after step {step} the model's probabilities are not finite: start a new run with a lower learning_rate, "
        "optionally from the last checkpoint (model=FOLDER)"
    )


def _sound(norm: Any, step: int) -> Any:
    """The norm of the gradient, if it is finite. It is the same on every process."""
    if norm is not None and not math.isfinite(norm):
        raise TrainingError(
            f"the gradient of step {step} is {float(norm)}, so the weights were not updated: check the log of the "
            "previous steps, and start a new run with a lower learning_rate, optionally from the last checkpoint "
            "(model=FOLDER)"
        )
    return norm
