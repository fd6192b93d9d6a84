"""LettuceDetect on random weights: scores and spans as its package gives them, and the verdict with both."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch", reason="the extra train (torch) is not installed")
transformers: Any = pytest.importorskip("transformers", reason="the extra train (transformers) is not installed")

from tests.methods.discriminative.tiny_scorers import write_tiny_pair_model  # noqa: E402
from vouching.checker import Checker  # noqa: E402
from vouching.errors import ConfigError  # noqa: E402
from vouching.methods.discriminative.input import scorer_input  # noqa: E402
from vouching.methods.discriminative.published.lettuce import LettuceDetect  # noqa: E402
from vouching.methods.discriminative.scorer import Candidate, Scored, ScoreOutcome  # noqa: E402
from vouching.types import Claim, Source, Unverified, Verdict  # noqa: E402

PASSAGES = ["The bridge opened to traffic in 1973.", "It has two towers.", "Ulm is an old city on a river."]
CLAIMS = ["The bridge opened in 1937 and has three towers.", "Yes.", "Ulm"]
QUESTION = "When did the bridge open?"
ROOM = 200
"""A limit in tokens into which two of the passages fit, but not three."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_pair_model(tmp_path_factory.mktemp("lettuce") / "model", "modernbert")


def outcome(folder: Path, passages: list[str], claim: str, question: str = "", limit: int = 4096) -> ScoreOutcome:
    scorer = LettuceDetect(str(folder), device="cpu", limit=limit)
    sources = tuple(Source(text, f"s{n}") for n, text in enumerate(passages))

    async def score() -> ScoreOutcome:
        one = Candidate(question, claim, Claim(claim), scorer_input(question, claim), sources)
        [found] = await scorer.score([one])
        await scorer.aclose()
        return found

    return asyncio.run(score())


def tokens(folder: Path, prompt: str, claim: str) -> list[tuple[float, int, int]]:
    """Probability of being unsupported, start and end of each token of the claim, after a written prompt."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForTokenClassification.from_pretrained(folder).eval()
    read = tokenizer(prompt, claim, return_tensors="pt", return_offsets_mapping=True)
    places = read.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        found = model(input_ids=read["input_ids"], attention_mask=read["attention_mask"]).logits[0].softmax(-1)[:, 1]
    count = len(tokenizer(claim, add_special_tokens=False)["input_ids"])
    first = len(places) - count - 1  # the answer and one separator end the row
    return [(found[at].item(), *places[at]) for at in range(first, len(places) - 1)]


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_score_and_the_spans_are_those_of_the_most_suspicious_tokens(folder: Path, claim: str) -> None:
    listed = "\n".join(f"passage {number}: {text}" for number, text in enumerate(PASSAGES, 1))
    found = tokens(folder, f"Summarize the following text:\n{listed}\noutput:", claim)
    scored = outcome(folder, PASSAGES, claim)
    assert isinstance(scored, Scored)
    assert scored.value == pytest.approx(1 - max(one[0] for one in found), abs=1e-5)
    inside = {place for one in scored.marked for place in range(one.start, one.end)}
    expected = {place for p, start, end in found if p >= 0.5 for place in range(start, end)}
    assert inside == {place for place in expected if not claim[place].isspace() or place in inside}


def test_a_question_is_asked_in_its_own_prompt(folder: Path) -> None:
    prompt = (
        f"Briefly answer the following question:\n{QUESTION}\nBear in mind that your response should be strictly based "
        f"on the following 1 passages:\npassage 1: {PASSAGES[0]}\nIn case the passages do not contain the necessary "
        'information to answer the question, please reply with: "Unable to answer based on given passages."\noutput:'
    )
    scored = outcome(folder, PASSAGES[:1], CLAIMS[0], QUESTION)
    assert isinstance(scored, Scored)
    expected = 1 - max(one[0] for one in tokens(folder, prompt, CLAIMS[0]))
    assert scored.value == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("question", ["", QUESTION])
@pytest.mark.parametrize("limit", [4096, ROOM, 90])
def test_scores_and_spans_equal_those_of_the_package(folder: Path, question: str, limit: int) -> None:
    package = pytest.importorskip(
        "lettucedetect.detectors.transformer", reason="lettucedetect is not installed (pip install --no-deps)"
    )
    detector = package.TransformerDetector(str(folder), max_length=limit, device="cpu")
    for claim in CLAIMS:
        asked = (PASSAGES, claim, question or None)
        probabilities = [one["prob"] for one in detector.predict(*asked, output_format="tokens")]
        spans = [(one["start"], one["end"]) for one in detector.predict(*asked, output_format="spans")]
        scored = outcome(folder, PASSAGES, claim, question, limit)
        assert isinstance(scored, Scored)
        assert scored.value == pytest.approx(1 - max(probabilities), abs=1e-5)
        texts = [claim[start:end].strip() for start, end in spans]
        assert [claim[one.start : one.end] for one in scored.marked] == [text for text in texts if text]


def test_sources_that_do_not_fit_together_are_read_in_groups_and_that_is_told(folder: Path) -> None:
    scored = outcome(folder, PASSAGES, CLAIMS[0], limit=90)
    assert isinstance(scored, Scored)
    assert "unread" in [warning.kind for warning in scored.warnings]


def test_an_empty_source_is_no_evidence(folder: Path) -> None:
    found = outcome(folder, ["", "  "], CLAIMS[0])
    assert isinstance(found, Unverified)
    assert found.reason == "no_evidence"


def test_the_verdict_has_the_models_spans_and_the_rules_reasons(folder: Path) -> None:
    checker = Checker(f"lettuce:{folder}")
    verdict = checker.check(CLAIMS[0], PASSAGES)
    checker.close()
    assert isinstance(verdict, Verdict)
    own = [step for step in verdict.reasoning_chain if "marks these words" in step.explanation]
    scored = outcome(folder, PASSAGES, CLAIMS[0])
    assert isinstance(scored, Scored)
    assert [step.claim_part for step in own] == [CLAIMS[0][one.start : one.end] for one in scored.marked]
    assert len(verdict.reasoning_chain) > len(own)
    assert verdict.provenance.explained_by == "embedded:rules"
    starts = [entry.claim_span.start for entry in verdict.evidence_alignment]
    assert starts == sorted(starts)


def test_a_model_with_other_labels_is_refused(tmp_path: Path) -> None:
    three = write_tiny_pair_model(tmp_path / "three", "modernbert", {0: "a", 1: "b", 2: "c"})
    with pytest.raises(ConfigError, match="it has 3 labels, not 2"):
        LettuceDetect(str(three))
