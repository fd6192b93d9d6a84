"""Texts of every length: windows, scores and refusals of each published verifier against its publisher's code."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch: Any = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
transformers: Any = pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")

from tests.methods.discriminative import publishers  # noqa: E402
from tests.methods.discriminative.tiny_scorers import (  # noqa: E402
    write_tiny_alignscore,
    write_tiny_hhem,
    write_tiny_minicheck,
    write_tiny_pair_model,
)
from vouching.checker import Checker  # noqa: E402
from vouching.errors import InputError  # noqa: E402
from vouching.methods.discriminative.input import scorer_input  # noqa: E402
from vouching.methods.discriminative.open import open_scorer  # noqa: E402
from vouching.methods.discriminative.published.cutting import (  # noqa: E402
    alignscore_windows,
    factcg_windows,
    minicheck_windows,
    words,
    words_and_marks,
)
from vouching.methods.discriminative.scorer import Candidate, Scored, ScoreOutcome  # noqa: E402
from vouching.types import Claim, Source, Unverified  # noqa: E402

Publisher = Callable[[str, str], float]
THREE = {0: "contradiction", 1: "neutral", 2: "entailment"}
WORDS = "The bridge opened in 1973"
DOCUMENTS = {
    "a letter": "a",
    "a word": "Ulm.",
    "two sentences": f"{WORDS}. It has two towers.",
    "lines": f"A title\n{WORDS}.  It has towers.\n\n\nA city. A river.\n",
    "special tokens": f"{WORDS} </s> <pad> [SEP]. It has towers.",
    "pages": "\n".join(" ".join([f"{WORDS}."] * 30) for _ in range(5)),
}
"""The last has 750 words: two windows and more for each publisher."""
CLAIMS = ["It opened.", f"{WORDS}. It has two towers, which are old and high. It is here."]


def outcome(name: str, document: str, claim: str) -> ScoreOutcome:
    scorer = open_scorer(name)

    async def score() -> ScoreOutcome:
        one = Candidate("", claim, Claim(claim), scorer_input("", claim), (Source(document),))
        [found] = await scorer.score([one])
        await scorer.aclose()
        return found

    return asyncio.run(score())


def both(kind: str, folder: Path) -> tuple[str, Publisher]:
    """The name of a verifier on random weights, and its publisher's inference on the same."""
    kind, _, of = kind.partition(" ")
    if kind == "alignscore":
        checkpoint, roberta = write_tiny_alignscore(folder)
        return f"alignscore:{checkpoint}#{roberta}", lambda text, claim: publishers.alignscore(
            checkpoint, roberta, text, claim
        )
    if kind == "hhem":
        made = write_tiny_hhem(folder / "hhem")
        return f"hhem:{made}", lambda text, claim: publishers.hhem(made, text, claim)
    if kind == "minicheck":
        made = write_tiny_minicheck(folder / of, of)
        return f"minicheck:{made}", lambda text, claim: publishers.minicheck(made, text, claim)
    made = write_tiny_pair_model(folder / of, of, THREE if kind == "nli" else None)
    if kind == "nli":
        return f"nli:{made}", lambda text, claim: publishers.nli(made, text, claim, 2)
    return f"factcg:{made}", lambda text, claim: publishers.factcg(made, text, claim)


KINDS = [
    "minicheck t5",
    "minicheck roberta",
    "minicheck deberta-v2",
    "factcg deberta-v2",
    "alignscore",
    "hhem",
    "nli roberta",
]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_equal_the_publisher_s_over_short_and_long_texts(kind: str, tmp_path: Path) -> None:
    name, publisher = both(kind, tmp_path)
    for label, document in DOCUMENTS.items():
        if kind.startswith("nli") and label == "pages":
            continue  # the card cuts what does not fit; we read it in windows, see test_published_classifiers.py
        for claim in CLAIMS:
            found = outcome(name, document, claim)
            assert isinstance(found, Scored), (label, found)
            assert found.value == pytest.approx(publisher(document, claim), abs=1e-5), (label, claim)
            # AlignScore's windows of 350 words are cut to 512 tokens, as its publisher cuts them.
            assert kind == "alignscore" or found.warnings == ()


@pytest.mark.parametrize("kind", [*KINDS, "lettuce modernbert"])
@pytest.mark.parametrize("document", ["", " \n\t "])
def test_a_document_without_text_is_no_evidence_for_any_of_them(kind: str, document: str, tmp_path: Path) -> None:
    if kind.startswith("lettuce"):
        name = f"lettuce:{write_tiny_pair_model(tmp_path / 'm', 'modernbert')}"
    else:
        name, _ = both(kind, tmp_path)
    found = outcome(name, document, CLAIMS[0])
    assert isinstance(found, Unverified)
    assert found.reason == "no_evidence"


def test_an_empty_claim_is_refused_before_a_verifier_reads_it(tmp_path: Path) -> None:
    name, _ = both("nli roberta", tmp_path)
    checker = Checker(name)
    with pytest.raises(InputError, match="the claim must contain at least one word"):
        checker.check(" ", "It opened.")
    checker.close()


SENTENCES = st.integers(1, 9).map(lambda count: f"{' '.join(['Towers'] + ['rise'] * (count - 1))}.")
LINES = st.lists(st.lists(SENTENCES, max_size=6).map(" ".join), min_size=1, max_size=5).map("\n".join)


@given(LINES, st.integers(1, 30))
def test_windows_are_those_of_the_publishers_for_any_sentences_lines_and_limit(text: str, limit: int) -> None:
    assert minicheck_windows(text, limit, words) == publishers.minicheck_chunks(text, limit, words)
    line = " ".join(text.split())  # sentences at line ends are found alike, but titles of one word are not
    theirs = publishers.factcg_chunks(line, limit, words_and_marks)
    assert factcg_windows(line, limit, words_and_marks) == [chunk for chunk in theirs if chunk]
    assert alignscore_windows(line, limit, words) == publishers.alignscore_chunks(line, limit)
