"""A fix keeps the negations, the units and the subject, and is offered only where the sources show that it is right."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vouching.embedded.correction import Edit, apply_edit, keeps_negations, reads_well
from vouching.embedded.verify import EmbeddedVerifier
from vouching.text.cues import find_negations
from vouching.text.quantities import find_quantities
from vouching.text.words import find_words
from vouching.types import Claim, Source, Verdict

VERIFIER = EmbeddedVerifier()


def judge(claim: str, source: str) -> Verdict:
    return VERIFIER.judge(Claim(claim), [Source(source)])


@pytest.mark.parametrize(
    ("claim", "source", "revised"),
    [
        (
            "The Wick lighthouse opened in 1937.",
            "The Wick lighthouse opened in 1973.",
            "The Wick lighthouse opened in 1973.",
        ),
        # The only other word is the verb, and the source has one date for it.
        ("It opened in 1937.", "The bridge opened in 1973.", "It opened in 1973."),
        # "5 days" becomes the source's "up to 7 days": at most 7.
        (
            "Guests may stay for 5 days without consent.",
            "Guests may stay for up to 3 days without consent.",
            "Guests may stay for at most 3 days without consent.",
        ),
        (
            "Keys must be strings of at least 250 bytes.",
            "Keys must be strings of at most 250 bytes.",
            "Keys must be strings of at most 250 bytes.",
        ),
        (
            "The Brisling network is operated by Calldeck GmbH.",
            "The Brisling network is operated by Norrmast AB. Customer service is provided by Calldeck GmbH.",
            "The Brisling network is operated by Norrmast AB.",
        ),
        (
            "A repair restarts the warranty period.",
            "A repair does not restart the warranty period.",
            "A repair does not restart the warranty period.",
        ),
        (
            "The foreman Abel Crane was convicted of negligence.",
            "The foreman, Abel Crane, was charged with negligence but acquitted in 1907.",
            "The foreman Abel Crane was acquitted of negligence.",
        ),
        (
            "Biology offers 90 places.",
            "| Programme | Places |\n|---|---|\n| Biology | 120 |\n| History | 90 |\n",
            "Biology offers 120 places.",
        ),
    ],
)
def test_a_part_that_the_source_shows_to_be_other_is_exchanged(claim: str, source: str, revised: str) -> None:
    verdict = judge(claim, source)
    assert verdict.label == "Not Attributable"
    assert verdict.revised_claim == revised


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        # The value in the note belongs to the year in the note.
        ("In 2023 the rangers issued 280 fines.", "In 2024 the rangers issued 312 fines (2023: 274)."),
        # Two things opened; the date is only a guess; two dates in the sentence.
        ("It opened in 1937.", "The bridge opened in 1973. The gallery opened in 1990."),
        ("It opened in 1937.", "The bridge may have opened in 1973."),
        ("It opened in 1937.", "The bridge opened in 1973 and the gallery in 1990."),
        # Another unit, a difference, the end of a change, a plan: none is the claim's value.
        ("The parcel takes three weeks to arrive.", "The parcel takes 40 hours to arrive."),
        ("The tank of the Plus is 0.8 litres larger.", "The tank of the Plus holds 2.4 litres."),
        ("The cut took 130,000 crowns from the budget.", "The cut brought the budget from 420,000 to 310,000 crowns."),
        ("By 2024 the group reached a 30 percent cut.", "We aim to reach a 30 percent cut of the group by 2030."),
        # The negation would be lost.
        ("The drug did not lower blood pressure.", "The drug lowered blood pressure."),
        # A prize for a person.
        ("The winner of the Harbour Prize was Joon Park.", "Amir Haddad chairs the jury; Joon Park was the winner."),
        # Bought from and sold to: the roles would have to change.
        ("The trust bought the cottages.", "The cottages were sold to the trust in 1994."),
    ],
)
def test_a_part_that_the_source_does_not_show_to_be_other_is_left(claim: str, source: str) -> None:
    assert judge(claim, source).revised_claim is None


def test_an_addition_that_the_source_does_not_have_is_offered_as_a_removal() -> None:
    verdict = judge(
        "A drill for diverting traffic is due in December and will be repeated in June.",
        "A drill for diverting traffic is due in December.",
    )
    assert verdict.revised_claim == "A drill for diverting traffic is due in December."
    assert verdict.fix_title == "Removal"


SUBJECTS = ("The Wick ferry", "The Oban library", "The Tarn archive")
UNITS = ("km", "kg", "litres", "percent")


@given(
    subject=st.sampled_from(SUBJECTS),
    claimed=st.integers(2, 400),
    stated=st.integers(2, 400),
    units=st.tuples(st.sampled_from(UNITS), st.sampled_from(UNITS)),
    denied=st.tuples(st.booleans(), st.booleans()),
)
def test_a_fix_keeps_negations_units_and_all_but_the_named_part(
    subject: str, claimed: int, stated: int, units: tuple[str, str], denied: tuple[bool, bool]
) -> None:
    assume(claimed != stated)
    negations = ["did not report" if deny else "reported" for deny in denied]
    claim = f"{subject} {negations[0]} a loss of {claimed} {units[0]} last year."
    source = f"{subject} {negations[1]} a loss of {stated} {units[1]} last year."
    verdict = judge(claim, source)
    if verdict.revised_claim is None:
        return
    revised = verdict.revised_claim
    assert judge(revised, source).attributable
    before, after = (len(find_negations(text, find_words(text))) for text in (claim, revised))
    assert after >= before
    assert find_quantities(revised)[0].unit == find_quantities(claim)[0].unit
    changed = [step.claim_part for step in verdict.reasoning_chain if step.judgment == "not_supported"]
    old, new = claim.split(), revised.split()
    for kind, start, end, _, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        assert kind == "equal" or any(" ".join(old[start:end]) in part for part in changed)


def test_a_value_given_to_the_same_subject_is_offered() -> None:
    claim, source = (
        "The Wick ferry reported a loss of 12 kg last year.",
        "The Wick ferry reported a loss of 9 kg last year.",
    )
    assert judge(claim, source).revised_claim == source


def test_an_edit_at_the_start_of_a_claim_gets_a_capital() -> None:
    assert apply_edit("Few came.", Edit(0, 3, "most", 'Change "Few" to "most".')) == "Most came."


@pytest.mark.parametrize(
    ("claim", "revised", "kept"),
    [
        ("Dogs are not allowed.", "Dogs are allowed.", False),
        ("Dogs are allowed.", "Dogs are not allowed.", True),
        ("Nobody came in 1937.", "Nobody came in 1973.", True),
    ],
)
def test_a_deleted_negation_is_seen(claim: str, revised: str, kept: bool) -> None:
    assert keeps_negations(claim, revised) is kept


@pytest.mark.parametrize(
    "revised", ["The meeting is.", "The meeting is at.", "The the meeting is at noon.", "The meeting (is at noon."]
)
def test_a_broken_sentence_does_not_read_well(revised: str) -> None:
    assert not reads_well("The meeting is at noon.", revised)
