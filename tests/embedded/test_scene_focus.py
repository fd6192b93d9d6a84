from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vouching.embedded.scene import Focus, Lookup, focus_on
from vouching.reading.evidence import CLOSE_SENTENCES, SYNONYM_WEIGHT, index_sources, rarity
from vouching.reading.parsed import read
from vouching.text.words import stem
from vouching.types import Source


def focused(claim: str, *texts: str) -> Focus:
    """The focus of a claim on sources with these texts."""
    return focus_on(read(claim), index_sources([Source(text) for text in texts]))


def looked_up(position: int, weight: float, exact: set[int], close: set[int]) -> Lookup:
    """A word of the claim, found in these sentences."""
    return Lookup(position, "", (), weight, frozenset(exact), frozenset(close), frozenset())


def test_coverage_is_the_share_of_rarity_that_is_found_and_a_synonym_counts_less() -> None:
    focus = Focus((looked_up(0, 6.0, {0}, set()), looked_up(1, 3.0, {1}, {0}), looked_up(2, 1.0, set(), set())), (0, 1))
    assert focus.coverage([0]) == pytest.approx((6 + 0.8 * 3) / 10)
    assert focus.coverage([1]) == pytest.approx(3 / 10)
    assert focus.coverage([0, 1]) == pytest.approx((6 + 3) / 10)  # the word itself counts before its synonym
    assert focus.coverage([]) == 0


def test_words_compared_by_value_count_as_much_as_their_values_agree() -> None:
    focus = Focus((looked_up(0, 6.0, {0}, set()), looked_up(4, 4.0, {0}, set())), (0,))
    # Position 4 agrees by half: (6 + 0.5 * 4) / 10
    assert focus.coverage([0], known={4: 0.5}) == pytest.approx(0.8)


def test_coverage_of_a_source_of_two_sentences() -> None:
    bridge, river, paint = rarity(stem("bridge")), rarity(stem("river")), rarity(stem("painted"))
    focus = focused("The painted bridge of the river.", "The bridge spans the river. Workers painted it.")
    total = bridge + river + paint
    assert focus.coverage([0]) == pytest.approx((bridge + river) / total)
    assert focus.coverage([1]) == pytest.approx(paint / total)
    assert focus.coverage([0, 1]) == pytest.approx(1.0)
    assert focus.sentences == (0, 1)


def test_a_synonym_covers_a_word_in_part() -> None:
    premier, resigned = rarity(stem("premier")), rarity(stem("resigned"))
    focus = focused("The premier resigned.", "The prime minister resigned.")
    assert focus.coverage([0]) == pytest.approx((SYNONYM_WEIGHT * premier + resigned) / (premier + resigned))


def test_the_sentence_that_adds_what_is_missing_comes_before_one_that_repeats() -> None:
    # The first sentence has three of four words; the second has two of the same, the third only the missing one.
    focus = focused(
        "Marie discovered radium in Paris.", "Marie discovered radium. Marie discovered polonium. Paris is a city."
    )
    assert focus.sentences == (0, 2, 1)


def test_sentences_of_several_sources_complete_each_other() -> None:
    assert focused("Marie discovered radium in Paris.", "Paris is a city.", "Marie discovered radium.").sentences == (
        1,
        0,
    )


def test_of_many_equal_sentences_the_first_ones_are_read_closely() -> None:
    focus = focused("The bridge.", " ".join(["A bridge stands here."] * (CLOSE_SENTENCES + 4)))
    assert focus.sentences == tuple(range(CLOSE_SENTENCES))


def test_a_word_that_the_claim_repeats_draws_attention_only_once() -> None:
    bridge, others = rarity(stem("bridge")), rarity(stem("river")) + rarity(stem("lake"))
    assert bridge < others < 2 * bridge  # counted twice, the bridge would come first
    assert focused("Bridge to bridge, river, lake.", "One bridge stands. The river meets the lake.").sentences == (1, 0)


@pytest.mark.parametrize("source", ["", "Lions roar.", "Answer: Attributable."])
def test_a_claim_of_which_no_word_is_found_has_no_sentences(source: str) -> None:
    focus = focused("Tigers sleep.", source)
    assert (len(focus.lookups), focus.sentences, focus.coverage([])) == (2, (), 0.0)


@pytest.mark.parametrize("claim", ["", "It was there.", "?!"])
def test_a_claim_without_content_has_nothing_to_cover(claim: str) -> None:
    focus = focused(claim, "It was there.")
    assert (focus.lookups, focus.sentences, focus.coverage([0])) == ((), (), 0.0)


TEXTS = st.lists(
    st.sampled_from("bridge river premier prime minister Paris radium the in . ? 12 2004".split()), max_size=16
).map(" ".join)


@given(TEXTS, TEXTS)
@settings(max_examples=150, deadline=None)
def test_more_sentences_never_cover_less_and_the_first_one_covers_most(claim: str, source: str) -> None:
    focus = focused(claim, source)
    shares = [focus.coverage(focus.sentences[:count]) for count in range(len(focus.sentences) + 1)]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 + 1e-9 for share in shares)
    assert len(set(focus.sentences)) == len(focus.sentences) <= CLOSE_SENTENCES
