"""Tokens know where they stand, and no text can pose as a special token."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.encoder.tokens import PairTokenizer
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
        TOKENIZER.cls, *claim.ids.tolist(), TOKENIZER.sep, *window.ids.tolist(), TOKENIZER.sep,
    ]  # fmt: skip


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(WeightsError, match="cannot read the tokenizer"):
        PairTokenizer(path)


def test_a_tokenizer_without_the_special_tokens_of_bert_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    text = (Path(__file__).parents[1] / "data/tiny_encoder/tokenizer.json").read_text(encoding="utf-8")
    path.write_text(text.replace("[SEP]", "</s>"), encoding="utf-8")
    with pytest.raises(WeightsError, match=r"has no \[SEP\]"):
        PairTokenizer(path)
