# pyright: basic
"""Rows of tokens continued side by side by a causal language model, each with its own sampling.

Every row has its own random numbers, so what it says does not depend on the rows beside it, rounding aside. Left out:
other architectures than decoders, beam search, and the cache of prompts that begin alike.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias

from vouching.models.base import FinishReason

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
    torch = _torch()
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
    torch = _torch()
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
    torch = _torch()
    with torch.inference_mode():
        ids = torch.tensor([[*prompt, *said]], device=model.device)
        logits = model(input_ids=ids, logits_to_keep=len(said) + 1).logits[0, :-1].float()
        return logits.log_softmax(dim=-1).gather(1, ids[0, len(prompt) :, None])[:, 0].tolist()


def _torch() -> Any:
    """Torch, which is there if there is a model to pass; a plain import is one that type checkers look for."""
    return import_module("torch")
