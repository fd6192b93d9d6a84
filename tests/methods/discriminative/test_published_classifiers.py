"""FactCG, AlignScore, MiniCheck and NLI models on random weights, against their publishers' inference."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
transformers: Any = pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")

from tests.methods.discriminative import publishers  # noqa: E402
from tests.methods.discriminative.tiny_scorers import (  # noqa: E402
    write_tiny_alignscore,
    write_tiny_pair_model,
)
from vouching.errors import ConfigError  # noqa: E402
from vouching.methods.discriminative.input import scorer_input  # noqa: E402
from vouching.methods.discriminative.open import open_scorer  # noqa: E402
from vouching.methods.discriminative.scorer import Candidate, Scored, ScoreOutcome  # noqa: E402
from vouching.types import Claim, Source, Unverified  # noqa: E402

CLAIM = "The bridge opened in 1973."
SHORT = ["The bridge opened to traffic in 1973. It has two towers.", "Ulm.", "Yes"]
THREE = {0: "contradiction", 1: "neutral", 2: "entailment"}


def scored(name: str, document: str, claim: str = CLAIM) -> ScoreOutcome:
    scorer = open_scorer(name)

    async def score() -> ScoreOutcome:
        [outcome] = await scorer.score(
            [Candidate("", claim, Claim(claim), scorer_input("", claim), (Source(document),))]
        )
        await scorer.aclose()
        return outcome

    return asyncio.run(score())


def value(name: str, document: str, claim: str = CLAIM) -> float:
    outcome = scored(name, document, claim)
    assert isinstance(outcome, Scored)
    assert outcome.warnings == ()
    return outcome.value


def test_alignscore_cuts_a_window_and_not_the_claim_and_says_so(tmp_path: Path) -> None:
    document = "xyz " * 250 + "city."  # one sentence of more than 512 tokens
    checkpoint, roberta = write_tiny_alignscore(tmp_path)
    outcome = scored(f"alignscore:{checkpoint}#{roberta}", document)
    assert isinstance(outcome, Scored)
    assert outcome.value == pytest.approx(publishers.alignscore(checkpoint, roberta, document, CLAIM), abs=1e-5)
    assert [warning.kind for warning in outcome.warnings] == ["truncated"]


@pytest.mark.parametrize("kind", ["bert", "roberta", "deberta-v2"])
def test_an_nli_model_scores_as_its_card_shows(kind: str, tmp_path: Path) -> None:
    folder = write_tiny_pair_model(tmp_path / kind, kind, THREE)
    for document in SHORT:
        expected = publishers.nli(folder, document, CLAIM, 2)
        assert value(f"nli:{folder}", document) == pytest.approx(expected, abs=1e-5)


def test_of_a_document_that_is_too_long_for_an_nli_model_the_best_window_counts(tmp_path: Path) -> None:
    folder = write_tiny_pair_model(tmp_path / "nli", "roberta", THREE)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    sizes = [
        len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in ("The old city.", "It has a river.")
    ]
    room = 512 - len(tokenizer("", CLAIM)["input_ids"])
    full, left = divmod(room, sizes[0])
    assert left < sizes[1]  # the first sentence of the second text does not fit into the first window
    first, second = " ".join(["The old city."] * full), " ".join(["It has a river."] * 9)
    each = [publishers.nli(folder, text, CLAIM, 2) for text in (first, second)]
    found = scored(f"nli:{folder}", f"{first} {second}")
    assert isinstance(found, Scored)
    assert found.value == pytest.approx(max(each), abs=1e-5)


def test_a_label_that_does_not_say_what_it_means_is_asked_for(tmp_path: Path) -> None:
    folder = write_tiny_pair_model(tmp_path / "nli", "roberta")
    with pytest.raises(ConfigError, match=r"0 = LABEL_0, 1 = LABEL_1\): add its number, as in nli:.*#1"):
        open_scorer(f"nli:{folder}")
    with pytest.raises(ConfigError, match="names no output of the model"):
        open_scorer(f"nli:{folder}#2")
    expected = publishers.nli(folder, SHORT[0], CLAIM, 0)
    assert value(f"nli:{folder}#0", SHORT[0]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("labels", [{0: "entailment", 1: "not_entailment"}, {0: "SUPPORTS", 1: "REFUTES"}])
def test_a_two_way_model_is_read_by_its_own_labels(labels: dict[int, str], tmp_path: Path) -> None:
    folder = write_tiny_pair_model(tmp_path / "nli", "deberta-v2", labels)
    assert value(f"nli:{folder}", SHORT[0]) == pytest.approx(publishers.nli(folder, SHORT[0], CLAIM, 0), abs=1e-5)


@pytest.mark.parametrize("document", ["", " \n "])
def test_an_empty_document_is_no_evidence(document: str, tmp_path: Path) -> None:
    folder = write_tiny_pair_model(tmp_path / "nli", "roberta", THREE)
    outcome = scored(f"nli:{folder}", document)
    assert isinstance(outcome, Unverified)
    assert outcome.reason == "no_evidence"


def test_names_that_cannot_be_opened_say_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="download it with  hf download nobody/nothing"):
        open_scorer("nli:nobody/nothing")
    with pytest.raises(ConfigError, match="add the folder or name that the checkpoint was trained from"):
        open_scorer("alignscore:AlignScore-base.ckpt")
    with pytest.raises(ConfigError, match="does not contain the weights of AlignScore"):
        open_scorer(f"alignscore:{tmp_path}/missing.ckpt#{write_tiny_pair_model(tmp_path / 'r', 'roberta')}")
    with pytest.raises(ConfigError, match="the types of factcg are deberta-v2"):
        open_scorer(f"factcg:{write_tiny_pair_model(tmp_path / 'b', 'bert')}")
    with pytest.raises(ConfigError, match=r"expected one of .*lettuce:PATH"):
        open_scorer("lettuce:")
    with pytest.raises(ConfigError, match="lynx is a language model"):
        open_scorer(f"lynx:{tmp_path}")
    with pytest.raises(ConfigError, match="nli is not a language model"):
        open_scorer("nli:openai/gpt")
