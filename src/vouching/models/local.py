# pyright: basic
"""A model run by transformers in this process, on a GPU if there is one; concurrent calls form a batch.

It returns token ids and log-probabilities, so that it can be trained (``Policy``). Batches run in transformers'
``generate``; every row has its own sampling and random numbers, so its completion does not depend on the other rows,
rounding aside. Not supported: architectures other than decoders, beam search, a shared cache for common prefixes of
prompts, enforcing a JSON schema (the prompt has to ask for it), quantisation, several GPUs, requests that join a
running batch, and logprobs at a temperature other than 1.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from vouching.errors import ConfigError, ModelContextError, ModelRefusedError
from vouching.models.base import Completion, FinishReason, Message, PolicyCompletion, Sampling
from vouching.models.batching import Batcher, Waiting, config_of, device_of, need
from vouching.models.chat import prompt_tokens
from vouching.models.limits import ServerFacts
from vouching.models.tools import read_tool_calls
from vouching.types import Usage

Tensor: TypeAlias = Any
"""A torch tensor; the type needs no torch."""


@dataclass(slots=True)
class RowState:
    """A row of a batch during generation."""

    prompt: tuple[int, ...]
    """Token ids, at least one."""
    room: int
    """Maximum number of tokens to generate."""
    temperature: float
    """0 takes the most likely token."""
    top_p: float
    """Share of the probability to draw from."""
    draw: random.Random
    ended: Callable[[list[int]], FinishReason | None]
    """Why the tokens generated so far are complete; None to continue."""
    tokens: list[int] = field(default_factory=list)
    """Token ids generated so far."""
    logprobs: list[float] = field(default_factory=list)
    """Log-probability of each at temperature 1."""
    finish: FinishReason | None = None
    """None until the row is complete."""

    def take(self, token: int, logprob: float) -> None:
        """Add one token."""
        self.tokens.append(token)
        self.logprobs.append(logprob)
        self.finish = self.ended(self.tokens) or ("length" if len(self.tokens) >= self.room else None)


def continue_rows(model: Any, rows: Sequence[RowState]) -> None:
    """Generate every row to its end, in place, by transformers' ``generate`` with prompts padded on the left.

    ``generate`` also computes complete rows, so it is interrupted once half of them are complete, and resumed with the
    others and their cache.

    Args:
        model: a causal language model of transformers whose generation config changes no logits.
        rows: the batch, none of them complete.
    """
    torch, transformers = need("torch"), need("transformers")
    longest = max(len(row.prompt) for row in rows)
    ids = torch.tensor([(0,) * (longest - len(row.prompt)) + row.prompt for row in rows], device=model.device)
    mask = torch.tensor(
        [[0] * (longest - len(row.prompt)) + [1] * len(row.prompt) for row in rows], device=model.device
    )
    cache: Any = None
    while rows:
        out = model.generate(
            ids,
            attention_mask=mask,
            past_key_values=cache,
            do_sample=False,  # the processor has drawn the token
            max_new_tokens=max(row.room - len(row.tokens) for row in rows),
            logits_processor=transformers.LogitsProcessorList([_TakeTokens(rows)]),
            stopping_criteria=transformers.StoppingCriteriaList([_HalfComplete(rows)]),
            return_dict_in_generate=True,
        )
        kept = torch.tensor(
            [i for i, row in enumerate(rows) if row.finish is None], device=model.device, dtype=torch.long
        )
        rows = [row for row in rows if row.finish is None]
        ids, cache = out.sequences[kept], out.past_key_values
        mask = torch.cat([mask, mask.new_ones((len(mask), ids.shape[1] - mask.shape[1]))], dim=1)[kept]
        if cache is not None and all(hasattr(layer, "batch_select_indices") for layer in cache.layers):
            cache.batch_select_indices(kept)
        else:  # rows of a recurrent state cannot be selected: recompute the tokens
            cache = None


@dataclass(slots=True)
class _TakeTokens:
    """A logits processor: every row draws its own token, and the scores allow no other."""

    rows: Sequence[RowState]

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        chosen = choose_tokens(scores, self.rows)
        logprobs = scores.log_softmax(dim=-1).gather(1, chosen[:, None])[:, 0].tolist()
        for row, token, logprob in zip(self.rows, chosen.tolist(), logprobs, strict=True):
            if row.finish is None:
                row.take(token, logprob)
        return scores.new_full(scores.shape, -math.inf).scatter_(1, chosen[:, None], 0.0)


@dataclass(slots=True)
class _HalfComplete:
    """A stopping criterion for all rows at once: at most half of them are incomplete."""

    rows: Sequence[RowState]

    def __call__(self, input_ids: Tensor, scores: Tensor, **_: Any) -> Tensor:
        left = sum(row.finish is None for row in self.rows)
        return input_ids.new_full((len(self.rows),), 2 * left <= len(self.rows), dtype=need("torch").bool)


def choose_tokens(logits: Tensor, rows: Sequence[RowState]) -> Tensor:
    """One token per row, (B,), by inversion of the cumulative distribution.

    Args:
        logits: (B, V).
        rows: a row at temperature 0 uses no random number.
    """
    torch = need("torch")
    likeliest = logits.argmax(dim=-1)
    if not any(row.temperature for row in rows):
        return likeliest
    temperature = torch.tensor([row.temperature or 1.0 for row in rows], device=logits.device)
    probabilities = (logits / temperature[:, None]).softmax(dim=-1)
    # Sorting a large vocabulary dominates the time: only rows with a top_p are sorted.
    if nucleus := [index for index, row in enumerate(rows) if row.temperature and row.top_p < 1]:
        top_p = torch.tensor([rows[index].top_p for index in nucleus], device=logits.device)
        ordered, tokens = probabilities[nucleus].sort(dim=-1, descending=True, stable=True)
        # A token is kept if those before it do not reach the share yet; the first always is.
        kept = ordered.masked_fill(ordered.cumsum(dim=-1) - ordered > top_p[:, None], 0.0)
        probabilities[nucleus] = torch.zeros_like(kept).scatter_(1, tokens, kept)
    bounds = probabilities.cumsum(dim=-1)
    # In (0, 1], so that no token of probability 0 is drawn.
    drawn = torch.tensor([1 - row.draw.random() if row.temperature else 1.0 for row in rows], device=logits.device)
    chosen = torch.searchsorted(bounds, drawn[:, None] * bounds[:, -1:])[:, 0]
    return torch.where(torch.tensor([row.temperature > 0 for row in rows], device=logits.device), chosen, likeliest)


def read_logprobs(model: Any, prompt: Sequence[int], completion: Sequence[int]) -> list[float]:
    """Log-probability at temperature 1 of each of the ``completion`` tokens after a prompt; both have at least one."""
    torch = need("torch")
    with torch.inference_mode():
        ids = torch.tensor([[*prompt, *completion]], device=model.device)
        logits = model(input_ids=ids, logits_to_keep=len(completion) + 1).logits[0, :-1].float()
        return logits.log_softmax(dim=-1).gather(1, ids[0, len(prompt) :, None])[:, 0].tolist()


TAIL = 24
"""Tokens at the end of a completion that are searched for a stop text, besides one per character of it."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A row to generate, or to score if its completion is given (``teacher_forced``)."""

    prompt: tuple[int, ...]
    sampling: Sampling
    seed: int | None
    adapter: str | None
    teacher_forced: tuple[int, ...] | None = None


class LocalModel:
    """A causal language model from a folder of weights.

    Args:
        path: the folder, with config.json, weights and a tokenizer.
        adapter: folder of a LoRA adapter (needs peft); None uses the weights as they are.
        device: "cpu", "cuda", "cuda:1", ...; "auto" takes a GPU if there is one.
        dtype: "float32", "bfloat16", ...; "auto" takes the dtype of the saved weights.

    Raises:
        ConfigError: a folder without a model or adapter.
        MissingExtraError: torch or transformers is not installed.
    """

    def __init__(
        self,
        path: str | Path,
        adapter: str | Path | None = None,
        *,
        device: str = "auto",
        dtype: str = "auto",
    ) -> None:
        self._engine = _Engine(Path(path), device, dtype)
        self._batcher: Batcher[_Job, RowState] = Batcher(self._engine.work)
        self._adapter = self._engine.add_adapter(adapter) if adapter else None

    @property
    def name(self) -> str:
        """Folders of the weights and the adapter, as ``open_model`` takes them."""
        return f"local:{self._engine.path}" + (f"#{self._adapter}" if self._adapter else "")

    def with_adapter(self, adapter: str | Path) -> LocalModel:
        """The same weights with another adapter; shares memory, thread and batches with this model.

        Raises ConfigError if the folder has no adapter.
        """
        other = copy(self)
        other._adapter = self._engine.add_adapter(adapter)
        return other

    async def facts(self) -> ServerFacts:
        """The context of the model."""
        return ServerFacts(self._engine.context)

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """``sampling.n`` completions. Raises ModelContextError for a prompt that is too long."""
        completions: list[Completion] = []
        for sampled in await self.sample(messages, sampling):
            text, calls = read_tool_calls(sampled.text) if sampling.tools else (sampled.text, ())
            logprobs = sampled.logprobs if sampling.logprobs else None
            completions.append(Completion(text, sampled.finish_reason, sampled.usage, logprobs, calls))
        return completions

    async def sample(self, messages: Sequence[Message], sampling: Sampling) -> list[PolicyCompletion]:
        """``sampling.n`` completions with their tokens; completion i of a seeded call uses seed + i."""
        started = time.perf_counter()
        prompt = self._engine.prompt(messages, sampling)
        seeds = [None if sampling.seed is None else sampling.seed + number for number in range(sampling.n)]
        jobs = [_Job(prompt, sampling, seed, self._adapter) for seed in seeds]
        rows = await asyncio.gather(*(self._batcher.submit(job) for job in jobs))
        seconds = time.perf_counter() - started
        usages = [Usage(seconds, len(prompt), 0, 1), *(Usage() for _ in rows[1:])]
        return [self._engine.completed(row, sampling, usage) for row, usage in zip(rows, usages, strict=True)]

    async def force(self, messages: Sequence[Message], text: str) -> PolicyCompletion:
        """A given text as the model's completion. Raises ModelRefusedError for a prompt that is too long."""
        started = time.perf_counter()
        completion = self._engine.completion(text)
        sampling = Sampling(max_tokens=len(completion))
        prompt = self._engine.prompt(messages, sampling)
        row = await self._batcher.submit(_Job(prompt, sampling, None, self._adapter, completion))
        usage = Usage(time.perf_counter() - started, len(prompt), 0, 1)
        return replace(self._engine.completed(row, sampling, usage), text=text, finish_reason="stop")

    async def aclose(self) -> None:
        """End the thread after the running calls; the next call starts another."""
        await self._batcher.aclose()


class _Engine:
    """Weights and tokenizer. ``work`` runs in the batcher's thread, the rest in the caller's."""

    def __init__(self, path: Path, device: str, dtype: str) -> None:
        need("torch")
        transformers = need("transformers")
        config_of(path)
        transformers.logging.disable_progress_bar()
        self.path = path
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=dtype, local_files_only=True)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"{path} cannot be loaded as a causal language model with a tokenizer: {error}"
            ) from error
        self.model: Any = model.to(device_of(device)).eval()
        self._ends = set(_ids(model.generation_config.eos_token_id) + _ids(self.tokenizer.eos_token_id))
        # Only the rows change the logits: no penalty, temperature or length from the weights' own config.
        model.generation_config = transformers.GenerationConfig(pad_token_id=0)
        self.context: int = getattr(model.config, "max_position_embeddings", None) or 10**9
        self._adapters: dict[str, str] = {}
        """Names of the adapters for peft, which takes no paths, by folder."""

    def add_adapter(self, path: str | Path) -> str:
        """Load a LoRA adapter, once; returns its folder as a string."""
        name = str(path)
        if not (Path(path) / "adapter_config.json").is_file():
            raise ConfigError(f"{path} contains no adapter: pass a folder with adapter_config.json, as saved by peft")
        need("peft")
        if name not in self._adapters:
            self._adapters[name] = f"adapter{len(self._adapters)}"
            self.model.load_adapter(name, adapter_name=self._adapters[name])
        return name

    def prompt(self, messages: Sequence[Message], sampling: Sampling) -> tuple[int, ...]:
        """Token ids of the messages; the context has room for at least one more."""
        prompt = prompt_tokens(self.tokenizer, messages, sampling.extra, sampling.tools)
        if not prompt or len(prompt) >= self.context:
            raise (ModelContextError if prompt else ModelRefusedError)(
                f"the prompt has {len(prompt)} tokens, expected 1 to {self.context - 1}: shorten it"
            )
        return prompt

    def completion(self, text: str) -> tuple[int, ...]:
        """Token ids of a given completion, with the end token."""
        ends = _ids(self.tokenizer.eos_token_id)[:1]
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"] + ends)

    def work(self, batch: Sequence[Waiting[_Job, RowState]]) -> list[RowState]:
        """Generate or score every row; those with the same adapter share a batch."""
        rows = [self._row(waiting) for waiting in batch]
        order = sorted(range(len(batch)), key=lambda index: batch[index].job.adapter or "")
        for adapter, group in groupby(order, key=lambda index: batch[index].job.adapter):
            self._use(adapter)
            indices = list(group)
            for index in indices:
                if (given := batch[index].job.teacher_forced) is not None:
                    rows[index].tokens = list(given)
                    rows[index].logprobs = read_logprobs(self.model, rows[index].prompt, given)
            if free := [rows[index] for index in indices if batch[index].job.teacher_forced is None]:
                continue_rows(self.model, free)
        return rows

    def completed(self, row: RowState, sampling: Sampling, usage: Usage) -> PolicyCompletion:
        """A complete row as a completion."""
        text = self.tokenizer.decode(row.tokens, skip_special_tokens=True)
        places = [place for stop in sampling.stop if (place := text.find(stop)) >= 0]
        return PolicyCompletion(
            text=text[: min(places)] if places else text,
            finish_reason=row.finish or "other",
            usage=replace(usage, completion_tokens=len(row.tokens)),
            prompt_ids=row.prompt,
            completion_ids=tuple(row.tokens),
            logprobs=tuple(row.logprobs),
        )

    def _row(self, waiting: Waiting[_Job, RowState]) -> RowState:
        sampling = waiting.job.sampling

        def ended(tokens: list[int]) -> FinishReason | None:
            if not waiting.is_wanted:
                return "other"
            return "stop" if tokens[-1] in self._ends or self._stops(tokens, sampling.stop) else None

        return RowState(
            prompt=waiting.job.prompt,
            room=min(sampling.max_tokens, self.context - len(waiting.job.prompt)),
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            draw=random.Random(waiting.job.seed),
            ended=ended,
        )

    def _stops(self, tokens: list[int], stops: tuple[str, ...]) -> bool:
        if not stops:
            return False
        tail = self.tokenizer.decode(tokens[-TAIL - max(map(len, stops)) :], skip_special_tokens=True)
        return any(stop in tail for stop in stops)

    def _use(self, adapter: str | None) -> None:
        if adapter is not None:
            self.model.set_adapter(self._adapters[adapter])
            self.model.enable_adapters()
        elif self._adapters:
            self.model.disable_adapters()


def _ids(value: int | list[int] | None) -> list[int]:
    return [] if value is None else [value] if isinstance(value, int) else list(value)
