"""Reading claims beside their sources: pick windows, run the model on each, fold the windows.

One forward pass over ``[CLS] claim [SEP] window [SEP]`` gives the relation, the support of each claim token, the error
type and the states for late interaction (Khattab & Zaharia 2020, MaxSim, here between tokens that have seen each
other). Each window is run alone, without padding: int8 activations are scaled by the largest of a batch, so that in a
batch a claim's numbers would depend on its neighbours, and on one core batches are no faster. Calibration and verdicts
are the verifier's. Not supported: GPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.encoder.reading import SoftReading, WindowOutputs, fold, reading_of
from vouching.encoder.tokens import Chosen, PairTokenizer, SourceTokens, TokenIndex, choose
from vouching.encoder.weights import INPUTS, MODEL, OUTPUTS, TOKENIZER, Weights, find_weights
from vouching.errors import MissingExtraError, WeightsError, needed
from vouching.types import Source

Inputs: TypeAlias = dict[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class EncodedSources:
    """Sources as tokens, made once and read with any number of claims."""

    sources: tuple[Source, ...]
    """The texts."""
    tokens: SourceTokens
    """Their tokens."""
    index: TokenIndex
    """Where each token occurs."""


class Encoder:
    """A loaded encoder. Safe to use from several threads.

    Args:
        weights: a checked folder.
        threads: threads of the model; one is best where several processes share a machine.

    Raises:
        MissingExtraError: onnxruntime or tokenizers is not installed.
        WeightsError: the model cannot be loaded, or model and tokenizer do not fit each other.
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
                f"the tokenizer in {weights.folder} has {self._tokenizer.size} tokens, the model knows "
                f"{weights.vocabulary}: take both from one export"
            )

    def encode(self, sources: Sequence[Source]) -> EncodedSources:
        """The tokens of sources of any length; 24 bytes a token stay in memory as long as the result is kept."""
        tokens = self._tokenizer.source_tokens([source.text for source in sources])
        return EncodedSources(tuple(sources), tokens, TokenIndex(tokens.tokens.ids))

    def read(self, claim: str, sources: EncodedSources) -> SoftReading:
        """Read one claim beside its sources.

        Args:
            claim: a claim beyond the model's limit is read as far as that goes (``SoftReading.claim_read``).
            sources: from :meth:`encode`; what no window covers is named in ``SoftReading.unread``.

        Returns:
            The reading. The same call gives the same numbers on one machine; across CPUs the last digits differ.
        """
        [tokens] = self._tokenizer.tokens([claim])
        chosen = choose(tokens, sources.tokens, sources.index, self.weights.limits)
        folded = fold(self._windows(chosen, sources.tokens))
        return reading_of(claim, chosen, folded, sources.sources, sources.tokens)

    def states(self, text: str) -> NDArray[np.float32]:
        """The states of a single text's tokens, (T, W) of unit length; what is beyond the model's limit is not read.

        Its words have not seen another text: what late interaction compares where there is no pair yet.
        """
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
    """The encoder of a folder, loaded once.

    Args:
        path: the folder; None for the one that ships with vouching.
        threads: threads of the model.

    Raises:
        WeightsError: the folder's files are missing, altered, of another format or do not fit each other.
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
        claim_tokens: how many are the claim's; with [CLS] and the first [SEP] they are of type 0, the window of type 1.

    >>> inputs_of(np.array([2, 7, 3, 8, 3], np.int32), 1)["token_type_ids"]
    array([[0, 0, 0, 1, 1]])
    """
    row = ids.astype(np.int64)[None]
    types = (np.arange(len(ids)) > claim_tokens + 1).astype(np.int64)[None]
    return dict(zip(INPUTS, (row, np.ones_like(row), types), strict=True))


def _session(path: Path, threads: int) -> Any:
    onnxruntime = needed("onnxruntime", "", "the encoder")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    # Batches differ in shape: kept arenas would only grow.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors derive from Exception
        raise WeightsError(f"onnxruntime cannot load {path} ({error}): export the encoder again") from error
    for found, wanted in ((session.get_inputs(), INPUTS), (session.get_outputs(), OUTPUTS)):
        names = tuple(str(entry.name) for entry in found)
        if names != wanted:
            raise WeightsError(f"{path} has the inputs or outputs {names}, wanted {wanted}: export the encoder again")
    return session
