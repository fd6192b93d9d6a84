"""How a text and claims about it become tokens: ids, positions and who sees whom.

A text is ``</s> text </s>`` from position 66; a claim is ``<s> claim </s>`` from position 2, and its notes (the
question, the sentence before, computed facts) follow from position 384, each with ``</s>`` behind it. The text sees
itself only, a claim with its notes sees the text and itself, so that a text is read once for all claims about it, now
and later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.errors import WeightsError, needed

Ints: TypeAlias = NDArray[np.int64]

BOS, PAD, EOS = 0, 1, 2
WINDOW, CLAIM, NOTES = 440, 62, 110
"""Most tokens of a text without its marks, of a claim with its two marks, and of its notes."""
TEXT_AT, CLAIM_AT, NOTES_AT = 66, 2, 384
BUCKETS, FARTHEST = 32, 128


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token ids with their positions, and where each token of the text or claim is in it."""

    ids: Ints
    """(T,), marks included."""
    positions: Ints
    """(T,)"""
    starts: Ints
    """(N,) offset of the first character of each token of the text or claim itself; these are ids[1 : N + 1]."""
    ends: Ints
    """(N,)"""
    cut: bool
    """Whether the end did not fit."""

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """Makes the tokens of texts and claims.

    Args:
        path: a ``tokenizer.json``.

    Raises:
        MissingExtraError: tokenizers is not installed.
        WeightsError: the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        tokenizers = needed("tokenizers", "", "the encoder")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises plain Exception
            raise WeightsError(f"cannot read the tokenizer {path} ({error})") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without marks."""
        return [len(entry.ids) for entry in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def text(self, text: str) -> Tokens:
        """The tokens of a text, cut at the size of a window."""
        return self._tokens(text, EOS, WINDOW, TEXT_AT)

    def block(self, claim: str, notes: Sequence[str] = ()) -> Tokens:
        """The tokens of a claim and its notes; a note that does not fit is dropped whole."""
        own = self._tokens(claim, BOS, CLAIM - 2, CLAIM_AT)
        further: list[int] = []
        for note in notes:
            ids = [*self._tokenizer.encode(note, add_special_tokens=False).ids, EOS]
            further += ids if len(further) + len(ids) <= NOTES else []
        ids = np.concatenate([own.ids, np.array(further, np.int64)])
        positions = np.concatenate([own.positions, np.arange(NOTES_AT, NOTES_AT + len(further))])
        return Tokens(ids, positions, own.starts, own.ends, own.cut)

    def _tokens(self, text: str, mark: int, most: int, first: int) -> Tokens:
        found = self._tokenizer.encode(text, add_special_tokens=False)
        offsets = np.array(found.offsets[:most], np.int64).reshape(-1, 2)
        ids = np.array([mark, *found.ids[:most], EOS], np.int64)
        return Tokens(ids, np.arange(first, first + len(ids)), offsets[:, 0], offsets[:, 1], len(found.ids) > most)


def buckets_of(asks: Ints, asked: Ints) -> Ints:
    """MPNet's bucket of the distance from each position that asks (A,) to each that is asked (B,), as (A, B).

    Half of the buckets by sign, exact to 8 places, then by the logarithm up to 128 (Raffel et al. 2020, T5's biases).

    >>> buckets_of(np.array([10]), np.array([10, 9, 11, 300])).tolist()
    [[0, 1, 17, 31]]
    """
    half, exact = BUCKETS // 2, BUCKETS // 4
    distance = asked[None, :] - asks[:, None]
    size = np.abs(distance)
    far = exact + (np.log(np.maximum(size, 1) / exact) / np.log(FARTHEST / exact) * (half - exact)).astype(np.int64)
    return (distance > 0) * half + np.where(size < exact, size, np.minimum(far, half - 1))
