"""Pairs of documents and claims, judged as a whole and window by window."""

from __future__ import annotations

import pytest

from tests.cli.chat_server import chat_server
from vouching import check
from vouching.errors import ConfigError, InputError
from vouching.evidence_windows import score_pairs
from vouching.search.passages import cut_passages

FILLER = " ".join(f"Ship number {number} left the harbour of Genoa with timber on board." for number in range(40))
LONG = f"{FILLER} The bridge opened to traffic in 1973. {FILLER}"


def test_the_label_and_the_score_are_those_of_the_whole_document() -> None:
    claims = ["The bridge opened in 1973.", "The bridge opened in 1937."]
    pairs = score_pairs([LONG, {"doc_id": "b", "text": LONG}], claims, model="embedded:rules")
    assert [pair.label for pair in pairs] == [1, 0]
    for pair, claim in zip(pairs, claims, strict=True):
        alone = check(claim, LONG, model="embedded:rules")
        assert alone.kind == "verdict"
        assert pair.score == alone.score


def test_each_window_has_a_score_and_the_best_one_holds_the_evidence() -> None:
    [pair] = score_pairs([LONG], ["The bridge opened in 1973."], model="embedded:rules", max_words=64)
    # 80 sentences of 12 words and one of 7, in windows of 64 words that repeat up to 32: many windows, in order.
    assert [(one.span.start, one.span.end) for one in pair.windows] == cut_passages(LONG, 64)
    assert len(pair.window_scores) == len(pair.windows) > 10
    assert pair.best is not None
    assert "1973" in pair.best.span.text
    assert LONG[pair.best.span.start : pair.best.span.end] == pair.best.span.text
    # Windows overlap: exactly those that have the whole sentence support the claim.
    supporting = [score is not None and score >= 0.5 for score in pair.window_scores]
    assert supporting == ["The bridge opened to traffic in 1973." in one.span.text for one in pair.windows]


def test_a_document_without_words_has_no_window() -> None:
    [pair] = score_pairs([" "], ["It opened in 1973."], model="embedded:rules")
    assert (pair.label, pair.windows, pair.best) == (0, (), None)


def test_a_judge_that_fails_has_neither_a_label_nor_a_score() -> None:
    with chat_server(lambda prompt: "who knows") as name:
        [pair] = score_pairs(["It opened in 1973."], ["It opened in 1973."], model=name)
    assert (pair.label, pair.score, pair.window_scores, pair.best) == (None, None, (None,), None)


def test_lists_that_do_not_match_and_windows_that_are_too_small_are_refused() -> None:
    with pytest.raises(InputError, match="one document per claim: got 2 and 1"):
        score_pairs(["a", "b"], ["It opened."])
    with pytest.raises(InputError, match="got a single text and 1"):
        score_pairs("a", ["It opened."])
    with pytest.raises(ConfigError, match="max_words must be at least 64, got 5"):
        score_pairs(["a b"], ["It opened."], max_words=5)
