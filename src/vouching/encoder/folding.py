"""Fold the encoder's outputs for one claim and the windows of its sources into one reading.

A claim is supported if one window supports it, and so is each of its tokens; an irrelevant window changes nothing.
Thresholds and labels belong to the verifier. Not supported: evidence combined from several windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.encoder.reading import SoftReading, TokenMatch
from vouching.encoder.tokens import Chosen, SourceTokens
from vouching.types import ErrorType, Relation, Source, Span
from vouching.types.spans import ERROR_TYPES

Floats: TypeAlias = NDArray[np.float32]
RELATIONS: tuple[Relation, ...] = ("supported", "contradicted", "not_found")
"""Order of the relation's logits."""


@dataclass(frozen=True, slots=True)
class WindowOutputs:
    """The model's outputs for one claim (C tokens) and one window (S tokens)."""

    first: int
    """First token of the window, counted over all sources."""
    relation: Floats
    """(3,) logits, in the order of ``RELATIONS``."""
    error_type: Floats
    """(6,) logits, in the order of ``ERROR_TYPES``."""
    support: Floats
    """(C,) logits that a token of the claim is supported."""
    claim_states: Floats
    """(C, W) states of the claim's tokens, of unit length."""
    source_states: Floats
    """(S, W) states of the window's tokens, of unit length."""


@dataclass(frozen=True, slots=True)
class Folded:
    """The outputs of all windows of one claim, combined."""

    relation: Floats
    """(3,) probabilities."""
    error_type: Floats
    """(6,) probabilities."""
    support: Floats
    """(C,) probabilities."""
    match: NDArray[np.int64]
    """(C,) most similar source token of each claim token."""
    similarity: Floats
    """(C,) cosine of the two."""
    claim_mean: Floats
    """(K, W) mean state of the claim's tokens with each window, of unit length."""
    windows: tuple[WindowOutputs, ...]


def softmax(logits: NDArray[np.floating]) -> Floats:
    """Probabilities along the last axis.

    >>> softmax(np.zeros(4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (shifted / shifted.sum(axis=-1, keepdims=True)).astype(np.float32)


def fold(windows: Sequence[WindowOutputs]) -> Folded | None:
    """Fold the windows of a claim; None if there are none.

    P(supported) is the maximum over the windows. The rest is shared between contradicted and not found as in the most
    relevant window, the one with the lowest P(not found), which also gives the error type. The support of a token is
    the maximum over the windows, its match the most similar token of any.

    >>> state = np.ones((1, 1), np.float32)
    >>> def window(*p): return WindowOutputs(0, np.log(np.array(p)), np.zeros(6), np.zeros(1), state, state)
    >>> fold([window(.5, .3, .2), window(.2, .1, .7)]).relation.round(2)
    array([0.5, 0.3, 0.2], dtype=float32)
    """
    if not windows:
        return None
    relations = softmax(np.stack([window.relation for window in windows]))
    nearest = int(relations[:, 2].argmin())
    supported = relations[:, 0].max()
    contradicted = relations[nearest, 1] / max(relations[nearest, 1:].sum(), 1e-9)
    best = [window.claim_states @ window.source_states.T for window in windows]
    similarity = np.stack([found.max(axis=1) for found in best])
    match = np.stack([w.first + found.argmax(axis=1) for w, found in zip(windows, best, strict=True)])
    chosen = similarity.argmax(axis=0)[None]
    return Folded(
        relation=np.array([1, contradicted, 1 - contradicted], np.float32)
        * np.array([supported, 1 - supported, 1 - supported], np.float32),
        error_type=softmax(windows[nearest].error_type),
        support=(1 / (1 + np.exp(-np.stack([window.support for window in windows]).max(axis=0)))).astype(np.float32),
        match=np.take_along_axis(match, chosen, axis=0)[0],
        similarity=np.take_along_axis(similarity, chosen, axis=0)[0].clip(-1, 1),
        claim_mean=np.stack([_mean(window.claim_states) for window in windows]),
        windows=tuple(windows),
    )


def reading_of(
    claim: str, chosen: Chosen, folded: Folded | None, sources: Sequence[Source], source_tokens: SourceTokens
) -> SoftReading:
    """Build the reading from the folded outputs: offsets, spans, and what was not read.

    Args:
        claim: its text.
        chosen: the tokens and windows that were read.
        folded: None if there was no window to read.
        sources: their texts.
        source_tokens: their tokens.
    """
    tokens = chosen.claim
    claim_read = int(tokens.ends[-1]) if chosen.claim_cut else len(claim)
    unread = tuple(_unread(sources, source_tokens, chosen.windows))
    if folded is None:
        nothing: dict[Relation, float] = {"supported": 0.0, "contradicted": 0.0, "not_found": 1.0}
        even: dict[ErrorType, float] = {kind: 1 / len(ERROR_TYPES) for kind in ERROR_TYPES}
        return SoftReading(nothing, even, (), 0.0, 0, chosen.of, unread, claim_read)
    matches = (
        TokenMatch(Span(claim[start:end], start, end), _span(sources, source_tokens, int(place), int(place)), *numbers)
        for start, end, place, *numbers in zip(
            tokens.starts.tolist(),
            tokens.ends.tolist(),
            folded.match.tolist(),
            folded.similarity.tolist(),
            folded.support.tolist(),
            strict=True,
        )
    )
    return SoftReading(
        dict(zip(RELATIONS, folded.relation.tolist(), strict=True)),
        dict(zip(ERROR_TYPES, folded.error_type.tolist(), strict=True)),
        tuple(matches),
        _sentence_similarity(folded, source_tokens),
        len(chosen.windows),
        chosen.of,
        unread,
        claim_read,
    )


def _sentence_similarity(folded: Folded, source_tokens: SourceTokens) -> float:
    """Cosine of the claim's mean state with that of the most similar sentence, within the windows that were read."""
    starts = np.concatenate([np.zeros(0, np.int32), *source_tokens.sentence_starts])
    best = -2.0
    for mean, window in zip(folded.claim_mean, folded.windows, strict=True):
        after = window.first + len(window.source_states)
        inner = starts[(starts > window.first) & (starts < after)]
        bounds = np.unique(np.concatenate([[window.first], inner, [after]]))
        for first, end in pairwise(bounds.tolist()):
            best = max(best, float(mean @ _mean(window.source_states[first - window.first : end - window.first])))
    return max(-1.0, min(1.0, best))


def _mean(states: Floats) -> Floats:
    """Mean of (T, W) states, of unit length; 0 without any."""
    total = states.sum(axis=0)
    return total / max(float(np.linalg.norm(total)), 1e-9)


def _span(sources: Sequence[Source], source_tokens: SourceTokens, first: int, last: int) -> Span:
    """The text from one token to another of the same source."""
    source = sources[source_tokens.source_of(first)]
    start, end = int(source_tokens.tokens.starts[first]), int(source_tokens.tokens.ends[last])
    return Span(source.text[start:end], start, end, source.id)


def _unread(sources: Sequence[Source], source_tokens: SourceTokens, windows: NDArray[np.int32]) -> Iterator[Span]:
    """Stretches of tokens that no window covers, source by source."""
    unread = np.ones(len(source_tokens.tokens) + 1, np.int8)
    for first, after in windows.tolist():
        unread[first:after] = 0
    for first, end in pairwise(source_tokens.source_starts.tolist()):
        edges = np.flatnonzero(np.diff(unread[first:end], prepend=0, append=0)).reshape(-1, 2)
        for start, after in edges.tolist():
            yield _span(sources, source_tokens, first + start, first + after - 1)
