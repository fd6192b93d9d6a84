"""HHEM-2.1-Open's architecture on random weights, and no line of code that comes with them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
transformers: Any = pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")

from tests.methods.discriminative import publishers  # noqa: E402
from tests.methods.discriminative.scorers import BRIDGE, ranked  # noqa: E402
from tests.methods.discriminative.tiny_scorers import write_t5_tokenizer, write_tiny_hhem, write_tiny_scorer  # noqa: E402
from vouching.errors import ConfigError  # noqa: E402
from vouching.methods.discriminative.input import scorer_input  # noqa: E402
from vouching.methods.discriminative.open import open_scorer  # noqa: E402
from vouching.methods.discriminative.published.hhem import open_hhem  # noqa: E402
from vouching.methods.discriminative.published.windowed import WindowScorer  # noqa: E402
from vouching.methods.discriminative.rank import ScoringRanker  # noqa: E402
from vouching.methods.discriminative.scorer import Candidate, Scored  # noqa: E402
from vouching.types import Claim, Source  # noqa: E402

CLAIM = "The bridge opened in 1973."
CARD = (
    ("The capital of France is Berlin.", "The capital of France is Paris.", 0.0111),
    ("I am in California", "I am in United States.", 0.6474),
    ("I am in United States", "I am in California.", 0.1290),
    ("A person on a horse jumps over a broken down airplane.", "A person is outdoors, on a horse.", 0.8969),
    ("Mark Wahlberg was a fan of Manny.", "Manny was a fan of Mark Wahlberg.", 0.0543),
)
"""Pairs of the model card with their scores."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_hhem(tmp_path_factory.mktemp("peer") / "hhem")


@pytest.fixture
def scorer(folder: Path) -> Iterator[WindowScorer]:
    scorer = open_hhem(str(folder), device="cpu")
    yield scorer
    asyncio.run(scorer.aclose())


def scored(scorer: WindowScorer, text: str, claim: str = CLAIM) -> float:
    one = Candidate("", claim, Claim(claim), scorer_input("", claim), (Source(text),))
    [outcome] = asyncio.run(scorer.score([one]))
    assert isinstance(outcome, Scored)
    return outcome.value


def test_a_pair_is_scored_as_the_model_card_describes(folder: Path, scorer: WindowScorer) -> None:
    assert scored(scorer, BRIDGE) == pytest.approx(publishers.hhem(folder, BRIDGE, CLAIM), abs=1e-5)
    assert scored(scorer, "{premise} {0}") == pytest.approx(publishers.hhem(folder, "{premise} {0}", CLAIM), abs=1e-5)


def test_answers_are_ranked_by_it(folder: Path) -> None:
    ranking = ranked(ScoringRanker(open_scorer(f"hhem:{folder}")), ["In 1937.", "In 1973."], BRIDGE)
    assert [0 < answer.score < 1 for answer in ranking.answers] == [True, True]
    assert (ranking.scale, ranking.provenance.model) == ("unit", f"hhem:{folder}")


def test_a_premise_is_read_whole_and_only_one_that_is_too_long_in_windows(folder: Path, scorer: WindowScorer) -> None:
    long = "The old bridge opened. " * 40
    assert scored(scorer, long) == pytest.approx(publishers.hhem(folder, long, CLAIM), abs=1e-5)
    sentence = "y" * 60 + "."  # 61 tokens and the end token: with the bridge more than 64
    parts = [publishers.hhem(folder, text, CLAIM) for text in (sentence, "It opened.")]
    short = open_hhem(str(folder), device="cpu", limit=64)
    assert scored(short, f"{sentence} It opened.") == pytest.approx(max(parts), abs=1e-5)


def test_the_tokenizer_may_lie_elsewhere_and_must_be_somewhere(tmp_path: Path) -> None:
    bare = write_tiny_hhem(tmp_path / "bare", tokenizer=False)
    with pytest.raises(ConfigError, match="has no readable tokenizer"):
        open_hhem(str(bare))
    write_t5_tokenizer(tmp_path / "words")
    named = open_scorer(f"hhem:{bare}#{tmp_path / 'words'}")
    assert named.name.endswith("/words")


def test_other_weights_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"expected model\.safetensors"):
        open_hhem(str(tmp_path))
    with pytest.raises(ConfigError, match="does not contain the weights of HHEM"):
        open_hhem(str(write_tiny_scorer(tmp_path / "other")))


@pytest.mark.skipif("VOUCH_HHEM" not in os.environ, reason="VOUCH_HHEM names no weights of HHEM-2.1-Open")
@pytest.mark.parametrize(("premise", "hypothesis", "score"), CARD)
def test_the_pairs_of_the_model_card_come_out_with_the_published_weights(
    premise: str, hypothesis: str, score: float
) -> None:
    path, _, tokenizer = os.environ["VOUCH_HHEM"].partition("#")
    assert scored(open_hhem(path, tokenizer or None), premise, hypothesis) == pytest.approx(score, abs=0.005)
