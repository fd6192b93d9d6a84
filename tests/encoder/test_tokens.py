"""Tokens know where they stand, no text can pose as a special token, and windows cover a source without gaps."""

from __future__ import annotations

import math
import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.encoder.tokens import OVERLAP, PairTokenizer, TokenIndex, cut_windows
from vouching.errors import WeightsError

TOKENIZER = PairTokenizer(Path(__file__).parents[1] / "data/tiny_encoder/tokenizer.json")
TEXTS = st.text(string.ascii_letters + string.digits + string.punctuation + " \n\té中", max_size=300)


@given(TEXTS)
def test_every_visible_character_of_a_source_is_in_a_token_and_every_token_in_a_window(text: str) -> None:
    source = TOKENIZER.source_tokens([text])
    covered = {
        place
        for start, end in zip(source.tokens.starts.tolist(), source.tokens.ends.tolist(), strict=True)
        for place in range(start, end)
    }
    assert {i for i, character in enumerate(text) if not character.isspace()} <= covered
    tokens = {token for first, after in source.windows(32).tolist() for token in range(first, after)}
    assert tokens == set(range(len(source.tokens)))


@given(st.lists(TEXTS, max_size=4))
def test_windows_never_reach_from_one_source_into_the_next(texts: list[str]) -> None:
    source = TOKENIZER.source_tokens(texts)
    for first, after in source.windows(32).tolist():
        assert source.source_of(first) == source.source_of(after - 1)


@given(TEXTS)
def test_the_tokens_of_one_source_are_the_same_in_pieces_and_as_a_whole(text: str) -> None:
    [whole] = TOKENIZER.tokens([text])
    pieces = TOKENIZER.source_tokens([text]).tokens
    # A sentence ends at a stop, where no token goes on.
    assert pieces.ids.tolist() == whole.ids.tolist()
    assert pieces.starts.tolist() == whole.starts.tolist()


def test_words_that_look_like_special_tokens_are_read_as_text() -> None:
    [tokens] = TOKENIZER.tokens(["the [SEP] bridge [CLS] [PAD]"])
    assert not {TOKENIZER.cls, TOKENIZER.sep, TOKENIZER.pad} & set(tokens.ids.tolist())


def test_a_pair_is_the_claim_between_special_tokens_and_then_the_window() -> None:
    claim, window = TOKENIZER.tokens(["the bridge", "a river"])
    assert TOKENIZER.pair(claim.ids, window.ids).tolist() == [
        TOKENIZER.cls,
        *claim.ids.tolist(),
        TOKENIZER.sep,
        *window.ids.tolist(),
        TOKENIZER.sep,
    ]


def test_a_file_that_is_not_a_tokenizer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsError, match="cannot read the tokenizer"):
        PairTokenizer(path)


def test_a_tokenizer_without_the_special_tokens_of_bert_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    text = (Path(__file__).parents[1] / "data/tiny_encoder/tokenizer.json").read_text(encoding="utf-8")
    path.write_text(text.replace("[SEP]", "<end>"), encoding="utf-8")
    with pytest.raises(WeightsError, match=r"has no \[SEP\]"):
        PairTokenizer(path)


LENGTHS = st.lists(st.integers(0, 90), max_size=30)


def starts_of(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


@given(LENGTHS, st.integers(1, 100))
def test_windows_follow_each_other_without_a_gap_from_the_first_token_to_the_last(
    lengths: list[int], budget: int
) -> None:
    windows = cut_windows(starts_of(lengths), budget)
    covered = {token for first, after in windows.tolist() for token in range(first, after)}
    assert covered == set(range(sum(lengths)))


@given(LENGTHS, st.integers(1, 100))
def test_windows_stay_within_the_budget_and_advance(lengths: list[int], budget: int) -> None:
    windows = cut_windows(starts_of(lengths), budget)
    assert ((windows[:, 1] - windows[:, 0] > 0) & (windows[:, 1] - windows[:, 0] <= budget)).all()
    assert (np.diff(windows, axis=0) > 0).all()


@given(LENGTHS, st.integers(1, 100))
def test_a_window_repeats_at_most_the_overlap_of_the_previous_one(lengths: list[int], budget: int) -> None:
    windows = cut_windows(starts_of(lengths), budget)
    assert (windows[:-1, 1] - windows[1:, 0] <= OVERLAP).all()


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(40, 100))
def test_a_sentence_that_fits_is_whole_in_some_window(lengths: list[int], budget: int) -> None:
    starts = starts_of(lengths)
    windows = cut_windows(starts, budget).tolist()
    for first, after in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        assert any(start <= first and after <= end for start, end in windows)


def test_the_window_with_the_rarest_shared_token_is_chosen() -> None:
    # Token 1 is in all four windows, 9 in one, 8 in two.
    ids = np.array([1, 5, 1, 8, 1, 8, 1, 9], np.int32)
    windows = np.array([[0, 2], [2, 4], [4, 6], [6, 8]], np.int32)
    index = TokenIndex(ids)
    assert index.preselect(np.array([1, 9], np.int32), windows, 1).tolist() == [3]
    # idf of 9: ln(1 + 3.5 / 1.5) = 1.204; of 8: ln(1 + 2.5 / 2.5) = 0.693. Two of the windows are to be read.
    assert math.log1p(3.5 / 1.5) > math.log1p(2.5 / 2.5)
    assert index.preselect(np.array([8, 9], np.int32), windows, 2).tolist() == [1, 3]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.lists(st.integers(0, 9), max_size=8), st.integers(1, 5))
def test_preselection_takes_the_best_sums_of_inverse_document_frequency(
    ids: list[int], claim: list[int], limit: int
) -> None:
    windows = cut_windows(np.arange(0, len(ids) + 1, dtype=np.int32), 7)
    texts = [set(ids[first:after]) for first, after in windows.tolist()]
    having = {t: sum(t in text for text in texts) for t in set(claim)}
    n = len(texts)
    sums = [sum(math.log(1 + (n - having[t] + 0.5) / (having[t] + 0.5)) for t in set(claim) & text) for text in texts]
    chosen = TokenIndex(np.array(ids, np.int32)).preselect(np.array(claim, np.int32), windows, limit).tolist()
    assert chosen == sorted(chosen)
    assert len(chosen) == min(limit, n)
    left = [total for i, total in enumerate(sums) if i not in chosen]
    assert min(sums[i] for i in chosen) >= max(left, default=0.0) - 1e-9


def test_a_million_tokens_are_cut_and_searched_at_once() -> None:
    starts = np.arange(0, 1_000_001, 25, dtype=np.int32)
    ids = np.random.default_rng(0).integers(0, 30_000, 1_000_000).astype(np.int32)
    ids[777_777] = 30_001
    windows = cut_windows(starts, 200)
    chosen = TokenIndex(ids).preselect(np.array([30_001, 5], np.int32), windows, 4)
    assert any(first <= 777_777 < after for first, after in windows[chosen].tolist())
