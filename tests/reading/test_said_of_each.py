"""Denied lists and "respectively" are read as one sentence about each thing, with the places of the text as it was."""

from __future__ import annotations

import pytest

from vouching.embedded.verify import EmbeddedVerifier
from vouching.reading.evidence import usual_form
from vouching.reading.plain import PlainText
from vouching.reading.said_of_each import said_of_each
from vouching.types import Claim, Source

MEDICINE = (
    "Do not take Ferrolin if:\n- you are allergic to it\n- you are in the last three months of pregnancy\n\n"
    "You may take Ferrolin with:\n- food"
)
FREEZER = (
    "Never put the following into the freezer:\n* Glass bottles; or\n* eggs in\n  their shell.\n\nBread can be frozen."
)
DEPTHS = "The Ard and the Bel are 3 m and 9 m deep, respectively. Both are lakes."
POLICY = "The following items are not covered:\n\n1. cash\n2. Garden tools"


def read(text: str) -> PlainText:
    return said_of_each(PlainText(text), usual_form)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (MEDICINE, ["- Do not take Ferrolin if you are allergic to it", "- food"]),
        (FREEZER, ["* Never put glass bottles into the freezer; or", "  their shell into the freezer."]),
        (POLICY, ["1. cash are not covered", "2. Garden tools are not covered"]),
        ("1. It is forbidden to bring:\n   - knives", ["   - It is forbidden to bring knives"]),
    ],
)
def test_the_items_of_a_denied_list_have_its_words(text: str, lines: list[str]) -> None:
    assert set(lines) <= set(read(text).text.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        "If you do not have a key, bring:\n- a passport",
        "Do not forget:\n- a rope",
        "Not only does it cover:\n- fire",
        "The plan covers:\n- fire",
        "Do not run:\nit is slippery.",
        "Do not run: - it is slippery",
        ":\n- a",
    ],
)
def test_other_lists_are_read_as_they_stand(text: str) -> None:
    assert read(text).text == text


@pytest.mark.parametrize(
    ("text", "words", "place"),
    [
        # The words of a lead-in lie in the lead-in, those of an item in the item, what is around where it was.
        (FREEZER, "put glass", "Never put the following into the freezer:\n* Glass"),
        (FREEZER, "their shell", "their shell"),
        (FREEZER, "Bread can", "Bread can"),
        # Sentences made from one lie in the stretch with their value: the first from its start to "3 m".
        (DEPTHS, "The Ard is 3 m", "The Ard and the Bel are 3 m"),
        (DEPTHS, "The Bel is 9 m", "9 m deep, respectively."),
        (DEPTHS, "Both are", "Both are"),
    ],
)
def test_places_are_those_of_the_text(text: str, words: str, place: str) -> None:
    plain = read(text)
    at = plain.text.index(words)
    start, end = plain.origin(at, at + len(words))
    assert text[start:end] == place


@pytest.mark.parametrize(
    ("claim", "source", "holds"),
    [
        ("You can take Ferrolin if you are allergic to it.", MEDICINE, False),
        ("Do not take Ferrolin if you are allergic to it.", MEDICINE, True),
        ("You may take Ferrolin with food.", MEDICINE, True),
        ("Glass bottles can be put into the freezer.", FREEZER, False),
        ("Never put eggs in their shell into the freezer.", FREEZER, True),
        ("The Bel is 9 m deep.", DEPTHS, True),
        ("The Bel is 3 m deep.", DEPTHS, False),
        (DEPTHS.partition(" Both")[0], DEPTHS, True),
        ("The Ard and the Bel are 9 m and 3 m deep, respectively.", DEPTHS, False),
    ],
)
def test_claims_are_compared_with_what_is_said_of_each(claim: str, source: str, holds: bool) -> None:
    verdict = EmbeddedVerifier().judge(Claim(claim), [Source(source)])
    assert verdict.attributable == holds
    for entry in verdict.evidence_alignment:
        if (span := entry.source_span) is not None:
            assert span.text
            assert source[span.start : span.end] == span.text
