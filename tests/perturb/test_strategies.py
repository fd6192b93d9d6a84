"""Each strategy on claims made for it: exact results, and what it leaves alone."""

from __future__ import annotations

import random

import pytest

from vouching.perturb import CorpusPool, Strategy, perturb

POOL = CorpusPool(
    [
        "Bob Roy was born in Lisbon. Bob Roy moved to Vienna in 1990.",
        "The factory stands in Peru. The factory employs 900 people in Peru.",
        "Lake Nemi lies in Italy. The lake reached its lowest level in 1931.",
    ]
)


def made(claim: str, strategy: Strategy, source: str | None = None, seed: int = 0) -> list[str]:
    """What a strategy makes of a claim; the source says the claim unless another one is given."""
    found = perturb(claim, source or claim, [strategy], pool=POOL, rng=random.Random(seed))
    return [perturbation.claim for perturbation in found]


# The exact ones: what a strategy makes does not depend on chance.

EXACT: list[tuple[Strategy, str, list[str]]] = [
    ("unit_change", "The trail is 5 km long.", ["The trail is 5 miles long."]),
    ("unit_change", "It cost $3 million.", ["It cost €3 million.", "It cost $3 billion."]),
    ("bound_change", "More than 50 people came.", ["Fewer than 50 people came."]),
    ("bound_change", "It weighs at least 9 kg.", ["It weighs at most 9 kg."]),
    ("bound_change", "It won more than one prize.", []),  # "fewer than one" is said by nobody
    ("bound_change", "Its families added up to 50 people.", []),
    ("order_flip", "He left after the war.", ["He left before the war."]),
    ("order_flip", "It was modeled after a novel.", []),
    ("order_flip", "It closed two years later.", ["It closed two years earlier."]),
    ("order_flip", "It was built in the late 1990s.", ["It was built in the early 1990s."]),
    ("negation_added", "The bridge opened in 1973.", ["The bridge did not open in 1973."]),
    ("negation_added", "Ann Lee was born in Paris.", ["Ann Lee was not born in Paris."]),
    ("negation_added", "The firm sells boats.", ["The firm does not sell boats."]),
    ("negation_added", "Potatoes are vegetables.", ["Potatoes are not vegetables."]),
    ("negation_added", "She had a dog.", ["She did not have a dog."]),
    ("negation_added", "It can fly.", ["It cannot fly."]),
    ("negation_removed", "The bridge did not open in 1973.", ["The bridge opened in 1973."]),
    ("negation_removed", "The firm doesn't sell boats.", ["The firm sells boats."]),
    ("negation_removed", "It is not safe.", ["It is safe."]),
    ("negation_removed", "It cannot fly.", ["It can fly."]),
    ("negation_removed", "He has never won the cup.", ["He has won the cup."]),
    ("opposite", "Sales increased in May.", ["Sales decreased in May."]),
    ("opposite", "It is the largest lake.", ["It is the smallest lake."]),
    ("role_swap", "Ann Lee defeated Bob Roy in 1973.", ["Bob Roy defeated Ann Lee in 1973."]),
    ("qualifier_strengthened", "The plant is often used as a dye.", ["The plant is always used as a dye."]),
    ("qualifier_strengthened", "Several banks closed.", ["All banks closed."]),
    ("hedge_dropped", "The drug may lower the risk.", ["The drug will lower the risk."]),
    ("hedge_dropped", "He reportedly left.", ["He left."]),
    ("hedge_dropped", "They are considered as one.", []),
    ("exclusivity_added", "It is a cable network in Peru.", ["It is the only cable network in Peru."]),
    ("exclusivity_added", "It is a cable network.", []),  # nothing is the only one of all
    ("exclusivity_added", "He makes his debut in May.", []),
    ("exclusivity_added", "The shop sells boats in May.", ["The shop sells only boats in May."]),
    ("number_format", "It has 12 towers.", ["It has twelve towers."]),
    ("number_format", "Sales grew by 15%.", ["Sales grew by 15 percent."]),
    ("number_format", "It sold 1.2 million copies.", ["It sold 1,200,000 copies."]),
    ("number_format", "It sold 1,200,000 copies.", ["It sold 1.2 million copies."]),
    ("number_format", "About half of the staff left.", ["About 50% of the staff left."]),
    ("unit_converted", "The trail is 5 km long.", ["The trail is about 3.1 miles long."]),
    ("unit_converted", "It rose by 2 °C.", ["It rose by about 3.6 °F."]),  # a difference: 2 * 9 / 5, without 32
    ("unit_converted", "It fell to 10 °C.", ["It fell to about 50 °F."]),
    ("unit_converted", "It lasted two hours.", ["It lasted 120 minutes."]),
    ("unit_converted", "Its length is great (5 km).", []),
    ("date_format", "It opened on May 3, 1937.", ["It opened on 3 May 1937."]),
    ("date_format", "It opened on 3 May 1937.", ["It opened on May 3, 1937."]),
    ("date_format", "On May 3, 1937, it opened.", ["On 3 May 1937, it opened."]),
    ("date_format", "It is of the 18th century.", ["It is of the eighteenth century."]),
    ("synonym", "He purchased a boat.", ["He bought a boat."]),
    ("qualifier_weakened", "Most banks closed.", ["Many banks closed."]),
    ("qualifier_weakened", "It significantly reduced costs.", ["It reduced costs."]),
    ("time_moved", "The bridge opened in 1973.", ["In 1973, the bridge opened."]),
    ("time_moved", "In 1973, the bridge opened.", ["The bridge opened in 1973."]),
    ("voice_changed", "The Tarn Prize was founded by Ann Lee in 1973.", ["Ann Lee founded the Tarn Prize in 1973."]),
    ("voice_changed", "Ann Lee defeated Bob Roy.", ["Bob Roy was defeated by Ann Lee."]),
    (
        "sentences_joined",
        "The bridge opened in 1973. It has two towers.",
        ["The bridge opened in 1973, and it has two towers."],
    ),
    (
        "sentence_split",
        "Ann Lee was born in 1912 and moved to Paris in 1930.",
        ["Ann Lee was born in 1912. Ann Lee moved to Paris in 1930."],
    ),
    ("detail_dropped", "The bridge was opened by the queen in 1973.", ["The bridge was opened by the queen."]),
    ("detail_dropped", "Ann Lee (a chemist) left the firm.", ["Ann Lee left the firm."]),
    ("detail_dropped", "Ann Lee left and Bob Roy stayed.", []),
]


@pytest.mark.parametrize(("strategy", "claim", "expected"), EXACT)
def test_a_strategy_makes_the_expected_claims(strategy: Strategy, claim: str, expected: list[str]) -> None:
    assert made(claim, strategy) == expected


# What depends on chance: any seed gives one of these.


def any_of(claim: str, strategy: Strategy, source: str | None = None) -> set[str]:
    """What a strategy makes of a claim under thirty seeds."""
    return {text for seed in range(30) for text in made(claim, strategy, source, seed)}


def test_a_number_below_ten_moves_by_up_to_three() -> None:
    # From 6: 3 and 9 lie within three; all of them change by at least a fifth of the larger number but 7 (1/7 < .2).
    assert any_of("It has 6 towers.", "number_change") == {f"It has {n} towers." for n in (3, 4, 8, 9)}


def test_a_longer_number_keeps_its_notation_and_its_order_of_size() -> None:
    numbers = {text.split()[2] for text in any_of("It has 90,932 seats.", "number_change")}
    assert len(numbers) > 3
    for number in numbers:
        assert len(number) == 6
        assert number[2] == ","
        # From .4 to .8 of 90,932; nothing above it has five digits and differs by a fifth.
        assert 36_372 <= int(number.replace(",", "")) <= 72_746


def test_a_percentage_stays_below_a_hundred() -> None:
    values = {float(text.split()[2].rstrip("%")) for text in any_of("It takes 79% nitrogen.", "number_change")}
    assert values
    assert all(0 < value <= 100 for value in values)


def test_a_number_word_stays_a_word() -> None:
    assert any_of("It has Two wings.", "number_change") <= {
        "It has Three wings.",
        "It has Four wings.",
        "It has Five wings.",
    }


@pytest.mark.parametrize(
    "claim",
    [
        "He flew a Boeing 747.",
        "Boeing 747 Jumbo is a machine.",
        "It fell at week 4.",
        "It ranked 302 in the list.",
        "It takes between 450 and 495 days.",
        "The 2016 report said so.",
    ],
)
def test_a_number_that_names_ranks_or_bounds_is_not_changed(claim: str) -> None:
    assert any_of(claim, "number_change") == set()


def test_a_number_that_the_source_also_has_is_never_chosen() -> None:
    source = "It has 6 towers, 3 gates, 4 halls and 8 wells."
    assert any_of("It has 6 towers.", "number_change", source) == {"It has 9 towers."}


def test_years_months_days_decades_centuries_and_lengths_move() -> None:
    assert all(text.startswith("It opened in 19") for text in any_of("It opened in 1973.", "date_shift"))
    changed = any_of("It opened on 3 May 1937.", "date_shift")
    assert any(text.endswith("May 1937.") for text in changed)
    assert any(text.startswith("It opened on 3 ") and text.endswith(" 1937.") for text in changed)
    assert any(text.startswith("It opened on 3 May 19") for text in changed)
    assert any_of("It is of the 1980s.", "date_shift") == {
        f"It is of the {year}s." for year in (1950, 1960, 1970, 1990, 2000)
    }
    assert any_of("It is of the 18th century.", "date_shift") == {f"It is of the {n}th century." for n in (16, 17, 19)}
    # Four tenths to two and a half times eight years, but never by less than a quarter of it.
    lengths = {int(text.split()[2]) for text in any_of("It lasted 8 years.", "date_shift")}
    assert lengths <= {3, 4, 6, 12, 16, 20}


def test_no_future_year_is_made() -> None:
    assert all(int(text[-5:-1]) < 2023 for text in any_of("It opened in 2023.", "date_shift"))


def test_an_age_is_neither_shifted_nor_converted() -> None:
    assert any_of("He is a 92-year-old man.", "date_shift") == set()
    assert made("He is two years old.", "unit_converted") == []


def test_a_name_is_swapped_for_one_of_its_kind_everywhere() -> None:
    assert "Bob Roy left when Bob Roy was old." in any_of("Ann Lee left when Ann Lee was old.", "entity_swap")
    assert any_of("Ann Lee lives in Paris.", "entity_swap") == {
        "Bob Roy lives in Paris.",
        "Ann Lee lives in Lisbon.",
        "Ann Lee lives in Vienna.",
    }


def test_a_person_is_not_swapped_where_a_pronoun_shows_the_gender() -> None:
    assert made("Ann Lee left, and she came back.", "entity_swap") == []


def test_a_name_of_the_source_is_not_swapped_in() -> None:
    source = "Ann Lee lives in Paris, not in Lisbon like Bob Roy."
    assert any_of("Ann Lee lives in Paris.", "entity_swap", source) == {"Ann Lee lives in Vienna."}


def test_a_graft_takes_a_name_with_another_role_in_the_source() -> None:
    source = (
        "Ann Lee founded the firm in 1973. It is large. It sells boats and paint. The painter Tom Fox drew its sign."
    )
    assert made("Ann Lee founded the firm in 1973.", "entity_graft", source) == ["Tom Fox founded the firm in 1973."]


def test_a_graft_does_not_take_a_name_for_which_the_claim_may_hold() -> None:
    source = "Ann Lee founded the firm in 1973. It is large. It sells boats. Tom Fox founded the firm with her."
    assert made("Ann Lee founded the firm in 1973.", "entity_graft", source) == []


@pytest.mark.parametrize(
    "claim", ["Alice Munro married Bob Roy.", "Alice Munro and Bob Roy met.", "Paris is near Rome."]
)
def test_roles_that_are_alike_are_not_swapped(claim: str) -> None:
    assert made(claim, "role_swap") == []


@pytest.mark.parametrize(
    "claim",
    [
        "Nobody opened the bridge.",  # denied already
        "Some bridges are long.",  # "some are not" does not contradict it
        "The bridge also opened in 1973.",  # "did not also open" denies something else
        "The man who left was tall.",  # which verb is the main one takes a parser
    ],
)
def test_a_claim_that_cannot_be_denied_reliably_is_not_negated(claim: str) -> None:
    assert made(claim, "negation_added") == []


def test_a_negation_is_not_removed_where_any_would_remain() -> None:
    assert made("It did not harm any patients.", "negation_removed") == []


@pytest.mark.parametrize("claim", ["It is the most common bird.", "He was in several bands.", "It has as many towers."])
def test_a_quantifier_is_not_strengthened_where_it_is_none_or_reads_badly(claim: str) -> None:
    assert made(claim, "qualifier_strengthened") == []


def test_a_quantifier_is_not_strengthened_to_what_the_source_says() -> None:
    assert made("Several banks closed.", "qualifier_strengthened", "All banks closed.") == []


def test_a_qualifier_is_not_weakened_where_negation_reverses_it() -> None:
    assert made("Most banks did not close.", "qualifier_weakened") == []


def test_an_intensifier_precedes_the_verb_or_adjective_with_the_right_article() -> None:
    assert any_of("It reduced costs.", "intensifier_added") == {
        f"It {word} reduced costs." for word in ("significantly", "dramatically", "substantially", "considerably")
    }
    assert "It is an extremely popular song." in any_of("It is a popular song.", "intensifier_added")
    assert made("Epigenetic changes are common.", "intensifier_added") == []


def test_a_fact_of_the_corpus_is_grafted_onto_a_subject_of_its_sort() -> None:
    # The pool has two facts of people; the source has neither Lisbon nor Vienna. 1990 is near to 1980.
    facts = ("was born in Lisbon", "moved to Vienna in 1990")
    at_end = {f"Ann Lee died in 1980 and {fact}." for fact in facts}
    relative = {f"Ann Lee, who {fact}, died in 1980." for fact in facts}
    found = any_of("Ann Lee died in 1980.", "fact_graft")
    assert found
    assert found <= at_end | relative
    assert made("The valve opened in 1980.", "fact_graft") == []  # nothing tells what sort of thing a valve is


@pytest.mark.parametrize(
    "sentence",
    [
        "Bob Roy gave birth to a son in 1990.",
        "Bob Roy starred in the films Alien and Dune.",  # cut at "and"
        "Bob Roy has since played Hector in Rome.",
        "Bob Roy had been ill in Rome for years.",
    ],
)
def test_a_sentence_that_fits_no_other_subject_is_not_a_fact(sentence: str) -> None:
    assert CorpusPool([sentence]).facts("person") == ()


def test_a_fact_of_another_time_or_already_stated_is_not_grafted() -> None:
    # 1880 is 110 years from 1990, and the source says where she was born.
    assert made("Ann Lee died in 1880.", "fact_graft", "Ann Lee, born in Rome, died in 1880.") == []


def test_a_presupposition_belongs_to_a_verb_that_can_be_repeated() -> None:
    found = any_of("Ann Lee won the cup in 1973.", "presupposition")
    assert found
    assert all("won the cup" in text and text.endswith(" in 1973.") for text in found)
    assert all(", " in text for text in any_of("Sales rose by 12%.", "presupposition"))
    assert not any("again" in text or " time " in text for text in any_of("Ann Lee was born.", "presupposition"))
    assert not any("again" in text for text in any_of("Ann Lee won the 2012 cup.", "presupposition"))  # it is won once


def test_a_second_subject_is_compared_with_the_first_and_never_contrasted() -> None:
    # "Unlike Bob Roy" would mostly be true of a name drawn by chance.
    found = any_of("Ann Lee is a painter.", "presupposition")
    assert found
    assert not any("unlike" in text for text in found)
    assert any_of("Ann Lee is a painter with his own shop.", "presupposition") == set()


def test_a_detail_follows_the_subject_and_is_new_to_the_source() -> None:
    found = any_of("Ann Lee is a painter.", "detail_added")
    assert found
    assert all(text.startswith("Ann Lee, ") and text.endswith(", is a painter.") for text in found)
    source = "The club was renamed after long talks."
    drafts = [made("The club was renamed.", "detail_added", source, seed) for seed in range(20)]
    assert any(drafts)
    assert not any("talks" in text for texts in drafts for text in texts)


def test_no_year_is_drawn_near_to_one_older_than_the_names_of_the_corpus() -> None:
    found = any_of("Ann Lee is a painter.", "detail_added", "Ann Lee is a painter of a town founded in 1594.")
    assert found
    assert not any(character.isdigit() for text in found for character in text)


def test_an_order_that_is_fixed_or_stated_twice_is_not_flipped() -> None:
    assert made("The statue was unveiled after he died.", "order_flip") == []
    assert made("He left before the war and came back after it.", "order_flip") == []
    assert made("It is the largest lake after Nemi.", "order_flip") == []


def test_a_rounded_number_says_that_it_is_rounded() -> None:
    # 90,932 to two figures is 91,000.
    expected = {f"It has {word} 91,000 seats." for word in ("about", "approximately", "roughly")}
    assert any_of("It has 90,932 seats.", "number_rounded") == expected
    assert made("It killed all 298 people.", "number_rounded") == []
    assert made("It has about 90,932 seats.", "number_rounded") == []
    assert made("It does not have 90,932 seats.", "number_rounded") == []  # 91,300 is not what the claim denies


def test_clauses_are_not_split_where_the_subject_is_unclear() -> None:
    assert made("Ann Lee had dogs, and for some reason they barked and ran off.", "sentence_split") == []


def test_time_is_not_dropped_under_a_superlative_or_a_negation() -> None:
    assert made("It was the tallest tower built by Ann Lee in 1973.", "detail_dropped") == []
    assert made("Ann Lee never won the cup in 1973.", "detail_dropped") == []
