"""Claims that give the roles of a source to others, and claims that only tell them in another way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.methods.embedded.verify import open_embedded
from vouching.types import Claim, Source, Verdict

VERIFIER = open_embedded("embedded:rules")


def judge(claim: str, source: str) -> Verdict:
    return VERIFIER.judge(Claim(claim), [Source(source)])


def supported(claim: str, source: str) -> bool:
    return judge(claim, source).attributable


@pytest.mark.parametrize(
    ("claim", "right"),
    [
        ("Marlow sold the house to Kern.", True),  # the giver is Marlow in both
        ("Kern sold the house to Marlow.", False),
        ("Marlow bought the house from Kern.", False),
    ],
)
def test_converse_verbs_are_no_opposites_where_the_roles_agree(claim: str, right: bool) -> None:
    assert supported(claim, "Kern bought the house from Marlow.") is right


ACQUIRED = "The board met in May. Marlow Ltd acquired Harrow Foods in 2019. The shops stayed open."


@pytest.mark.parametrize(
    "claim", ["Harrow Foods was acquired by Marlow Ltd in 2019.", "Marlow Ltd bought Harrow Foods in 2019."]
)
def test_other_voice_and_synonyms_are_supported(claim: str) -> None:
    assert supported(claim, ACQUIRED)


@pytest.mark.parametrize(
    "claim", ["Harrow Foods acquired Marlow Ltd in 2019.", "Marlow Ltd was acquired by Harrow Foods in 2019."]
)
def test_exchanged_names_differ_and_the_fix_exchanges_them(claim: str) -> None:
    verdict = judge(claim, ACQUIRED)
    assert (verdict.attributable, verdict.error_type, verdict.relation) == (
        False,
        "entity_substitution",
        "contradicted",
    )
    assert verdict.revised_claim in (
        "Marlow Ltd acquired Harrow Foods in 2019.", "Harrow Foods was acquired by Marlow Ltd in 2019.",
    )  # fmt: skip


PAIRS = [
    ("Ann Lee sold the mill to Rob Orr.", "Rob Orr bought the mill from Ann Lee."),
    ("The city lends the lamp to the museum.", "The museum borrows the lamp from the city."),
    ("Rob Orr was succeeded by Ann Lee.", "Ann Lee took over from Rob Orr."),
    ("Ann Lee taught Rob Orr.", "Rob Orr was a pupil of Ann Lee."),
    ("Marlow Ltd employs Ann Lee.", "Ann Lee works for Marlow Ltd."),
    ("Ann Lee beat Rob Orr in the final.", "Rob Orr lost to Ann Lee in the final."),
]
NAMES = ("Ann Lee", "Rob Orr"), ("city", "museum"), ("Ann Lee", "Marlow Ltd")


def exchanged(text: str) -> str:
    one, other = next((one, other) for one, other in NAMES if one in text and other in text)
    return text.replace(one, "\0").replace(other, one).replace("\0", other)


@pytest.mark.parametrize(("source", "claim"), PAIRS)
def test_converse_verbs_tell_the_same_and_with_exchanged_names_the_opposite(source: str, claim: str) -> None:
    assert supported(source, source)
    assert not supported(exchanged(source), source)
    assert not supported(exchanged(claim), source)


TRANSITIVE = st.sampled_from(
    "acquired examined hired rejected visited sued painted designed accused rescued invited paid supervised".split()
)
SYMMETRIC = st.sampled_from("met married resembled".split())
ACTORS = st.lists(
    st.sampled_from(["Ann Lee", "Rob Orr", "Marlow Ltd", "Harrow Foods", "Iris Vane", "Otto Brandt"]),
    min_size=2, max_size=2, unique=True,
)  # fmt: skip
RESTS = st.sampled_from(["", " in 1998", " after the fire", " for the second time", " in the old harbour"])


@given(ACTORS, TRANSITIVE, RESTS)
def test_exchanging_the_arguments_of_a_verb_changes_the_label(actors: list[str], verb: str, rest: str) -> None:
    one, other = actors
    source = f"The town is small. {one} {verb} {other}{rest}. Nothing else is known."
    assert supported(f"{one} {verb} {other}{rest}.", source)
    assert not supported(f"{other} {verb} {one}{rest}.", source)
    assert not supported(f"{one} was {verb} by {other}{rest}.", source)


@given(ACTORS, SYMMETRIC, RESTS)
def test_exchanging_the_arguments_of_a_symmetric_verb_does_not(actors: list[str], verb: str, rest: str) -> None:
    one, other = actors
    assert supported(f"{other} {verb} {one}{rest}.", f"The town is small. {one} {verb} {other}{rest}.")


REPLACED = "The accounts were examined by Pruett & Sons, who replaced Ashdown Lyle in March 2024."


def test_name_with_another_role_in_the_source_is_not_the_claimed_one() -> None:
    assert supported("The accounts were examined by Pruett & Sons.", REPLACED)
    assert not supported("The accounts were examined by Ashdown Lyle.", REPLACED)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        # A list, an apposition and a predicate noun name the same argument again.
        ("The firm was bought by Rob Orr.", "The firm was bought by Ann Lee, Otto Brandt and Rob Orr."),
        ("The mayor opened the bridge in May.", "Ann Lee, the mayor, opened the bridge in May."),
        ("Gin derives its main flavour from juniper.", "Gin is a spirit which derives its main flavour from juniper."),
    ],
)  # fmt: skip
def test_other_words_for_an_argument_are_no_other_argument(claim: str, source: str) -> None:
    assert supported(claim, source)


def test_who_did_it_is_not_taken_from_another_verb() -> None:
    source = "A ban was proposed by Sunita Farrow, but was rejected in February."
    assert supported("A ban was proposed by Sunita Farrow.", source)
    assert not supported("A ban was rejected by Sunita Farrow.", source)


def test_who_reports_a_statement_does_not_take_a_role_in_it() -> None:
    source = "Ann Lee wrote a novel. The author won the Tarn Prize, as Bob Roy said."
    found = judge("Ann Lee won the Tarn Prize.", source).reasoning_chain
    assert all(step.judgment != "not_supported" for step in found)
