"""Reads claims with their sources: chooses windows, runs the model on each, folds the outputs.

One forward pass over ``[CLS] claim [SEP] window [SEP]`` gives the relation, the support of each claim token, the error
type and the states for late interaction (Khattab & Zaharia 2020, MaxSim, here between tokens that attend to each
other). Each window is run alone, without padding: int8 activations are scaled by the maximum of a batch, so that in a
batch a claim's numbers would depend on its neighbours, and on one core batches are no faster. Calibration and verdicts
belong to the verifier. Not supported: GPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.encoder.folding import WindowOutputs, fold, reading_of
from vouching.encoder.reading import SoftReading
from vouching.encoder.tokens import Chosen, PairTokenizer, SourceTokens, TokenIndex, choose
from vouching.encoder.weights import INPUTS, MODEL, OUTPUTS, TOKENIZER, Weights, find_weights
from vouching.errors import MissingExtraError, WeightsError, needed
from vouching.types import Source

Inputs: TypeAlias = dict[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class EncodedSources:
    """Tokenised sources, made once and read with any number of claims."""

    sources: tuple[Source, ...]
    tokens: SourceTokens
    index: TokenIndex


class Encoder:
    """A loaded encoder. Safe to use from several threads.

    Args:
        weights: a checked folder.
        threads: threads of the model; one is best if several processes share a machine.

    Raises:
        MissingExtraError: onnxruntime or tokenizers is not installed.
        WeightsError: the model cannot be loaded, or model and tokenizer do not match.
    """

    def __init__(self, weights: Weights, threads: int = 1) -> None:
        self.weights = weights
        self._session = _session(weights.folder / MODEL, threads)
        try:
            self._tokenizer = PairTokenizer(weights.folder / TOKENIZER)
        except ImportError as error:
            raise MissingExtraError("", "the encoder", "tokenizers") from error
        if self._tokenizer.size != weights.vocabulary:
            raise WeightsError(
                f"the tokenizer in {weights.folder} has {self._tokenizer.size} tokens, but the model has "
                f"{weights.vocabulary}: use both from the same export"
            )

    def encode(self, sources: Sequence[Source]) -> EncodedSources:
        """Tokenise sources of any length; the result takes 24 bytes of memory per token."""
        tokens = self._tokenizer.source_tokens([source.text for source in sources])
        return EncodedSources(tuple(sources), tokens, TokenIndex(tokens.tokens.ids))

    def read(self, claim: str, sources: EncodedSources) -> SoftReading:
        """Read one claim with its sources.

        A claim beyond the model's limit is cut (``SoftReading.claim_read``); source text outside the chosen windows is
        listed in ``SoftReading.unread``. The same call gives the same numbers on one machine; between CPUs
        they differ by less than .01.
        """
        [tokens] = self._tokenizer.tokens([claim])
        chosen = choose(tokens, sources.tokens, sources.index, self.weights.limits)
        folded = fold(self._windows(chosen, sources.tokens))
        return reading_of(claim, chosen, folded, sources.sources, sources.tokens)

    def states(self, text: str) -> NDArray[np.float32]:
        """(T, W) states of unit length of a single text's tokens, cut at the model's limit; for late interaction."""
        [tokens] = self._tokenizer.tokens([text])
        ids = tokens.ids[: self.weights.limits.max_tokens - 3]
        inputs = inputs_of(self._tokenizer.pair(ids, ids[:0]), len(ids))
        [states] = self._session.run(["states"], inputs)
        return np.asarray(states[0, 1 : len(ids) + 1], np.float32)

    def _windows(self, chosen: Chosen, sources: SourceTokens) -> list[WindowOutputs]:
        """The model's outputs for each window of a claim, in order."""
        outputs: list[WindowOutputs] = []
        n = len(chosen.claim)
        for first, after in chosen.windows.tolist():
            ids = self._tokenizer.pair(chosen.claim.ids, sources.tokens.ids[first:after])
            values = self._session.run(list(OUTPUTS), inputs_of(ids, n))
            relation, support, error, states = (np.asarray(value[0], np.float32) for value in values)
            outputs.append(
                WindowOutputs(first, relation, error, support[1 : n + 1], states[1 : n + 1], states[n + 2 : -1])
            )
        return outputs


@cache
def load_encoder(path: Path | None = None, threads: int = 1) -> Encoder:
    """The encoder of a folder, loaded once; None is the one shipped with vouching.

    Raises:
        WeightsError: a file is missing, altered or of another format, or the files do not match.
        MissingExtraError: onnxruntime or tokenizers is not installed.

    >>> encoder = load_encoder()
    >>> encoder.read("A man sleeps.", encoder.encode([Source("A man naps on the sofa.")])).support > 0.5
    True
    """
    return Encoder(find_weights(path), threads)


def inputs_of(ids: NDArray[np.int32], claim_tokens: int) -> Inputs:
    """The model's inputs, (1, T) each, for one claim with one window.

    Args:
        ids: (T,) token ids, special tokens included.
        claim_tokens: number of claim tokens; with [CLS] and the first [SEP] they have type 0, the window has type 1.

    >>> inputs_of(np.array([2, 7, 3, 8, 3], np.int32), 1)["token_type_ids"]
    array([[0, 0, 0, 1, 1]])
    """
    row = ids.astype(np.int64)[None]
    types = (np.arange(len(ids)) > claim_tokens + 1).astype(np.int64)[None]
    return dict(zip(INPUTS, (row, np.ones_like(row), types), strict=True))


def has_vnni() -> bool:
    """Whether this x86 CPU has VNNI: AVX-512 VNNI, or AVX-VNNI, which only Linux tells.

    Without it, sums of products of unsigned and signed int8 numbers saturate at 16 bits, so that a verdict would depend
    on the CPU; onnxruntime then has to multiply unsigned numbers, which is slower. Other architectures do not saturate,
    and onnxruntime ignores the setting there.
    """
    try:  # by CPUID, which an emulator answers too
        features: dict[str, bool] = getattr(import_module("numpy._core._multiarray_umath"), "__cpu_features__", {})
    except ImportError:
        features = {}
    if features.get("AVX512VNNI"):
        return True
    flags = {"avx_vnni"} if "AVX512VNNI" in features else {"avx_vnni", "avx512_vnni"}
    try:
        return not flags.isdisjoint(CPUINFO.read_text("ascii", "replace").split())
    except OSError:
        return False


CPUINFO = Path("/proc/cpuinfo")
"""Where Linux tells what the CPU has."""


def open_model(path: Path, threads: int) -> Any:
    """An onnxruntime session of a model, the same numbers on every CPU. Raises WeightsError if it cannot be loaded."""
    onnxruntime = needed("onnxruntime", "", "the encoder")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    # Windows differ in length: kept arenas would only grow.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    if not has_vnni():
        options.add_session_config_entry("session.x64quantprecision", "1")
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors derive from Exception
        raise WeightsError(f"onnxruntime cannot load {path} ({error}): export the encoder again") from error


def _session(path: Path, threads: int) -> Any:
    session = open_model(path, threads)
    for found, expected in ((session.get_inputs(), INPUTS), (session.get_outputs(), OUTPUTS)):
        names = tuple(str(entry.name) for entry in found)
        if names != expected:
            raise WeightsError(
                f"{path} has the inputs or outputs {', '.join(names)}, expected {', '.join(expected)}: export the "
                "encoder again"
            )
    return session
