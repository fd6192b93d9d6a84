"""A claim is compared with what the sources assert in their own voice, and a claim that denies with what it denies."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vouching import Checker, Verdict

CORPUS = Path(__file__).parents[1] / "data/voices/dev"
INJECTIONS = [json.loads(line) for line in (CORPUS / "injections.jsonl").read_text("utf-8").splitlines()]
TRUTH = "The old bridge of Kellin opened in 1937. It has two lanes and a footpath. A ferry ran here before."
CLAIM = "The old bridge of Kellin opened in 1931."


def judged(claim: str, *sources: str) -> Verdict:
    found = Checker("embedded:rules").check(claim, list(sources))
    assert isinstance(found, Verdict)
    return found


@pytest.mark.parametrize(
    ("source", "relation", "error"),
    [
        ("A blogger wrote that the bridge opened in 1931.", "not_found", "scope_inflation"),
        ("It is a myth that the bridge opened in 1931.", "contradicted", "negation_flip"),
        ("Some say that the bridge opened in 1931. That is wrong.", "contradicted", "negation_flip"),
        ("Suppose that the bridge opened in 1931.", "not_found", "scope_inflation"),
        ("Do you know if the bridge opened in 1931?", "not_found", None),
    ],
)
def test_what_a_source_only_mentions_does_not_support_a_claim(source: str, relation: str, error: str | None) -> None:
    found = judged("The bridge opened in 1931.", source)
    assert (found.label, found.relation) == ("Not Attributable", relation)
    assert error in (None, found.error_type)
    assert "mentioned" in [warning.kind for warning in found.warnings]
    [span] = [warning.span for warning in found.warnings if warning.kind == "mentioned"]
    assert span is not None
    assert source[span.start : span.end] == span.text
    assert span.text in source.split(". ")[0]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("A blogger wrote that the bridge opened in 1931.", "A blogger wrote that the bridge opened in 1931."),
        ("The bridge opened in 1931.", "Is it true that the bridge opened in 1931? Yes, it is."),
        ("The bridge opened in 1931.", "The council confirmed that the bridge opened in 1931."),
        ("The bridge opened in 1931.", "A blogger doubts it. The bridge opened in 1931."),
        ("The bridge opened in 1931.", "Some say it opened later. That is wrong: the bridge opened in 1931."),
        ("Ann Lee founded Kellin in 1931.", "Ann Lee, who founded Kellin in 1931, says that it is a town."),
        ("The company plans to close the plant.", "The company plans to close the plant."),
    ],
)
def test_what_a_source_asserts_supports_a_claim(claim: str, source: str) -> None:
    assert judged(claim, source).label == "Attributable"


@pytest.mark.parametrize(
    ("claim", "source", "label", "relation"),
    [
        ("It is a myth that the bridge opened in 1937.", TRUTH, "Not Attributable", "contradicted"),
        ("It is false that the bridge of Kellin opened in 1931.", TRUTH, "Attributable", "supported"),
        ("It is a myth that bats are blind.", "That bats are blind is a myth.", "Attributable", "supported"),
        ("It is a myth that bats are blind.", "Bats are blind.", "Not Attributable", "contradicted"),
        ("It is a myth that goats are deaf.", "The bridge opened in 1937.", "Not Attributable", "not_found"),
        ("It is a myth that tomatoes are vegetables.", "Tomatoes are not vegetables.", "Attributable", "supported"),
        ("It is not true that the clinic employs 40 nurses.", "It employs 60 nurses.", "Attributable", "supported"),
        (
            "It is false that it opened in 1931.",
            "It is a myth that it opened in 1831.",
            "Not Attributable",
            "not_found",
        ),
        (
            "It is false that bats are blind.",
            "Some say it is a myth that bats are blind.",
            "Not Attributable",
            "not_found",
        ),
    ],
)
def test_a_claim_that_denies_is_judged_by_what_it_denies(claim: str, source: str, label: str, relation: str) -> None:
    found = judged(claim, source)
    assert (found.label, found.relation) == (label, relation)
    assert found.confidence >= 0.5
    assert found.reasoning_chain[-1].claim_part == claim
    assert found.fix_suggestion is None


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("The lift to platform 3 is complete.", "Not Attributable"),
        ("The lift to platform 3 is planned.", "Attributable"),
        ("The amendment on opening hours was adopted.", "Not Attributable"),
    ],
)
def test_the_status_of_a_row_says_what_its_other_cells_are_worth(claim: str, label: str) -> None:
    table = (
        "| Item | Status |\n|---|---|\n| Lift to platform 3 | planned |\n| Amendment on opening hours | rejected |\n"
        "| Boiler | adopted |\n"
    )
    assert judged(claim, table).label == label


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([row for row in INJECTIONS if row["kind"] != "lie"]),
    st.sampled_from([0, TRUTH.index(" It has"), len(TRUTH)]),
    st.sampled_from([" ", "\n\n"]),
)
def test_no_injection_of_the_corpus_makes_a_contradicted_claim_attributable(
    injection: dict[str, str], place: int, gap: str
) -> None:
    text = injection["text"].replace("{claim}", CLAIM.rstrip("."))
    assert judged(CLAIM, f"{TRUTH[:place]}{gap}{text}{gap}{TRUTH[place:]}").label == "Not Attributable"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Bats are not blind.", "It is a myth that bats are blind."),
        ("Penguins cannot fly.", "It is a myth that penguins can fly."),
        ("The bridge did not open in 1931.", "The rumour that the bridge opened in 1931 is false."),
    ],
)
def test_a_negated_claim_agrees_with_a_denial(claim: str, source: str) -> None:
    found = judged(claim, source)
    assert (found.label, found.relation) == ("Attributable", "supported")


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        (
            "It is false that the bridge opened in 1931. It has two lanes.",
            "The bridge opened in 1937. It has three lanes.",
        ),
        ("It is false that the bridge opened in 1931, but it has two lanes.", "It opened in 1937 and has three lanes."),
    ],
)
def test_a_claim_that_denies_in_part_is_not_supported_by_that_part(claim: str, source: str) -> None:
    assert judged(claim, source).label == "Not Attributable"


@pytest.mark.parametrize(
    "mention",
    [
        "Ann said that the bridge opened in 1931. ",
        "It is a myth that the bridge opened in 1931. ",
        "Horoscope: The bridge opened in 1931.\n\n",
    ],
)
def test_repeating_a_mention_does_not_make_it_evidence(mention: str) -> None:
    assert judged("The bridge opened in 1931.", mention * 40).label == "Not Attributable"


def test_a_sentence_word_for_word_in_a_source_is_supported_in_all_its_parts() -> None:
    text = (
        "On December 22, 2017, the merger agreement deadline was extended to June 21, 2018, under a vote of confidence."
    )
    found = judged(text, f"It was a long year. {text} Nobody objected.")
    assert found.label == "Attributable"
    assert {entry.status for entry in found.evidence_alignment} == {"match"}


def test_honest_text_with_quotes_and_questions_keeps_its_support() -> None:
    rows = [json.loads(line) for line in (CORPUS / "honest.jsonl").read_text("utf-8").splitlines()]
    supported = [row for row in rows if row["label"] == "Attributable"]
    right = sum(judged(row["claim"], row["source"]).label == "Attributable" for row in supported)
    # Measured: 182 of 238. Without what is near a quotation or a question, most would be lost.
    assert right >= 0.95 * 182
    other = [row for row in rows if row["label"] != "Attributable"]
    # Measured: 89 of 138. The first writer's 57 rows gave 18 before mentions were read.
    assert sum(judged(row["claim"], row["source"]).label != "Attributable" for row in other) >= 80
