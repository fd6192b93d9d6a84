from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vouching.claims.decomposition import decompose
from vouching.claims.short_answers import claim_of_answer, is_short_answer
from vouching.text.framing import statement_of, without_additions


@pytest.mark.parametrize(
    ("question", "answer", "claim"),
    [
        ("Who owns the Velm Bridge today?", "The province.", "The province [owns the Velm Bridge today]."),
        ("Who is the treasurer?", "Ada Berg.", "Ada Berg [is the treasurer]."),
        ("Whom do I ask?", "The payroll desk.", "[You ask] the payroll desk."),
        ("When was the Velm Bridge opened?", "On 2 May 1908.", "[The Velm Bridge was opened] on 2 May 1908."),
        ("When is the deadline?", "In March.", "[The deadline is] in March."),
        ("When is the baths' sauna open?", "On Fridays.", "[The baths' sauna is open] on Fridays."),
        ("Until when are changes free?", "Until noon.", "[Changes are free] until noon."),
        ("Where are the spare keys?", "In the safe.", "[The spare keys are] in the safe."),
        ("Where were the cores kept?", "In a warehouse.", "[The cores were kept] in a warehouse."),
        ("On which day is the pool closed?", "Monday.", "[The pool is closed on] Monday."),
        ("Until when is the museum closed?", "Until Tuesday.", "[The museum is closed] until Tuesday."),
        ("How many locks does the canal have?", "23.", "[The canal has] 23 [locks]."),
        ("How many farms have signed up?", "29.", "29 [farms have signed up]."),
        ("How many tariffs are there?", "Four.", "[There are] four [tariffs]."),
        ("How much does a ticket cost?", "£28.00.", "[A ticket costs] £28.00."),
        ("How much is a day ticket?", "£8.40.", "[A day ticket is] £8.40."),
        ("How much salt is in one piece?", "0.44 g.", "0.44 g [of salt is in one piece]."),
        ("How long may a trip be?", "Up to 56 days.", "[A trip may be] up to 56 days."),
        ("How old was Ann Lee when she died?", "87.", "[Ann Lee was] 87 [when she died]."),
        ("How wide may a boat be?", "4.2 m.", "[A boat may be] 4.2 m [wide]."),
        ("Which tariff gives me more data?", "Herring XL.", "[The tariff that gives you more data is] Herring XL."),
        ("Which pool may children use?", "The big one.", "[The pool that children may use is] the big one."),
        ("What is the limit for lead?", "5 µg/l.", "[The limit for lead is] 5 µg/l."),
        ("What does a card cost?", "€12.", "[A card costs] €12."),
        ("What happens if I keep it?", "A fine of €90.", "[If you keep it,] a fine of €90."),
    ],
)
def test_an_answer_fills_the_gap_of_its_question(question: str, answer: str, claim: str) -> None:
    assert claim_of_answer(question, answer) == claim


@pytest.mark.parametrize(
    ("question", "answer", "claim"),
    [
        ("Can my son climb the tower?", "No.", "No [: your son cannot climb the tower]."),
        ("Can my son climb the tower?", "Yes.", "Yes [: your son can climb the tower]."),
        ("Did read requests fail?", "Yes, in May.", "Yes, [read requests failed,] in May."),
        ("Do I need the receipt?", "No.", "No [: you do not need the receipt]."),
        ("Has Poland approved it?", "Not yet.", "Not yet [: Poland has not approved it]."),
        ("Is the pass transferable?", "Yes.", "Yes [: the pass is transferable]."),
        ("Are the trustees paid?", "No, never.", "No, never [: the trustees are not paid]."),
        ("Are drones allowed?", "Only with consent.", "[Drones are allowed] only with consent."),
        ("I am 40. Can I apply?", "Yes.", "Yes [: you can apply]."),
    ],
)
def test_yes_and_no_state_the_question_or_its_negation(question: str, answer: str, claim: str) -> None:
    assert claim_of_answer(question, answer) == claim


@pytest.mark.parametrize(
    ("question", "stated", "denied"),
    [
        ("Can members rotate keys?", "members can rotate keys", "members cannot rotate keys"),
        ("Does the council fund repairs?", "the council funds repairs", "the council does not fund repairs"),
        ("Did the storm damage roofs?", "the storm did damage roofs", "the storm did not damage roofs"),
        ("Can patients request copies?", "patients can request copies", "patients cannot request copies"),
        (
            "Does the team lead approve the budget?",
            "the team lead does approve the budget",
            "the team lead does not approve the budget",
        ),
        ("Can visitors with a card enter?", "visitors with a card can enter", "visitors with a card cannot enter"),
        (
            "Can the staff help clean the room?",
            "the staff can help clean the room",
            "the staff cannot help clean the room",
        ),
        ("Is the water in the pool heated?", "the water in the pool is heated", "the water in the pool is not heated"),
        ("Is the pool open today?", "the pool is open today", "the pool is not open today"),
        ("Have all lodgers paid?", "all lodgers have paid", "not all lodgers have paid"),
        ("Did anyone complain?", "someone did complain", "no one did complain"),
        ("Were any of the boats hired?", "some of the boats were hired", "none of the boats were hired"),
    ],
)
def test_a_word_that_may_be_a_noun_or_a_verb_is_read_by_its_place(question: str, stated: str, denied: str) -> None:
    assert claim_of_answer(question, "Yes.") == f"Yes [: {stated}]."
    assert claim_of_answer(question, "No.") == f"No [: {denied}]."


@pytest.mark.parametrize(
    "question",
    [
        "Can the night shift change?",
        "Does the club pay for court use?",
        "Is the park open on Sundays?",
        "Can people who rent join?",
        "Has the club a pool?",
    ],
)
def test_a_question_that_can_be_read_in_two_ways_is_not_completed(question: str) -> None:
    assert claim_of_answer(question, "Yes.") is None
    [passed] = decompose("No.", question).non_claims
    assert passed.reason == "fragment"


@pytest.mark.parametrize(
    ("question", "answer", "claim"),
    [
        ("Is the pass transferable?", "Yes, it is.", "Yes, it is [: the pass is transferable]."),
        ("Do lodgers pay a deposit?", "No, they don't.", "No, they don't [: lodgers do not pay a deposit]."),
        ("Do lodgers pay a deposit?", "They do not.", "They do not [: lodgers do not pay a deposit]."),
        ("Can I park here?", "No, you can’t!", "No, you can’t [: you cannot park here]."),
        ("Will the baths close?", "They won't.", "They won't [: the baths will not close]."),
        ("Is there a lift?", "Yes, there is.", "Yes, there is [: there is a lift]."),
    ],
)
def test_an_answer_that_repeats_the_auxiliary_is_completed_as_yes_and_no_are(
    question: str, answer: str, claim: str
) -> None:
    assert is_short_answer(answer)
    assert claim_of_answer(question, answer) == claim
    assert statement_of(claim).split()[0] in claim.partition("[:")[2]


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Is it red?", "Yes, it isn't."), ("Who owns it?", "It is."), ("It is red.", "Yes, it is.")],
)
def test_an_answer_that_repeats_the_auxiliary_of_no_such_question_makes_no_claim(question: str, answer: str) -> None:
    assert claim_of_answer(question, answer) is None


def test_such_an_answer_without_its_question_makes_no_claim() -> None:
    assert decompose("Yes, it is.").claims == ()
    assert [claim.text for claim in decompose("Yes, it is valid.").claims] == ["Yes, it is valid."]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Can I swim?", "Ada Berg."),
        ("Who runs it?", "Yes."),
        ("Isn't it red?", "Yes."),
        ("Tell me about it.", "Yes."),
        ("Why?", "50."),
    ],
)
def test_an_answer_that_does_not_fit_makes_no_claim(question: str, answer: str) -> None:
    assert claim_of_answer(question, answer) is None


@pytest.mark.parametrize(
    "sentence", ["50.", "Ada Berg.", "Yes.", "Yes, in North-1.", "Up to 8 seconds.", "A fine of €90."]
)
def test_an_answer_without_a_verb_is_short(sentence: str) -> None:
    assert is_short_answer(sentence)


@pytest.mark.parametrize("sentence", ["It rained.", "Lessons start at 8:50.", "Move to 4.9 first.", "Yes, it is red."])
def test_a_sentence_with_a_verb_is_no_short_answer(sentence: str) -> None:
    assert not is_short_answer(sentence)


WORDS = st.sampled_from(
    str.split("Who What Which How many much long is was did does can the a Ann sons of have cost in I my not")
)
ANSWERS = st.sampled_from(["Yes.", "No, never.", "Four.", "In May.", "The big one", "Not yet.", "5 [1]."])


@given(st.lists(WORDS, min_size=1, max_size=9).map(lambda words: f"{' '.join(words)}?"), ANSWERS)
def test_what_the_question_adds_is_in_brackets(question: str, answer: str) -> None:
    claim = claim_of_answer(question, answer)
    if claim is not None:
        left = without_additions(claim, answer)
        assert left.strip(" .").lower() == answer.strip(" .").lower()


@pytest.mark.parametrize("answer", ["[1].", "...", "【2】"])
def test_an_answer_without_a_word_makes_no_claim(answer: str) -> None:
    assert claim_of_answer("When did the bridge open?", answer) is None
