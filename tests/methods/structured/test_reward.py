"""The process reward: every part and variant against a sum done by hand, its bounds, and what no reply can do to it."""

from __future__ import annotations

import json
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.methods.structured.replies import CLAIM, ENTRY, RECORD, SOURCE, STEP, reply, supported
from tests.processor_time import ends_within
from vouching.errors import ConfigError, InputError
from vouching.methods.structured.reward import PARTS, binary_reward, structured_reward, weighted_total
from vouching.methods.structured.reward_weights import PAPER, Variant, reward_bounds, structured_weights
from vouching.types import ERROR_TYPES, Label, Reward

A: Label = "Attributable"
NA: Label = "Not Attributable"
VARIANTS: tuple[Variant, ...] = get_args(Variant)
SPLITS_OF_TABLE_21 = ("90/10", "70/30", "60/40", "50/50", "30/70", "0/100")
"""And one between them."""


def rewarded(response: str, gold: Label = NA, variant: Variant = "paper", **options: Any) -> Reward:
    return structured_reward(response, gold, claim=CLAIM, source=SOURCE, variant=variant, **options)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_perfect_reply_earns_1_and_its_confidence(variant: Variant) -> None:
    # .10 + .30 + .30 + .15 + .15 = 1, and .15 * .8 = .12
    assert rewarded(reply(), NA, variant).total == 1.12
    assert rewarded(supported(), A, variant).total == 1.12


def test_good_reasoning_with_the_wrong_label_earns_063_as_in_table_1() -> None:
    # .10 + .30 + .30, R_l = 0, R_d = 0 (no error named, gold Not Attributable), -.10 * .7
    assert rewarded(supported(confidence=0.7)).total == 0.63


def test_the_parts_are_named_and_the_calibration_term_is_as_it_is_added() -> None:
    # One of four fields: R_f = .2; label right; error type known but no fix: .6; confidence missing: .15 * .5
    reward = rewarded(json.dumps({"label": "no", "error_type": "fabrication"}))
    assert reward.parts == {
        "format": 0.2,
        "alignment": 0.0,
        "chain": 0.0,
        "label": 1.0,
        "diagnosis": 0.6,
        "calibration": 0.075,
    }
    assert tuple(reward.parts) == PARTS
    # .02 + .15 + .09 + .075
    assert reward.total == 0.335


@pytest.mark.parametrize(
    ("fields", "score"),
    [((), 0.2), (1, 0.2), (2, 0.5), (3, 0.5), (4, 1.0)],
)
def test_the_format_counts_fields(fields: int | tuple[()], score: float) -> None:
    keys = ("evidence_alignment", "reasoning_chain", "label", "confidence")[: fields or 0]
    assert rewarded(json.dumps(dict.fromkeys(keys))).parts["format"] == score


def test_an_empty_object_earns_what_the_paper_does_not_say() -> None:
    # .1 * .2 - .1 * .5, and on an Attributable claim R_d = 1 for having no error type: + .15
    assert rewarded("{}", NA).total == -0.03
    assert rewarded("{}", A).total == 0.12
    # Grounded: "no error" needs the label Attributable, so R_d is .3: .02 - .05 + .045
    assert rewarded("{}", A, "grounded").total == 0.015
    # Released: clamped.
    assert rewarded("{}", NA, "released").total == 0.0


@pytest.mark.parametrize(
    "response",
    [
        "",
        "no JSON",
        "{",
        "}",
        "} {",
        '{"label": }',
        "[1]",
        '{"a": NaN}',
        '{"a": 1} and {"b": 2}',
        "{'label': 'yes'}",
        '{"label": "yes",}',
        '{"a":' * 100_000 + "1" + "}" * 100_000,
    ],
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_cannot_be_read_earns_0_in_every_part(response: str, variant: Variant) -> None:
    for gold in (A, NA):
        assert rewarded(response, gold, variant) == Reward(0.0, dict.fromkeys(PARTS, 0.0))


@pytest.mark.parametrize("around", ["%s", "```json\n%s\n```", "Here it is:\n%s\nDone.", "```\n%s```", "  %s  "])
def test_fences_and_words_around_a_record_do_not_count(around: str) -> None:
    assert rewarded(around % json.dumps(RECORD, indent=1)) == rewarded(reply())


def test_a_fence_inside_an_explanation_stays() -> None:
    # Ten characters with the fences, four without them.
    step = {**STEP, "explanation": "```abcd```"}
    assert rewarded(reply(reasoning_chain=[step])).parts["chain"] == 1.0


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("Attributable", A),
        ("SUPPORTED", A),
        ("yes", A),
        ("True.", A),
        (" entailment ", A),
        ("**Attributable**", A),
        ("Not Attributable", NA),
        ("not_attributable", NA),
        ("NOT-SUPPORTED", NA),
        ("no", NA),
        ("False", NA),
        ("contradiction", NA),
        ("neutral", NA),
        ("Not Attributable.", NA),
        ("not  supported!", NA),
        ("unattributable", None),
        ("Attributable or Not Attributable", None),
        ("maybe", None),
        ("", None),
        (None, None),
        (True, None),
        (1, None),
        (["Attributable"], None),
        ("yes" * 1000, None),
    ],
)
def test_a_label_counts_by_the_table_and_by_nothing_else(written: object, label: Label | None) -> None:
    # Right labels change R_l and the sign of R_cal; a label that is none is wrong under both golds.
    for gold in (A, NA):
        parts = rewarded(reply(label=written), gold).parts
        assert parts["label"] == (label == gold)
        assert (parts["calibration"] > 0) == (label == gold)
        assert binary_reward(reply(label=written), gold).total == (label == gold)


@pytest.mark.parametrize(
    ("written", "term"),
    [
        (1, 0.15),
        (0.8, 0.12),
        (0, 0.0),
        (-3, 0.0),
        (7, 0.15),
        (1e999, 0.15),
        ("0.8", 0.075),
        (None, 0.075),
        (True, 0.075),
        ([0.8], 0.075),
        (..., 0.075),
    ],
)
def test_confidence_is_held_to_0_and_1_and_is_a_half_where_it_is_no_number(written: object, term: float) -> None:
    if written == 1e999:
        response = reply(confidence=5).replace('"confidence": 5', '"confidence": 1e999')
    else:
        response = reply(confidence=written)
    assert rewarded(response).parts["calibration"] == pytest.approx(term)
    # With the wrong label it costs two thirds of what it adds.
    assert rewarded(response.replace('"Not Attributable"', '"yes"')).parts["calibration"] == pytest.approx(-term / 1.5)


@pytest.mark.parametrize(
    ("written", "term"), [("0.8", 0.12), (" 1 ", 0.15), ("7", 0.15), ("high", 0.075), ("nan", 0.075), (True, 0.15)]
)
def test_only_the_released_rules_read_a_confidence_that_is_a_text_or_true(written: object, term: float) -> None:
    # The authors' code passes it to float(): .15 * .8 and .15 * 1.
    response = reply(confidence=written)
    assert rewarded(response, variant="released").parts["calibration"] == pytest.approx(term)
    for variant in ("paper", "grounded"):
        assert rewarded(response, variant=variant).parts["calibration"] == 0.075


def test_a_number_of_5000_digits_is_a_number() -> None:
    response = reply(confidence=5).replace('"confidence": 5', f'"confidence": {"9" * 5000}')
    assert rewarded(response).parts["calibration"] == 0.15


@pytest.mark.parametrize(
    ("gold", "error_type", "fix", "paper", "released"),
    [
        (A, ..., ..., 1.0, 1.0),
        (A, None, "Change 12 to 8.", 1.0, 1.0),
        (A, "", ..., 1.0, 1.0),
        (A, "none", ..., 0.3, 0.3),
        (A, [], ..., 0.3, 0.3),
        (NA, "fabrication", "0123456789", 1.0, 1.0),
        (NA, "fabrication", "012345678", 0.6, 0.7),  # nine characters: released gives .1
        (NA, "fabrication", ..., 0.6, 0.6),
        (NA, "typo", "0123456789", 0.4, 0.6),  # not in the taxonomy: released gives .2
        (NA, "N/A", ..., 0.0, 0.2),
        (NA, "Fabrication", ..., 0.0, 0.2),
        (NA, "", "x", 0.0, 0.1),
        (NA, 7, 1234567890, 0.0, 0.0),
        (NA, None, None, 0.0, 0.0),
    ],
)
def test_each_rule_of_the_diagnosis_has_its_price(
    gold: Label, error_type: object, fix: object, paper: float, released: float
) -> None:
    response = reply(error_type=error_type, fix_suggestion=fix)
    assert rewarded(response, gold).parts["diagnosis"] == pytest.approx(paper)
    assert rewarded(response, gold, "released").parts["diagnosis"] == pytest.approx(released)


def test_the_released_code_pays_for_a_short_explanation() -> None:
    # .3 + .2 + .2 = .7 for one step, + .2 / 3; released: .1 more
    for explanation, more in (("12", 0.0), ("123", 0.1), ("123456789", 0.1)):
        response = reply(reasoning_chain=[{**STEP, "explanation": explanation}])
        assert rewarded(response).parts["chain"] == pytest.approx(0.7 + 0.2 / 3)
        assert rewarded(response, NA, "released").parts["chain"] == pytest.approx(0.7 + 0.2 / 3 + more)


def test_the_splits_keep_the_ratios_inside_and_70_to_30_is_algorithm_1() -> None:
    assert structured_weights("70/30") == PAPER
    for split in SPLITS_OF_TABLE_21:
        made = structured_weights(split)
        process, outcome = (int(share) / 100 for share in split.split("/"))
        assert made.format + made.alignment + made.chain == pytest.approx(process)
        assert made.alignment == made.chain == pytest.approx(3 * made.format)
        assert made.label == made.diagnosis == outcome / 2


def test_0_to_100_is_not_the_binary_reward() -> None:
    # Right label, no diagnosis, confidence 0: .5 * 1 + .5 * 0; wrong label, full diagnosis: .5
    weights = structured_weights("0/100")
    guess = reply(error_type=..., fix_suggestion=..., confidence=0)
    assert (rewarded(guess, weights=weights).total, binary_reward(guess, NA).total) == (0.5, 1.0)
    wrong = reply(label="yes", confidence=0)
    assert (rewarded(wrong, weights=weights).total, binary_reward(wrong, NA).total) == (0.5, 0.0)


def test_the_calibration_term_can_be_off_or_symmetric() -> None:
    off, even = structured_weights(calibration="off"), structured_weights(calibration="symmetric")
    assert rewarded(reply(), weights=off).total == 1.0
    assert rewarded(reply(), weights=even).total == 1.1  # .125 * .8
    assert rewarded(supported(), weights=even).total == 0.6  # .70 - .125 * .8


def test_the_brier_score_is_highest_at_the_true_belief_and_0_for_a_guess() -> None:
    brier = structured_weights(calibration="brier")
    # c = .8: .25 * (.25 - .2^2) = .0525, and of a wrong label .25 * (.25 - .8^2) = -.0975
    assert rewarded(reply(), weights=brier).total == 1.0525
    assert rewarded(supported(), weights=brier).parts["calibration"] == -0.0975
    assert rewarded(reply(confidence=...), weights=brier).parts["calibration"] == 0.0
    assert reward_bounds(weights=brier) == (-0.1675, 1.0625)  # .02 - .25 * .75, and 1 + .25 * .25
    stated = np.linspace(0.5, 1.0, 51)
    for belief in (0.5, 0.63, 0.9, 1.0):  # the expected score, over right and wrong
        expected = [belief * brier.calibration(True, c) + (1 - belief) * brier.calibration(False, c) for c in stated]
        assert stated[int(np.argmax(expected))] == pytest.approx(belief)
        linear = [belief * PAPER.calibration(True, c) + (1 - belief) * PAPER.calibration(False, c) for c in stated]
        assert stated[int(np.argmax(linear))] == 1.0


def test_wrong_settings_and_missing_texts_are_the_callers_errors() -> None:
    with pytest.raises(InputError, match="gold label must be Attributable or Not Attributable, got 'yes'"):
        structured_reward("{}", "yes")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ConfigError, match="unknown variant 'strict'"):
        structured_reward("{}", A, variant="strict")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="requires the claim and its source"):
        structured_reward("{}", A, claim=CLAIM, variant="grounded")
    with pytest.raises(ConfigError, match="two percentages of process and outcome, such as 70/30, got '60/30'"):
        structured_weights("60/30")


@pytest.mark.parametrize("split", SPLITS_OF_TABLE_21)
@pytest.mark.parametrize("variant", VARIANTS)
def test_both_bounds_are_reached(variant: Variant, split: str) -> None:
    weights = structured_weights(split)
    # Least on gold Attributable: an error named, a confidence of 1 in no label; in all, the same without the error.
    named = json.dumps({"confidence": 1, "error_type": "x"})
    low = rewarded(named, A, variant, weights=weights).total
    assert min(0.0, low) == reward_bounds(A, variant, weights)[0]
    assert rewarded('{"confidence": 1}', NA, variant, weights=weights).total == reward_bounds(NA, variant, weights)[0]
    for gold, best in ((A, supported(confidence=1)), (NA, reply(confidence=1))):
        assert rewarded(best, gold, variant, weights=weights).total == reward_bounds(gold, variant, weights)[1]


def test_the_bounds_of_the_papers_rules_are_not_those_it_prints() -> None:
    # .02 - .10 and 1 + .15; the paper has -.10 and 1.28.
    assert reward_bounds() == (-0.08, 1.15)
    assert reward_bounds(A) == (-0.035, 1.15)
    assert reward_bounds(variant="released") == (0.0, 1.15)
    assert reward_bounds(variant="grounded") == (-0.08, 1.15)


WORDS = st.sampled_from(
    [
        "match",
        "NOT_FOUND",
        "supported",
        "Attributable",
        "Not Attributable",
        "12 countries",
        "8 different nations",
        "The source says 8.",
        *ERROR_TYPES,
    ]
)
KEYS = st.sampled_from([*RECORD, *ENTRY, *STEP])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=6),
    max_leaves=12,
)
GOLDS = st.sampled_from([A, NA])


def record_of(values: dict[str, Any]) -> dict[str, Any]:
    """A record that is whole but for some values, so that every rule is reached."""
    return {**RECORD, **values}


RECORDS = st.dictionaries(st.sampled_from([*RECORD]), VALUES, max_size=4).map(record_of) | st.dictionaries(KEYS, VALUES)


@settings(max_examples=60, deadline=None)
@given(RECORDS, GOLDS, st.sampled_from(VARIANTS), st.sampled_from(SPLITS_OF_TABLE_21))
def test_no_json_value_leaves_the_bounds_or_raises(record: Any, gold: Label, variant: Variant, split: str) -> None:
    weights = structured_weights(split)
    reward = rewarded(json.dumps(record), gold, variant, weights=weights)
    low, high = reward_bounds(gold, variant, weights)
    assert low <= reward.total <= high
    assert all(0.0 <= reward.parts[name] <= 1.0 for name in PARTS[:-1])
    expected = weighted_total(reward.parts, weights)
    assert reward.total == (max(0.0, expected) if variant == "released" else expected)


@settings(max_examples=100, deadline=None)
@given(st.text() | st.text('{}[]":,`json \n'), GOLDS, st.sampled_from(VARIANTS))
def test_no_text_raises(response: str, gold: Label, variant: Variant) -> None:
    low, high = reward_bounds(gold, variant)
    assert low <= rewarded(response, gold, variant).total <= high


@settings(max_examples=40, deadline=None)
@given(RECORDS, st.randoms(use_true_random=False), GOLDS, st.sampled_from(VARIANTS))
def test_the_order_of_keys_does_not_matter(record: dict[str, Any], random: Any, gold: Label, variant: Variant) -> None:
    keys = [*record]
    random.shuffle(keys)
    turned = json.dumps({key: record[key] for key in keys})
    assert rewarded(turned, gold, variant) == rewarded(json.dumps(record), gold, variant)


PART = st.floats(0, 1)
SPLITS = st.sampled_from(SPLITS_OF_TABLE_21)


@given(
    st.fixed_dictionaries(dict.fromkeys(PARTS, PART)), st.sampled_from(PARTS), PART, st.sampled_from(SPLITS_OF_TABLE_21)
)
def test_the_total_never_falls_when_a_part_rises(parts: dict[str, float], name: str, more: float, split: str) -> None:
    weights = structured_weights(split)
    raised = {**parts, name: max(parts[name], more)}
    assert weighted_total(raised, weights) >= weighted_total(parts, weights)


@settings(max_examples=40, deadline=None)
@given(RECORDS, GOLDS, st.sampled_from([variant for variant in VARIANTS if variant != "grounded"]))
def test_the_right_label_never_earns_less_than_another(record: dict[str, Any], gold: Label, variant: Variant) -> None:
    # The grounded reward pays a record whose parts agree with its label, so that the same parts cannot have both.
    right, wrong = ({**record, "label": label} for label in (gold, NA if gold == A else A))
    assert rewarded(json.dumps(right), gold, variant).total >= rewarded(json.dumps(wrong), gold, variant).total


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "response",
    [
        reply(fix_suggestion="x" * 1_000_000),
        reply(evidence_alignment=[{**ENTRY, "claim_span": f"{number} towns"} for number in range(12_000)]),
        reply(evidence_alignment=[{**ENTRY, "claim_span": "12 countri" * 100_000}]),
        "{" * 1_000_000,
        "```\n" * 250_000 + "{}",
        reply(label="not " * 250_000),
    ],
    ids=["one long text", "12,000 entries", "a long span", "braces", "fences", "a long label"],
)
def test_a_reply_of_a_megabyte_is_scored_in_seconds(response: str, variant: Variant) -> None:
    with ends_within():  # at most .5 s; quadratic work on a megabyte would take hours
        rewarded(response, NA, variant)
