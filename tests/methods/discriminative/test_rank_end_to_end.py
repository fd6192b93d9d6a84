"""Every mode on real models of some thousand weights: whatever they say, the outcome is an honest one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra train (torch) is not installed")
pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")

from tests.methods.discriminative.tiny_scorers import write_tiny_scorer
from tests.models.tiny_llama import write_tiny_llama
from vouching.methods.discriminative.open import open_ranker
from vouching.search.index import open_index
from vouching.search.index_writer import create_index
from vouching.types import Ranking, RankMode, Source

ANSWERS = ["In 1937.", "In 1973."]


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model that speaks bytes at random."""
    return write_tiny_llama(tmp_path_factory.mktemp("llama"), context=4096)


def outcome(score_model: str, mode: RankMode, llama: Path, folder: Path) -> Ranking:
    with create_index(folder) as writer:
        writer.add(Source("The bridge opened in 1973.", id="bridge.txt"))
    searches = mode not in ("generative", "no-search")
    ranker = open_ranker(
        score_model,
        mode,
        search_model=f"local:{llama}" if searches else None,
        engines=[open_index(folder)] if searches else [],
    )

    async def run() -> Ranking:
        ranking = await ranker.rank("When did it open?", ANSWERS)
        await ranker.aclose()
        return ranking

    return asyncio.run(run())


@pytest.mark.parametrize("mode", ["generative", "agentic", "points"])
def test_a_model_that_babbles_ranks_nothing_and_is_told_so(mode: RankMode, llama: Path, tmp_path: Path) -> None:
    ranking = outcome(f"local:{llama}", mode, llama, tmp_path / "i")
    assert ranking.answers == ()
    assert {failed.reason for failed in ranking.unverified} <= {"unparsable", "truncated"}
    assert len(ranking.unverified) == 2
    assert ranking.usage.calls >= (2 if mode == "points" else 1)
    assert (ranking.invalid is None) == (mode == "points")


@pytest.mark.parametrize("mode", ["compressed", "facts", "full", "no-search"])
def test_a_scorer_ranks_in_every_mode_and_a_compression_that_babbles_leaves_no_score(
    mode: RankMode, llama: Path, tmp_path: Path
) -> None:
    scorer = write_tiny_scorer(tmp_path / "scorer")
    ranking = outcome(f"discriminative:{scorer}", mode, llama, tmp_path / "i")
    if mode in ("full", "no-search"):
        assert [answer.place for answer in ranking.answers] == [1, 2]
        assert ranking.scale == "logit"
    else:
        assert {failed.reason for failed in ranking.unverified} == {"backend"}
    assert (ranking.trajectory is None) == (mode == "no-search")
