# pyright: basic
"""One number for each row of token ids, from a model of transformers in this process: what scorers and classifiers are.

Calls at about the same time form batches; rows of about one length go side by side. Nothing is downloaded, and no code
that lies beside weights is run. Left out: quantisation, several GPUs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from vouching.errors import ConfigError, MissingExtraError
from vouching.models.batching import Batcher, Waiting

Tensor: TypeAlias = Any
"""A torch tensor; torch need not be there for its types."""
Forward: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""From token ids and attention mask, both (B, T) and padded on the right, to (B,) numbers."""
MOST_TOKENS = 16_384
"""Tokens of a batch, padding included; a longer row goes alone."""


class RowScores:
    """Numbers for rows of token ids.

    Args:
        forward: makes the numbers.
        device: where the model is.
        pad: token id that fills up shorter rows.
        most: rows that are taken together at most.
        gather: seconds that a call waits for others.
    """

    def __init__(self, forward: Forward, device: str, pad: int = 0, *, most: int = 256, gather: float = 0.005) -> None:
        self._forward, self._device, self._pad = forward, device, pad
        self._batcher: Batcher[tuple[int, ...], float] = Batcher(self._work, most, gather)

    async def numbers(self, rows: Sequence[tuple[int, ...]]) -> list[float]:
        """A number for each row, in order; it may be nan or infinite if the weights are broken."""
        return list(await asyncio.gather(*(self._batcher.submit(row) for row in rows)))

    async def aclose(self) -> None:
        """End the thread after the calls under way."""
        await self._batcher.aclose()

    def _work(self, batch: Sequence[Waiting[tuple[int, ...], float]]) -> list[float]:
        torch = need("torch")
        rows = [waiting.job for waiting in batch]
        numbers = [0.0] * len(rows)
        for places in _batches([len(row) for row in rows]):
            longest = max(len(rows[place]) for place in places)
            ids = [[*rows[place], *[self._pad] * (longest - len(rows[place]))] for place in places]
            mask = [[1] * len(rows[place]) + [0] * (longest - len(rows[place])) for place in places]
            with torch.inference_mode():
                found = self._forward(torch.tensor(ids, device=self._device), torch.tensor(mask, device=self._device))
            for place, number in zip(places, found.float().tolist(), strict=True):
                numbers[place] = number
        return numbers


def load_weights(kind: str, path: str | Path, **settings: Any) -> tuple[Any, set[str]]:
    """A model of transformers from a folder, and the names of weights that the folder does not have.

    Args:
        kind: class of transformers that loads it, e.g. "AutoModelForSequenceClassification".
        path: the folder.
        settings: passed on.

    Raises:
        ConfigError: no such model in the folder.
        MissingExtraError: torch or transformers is not installed.
    """
    need("torch")
    transformers = need("transformers")
    config_of(path)
    transformers.logging.set_verbosity_error()  # what is missing is told by the caller
    transformers.logging.disable_progress_bar()
    try:
        model, told = getattr(transformers, kind).from_pretrained(
            path, local_files_only=True, trust_remote_code=False, output_loading_info=True, **settings
        )
    except Exception as error:  # every format of weights has errors of its own
        raise ConfigError(f"{path} cannot be loaded as {kind}: {error}") from error
    return model.eval(), {*told["missing_keys"]}


def config_of(path: str | Path) -> dict[str, Any]:
    """What stands in the config.json of a folder. Raises ConfigError if there is none."""
    try:
        found = json.loads((Path(path) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        hint = f", such as {path}/model" if (Path(path) / "model/config.json").is_file() else ""
        raise ConfigError(
            f"{path} holds no model ({reason}): name a folder with config.json, weights and a tokenizer{hint}"
        ) from error
    return found if isinstance(found, dict) else {}


def load_tokenizer(path: str | Path) -> Any:
    """The tokenizer in a folder. Raises ConfigError if there is none."""
    try:
        return need("transformers").AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # every kind of tokenizer has errors of its own
        raise ConfigError(f"{path} holds no tokenizer that can be read: {error}") from error


def device_of(device: str) -> str:
    """The device that a setting means: "auto" takes a GPU if there is one."""
    return device if device != "auto" else "cuda" if need("torch").cuda.is_available() else "cpu"


def need(module: str) -> Any:
    """A module of the extra "train". Raises MissingExtraError if it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError("train", "running a model in this process", module) from error


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions of the rows, longest first, in batches of at most ``MOST_TOKENS`` with their padding.

    >>> [*_batches([9_000, 3, 8_000])]
    [[0], [2, 1]]
    """
    batch: list[int] = []
    longest = 0
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and (len(batch) + 1) * longest > MOST_TOKENS:
            yield batch
            batch = []
        if not batch:
            longest = lengths[place]
        batch.append(place)
    if batch:
        yield batch
