# pyright: basic
"""A model run by vLLM in this process, which batches by itself; a thin layer over ``AsyncLLM``.

Written from vLLM's source (0.11 to 0.22) and not run by the tests, which have no GPU; ``vllm serve`` behind
``open_model("http://...")`` is the same engine through a tested interface. Not supported: ``force``, so it is not a
Policy.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from vouching.errors import ModelError, ModelRefusedError, needed
from vouching.models.base import Completion, FinishReason, Message, Sampling
from vouching.models.chat import prompt_tokens
from vouching.models.tools import read_tool_calls
from vouching.types import Usage

_ENDS: dict[str | None, FinishReason] = {"stop": "stop", "length": "length"}


class VllmModel:
    """A model from a folder of weights, for one event loop.

    Args:
        path: the folder, or a name on the hub that vLLM can fetch.
        adapter: folder of a LoRA adapter; None uses the weights as they are.
        engine: further settings of vLLM's ``AsyncEngineArgs``, e.g. ``tensor_parallel_size``.

    Raises:
        MissingExtraError: vllm is not installed.
    """

    def __init__(self, path: str | Path, adapter: str | Path | None = None, **engine: Any) -> None:
        self._vllm = needed("vllm", "vllm", "running a model with vLLM in this process")
        self.name = f"vllm:{path}" + (f"#{adapter}" if adapter else "")
        self._arguments = {"model": str(path), "enable_lora": adapter is not None, **engine}
        self._lora: Any = None
        if adapter:
            self._lora = import_module("vllm.lora.request").LoRARequest("adapter", 1, str(adapter))
        self._tokenizer = import_module("transformers").AutoTokenizer.from_pretrained(str(path))
        self._engine: Any = None

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """``sampling.n`` completions.

        Raises:
            ModelRefusedError: vLLM refuses the request, as for a prompt that is too long.
            ModelError: the engine failed.
        """
        started = time.perf_counter()
        if self._engine is None:
            # The engine belongs to the event loop in which it is created.
            arguments = self._vllm.AsyncEngineArgs(**self._arguments)
            self._engine = import_module("vllm.v1.engine.async_llm").AsyncLLM.from_engine_args(arguments)
        prompt = {"prompt_token_ids": list(prompt_tokens(self._tokenizer, messages, sampling.extra, sampling.tools))}
        parameters, number = self._parameters(sampling), uuid.uuid4().hex
        try:
            answers = self._engine.generate(prompt, parameters, number, lora_request=self._lora)
            *_, last = [answer async for answer in answers]
        except ValueError as error:
            raise ModelRefusedError(f"{self.name} rejects the request: {error}") from error
        except RuntimeError as error:
            raise ModelError(f"{self.name} failed: {error}") from error
        read, generated = len(last.prompt_token_ids), sum(len(output.token_ids) for output in last.outputs)
        usages = [Usage(time.perf_counter() - started, read, generated, 1), *(Usage() for _ in last.outputs[1:])]
        outputs = zip(last.outputs, usages, strict=True)
        return [_completion(output, usage, bool(sampling.tools)) for output, usage in outputs]

    async def aclose(self) -> None:
        """Stop the engine."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.shutdown()

    def _parameters(self, sampling: Sampling) -> Any:
        module = import_module("vllm.sampling_params")
        schema = sampling.json_schema
        return module.SamplingParams(
            n=sampling.n,
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            seed=sampling.seed,
            stop=list(sampling.stop) or None,
            logprobs=0 if sampling.logprobs else None,
            structured_outputs=module.StructuredOutputsParams(json=dict(schema)) if schema is not None else None,
            output_kind=module.RequestOutputKind.FINAL_ONLY,
        )


def _completion(output: Any, usage: Usage, tools: bool) -> Completion:
    logprobs = None
    if output.logprobs:
        found = zip(output.token_ids, output.logprobs, strict=True)
        logprobs = tuple(float(of_token[token].logprob) for token, of_token in found)
    text, calls = read_tool_calls(output.text) if tools else (output.text, ())
    return Completion(text, _ENDS.get(output.finish_reason, "other"), usage, logprobs, calls)
