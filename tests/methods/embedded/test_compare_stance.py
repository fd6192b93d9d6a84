"""Claims that demand, allow, deny or expect something else than their source, each construction both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.embedded.features import compare_claim, comparisons_of
from vouching.methods.embedded.verify import EmbeddedVerifier
from vouching.reading.evidence import index_sources
from vouching.types import Claim, Source

STANCE = ("opposite", "overstated", "unhedged", "negated")


def differences(claim: str, source: str) -> list[str]:
    """The outcomes that are about stance."""
    return [
        comparison.outcome
        for comparison in comparisons_of(compare_claim(claim, index_sources([Source(source)])))
        if comparison.outcome in STANCE
    ]


@pytest.mark.parametrize(
    ("source", "supported", "unsupported", "outcome"),
    [
        (
            "Guests may return the badge within 60 days.",
            "Guests are allowed to return the badge within 60 days.",
            "Guests must return the badge within 60 days.",
            "overstated",
        ),
        (
            "Guests must return the badge at the desk.",
            "Guests are obliged to return the badge at the desk.",
            "Guests need not return the badge at the desk.",
            "opposite",
        ),
        (
            "Guests need not return the badge at the desk.",
            "Guests do not have to return the badge at the desk.",
            "Guests are required to return the badge at the desk.",
            "opposite",
        ),
        (
            "Taking photographs in the vault is prohibited.",
            "Taking photographs in the vault is not allowed.",
            "Taking photographs in the vault is permitted.",
            "opposite",
        ),
        (
            "Guests may take photographs in the vault.",
            "Guests are free to take photographs in the vault.",
            "Guests must not take photographs in the vault.",
            "opposite",
        ),
        (
            "Training in the pool is recommended.",
            "Training in the pool is advised.",
            "Training in the pool is mandatory.",
            "overstated",
        ),
        (
            "A second bridge over the river is planned for 2026.",
            "A second bridge over the river is to come in 2026.",
            "A second bridge over the river has been completed.",
            "unhedged",
        ),
        (
            "The council is considering a second bridge over the river.",
            "The council is thinking about a second bridge over the river.",
            "The council has approved a second bridge over the river.",
            "unhedged",
        ),
        (
            "The driver is accused of stealing the painting.",
            "The driver is suspected of stealing the painting.",
            "The driver has been convicted of stealing the painting.",
            "unhedged",
        ),
        (
            "The repair of the north bridge was completed in March.",
            "The repair of the north bridge was finished in March.",
            "The repair of the north bridge is still pending.",
            "opposite",
        ),
        (
            "The next handbook may include rules on gifts.",
            "The next handbook may include rules on gifts.",
            "The next handbook will include rules on gifts.",
            "unhedged",
        ),
        (
            "Dogs are not permitted in the garden, apart from guide dogs.",
            "Dogs are not permitted in the garden.",
            "Guide dogs are not permitted in the garden.",
            "opposite",
        ),
        (
            "Claims filed late are rejected, unless the employee was on leave.",
            "Claims filed late are rejected, unless the employee was on leave.",
            "Claims filed late are rejected, even if the employee was on leave.",
            "negated",
        ),
        (
            "Faults in the network are normally cleared within a day.",
            "Faults in the network are usually cleared within a day.",
            "Faults in the network are cleared within a day without exception.",
            "overstated",
        ),
        (
            "Most of the residents of the valley have been paid.",
            "Most of the residents of the valley have been paid.",
            "All of the residents of the valley have been paid.",
            "overstated",
        ),
        (
            "In 2024, 91 percent of claims in the region were settled.",
            "In 2024, 91 percent of claims in the region were settled.",
            "In 2024, all claims in the region were settled.",
            "overstated",
        ),
        (
            "All of the staff in the kitchen share the tips.",
            "Every member of the staff in the kitchen shares the tips.",
            "Only some of the staff in the kitchen share the tips.",
            "opposite",
        ),
        (
            "No sample in the freezer was lost.",
            "No sample in the freezer was lost.",
            "Some samples in the freezer were lost.",
            "negated",
        ),
        (
            "The harbour no longer accepts timber.",
            "The harbour does not accept timber any more.",
            "The harbour accepts timber.",
            "negated",
        ),
        (
            "The director declined to name the buyer.",
            "The director did not name the buyer.",
            "The director named the buyer.",
            "negated",
        ),
    ],
)
def test_another_stance_is_a_difference_and_the_same_in_other_words_is_not(
    source: str, supported: str, unsupported: str, outcome: str
) -> None:
    assert differences(supported, source) == []
    assert outcome in differences(unsupported, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        # other words are denied
        ("The east gate is open.", "The west gate is not open, but the east gate is open."),
        # the restriction says the same in positive words
        ("Entry is possible only with a ticket.", "Entry is not possible without a ticket."),
        # another number, which is compared as a number
        ("Groups of eight need no permit.", "Groups of more than twelve need a permit."),
        # "not yet" agrees with what is planned
        ("The museum is not open yet.", "The museum is to open in 2027."),
        # the doubt is about something else
        ("The subsidy is paid by the state.", "The firm might close unless the state pays the subsidy."),
        # The month is no permission.
        ("The pool will be closed for repairs.", "The pool was closed for repairs in May."),
    ],
)
def test_a_stance_towards_something_else_is_no_difference(claim: str, source: str) -> None:
    assert differences(claim, source) == []


SUBJECTS = ("The harbour", "The old library", "Every visitor", "The Tarn bridge", "Our second supplier")
VERBS = (
    ("was", "closed in the winter"),
    ("is", "open to members"),
    ("can", "carry heavy trucks"),
    ("has", "paid the rent"),
)


@given(st.sampled_from(SUBJECTS), st.sampled_from(VERBS), st.booleans())
def test_toggling_a_denial_of_a_claim_that_a_source_has_word_for_word_changes_the_label(
    subject: str, verb: tuple[str, str], source_denies: bool
) -> None:
    plain, denied = f"{subject} {verb[0]} {verb[1]}.", f"{subject} {verb[0]} not {verb[1]}."
    source, toggled = (denied, plain) if source_denies else (plain, denied)
    judge = EmbeddedVerifier().judge
    assert judge(Claim(source), [Source(source)]).attributable
    assert not judge(Claim(toggled), [Source(source)]).attributable


@pytest.mark.parametrize(
    ("distant", "asserted", "source"),
    [
        # A word that keeps a distance in the first claim is what the second, and the source, are about.
        ("The army is thinking about an answer to the raid.", "The army answered the threat.",
         "The army might answer the threat."),
        ("The board has an idea of adopting the rule.", "The board adopted the opinion.",
         "The board may possibly adopt the opinion."),
        ("According to Lee, the firm launched a trial.", "The firm launched the trial.",
         "The firm might launch the trial."),
    ],
)  # fmt: skip
def test_a_word_of_distance_that_the_source_has_too_is_content(distant: str, asserted: str, source: str) -> None:
    assert "unhedged" not in differences(distant, source)
    assert "unhedged" in differences(asserted, source)
