"""Other languages are noticed, English is not mistaken for one, and the confidence shows what was compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

from tests.text.hostile import ANY_TEXT
from vouching.embedded.verify import EmbeddedVerifier
from vouching.reading.evidence import index_sources
from vouching.reading.language import foreign_sources, looks_english
from vouching.types import Claim, Source, Verdict

ROOT = Path(__file__).parents[2]
CONTRAST = ROOT / "tests/data/contrast/dev"
ENGLISH = [json.loads(line)["claim"] for line in (CONTRAST / "claims.jsonl").read_text("utf-8").splitlines()]


def claims_by_language() -> dict[str, list[str]]:
    lines = (ROOT / "benchmarks/claims_by_language.txt").read_text("utf-8").splitlines()
    found: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("["):
            found[line.strip("[]")] = []
        elif not line.startswith("#"):
            found[[*found][-1]].append(line)
    return found


@pytest.mark.parametrize(("language", "claims"), claims_by_language().items())
def test_most_short_claims_in_another_language_are_noticed(language: str, claims: list[str]) -> None:
    assert sum(not looks_english(claim) for claim in claims) >= 0.7 * len(claims), language


@pytest.mark.parametrize("change", [str, str.lower, str.upper])
def test_no_english_claim_is_mistaken_whatever_its_case(change: type[str]) -> None:
    assert [claim for claim in ENGLISH if not looks_english(change(claim))] == []


@pytest.mark.parametrize(
    "text",
    [
        "Ludwig van Beethoven was born in Bonn.",
        "Garbi e Muguruza",
        "Guillermo del Toro is a carpenter.",
        "The Place de la Concorde is in Paris.",
        "El Niño y La Niña",
        "Adobe Photoshop is unbranded.",
        "Hypochloremia often precedes alkalosis and acidosis.",
        "1973",
        "",
    ],
)
def test_names_and_rare_words_are_not_another_language(text: str) -> None:
    assert looks_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Le pont a été ouvert en 1973.",
        "Paris est la capitale de la France.",
        "LE PONT A ÉTÉ OUVERT EN 1973.",
        "le pont est fermé et la tour aussi",
        "Die Studie umfasste 480 Patienten und wurde nicht wiederholt.",
        "Cây cầu được mở cửa vào năm 1973.",
        "Мост открыт в 1973 году.",
        "橋は1973年に開通した。",
    ],
)
def test_function_words_and_letters_tell_another_language(text: str) -> None:
    assert not looks_english(text)


@given(ANY_TEXT)
def test_any_text_is_english_or_not(text: str) -> None:
    assert looks_english(text) in (True, False)


def test_the_documents_of_the_corpus_are_english_and_a_french_one_is_not() -> None:
    texts = [path.read_text("utf-8") for path in sorted((CONTRAST / "documents").iterdir())]
    french = "Le pont a été ouvert en 1973. Il mesure 412 mètres et coûte cinq millions de francs."
    assert foreign_sources(index_sources([Source(text) for text in [*texts, french]])) == (len(texts),)


def judge(claim: str, source: str, threshold: float = 0.5) -> Verdict:
    return EmbeddedVerifier(threshold).judge(Claim(claim), [Source(source, "page")])


@pytest.mark.parametrize(
    ("claim", "source", "message"),
    [
        ("Le pont a été ouvert en 1937.", "The bridge was opened in 1973 by the mayor.", "The claim does not look"),
        ("The bridge was opened in 1937.", "Le pont a été ouvert en 1973 par le maire.", "page does not look"),
    ],
)
def test_a_verdict_across_languages_warns_and_is_not_confident(claim: str, source: str, message: str) -> None:
    verdict = judge(claim, source)
    assert [w.message[: len(message)] for w in verdict.warnings if w.kind == "language"] == [message]
    # The score departs from 0.5 half as far as otherwise, so that no verdict is surer than 3 in 4.
    assert 0.25 <= verdict.score <= 0.75
    assert verdict.confidence <= 0.75


def test_the_confidence_of_english_and_of_copied_words_is_as_usual() -> None:
    english = judge("The bridge opened in 1937.", "The bridge opened in 1973.")
    assert [w for w in english.warnings if w.kind == "language"] == []
    copied = "Le pont a été ouvert en 1973."
    assert judge(copied, copied).score > 0.75
