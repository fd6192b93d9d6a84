"""What is read of a claim and its sources: the claim up to its limit, and a few windows of the sources.

A tokenizer is a ``tokenizer.json`` of the ``tokenizers`` package with BERT's special tokens. Words such as "[SEP]" in a
text are read as text; every token has its offsets. Long sources are cut between sentences into overlapping windows, and
the few that share the claim's rarest words are read; training uses the same rule. Not supported: windows of sentences
from different places, and choosing windows by meaning.
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
from vouching.errors import WeightsError
from vouching.text.sentences import sentence_spans

if TYPE_CHECKING:
    from tokenizers import Tokenizer

OVERLAP = 32
"""Maximum number of tokens that a window repeats of the previous one."""
Windows: TypeAlias = NDArray[np.int32]
"""(W, 2): first token and the one after the last, both columns increasing."""


def cut_windows(sentence_starts: NDArray[np.int32], budget: int) -> Windows:
    """Cut tokens into windows of whole sentences; a sentence beyond the budget is itself cut.

    Windows follow each other without a gap. Each repeats the last sentences of the previous one if these have at most
    ``OVERLAP`` tokens (pieces of a long sentence: half the budget, if that is less).

    Args:
        sentence_starts: (S + 1,) first token of each sentence and, last, the end; increasing.
        budget: maximum tokens of a window, at least 1.

    Returns:
        (W, 2) first and after last token; empty without tokens.

    >>> cut_windows(np.array([0, 30, 60, 90], np.int32), budget=64).tolist()
    [[0, 60], [30, 90]]
    >>> cut_windows(np.array([0, 10], np.int32), budget=4).tolist()
    [[0, 4], [2, 6], [4, 8], [6, 10]]
    """
    bounds = np.unique(sentence_starts)
    windows: list[tuple[int, int]] = []
    sentence = 0
    while sentence < len(bounds) - 1:
        first = int(bounds[sentence])
        after = int(np.searchsorted(bounds, first + budget, side="right")) - 1
        if after == sentence:
            end = int(bounds[sentence + 1])
            step = budget - min(OVERLAP, budget // 2)
            pieces = range(first, end - (budget - step), step)
            windows += [(start, min(start + budget, end)) for start in pieces]
            sentence += 1
            continue
        windows.append((first, int(bounds[after])))
        if after == len(bounds) - 1:
            break
        # The largest overlap with which the next sentence still fits in; else the window would add nothing new.
        earliest = max(int(bounds[after]) - OVERLAP, int(bounds[after + 1]) - budget)
        sentence = min(after, max(sentence + 1, int(np.searchsorted(bounds, earliest, side="left"))))
    return np.array(windows, np.int32).reshape(-1, 2)


class TokenIndex:
    """Positions of each token id in a long (T,) array of ids; built once, queried for every claim."""

    def __init__(self, ids: NDArray[np.int32]) -> None:
        self._places = np.argsort(ids, kind="stable").astype(np.int32)
        self._sorted = ids[self._places]

    def places(self, token: int) -> NDArray[np.int32]:
        """Positions of a token id, increasing.

        >>> TokenIndex(np.array([5, 7, 5], np.int32)).places(5)
        array([0, 2], dtype=int32)
        """
        low, high = np.searchsorted(self._sorted, [token, token + 1])
        return self._places[low:high]

    def preselect(self, claim: NDArray[np.int32], windows: Windows, limit: int) -> NDArray[np.intp]:
        """Numbers of the windows that share the rarest tokens with a claim, at most ``limit``, in text order.

        Windows are ranked by the sum of inverse document frequencies (BM25, Robertson & Zaragoza 2009, eq. 3.3) of
        the shared tokens, each counted once; of tied windows the first is taken.

        >>> windows = np.array([[0, 2], [2, 4], [4, 6]], np.int32)
        >>> TokenIndex(np.array([1, 2, 1, 3, 1, 4], np.int32)).preselect(np.array([1, 4], np.int32), windows, limit=1)
        array([2])
        """
        if len(windows) <= limit:
            return np.arange(len(windows))
        score = np.zeros(len(windows))
        for token in np.unique(claim).tolist():
            places = self.places(token)
            has = np.searchsorted(places, windows[:, 1]) > np.searchsorted(places, windows[:, 0])
            having = has.sum()
            score += has * np.log1p((len(windows) - having + 0.5) / (having + 0.5))
        return np.sort(np.argsort(-score, kind="stable")[:limit])


IntArray: TypeAlias = NDArray[np.int32]
_BUDGET_STEP = 32


@dataclass(frozen=True, slots=True)
class Tokens:
    """A tokenised text; all arrays are (T,)."""

    ids: IntArray
    starts: IntArray
    """Offset of each token's first character in the text."""
    ends: IntArray
    """Offset after the last character."""

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class SourceTokens:
    """The tokens of several sources, concatenated."""

    tokens: Tokens
    """Ids, and offsets in each token's own source."""
    source_starts: IntArray
    """(N + 1,) first token of each source and, last, the number of tokens."""
    sentence_starts: tuple[IntArray, ...]
    """For each source, the first token of each sentence and, last, the source's end."""
    _windows: dict[int, Windows] = field(default_factory=dict[int, Windows])

    def source_of(self, token: int) -> int:
        """Number of the source of a token."""
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


_SPECIAL_TOKENS = (("[CLS]", "<s>"), ("[SEP]", "</s>"), ("[PAD]", "<pad>"))
"""Before the claim, after either text, and after the end."""


class PairTokenizer:
    """Tokenises texts, and joins a claim and a window to the encoder's input.

    Args:
        path: a ``tokenizer.json``.

    Raises:
        WeightsError: it cannot be read, or lacks [CLS], [SEP] or [PAD], which RoBERTa calls <s>, </s> and <pad>.
    """

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer

        try:
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises Exception itself
            raise WeightsError(f"cannot read the tokenizer {path} ({error}): expected a tokenizer.json") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # Tokenizers other than BERT's count the space before a word to its token.
        self._spaces = self._tokenizer.encode("a b", add_special_tokens=False).offsets[-1][0] < 2
        # Text that spells a special token stays text.
        self._tokenizer.encode_special_tokens = True
        self.cls, self.sep, self.pad = (self._special(names, path) for names in _SPECIAL_TOKENS)

    @property
    def size(self) -> int:
        """Size of the vocabulary."""
        return self._tokenizer.get_vocab_size()

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Tokens of each text, without special tokens."""
        return [self._tokens(text) for text in texts]

    def source_tokens(self, texts: Sequence[str]) -> SourceTokens:
        """Tokenise sources, split into sentences; the result takes 12 bytes per token."""
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

    def _special(self, names: Sequence[str], path: Path) -> int:
        for name in names:
            if (found := self._tokenizer.token_to_id(name)) is not None:
                return found
        raise WeightsError(
            f"the tokenizer {path} has no {' or '.join(names)}: expected a tokenizer for BERT, RoBERTa, DeBERTa-v3 or "
            "ModernBERT"
        )

    def _tokens(self, text: str) -> Tokens:
        # One text at a time: for several, tokenizers would start its own threads.
        coded = self._tokenizer.encode(text, add_special_tokens=False)
        offsets = np.array(coded.offsets, np.int32).reshape(-1, 2)
        if self._spaces:
            for place in offsets:
                while place[0] + 1 < place[1] and text[place[0]].isspace():
                    place[0] += 1
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
    """Concatenate tokens.

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
    """Stretches from one sentence's start to the next, which together cover the whole text."""
    starts = [0, *(start for start, _ in sentence_spans(text)[1:]), len(text)]
    yield from pairwise(starts)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is read of one claim."""

    claim: Tokens
    """Tokens of the claim, cut to the limit."""
    claim_cut: bool
    """Whether tokens were cut."""
    windows: NDArray[np.int32]
    """(K, 2) windows that are read."""
    of: int
    """Number of windows of the sources."""


def choose(claim: Tokens, sources: SourceTokens, index: TokenIndex, limits: Limits) -> Chosen:
    """The windows that are read for a claim; all of them if there are at most ``limits.max_windows``.

    >>> from vouching.encoder.tokens import joined
    >>> nothing = joined([])
    >>> empty = SourceTokens(nothing, np.zeros(1, np.int32), ())
    >>> choose(nothing, empty, TokenIndex(nothing.ids), Limits(128, 64, 4)).of
    0
    """
    n = limits.max_claim_tokens
    kept = Tokens(claim.ids[:n], claim.starts[:n], claim.ends[:n])
    windows = sources.windows(limits.max_tokens - len(kept) - 3)
    picked = index.preselect(kept.ids, windows, limits.max_windows)
    return Chosen(kept, len(claim) > n, windows[picked], len(windows))
