"""TRL's generation by vLLM with a client, or an engine, that answers each prompt with its own tokens reversed."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from trl.generation import vllm_generation


class Client:
    """A vLLM server that answers as ``reply_to``."""

    def generate(self, prompts: Sequence[Sequence[int]], **_: Any) -> dict[str, Any]:
        replies = [reply_to(ids) for ids in prompts]
        return {
            "prompt_ids": [[*ids] for ids in prompts],
            "completion_ids": replies,
            "logprobs": [[[-float(token)] for token in ids] for ids in replies],
        }


class Engine:
    """vLLM in the process, with one instance on all processes."""

    def generate(self, prompts: Sequence[dict[str, Any]], **_: Any) -> list[Any]:
        return [self._output([*one["prompt_token_ids"]]) for one in prompts]

    @staticmethod
    def _output(ids: list[int]) -> Any:
        said = reply_to(ids)
        logprobs = [{token: SimpleNamespace(rank=1, logprob=-float(token))} for token in said]
        return SimpleNamespace(prompt_token_ids=ids, outputs=[SimpleNamespace(token_ids=said, logprobs=logprobs)])


def reply_to(ids: Sequence[int]) -> list[int]:
    """The completion of a prompt."""
    return [*reversed(ids)]


class Offline(vllm_generation.VLLMGeneration):
    """TRL's own gathering and cutting; no weights are sent."""

    def _init_vllm(self) -> None:
        if self.mode == "server":
            self.vllm_client = Client()
            return
        from torch import distributed

        vllm_generation.SamplingParams = dict  # vLLM's class, which TRL imports where vLLM is installed
        self.llm, self.tp_group = Engine(), distributed.new_group()

    def sync_weights(self) -> None:
        """Nothing has them."""


def use_vllm(trainer: Any, mode: str) -> None:
    """Have a trainer sample by it."""
    trainer.use_vllm, trainer._last_loaded_step = True, -1
    trainer.vllm_generation = Offline(
        trainer.model,
        trainer.accelerator,
        trainer.processing_class,
        mode=mode,
        tensor_parallel_size=trainer.accelerator.num_processes if mode == "colocate" else 1,
    )
