"""The trained scorer on a Qwen2 of two layers: batches, truncation, adapters, and what is refused."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
transformers: Any = pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")

from tests.methods.discriminative.scorers import BRIDGE, QUESTION, first_sentence, ranked  # noqa: E402
from tests.methods.discriminative.tiny_scorers import TEXTS, write_tiny_adapter, write_tiny_scorer  # noqa: E402
from tests.train.tiny_bert import write_tiny_bert  # noqa: E402
from tests.train.tiny_qwen import write_tiny_qwen  # noqa: E402
from vouching.errors import ConfigError  # noqa: E402
from vouching.methods.discriminative.input import encode, scorer_input  # noqa: E402
from vouching.methods.discriminative.model import ScorerNote, TrainedScorer  # noqa: E402
from vouching.methods.discriminative.open import open_scorer  # noqa: E402
from vouching.methods.discriminative.rank import ScoringRanker  # noqa: E402
from vouching.methods.discriminative.scorer import Candidate, Scored, Scorer  # noqa: E402
from vouching.types import Claim  # noqa: E402

ANSWERS = ["In 1973.", "In 1937, when the old city had no bridge and nobody wanted one.", "No."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_scorer(tmp_path_factory.mktemp("scorer"))


@pytest.fixture(scope="module")
def scorer(folder: Path) -> Iterator[TrainedScorer]:
    scorer = TrainedScorer(folder, device="cpu")
    yield scorer
    asyncio.run(scorer.aclose())


def candidate(answer: str, evidence: str = "") -> Candidate:
    return Candidate(QUESTION, answer, Claim(answer), scorer_input(QUESTION, answer, evidence), ())


def values(scorer: Scorer, *candidates: Candidate) -> list[float]:
    outcomes = asyncio.run(scorer.score(candidates))
    assert all(isinstance(outcome, Scored) for outcome in outcomes)
    return [outcome.value for outcome in outcomes if isinstance(outcome, Scored)]


def by_transformers(folder: Path, texts: Sequence[str]) -> list[float]:
    """The logits, one row at a time, by nothing but transformers."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        return [model(**tokenizer(text, return_tensors="pt")).logits.item() for text in texts]


def test_numbers_in_a_batch_are_those_of_transformers_row_by_row(folder: Path, scorer: TrainedScorer) -> None:
    candidates = [candidate(answer) for answer in ANSWERS]
    expected = by_transformers(folder, [one.read.text for one in candidates])
    assert values(scorer, *candidates) == pytest.approx(expected, abs=1e-5)
    assert len({round(number, 4) for number in expected}) == 3


def test_evidence_is_cut_before_question_and_answer_and_the_loss_is_told(tmp_path: Path, folder: Path) -> None:
    shutil.copytree(folder, tmp_path / "short")
    ScorerNote(max_tokens=60).write(tmp_path / "short")
    scorer = TrainedScorer(tmp_path / "short", device="cpu")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    asked = scorer_input(QUESTION, "In 1973.").asked
    head = tokenizer(asked)["input_ids"]
    read = scorer_input(QUESTION, "In 1973.", "Useful facts: " + "It opened in 1973. " * 30)
    cut = encode(tokenizer, read, 60)
    assert cut.ids[: len(head)] == tuple(head)
    assert len(cut.ids) == 60
    assert cut.lost == len(tokenizer(read.asked, read.evidence)["input_ids"]) - 60
    [outcome] = asyncio.run(scorer.score([Candidate(QUESTION, "In 1973.", Claim("x"), read, ())]))
    assert isinstance(outcome, Scored)
    assert [w.kind for w in outcome.warnings] == ["truncated"]
    assert f"the last {cut.lost} were" in outcome.warnings[0].message
    assert encode(tokenizer, scorer_input(QUESTION, "In 1973. " * 80, "Useful facts: x"), 60).lost > 0


def test_a_ranking_by_a_trained_scorer_is_by_its_logits(folder: Path, scorer: TrainedScorer) -> None:
    ranking = ranked(ScoringRanker(scorer, compress=first_sentence), ANSWERS, BRIDGE)
    facts = "Useful facts: The bridge opened to traffic in 1973\nReasoning: About "
    expected = by_transformers(folder, [scorer_input(QUESTION, a, f"{facts}{a}").text for a in ANSWERS])
    assert {a.number: a.score for a in ranking.answers} == {
        number: pytest.approx(logit, abs=1e-5) for number, logit in enumerate(expected, 1)
    }
    assert (ranking.scale, ranking.mode) == ("logit", "compressed")
    assert ranking.provenance.model == f"discriminative:{folder}"
    assert ranking.answers[0].evidence_alignment


def test_an_encoder_with_a_head_scores_too(tmp_path: Path) -> None:
    write_tiny_bert(tmp_path)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path, num_labels=1)
    model.save_pretrained(tmp_path)
    scorer = TrainedScorer(tmp_path, device="cpu")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    read = scorer_input("built?", "the bridge", "Useful facts: the old city")
    pair = tokenizer(read.asked, read.evidence, return_tensors="pt", return_token_type_ids=False)
    with torch.no_grad():
        expected = model.eval()(**pair).logits.item()
    assert values(scorer, Candidate("", "", Claim("x"), read, ())) == [pytest.approx(expected, abs=1e-5)]


def test_adapters_are_found_with_their_base_or_named_beside_it(tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="the extra train (peft) is not installed")
    base = write_tiny_qwen(tmp_path / "base", TEXTS)
    adapter = write_tiny_adapter(tmp_path / "adapter", base)
    alone, named = open_scorer(f"discriminative:{adapter}"), open_scorer(f"discriminative:{base}#{adapter}")
    numbers = values(alone, *map(candidate, ANSWERS))
    assert numbers == values(named, *map(candidate, ANSWERS))
    assert named.name == f"discriminative:{base}#{adapter}"
    from peft import PeftModel

    plain = transformers.AutoModelForSequenceClassification.from_pretrained(base, num_labels=1)
    whole = PeftModel.from_pretrained(plain, adapter).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    with torch.no_grad():
        expected = [
            whole(**tokenizer(candidate(answer).read.text, return_tensors="pt")).logits.item() for answer in ANSWERS
        ]
    assert numbers == pytest.approx(expected, abs=1e-5)


def test_a_head_that_was_never_trained_is_refused(tmp_path: Path) -> None:
    base = write_tiny_qwen(tmp_path / "base", TEXTS)
    with pytest.raises(ConfigError, match=r"no trained head: score\.weight is missing"):
        TrainedScorer(base)
    pytest.importorskip("peft", reason="the extra train (peft) is not installed")
    headless = write_tiny_adapter(tmp_path / "headless", base, head=False)
    with pytest.raises(ConfigError, match=r"neither .* nor .* contains score\.weight"):
        TrainedScorer(base, headless)


def test_another_head_a_missing_folder_and_a_lost_base_are_refused(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(ConfigError, match="it has 3 outputs, expected one"):
        TrainedScorer(write_tiny_scorer(tmp_path / "three", labels=3))
    with pytest.raises(ConfigError, match="contains no model"):
        TrainedScorer(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="is not an adapter"):
        TrainedScorer(folder, tmp_path)
    lost = tmp_path / "lost"
    lost.mkdir()
    (lost / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "Qwen/Qwen3-4B"}))
    with pytest.raises(ConfigError, match="adapter of Qwen/Qwen3-4B, which is not a folder here: name both"):
        TrainedScorer(lost)


def test_code_beside_the_weights_is_not_run(tmp_path: Path, folder: Path) -> None:
    shutil.copytree(folder, tmp_path / "trap")
    config = json.loads((tmp_path / "trap/config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config"}}
    (tmp_path / "trap/config.json").write_text(json.dumps(config))
    (tmp_path / "trap/own.py").write_text("raise SystemExit('this code was run')\n")
    with pytest.raises(ConfigError, match=r"cannot be loaded|has no readable tokenizer"):
        TrainedScorer(tmp_path / "trap")


def test_broken_weights_give_no_score(tmp_path: Path, folder: Path) -> None:
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    torch.nn.init.constant_(model.score.weight, float("nan"))
    shutil.copytree(folder, tmp_path / "broken")
    model.save_pretrained(tmp_path / "broken")
    ranking = ranked(ScoringRanker(TrainedScorer(tmp_path / "broken", device="cpu"), "no-search"), ["a", "b"])
    assert ranking.answers == ()
    assert [failed.reason for failed in ranking.unverified] == ["undecided", "undecided"]
