# pyright: basic
"""A sampler on TRL's own generation: transformers, vLLM in the process, or a vLLM server.

Not supported: images, tools, several completions of a prompt in one request to vLLM (it caches the prompt).
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError, TrainingError
from vouching.models.base import Message, spoken
from vouching.train.extra import imported
from vouching.train.policy import MAIN, activate
from vouching.types import Rollout


class PolicySampler:
    """TRL's generation as a sampler."""

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._sent = MAIN

    async def sample(
        self,
        prompts: Sequence[Sequence[Message]],
        role: str,
        n: int,
        policy: str = MAIN,
        temperature: float | None = None,
    ) -> list[list[Rollout]]:
        """Completions sampled from the current policy."""
        trainer, version = self._trainer, self._version(policy)
        tokenizer = trainer.processing_class
        asked = [ids for ids in encoded(tokenizer, prompts, trainer.thinking) for _ in range(n)]
        try:
            said, logprobs = self._drawn(asked, policy, temperature)
        except RuntimeError as error:
            if "probability tensor" not in str(error):  # torch's words; on a GPU the process itself ends
                raise
            raise _lost(trainer) from error
        texts = tokenizer.batch_decode(said, skip_special_tokens=True) if said else []
        ends = {*trainer.eos_token_ids}
        done = [bool(tokens) and tokens[-1] in ends for tokens in said]
        read = [read_reply(tokenizer, *one) for one in zip(asked, texts, done, strict=True)]
        rollouts = [
            Rollout(
                role,
                (*ids,),
                (*tokens,),
                (1,) * len(tokens),
                None if logprobs is None else tuple(math.nan if x is None else x for x in logprobs[at]),
                reason,
                text=text,
                policy=policy,
                policy_version=version,
            )
            for at, (ids, tokens, (text, reason)) in enumerate(zip(asked, said, read, strict=True))
        ]
        return [rollouts[at : at + n] for at in range(0, len(rollouts), n)]

    async def teacher_forced(self, prompt: Sequence[Message], text: str, role: str, policy: str = MAIN) -> Rollout:
        """A given completion, ended as the policy would end it; after an empty thought, not trained, if it thinks."""
        trainer, version = self._trainer, self._version(policy)
        tokenizer = trainer.processing_class
        [asked] = encoded(tokenizer, [prompt], trainer.thinking)
        thought, said = (
            tokenizer(part, add_special_tokens=False)["input_ids"]
            for part in (_EMPTY[_thought(tokenizer, asked)], text)
        )
        mask = (0,) * len(thought) + (1,) * (len(said) + 1)
        return Rollout(
            role,
            (*asked,),
            (*thought, *said, tokenizer.eos_token_id),
            mask,
            None,
            "teacher_forced",
            text=text,
            policy=policy,
            policy_version=version,
        )

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
        # A process with nothing to ask takes part too: the others may need it.
        filler = [trainer.processing_class.eos_token_id]
        try:
            if trainer.use_vllm:
                said, logprobs = _from_vllm(trainer, asked, filler)
            else:
                said, logprobs = trainer._generate_single_turn(asked or [filler], None, {}, 1)
        finally:
            engine.temperature = usual
        return said[: len(asked)], logprobs

    def _version(self, policy: str) -> int:
        if policy not in self._trainer.policies:
            known = ", ".join(self._trainer.policies)
            raise ConfigError(f"unknown policy {policy!r} in the game; expected one of {known}")
        return self._trainer.state.global_step


def _from_vllm(trainer: Any, asked: list[list[int]], filler: list[int]) -> tuple[Any, Any]:
    """Completions and log-probabilities of their tokens, by TRL's vLLM.

    TRL finds the part of a process by the number of its own prompts. All processes therefore ask equally many, filled
    up with ``filler``, and every completion is checked to be that of the prompt that was asked.
    """
    engine, step = trainer.vllm_generation, trainer.state.global_step
    if step != trainer._last_loaded_step:
        engine.sync_weights()
        trainer._last_loaded_step = step
    most = max(gathered([len(asked)]))
    prompts = asked + [filler] * (most - len(asked))
    answered, said, logprobs, _ = engine.generate(prompts=prompts, images=None, num_generations=1)
    if len(said) != most or [[*ids] for ids in answered] != prompts:
        raise TrainingError(
            f"vLLM returned {len(said):,} completions for {most:,} prompts, or completions of other prompts: this is a "
            "bug in the sampling; use sampling.engine=hf, and report it with the versions of trl and vllm"
        )
    return said, [[top[0] for top in tokens] for tokens in logprobs]


def read_reply(tokenizer: Any, asked: Sequence[int], text: str, done: bool) -> tuple[str, str]:
    """The reply in a completion, without its thought, and why it ended; see ``Rollout.finish_reason``."""
    state = _thought(tokenizer, asked)
    if state == "none":
        return text, "stop" if done else "length"
    thinks = state == "begun" or text.lstrip().startswith("<think>")
    if thinks and "</think>" not in text:
        return "", "stop" if done else "thought"
    return spoken(text).lstrip(), "stop" if done else "length"


_EMPTY = {"none": "", "open": "<think>\n\n</think>\n\n", "begun": "\n</think>\n\n"}
"""An empty thought as Qwen3 writes it, by what :func:`_thought` finds."""


def _thought(tokenizer: Any, asked: Sequence[int]) -> str:
    """Whether a completion of a prompt has a thought: "none", "open" (it may begin with one) or "begun" (it is in one).

    Templates of models that think contain the tag; the prompt ends with it if it begins the thought, or has closed it.
    """
    if "</think>" not in tokenizer.chat_template:
        return "none"
    end = tokenizer.decode(asked[-32:]).rstrip()
    return "none" if end.endswith("</think>") else "begun" if end.endswith("<think>") else "open"


def encoded(tokenizer: Any, prompts: Sequence[Sequence[Message]], thinking: str = "default") -> list[list[int]]:
    """Token ids of prompts, as TRL makes them. Raises ConfigError if the chat template cannot switch thinking."""
    if thinking != "default" and "enable_thinking" not in tokenizer.chat_template:
        raise ConfigError(
            f'sampling.thinking is "{thinking}", but the chat template has no enable_thinking: set it to "default"'
        )
    switch = {} if thinking == "default" else {"enable_thinking": thinking == "on"}
    if not prompts:
        return []
    messages = [[{"role": one.role, "content": one.content} for one in prompt] for prompt in prompts]
    return tokenizer.apply_chat_template(
        conversation=messages, add_generation_prompt=True, tokenize=True, return_dict=True, **switch
    )["input_ids"]


def gathered(values: Sequence[Any]) -> list[Any]:
    """The members of the lists of all processes, in order."""
    return imported("accelerate.utils").gather_object([*values])


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
