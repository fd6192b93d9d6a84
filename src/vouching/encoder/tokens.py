"""What is read of a claim and its sources: the claim as far as it fits, and a few windows.

Left out: the model; training chooses by the same rule.

Texts as token ids that know where they stand: claims, and sources joined into one array.

A tokenizer is a ``tokenizer.json`` of the ``tokenizers`` package with BERT's special tokens. Words such as "[SEP]" that
occur in a text are read as text. Left out: joining word pieces back into words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vouching.encoder.weights import Limits
from vouching.encoder.windows import TokenIndex, Windows, cut_windows
from vouching.errors import WeightsError
from vouching.text.sentences import sentence_spans

if TYPE_CHECKING:
    from tokenizers import Tokenizer

IntArray: TypeAlias = NDArray[np.int32]
_BUDGET_STEP = 32


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as tokens; all arrays have one entry per token, (T,)."""

    ids: IntArray
    """Token ids."""
    starts: IntArray
    """Offset of the first character in the text."""
    ends: IntArray
    """Offset after the last character."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class SourceTokens:
    """The tokens of several sources, one source after the other."""

    tokens: Tokens
    """Ids, and offsets in the source that each token belongs to."""
    source_starts: IntArray
    """First token of each source and, last, the number of all tokens: (N + 1,)."""
    sentence_starts: tuple[IntArray, ...]
    """For each source, the first token of each sentence and, last, the source's end."""
    _windows: dict[int, Windows] = field(default_factory=dict[int, Windows])

    def source_of(self, token: int) -> int:
        """Number of the source that a token belongs to."""
        return int(np.searchsorted(self.source_starts, token, side="right")) - 1

    def windows(self, budget: int) -> Windows:
        """Windows of at most ``budget`` tokens over all sources, (W, 2) first and after last token, in order.

        The budget is rounded down to a multiple of 32, so that claims of about the same length share windows.
        """
        budget = max(1, budget // _BUDGET_STEP * _BUDGET_STEP or budget)
        if budget not in self._windows:
            each = [cut_windows(starts, budget) for starts in self.sentence_starts]
            self._windows[budget] = np.concatenate([*each, np.zeros((0, 2), np.int32)])
        return self._windows[budget]


class PairTokenizer:
    """Turns texts into tokens, and a claim with a window into the input of the encoder.

    Args:
        path: a ``tokenizer.json``.

    Raises:
        WeightsError: it cannot be read, or lacks one of the tokens [CLS], [SEP], [PAD].
    """

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer

        try:
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises Exception itself
            raise WeightsError(f"cannot read the tokenizer {path} ({error}): wanted a tokenizer.json") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # Text that spells a special token stays text.
        self._tokenizer.encode_special_tokens = True
        self.cls, self.sep, self.pad = (self._special(name, path) for name in ("[CLS]", "[SEP]", "[PAD]"))

    @property
    def size(self) -> int:
        """Number of tokens in the vocabulary."""
        return self._tokenizer.get_vocab_size()

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text, without special tokens."""
        return [self._tokens(text) for text in texts]

    def source_tokens(self, texts: Sequence[str]) -> SourceTokens:
        """The tokens of sources, cut into sentences; memory grows by 12 bytes a token."""
        each = [self._sentences(text) for text in texts]
        counts = [len(tokens) for tokens, _ in each]
        firsts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return SourceTokens(
            joined([tokens for tokens, _ in each]),
            firsts,
            tuple(starts + first for (_, starts), first in zip(each, firsts[:-1], strict=True)),
        )

    def pair(self, claim: IntArray, window: IntArray) -> IntArray:
        """Token ids of ``[CLS] claim [SEP] window [SEP]``, (claim + window + 3,)."""
        return np.concatenate([[self.cls], claim, [self.sep], window, [self.sep]]).astype(np.int32)

    def _special(self, name: str, path: Path) -> int:
        found = self._tokenizer.token_to_id(name)
        if found is None:
            raise WeightsError(f"the tokenizer {path} has no {name}: wanted one made for BERT")
        return found

    def _tokens(self, text: str) -> Tokens:
        # One text at a time: for several, tokenizers would start threads of its own.
        coded = self._tokenizer.encode(text, add_special_tokens=False)
        offsets = np.array(coded.offsets, np.int32).reshape(-1, 2)
        return Tokens(np.array(coded.ids, np.int32), offsets[:, 0], offsets[:, 1])

    def _sentences(self, text: str) -> tuple[Tokens, IntArray]:
        """The tokens of one source, and the first token of each sentence with the end."""
        parts: list[Tokens] = []
        for start, end in _territories(text):
            found = self._tokens(text[start:end])
            parts.append(Tokens(found.ids, found.starts + np.int32(start), found.ends + np.int32(start)))
        starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int32)
        return joined(parts), starts


def joined(parts: Sequence[Tokens]) -> Tokens:
    """Tokens one after the other.

    >>> one = Tokens(np.array([7], np.int32), np.array([0], np.int32), np.array([2], np.int32))
    >>> joined([one, one]).ids
    array([7, 7], dtype=int32)
    """
    empty = np.zeros(0, np.int32)
    return Tokens(
        np.concatenate([empty, *(part.ids for part in parts)]),
        np.concatenate([empty, *(part.starts for part in parts)]),
        np.concatenate([empty, *(part.ends for part in parts)]),
    )


def _territories(text: str) -> Iterator[tuple[int, int]]:
    """Stretches from one sentence's start to the next, which together are the whole text."""
    starts = [0, *(start for start, _ in sentence_spans(text)[1:]), len(text)]
    yield from pairwise(starts)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is read of one claim."""

    claim: Tokens
    """The claim's tokens, cut to the limit."""
    claim_cut: bool
    """Whether the claim has more tokens than these."""
    windows: NDArray[np.int32]
    """(K, 2) windows that are read."""
    of: int
    """How many windows there are."""


def choose(claim: Tokens, sources: SourceTokens, index: TokenIndex, limits: Limits) -> Chosen:
    """The windows that are read for a claim; every one if there are no more than ``limits.most_windows``.

    >>> from vouching.encoder.tokens import joined
    >>> nothing = joined([])
    >>> empty = SourceTokens(nothing, np.zeros(1, np.int32), ())
    >>> choose(nothing, empty, TokenIndex(nothing.ids), Limits(128, 64, 4)).of
    0
    """
    n = limits.most_claim_tokens
    kept = Tokens(claim.ids[:n], claim.starts[:n], claim.ends[:n])
    windows = sources.windows(limits.most_tokens - len(kept) - 3)
    picked = index.preselect(kept.ids, windows, limits.most_windows)
    return Chosen(kept, len(claim) > n, windows[picked], len(windows))
