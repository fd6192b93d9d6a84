# pyright: basic
"""A model in a GGUF file, run by the server of llama.cpp within this process (package ``xllamacpp``).

The server listens on a free port of this machine and requires a random key; calls to it are those to any server, so it
enforces schemas, reports log-probabilities and applies the chat template in the file. Not supported: LoRA adapters, and
token ids of completions, so it is not a Policy.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from vouching.errors import ConfigError, needed
from vouching.models.base import Completion, Message, Sampling
from vouching.models.http import HttpModel
from vouching.models.limits import TimeLimits, context_given, number_of
from vouching.models.wrappers import Wrapper

CONTEXT = 8192
"""Tokens of the context by default; the memory grows with it."""


class GgufModel(Wrapper):
    """A model in a GGUF file; it answers one call at a time, on ``OMP_NUM_THREADS`` threads, else one for each core.

    Args:
        path: the file.
        time: seconds for a reply, or limits for each phase.

    Raises:
        ConfigError: the file does not exist, or llama.cpp cannot load it.
        MissingExtraError: xllamacpp is not installed.
    """

    def __init__(self, path: str | Path, time: TimeLimits = TimeLimits()) -> None:  # noqa: B008 - frozen
        if not Path(path).is_file():
            raise ConfigError(f"there is no file {path}: pass a GGUF file, or a folder of weights for transformers")
        with Path(path).open("rb") as file:
            if (begins := file.read(4)) != b"GGUF":
                raise ConfigError(f"{path} is no GGUF file: it begins with {begins!r}, not with GGUF")
        llama = needed("xllamacpp", "llama", "running a GGUF file in this process")
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else -1
        key, threads = secrets.token_hex(), int(number_of("OMP_NUM_THREADS", 1) or cores)
        settings = llama.CommonParams()
        settings.model.path, settings.api_keys, settings.verbosity = str(path), [key], 0
        settings.n_ctx, settings.n_parallel, settings.endpoint_props = context_given() or CONTEXT, 1, True
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
        try:
            self._server = llama.Server(settings)
        except (RuntimeError, ValueError) as error:
            raise ConfigError(
                f"llama.cpp cannot load {path} ({error}): it may be incomplete, or newer than llama.cpp; get it again, "
                "or update xllamacpp"
            ) from error
        self._name = f"local:{path}"
        super().__init__(HttpModel(f"{self._server.listening_address}/v1", Path(path).stem, api_key=key, timeout=time))

    @property
    def name(self) -> str:
        """The file, as ``open_model`` accepts it."""
        return self._name

    async def generate(self, messages: Sequence[Message], sampling: Sampling) -> list[Completion]:
        """``sampling.n`` completions. Raises as a model on a server does."""
        return await self.model.generate(messages, sampling)
