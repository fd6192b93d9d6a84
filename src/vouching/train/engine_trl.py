# pyright: basic
"""TRL's ``GRPOTrainer`` with a game in its one hook. Besides ``engine_sampling`` the only user of TRL's private names.

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
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from vouching.errors import BackendError, TrainingError
from vouching.text.json_values import parse_json
from vouching.train.engine_batch import (
    ROW_MEANS,
    Order,
    amounts_of,
    computed_share,
    importance_ratio,
    in_pieces,
    pieces_of,
    policy_counts,
    role_factors,
    row_policies,
    stopped_pairs,
    to_arrays,
    trimmed,
    turns_of,
)
from vouching.train.engine_sampling import gathered
from vouching.train.engine_table import Round, Table, figures
from vouching.train.extra import imported
from vouching.train.policy import MAIN, activate, gradient_norms, reference_of
from vouching.types import Rollout

STATE, CRITIC = "engine.json", "critic.pt"
"""In a checkpoint: the state of what TRL does not know."""


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
            _save_state(self.table, Path(output_dir), self.args.should_save)

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
    share = computed_share(batch, trainer.table.config.micro_batch)
    trainer._metrics["train"]["positions/computed"].append(sum(gathered([share])) / len(counts))
    checkpointing = imported("trl.models.utils").disable_gradient_checkpointing
    with torch.no_grad(), checkpointing(trainer.model, trainer.args.gradient_checkpointing_kwargs):
        _add_logprobs(trainer, batch, mask, played.rollouts, several=any(factor != 1 for factor in factors.values()))
    return batch


def _save_state(table: Table, folder: Path, writes: bool) -> None:
    critic = None if table.critic is None else table.critic.state_dict()  # gathered from all processes if sharded
    if writes:
        (folder / STATE).write_text(json.dumps(table.state_dict()), encoding="utf-8")
        if critic is not None:
            imported("torch").save(critic, folder / CRITIC)


def _load_state(table: Table, folder: Path) -> None:
    table.load_state_dict(parse_json((folder / STATE).read_text(encoding="utf-8")))
    if table.critic is not None:
        table.critic.load_state_dict(imported("torch").load(folder / CRITIC, map_location="cpu"))


def _add_logprobs(trainer: Any, batch: dict[str, Any], mask: Any, rollouts: Sequence[Rollout], several: bool) -> None:
    """Log-probabilities under the policies before the update and under the reference, where the loss needs them."""
    args, config = trainer.args, trainer.table.config
    # TRL's own term in the loss is k3, weighted by all tokens of all roles.
    folded = bool(config.kl) and (several or config.kl_estimator != "k3")
    trainer.beta = 0.0 if folded else config.kl
    corrected = trainer.use_vllm and trainer.vllm_importance_sampling_correction
    reused = args.gradient_accumulation_steps % (args.steps_per_generation * trainer.num_iterations)
    margin = getattr(trainer.table.game, "margin", 0.0)
    if reused or corrected or folded or margin:
        batch["old_per_token_logps"] = _logprobs(trainer, batch)
    if margin:
        _stop_pairs(trainer, batch, mask, rollouts, margin)
    if corrected:
        difference = (batch["old_per_token_logps"] - batch["sampling_per_token_logps"]) * mask
        ratio = importance_ratio(
            difference.nan_to_num(0.0).cpu().numpy(),
            trainer.vllm_importance_sampling_mode,
            trainer.vllm_importance_sampling_clip_min,
            trainer.vllm_importance_sampling_clip_max,
        )
        batch["importance_sampling_ratio"] = imported("torch").from_numpy(ratio).to(mask.device)
    if not config.kl:
        return
    reference = _logprobs(trainer, batch, of_reference=True)
    if folded:
        _fold_divergence(trainer, batch, mask, (batch["old_per_token_logps"] - reference) * mask)
    else:
        batch["ref_per_token_logps"] = reference


def _stop_pairs(trainer: Any, batch: dict[str, Any], mask: Any, rollouts: Sequence[Rollout], margin: float) -> None:
    """Remove the advantages of pairs that the policy distinguishes by the margin; the divergence still applies."""
    said = (batch["old_per_token_logps"] * mask).sum(-1).tolist()
    stopped = stopped_pairs(rollouts, said, margin)
    batch["advantages"][stopped] = 0.0
    counts = gathered([(len(stopped), sum(one.estimator == "pair" for one in rollouts))])
    share = sum(stop for stop, _ in counts) / max(1, sum(paired for _, paired in counts))
    trainer._metrics["train"]["pairs/stopped"].append(share)


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
    torch = imported("torch")
    found = torch.zeros_like(batch["completion_ids"], dtype=torch.float32)
    for rows in pieces_of(batch, trainer.table.config.micro_batch):
        piece = trimmed(batch, rows)
        ids = torch.cat([piece["prompt_ids"], piece["completion_ids"]], dim=1)
        mask = torch.cat([piece["prompt_mask"], piece["completion_mask"]], dim=1)
        width = piece["completion_ids"].size(1)
        with _speaking(trainer, trainer.policies[int(piece["policy"][0])], of_reference) as model:
            found[rows, :width] = trainer._get_per_token_logps_and_entropies(model, ids, mask, width)[0].to(found.dtype)
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
        "role": one.role,
        "group": one.group,
        "turn": one.turn,
        "finish_reason": one.finish_reason,
        "prompt": trainer._tokenizer.decode(one.prompt_ids),
        "text": one.text,
        "reward": {"total": one.reward.total, **one.reward.parts} if one.reward is not None else {},
        "advantage": math.nan if one.advantage is None else float(np.mean(one.advantage)),
    }


def _unjudged(trainer: Any, played: Round) -> BackendError:
    failed = [failure for play in played.plays for failure in play.failures]
    why = f" (first failure: {failed[0].message})" if failed else ""
    return BackendError(
        f"no group of step {trainer.state.global_step + 1} has two rollouts with a reward; {len(failed)} rollouts were "
        f"not judged{why}. The step was skipped: resume from the last checkpoint when the judge is available again"
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
