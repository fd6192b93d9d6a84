"""What stands in a part's place in the sentence that says the rest, whatever other sentences say."""

from __future__ import annotations

import pytest

from vouching.embedded.verify import EmbeddedVerifier
from vouching.types import Claim, Source, Verdict

VERIFIER = EmbeddedVerifier()


def judge(claim: str, source: str) -> Verdict:
    return VERIFIER.judge(Claim(claim), [Source(source)])


WAYNE = "Bruce Wayne falls into a dry well. Outside, the mugger Joe Chill murders his parents."


@pytest.mark.parametrize(
    ("claim", "source", "error", "found"),
    [
        # a name that only another sentence has
        ("Joe Chill falls into a dry well.", WAYNE, "entity_substitution", "Bruce Wayne"),
        # an opposite where another sentence has the word, or a word that counts as its synonym
        (
            "As a child, Bruce Wayne rises into a dry well and is attacked by bats.",
            "As a child, Bruce Wayne falls into a dry well and is attacked by bats. He is raised by Alfred.",
            "negation_flip",
            "falls",
        ),
        # an opposite beside the only other word of the claim
        ("It is Shakespeare's shortest play.", "Hamlet is Shakespeare's longest play.", "negation_flip", "longest"),
        # an opposite of what a number counts
        (
            "Valencia is the third largest city in Spain.",
            "Valencia is the third smallest city in Spain, with around 10,000 inhabitants.",
            "negation_flip",
            "smallest",
        ),
        # "billion" for "million"
        (
            "The population is over 8.5 billion.",
            "New York has a population of 8,537,673.",
            "numerical_exaggeration",
            "8,537,673",
        ),
        # an adverb of degree that the source lacks
        (
            "The exact timeline is remarkably difficult to determine.",
            "The exact timeline is difficult to determine.",
            "scope_inflation",
            None,
        ),
    ],
)
def test_an_error_is_named_by_what_replaces_the_part(claim: str, source: str, error: str, found: str | None) -> None:
    verdict = judge(claim, source)
    assert (verdict.label, verdict.error_type) == ("Not Attributable", error)
    if found is not None:
        shown = [
            entry.source_span.text
            for entry in verdict.evidence_alignment
            if entry.status == "mismatch" and entry.source_span
        ]
        assert any(found in text for text in shown), shown


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Bruce Wayne falls into a dry well.", WAYNE),
        # "his" is the other sentence's name, and no other name stands in its place
        ("Joe Chill was born in Gotham.", "Joe Chill is a mugger. He was born in Gotham to poor parents."),
        # another name, but not beside the same words
        ("Ann Lee won the Tarn Prize.", "Ann Lee wrote a novel. The author won the Tarn Prize, as Bob Roy said."),
        ("The population is over 8.5 million.", "New York has a population of 8,537,673."),
        ("Valencia is the third largest city.", "Valencia is the third largest city. It is no small town."),
    ],
)
def test_additions_of_other_sentences_are_not_differences(claim: str, source: str) -> None:
    assert all(entry.status != "mismatch" for entry in judge(claim, source).evidence_alignment)


@pytest.mark.parametrize(
    ("claim", "source", "attributable"),
    [
        ("The fee went up by 20 euros.", "The fee went up from 240 to 260 euros.", True),  # 260 - 240
        ("The fee went up by about 20 euros.", "The fee was raised from €240 to €260.", True),
        ("The fee went up by 30 euros.", "The fee went up from 240 to 260 euros.", False),
        ("The fee went up by 30 euros.", "The fee went up by 20 euros to 260 euros.", False),
        ("The fee went up by 20 euros.", "The fee went up by 20 euros to 260 euros.", True),
    ],
)
def test_an_amount_of_change_is_compared_with_changes_and_never_with_levels(
    claim: str, source: str, attributable: bool
) -> None:
    verdict = judge(claim, source)
    assert (verdict.label == "Attributable") is attributable
    assert "to 260" not in (verdict.fix_suggestion or "")


def test_a_part_of_a_whole_counts_what_the_whole_counts() -> None:
    source = "Present: 47 of 212 members; the chair opened the meeting at 7 pm."
    assert judge("47 members were present.", source).label == "Attributable"
    assert judge("49 members were present.", source).fix_suggestion == "Change 49 to 47."
