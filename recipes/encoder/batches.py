"""Rows as arrays, with tokens and windows as at run time, and the seeded order of batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recipes.encoder.rows import TrainingRow, Unit
from vouching.encoder.tokens import PairTokenizer, TokenIndex, choose
from vouching.encoder.weights import INPUTS, Limits

CHUNK = 64
"""Batches sorted by length together: enough for little padding, few enough for a mixed order."""
Inputs: TypeAlias = dict[str, NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class EncodedRow:
    """One row as arrays."""

    windows: tuple[NDArray[np.int32], ...]
    """Token ids of the claim with each window; at least one."""
    claim_tokens: int
    """Tokens of the claim, C."""
    allowed: NDArray[np.bool_]
    """(3,) relations that the label allows."""
    support: NDArray[np.int8]
    """(C,) 1 for a supported token, 0 for an unsupported one, -1 for unknown."""
    error_type: int
    """Position in ``ERROR_TYPES``; -1 for unknown."""


@dataclass(frozen=True, slots=True)
class EncodedUnit:
    """A unit as arrays."""

    rows: tuple[EncodedRow, ...]
    """One row, or the two of a pair."""
    weight: float
    """What each of its rows counts for."""

    @property
    def windows(self) -> int:
        """Number of windows."""
        return sum(len(row.windows) for row in self.rows)

    @property
    def longest(self) -> int:
        """Tokens of the longest window."""
        return max(len(window) for row in self.rows for window in row.windows)


@dataclass(frozen=True, slots=True)
class Batch:
    """Several units as the arrays that one step takes: R rows with N windows in all, C the longest claim."""

    inputs: Inputs
    """The model's inputs, each (N, T)."""
    windows: NDArray[np.int64]
    """(R, K) numbers of the windows of each row, filled up with the row's first."""
    allowed: NDArray[np.bool_]
    """(R, 3) relations that the label allows."""
    support: NDArray[np.int8]
    """(R, C) as in ``EncodedRow``; -1 after the end of a claim."""
    error_type: NDArray[np.int64]
    """(R,)."""
    weight: NDArray[np.float32]
    """(R,)."""
    pairs: NDArray[np.int64]
    """(P, 2) rows of a claim and of the same claim with an error."""


def encode_units(
    units: Sequence[Unit], weights: Sequence[float], tokenizer: PairTokenizer, limits: Limits
) -> list[EncodedUnit]:
    """Units as arrays, in order, with the windows that the encoder would read."""
    return [
        EncodedUnit(tuple(encode_row(row, tokenizer, limits) for row in unit), weight)
        for unit, weight in zip(units, weights, strict=True)
    ]


def encode_row(row: TrainingRow, tokenizer: PairTokenizer, limits: Limits) -> EncodedRow:
    """One row as arrays; a source without tokens is one empty window."""
    source = tokenizer.source_tokens([row.source])
    [claim] = tokenizer.tokens([row.claim])
    chosen = choose(claim, source, TokenIndex(source.tokens.ids), limits)
    windows = chosen.windows.tolist() or [(0, 0)]
    support = np.full(len(chosen.claim), -1 if row.unsupported is None else 1, np.int8)
    for start, end in row.unsupported or ():
        support[(chosen.claim.starts < end) & (chosen.claim.ends > start)] = 0
    return EncodedRow(
        tuple(tokenizer.pair(chosen.claim.ids, source.tokens.ids[first:after]) for first, after in windows),
        len(chosen.claim),
        np.isin(np.arange(3), row.relations),
        support,
        row.error_type,
    )


def order_of_batches(units: Sequence[EncodedUnit], max_tokens: int, seed: int, epoch: int) -> list[list[int]]:
    """Numbers of units in batches of at most ``max_tokens`` after padding, in the order of one epoch.

    Units are shuffled, sorted by length within chunks, cut into batches, and the batches shuffled; a pure function.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(units))
    sizes = np.array([unit.longest * unit.windows for unit in units])
    chunk_of = np.cumsum(sizes[order]) // (CHUNK * max_tokens) if len(order) else order
    lengths = np.array([unit.longest for unit in units])
    batches: list[list[int]] = []
    for chunk in np.unique(chunk_of):
        members = order[chunk_of == chunk]
        batches += _cut(units, members[np.argsort(lengths[members], kind="stable")].tolist(), max_tokens)
    return [batches[i] for i in random.permutation(len(batches))]


def _cut(units: Sequence[EncodedUnit], numbers: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Units ``numbers``, sorted by length, in batches of at most ``max_tokens`` after padding, or of one unit."""
    batches: list[list[int]] = []
    windows = 0
    for number in numbers:
        unit = units[number]
        if batches and (windows + unit.windows) * unit.longest <= max_tokens:
            batches[-1].append(number)
            windows += unit.windows
        else:
            batches.append([number])
            windows = unit.windows
    return batches


def batch_of(units: Sequence[EncodedUnit], pad: int) -> Batch:
    """Units as one batch."""
    rows = [row for unit in units for row in unit.rows]
    max_windows, max_claim = max(len(row.windows) for row in rows), max(row.claim_tokens for row in rows)
    first, places, pairs = 0, list[list[int]](), list[tuple[int, int]]()
    for row in rows:
        places.append([first + k if k < len(row.windows) else first for k in range(max_windows)])
        first += len(row.windows)
    at = 0
    for unit in units:
        if len(unit.rows) == 2:
            pairs.append((at, at + 1))
        at += len(unit.rows)
    support = np.full((len(rows), max_claim), -1, np.int8)
    for line, row in zip(support, rows, strict=True):
        line[: row.claim_tokens] = row.support
    windows = [window for row in rows for window in row.windows]
    return Batch(
        inputs=padded(windows, [row.claim_tokens for row in rows for _ in row.windows], pad),
        windows=np.array(places, np.int64),
        allowed=np.stack([row.allowed for row in rows]),
        support=support,
        error_type=np.array([row.error_type for row in rows], np.int64),
        weight=np.array([unit.weight for unit in units for _ in unit.rows], np.float32),
        pairs=np.array(pairs, np.int64).reshape(-1, 2),
    )


def padded(rows: Sequence[NDArray[np.int32]], claim_tokens: Sequence[int], pad: int) -> Inputs:
    """Rows of token ids as the model's inputs, (N, T) each, padded to the longest.

    >>> padded([np.array([2, 7, 3, 8, 3], np.int32)], [1], pad=0)["token_type_ids"]
    array([[0, 0, 0, 1, 1]])
    """
    lengths = np.array([len(row) for row in rows])
    ids = np.full((len(rows), lengths.max()), pad, np.int64)
    for line, row in zip(ids, rows, strict=True):
        line[: len(row)] = row
    places = np.arange(ids.shape[1])
    mask = places < lengths[:, None]
    # The claim's part ends with the first [SEP], at claim_tokens + 1.
    types = (places > np.array(claim_tokens)[:, None] + 1) & mask
    return dict(zip(INPUTS, (ids, mask.astype(np.int64), types.astype(np.int64)), strict=True))
