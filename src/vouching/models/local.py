# pyright: basic
"""A model run by transformers in this process, on a GPU if there is one; calls at about the same time form a batch.

It shows token ids and log-probabilities, so that it can be trained (``Policy``). Every row of a batch has its own
sampling and its own random numbers, so what it says does not depend on the rows beside it, rounding aside. Not
supported: architectures other than decoders, beam search, a cache of prompts that begin alike, enforcing a JSON schema
(the prompt has to ask for it), quantisation, several GPUs, and logprobs at a temperature other than 1.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from vouching.errors import ConfigError, ModelRefusedError
from vouching.models.base import Completion, FinishReason, Message, PolicyCompletion, Sampling
from vouching.models.batching import Batcher, Waiting, device_of, need
from vouching.models.chat import prompt_tokens
from vouching.models.tools import read_tool_calls
from vouching.types import Usage

Tensor: TypeAlias = Any
"""A torch tensor; torch need not be there for its types."""


@dataclass(slots=True)
class RowState:
    """A row on its way: what it reads, how it draws, what it has said."""

    prompt: tuple[int, ...]
    """Token ids that it reads, at least one."""
    room: int
    """Tokens that it may say."""
    temperature: float
    """0 takes the likeliest token."""
    top_p: float
    """Share of the probability that it draws from."""
    draw: random.Random
    """Its random numbers."""
    ended: Callable[[list[int]], FinishReason | None]
    """Looks at what was said so far: why it is over, None to go on."""
    said: list[int] = field(default_factory=list)
    """Token ids so far."""
    logprobs: list[float] = field(default_factory=list)
    """Log-probability of each at temperature 1."""
    finish: FinishReason | None = None
    """Why it is over; None while it is not."""

    def take(self, token: int, logprob: float) -> None:
        """Say one more token."""
        self.said.append(token)
        self.logprobs.append(logprob)
        self.finish = self.ended(self.said) or ("length" if len(self.said) >= self.room else None)


def continue_rows(model: Any, rows: Sequence[RowState]) -> None:
    """Let every row speak until it is over, in place.

    Args:
        model: a causal language model of transformers.
        rows: the batch, none of them over. A row that is over is dropped from the work at the next token.
    """
    torch = need("torch")
    device = model.device
    longest = max(len(row.prompt) for row in rows)
    # Prompts end together: filled up on the left, by positions that nothing attends to.
    ids = torch.tensor([(0,) * (longest - len(row.prompt)) + row.prompt for row in rows], device=device)
    mask = torch.tensor([[0] * (longest - len(row.prompt)) + [1] * len(row.prompt) for row in rows], device=device)
    past: Any = None
    rows = list(rows)
    with torch.inference_mode():
        while rows:
            positions = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
            out = model(
                input_ids=ids, attention_mask=mask, position_ids=positions, past_key_values=past, use_cache=True,
                logits_to_keep=1,
            )  # fmt: skip
            past = out.past_key_values
            logits = out.logits[:, -1].float()
            chosen = choose_tokens(logits, rows)
            told = logits.log_softmax(dim=-1).gather(1, chosen[:, None])[:, 0].tolist()
            for row, token, logprob in zip(rows, chosen.tolist(), told, strict=True):
                row.take(token, logprob)
            kept = [index for index, row in enumerate(rows) if row.finish is None]
            if len(kept) < len(rows):
                rows = [rows[index] for index in kept]
                index = torch.tensor(kept, device=device, dtype=torch.long)
                chosen, mask = chosen[index], mask[index]
                if kept:
                    past.batch_select_indices(index)
            ids = chosen[:, None]
            mask = torch.cat([mask, mask.new_ones((len(mask), 1))], dim=1)


def choose_tokens(logits: Tensor, rows: Sequence[RowState]) -> Tensor:
    """One token for each row, by inversion of the cumulative distribution.

    Args:
        logits: (B, V).
        rows: how each row draws; a row at temperature 0 uses up no random number.

    Returns:
        (B,) token ids.
    """
    torch = need("torch")
    if not any(row.temperature for row in rows):
        return logits.argmax(dim=-1)
    drawn = [row.draw.random() if row.temperature else 0.0 for row in rows]
    temperature = torch.tensor([row.temperature or 1.0 for row in rows], device=logits.device)
    top_p = torch.tensor([row.top_p if row.temperature else 0.0 for row in rows], device=logits.device)
    probabilities, tokens = (logits / temperature[:, None]).softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
    # A token is kept if those before it do not make up the share yet: the first always is, and alone at temperature 0.
    before = probabilities.cumsum(dim=-1) - probabilities
    kept = probabilities.masked_fill(before > top_p[:, None], 0.0)
    bounds = kept.cumsum(dim=-1)
    place = torch.tensor(drawn, device=logits.device)[:, None] * bounds[:, -1:]
    return tokens.gather(1, torch.searchsorted(bounds, place))[:, 0]


def read_logprobs(model: Any, prompt: Sequence[int], said: Sequence[int]) -> list[float]:
    """Log-probability at temperature 1 of each token that was said after the prompt.

    Args:
        model: a causal language model of transformers.
        prompt: token ids, at least one.
        said: token ids, at least one.
    """
    torch = need("torch")
    with torch.inference_mode():
        ids = torch.tensor([[*prompt, *said]], device=model.device)
        logits = model(input_ids=ids, logits_to_keep=len(said) + 1).logits[0, :-1].float()
        return logits.log_softmax(dim=-1).gather(1, ids[0, len(prompt) :, None])[:, 0].tolist()


TAIL = 24
"""Tokens at the end of a completion that are looked through for a stop text, beside one for each of its characters."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A row to continue, or to read where ``teacher_forced`` says how it goes on."""

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
        dtype: "float32", "bfloat16", ...; "auto" takes what the weights are saved in.

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
        """The same weights with another adapter: a model that shares memory, thread and batches with this one.

        Raises:
            ConfigError: no adapter in that folder.
        """
        other = copy(self)
        other._adapter = self._engine.add_adapter(adapter)
        return other

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """``sampling.n`` completions. Raises ModelRefusedError for a prompt that is too long."""
        completions: list[Completion] = []
        for said in await self.sample(messages, sampling):
            text, calls = read_tool_calls(said.text) if sampling.tools else (said.text, ())
            logprobs = said.logprobs if sampling.logprobs else None
            completions.append(Completion(text, said.finish_reason, said.usage, logprobs, calls))
        return completions

    async def sample(self, messages: Sequence[Message], sampling: Sampling) -> list[PolicyCompletion]:
        """``sampling.n`` completions with their tokens. Completion i of a seeded call is drawn with seed + i."""
        started = time.perf_counter()
        prompt = self._engine.prompt(messages, sampling)
        seeds = [None if sampling.seed is None else sampling.seed + number for number in range(sampling.n)]
        jobs = [_Job(prompt, sampling, seed, self._adapter) for seed in seeds]
        rows = await asyncio.gather(*(self._batcher.submit(job) for job in jobs))
        seconds = time.perf_counter() - started
        usages = [Usage(seconds, len(prompt), 0, 1), *(Usage() for _ in rows[1:])]
        return [self._engine.told(row, sampling, usage) for row, usage in zip(rows, usages, strict=True)]

    async def force(self, messages: Sequence[Message], text: str) -> PolicyCompletion:
        """A text as if the model had said it and ended there. Raises ModelRefusedError for one that is too long."""
        started = time.perf_counter()
        said = self._engine.completion(text)
        sampling = Sampling(max_tokens=len(said))
        prompt = self._engine.prompt(messages, sampling)
        row = await self._batcher.submit(_Job(prompt, sampling, None, self._adapter, said))
        usage = Usage(time.perf_counter() - started, len(prompt), 0, 1)
        return replace(self._engine.told(row, sampling, usage), text=text, finish_reason="stop")

    async def aclose(self) -> None:
        """End the thread after the calls under way; the next call starts another."""
        await self._batcher.aclose()


class _Engine:
    """Weights and tokenizer. ``work`` runs in the batcher's thread, the rest in the caller's."""

    def __init__(self, path: Path, device: str, dtype: str) -> None:
        need("torch")
        transformers = need("transformers")
        if not (path / "config.json").is_file():
            hint = f", such as {path}/model" if (path / "model/config.json").is_file() else ""
            raise ConfigError(f"{path} holds no model: name a folder with config.json, weights and a tokenizer{hint}")
        self.path = path
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            model = transformers.AutoModelForCausalLM.from_pretrained(path, dtype=dtype, local_files_only=True)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path} holds no causal language model with a tokenizer: {error}") from error
        self.model: Any = model.to(device_of(device)).eval()
        self._ends = set(_ids(model.generation_config.eos_token_id) + _ids(self.tokenizer.eos_token_id))
        self._context: int = getattr(model.config, "max_position_embeddings", None) or 10**9
        self._adapters: dict[str, str] = {}
        """Names of the adapters for peft, which takes no paths, by folder."""

    def add_adapter(self, path: str | Path) -> str:
        """Load a LoRA adapter, once. Returns its folder as a text."""
        name = str(path)
        if not (Path(path) / "adapter_config.json").is_file():
            raise ConfigError(f"{path} holds no adapter: name a folder with adapter_config.json, as peft writes it")
        need("peft")
        if name not in self._adapters:
            self._adapters[name] = f"adapter{len(self._adapters)}"
            self.model.load_adapter(name, adapter_name=self._adapters[name])
        return name

    def prompt(self, messages: Sequence[Message], sampling: Sampling) -> tuple[int, ...]:
        """Token ids of the messages, of which the model can read all and say at least one more."""
        prompt = prompt_tokens(self.tokenizer, messages, sampling.extra, sampling.tools)
        if not prompt or len(prompt) >= self._context:
            raise ModelRefusedError(f"the prompt has {len(prompt)} tokens, wanted 1 to {self._context - 1}: shorten it")
        return prompt

    def completion(self, text: str) -> tuple[int, ...]:
        """Token ids of a text that the model shall have said, with the end token."""
        ends = _ids(self.tokenizer.eos_token_id)[:1]
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"] + ends)

    def work(self, batch: Sequence[Waiting[_Job, RowState]]) -> list[RowState]:
        """Continue or read every row; rows with the same adapter go side by side."""
        rows = [self._row(waiting) for waiting in batch]
        order = sorted(range(len(batch)), key=lambda index: batch[index].job.adapter or "")
        for adapter, group in groupby(order, key=lambda index: batch[index].job.adapter):
            self._use(adapter)
            indices = list(group)
            for index in indices:
                if (teacher_forced := batch[index].job.teacher_forced) is not None:
                    rows[index].said = list(teacher_forced)
                    rows[index].logprobs = read_logprobs(self.model, rows[index].prompt, teacher_forced)
            if free := [rows[index] for index in indices if batch[index].job.teacher_forced is None]:
                continue_rows(self.model, free)
        return rows

    def told(self, row: RowState, sampling: Sampling, usage: Usage) -> PolicyCompletion:
        """A finished row as a completion."""
        text = self.tokenizer.decode(row.said, skip_special_tokens=True)
        places = [place for stop in sampling.stop if (place := text.find(stop)) >= 0]
        return PolicyCompletion(
            text=text[: min(places)] if places else text,
            finish_reason=row.finish or "other",
            usage=replace(usage, completion_tokens=len(row.said)),
            prompt_ids=row.prompt,
            completion_ids=tuple(row.said),
            logprobs=tuple(row.logprobs),
        )

    def _row(self, waiting: Waiting[_Job, RowState]) -> RowState:
        sampling = waiting.job.sampling

        def ended(said: list[int]) -> FinishReason | None:
            if not waiting.wanted:
                return "other"
            return "stop" if said[-1] in self._ends or self._stops(said, sampling.stop) else None

        return RowState(
            prompt=waiting.job.prompt,
            room=min(sampling.max_tokens, self._context - len(waiting.job.prompt)),
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            draw=random.Random(waiting.job.seed),
            ended=ended,
        )

    def _stops(self, said: list[int], stops: tuple[str, ...]) -> bool:
        if not stops:
            return False
        tail = self.tokenizer.decode(said[-TAIL - max(map(len, stops)) :], skip_special_tokens=True)
        return any(stop in tail for stop in stops)

    def _use(self, adapter: str | None) -> None:
        if adapter is not None:
            self.model.set_adapter(self._adapters[adapter])
            self.model.enable_adapters()
        elif self._adapters:
            self.model.disable_adapters()


def _ids(value: int | list[int] | None) -> list[int]:
    return [] if value is None else [value] if isinstance(value, int) else list(value)
